/* The rank that runs on this thread. */
#ifndef GIGARANK_RANK_RUNNING_H
#define GIGARANK_RANK_RUNNING_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* The engine whose rank runs on this thread, NULL outside ranks. A rank that has suspended itself may
 * go on on another thread. On amd64 each access names the thread. Elsewhere compilers take the thread
 * to be the same in all of a function, so a function of its own finds the variable. */
#if defined(__x86_64__)
extern __thread struct gigarank_engine *gigarank_current __attribute__((tls_model("initial-exec")));
#else
struct gigarank_engine **gigarank_engine_of_thread(void);
#define gigarank_current (*gigarank_engine_of_thread())
#endif

static inline struct gigarank_rank *gigarank_running(void) {
	return gigarank_current ? gigarank_current->running : NULL;
}

/* gigarank_foresees notes that a number of further polls fail, if each is the same as the call that has just failed. */
static inline void gigarank_foresees(int polls, int procedure, uintptr_t subject, int source, int tag) {
	if (polls > 0)
		gigarank_current->foreseen = (struct gigarank_foreseen){polls, procedure, subject, source, tag};
}

/* gigarank_fails_again reports whether a poll is known to fail without a call. It then takes the time of a poll. */
static inline int gigarank_fails_again(int procedure, uintptr_t subject, int source, int tag) {
	struct gigarank_engine *e = gigarank_current;
	if (!e || e->foreseen.left <= 0 || e->threads || e->form)
		return 0;
	struct gigarank_foreseen *f = &e->foreseen;
	struct gigarank_rank *r = e->running;
	if (f->procedure != procedure || f->subject != subject || f->source != source || f->tag != tag || r->computed || r->polled_clock)
		return 0;
	f->left--, r->polls++, r->clock += e->poll;
	return 1;
}

/* gigarank_operating is the engine that carries out an operation of the program on this thread,
 * NULL if none does. */
extern __thread struct gigarank_engine *gigarank_operating __attribute__((tls_model("initial-exec")));

/* gigarank_parent is the rank that has started this thread. */
struct gigarank_parent {
	struct gigarank_engine *engine; /* NULL if it is unknown */
	int32_t lp;
	struct gigarank_threads *threads;
};
extern __thread struct gigarank_parent gigarank_parent __attribute__((tls_model("initial-exec")));

/* State that few ranks have. */
struct gigarank_own {
	void *attached;     /* buffer for buffered sends */
	int universe, last_code; /* values of predefined attributes */
	struct gigarank_code *codes; /* error classes and codes of the program's own */
	struct gigarank_noted_type *types; /* attributes of predefined types */
	void *environment;  /* the info object MPI_INFO_ENV */
	int sessions;       /* that are open */
	struct gigarank_threads *threads;
	struct gigarank_file_handler *file_handler; /* that the program has set for MPI_FILE_NULL */
};

/* gigarank_own returns the state of the running rank that few ranks have, and makes it first. It returns NULL without
 * memory. */
struct gigarank_own *gigarank_own(void);

/* gigarank_fatal ends the process: there is no rank to blame. */
void gigarank_fatal(const char *message) __attribute__((noreturn));

/* gigarank_enlarged returns memory of room bytes, with the contents of the old memory. The process ends if memory
 * lacks. */
void *gigarank_enlarged(void *old, size_t room);

#pragma GCC visibility pop

#endif
