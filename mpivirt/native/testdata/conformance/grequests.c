/* Generalised requests, and the fields of statuses. */
#include "check.h"

struct work { int queried, freed, value; };

static int query(void *extra, MPI_Status *status) {
	struct work *w = extra;
	w->queried++;
	status->MPI_SOURCE = w->value, status->MPI_TAG = 2 * w->value;
	MPI_Status_set_elements(status, MPI_INT, w->value);
	MPI_Status_set_cancelled(status, w->value == 3);
	return MPI_SUCCESS;
}

static int release(void *extra) {
	((struct work *)extra)->freed++;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
	(void)extra, (void)complete;
	return MPI_SUCCESS;
}

static void alone(void) {
	struct work w = {0, 0, 5};
	MPI_Request request, same;
	MPI_Status status;
	int flag, n;
	MPI_Grequest_start(query, release, cancel, &w, &request);
	MPI_Test(&request, &flag, &status);
	CHECK(!flag && request != MPI_REQUEST_NULL && w.queried == 0);
	MPI_Grequest_complete(request);
	CHECK(w.freed == 0);
	MPI_Wait(&request, &status);
	CHECK(request == MPI_REQUEST_NULL && w.queried == 1 && w.freed == 1);
	MPI_Get_count(&status, MPI_INT, &n);
	MPI_Test_cancelled(&status, &flag);
	CHECK(status.MPI_SOURCE == 5 && status.MPI_TAG == 10 && n == 5 && !flag);
	/* One whose handle is freed ends when it is complete. */
	MPI_Grequest_start(query, release, cancel, &w, &request);
	same = request;
	MPI_Request_free(&request);
	CHECK(request == MPI_REQUEST_NULL && w.freed == 1);
	MPI_Grequest_complete(same);
	CHECK(w.freed == 2);
}

static void among_others(void) {
	struct work w[2] = {{0, 0, 3}, {0, 0, 4}};
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int in = -1, left = (rank + size - 1) % size, right = (rank + 1) % size, flag, index;
	for (int way = 0; way < 2; way++) {
		for (int i = 0; i < 2; i++)
			MPI_Grequest_start(query, release, cancel, &w[i], &requests[2 * i]);
		MPI_Irecv(&in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[1]);
		MPI_Send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
		MPI_Testall(3, requests, &flag, statuses);
		CHECK(!flag);
		MPI_Grequest_complete(requests[2]);
		if (way == 0) {
			MPI_Grequest_complete(requests[0]);
			MPI_Waitall(3, requests, statuses);
			CHECK(statuses[0].MPI_SOURCE == 3 && statuses[1].MPI_SOURCE == left && statuses[2].MPI_SOURCE == 4);
			MPI_Test_cancelled(&statuses[0], &flag);
			CHECK(flag);
			MPI_Test_cancelled(&statuses[1], &flag);
			CHECK(!flag);
		} else {
			int seen = 0;
			for (int i = 0; i < 2; i++) {
				MPI_Waitany(3, requests, &index, statuses);
				seen += index;
			}
			CHECK(seen == 3 && requests[0] != MPI_REQUEST_NULL);
			MPI_Grequest_complete(requests[0]);
			MPI_Waitany(3, requests, &index, statuses);
			CHECK(index == 0 && statuses[0].MPI_SOURCE == 3);
		}
		CHECK(in == left && w[0].freed == way + 1 && w[1].freed == way + 1);
	}
}

/* What is no generalised request is not completed. */
static void refused(void) {
	MPI_Request request;
	int in = -1;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
	MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
	CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
	MPI_Send(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(in == rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void fields(void) {
#ifdef GIGARANK
	MPI_Status status;
	int value;
	MPI_Status_set_source(&status, 7);
	MPI_Status_set_tag(&status, 8);
	MPI_Status_set_error(&status, MPI_ERR_TAG);
	EXPECT(status.MPI_SOURCE == 7 && status.MPI_TAG == 8 && status.MPI_ERROR == MPI_ERR_TAG);
	MPI_Status_get_source(&status, &value);
	EXPECT(value == 7);
	MPI_Status_get_tag(&status, &value);
	EXPECT(value == 8);
	MPI_Status_get_error(&status, &value);
	EXPECT(value == MPI_ERR_TAG);
#endif
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	alone();
	among_others();
	refused();
	fields();
	return finish("grequests");
}
