/* Waits for requests, and their cancellation. */
#include "mpi/waits.h"
#include "mpi/arguments.h"
#include "mpi/error_handlers.h"
#include "mpi/grequests.h"
#include "mpi/request_table.h"
#include "rank/posts.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

/* retire makes a request inactive whose operation is over. */
static void retire(MPI_Request *request, int64_t bytes) {
	if (*request == MPI_REQUEST_NULL)
		return;
	struct gigarank_request *q = gigarank_find_request(*request);
	gigarank_set_index(q, 0);
	q->done = 0;
	if (q->after) {
		q->after(q->what, bytes);
		q->after = NULL;
	}
	if (!q->persistent && !q->plan) {
		gigarank_drop_request(q);
		*request = MPI_REQUEST_NULL;
	}
}

/* A list of requests that is handed in. */
struct list {
	int n, every, any; /* a wait for all of them, or for any one */
	MPI_Request *requests;
	int pending, done; /* some are of the rank's own to complete, or known to be done */
	int actives;        /* with an index */
};

/* indices_of stores the simulator's requests of a list. The simulator finds those that are posted by their slots. */
static int indices_of(int procedure, struct list *l, int32_t *indices) {
	for (int i = 0; i < l->n; i++) {
		indices[i] = 0;
		if (l->requests[i] == MPI_REQUEST_NULL)
			continue;
		struct gigarank_request *q = gigarank_find_request(l->requests[i]);
		if (!q)
			return refuse(procedure, MPI_ERR_REQUEST, "request %d is no request of this rank, or it has been waited for or freed", i);
		indices[i] = q->index == GIGARANK_POSTED ? GIGARANK_POSTED - (int32_t)(q - gigarank_current->requests) : q->index;
		l->actives += q->index != 0;
		l->pending |= q->grequest != NULL || gigarank_unready(q);
		l->done |= q->done;
	}
	return MPI_SUCCESS;
}

