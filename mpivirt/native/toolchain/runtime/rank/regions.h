/* The time of parallel regions of OpenMP. */
#ifndef GIGARANK_RANK_REGIONS_H
#define GIGARANK_RANK_REGIONS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* gigarank_thread_time returns the CPU time of the calling thread, in nanoseconds. */
int64_t gigarank_thread_time(void);

/* gigarank_libgomp is the library of OpenMP that programs are linked with, NULL if none is. */
extern void *gigarank_libgomp;

#pragma GCC visibility pop

#endif
