/* The blocks that neighbourhood collectives and collectives between two groups send and receive. */
#ifndef GIGARANK_MPI_EXCHANGES_H
#define GIGARANK_MPI_EXCHANGES_H

#include "mpi/arguments.h"

/* The blocks of one side: of equal counts, or of a list of counts; of one type, or of a list of types; one behind
 * another, at displacements in extents, or at places or offsets in bytes. */
struct gigarank_side {
	char *buffer;
	int64_t count;
	int same; /* one block for all */
	struct gigarank_numbers counts, displacements, offsets;
	const MPI_Aint *places;
	MPI_Datatype type;
	const MPI_Datatype *types;
};

#pragma GCC visibility push(hidden)

/* gigarank_between makes the call of a collective between two groups, which has its procedure
 * and, for a reduction, its operation, from the blocks that the rank sends and receives. */
int gigarank_between(struct gigarank_call *c, int root, const struct gigarank_side *out, int32_t outgoing, const struct gigarank_side *in, int32_t incoming, MPI_Request *request);

#pragma GCC visibility pop

#endif
