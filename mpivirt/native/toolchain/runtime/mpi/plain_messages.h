/* Standard sends and blocking receives of values without gaps, between members of MPI_COMM_WORLD that are named: most messages of many programs. Their checks
 * are those of the general way, one behind another. A call that one of them does not let pass goes the general way, which names what is wrong. */
#ifndef GIGARANK_MPI_PLAIN_MESSAGES_H
#define GIGARANK_MPI_PLAIN_MESSAGES_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_send_plain posts a send, and reports whether it has. */
int gigarank_send_plain(const void *buffer, int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);

/* gigarank_receive_plain composes a receive in a call whose fields are 0, and reports whether it has. */
int gigarank_receive_plain(struct gigarank_call *c, void *buffer, int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm);

#pragma GCC visibility pop

#endif
