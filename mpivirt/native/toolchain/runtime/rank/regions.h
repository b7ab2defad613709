/* The time of parallel regions of OpenMP, for the files that run them and that suspend ranks in them. */
#ifndef GIGARANK_REGIONS_H
#define GIGARANK_REGIONS_H

#include "rank/internal.h"

/* By how much a rank or a thread has computed for another time than the CPU time of the thread of the system, in
 * nanoseconds. */
struct gigarank_lapse {
	int64_t away;   /* other ranks have computed in it, while this rank waited */
	int64_t beyond; /* the longest thread of a region has computed beyond the time of the first one */
};

#pragma GCC visibility push(hidden)

/* gigarank_lapse returns that of the rank or the thread which runs, NULL without memory. */
struct gigarank_lapse *gigarank_lapse(void);

/* gigarank_thread_time returns the CPU time of the calling thread, in nanoseconds. */
int64_t gigarank_thread_time(void);

/* gigarank_burst_add adds a time, in nanoseconds, to the burst of a rank. */
void gigarank_burst_add(struct gigarank_engine *e, struct gigarank_rank *r, int64_t time);

/* gigarank_libgomp is the library of OpenMP that programs are linked with, NULL if none is. */
extern void *gigarank_libgomp;

#pragma GCC visibility pop

#endif
