/* Partitioned messages. */
#include "check.h"

#ifdef MPI_4
enum { PARTITIONS = 6, VALUES = 4, ALL = PARTITIONS * VALUES, ROUNDS = 3 };

/* A ring, in which both sides have other numbers of partitions, that become ready one by one, by ranges and by lists. */
static void ring(MPI_Comm comm, MPI_Count large) {
	int sent[ALL] = {0}, got[ALL], flag, n, next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Request q[2];
	MPI_Status states[2];
	if (large) {
		MPI_Psend_init_c(sent, PARTITIONS, VALUES, MPI_INT, next, 7, comm, MPI_INFO_NULL, &q[0]);
		MPI_Precv_init_c(got, 2, large, MPI_INT, last, 7, comm, MPI_INFO_NULL, &q[1]);
	} else {
		MPI_Psend_init(sent, PARTITIONS, VALUES, MPI_INT, next, 7, comm, MPI_INFO_NULL, &q[0]);
		MPI_Precv_init(got, 2, ALL / 2, MPI_INT, last, 7, comm, MPI_INFO_NULL, &q[1]);
	}
	MPI_Parrived(q[1], 0, &flag);
	EXPECT(flag); /* it is inactive */
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < ALL; i++)
			got[i] = -1;
		MPI_Startall(2, q);
		MPI_Parrived(q[1], 1, &flag);
		EXPECT(!flag);
		MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
		EXPECT(!flag);
		MPI_Request_get_status(q[0], &flag, MPI_STATUS_IGNORE);
		EXPECT(!flag);
		MPI_Barrier(comm); /* nothing has left */
		MPI_Parrived(q[1], 0, &flag);
		EXPECT(!flag && got[0] == -1);
		MPI_Barrier(comm);
		for (int i = 0; i < ALL; i++)
			sent[i] = 1000 * round + 100 * rank + i;
		MPI_Pready(PARTITIONS - 1, q[0]);
		MPI_Pready_list(2, (int[]){0, 4}, q[0]);
		MPI_Pready_list(0, NULL, q[0]);
		MPI_Testall(2, q, &flag, states);
		EXPECT(!flag);
		MPI_Pready_range(1, 3, q[0]);
		for (flag = 0; !flag;)
			MPI_Parrived(q[1], round % 2, &flag);
		for (int i = 0; i < ALL; i++)
			EXPECT(got[i] == 1000 * round + 100 * last + i);
		MPI_Parrived(q[1], 0, &flag);
		EXPECT(flag && q[1] != MPI_REQUEST_NULL);
		MPI_Waitall(2, q, states);
		MPI_Get_count(&states[1], MPI_INT, &n);
		EXPECT(n == ALL && states[1].MPI_SOURCE == last && states[1].MPI_TAG == 7);
		EXPECT(q[0] != MPI_REQUEST_NULL && q[1] != MPI_REQUEST_NULL);
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
	EXPECT(q[0] == MPI_REQUEST_NULL && q[1] == MPI_REQUEST_NULL);
}

/* Requests match in the order of their initialisation, whatever the order of starts, and no other messages. */
static void matching(void) {
	enum { SAME = 5 };
	int sent[SAME] = {0}, got[SAME], plain = -1, other = -1, flag, next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Request in[SAME], out[SAME], receive;
	MPI_Comm twin;
	MPI_Comm_dup(MPI_COMM_WORLD, &twin);
	for (int i = 0; i < SAME; i++) {
		MPI_Precv_init(&got[i], 1, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &in[i]);
		MPI_Psend_init(&sent[i], 1, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &out[i]);
	}
	MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SAME; i++)
			sent[i] = 100 * round + 10 * rank + i, got[i] = -1;
		for (int i = 0; i < SAME; i++)
			MPI_Start(&in[(i + round) % SAME]);
		for (int i = SAME - 1; i >= 0; i--) {
			MPI_Start(&out[i]);
			MPI_Pready(0, out[i]);
		}
		MPI_Waitall(SAME, in, MPI_STATUSES_IGNORE);
		MPI_Waitall(SAME, out, MPI_STATUSES_IGNORE);
		for (int i = 0; i < SAME; i++)
			EXPECT(got[i] == 100 * round + 10 * last + i);
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		EXPECT(!flag);
		MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
		EXPECT(!flag && plain == -1);
		MPI_Barrier(MPI_COMM_WORLD); /* a neighbour that leaves it early sends the ordinary message */
	}
	/* An ordinary message with the same tag goes to the ordinary receive, past a partitioned receive that was started before. */
	MPI_Start(&in[0]);
	MPI_Send(&rank, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
	MPI_Wait(&receive, MPI_STATUS_IGNORE);
	MPI_Parrived(in[0], 0, &flag);
	EXPECT(plain == last && !flag);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Start(&out[0]);
	MPI_Pready(0, out[0]);
	MPI_Wait(&in[0], MPI_STATUS_IGNORE);
	MPI_Wait(&out[0], MPI_STATUS_IGNORE);
	/* Requests that were freed count in the order. */
	MPI_Request_free(&in[1]);
	MPI_Request_free(&out[1]);
	MPI_Precv_init(&other, 1, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &in[1]);
	MPI_Psend_init(&rank, 1, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &out[1]);
	/* Communicators have an order each. */
	int elsewhere = -1;
	MPI_Request pair[2];
	MPI_Precv_init(&elsewhere, 1, 1, MPI_INT, last, 7, twin, MPI_INFO_NULL, &pair[0]);
	MPI_Psend_init(&next, 1, 1, MPI_INT, next, 7, twin, MPI_INFO_NULL, &pair[1]);
	MPI_Startall(2, pair);
	MPI_Pready_range(0, 0, pair[1]);
	MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
	MPI_Start(&in[1]);
	MPI_Start(&out[1]);
	MPI_Pready(0, out[1]);
	MPI_Wait(&in[1], MPI_STATUS_IGNORE);
	MPI_Wait(&out[1], MPI_STATUS_IGNORE);
	EXPECT(other == last && elsewhere == rank);
	MPI_Request_free(&pair[0]);
	MPI_Request_free(&pair[1]);
	for (int i = 0; i < SAME; i++) {
		MPI_Request_free(&in[i]);
		MPI_Request_free(&out[i]);
	}
	MPI_Comm_free(&twin);
}

