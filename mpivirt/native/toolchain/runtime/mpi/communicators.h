/* How communicators are made and freed. */
#ifndef GIGARANK_MPI_COMMUNICATORS_H
#define GIGARANK_MPI_COMMUNICATORS_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

struct gigarank_comm; /* see comm_records.h */

/* The origin of a new communicator: the communicator and the call from which it gets its error handler, hints and attributes.
 * Every function that makes communicators names it. A communicator has no name at first. */
struct gigarank_origin {
	MPI_Comm parent;         /* whose error handler it inherits (MPI 4.1, 9.3): of an intercommunicator the local communicator; NULL for none */
	MPI_Errhandler handler;  /* without a parent, the handler that the call gives it */
	MPI_Info hints;          /* that the call gives it, NULL for none: it has no hints of its parent (MPI 4.1, 7.4.4) */
	const char *duplicating; /* the function, if it copies the parent's attributes by their copy functions (MPI 4.1, 7.7.2); NULL */
};

/* gigarank_take stores the handle of the communicator that a call has made, and gives it error handler, hints and attributes. */
int gigarank_take(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made);

/* gigarank_duplicate_locally makes a duplicate of the communicator of a call, which all members make without a
 * message. */
int gigarank_duplicate_locally(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made);

/* gigarank_forget_comm gives back a rank's record of a communicator. */
void gigarank_forget_comm(struct gigarank_comm *c);

/* These make a communicator for a function that errors name: with the members of another communicator, by a split of a
 * communicator, and of a group among its members alone. */
int gigarank_duplicate(const char *function, MPI_Comm comm, const struct gigarank_origin *from, MPI_Comm *made);
int gigarank_split(const char *function, MPI_Comm comm, int color, int key, const struct gigarank_origin *from, MPI_Comm *made);
int gigarank_create_group(const char *function, MPI_Comm comm, MPI_Group group, int tag, const struct gigarank_origin *from, MPI_Comm *made);

#pragma GCC visibility pop

#endif
