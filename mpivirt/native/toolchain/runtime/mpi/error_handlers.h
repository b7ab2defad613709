/* Error handlers, and their calls. */
#ifndef GIGARANK_MPI_ERROR_HANDLERS_H
#define GIGARANK_MPI_ERROR_HANDLERS_H

#include "mpi.h"
#include "mpi/objects.h"

struct gigarank_comm;

/* An error handler of the program. */
struct gigarank_errhandler {
	struct gigarank_object object;
	MPI_Comm_errhandler_function *function;
	int fortran;
};

#pragma GCC visibility push(hidden)

/* gigarank_handle_error calls the error handler of a communicator, by index. */
void gigarank_handle_error(int32_t comm, int code);

/* gigarank_call_comm_handler calls the error handler of a communicator, whose record is about, NULL for none. The rank ends with
 * the latest error of a call or, with a detail, with the code. */
void gigarank_call_comm_handler(const struct gigarank_comm *about, MPI_Comm comm, int code, const char *detail);

/* gigarank_set_handler gives a communicator an error handler, predefined or an object. The communicator keeps the object, whose handle
 * the program may free. gigarank_leave_handler ends that use. */
void gigarank_set_handler(struct gigarank_comm *c, MPI_Errhandler handler);
void gigarank_leave_handler(struct gigarank_comm *c);

/* gigarank_inherit_handler gives a communicator the error handler of another communicator, by its index. */
void gigarank_inherit_handler(int32_t index, struct gigarank_comm *made);

/* gigarank_keep_handler returns the object of an error handler with one more use, NULL for a predefined handler or
 * a handle that is no handler. gigarank_call_handler calls the function of such an object with a handle and a code. */
void *gigarank_keep_handler(MPI_Errhandler handler);
void gigarank_call_handler(void *kept, void *about, int code);

#pragma GCC visibility pop

#endif