/* Many peers and tags, with messages to oneself, on MPI_COMM_SELF and to nobody. */
static void many(void) {
	enum { TAGS = 9 };
	int n = 0, flag;
	int *sent = malloc((size_t)size * TAGS * sizeof *sent), *got = malloc((size_t)size * TAGS * sizeof *got);
	MPI_Request *q = malloc((size_t)size * TAGS * 2 * sizeof *q);
	for (int peer = 0; peer < size; peer++)
		for (int tag = 0; tag < TAGS; tag++) {
			int i = peer * TAGS + tag;
			sent[i] = 1000 * rank + 10 * peer + tag, got[i] = -1;
			MPI_Psend_init(&sent[i], 1, 1, MPI_INT, peer, tag ? 2147483647 - tag : 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q[n++]);
			MPI_Precv_init(&got[i], 1, 1, MPI_INT, peer, tag ? 2147483647 - tag : 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q[n++]);
		}
	MPI_Startall(n, q);
	for (int i = n - 2; i >= 0; i -= 2)
		MPI_Pready(0, q[i]);
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
	for (int peer = 0; peer < size; peer++)
		for (int tag = 0; tag < TAGS; tag++)
			EXPECT(got[peer * TAGS + tag] == 1000 * peer + 10 * rank + tag);
	for (int i = 0; i < n; i++)
		MPI_Request_free(&q[i]);
	free(sent), free(got), free(q);
	int x = -1;
	MPI_Request two[2];
	MPI_Status states[2];
	MPI_Precv_init(&x, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &two[0]);
	MPI_Psend_init(&rank, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &two[1]);
	MPI_Startall(2, two);
	MPI_Pready(0, two[1]);
	MPI_Waitall(2, two, states);
	EXPECT(x == rank && states[0].MPI_SOURCE == 0 && states[0].MPI_TAG == 3);
	MPI_Request_free(&two[0]);
	MPI_Request_free(&two[1]);
	MPI_Precv_init(&x, 3, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &two[0]);
	MPI_Psend_init(&rank, 0, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &two[1]);
	MPI_Startall(2, two); /* a send without partitions is ready */
	MPI_Parrived(two[0], 2, &flag);
	MPI_Waitall(2, two, states);
	EXPECT(flag && x == rank && states[0].MPI_SOURCE == MPI_PROC_NULL);
	MPI_Request_free(&two[0]);
	MPI_Request_free(&two[1]);
	MPI_Parrived(MPI_REQUEST_NULL, 0, &flag);
	EXPECT(flag);
}

