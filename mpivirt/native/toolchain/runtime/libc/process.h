/* What a rank has of a process, for the files that stand for the C library. */
#ifndef GIGARANK_PROCESS_H
#define GIGARANK_PROCESS_H

#include "rank/internal.h"
#include "rank/real.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A function that is called when a rank ends. */
struct exit_function {
	struct exit_function *next; /* registered before */
	void (*function)(void *, int);
	void *what;
};

/* An entry of the environment, as a rank has it. */
struct value {
	struct value *next;
	char entry[];
};

struct gigarank_process {
	struct exit_function *thread_exits, *exits, *quick_exits; /* the last first */
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

/* What a rank has for Fortran and its library. */
struct gigarank_fortran {
	void **handles; /* that Fortran knows by other numbers, by number */
	int32_t count, room;
	uint64_t drawn; /* random bytes */
	struct gigarank_pthread_keys *pthread_keys; /* that it has made */
};

#pragma GCC visibility push(hidden)

/* gigarank_process returns what the running rank has of a process. */
struct gigarank_process *gigarank_process(struct gigarank_rank *r);

/* gigarank_slept returns how long a rank has slept, in picoseconds; with writes set, for the caller to change. */
int64_t *gigarank_slept(struct gigarank_rank *r, int writes);

/* gigarank_without_launcher returns a list of variables of the environment without those that launchers set, NULL if memory
 * lacks. */
char **gigarank_without_launcher(char **list);

/* gigarank_begin_environment returns the environment for the main of the running rank: its own if the program has
 * a variable for it, else what all ranks share. */
char **gigarank_begin_environment(struct gigarank_rank *r);

/* gigarank_adopt gives the thread what a rank has of a process, NULL for the run's own. */
void gigarank_adopt(struct gigarank_engine *e, struct gigarank_rank *r);

/* gigarank_forget_process frees what a rank has of a process. */
void gigarank_forget_process(struct gigarank_rank *r);

/* gigarank_close_directories ends the use of an engine's directories. */
void gigarank_close_directories(struct gigarank_engine *e);

/* gigarank_handler returns the function that a rank has for a signal: SIG_DFL, SIG_IGN or its own. */
void (*gigarank_handler(struct gigarank_rank *r, int number))(int);

/* gigarank_has_closed reports whether a rank has closed the file of a standard stream.
 * gigarank_output returns the file that it has for standard output, NULL if it has none. */
int gigarank_has_closed(struct gigarank_rank *r, int file);
struct _IO_FILE *gigarank_output(struct gigarank_rank *r);

/* gigarank_fortran returns what the running rank has for Fortran, NULL if no rank runs. gigarank_close_fortran frees it. */
struct gigarank_fortran *gigarank_fortran(void);
void gigarank_close_fortran(struct gigarank_rank *r);

/* gigarank_leave_pthread_keys ends the use of the keys of pthread_key_create that a rank has made. */
void gigarank_leave_pthread_keys(struct gigarank_pthread_keys *k);

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
