/* Operations of reductions. */
#ifndef GIGARANK_MPI_OPERATIONS_H
#define GIGARANK_MPI_OPERATIONS_H

#include "mpi.h"
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A reduction operation of a program. */
struct gigarank_operation {
	uint64_t mark;
	MPI_User_function *function;
	int commutative;
	int fortran; /* the function takes the number of the type */
	int large;   /* it is an MPI_User_function_c */
	int plans;   /* how many persistent collectives hold it */
};
#define GIGARANK_OPERATION_MARK 0x6769676172616e6bull

/* gigarank_applies reports whether an operation applies to a type. */
int gigarank_applies(MPI_Op operation, MPI_Datatype type);

/* gigarank_reduce carries out an operation. The type is the element's type for a predefined operation,
 * and the type that the function gets for an operation of the program. */
void gigarank_reduce(uintptr_t handle, uintptr_t type, void *into, const void *left, const void *right, size_t bytes);

/* gigarank_hold_operation has a persistent collective hold its operation, whose handle stays valid after the program has freed it.
 * It returns the operation, NULL for a predefined one. gigarank_leave_operation ends that use. */
struct gigarank_operation *gigarank_hold_operation(MPI_Op operation);
void gigarank_leave_operation(struct gigarank_operation *o);

/* gigarank_operation_of returns the operation of the program that has a handle, NULL for a predefined operation or a handle of no
 * operation. */
struct gigarank_operation *gigarank_operation_of(MPI_Op operation);

#pragma GCC visibility pop

#endif
