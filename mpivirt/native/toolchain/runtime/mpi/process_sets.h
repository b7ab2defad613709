/* Process sets of sessions (MPI 4.1, 11.3.2). */
#ifndef GIGARANK_MPI_PROCESS_SETS_H
#define GIGARANK_MPI_PROCESS_SETS_H

#include "mpi.h"

/* The names of the process sets. */
enum { GIGARANK_PROCESS_SETS = 2 };

#pragma GCC visibility push(hidden)

extern const char *const gigarank_process_sets[GIGARANK_PROCESS_SETS];

/* gigarank_process_set returns the communicator with the processes of a set, MPI_COMM_NULL if there is no such set. */
MPI_Comm gigarank_process_set(const char *name);

#pragma GCC visibility pop

#endif
