/* Functions that files of a folder call in folders which they do not include: fortran includes headers of mpi, libc and rank,
 * mpi and libc include headers of rank alone, and rank includes none of these folders. */
#ifndef GIGARANK_RANK_HOOKS_H
#define GIGARANK_RANK_HOOKS_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

struct gigarank_hooks {
	/* In libc. */

	/* returns a list of variables of the environment without the variables that launchers set, NULL if memory lacks */
	char **(*without_launcher)(char **list);
	/* returns the environment for the main of the running rank: its own if the program has a variable for it, else the
	 * environment that all ranks share */
	char **(*begin_environment)(struct gigarank_rank *r);
	/* gives the thread the locale, directory and mask of a rank, or those of the run if r is NULL */
	void (*adopt)(struct gigarank_engine *e, struct gigarank_rank *r);
	/* returns the function that a rank has for a signal: SIG_DFL, SIG_IGN or its own */
	void (*(*handler)(struct gigarank_rank *r, int number))(int);
	/* frees the state of a process that a rank has */
	void (*forget_process)(struct gigarank_rank *r);
	/* ends the use of an engine's directories */
	void (*close_directories)(struct gigarank_engine *e);
	/* frees the state that a rank has for Fortran and its library */
	void (*close_fortran)(struct gigarank_rank *r);

	/* In mpi. */

	/* calls the error handler of a communicator, by index */
	void (*handle_error)(int32_t comm, int code);
	/* gives back the rare state of a rank, and its communicators */
	void (*forget_rank)(struct gigarank_rank *r);
	/* gives back all objects of an engine */
	void (*close_objects)(struct gigarank_engine *e);

	/* In fortran. */

	/* returns the number of a handle in Fortran */
	MPI_Fint (*number_of)(void *handle);
	/* calls an error handler in Fortran with the number of a handle */
	void (*call_errhandler)(MPI_Comm_errhandler_function *function, void *about, int code);
	/* calls a function in Fortran, with the number of the type */
	void (*call_operation)(MPI_User_function *function, void *in, void *inout, int count, MPI_Fint number);
};

extern const struct gigarank_hooks gigarank_hooks;

#pragma GCC visibility pop

#endif
