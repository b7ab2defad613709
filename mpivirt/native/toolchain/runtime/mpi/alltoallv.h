/* Alltoalls of blocks that differ in length. */
#ifndef GIGARANK_MPI_ALLTOALLV_H
#define GIGARANK_MPI_ALLTOALLV_H

#include "mpi/arguments.h"

#pragma GCC visibility push(hidden)

/* gigarank_alltoallv makes the call of an alltoallv, in its blocking form if request is NULL. */
int gigarank_alltoallv(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers senddisplacements, MPI_Datatype sendtype, void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers recvdisplacements, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);

/* gigarank_alltoallw is gigarank_alltoallv for blocks with types of their own. All go through packed copies, and are the blocks of an alltoallv in bytes. */
int gigarank_alltoallw(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers senddisplacements, const MPI_Datatype sendtypes[], void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers recvdisplacements, const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);

#pragma GCC visibility pop

#endif
