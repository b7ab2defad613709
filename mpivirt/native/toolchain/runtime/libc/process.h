/* The state that a rank has of a process of its own. */
#ifndef GIGARANK_LIBC_PROCESS_H
#define GIGARANK_LIBC_PROCESS_H

#include "rank/interface.h"
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* A function that is called when a rank ends. */
struct gigarank_exit_function {
	struct gigarank_exit_function *next; /* registered before */
	void (*function)(void *, int);
	void *what;
};

/* An entry of the environment, as a rank has it. */
struct gigarank_value {
	struct gigarank_value *next;
	char entry[];
};

/* The parts of the state of a process that the thread takes from a rank. */
enum { GIGARANK_KEEPS_LOCALE = 1, GIGARANK_KEEPS_DIRECTORY = 2, GIGARANK_KEEPS_MASK = 4 };

struct gigarank_process {
	struct gigarank_exit_function *thread_exits, *exits, *quick_exits; /* the last first */
	struct random_data random;
	int32_t random_state[32]; /* as much as the C library has */
	struct drand48_data drand48;
	char *token;              /* where strtok goes on */
	locale_t locale;
	struct gigarank_value *values;     /* of the run's environment that it has asked for */
	char **environment;       /* of its own, with the room for as many entries */
	size_t environment_room;
	int32_t node, local_rank, local_size; /* on the machine; the size is 0 until it has asked */
	int directory;            /* number of the engine's directory, 0 for the directory of the run */
	mode_t mask;
	int has_mask;
	int closed;               /* bit n: the stream whose file has number n */
	FILE *output;             /* where its standard output goes, NULL for the simulator */
	struct sigaction *actions; /* by signal */
	sigset_t blocked, pending; /* blocked signals; signals that wait until they are not blocked */
	int64_t slept;            /* picoseconds */
	struct tm tm;
	char date[64], message[256], address[16];
};

/* gigarank_process returns the state of a process that a rank has, and makes it first. */
struct gigarank_process *gigarank_process(struct gigarank_rank *r);

/* gigarank_slept returns how long a rank has slept, in picoseconds; with writes set, for the caller to change. */
int64_t *gigarank_slept(struct gigarank_rank *r, int writes);

/* gigarank_forget_process frees the state of a process that a rank has. */
void gigarank_forget_process(struct gigarank_rank *r);

/* The state of a rank for Fortran and its library. */
struct gigarank_fortran {
	void **handles; /* that Fortran knows by numbers of the rank's table, by number */
	int32_t count, room;
	uint64_t drawn; /* random bytes */
	struct gigarank_pthread_keys *pthread_keys; /* that it has made */
};

/* gigarank_fortran returns the running rank's state for Fortran, NULL if no rank runs. gigarank_close_fortran frees it. */
struct gigarank_fortran *gigarank_fortran(void);
void gigarank_close_fortran(struct gigarank_rank *r);

#pragma GCC visibility pop

#endif
