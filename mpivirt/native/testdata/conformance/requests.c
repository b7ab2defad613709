/* Waits and tests, persistent requests. */
#include "check.h"

enum { N = 40 };

static MPI_Request requests[2 * N];
static int in[N], out[N];

/* start begins N receives from the left, and N sends to the right. */
static void start(void) {
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int i = 0; i < N; i++) {
		in[i] = -1, out[i] = 1000 * rank + i;
		MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 0; i < N; i++)
		MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[N + i]);
}

static void received(int i) { CHECK(in[i] == 1000 * ((rank + size - 1) % size) + i); }

static void all(void) {
	MPI_Status statuses[2 * N];
	start();
	MPI_Waitall(2 * N, requests, statuses);
	for (int i = 0; i < N; i++) {
		received(i);
		CHECK(statuses[i].MPI_TAG == i && statuses[i].MPI_SOURCE == (rank + size - 1) % size && requests[i] == MPI_REQUEST_NULL);
	}
	start();
	int flag = 0;
	while (!flag)
		MPI_Testall(2 * N, requests, &flag, statuses);
	for (int i = 0; i < N; i++) {
		received(i);
		CHECK(statuses[i].MPI_TAG == i);
	}
}

static void one_by_one(void) {
	MPI_Status status;
	int index, flag, done = 0;
	start();
	for (int i = 0; i < N; i++) {
		MPI_Waitany(N, requests, &index, &status);
		CHECK(index >= 0 && index < N && requests[index] == MPI_REQUEST_NULL && status.MPI_TAG == index);
		received(index);
	}
	MPI_Waitany(N, requests, &index, &status);
	CHECK(index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
	MPI_Waitall(N, requests + N, MPI_STATUSES_IGNORE);
	start();
	while (done < 2 * N) {
		MPI_Testany(2 * N, requests, &index, &flag, MPI_STATUS_IGNORE);
		if (flag)
			CHECK(index >= 0 && index < 2 * N && requests[index] == MPI_REQUEST_NULL);
		done += flag;
	}
	MPI_Testany(2 * N, requests, &index, &flag, MPI_STATUS_IGNORE);
	CHECK(flag && index == MPI_UNDEFINED);
	start();
	for (int i = 0; i < 2 * N; i++) {
		do
			MPI_Test(&requests[i], &flag, &status);
		while (!flag);
		if (i < N)
			CHECK(status.MPI_TAG == i);
	}
}

static void some(void) {
	MPI_Status statuses[2 * N];
	int indices[2 * N], outcount, done = 0;
	start();
	while (done < 2 * N) {
		MPI_Waitsome(2 * N, requests, &outcount, indices, statuses);
		if (outcount <= 0)
			abort();
		for (int i = 0; i < outcount; i++)
			if (indices[i] < N) {
				received(indices[i]);
				CHECK(statuses[i].MPI_TAG == indices[i]);
			}
		done += outcount;
	}
	MPI_Waitsome(2 * N, requests, &outcount, indices, statuses);
	CHECK(outcount == MPI_UNDEFINED);
	start();
	for (done = 0; done < 2 * N; done += outcount)
		MPI_Testsome(2 * N, requests, &outcount, indices, statuses);
	MPI_Testsome(2 * N, requests, &outcount, indices, statuses);
	CHECK(outcount == MPI_UNDEFINED);
}

static void inactive(void) {
	MPI_Request none = MPI_REQUEST_NULL;
	MPI_Status status;
	int flag;
	MPI_Wait(&none, &status);
	CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
	MPI_Test(&none, &flag, &status);
	CHECK(flag);
}

static void persistent(void) {
	int left = (rank + size - 1) % size, right = (rank + 1) % size, a, b;
	MPI_Request pair[2];
	MPI_Recv_init(&a, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &pair[0]);
	MPI_Send_init(&b, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &pair[1]);
	MPI_Wait(&pair[0], MPI_STATUS_IGNORE); /* it is inactive */
	for (int i = 0; i < 5; i++) {
		MPI_Status statuses[2];
		a = -1, b = 10 * rank + i;
		if (i % 2)
			MPI_Startall(2, pair);
		else {
			MPI_Start(&pair[1]);
			MPI_Start(&pair[0]);
		}
		MPI_Waitall(2, pair, statuses);
		CHECK(a == 10 * left + i && statuses[0].MPI_SOURCE == left && pair[0] != MPI_REQUEST_NULL);
	}
	MPI_Request_free(&pair[0]);
	MPI_Request_free(&pair[1]);
	CHECK(pair[0] == MPI_REQUEST_NULL);
}

/* The other modes of persistent sends. */
static void persistent_modes(void) {
	static int (*const init[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
	int left = (rank + size - 1) % size, right = (rank + 1) % size, a, b, detached;
	char room[3 * (sizeof b + MPI_BSEND_OVERHEAD)], *back;
	MPI_Buffer_attach(room, sizeof room);
	for (int mode = 0; mode < 3; mode++) {
		MPI_Request pair[2];
		init[mode](&b, 1, MPI_INT, right, mode, MPI_COMM_WORLD, &pair[1]);
		MPI_Recv_init(&a, 1, MPI_INT, left, mode, MPI_COMM_WORLD, &pair[0]);
		for (int i = 0; i < 3; i++) {
			a = -1, b = 100 * mode + 10 * rank + i;
			MPI_Start(&pair[0]);
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Start(&pair[1]);
			MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
			CHECK(a == 100 * mode + 10 * left + i);
		}
		MPI_Request_free(&pair[0]);
		MPI_Request_free(&pair[1]);
	}
	MPI_Buffer_detach(&back, &detached);
	CHECK(back == room && detached == sizeof room);
}

/* What a start could not do is refused when the request is made. */
static void persistent_errors(void) {
	MPI_Request request;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Send_init(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Recv_init(in, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Ssend_init(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Rsend_init(&rank, 1, MPI_INT, 0, -3, MPI_COMM_WORLD, &request), MPI_ERR_TAG);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* No list has a negative length. */
static void negative_counts(void) {
	MPI_Request none[1] = {MPI_REQUEST_NULL};
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	EXPECT_CLASS(MPI_Startall(-1, none), MPI_ERR_COUNT);
	CHECK(MPI_Startall(0, none) == MPI_SUCCESS);
#ifdef GIGARANK
	MPI_Status statuses[1];
	int n, flag, indices[1];
	EXPECT_CLASS(MPI_Waitall(-1, none, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Waitany(-1, none, &n, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Waitsome(-1, none, &n, indices, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Testall(-1, none, &flag, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Testany(-1, none, &n, &flag, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Testsome(-1, none, &n, indices, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Request_get_status_all(-1, none, &flag, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Request_get_status_any(-1, none, &n, &flag, statuses), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Request_get_status_some(-1, none, &n, indices, statuses), MPI_ERR_COUNT);
	EXPECT(MPI_Request_get_status_all(0, NULL, &flag, statuses) == MPI_SUCCESS && flag);
	EXPECT(MPI_Request_get_status_any(0, NULL, &n, &flag, statuses) == MPI_SUCCESS && flag && n == MPI_UNDEFINED);
	EXPECT(MPI_Request_get_status_some(0, NULL, &n, NULL, statuses) == MPI_SUCCESS && n == MPI_UNDEFINED);
#endif
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A receive is cancelled unless its message has arrived. Sends are not, if they are over. */
static void cancelled(void) {
	int left = (rank + size - 1) % size, right = (rank + 1) % size, a = -1, b = -1, flag;
	MPI_Request request, persistent;
	MPI_Status status;
	MPI_Irecv(&a, 1, MPI_INT, left, 50, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	CHECK(request != MPI_REQUEST_NULL);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	CHECK(flag && request == MPI_REQUEST_NULL && a == -1);
	MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &request);
	MPI_Irecv(&b, 1, MPI_INT, left, 50, MPI_COMM_WORLD, &persistent);
	MPI_Cancel(&request);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Send(&rank, 1, MPI_INT, right, 50, MPI_COMM_WORLD);
	MPI_Wait(&persistent, MPI_STATUS_IGNORE);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	CHECK(flag && a == -1 && b == left);

	MPI_Recv_init(&a, 1, MPI_INT, left, 51, MPI_COMM_WORLD, &persistent);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&persistent);
		if (i != 1) {
			MPI_Cancel(&persistent);
			MPI_Barrier(MPI_COMM_WORLD);
		} else {
			MPI_Send(&rank, 1, MPI_INT, right, 51, MPI_COMM_WORLD);
			MPI_Barrier(MPI_COMM_WORLD);
			do
				MPI_Request_get_status(persistent, &flag, MPI_STATUS_IGNORE);
			while (!flag);
			MPI_Cancel(&persistent); /* too late */
		}
		MPI_Wait(&persistent, &status);
		MPI_Test_cancelled(&status, &flag);
		CHECK(flag == (i != 1) && persistent != MPI_REQUEST_NULL);
	}
	CHECK(a == left);
	MPI_Request_free(&persistent);
	MPI_Isend(&rank, 1, MPI_INT, right, 52, MPI_COMM_WORLD, &request);
	MPI_Recv(&a, 1, MPI_INT, left, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	CHECK(!flag && a == left);
}

/* A long list is waited for one by one, and in parts. */
static void many(void) {
	enum { MANY = 300 };
	static MPI_Request list[MANY];
	static MPI_Status statuses[MANY];
	static int got[MANY], indices[MANY];
	int left = (rank + size - 1) % size, right = (rank + 1) % size, n, flag;
	for (int way = 0; way < 4; way++) {
		for (int i = 0; i < MANY; i++) {
			got[i] = -1;
			MPI_Irecv(&got[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &list[i]);
		}
		for (int i = MANY - 1; i >= 0; i--) {
			int value = 1000 * rank + i;
			MPI_Send(&value, 1, MPI_INT, right, i, MPI_COMM_WORLD);
		}
		for (int left_over = MANY; left_over > 0; left_over -= n) {
			n = 1;
			switch (way) {
			case 0: MPI_Waitany(MANY, list, indices, statuses); break;
			case 1: MPI_Testany(MANY, list, indices, &n, statuses); break;
			case 2: MPI_Waitsome(MANY, list, &n, indices, statuses); break;
			case 3: MPI_Testsome(MANY, list, &n, indices, statuses); break;
			}
			for (int i = 0; i < n; i++) {
				CHECK(indices[i] >= 0 && indices[i] < MANY && list[indices[i]] == MPI_REQUEST_NULL);
				CHECK(statuses[i].MPI_TAG == indices[i] && statuses[i].MPI_SOURCE == left && got[indices[i]] == 1000 * left + indices[i]);
				got[indices[i]] = -2;
			}
		}
		for (int i = 0; i < MANY; i++)
			CHECK(got[i] == -2);
		MPI_Waitsome(MANY, list, &n, indices, statuses);
		CHECK(n == MPI_UNDEFINED);
		MPI_Testsome(MANY, list, &n, indices, statuses);
		CHECK(n == MPI_UNDEFINED);
		MPI_Testany(MANY, list, &n, &flag, statuses);
		CHECK(flag && n == MPI_UNDEFINED);
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	all();
	one_by_one();
	some();
	many();
	inactive();
	persistent();
	persistent_modes();
	persistent_errors();
	negative_counts();
	cancelled();
	return finish("requests");
}
