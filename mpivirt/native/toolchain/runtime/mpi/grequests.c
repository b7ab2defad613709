/* Generalised requests, whose operations the program carries out, and the fields of statuses. */
#include "mpi/grequests.h"
#include "mpi/arguments.h"
#include "mpi/request_table.h"
#include "rank/running.h"

#include <stdlib.h>

int gigarank_end_grequest(MPI_Request *request, MPI_Status *status) {
	struct gigarank_request *q = gigarank_find_request(*request);
	struct gigarank_grequest g = *q->grequest;
	MPI_Status own = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
	gigarank_drop_request(q);
	*request = MPI_REQUEST_NULL;
	int error = g.query(g.extra, &own), freed = g.free(g.extra);
	if (status)
		*status = own;
	return error ? error : freed;
}

MPI(MPI_Grequest_start, MPI_Grequest_query_function *query, MPI_Grequest_free_function *release, MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	CHECK(active(GIGARANK_NONE));
	struct gigarank_grequest *g = malloc(sizeof *g);
	if (!g)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a request");
	*g = (struct gigarank_grequest){query, release, cancel, extra, 0, 0};
	int error = gigarank_add_request(0, NULL, request);
	if (error)
		free(g);
	else
		gigarank_find_request(*request)->grequest = g, gigarank_running()->singular = 1;
	return error;
}

MPI(MPI_Grequest_complete, MPI_Request request) {
	CHECK(active(GIGARANK_NONE));
	struct gigarank_request *q = request == MPI_REQUEST_NULL ? NULL : gigarank_find_request(request);
	if (!q || !q->grequest)
		return refuse(GIGARANK_NONE, MPI_ERR_REQUEST, "the handle is no generalised request, or it has been waited for or freed");
	q->grequest->complete = 1;
	return q->grequest->dropped ? gigarank_end_grequest(&request, NULL) : MPI_SUCCESS;
}

int gigarank_drop_grequest(MPI_Request *request) {
	struct gigarank_grequest *g = gigarank_find_request(*request)->grequest;
	if (g->complete)
		return gigarank_end_grequest(request, NULL);
	g->dropped = 1; /* it ends when it is completed */
	*request = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}

/* first_unready returns the first partition of a send that is not ready. */
static int first_unready(const struct gigarank_partitions *p) {
	int i = 0;
	while (p->ready[i])
		i++;
	return i;
}

int gigarank_wait_for_own(int procedure, int n, MPI_Request *requests, int *which, int *outcount, int *flag, MPI_Status *statuses, int *over) {
	int every = procedure == GIGARANK_WAITALL || procedure == GIGARANK_TESTALL || procedure == GIGARANK_WAIT || procedure == GIGARANK_TEST;
	int any = procedure == GIGARANK_WAITANY || procedure == GIGARANK_TESTANY;
	int pending = 0, others = 0, unready = -1, error = MPI_SUCCESS;
	*over = 1, *outcount = 0, *flag = 0;
	for (int i = 0; i < n; i++) {
		struct gigarank_request *q = requests[i] == MPI_REQUEST_NULL ? NULL : gigarank_find_request(requests[i]);
		if (!q || !q->grequest) {
			others += q && (q->index || q->done);
			if (q && gigarank_unready(q))
				pending++, unready = i;
			continue;
		}
		if (!q->grequest->complete)
			pending++;
		else if (!every) {
			int at = (*outcount)++;
			which[at] = i, *flag = 1;
			int failed = gigarank_end_grequest(&requests[i], statuses ? &statuses[at] : NULL);
			error = error ? error : failed;
			if (any)
				return error;
		}
	}
	if (*outcount)
		return error;
	*over = pending && (every || !others);
	if (*over && procedure < GIGARANK_TEST && unready >= 0) {
		const struct gigarank_request *q = gigarank_find_request(requests[unready]);
		gigarank_running()->about = q->comm;
		return refuse(procedure, MPI_ERR_REQUEST, "request %d is a partitioned send whose partition %d of %d is not ready, and nobody can make it ready while its rank waits: call MPI_Pready before",
			unready, first_unready(q->partitions), q->partitions->count);
	}
	if (*over && procedure < GIGARANK_TEST)
		return refuse(procedure, MPI_ERR_REQUEST, "a generalised request is not complete, and nobody can complete it while its rank waits");
	return MPI_SUCCESS;
}

/* --- statuses ------------------------------------------------------------------------------ */

MPI(MPI_Status_set_cancelled, MPI_Status *status, int flag) {
	GIVEN(status, "status", MPI_ERR_ARG);
	status->MPI_internal[2] = flag != 0;
	return MPI_SUCCESS;
}

MPI(MPI_Test_cancelled, const MPI_Status *status, int *flag) {
	GIVEN(status, "status", MPI_ERR_ARG);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = status->MPI_internal[2] != 0;
	return MPI_SUCCESS;
}

#define FIELD(get, set, name, field) \
	MPI(get, const MPI_Status *status, int *value) { \
		GIVEN(status, "status", MPI_ERR_ARG); \
		GIVEN(value, name, MPI_ERR_ARG); \
		*value = status->field; \
		return MPI_SUCCESS; \
	} \
	MPI(set, MPI_Status *status, int value) { \
		GIVEN(status, "status", MPI_ERR_ARG); \
		status->field = value; \
		return MPI_SUCCESS; \
	}
FIELD(MPI_Status_get_source, MPI_Status_set_source, "source", MPI_SOURCE)
FIELD(MPI_Status_get_tag, MPI_Status_set_tag, "tag", MPI_TAG)
FIELD(MPI_Status_get_error, MPI_Status_set_error, "error", MPI_ERROR)
