/* The contents of caches that ranks find, where other ranks of a larger run have used these caches before them. */
#ifndef GIGARANK_RANK_CACHES_H
#define GIGARANK_RANK_CACHES_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

enum { GIGARANK_CACHE_LINE = 64 }; /* bytes, or less */

/* gigarank_displace takes the caches from the rank that ran last, before another one runs: it writes a part of the memory that stands for that of other ranks, all of
 * it while each rank of the engine runs once. */
void gigarank_displace(struct gigarank_engine *e, struct gigarank_rank *r);

#pragma GCC visibility pop

#endif
