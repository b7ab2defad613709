/* Intercommunicators. */
#ifndef GIGARANK_MPI_INTERCOMM_H
#define GIGARANK_MPI_INTERCOMM_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

struct gigarank_origin;

/* gigarank_connect makes an intercommunicator of two groups, for a function that errors name. */
int gigarank_connect(const char *function, MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, const struct gigarank_origin *from, MPI_Comm *made);

#pragma GCC visibility pop

#endif
