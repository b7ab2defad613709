/* Inquiries about requests, their end, and persistent collectives. */
#include "mpi/requests.h"
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/communicators.h"
#include "mpi/datatypes.h"
#include "mpi/grequests.h"
#include "mpi/operations.h"
#include "mpi/request_table.h"
#include "mpi/type_constructors.h"
#include "mpi/waits.h"
#include "rank/posts.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

/* --- requests ------------------------------------------------------------------------- */

/* request_of returns the request of a handle, NULL after an error. */
static struct gigarank_request *request_of(const char *function, MPI_Request request, int *error) {
	if ((*error = gigarank_active(function, GIGARANK_NONE)))
		return NULL;
	struct gigarank_request *q = request == MPI_REQUEST_NULL ? NULL : gigarank_find_request(request);
	if (!q)
		*error = gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_REQUEST, "the handle is no request of this rank, or it has been waited for or freed");
	return q;
}

/* An operation that is begun goes on. MPI_Finalize waits for it. */
MPI(MPI_Request_free, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	int error;
	struct gigarank_request *q = request_of(__func__, *request, &error);
	CHECK(error);
	if (q->grequest)
		return gigarank_drop_grequest(request);
	if (q->partitions) {
		int over = 1;
		CHECK(PMPI_Request_get_status(*request, &over, MPI_STATUS_IGNORE));
		q = gigarank_find_request(*request); /* the table may have moved */
		if (!over) {
			gigarank_running()->about = q->comm;
			return refuse(GIGARANK_NONE, MPI_ERR_REQUEST, "the request is of a partitioned message that is active: wait for it before");
		}
	}
	if (q->index) {
		q->detached = 1, q->generation++;
		gigarank_current->detached_requests++;
	} else
		gigarank_drop_request(q);
	*request = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}

int gigarank_end_detached(void) {
	struct gigarank_engine *e = gigarank_current;
	int32_t rank = (int32_t)(e->running - e->ranks);
	gigarank_settle();
	for (int32_t i = 0; e->detached_requests > 0 && i < e->request_count; i++) {
		struct gigarank_request *q = &e->requests[i];
		int64_t bytes;
		if (q->rank != rank || !q->detached)
			continue;
		int error = gigarank_wait_alone(q->index, &bytes);
		q = &e->requests[i]; /* the table may have moved */
		if (q->after)
			q->after(q->what, bytes);
		q->after = NULL;
		e->detached_requests--;
		gigarank_drop_request(q);
		CHECK(error);
	}
	return MPI_SUCCESS;
}

/* A request that turns out to be complete keeps its status until it is waited for. */
MPI(MPI_Request_get_status, MPI_Request request, int *flag, MPI_Status *status) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	int error;
	*flag = 1;
	if (request == MPI_REQUEST_NULL) {
		gigarank_set_status(status, &gigarank_empty_status, -1);
		return active(GIGARANK_NONE);
	}
	struct gigarank_request *q = request_of(__func__, request, &error);
	CHECK(error);
	if (q->grequest) {
		MPI_Status own = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
		*flag = q->grequest->complete;
		error = *flag ? q->grequest->query(q->grequest->extra, &own) : MPI_SUCCESS;
		if (*flag && status)
			*status = own;
		return error;
	}
	if (gigarank_unready(q)) {
		*flag = 0;
		return MPI_SUCCESS;
	}
	if (q->index == GIGARANK_POSTED) {
		gigarank_settle();
		q = gigarank_find_request(request); /* the table may have moved */
	}
	if (q->index) {
		int32_t place = 0, index = q->index;
		struct gigarank_call c = {.procedure = GIGARANK_TEST, .comm = 1, .n = 1, .requests = &index, .indices = &place, .statuses = &c.status};
		error = gigarank_trap(&c);
		*flag = c.found;
		q = gigarank_find_request(request);
		if (c.found) {
			gigarank_set_index(q, 0);
			q->done = 1, q->kept = c.status;
			gigarank_running()->singular = 1;
			if (q->after)
				q->after(q->what, error ? -1 : c.status.bytes);
			q->after = NULL;
		}
		CHECK(error);
	}
	if (*flag)
		gigarank_set_status(status, q->done ? &q->kept : &gigarank_empty_status, -1);
	return MPI_SUCCESS;
}

/* GIVEN_LIST checks a list of requests, and its length. */
#define GIVEN_LIST(count, requests) \
	do { \
		if ((count) < 0) \
			return refuse(GIGARANK_NONE, MPI_ERR_COUNT, "a count of %d", count); \
		GIVEN((count) == 0 || (requests), "array_of_requests", MPI_ERR_REQUEST); \
	} while (0)

