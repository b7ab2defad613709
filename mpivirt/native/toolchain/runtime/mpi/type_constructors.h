/* Constructors of datatypes. */
#ifndef GIGARANK_MPI_TYPE_CONSTRUCTORS_H
#define GIGARANK_MPI_TYPE_CONSTRUCTORS_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

struct gigarank_datatype;

/* gigarank_hold_type has a persistent collective hold a type, whose handle stays valid after the program has freed it. It returns
 * the type, NULL for a predefined one. gigarank_leave_type ends that use. */
struct gigarank_datatype *gigarank_hold_type(MPI_Datatype handle);
void gigarank_leave_type(struct gigarank_datatype *t);

#pragma GCC visibility pop

#endif
