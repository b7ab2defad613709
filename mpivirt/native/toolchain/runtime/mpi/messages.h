/* Calls that send and receive messages. */
#ifndef GIGARANK_MPI_MESSAGES_H
#define GIGARANK_MPI_MESSAGES_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_sending and gigarank_receiving check the arguments of a message and store them in a call. */
int gigarank_sending(struct gigarank_call *c, int procedure, const void *buffer, int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int gigarank_receiving(struct gigarank_call *c, int procedure, void *buffer, int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm);

/* gigarank_launch makes a call that begins an operation. It stores the work for the end of the operation
 * in a request: a new request, or a persistent request that is started. */
int gigarank_launch(struct gigarank_call *c, MPI_Request *request, int persistent);

/* gigarank_persist keeps a call that a start makes. Ranks that are not in the communicator are refused at once. */
int gigarank_persist(struct gigarank_call *c, MPI_Request *request);

#pragma GCC visibility pop

#endif