MPI(MPI_Request_get_status_all, int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	GIVEN_LIST(count, requests);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = 1;
	for (int i = 0; i < count && *flag; i++)
		CHECK(PMPI_Request_get_status(requests[i], flag, statuses ? &statuses[i] : MPI_STATUS_IGNORE));
	return MPI_SUCCESS;
}

/* passive reports whether a request has no operation. */
static int passive(MPI_Request request) {
	struct gigarank_request *q = request == MPI_REQUEST_NULL || !gigarank_running() ? NULL : gigarank_find_request(request);
	return request == MPI_REQUEST_NULL || (q && !q->index && !q->done && !q->grequest && !gigarank_unready(q));
}

MPI(MPI_Request_get_status_any, int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	GIVEN_LIST(count, requests);
	GIVEN(index, "index", MPI_ERR_ARG);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	int actives = 0;
	*index = MPI_UNDEFINED, *flag = 0;
	for (int i = 0; i < count; i++) {
		if (passive(requests[i]))
			continue;
		actives++;
		CHECK(PMPI_Request_get_status(requests[i], flag, status));
		if (*flag) {
			*index = i;
			return MPI_SUCCESS;
		}
	}
	if (!actives) {
		*flag = 1;
		gigarank_set_status(status, &gigarank_empty_status, -1);
	}
	return MPI_SUCCESS;
}

MPI(MPI_Request_get_status_some, int incount, const MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	GIVEN_LIST(incount, requests);
	GIVEN(outcount, "outcount", MPI_ERR_ARG);
	GIVEN(incount == 0 || indices, "array_of_indices", MPI_ERR_ARG);
	int actives = 0, n = 0, flag;
	for (int i = 0; i < incount; i++) {
		if (passive(requests[i]))
			continue;
		actives++;
		CHECK(PMPI_Request_get_status(requests[i], &flag, statuses ? &statuses[n] : MPI_STATUS_IGNORE));
		if (flag)
			indices[n++] = i;
	}
	*outcount = actives ? n : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

/* --- persistent collectives ------------------------------------------------------------- */

/* A plan has the arguments of a collective, and a communicator of its own: the standard lets
 * ranks start persistent collectives in different orders. */
struct plan {
	struct gigarank_plan plan;
	const void *sent;
	void *received;
	int64_t sendcount, recvcount;
	int root, gathers, scatters; /* to the root, or from it */
	struct gigarank_numbers sendcounts, recvcounts, senddisplacements, recvdisplacements;
	const MPI_Aint *sendplaces, *recvplaces;
	MPI_Datatype sendtype, recvtype;
	const MPI_Datatype *sendtypes, *recvtypes;
	MPI_Op operation;
	MPI_Comm comm;
	struct gigarank_datatype **held; /* its types; NULL for a predefined type */
	int32_t holds;
	struct gigarank_operation *held_operation;
};

static void close_plan(struct gigarank_plan *plan) {
	struct plan *p = (struct plan *)plan;
	if (gigarank_running()) {
		if (p->comm)
			PMPI_Comm_free(&p->comm);
		for (int32_t i = 0; i < p->holds; i++)
			if (p->held[i])
				gigarank_leave_type(p->held[i]);
		if (p->held_operation)
			gigarank_leave_operation(p->held_operation);
	}
	free(p->held);
	free((void *)p->sendtypes);
	free((void *)p->recvtypes);
	free(p);
}

/* keep_types has a plan keep a list of types. */
static int keep_types(const char *function, const MPI_Datatype **types, int32_t n) {
	if (!*types)
		return MPI_SUCCESS;
	MPI_Datatype *copy = malloc(((size_t)n + 1) * sizeof *copy);
	if (copy)
		memcpy(copy, *types, (size_t)n * sizeof *copy);
	*types = copy;
	return copy ? MPI_SUCCESS : gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for %d types", n);
}

/* hold has a plan hold its types and its operation. Its lists have as many types as given. A type that
 * the rank need not give may be no handle at all: it is not read. */
static int hold(const char *function, struct plan *p, const struct gigarank_call *c, int32_t sendtypes, int32_t recvtypes) {
	int at_root = c->remote ? p->root == MPI_ROOT : p->root == c->member, with_root = !c->remote || p->root >= 0;
	int sends = p->sent != MPI_IN_PLACE && (p->scatters ? at_root : !p->gathers || with_root);
	int receives = p->received != MPI_IN_PLACE && (p->gathers ? at_root : !p->scatters || with_root);
	sendtypes = sends && p->sendtypes ? sendtypes : 0, recvtypes = receives && p->recvtypes ? recvtypes : 0;
	p->held = malloc(((size_t)sendtypes + (size_t)recvtypes + 2) * sizeof *p->held);
	if (!p->held)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for %d types", sendtypes + recvtypes);
	p->held[p->holds++] = sends ? gigarank_hold_type(p->sendtype) : NULL;
	p->held[p->holds++] = receives ? gigarank_hold_type(p->recvtype) : NULL;
	for (int32_t i = 0; i < sendtypes; i++)
		p->held[p->holds++] = gigarank_hold_type(p->sendtypes[i]);
	for (int32_t i = 0; i < recvtypes; i++)
		p->held[p->holds++] = gigarank_hold_type(p->recvtypes[i]);
	p->held_operation = gigarank_hold_operation(p->operation);
	return MPI_SUCCESS;
}

/* check_plan checks the arguments of a collective on a communicator. */
static int check_plan(const char *function, int (*start)(struct gigarank_plan *, MPI_Request *), const struct plan *what, MPI_Comm comm, const struct gigarank_call *c) {
	int32_t members = c->remote ? c->remote : c->size;
	if ((what->root < 0 && !(c->remote && (what->root == MPI_ROOT || what->root == MPI_PROC_NULL))) || what->root >= members)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ROOT, "root %d in a communicator of %d rank%s", what->root, members, plural(members));
	struct plan here = *what;
	here.comm = comm;
	int error = start(&here.plan, GIGARANK_CHECK_ONLY);
	gigarank_form(GIGARANK_PLAIN);
	return error == GIGARANK_CHECKED ? MPI_SUCCESS : error;
}

