/* Predefined datatypes, and operations of reductions. */
#ifndef GIGARANK_MPI_TYPES_H
#define GIGARANK_MPI_TYPES_H

#include "mpi.h"
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* gigarank_basic describes the predefined type of a handle. It returns NULL, else its name. */
const char *gigarank_basic(uintptr_t place, int *size, int *element, int *extent, int *align);

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

#pragma GCC visibility pop

#endif