/* comm_of returns the index of the communicator of the first of some requests. */
static int32_t comm_of(int n, const MPI_Request *requests) {
	for (int i = 0; i < n; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			return gigarank_find_request(requests[i])->comm;
	return 1;
}

/* take_kept stores the places and statuses of requests that are known to be done. */
static void take_kept(struct gigarank_call *c, const struct list *l) {
	for (int i = 0; i < l->n; i++) {
		struct gigarank_request *q = l->requests[i] == MPI_REQUEST_NULL ? NULL : gigarank_find_request(l->requests[i]);
		if (!q || !q->done)
			continue;
		c->statuses[c->outcount] = q->kept, c->indices[c->outcount++] = i;
		c->found = 1;
		if (l->any)
			return;
	}
}

/* collect retires the requests that a call has completed, and stores their places and statuses. */
static int collect(struct gigarank_call *c, const struct list *l, int error, int *which, int *outcount, int *flag, MPI_Status *statuses) {
	MPI_Request *requests = l->requests;
	int32_t comm = error || l->pending ? comm_of(l->n, requests) : 1;
	*flag = c->found;
	*outcount = c->outcount;
	if (error && c->outcount == 0 && l->every)
		*flag = 0;
	for (int i = 0; i < c->outcount; i++) {
		int at = c->indices[i], to = l->every ? at : i;
		struct gigarank_status *s = &c->statuses[i];
		struct gigarank_request *q = l->every && requests[at] != MPI_REQUEST_NULL ? gigarank_find_request(requests[at]) : NULL;
		if (q && q->done)
			*s = q->kept;
		if (which)
			which[i] = at;
		if (l->pending && requests[at] != MPI_REQUEST_NULL && gigarank_find_request(requests[at])->grequest) {
			int failed = gigarank_end_grequest(&requests[at], statuses ? &statuses[to] : NULL);
			error = error ? error : failed;
			continue;
		}
		if (statuses)
			gigarank_set_status(&statuses[to], s, error == MPI_ERR_IN_STATUS ? s->error : -1);
		retire(&requests[at], s->error ? -1 : s->bytes);
	}
	if (error)
		gigarank_handle_error(comm, error);
	return error;
}

/* A program may wait again and again for any of a long list of requests, of which the simulator
 * keeps the places from one call to the next. While all active requests of the rank are in that
 * list, a call hands in the program's handles, and not all are read. GIGARANK_UNKNOWN as the
 * number of completed requests says that all must be read. The result depends on the handles and on
 * earlier calls, not on the address of the list, which differs with the hosting. */
static int wait_for(int procedure, int n, MPI_Request *requests, int *which, int *outcount, int *flag, MPI_Status *statuses) {
	enum { SMALL = 16, LONG = 256 };
	int small = n < 1 ? 1 : n < SMALL ? n : SMALL; /* the frame of a waiting call on a copied stack is memory of the rank */
	int32_t few[small], fewer[small];
	struct gigarank_status little[small];
	struct list l = {.n = n, .requests = requests};
	l.every = procedure == GIGARANK_WAITALL || procedure == GIGARANK_TESTALL || procedure == GIGARANK_WAIT || procedure == GIGARANK_TEST;
	l.any = procedure == GIGARANK_WAITANY || procedure == GIGARANK_TESTANY;
	CHECK(active(procedure));
	if (n < 0)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %d", n);
	struct gigarank_rank *r = gigarank_running();
	int kept = n >= LONG && !l.every && !r->singular, error = MPI_SUCCESS, over = 0;
	int32_t *indices = few, *positions = fewer;
	struct gigarank_status *all = little;
	void *memory = NULL, *further = NULL;
	if (n > SMALL && !l.any) {
		all = memory = malloc((size_t)n * (sizeof *all + sizeof *positions));
		positions = (int32_t *)(all + n);
		if (!memory)
			goto none;
	}
	struct gigarank_call c = {.procedure = procedure, .comm = 1, .n = n, .indices = positions, .statuses = all};
	if (kept && r->listed) {
		c.handles = (const uintptr_t *)requests;
		error = gigarank_suspend(&c);
	}
	if (!c.handles || c.outcount == GIGARANK_UNKNOWN) {
		if (n > SMALL)
			indices = further = malloc((size_t)n * sizeof *indices);
		if (!indices)
			goto none;
		c = (struct gigarank_call){.procedure = procedure, .comm = 1, .n = n, .requests = indices, .indices = positions, .statuses = all};
		error = indices_of(procedure, &l, indices);
		if (!error && l.pending)
			error = gigarank_wait_for_own(procedure, n, requests, which, outcount, flag, statuses, &over);
		over |= error;
		if (!over && kept && (r->listed = l.actives == r->actives))
			c.handles = (const uintptr_t *)requests;
		if (!over && !l.every && l.done)
			take_kept(&c, &l);
		if (!over && !c.found)
			error = gigarank_suspend(&c);
		if (procedure == GIGARANK_TEST && !error && !c.found)
			gigarank_foresees(c.key, procedure, (uintptr_t)*requests, 0, 0);
	}
	if (!over)
		error = collect(&c, &l, error, which, outcount, flag, statuses);
	free(memory);
	free(further);
	return error;
none:
	free(memory);
	return refuse(procedure, MPI_ERR_NO_MEM, "no memory for %d requests", n);
}

int gigarank_wait_alone(int32_t index, int64_t *bytes) {
	struct gigarank_status status = {0};
	int32_t place = 0;
	struct gigarank_call c = {.procedure = GIGARANK_WAIT, .comm = 1, .n = 1, .requests = &index, .indices = &place, .statuses = &status};
	int error = gigarank_trap(&c);
	*bytes = error ? -1 : status.bytes;
	return error;
}

MPI(MPI_Wait, MPI_Request *request, MPI_Status *status) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	int outcount = 0, flag = 0;
	gigarank_set_status(status, &gigarank_empty_status, -1);
	return wait_for(GIGARANK_WAIT, 1, request, NULL, &outcount, &flag, status);
}

