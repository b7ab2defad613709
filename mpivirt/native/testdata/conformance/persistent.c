/* Requests that are asked for or freed while they are active, and persistent collectives. */
#include "check.h"

static void statuses(void) {
	int x = -1, flag = 7, n, next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Request receive, send, freed;
	MPI_Status status;
	MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
	CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
	MPI_Irecv(&x, 1, MPI_INT, last, 4, MPI_COMM_WORLD, &receive);
	MPI_Request_get_status(receive, &flag, &status);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Isend(&rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &send);
	for (flag = 0; !flag;)
		MPI_Request_get_status(receive, &flag, &status);
	CHECK(x == last && status.MPI_SOURCE == last && status.MPI_TAG == 4 && receive != MPI_REQUEST_NULL);
	MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE);
	CHECK(flag);
	status.MPI_SOURCE = -9;
	MPI_Wait(&receive, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(receive == MPI_REQUEST_NULL && status.MPI_SOURCE == last && n == 1);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	/* What is known to be done is found by the other waits too. */
	MPI_Request both[2];
	int index, y[2] = {-1, -1};
	MPI_Irecv(&y[0], 1, MPI_INT, last, 5, MPI_COMM_WORLD, &both[0]);
	MPI_Irecv(&y[1], 1, MPI_INT, last, 6, MPI_COMM_WORLD, &both[1]);
	MPI_Send(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
	for (flag = 0; !flag;)
		MPI_Request_get_status(both[1], &flag, MPI_STATUS_IGNORE);
	MPI_Waitany(2, both, &index, &status);
	CHECK(index == 1 && status.MPI_TAG == 6 && y[1] == last && both[1] == MPI_REQUEST_NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Send(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
	for (flag = 0; !flag;)
		MPI_Request_get_status(both[0], &flag, MPI_STATUS_IGNORE);
	MPI_Status two[2];
	MPI_Waitall(2, both, two);
	CHECK(two[0].MPI_TAG == 5 && two[0].MPI_SOURCE == last && y[0] == last);
	/* A send whose request is freed goes on. */
	MPI_Isend(&next, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &freed);
	MPI_Request_free(&freed);
	CHECK(freed == MPI_REQUEST_NULL);
	MPI_Recv(&x, 1, MPI_INT, last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(x == rank);
}

#ifdef MPI_4
static void several(void) {
	MPI_Request two[2];
	MPI_Status states[2];
	int flag, n, index, indices[2], x[2] = {-1, -1}, next = (rank + 1) % size, last = (rank + size - 1) % size;
	for (int i = 0; i < 2; i++) {
		MPI_Irecv(&x[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &two[i]);
		MPI_Send(&rank, 1, MPI_INT, next, i, MPI_COMM_WORLD);
	}
	for (flag = 0; !flag;)
		MPI_Request_get_status_all(2, two, &flag, states);
	EXPECT(states[0].MPI_TAG == 0 && states[1].MPI_TAG == 1 && x[0] == last && x[1] == last);
	MPI_Request_get_status_any(2, two, &index, &flag, states);
	EXPECT(flag && (index == 0 || index == 1) && states[0].MPI_TAG == index);
	MPI_Request_get_status_some(2, two, &n, indices, states);
	EXPECT(n == 2 && indices[0] == 0 && indices[1] == 1);
	MPI_Waitsome(2, two, &n, indices, states);
	EXPECT(n == 2);
	MPI_Request_get_status_some(2, two, &n, indices, states);
	EXPECT(n == MPI_UNDEFINED);
}

enum { OPERATIONS = 22, ROUNDS = 3 };

/* Each collective is started several times, with other values. Ranks start those that are under
 * way together in different orders. */
static void collectives(void) {
	MPI_Request q[OPERATIONS];
	MPI_Comm line;
	int n = 0, counts[64], at[64], offsets[64], dims[1] = {size}, periods[1] = {1}, ones[2] = {1, 1}, places[2] = {0, 1};
	int b, in, out[5], all[9][64], mine[64], gather[64];
	MPI_Aint bytes[2] = {0, sizeof(int)};
	MPI_Datatype types[64];
	for (int i = 0; i < 64; i++)
		counts[i] = 1, at[i] = i, offsets[i] = i * (int)sizeof(int), types[i] = MPI_INT;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
	MPI_Comm w = MPI_COMM_WORLD;
	MPI_Info none = MPI_INFO_NULL;
	int hood[5][2];
	MPI_Barrier_init(w, none, &q[n++]);
	MPI_Bcast_init(&b, 1, MPI_INT, size - 1, w, none, &q[n++]);
	MPI_Reduce_init(&in, &out[0], 1, MPI_INT, MPI_SUM, 0, w, none, &q[n++]);
	MPI_Allreduce_init(&in, &out[1], 1, MPI_INT, MPI_MAX, w, none, &q[n++]);
	MPI_Scan_init(&in, &out[2], 1, MPI_INT, MPI_SUM, w, none, &q[n++]);
	MPI_Exscan_init(&in, &out[3], 1, MPI_INT, MPI_SUM, w, none, &q[n++]);
	MPI_Gather_init(&in, 1, MPI_INT, gather, 1, MPI_INT, 0, w, none, &q[n++]);
	MPI_Gatherv_init(&in, 1, MPI_INT, all[0], counts, at, MPI_INT, 0, w, none, &q[n++]);
	MPI_Scatter_init(mine, 1, MPI_INT, &out[4], 1, MPI_INT, 0, w, none, &q[n++]);
	int scattered, own, part;
	MPI_Scatterv_init(mine, counts, at, MPI_INT, &scattered, 1, MPI_INT, 0, w, none, &q[n++]);
	MPI_Allgather_init(&in, 1, MPI_INT, all[1], 1, MPI_INT, w, none, &q[n++]);
	MPI_Allgatherv_init(&in, 1, MPI_INT, all[2], counts, at, MPI_INT, w, none, &q[n++]);
	MPI_Alltoall_init(mine, 1, MPI_INT, all[3], 1, MPI_INT, w, none, &q[n++]);
	MPI_Alltoallv_init(mine, counts, at, MPI_INT, all[4], counts, at, MPI_INT, w, none, &q[n++]);
	MPI_Alltoallw_init(mine, counts, offsets, types, all[5], counts, offsets, types, w, none, &q[n++]);
	MPI_Reduce_scatter_init(mine, &own, counts, MPI_INT, MPI_SUM, w, none, &q[n++]);
	MPI_Reduce_scatter_block_init(mine, &part, 1, MPI_INT, MPI_SUM, w, none, &q[n++]);
	MPI_Neighbor_allgather_init(&in, 1, MPI_INT, hood[0], 1, MPI_INT, line, none, &q[n++]);
	MPI_Neighbor_allgatherv_init(&in, 1, MPI_INT, hood[1], ones, places, MPI_INT, line, none, &q[n++]);
	MPI_Neighbor_alltoall_init(mine, 1, MPI_INT, hood[2], 1, MPI_INT, line, none, &q[n++]);
	MPI_Neighbor_alltoallv_init(mine, ones, places, MPI_INT, hood[3], ones, places, MPI_INT, line, none, &q[n++]);
	MPI_Neighbor_alltoallw_init(mine, ones, bytes, types, hood[4], ones, bytes, types, line, none, &q[n++]);
	EXPECT(n == OPERATIONS);
	for (int round = 0; round < ROUNDS; round++) {
		int base = 1000 * round, left = (rank + size - 1) % size, right = (rank + 1) % size, sum = 0, before = 0;
		in = base + rank, b = rank == size - 1 ? base + 5 : -1;
		for (int i = 0; i < 64; i++)
			mine[i] = base + 10 * rank + i;
		for (int r = 0; r < size; r++) {
			sum += base + r;
			before += r < rank ? base + r : 0;
		}
		if (rank % 2)
			MPI_Startall(OPERATIONS, q);
		else
			for (int i = OPERATIONS - 1; i >= 0; i--)
				MPI_Start(&q[i]);
		MPI_Waitall(OPERATIONS, q, MPI_STATUSES_IGNORE);
		EXPECT(b == base + 5 && out[1] == base + size - 1 && out[2] == before + in && (rank == 0 || out[3] == before));
		EXPECT(rank > 0 || out[0] == sum);
		EXPECT(out[4] == base + rank && scattered == base + rank);
		for (int r = 0; r < size; r++) {
			EXPECT(rank > 0 || (gather[r] == base + r && all[0][r] == base + r));
			EXPECT(all[1][r] == base + r && all[2][r] == base + r);
			EXPECT(all[3][r] == base + 10 * r + rank && all[4][r] == all[3][r] && all[5][r] == all[3][r]);
		}
		int column = 0;
		for (int r = 0; r < size; r++)
			column += base + 10 * r + rank;
		EXPECT(own == column && part == column);
		EXPECT(hood[0][0] == base + left && hood[0][1] == base + right && hood[1][0] == base + left && hood[1][1] == base + right);
		for (int i = 2; i < 5; i++)
			EXPECT(hood[i][0] == base + 10 * left + 1 && hood[i][1] == base + 10 * right);
	}
	for (int i = 0; i < OPERATIONS; i++) {
		EXPECT(q[i] != MPI_REQUEST_NULL);
		MPI_Request_free(&q[i]);
	}
	MPI_Comm_free(&line);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
	(void)type;
}

/* Types and operations are freed before the collectives that use them start. */
static void freed(void) {
	MPI_Datatype column, types[64], other;
	MPI_Op sum, last;
	MPI_Request q[6];
	int here[64];
	/* What a rank need not give may be anything. */
	MPI_Datatype anything = (MPI_Datatype)0x5550, nothing[64];
	int sent[9], got[3][9], counts[64], places[64] = {0}, total = -1, neighbor = (rank + 1) % size;
	MPI_Type_vector(3, 1, 3, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Op_create(add, 1, &sum);
	for (int i = 0; i < 64; i++)
		counts[i] = i == neighbor, types[i] = column;
	int incounts[64];
	for (int i = 0; i < 64; i++)
		incounts[i] = i == (rank + size - 1) % size;
	MPI_Bcast_init(rank == 0 ? sent : got[0], 1, column, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
	MPI_Alltoallw_init(sent, counts, places, types, got[1], incounts, places, types, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
	MPI_Allreduce_init(&rank, &total, 1, MPI_INT, sum, MPI_COMM_WORLD, MPI_INFO_NULL, &q[2]);
	MPI_Alltoallv_init(sent, counts, places, column, got[2], incounts, places, column, MPI_COMM_WORLD, MPI_INFO_NULL, &q[3]);
	MPI_Gather_init(&rank, 1, MPI_INT, here, 1, rank == 0 ? MPI_INT : anything, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q[4]);
	int from = -1, numbers[64], every[64], to_all[64], bytes[64];
	for (int i = 0; i < 64; i++)
		numbers[i] = 3 * i, every[i] = 1, bytes[i] = i * (int)sizeof(int), to_all[i] = 100 * rank + i, nothing[i] = anything, types[i] = i < size ? MPI_INT : anything;
	MPI_Alltoallw_init(MPI_IN_PLACE, NULL, NULL, nothing, to_all, every, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, &q[5]);
	MPI_Start(&q[5]);
	MPI_Wait(&q[5], MPI_STATUS_IGNORE);
	for (int i = 0; i < size; i++)
		EXPECT(to_all[i] == 100 * i + rank);
	MPI_Request_free(&q[5]);
	MPI_Scatter_init(numbers, 1, rank == 0 ? MPI_INT : anything, &from, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q[5]);
	MPI_Type_free(&column);
	MPI_Op_free(&sum);
	/* These may take the place of those that are freed. */
	MPI_Type_contiguous(2, MPI_CHAR, &other);
	MPI_Type_commit(&other);
	MPI_Op_create(add, 0, &last);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 9; i++)
			sent[i] = 1000 * round + 10 * rank + i, got[0][i] = got[1][i] = got[2][i] = -1;
		total = -1;
		MPI_Startall(6, q);
		MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
		EXPECT(from == 3 * rank && (rank > 0 || here[size - 1] == size - 1));
		int before = 1000 * round + 10 * ((rank + size - 1) % size);
		EXPECT(total == size * (size - 1) / 2);
		for (int i = 0; i < 9; i++) {
			EXPECT(rank == 0 || got[0][i] == (i % 3 ? -1 : 1000 * round + i));
			EXPECT(got[1][i] == (i % 3 ? -1 : before + i) && got[2][i] == got[1][i]);
		}
	}
	for (int i = 0; i < 6; i++)
		MPI_Request_free(&q[i]);
	MPI_Type_free(&other);
	MPI_Op_free(&last);
}

#define REFUSED(call, class_) EXPECT(class_of(call) == (class_))

/* Wrong arguments are found before a start, and buffers are not written by then. */
static void refused(void) {
	MPI_Comm w = MPI_COMM_WORLD, line;
	MPI_Info none = MPI_INFO_NULL;
	MPI_Datatype gaps;
	MPI_Request q = MPI_REQUEST_NULL;
	int sent[64], got[128], counts[64], places[64], bytes[64];
	MPI_Datatype types[64];
	for (int i = 0; i < 64; i++)
		sent[i] = 10 * rank + i, counts[i] = 1, places[i] = 2 * i, bytes[i] = 8 * i, types[i] = MPI_INT;
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
	MPI_Cart_create(w, 1, (int[]){size}, (int[]){1}, 0, &line);
	MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
	REFUSED(MPI_Bcast_init(got, -1, MPI_INT, 0, w, none, &q), MPI_ERR_COUNT);
	REFUSED(MPI_Bcast_init(got, 1, MPI_INT, size, w, none, &q), MPI_ERR_ROOT);
	REFUSED(MPI_Gather_init(sent, 1, MPI_INT, got, 1, MPI_INT, -1, w, none, &q), MPI_ERR_ROOT);
	REFUSED(MPI_Bcast_init(got, 1, MPI_DATATYPE_NULL, 0, w, none, &q), MPI_ERR_TYPE);
	REFUSED(MPI_Allgather_init(sent, 1, MPI_INT, got, 1, gaps, w, none, &q), MPI_ERR_TYPE);
	REFUSED(MPI_Allreduce_init(sent, got, 1, MPI_FLOAT, MPI_BAND, w, none, &q), MPI_ERR_OP);
	REFUSED(MPI_Scan_init(sent, sent, 1, MPI_INT, MPI_SUM, w, none, &q), MPI_ERR_BUFFER);
	REFUSED(MPI_Neighbor_allgather_init(sent, 1, MPI_INT, got, 1, MPI_INT, w, none, &q), MPI_ERR_TOPOLOGY);
	REFUSED(MPI_Barrier_init(MPI_COMM_NULL, none, &q), MPI_ERR_COMM);
	counts[size - 1] = -1;
	REFUSED(MPI_Alltoallv_init(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, w, none, &q), MPI_ERR_COUNT);
	REFUSED(MPI_Alltoallw_init(sent, counts, bytes, types, got, counts, bytes, types, w, none, &q), MPI_ERR_COUNT);
	EXPECT(q == MPI_REQUEST_NULL);
	counts[size - 1] = 1;
	MPI_Comm_set_errhandler(w, MPI_ERRORS_ARE_FATAL);
	MPI_Type_commit(&gaps);
	MPI_Request all[4];
	for (int i = 0; i < 128; i++)
		got[i] = -1;
	MPI_Allgatherv_init(sent, 1, MPI_INT, got, counts, places, MPI_INT, w, none, &all[0]);
	MPI_Alltoallw_init(sent, counts, bytes, types, got, counts, bytes, types, w, none, &all[1]);
	MPI_Bcast_init(got, 2, gaps, 0, w, none, &all[2]);
	MPI_Neighbor_allgather_init(sent, 2, MPI_INT, got, 1, gaps, line, none, &all[3]);
	for (int i = 0; i < 128; i++)
		EXPECT(got[i] == -1);
	MPI_Start(&all[0]);
	MPI_Wait(&all[0], MPI_STATUS_IGNORE);
	for (int i = 0; i < 2 * size; i++)
		EXPECT(got[i] == (i % 2 ? -1 : 5 * i));
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&all[i]);
	MPI_Type_free(&gaps);
	MPI_Comm_free(&line);
}
#endif

int main(int argc, char **argv) {
	begin(&argc, &argv);
	statuses();
#ifdef MPI_4
	several();
	collectives();
	freed();
	refused();
#endif
	return finish("persistent");
}
