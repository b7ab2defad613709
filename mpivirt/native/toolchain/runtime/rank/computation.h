/* Clock polls where CPU times advance the clock. */
#ifndef GIGARANK_RANK_COMPUTATION_H
#define GIGARANK_RANK_COMPUTATION_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_poll_clock returns the running rank's virtual time in picoseconds, where CPU times
 * count. */
int64_t gigarank_poll_clock(struct gigarank_engine *e, struct gigarank_rank *r);

/* gigarank_pass has the clock of the running rank advance. It returns an error code of MPI. */
int gigarank_pass(struct gigarank_rank *r, int64_t picoseconds);

#pragma GCC visibility pop

#endif