MPI(MPI_Test, MPI_Request *request, int *flag, MPI_Status *status) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	int outcount = 0;
	if (gigarank_fails_again(GIGARANK_TEST, (uintptr_t)*request, 0, 0)) {
		*flag = 0;
		return MPI_SUCCESS;
	}
	if (*request == MPI_REQUEST_NULL)
		gigarank_set_status(status, &gigarank_empty_status, -1);
	return wait_for(GIGARANK_TEST, 1, request, NULL, &outcount, flag, status);
}

MPI(MPI_Waitall, int count, MPI_Request requests[], MPI_Status statuses[]) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	int outcount = 0, flag = 0;
	for (int i = 0; statuses && i < count; i++)
		gigarank_set_status(&statuses[i], &gigarank_empty_status, -1);
	return wait_for(GIGARANK_WAITALL, count, requests, NULL, &outcount, &flag, statuses);
}

MPI(MPI_Testall, int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	int outcount = 0;
	int error = wait_for(GIGARANK_TESTALL, count, requests, NULL, &outcount, flag, statuses);
	return error;
}

/* The cancel function of a generalised request is told whether the request is complete. An operation that is known to be over
 * cannot be cancelled. */
MPI(MPI_Cancel, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	CHECK(active(GIGARANK_CANCEL));
	struct gigarank_request *q = *request == MPI_REQUEST_NULL ? NULL : gigarank_find_request(*request);
	if (!q)
		return refuse(GIGARANK_CANCEL, MPI_ERR_REQUEST, *request == MPI_REQUEST_NULL ? "the request is MPI_REQUEST_NULL" : "the handle is no request of this rank, or it has been waited for or freed");
	if (q->grequest)
		return q->grequest->cancel(q->grequest->extra, q->grequest->complete);
	if (q->done)
		return MPI_SUCCESS;
	if (q->partitions && (q->index || gigarank_unready(q)))
		return refuse(GIGARANK_CANCEL, MPI_ERR_REQUEST, "a partitioned message that is active cannot be cancelled");
	if (!q->index)
		return refuse(GIGARANK_CANCEL, MPI_ERR_REQUEST, "the request is not active");
	if (q->index == GIGARANK_POSTED) {
		gigarank_settle();
		q = gigarank_find_request(*request); /* the table may have moved */
	}
	int32_t index = q->index, about = q->comm;
	struct gigarank_call c = {.procedure = GIGARANK_CANCEL, .comm = 1, .n = 1, .requests = &index};
	int error = gigarank_suspend(&c);
	if (error)
		gigarank_handle_error(about, error);
	return error;
}

static int any_of(int procedure, int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	int outcount = 0, at = MPI_UNDEFINED;
	int error = wait_for(procedure, count, requests, &at, &outcount, flag, status);
	*index = outcount ? at : MPI_UNDEFINED;
	if (!outcount && *flag)
		gigarank_set_status(status, &gigarank_empty_status, -1);
	return error;
}

MPI(MPI_Waitany, int count, MPI_Request requests[], int *index, MPI_Status *status) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(index, "index", MPI_ERR_ARG);
	int flag = 0;
	return any_of(GIGARANK_WAITANY, count, requests, index, &flag, status);
}

MPI(MPI_Testany, int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(index, "index", MPI_ERR_ARG);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	return any_of(GIGARANK_TESTANY, count, requests, index, flag, status);
}

static int some_of(int procedure, int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int flag = 0;
	*outcount = 0;
	int error = wait_for(procedure, count, requests, indices, outcount, &flag, statuses);
	if (!error && !*outcount && flag) /* no request is active */
		*outcount = MPI_UNDEFINED;
	return error;
}

MPI(MPI_Waitsome, int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	GIVEN(incount == 0 || indices, "array_of_indices", MPI_ERR_ARG);
	GIVEN(incount == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(outcount, "outcount", MPI_ERR_ARG);
	return some_of(GIGARANK_WAITSOME, incount, requests, outcount, indices, statuses);
}

MPI(MPI_Testsome, int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	GIVEN(incount == 0 || indices, "array_of_indices", MPI_ERR_ARG);
	GIVEN(incount == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(outcount, "outcount", MPI_ERR_ARG);
	return some_of(GIGARANK_TESTSOME, incount, requests, outcount, indices, statuses);
}
