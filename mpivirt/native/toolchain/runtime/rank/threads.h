/* State that a rank and the threads that it starts share. */
#ifndef GIGARANK_RANK_THREADS_H
#define GIGARANK_RANK_THREADS_H

#include "rank/interface.h"
#include <pthread.h>

#pragma GCC visibility push(hidden)

/* By how much a rank or a thread has computed for another time than the CPU time of the thread of the system, in
 * nanoseconds. */
struct gigarank_lapse {
	int64_t away;   /* other ranks have computed in it, while this rank waited */
	int64_t beyond; /* the longest thread of a region has computed beyond the time of the first thread */
};

/* State that a rank and its threads share. Each of them holds it, so that a thread may outlive the engine. */
struct gigarank_threads {
	int holders;
	int living;               /* threads that may use the rank's variables and its stack */
	int in_region;            /* the rank has returned to its engine in a region of several threads */
	struct gigarank_lapse lapse; /* of the rank */
	pthread_mutex_t critical; /* of unnamed critical sections, which libgomp has once in a process */
};

/* gigarank_own_threads returns the state that the running rank shares with its threads, or the state of the rank which has
 * started this thread; NULL for other threads, and without memory. */
struct gigarank_threads *gigarank_own_threads(void);

/* gigarank_hold_threads has one more thread hold the state that a rank shares with its threads, until
 * gigarank_leave_threads. */
struct gigarank_threads *gigarank_hold_threads(struct gigarank_threads *t);

/* gigarank_leave_threads ends a use of the state that a rank shares with its threads. */
void gigarank_leave_threads(struct gigarank_threads *t);

/* gigarank_lapse returns the lapse of the rank or the thread which runs, NULL without memory. */
struct gigarank_lapse *gigarank_lapse(void);

/* gigarank_has_threads returns the kind of thread, beside the rank that runs on an engine, which uses the rank's variables and
 * its stack: 0 for none. gigarank_note_region notes whether a rank that returns to its engine is in a region of
 * OpenMP. gigarank_threads_live reports whether threads may still use the variables and stacks of an engine's ranks. */
int gigarank_has_threads(const struct gigarank_engine *e);
void gigarank_note_region(const struct gigarank_engine *e, const struct gigarank_rank *r);
int gigarank_threads_live(const struct gigarank_engine *e);

/* gigarank_forked says that this process is a copy of the simulator, which a rank has forked. */
extern int gigarank_forked;

#pragma GCC visibility pop

#endif
