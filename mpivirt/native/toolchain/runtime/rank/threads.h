/* What a rank and the threads that it starts share. */
#ifndef GIGARANK_THREADS_H
#define GIGARANK_THREADS_H

#include "rank/regions.h"

#include <pthread.h>

/* What a rank and its threads share. Each of them holds it, so that a thread may outlive the engine. */
struct gigarank_threads {
	int holders;
	int living;               /* threads that may use the rank's variables and its stack */
	int in_region;            /* the rank has returned to its engine in a region of several threads */
	struct gigarank_lapse lapse; /* of the rank */
	pthread_mutex_t critical; /* of unnamed critical sections, which libgomp has once in a process */
};

#pragma GCC visibility push(hidden)

/* gigarank_own_threads returns what the running rank and its threads share, or that of the rank which has started this
 * thread; NULL for other threads, and without memory. */
struct gigarank_threads *gigarank_own_threads(void);

/* gigarank_hold_threads has one more thread hold what a rank and its threads share, until gigarank_leave_threads. */
struct gigarank_threads *gigarank_hold_threads(struct gigarank_threads *t);

#pragma GCC visibility pop

#endif
