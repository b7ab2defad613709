/* Sends, receives and probes: modes, wildcards, order, statuses, MPI_PROC_NULL. */
#include "check.h"

enum { LARGE = 100000 };

static void neighbours(void) {
	int left = (rank + size - 1) % size, right = (rank + 1) % size, count;
	MPI_Status status;
	int out[3] = {rank, rank * rank, -rank}, in[8] = {0};
	MPI_Sendrecv(out, 3, MPI_INT, right, 5, in, 8, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
	CHECK(in[0] == left && in[1] == left * left && in[2] == -left);
	CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 5);
	MPI_Get_count(&status, MPI_INT, &count);
	CHECK(count == 3);
	MPI_Get_count(&status, MPI_CHAR, &count);
	CHECK(count == 12);
	MPI_Get_elements(&status, MPI_INT, &count);
	CHECK(count == 3);
	MPI_Get_count(&status, MPI_DOUBLE, &count);
	CHECK(count == MPI_UNDEFINED);
	MPI_Sendrecv_replace(out, 3, MPI_INT, left, 6, right, 6, MPI_COMM_WORLD, &status);
	CHECK(out[0] == right && out[2] == -right && status.MPI_SOURCE == right);
}

/* A rank has one buffer at most. Open MPI returns codes that have no class. */
#ifdef GIGARANK
#define REFUSED(call) CHECK_CLASS(call, MPI_ERR_BUFFER)
#else
#define REFUSED(call) CHECK((call) != MPI_SUCCESS)
#endif
static void buffers(void *buffer, int room) {
	char other[1000];
	void *back = other;
	int n = -7;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	REFUSED(MPI_Buffer_detach(&back, &n));
	CHECK(back == other && n == -7);
	CHECK(MPI_Buffer_attach(buffer, room) == MPI_SUCCESS);
	REFUSED(MPI_Buffer_attach(other, sizeof other));
	CHECK(MPI_Buffer_detach(&back, &n) == MPI_SUCCESS && back == buffer && n == room);
	REFUSED(MPI_Buffer_detach(&back, &n));
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void modes(void) {
	static int (*const send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend};
	static int (*const isend[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend};
	double *data = malloc(LARGE * sizeof *data);
	int room = 5 * (LARGE * (int)sizeof *data + MPI_BSEND_OVERHEAD), detached;
	void *buffer = malloc((size_t)room), *back;
	MPI_Request request;
	MPI_Buffer_attach(buffer, room);
	for (int mode = 0; mode < 3; mode++)
		for (int n = 1; n <= LARGE; n *= LARGE)
			for (int now = 0; now < 2; now++) {
				if (rank == 0 && size > 1) {
					for (int i = 0; i < n; i++)
						data[i] = i + mode;
					if (now)
						send[mode](data, n, MPI_DOUBLE, 1, mode, MPI_COMM_WORLD);
					else {
						isend[mode](data, n, MPI_DOUBLE, 1, mode, MPI_COMM_WORLD, &request);
						MPI_Wait(&request, MPI_STATUS_IGNORE);
						CHECK(request == MPI_REQUEST_NULL);
					}
				}
				if (rank == 1) {
					memset(data, 0, (size_t)n * sizeof *data);
					MPI_Recv(data, n, MPI_DOUBLE, 0, mode, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
					CHECK(data[0] == mode && data[n - 1] == n - 1 + mode);
				}
			}
	MPI_Buffer_detach(&back, &detached);
	CHECK(back == buffer && detached == room);
	buffers(buffer, room);
	free(buffer);
	free(data);
}

/* Messages of one sender keep their order, whatever their tags are received by. */
static void order(void) {
	int got, from = (rank + size - 1) % size;
	MPI_Request requests[20];
	int out[20];
	for (int i = 0; i < 20; i++) {
		out[i] = 100 * rank + i;
		MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, i % 2, MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 1; i < 20; i += 2) {
		MPI_Recv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(got == 100 * from + i);
	}
	for (int i = 0; i < 20; i += 2) {
		MPI_Status status;
		MPI_Recv(&got, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		CHECK(got == 100 * from + i && status.MPI_TAG == 0);
	}
	MPI_Waitall(20, requests, MPI_STATUSES_IGNORE);
}

/* A ready send finds its receive posted. */
static void ready(void) {
	int left = (rank + size - 1) % size, right = (rank + 1) % size, in[2] = {-1, -1}, out[2] = {rank, 2 * rank};
	MPI_Request requests[3];
	for (int i = 0; i < 2; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Rsend(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD);
	MPI_Irsend(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	CHECK(in[0] == left && in[1] == 2 * left);
}

static void wildcards(void) {
	if (rank != 0) {
		MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
		return;
	}
	int seen = 0, got;
	for (int i = 1; i < size; i++) {
		MPI_Status status;
		MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		CHECK(status.MPI_SOURCE == got && status.MPI_TAG == got);
		seen += got;
	}
	CHECK(seen == size * (size - 1) / 2);
}

static void probes(void) {
	MPI_Status status;
	int count, flag;
	if (rank == 0)
		for (int to = 1; to < size; to++) {
			char text[] = "a message of unknown length";
			MPI_Send(text, 5 + to, MPI_CHAR, to, 3, MPI_COMM_WORLD);
			MPI_Send(text, 2, MPI_CHAR, to, 4, MPI_COMM_WORLD);
			MPI_Send(text, 2, MPI_CHAR, to, 5, MPI_COMM_WORLD);
		}
	else if (rank < 20) {
		char text[64];
		MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_CHAR, &count);
		CHECK(count == 5 + rank && status.MPI_SOURCE == 0);
		MPI_Recv(text, count, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(strncmp(text, "a message", 5) == 0);
		do
			MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
		while (!flag);
		CHECK(status.MPI_TAG == 4);
		MPI_Message message;
		MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, &status);
		MPI_Iprobe(0, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		CHECK(!flag);
		MPI_Mrecv(text, 2, MPI_CHAR, &message, &status);
		CHECK(message == MPI_MESSAGE_NULL && status.MPI_TAG == 4);
		MPI_Improbe(0, 9, MPI_COMM_WORLD, &flag, &message, &status);
		CHECK(!flag);
		MPI_Request request;
		MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status);
		MPI_Imrecv(text, 2, MPI_CHAR, &message, &request);
		CHECK(message == MPI_MESSAGE_NULL);
		MPI_Wait(&request, &status);
		CHECK(status.MPI_TAG == 5 && status.MPI_SOURCE == 0 && text[0] == 'a');
	}
}

static void nobody(void) {
	int data = 77, count;
	MPI_Status status;
	MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	CHECK(MPI_Bsend(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS); /* without a buffer */
	MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	CHECK(data == 77 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0);
	MPI_Message message;
	MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
	CHECK(message == MPI_MESSAGE_NO_PROC);
	MPI_Mrecv(&data, 1, MPI_INT, &message, &status);
	CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
	MPI_Request request;
	MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
	MPI_Imrecv(&data, 1, MPI_INT, &message, &request);
	MPI_Wait(&request, &status);
	CHECK(status.MPI_SOURCE == MPI_PROC_NULL && data == 77);
	MPI_Send(NULL, 0, MPI_INT, rank, 8, MPI_COMM_SELF == MPI_COMM_WORLD ? MPI_COMM_SELF : MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_INT, rank, 8, MPI_COMM_WORLD, &status);
	CHECK(status.MPI_SOURCE == rank);
}

/* A synchronous send is refused for what any send is refused for. */
static void refused(void) {
	MPI_Datatype type;
	MPI_Type_contiguous(2, MPI_INT, &type);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Ssend(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Ssend(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Ssend(&rank, 1, MPI_INT, 0, -7, MPI_COMM_WORLD), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Ssend(&rank, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Ssend(&rank, 1, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
	CHECK_CLASS(MPI_Ssend(&rank, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Ssend(NULL, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Type_free(&type);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	neighbours();
	modes();
	order();
	ready();
	wildcards();
	MPI_Barrier(MPI_COMM_WORLD);
	probes();
	nobody();
	refused();
	return finish("messages");
}
