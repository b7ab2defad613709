/* The records that a rank has of its communicators, by index and by handle. */
#include "mpi/comm_records.h"
#include "rank/running.h"

#include <stdlib.h>

struct gigarank_comm *gigarank_comm_record(int32_t index) {
	for (struct gigarank_comm *c = gigarank_running()->comms; c; c = c->next)
		if (c->index == index)
			return c;
	return NULL;
}

struct gigarank_comm *gigarank_comm_record_of(MPI_Comm handle) {
	for (struct gigarank_comm *c = gigarank_running()->comms; c; c = c->next)
		if ((MPI_Comm)c == handle)
			return c;
	return NULL;
}

struct gigarank_comm *gigarank_add_comm_record(struct gigarank_comm what) {
	struct gigarank_rank *r = gigarank_running();
	struct gigarank_comm *new = malloc(sizeof *new);
	if (!new)
		return NULL;
	what.next = r->comms;
	*new = what;
	return r->comms = new;
}
