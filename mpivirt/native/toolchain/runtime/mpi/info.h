/* Info objects, and hints of communicators. */
#ifndef GIGARANK_MPI_INFO_H
#define GIGARANK_MPI_INFO_H

#include "mpi.h"

#pragma GCC visibility push(hidden)

struct gigarank_comm;

/* gigarank_check_hints refuses a handle that is no info object. gigarank_hint returns the value of a key, NULL if the
 * hints have no such key. */
int gigarank_check_hints(const char *function, MPI_Info hints);
const char *gigarank_hint(MPI_Info hints, const char *key);

/* gigarank_add_hints gives a communicator hints, which replace hints of the same keys. gigarank_leave_hints gives back the
 * hints of a communicator that is freed. */
int gigarank_add_hints(const char *function, struct gigarank_comm *c, MPI_Info hints);
void gigarank_leave_hints(struct gigarank_comm *c);

#pragma GCC visibility pop

#endif
