/* Errors and their handlers. */
#ifndef GIGARANK_MPI_ERRORS_H
#define GIGARANK_MPI_ERRORS_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

struct gigarank_comm;

/* gigarank_handle_error calls the error handler of a communicator, by index. */
void gigarank_handle_error(int32_t comm, int code);

/* gigarank_create_errhandler makes an error handler whose function takes, if it is in Fortran, the
 * number of the communicator. */
int gigarank_create_errhandler(MPI_Comm_errhandler_function *function, int fortran, MPI_Errhandler *handler);
int gigarank_create_session_errhandler(MPI_Session_errhandler_function *function, int fortran, MPI_Errhandler *handler);

/* gigarank_keep_handler returns the object of an error handler with one more use, NULL for a predefined handler or
 * a handle that is no handler. gigarank_call_handler calls the function of such an object with a handle and a code. */
void *gigarank_keep_handler(MPI_Errhandler handler);
void gigarank_call_handler(void *kept, void *about, int code);

/* gigarank_inherit_handler gives a communicator the error handler of another communicator, by its index.
 * gigarank_check_handler refuses a handle that is no error handler. */
void gigarank_inherit_handler(int32_t index, struct gigarank_comm *made);
int gigarank_check_handler(const char *function, MPI_Errhandler handler);

/* gigarank_leave_handler ends a communicator's use of its error handler. */
void gigarank_leave_handler(struct gigarank_comm *c);

/* gigarank_forget_comm gives back a rank's record of a communicator. */
void gigarank_forget_comm(struct gigarank_comm *c);

/* gigarank_forget_rank gives back the rare state of a rank, and its communicators. */
void gigarank_forget_rank(struct gigarank_rank *r);

#pragma GCC visibility pop

#endif
