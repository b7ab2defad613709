/* Requests of a rank, and waits for them. */
#ifndef GIGARANK_MPI_WAITS_H
#define GIGARANK_MPI_WAITS_H

#include "rank/running.h"

#pragma GCC visibility push(hidden)

/* gigarank_add_request stores the handle of an operation that the running rank has begun. */
int gigarank_add_request(int32_t index, struct gigarank_call *persistent, MPI_Request *request);

/* gigarank_find_request returns the request of a handle, NULL for a handle of no request of the running rank. */
struct gigarank_request *gigarank_find_request(MPI_Request request);

/* gigarank_set_index makes a request active, or inactive by an index of 0. */
static inline void gigarank_set_index(struct gigarank_request *q, int32_t index) {
	gigarank_current->ranks[q->rank].actives += (index != 0) - (q->index != 0);
	q->index = index;
}

/* gigarank_unready reports whether a request is a partitioned send that is started and lacks partitions. The simulator does not
 * know of it. */
static inline int gigarank_unready(const struct gigarank_request *q) { return q->partitions && q->partitions->unready > 0; }

/* gigarank_drop_request makes a slot free. */
void gigarank_drop_request(struct gigarank_request *q);

/* gigarank_wait_alone waits for a request of the simulator's. */
int gigarank_wait_alone(int32_t index, int64_t *bytes);

#pragma GCC visibility pop

#endif
