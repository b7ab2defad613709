/* What a rank has of a process, for the files that stand for the C library. */
#ifndef GIGARANK_PROCESS_H
#define GIGARANK_PROCESS_H

#include "rank/internal.h"

#include <dlfcn.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* real returns the function of the C library that a name of this file hides. */
#define real(name) ({ \
	static __typeof__(&name) real_; \
	if (!real_) \
		real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
	real_; \
})

/* A function that is called when a rank ends. */
struct ending {
	struct ending *next; /* registered before */
	void (*function)(void *, int);
	void *what;
};

/* An entry of the environment, as a rank has it. */
struct value {
	struct value *next;
	char entry[];
};

struct gigarank_process {
	struct ending *thread_exits, *exits, *quick_exits; /* the last first */
	struct random_data random;
	int32_t random_state[32]; /* as much as the C library has */
	struct drand48_data drand48;
	char *token;              /* where strtok goes on */
	locale_t locale;
	struct value *values;     /* of the run's environment that it has asked for */
	char **environment;       /* of its own, with the room for as many entries */
	size_t environment_room;
	int32_t node, local_rank, local_size; /* on the machine; the size is 0 until it has asked */
	int directory;            /* number of the engine's directory, 0 for that of the run */
	mode_t mask;
	int has_mask;
	int closed;               /* bit n: the stream whose file has number n */
	FILE *output;             /* where its standard output goes, NULL for that of the run */
	struct sigaction *actions; /* by signal */
	sigset_t blocked, pending; /* signals; those that wait until they are not blocked */
	int64_t slept;            /* picoseconds */
	struct tm tm;
	char date[64], message[256], address[16];
};

/* What the thread takes from a rank. */
enum { LOCALE = 1, DIRECTORY = 2, MASK = 4 };

#pragma GCC visibility push(hidden)

/* The variables that launchers set, and bytes that hold the entry of one. */
#define GIGARANK_LAUNCHER_VARIABLES 19
#define GIGARANK_LAUNCHER_ROOM 48

/* gigarank_of_launcher returns the number of a variable that launchers set, -1 for others. gigarank_launcher_entry writes a rank's
 * entry. */
int gigarank_of_launcher(const char *name, size_t length);
int gigarank_launcher_entry(struct gigarank_rank *r, int i, char *entry, size_t room);

/* gigarank_environment returns the environment of the running rank, of its own. */
char **gigarank_environment(struct gigarank_rank *r);

/* gigarank_forbid ends a rank that calls a function which would concern the simulator. It says why. */
void gigarank_forbid(const char *function, const char *why);

#pragma GCC visibility pop

#endif