/* Columns of a matrix, from and to memory on the stack; the type is freed before the start. */
static void columns(void) {
	int sent[4][4] = {{0}}, got[4][4], next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Datatype column, narrow;
	MPI_Request q[2];
	MPI_Type_vector(4, 1, 4, MPI_INT, &column);
	MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
	MPI_Type_commit(&narrow);
	MPI_Psend_init(sent, 3, 1, narrow, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
	MPI_Precv_init(got, 1, 3, narrow, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
	MPI_Type_free(&column);
	MPI_Type_free(&narrow);
	for (int round = 0; round < ROUNDS; round++) {
		int index, done = 0;
		for (int i = 0; i < 16; i++)
			sent[i / 4][i % 4] = 100 * round + 20 * rank + i, got[i / 4][i % 4] = -1;
		MPI_Startall(2, q);
		for (int i = 2; i >= 0; i--)
			MPI_Pready(i, q[0]);
		do {
			MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
			done += index != MPI_UNDEFINED;
		} while (index != MPI_UNDEFINED);
		EXPECT(done == 2);
		for (int i = 0; i < 16; i++)
			EXPECT(got[i / 4][i % 4] == (i % 4 == 3 ? -1 : 100 * round + 20 * last + i));
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}

/* A send that lacks partitions is active, and does not hold up what waits for others. */
static void beside(void) {
	int x = -1, y = -1, index, indices[3], n, flag, next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Request q[3];
	MPI_Psend_init(&rank, 1, 1, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
	MPI_Precv_init(&x, 1, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[2]);
	MPI_Start(&q[0]);
	MPI_Testany(1, q, &index, &flag, MPI_STATUS_IGNORE);
	EXPECT(!flag);
	MPI_Testsome(1, q, &n, indices, MPI_STATUSES_IGNORE);
	EXPECT(n == 0);
	MPI_Request_get_status_any(1, q, &index, &flag, MPI_STATUS_IGNORE);
	EXPECT(!flag);
	MPI_Irecv(&y, 1, MPI_INT, last, 2, MPI_COMM_WORLD, &q[1]);
	MPI_Send(&next, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
	MPI_Waitsome(3, q, &n, indices, MPI_STATUSES_IGNORE);
	EXPECT(n == 1 && indices[0] == 1 && y == rank);
	MPI_Start(&q[2]);
	MPI_Pready(0, q[0]);
	for (flag = 0; !flag;)
		MPI_Parrived(q[2], 0, &flag);
	MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
	EXPECT(x == last);
	MPI_Testsome(3, q, &n, indices, MPI_STATUSES_IGNORE);
	EXPECT(n == MPI_UNDEFINED);
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[2]);
}

/* Both groups of an intercommunicator have ranks with the same numbers. */
static void between(void) {
	if (size < 2)
		return;
	MPI_Comm half, inter;
	MPI_Request q[2];
	int members, x = -1, odd = rank % 2, peer = rank / 2;
	MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 0, &inter);
	MPI_Comm_remote_size(inter, &members);
	peer = peer < members ? peer : MPI_PROC_NULL;
	for (int i = 0; i < 2; i++) {
		MPI_Psend_init(&rank, 1, 1, MPI_INT, peer, 1, inter, MPI_INFO_NULL, &q[0]);
		MPI_Precv_init(&x, 1, 1, MPI_INT, peer, 1, inter, MPI_INFO_NULL, &q[1]);
		MPI_Startall(2, q);
		MPI_Pready(0, q[0]);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		EXPECT(peer == MPI_PROC_NULL || x == (odd ? rank - 1 : rank + 1));
		MPI_Request_free(&q[0]);
		MPI_Request_free(&q[1]);
	}
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

/* Errors go to the handler of the communicator. */
static int heard;
static void listen(MPI_Comm *comm, int *code, ...) { heard += *comm != MPI_COMM_WORLD && *code != MPI_SUCCESS; }

static void refused(void) {
	int sent[2] = {0, 1}, got[2], few[1], flag = 0, calls = 0;
	MPI_Comm own;
	MPI_Errhandler handler;
	MPI_Request q[2], plain, none = MPI_REQUEST_NULL;
	MPI_Info info = MPI_INFO_NULL;
	MPI_Comm_dup(MPI_COMM_SELF, &own);
	MPI_Comm_create_errhandler(listen, &handler);
	MPI_Comm_set_errhandler(own, handler);
#define REFUSED(call, class_) EXPECT((calls++, class_of(call) == (class_)))
	REFUSED(MPI_Psend_init(sent, -1, 1, MPI_INT, 0, 0, own, info, &none), MPI_ERR_ARG);
	REFUSED(MPI_Psend_init(sent, 2, -1, MPI_INT, 0, 0, own, info, &none), MPI_ERR_COUNT);
	REFUSED(MPI_Psend_init(sent, 2, (MPI_Count)1 << 62, MPI_INT, 0, 0, own, info, &none), MPI_ERR_COUNT);
	REFUSED(MPI_Psend_init(sent, 2, 1, MPI_DATATYPE_NULL, 0, 0, own, info, &none), MPI_ERR_TYPE);
	REFUSED(MPI_Psend_init(sent, 2, 1, MPI_INT, 1, 0, own, info, &none), MPI_ERR_RANK);
	REFUSED(MPI_Psend_init(sent, 2, 1, MPI_INT, 0, -1, own, info, &none), MPI_ERR_TAG);
	REFUSED(MPI_Psend_init(NULL, 2, 1, MPI_INT, 0, 0, own, info, &none), MPI_ERR_BUFFER);
	REFUSED(MPI_Precv_init(got, 2, 1, MPI_INT, MPI_ANY_SOURCE, 0, own, info, &none), MPI_ERR_RANK);
	REFUSED(MPI_Precv_init(got, 2, 1, MPI_INT, 0, MPI_ANY_TAG, own, info, &none), MPI_ERR_TAG);
	REFUSED(MPI_Precv_init(got, 2, 1, MPI_INT, 1, 0, own, info, &none), MPI_ERR_RANK);
	EXPECT(none == MPI_REQUEST_NULL);
	MPI_Psend_init(sent, 2, 1, MPI_INT, 0, 0, own, info, &q[0]);
	MPI_Precv_init(got, 2, 1, MPI_INT, 0, 0, own, info, &q[1]);
	REFUSED(MPI_Pready(0, q[0]), MPI_ERR_REQUEST); /* inactive */
	REFUSED(MPI_Pready(0, q[1]), MPI_ERR_REQUEST); /* a receive */
	REFUSED(MPI_Parrived(q[0], 0, &flag), MPI_ERR_REQUEST); /* a send */
	MPI_Startall(2, q);
	REFUSED(MPI_Pready(2, q[0]), MPI_ERR_ARG);
	REFUSED(MPI_Pready(-1, q[0]), MPI_ERR_ARG);
	REFUSED(MPI_Pready_range(0, 2, q[0]), MPI_ERR_ARG);
	REFUSED(MPI_Pready_list(2, (int[]){0, 7}, q[0]), MPI_ERR_ARG); /* which makes none ready */
	REFUSED(MPI_Parrived(q[1], 2, &flag), MPI_ERR_ARG);
	REFUSED(MPI_Wait(&q[0], MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	REFUSED(MPI_Request_free(&q[0]), MPI_ERR_REQUEST);
	REFUSED(MPI_Request_free(&q[1]), MPI_ERR_REQUEST);
	MPI_Pready(0, q[0]);
	REFUSED(MPI_Pready(0, q[0]), MPI_ERR_ARG);
	MPI_Pready(1, q[0]);
	REFUSED(MPI_Pready(1, q[0]), MPI_ERR_ARG);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	EXPECT(got[0] == 0 && got[1] == 1);
	REFUSED(MPI_Pready(1, q[0]), MPI_ERR_REQUEST);
	MPI_Request_free(&q[1]);
	/* The receive has room for less. */
	MPI_Precv_init(few, 1, 1, MPI_INT, 0, 1, own, info, &q[1]);
	MPI_Request_free(&q[0]);
	MPI_Psend_init(sent, 2, 1, MPI_INT, 0, 1, own, info, &q[0]);
	MPI_Startall(2, q);
	MPI_Pready_range(0, 1, q[0]);
	REFUSED(MPI_Wait(&q[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
	EXPECT(heard == calls);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	REFUSED(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
	REFUSED(MPI_Pready_range(1, 0, MPI_REQUEST_NULL), MPI_ERR_ARG);
	REFUSED(MPI_Pready_list(-1, NULL, MPI_REQUEST_NULL), MPI_ERR_COUNT);
	REFUSED(MPI_Pready_list(1, NULL, MPI_REQUEST_NULL), MPI_ERR_ARG);
	REFUSED(MPI_Parrived(MPI_REQUEST_NULL, 0, NULL), MPI_ERR_ARG);
	REFUSED(MPI_Psend_init(sent, 2, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, info, NULL), MPI_ERR_REQUEST);
	REFUSED(MPI_Precv_init(got, 2, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, info, NULL), MPI_ERR_REQUEST);
	MPI_Send_init(sent, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &plain);
	REFUSED(MPI_Pready(0, plain), MPI_ERR_REQUEST);
	MPI_Request_free(&plain);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&handler);
	MPI_Comm_free(&own);
}
#endif

int main(int argc, char **argv) {
	begin(&argc, &argv);
#ifdef MPI_4
	MPI_Comm line;
	ring(MPI_COMM_WORLD, 0);
	ring(MPI_COMM_WORLD, ALL / 2);
	MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){size}, (int[]){1}, 0, &line);
	ring(line, 0);
	MPI_Comm_free(&line);
	matching();
	many();
	columns();
	beside();
	between();
	refused();
#endif
	CHECK(rank < size);
	return finish("partitioned");
}
