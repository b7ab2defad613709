/* Functions of MPI that native ranks do not have. */
#ifndef GIGARANK_UNSERVED_H
#define GIGARANK_UNSERVED_H

#include "rank/internal.h"

#pragma GCC visibility push(hidden)

/* gigarank_unserved ends a call of a function that native ranks do not have, as the error handler of a
 * communicator wants: that of MPI_COMM_WORLD if the function has none. */
int gigarank_unserved(const char *function, const MPI_Comm *comm);

#pragma GCC visibility pop

#endif
