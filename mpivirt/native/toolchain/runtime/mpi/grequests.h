/* Generalised requests, whose operations the program carries out. */
#ifndef GIGARANK_MPI_GREQUESTS_H
#define GIGARANK_MPI_GREQUESTS_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

/* An operation that the program carries out itself. */
struct gigarank_grequest {
	MPI_Grequest_query_function *query;
	MPI_Grequest_free_function *free;
	MPI_Grequest_cancel_function *cancel;
	void *extra;
	int complete, dropped; /* by its handle */
};

/* gigarank_end_grequest ends a generalised request that is complete, with its status, and
 * gigarank_drop_grequest the use of its handle. */
int gigarank_end_grequest(MPI_Request *request, MPI_Status *status);
int gigarank_drop_grequest(MPI_Request *request);

/* gigarank_wait_for_own completes the generalised requests of a wait or test, and finds the partitioned sends that are not
 * ready. It stores whether the wait is over. */
int gigarank_wait_for_own(int procedure, int n, MPI_Request *requests, int *which, int *outcount, int *flag, MPI_Status *statuses, int *over);

#pragma GCC visibility pop

#endif
