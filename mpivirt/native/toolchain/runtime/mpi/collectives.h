/* Collectives. */
#ifndef GIGARANK_MPI_COLLECTIVES_H
#define GIGARANK_MPI_COLLECTIVES_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

struct gigarank_operation;

/* gigarank_hold_operation has a persistent collective hold its operation, whose handle stays valid after the program has freed it.
 * It returns the operation, NULL for a predefined one. gigarank_leave_operation ends that use. */
struct gigarank_operation *gigarank_hold_operation(MPI_Op operation);
void gigarank_leave_operation(struct gigarank_operation *o);

/* A nonblocking collective with this for its request checks its arguments, as far as the rank can by itself, and
 * begins nothing. It returns GIGARANK_CHECKED if they are right. */
#define GIGARANK_CHECK_ONLY ((MPI_Request *)8)
enum { GIGARANK_CHECKED = -1 };

/* gigarank_form_of returns the form of a nonblocking collective with a request. */
static inline int32_t gigarank_form_of(const MPI_Request *request) { return request == GIGARANK_CHECK_ONLY ? GIGARANK_PERSISTENT : GIGARANK_LATER; }

/* gigarank_idup_barrier begins the barrier of an MPI_Comm_idup. */
int gigarank_idup_barrier(MPI_Comm comm, MPI_Request *request);

#pragma GCC visibility pop

#endif
