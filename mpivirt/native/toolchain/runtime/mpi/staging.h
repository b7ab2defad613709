/* Memory of collectives, and the call itself. */
#ifndef GIGARANK_MPI_STAGING_H
#define GIGARANK_MPI_STAGING_H

#include "mpi/arguments.h"

#include <string.h>

#pragma GCC visibility push(hidden)

/* Memory that a collective frees or copies when it is over. Blocks at displacements go through
 * one piece of memory, in the order of the members. */
struct gigarank_staging {
	char *packed;          /* received blocks */
	char *to;
	int64_t *counts;       /* bytes by member */
	int64_t *displacements;
	struct gigarank_block *blocks; /* of alltoallv, in place of counts and displacements */
	int32_t n;             /* of counts, or of blocks */
	void *others[3];       /* to be freed */
	int64_t alike, each;   /* of an alltoallv: bytes of all blocks, if they have the same, and of an element */
	struct gigarank_numbers at; /* their displacements */
};

/* gigarank_drop_staging frees a staging. */
void gigarank_drop_staging(struct gigarank_staging *s);

/* gigarank_stage returns a staging for a call of n members, NULL after an error. */
struct gigarank_staging *gigarank_stage(struct gigarank_call *c, int32_t n);

/* gigarank_finish makes a collective call, in its blocking form if request is NULL. */
int gigarank_finish(struct gigarank_call *c, struct gigarank_staging *s, MPI_Request *request);

/* gigarank_elements sets the type of the elements of a collective. Types of members may differ, if they
 * have the same elements; types of empty blocks may differ too, where blocks differ in length. */
int gigarank_elements(struct gigarank_call *c, MPI_Datatype type);

/* gigarank_no_room drops a staging, and returns the error of a call without memory for bytes. */
int gigarank_no_room(struct gigarank_call *c, struct gigarank_staging *s, int64_t bytes);

/* gigarank_listed checks that the counts of blocks are given, where the rank needs them. Without displacements
 * blocks lie one behind another. */
int gigarank_listed(const struct gigarank_call *c, int needed, struct gigarank_numbers counts);

/* gigarank_copy_block copies a block, of which a program may have very many. */
static inline void gigarank_copy_block(char *to, const char *from, int64_t bytes) {
	if (bytes == 8)
		memcpy(to, from, 8);
	else if (bytes == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, (size_t)bytes);
}

/* CHECK_STAGED(x) returns the error x, if it is one, and drops the staging s. */
#define CHECK_STAGED(expression) \
	do { \
		int error_ = (expression); \
		if (error_) { \
			gigarank_drop_staging(s); \
			return error_; \
		} \
	} while (0)

/* Buffers of types whose values do not lie one behind another go through packed copies:
 * PACKED(x) is x unless an earlier step has failed, and the call itself is the last step. */
#define PACKED(step) \
	if (!error) \
		error = step

#define SIDE(memory, n, t) ((struct gigarank_side){.buffer = (char *)(memory), .count = n, .type = t})
#define BLOCKS(memory, n, at, t) {.buffer = (char *)(memory), .counts = n, .displacements = at, .type = t}

#pragma GCC visibility pop

#endif
