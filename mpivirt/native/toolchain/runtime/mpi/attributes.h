/* Attributes of communicators and datatypes. */
#ifndef GIGARANK_MPI_ATTRIBUTES_H
#define GIGARANK_MPI_ATTRIBUTES_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

struct gigarank_datatype;
struct gigarank_own;

/* gigarank_copy_attributes calls the copy functions of a communicator that was duplicated by a
 * function, which errors name, up to a function that fails. */
int gigarank_copy_attributes(const char *function, MPI_Comm comm, MPI_Comm made);

/* gigarank_drop_attributes calls the delete functions of a communicator that is freed, and gigarank_drop_type_attributes those of
 * a datatype, the latest attribute first, up to a function that fails. */
int gigarank_drop_attributes(const char *function, MPI_Comm comm);
int gigarank_drop_type_attributes(const char *function, struct gigarank_datatype *t);
int gigarank_copy_type_attributes(MPI_Datatype type, struct gigarank_datatype *from, struct gigarank_datatype *to);

/* gigarank_forget_types gives back the attributes of predefined types. */
void gigarank_forget_types(struct gigarank_own *own);

#pragma GCC visibility pop

#endif