/* keep makes a request with a plan. */
static int keep(const char *function, int (*start)(struct gigarank_plan *, MPI_Request *), struct plan what, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
	struct gigarank_call c = {0};
	(void)info;
	if (!request)
		return gigarank_missing(function, MPI_ERR_REQUEST, "request");
	int error = gigarank_find(function, GIGARANK_NONE, comm, &c);
	if (!error)
		error = check_plan(function, start, &what, comm, &c);
	struct plan *p = malloc(sizeof *p);
	if (!error && !p)
		error = gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a request");
	if (error) {
		free(p);
		return error;
	}
	*p = what;
	p->plan.start = start, p->plan.close = close_plan;
	const struct gigarank_comm *noted = gigarank_note(&c);
	int32_t members = c.remote ? c.remote : c.size;
	if (p->sent == MPI_IN_PLACE)
		p->sendtypes = NULL;
	int32_t in = p->recvplaces && noted ? noted->topology.indegree : members, out = p->sendplaces && noted ? noted->topology.outdegree : members;
	int error_in = keep_types(function, &p->recvtypes, in);
	int error_out = keep_types(function, &p->sendtypes, out);
	error = error_in ? error_in : error_out;
	if (!error)
		error = hold(function, p, &c, out, in);
	if (!error)
		error = gigarank_duplicate_locally(&c, &(struct gigarank_origin){.parent = comm}, &p->comm);
	if (!error)
		error = gigarank_add_request(0, NULL, request);
	if (error)
		close_plan(&p->plan);
	else
		gigarank_find_request(*request)->plan = &p->plan;
	return error;
}

int gigarank_start_plan(MPI_Request *request) {
	MPI_Request begun = MPI_REQUEST_NULL;
	struct gigarank_plan *p = gigarank_find_request(*request)->plan;
	CHECK(p->start(p, &begun));
	struct gigarank_request *q = gigarank_find_request(*request), *b = gigarank_find_request(begun);
	gigarank_set_index(q, b->index);
	q->comm = b->comm, q->after = b->after, q->what = b->what;
	b->after = NULL;
	gigarank_drop_request(b);
	return MPI_SUCCESS;
}

/* Each persistent collective begins its nonblocking form. */
#define UNPACK(...) __VA_ARGS__
#define PERSISTENT(name, parameters, fields, call) \
	static int START(name)(struct gigarank_plan *plan, MPI_Request *begun) { \
		struct plan *p = (struct plan *)plan; \
		return call; \
	} \
	COUNTED(name, UNPACK parameters, MPI_Info info, MPI_Request *request) { \
		return keep(__func__, START(name), (struct plan){UNPACK fields}, comm, info, request); \
	}

#include "mpi/counts_small.h"
PERSISTENT(MPI_Barrier_init, (MPI_Comm comm), (.root = 0), PMPI_Ibarrier(p->comm, begun))
#include "mpi/counted_requests.h"
#include "mpi/counts_large.h"
#include "mpi/counted_requests.h"
