/* The requests that ranks have, by handle. */
#ifndef GIGARANK_MPI_REQUEST_TABLE_H
#define GIGARANK_MPI_REQUEST_TABLE_H

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

/* A nonblocking collective with this for its request checks its arguments, as far as the rank can by itself, and
 * begins nothing. It returns GIGARANK_CHECKED if they are right. */
#define GIGARANK_CHECK_ONLY ((MPI_Request *)8)
enum { GIGARANK_CHECKED = -1 };

/* gigarank_form_of returns the form of a nonblocking collective with a request. */
static inline int32_t gigarank_form_of(const MPI_Request *request) { return request == GIGARANK_CHECK_ONLY ? GIGARANK_PERSISTENT : GIGARANK_LATER; }

#pragma GCC visibility pop

#endif
