/* Buffers of calls that are sent and received through packed copies. */
#ifndef GIGARANK_MPI_PACKING_H
#define GIGARANK_MPI_PACKING_H

#include "mpi/arguments.h"

struct gigarank_datatype;

/* A buffer that goes through a packed buffer. */
struct gigarank_spread {
	char *buffer, *packed;
	int64_t count;               /* values; of blocks: their number */
	struct gigarank_datatype *type;  /* of all blocks, NULL if they differ */
	struct gigarank_datatype **types;
	int64_t *counts, *displacements; /* of blocks, in values and bytes; NULL for one block */
	int64_t bytes;
};

/* The buffers of a call that go through packed buffers. All zero for none. */
struct gigarank_packing {
	struct gigarank_spread in, out;
};

#pragma GCC visibility push(hidden)

/* gigarank_pack_in has a call send values from a packed copy of a buffer, and gigarank_pack_out
 * has it receive them into a packed copy. Buffer and type become those of the copy, if a copy is needed.
 * MPI_IN_PLACE stays as it is. gigarank_unpack ends the use of the copies: received values
 * go to their place when the call is over, or when the request that it has begun is over. It returns
 * the error of the call. */
int gigarank_pack_in(int procedure, struct gigarank_packing *p, const void **buffer, int64_t count, MPI_Datatype *type);
int gigarank_pack_out(int procedure, struct gigarank_packing *p, void **buffer, int64_t count, MPI_Datatype *type);
int gigarank_unpack(struct gigarank_packing *p, int error, MPI_Request *request);

/* The same for blocks, at displacements in extents of the type. Afterwards there are no displacements,
 * since packed blocks lie one behind another. With types, one for each block, displacements are
 * in bytes and counts become bytes. */
int gigarank_pack_blocks_in(int procedure, struct gigarank_packing *p, const void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type);
int gigarank_pack_blocks_out(int procedure, struct gigarank_packing *p, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type);
int gigarank_pack_each_in(int procedure, struct gigarank_packing *p, const void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]);
int gigarank_pack_each_out(int procedure, struct gigarank_packing *p, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]);

/* gigarank_lay has a message of values start at their first byte, if they lie one behind another,
 * or stores their layout. The call then goes through packed copies: gigarank_pack_call makes
 * them, and gigarank_transfer makes a call that is over when it returns. */
void gigarank_lay(struct gigarank_layout *l, const void **buffer, int64_t count, MPI_Datatype type);
int gigarank_pack_call(struct gigarank_call *c);
void gigarank_drop_packed(struct gigarank_call *c, int in, int out);
int gigarank_transfer(struct gigarank_call *c);

/* gigarank_receive_later has a request store the values that it receives into packed memory, which becomes
 * the request's. */
void gigarank_receive_later(struct gigarank_request *q, const struct gigarank_layout *to, void *packed);

#pragma GCC visibility pop

#endif
