/* Error classes and codes, and error handlers that functions make. */
#ifndef GIGARANK_MPI_ERRORS_H
#define GIGARANK_MPI_ERRORS_H

#include "mpi.h"

struct gigarank_code;

#pragma GCC visibility push(hidden)

/* gigarank_create_errhandler makes an error handler whose function takes, if it is in Fortran, the
 * number of the communicator. */
int gigarank_create_errhandler(MPI_Comm_errhandler_function *function, int fortran, MPI_Errhandler *handler);
int gigarank_create_session_errhandler(MPI_Session_errhandler_function *function, int fortran, MPI_Errhandler *handler);

/* gigarank_check_handler refuses a handle that is no error handler. */
int gigarank_check_handler(const char *function, MPI_Errhandler handler);

/* gigarank_forget_codes gives back error classes and codes that the program has added. */
void gigarank_forget_codes(struct gigarank_code *list);

#pragma GCC visibility pop

#endif
