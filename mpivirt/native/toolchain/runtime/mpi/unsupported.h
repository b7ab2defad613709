/* Functions of MPI that native ranks do not have. */
#ifndef GIGARANK_UNSUPPORTED_H
#define GIGARANK_UNSUPPORTED_H

#include "rank/internal.h"

#pragma GCC visibility push(hidden)

/* gigarank_unsupported ends a call of a function that native ranks do not have, as the error handler of a
 * communicator wants: that of MPI_COMM_WORLD if the function has none. */
int gigarank_unsupported(const char *function, const MPI_Comm *comm);

#pragma GCC visibility pop

#endif
