/* The requests of an engine's ranks, in one table. */
#include "mpi/request_table.h"
#include "mpi/arguments.h"
#include "mpi/datatypes.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

int gigarank_add_request(int32_t index, struct gigarank_call *persistent, MPI_Request *request) {
	struct gigarank_engine *e = gigarank_current;
	int32_t slot = e->request_free;
	if (slot < 0) {
		int32_t room = e->request_count ? 2 * e->request_count : 64;
		struct gigarank_request *larger = realloc(e->requests, (size_t)room * sizeof *larger);
		if (!larger)
			return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a request");
		memset(larger + e->request_count, 0, (size_t)(room - e->request_count) * sizeof *larger);
		for (int32_t i = e->request_count; i < room; i++)
			larger[i].rank = -1, larger[i].next = i + 1 < room ? i + 1 : -1;
		slot = e->request_count;
		e->requests = larger, e->request_count = room;
	}
	struct gigarank_request *q = &e->requests[slot];
	e->request_free = q->next;
	q->rank = (int32_t)(e->running - e->ranks);
	q->index = 0;
	gigarank_set_index(q, index);
	q->persistent = persistent, q->partitions = NULL, q->plan = NULL;
	q->done = q->detached = 0;
	q->grequest = NULL;
	q->comm = e->running->about;
	q->after = NULL;
	*request = (MPI_Request)((uintptr_t)(uint32_t)q->generation << 32 | (uint32_t)(slot + GIGARANK_PREDEFINED));
	return MPI_SUCCESS;
}

struct gigarank_request *gigarank_find_request(MPI_Request request) {
	struct gigarank_engine *e = gigarank_current;
	uint32_t slot = (uint32_t)(uintptr_t)request - GIGARANK_PREDEFINED;
	if (slot >= (uint32_t)e->request_count)
		return NULL;
	struct gigarank_request *q = &e->requests[slot];
	if (q->rank != e->running - e->ranks || (uint32_t)q->generation != (uintptr_t)request >> 32)
		return NULL;
	return q;
}

void gigarank_drop_request(struct gigarank_request *q) {
	struct gigarank_engine *e = gigarank_current;
	if (q->persistent)
		gigarank_leave_layouts(q->persistent);
	free(q->persistent);
	free(q->partitions);
	free(q->grequest);
	struct gigarank_plan *plan = q->plan;
	if (plan)
		plan->close(plan);
	q->persistent = NULL, q->partitions = NULL, q->plan = NULL, q->grequest = NULL;
	gigarank_set_index(q, 0);
	q->rank = -1;
	q->generation++;
	q->next = e->request_free;
	e->request_free = (int32_t)(q - e->requests);
}
