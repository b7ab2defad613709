/* Intercommunicators: how they are made, and merged into a communicator. Their collectives are the collectives of all
 * communicators. */
#include "mpi/intercomm.h"
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/communicators.h"
#include "rank/ranks.h"

#include <stdlib.h>
#include <string.h>

/* meet has the leader send a token and the ranks of its group to the other leader, in 64-bit numbers.
 * It stores its own token and the numbers of the other leader. */
static int meet(struct gigarank_call *local, MPI_Comm peer, int remote, int tag, uint64_t **told, int64_t *n) {
	size_t size = (size_t)local->size;
	MPI_Status status;
	MPI_Request sent;
	int64_t bytes = 0;
	uint64_t *own = malloc((size + 1) * sizeof *own);
	if (!own)
		return gigarank_refuse("", GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a group of %zu ranks", size);
	struct gigarank_call c = *local;
	c.procedure = GIGARANK_INTRODUCTION, c.output = own, c.room = local->size + 1;
	int error = gigarank_trap(&c);
	if (!error)
		error = PMPI_Isend(own, local->size + 1, MPI_UINT64_T, remote, tag, peer, &sent);
	if (!error) {
		error = PMPI_Probe(remote, tag, peer, &status);
		if (!error) {
			memcpy(&bytes, &status.MPI_internal[0], sizeof bytes);
			*n = 1 + bytes / 8;
			if (!(*told = malloc((size_t)*n * sizeof **told)))
				error = gigarank_refuse("", GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a remote group of %lld ranks", (long long)*n);
		}
		if (!error) {
			(*told)[0] = own[0];
			error = PMPI_Recv(*told + 1, (int)*n - 1, MPI_UINT64_T, remote, tag, peer, MPI_STATUS_IGNORE);
		}
		int later = PMPI_Wait(&sent, MPI_STATUS_IGNORE);
		error = error ? error : later;
	}
	free(own);
	return error;
}

int gigarank_connect(const char *function, MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, const struct gigarank_origin *from, MPI_Comm *made) {
	struct gigarank_call c = {0};
	uint64_t *told = NULL;
	int64_t n = 0;
	*made = MPI_COMM_NULL;
	CHECK(gigarank_find(function, GIGARANK_NONE, local, &c));
	if (c.remote)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COMM, "the local communicator is an intercommunicator");
	if (leader < 0 || leader >= c.size)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_RANK, "leader %d of a group of %d", leader, c.size);
	int error = MPI_SUCCESS;
	if (c.member == leader)
		error = meet(&c, peer, remote, tag, &told, &n);
	if (!error) {
		c.procedure = GIGARANK_INTERCOMM_CREATE, c.input = told, c.given = n, c.root = leader;
		gigarank_trap(&c);
		error = gigarank_take(&c, from, made);
	}
	free(told);
	return error;
}

MPI(MPI_Intercomm_create, MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made) {
	return gigarank_connect(__func__, local, leader, peer, remote, tag, &(struct gigarank_origin){.parent = local}, made);
}

MPI(MPI_Intercomm_merge, MPI_Comm comm, int high, MPI_Comm *made) {
	GIVEN(made, "newintracomm", MPI_ERR_ARG);
	uint8_t flag = high != 0, theirs = 0;
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_INTERCOMM_MERGE, comm, &c));
	if (!c.remote)
		return refuse(c.procedure, MPI_ERR_COMM, "the communicator has no remote group");
	struct gigarank_comm *noted = gigarank_note(&c);
	c.input = &flag, c.given = 1, c.output = &theirs, c.room = 1, c.key = ++noted->local_duplicates;
	gigarank_trap(&c);
	return gigarank_take(&c, &(struct gigarank_origin){.parent = comm}, made);
}
