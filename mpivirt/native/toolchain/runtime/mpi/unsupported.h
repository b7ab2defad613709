/* Functions of MPI that native ranks do not have. */
#ifndef GIGARANK_MPI_UNSUPPORTED_H
#define GIGARANK_MPI_UNSUPPORTED_H

#include "mpi.h"

struct gigarank_file_handler;

#pragma GCC visibility push(hidden)

/* gigarank_unsupported ends a call of a function that native ranks do not have, as the error handler of a
 * communicator wants: of MPI_COMM_WORLD if the function has no communicator. */
int gigarank_unsupported(const char *function, const MPI_Comm *comm);

/* gigarank_leave_file_handler frees a rank's error handler of MPI_FILE_NULL. */
void gigarank_leave_file_handler(struct gigarank_file_handler *h);

#pragma GCC visibility pop

#endif
