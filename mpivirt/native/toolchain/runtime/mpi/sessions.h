/* Sessions. */
#ifndef GIGARANK_MPI_SESSIONS_H
#define GIGARANK_MPI_SESSIONS_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

/* gigarank_process_set returns the communicator with the processes of a set, MPI_COMM_NULL if there is no such set. */
MPI_Comm gigarank_process_set(const char *name);

#pragma GCC visibility pop

#endif
