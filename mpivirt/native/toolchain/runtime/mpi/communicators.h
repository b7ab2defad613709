/* Communicators of a rank. */
#ifndef GIGARANK_MPI_COMMUNICATORS_H
#define GIGARANK_MPI_COMMUNICATORS_H

#include "mpi.h"
#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* A communicator that a rank has made, or what it has noted of WORLD and SELF. */
struct gigarank_comm {
	struct gigarank_comm *next;
	int32_t index, member, size;
	int32_t remote; /* members of the remote group, 0 without one */
	int32_t local_duplicates; /* made of it without a message */
	char *name;     /* that the program has given it, NULL for none */
	MPI_Errhandler handler; /* a predefined one, or its object; NULL for MPI_ERRORS_ARE_FATAL */
	struct gigarank_attribute *attributes;
	struct gigarank_info *hints; /* that the program has given it, NULL for none */
	struct gigarank_topology topology;
};

/* What a new communicator gets of another one, or of the call that makes it. Every function that makes
 * communicators says so by this. A communicator has no name at first. */
struct gigarank_origin {
	MPI_Comm parent;         /* whose error handler it inherits (MPI 4.1, 9.3): of an intercommunicator the local one; NULL for none */
	MPI_Errhandler handler;  /* without a parent, that which the call gives it */
	MPI_Info hints;          /* that the call gives it, NULL for none: it has none of its parent's (MPI 4.1, 7.4.4) */
	const char *duplicating; /* the function, if it copies the parent's attributes by their copy functions (MPI 4.1, 7.7.2); NULL */
};

/* gigarank_note returns what the rank has noted of the communicator of a call, NULL after an error. */
struct gigarank_comm *gigarank_note(struct gigarank_call *c);

/* gigarank_take stores the handle of the communicator that a call has made, with what it gets. */
int gigarank_take(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made);

/* gigarank_duplicate_locally makes a communicator like that of a call, which all members make without a
 * message. */
int gigarank_duplicate_locally(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made);

/* What several functions do, which errors name: make a communicator with the members of another one,
 * divide one, make one of a group among its members alone, and one of two groups. */
int gigarank_duplicate(const char *function, MPI_Comm comm, const struct gigarank_origin *from, MPI_Comm *made);
int gigarank_split(const char *function, MPI_Comm comm, int color, int key, const struct gigarank_origin *from, MPI_Comm *made);
int gigarank_create_group(const char *function, MPI_Comm comm, MPI_Group group, int tag, const struct gigarank_origin *from, MPI_Comm *made);

#pragma GCC visibility pop

#endif
