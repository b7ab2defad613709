/* Isendrecv and Isendrecv_replace. A library older than MPI 4 has none: what stands for them there
 * sends and receives by requests of their own. */
#include "check.h"

#ifdef MPI_4
#define begin_pair MPI_Isendrecv
#define begin_pair_c MPI_Isendrecv_c
#define begin_exchange MPI_Isendrecv_replace
#define begin_exchange_c MPI_Isendrecv_replace_c
#else
static int begin_pair(const void *out, int n, MPI_Datatype type, int dest, int tag, void *in, int room, MPI_Datatype into, int source, int from, MPI_Comm comm, MPI_Request *request) {
	MPI_Request sent;
	int error = MPI_Irecv(in, room, into, source, from, comm, request);
	if (!error)
		error = MPI_Isend(out, n, type, dest, tag, comm, &sent);
	return error ? error : MPI_Request_free(&sent);
}

static int begin_exchange(void *buffer, int n, MPI_Datatype type, int dest, int tag, int source, int from, MPI_Comm comm, MPI_Request *request) {
	MPI_Request sent;
	int bytes, position = 0;
	MPI_Pack_size(n, type, comm, &bytes);
	void *copy = malloc((size_t)bytes + 1);
	MPI_Pack(buffer, n, type, copy, bytes, &position, comm);
	int error = MPI_Isend(copy, position, MPI_PACKED, dest, tag, comm, &sent); /* copy is left alone */
	if (!error)
		error = MPI_Request_free(&sent);
	return error ? error : MPI_Irecv(buffer, n, type, source, from, comm, request);
}
#define begin_pair_c begin_pair
#define begin_exchange_c begin_exchange
#endif

static int next, last;

static void pairs(void) {
	int out[3] = {rank, rank * rank, -rank}, in[8] = {0}, count, flag = 0;
	MPI_Status status;
	MPI_Request request;
	CHECK(begin_pair(out, 3, MPI_INT, next, 5, in, 8, MPI_INT, last, 5, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
	CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
	CHECK(in[0] == last && in[1] == last * last && in[2] == -last);
	CHECK(status.MPI_SOURCE == last && status.MPI_TAG == 5);
	MPI_Get_count(&status, MPI_INT, &count);
	CHECK(count == 3);
	begin_pair_c(out, 2, MPI_INT, next, 6, in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	while (!flag)
		MPI_Test(&request, &flag, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	CHECK(status.MPI_SOURCE == last && status.MPI_TAG == 6 && count == 2 && in[1] == last * last);
}

/* Every other value of a row is sent, and every third one of another row received. */
static void layouts(void) {
	double row[12], got[12], none[12];
	MPI_Datatype second, third;
	MPI_Request request[2];
	MPI_Status statuses[2];
	MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &second);
	MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &third);
	MPI_Type_commit(&second);
	MPI_Type_commit(&third);
	for (int i = 0; i < 12; i++)
		row[i] = 100 * rank + i, got[i] = -1;
	begin_pair(row, 1, second, next, 1, got, 1, third, last, 1, MPI_COMM_WORLD, &request[0]);
	begin_pair(row, 12, MPI_DOUBLE, MPI_PROC_NULL, 2, none, 12, MPI_DOUBLE, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request[1]);
	MPI_Waitall(2, request, statuses);
	for (int i = 0; i < 12; i++)
		CHECK(got[i] == (i % 3 ? -1 : 100 * last + 2 * (i / 3)));
	CHECK(statuses[0].MPI_SOURCE == last && statuses[1].MPI_SOURCE == MPI_PROC_NULL);
	begin_exchange(row, 1, third, last, 3, next, 3, MPI_COMM_WORLD, &request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	for (int i = 0; i < 12; i++)
		CHECK(row[i] == 100 * (i % 3 ? rank : next) + i);
	MPI_Type_free(&second);
	MPI_Type_free(&third);
}

/* Several at a time, long ones and short ones, each in the other direction than the one before. */
static void many(void) {
	enum { MANY = 6, LONG = 50000 };
	static int buffers[MANY][LONG];
	MPI_Request requests[MANY];
	for (int i = 0; i < MANY; i++) {
		int n = i % 3 ? LONG : 1, to = i % 2 ? last : next, from = i % 2 ? next : last;
		buffers[i][0] = buffers[i][n - 1] = 1000 * rank + i;
		if (i % 2)
			begin_exchange_c(buffers[i], n, MPI_INT, to, i, from, i, MPI_COMM_WORLD, &requests[i]);
		else
			begin_exchange(buffers[i], n, MPI_INT, to, i, from, i, MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 0; i < MANY; i++) {
		int at;
		MPI_Waitany(MANY, requests, &at, MPI_STATUS_IGNORE);
		int n = at % 3 ? LONG : 1, from = at % 2 ? next : last;
		CHECK(buffers[at][0] == 1000 * from + at && buffers[at][n - 1] == buffers[at][0]);
	}
}

static void errors(void) {
	int out = rank, in[2];
	MPI_Request request;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(begin_pair(&out, 1, MPI_INT, size, 0, in, 2, MPI_INT, last, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
	CHECK_CLASS(begin_exchange(&out, -1, MPI_INT, next, 0, last, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	next = (rank + 1) % size, last = (rank + size - 1) % size;
	pairs();
	layouts();
	many();
#ifdef MPI_4
	errors();
#else
	checks += 2;
#endif
	return finish("pairs");
}
