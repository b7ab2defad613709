/* Collectives. */
#ifndef GIGARANK_MPI_COLLECTIVES_H
#define GIGARANK_MPI_COLLECTIVES_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

/* gigarank_idup_barrier begins the barrier of an MPI_Comm_idup. */
int gigarank_idup_barrier(MPI_Comm comm, MPI_Request *request);

#pragma GCC visibility pop

#endif
