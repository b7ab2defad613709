/* CPU times of ranks. */
#ifndef GIGARANK_RANK_BURSTS_H
#define GIGARANK_RANK_BURSTS_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_burst_of returns the burst of a rank, where CPU times count. */
static inline struct gigarank_burst *gigarank_burst_of(struct gigarank_engine *e, struct gigarank_rank *r) { return &e->bursts[r - e->ranks]; }

/* gigarank_burst_count adds a CPU time, in nanoseconds, to a burst in which CPU time counts. */
static inline void gigarank_burst_count(struct gigarank_burst *b, int64_t used) {
	if (!b->unpaid)
		b->used += used;
}

/* gigarank_burst_end ends the burst of a rank that has left its code. */
void gigarank_burst_end(struct gigarank_engine *e, struct gigarank_rank *r);

/* gigarank_burst_add adds a time, in nanoseconds, to the burst of a rank. */
void gigarank_burst_add(struct gigarank_engine *e, struct gigarank_rank *r, int64_t time);

#pragma GCC visibility pop

#endif
