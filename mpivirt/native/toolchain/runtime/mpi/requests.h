/* Persistent requests, and requests that are freed while active. */
#ifndef GIGARANK_MPI_REQUESTS_H
#define GIGARANK_MPI_REQUESTS_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

/* gigarank_start_plan begins the collective of a request. gigarank_end_detached waits for the operations
 * whose requests the rank has freed while they were active. */
int gigarank_start_plan(MPI_Request *request);
int gigarank_end_detached(void);

#pragma GCC visibility pop

#endif
