/* Messages and collectives of values that do not lie one behind another. */
#include "check.h"

enum { N = 6 };

static MPI_Datatype column, cell; /* of a matrix; two ints of which every other element counts */

static void fill(int m[N][N], int first) {
	for (int i = 0; i < N * N; i++)
		m[i / N][i % N] = first + i;
}

/* is_column checks that a matrix of -1 has got column j of the matrix of a rank. */
static int is_column(int m[N][N], int at, int from, int j) {
	int right = 1;
	for (int r = 0; r < N; r++)
		for (int c = 0; c < N; c++)
			right = right && m[r][c] == (c == at ? 100 * from + N * r + j : -1);
	return right;
}

static void clear(int m[N][N]) { memset(m, -1, N * N * sizeof(int)); }

static void messages(void) {
	static int (*const send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend};
	int out[N][N], in[N][N], left = (rank + size - 1) % size, right = (rank + 1) % size, n, room;
	char buffer[4 * (N * sizeof(int) + MPI_BSEND_OVERHEAD)], *back;
	MPI_Request requests[2];
	MPI_Status status;
	fill(out, 100 * rank);
	MPI_Buffer_attach(buffer, sizeof buffer);
	for (int mode = 0; mode < 3; mode++) {
		clear(in);
		MPI_Irecv(&in[0][mode], 1, column, left, mode, MPI_COMM_WORLD, &requests[0]);
		send[mode](&out[0][1], 1, column, right, mode, MPI_COMM_WORLD, &requests[1]);
		MPI_Wait(&requests[0], &status);
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
		CHECK(is_column(in, mode, left, 1));
		MPI_Get_count(&status, column, &n);
		CHECK(n == 1);
		MPI_Get_count(&status, MPI_INT, &n);
		CHECK(n == N);
	}
	MPI_Buffer_detach(&back, &room);
	/* A column to a row, by a blocking send and a probe. */
	if (rank == 0) {
		int row[N];
		for (int from = 1; from < size; from++) {
			MPI_Probe(from, 7, MPI_COMM_WORLD, &status);
			MPI_Get_elements(&status, column, &n);
			CHECK(n == N);
			MPI_Recv(row, n, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			CHECK(row[0] == 100 * from + 2 && row[N - 1] == 100 * from + N * (N - 1) + 2);
			MPI_Send(row, N, MPI_INT, from, 8, MPI_COMM_WORLD);
		}
	} else {
		MPI_Message message;
		MPI_Send(&out[0][2], 1, column, 0, 7, MPI_COMM_WORLD);
		clear(in);
		MPI_Mprobe(0, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(&in[0][3], 1, column, &message, MPI_STATUS_IGNORE);
		CHECK(is_column(in, 3, rank, 2));
	}
	/* A shorter message leaves the rest alone. */
	clear(in);
	MPI_Sendrecv(out, 2, MPI_INT, right, 9, &in[0][4], 1, column, left, 9, MPI_COMM_WORLD, &status);
	CHECK(in[0][4] == 100 * left && in[1][4] == 100 * left + 1 && in[2][4] == -1);
	fill(in, 100 * rank);
	MPI_Sendrecv_replace(&in[0][5], 1, column, right, 10, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(in[1][5] == 100 * left + N + 5 && in[1][4] == 100 * rank + N + 4);
}

static void persistent(void) {
	int out[N][N], in[N][N], left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Request pair[2];
	MPI_Datatype own;
	MPI_Type_dup(column, &own);
	MPI_Recv_init(&in[0][3], 1, own, left, 1, MPI_COMM_WORLD, &pair[0]);
	MPI_Send_init(&out[0][4], 1, own, right, 1, MPI_COMM_WORLD, &pair[1]);
	MPI_Type_free(&own); /* the requests keep it */
	for (int i = 0; i < 3; i++) {
		fill(out, 100 * rank + i);
		clear(in);
		MPI_Startall(2, pair);
		MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
		CHECK(in[0][3] == 100 * left + i + 4 && in[N - 1][3] == 100 * left + i + N * (N - 1) + 4 && in[0][2] == -1);
	}
	MPI_Request_free(&pair[0]);
	MPI_Request_free(&pair[1]);
}

/* Types whose values lie one behind another, at their first byte or after it. */
static void in_one_piece(void) {
	int out[2 * N], in[2 * N];
	MPI_Datatype rows, late;
	MPI_Type_contiguous(3, MPI_INT, &rows);
	MPI_Type_create_indexed_block(1, 3, (int[]){2}, MPI_INT, &late);
	MPI_Type_commit(&rows);
	MPI_Type_commit(&late);
	for (int i = 0; i < 2 * N; i++)
		out[i] = i, in[i] = -1;
	MPI_Sendrecv(out, 2, late, rank, 0, in, 2, rows, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(in[0] == 2 && in[2] == 4 && in[3] == 5 && in[5] == 7 && in[6] == -1);
	MPI_Bcast(in, 1, late, 0, MPI_COMM_WORLD);
	CHECK(in[2] == 4);
	MPI_Type_free(&rows);
	MPI_Type_free(&late);
}

static void wait_if(int later, MPI_Request *request) {
	if (later)
		MPI_Wait(request, MPI_STATUS_IGNORE);
}

#define DO(name, later_name, ...) \
	do { \
		if (later) \
			MPI_##later_name(__VA_ARGS__, &request); \
		else \
			MPI_##name(__VA_ARGS__); \
		wait_if(later, &request); \
	} while (0)

/* A cell is two ints; the second is never touched. */
static int *cells(int n, int first) {
	int *p = malloc(((size_t)n + 1) * 2 * sizeof *p);
	for (int i = 0; i < n; i++)
		p[2 * i] = first + i, p[2 * i + 1] = -7;
	return p;
}

static int whole(const int *p, int n) {
	for (int i = 0; i < n; i++)
		if (p[2 * i + 1] != -7)
			return 0;
	return 1;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
	MPI_Aint low, extent;
	int bytes;
	int *a = in, *b = inout;
	MPI_Type_get_extent(*type, &low, &extent);
	MPI_Type_size(*type, &bytes);
	if (extent != 8 || bytes != 4)
		abort();
	for (int i = 0; i < *n; i++)
		b[2 * i] += a[2 * i];
}

static void collectives(int later, int root) {
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Request request;
	enum { M = 3 };
	int *in = cells(M, 100 * rank), *out = cells(M * size, -1), *many = cells(M * size, 1000 * rank), sum = 100 * size * (size - 1) / 2;
	MPI_Op op;
	DO(Bcast, Ibcast, rank == root ? in : out, M, cell, root, world);
	CHECK(whole(out, M) && (rank == root || out[2] == 100 * root + 1));
	DO(Gather, Igather, in, M, cell, out, M, cell, root, world);
	for (int i = 0; rank == root && i < M * size; i++)
		CHECK(out[2 * i] == 100 * (i / M) + i % M);
	CHECK(whole(out, M * size));
	DO(Allgather, Iallgather, in, M, cell, out, M, cell, world);
	for (int i = 0; i < M * size; i++)
		CHECK(out[2 * i] == 100 * (i / M) + i % M);
	for (int i = 0; i < M * size; i++)
		out[2 * i] = i / M == rank ? 50 * rank + i % M : -1;
	DO(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, M, cell, world);
	for (int i = 0; i < M * size; i++)
		CHECK(out[2 * i] == 50 * (i / M) + i % M);
	DO(Scatter, Iscatter, many, M, cell, out, M, cell, root, world);
	CHECK(out[0] == 1000 * root + M * rank && out[2] == out[0] + 1 && whole(out, M * size));
	DO(Alltoall, Ialltoall, many, M, cell, out, M, cell, world);
	for (int i = 0; i < M * size; i++)
		CHECK(out[2 * i] == 1000 * (i / M) + M * rank + i % M);
	DO(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, M, cell, world);
	CHECK(out[2] == 1000 * rank + 1 && whole(out, M * size));
	MPI_Op_create(add, 1, &op);
	DO(Reduce, Ireduce, in, out, M, cell, op, root, world);
	CHECK(rank != root || (out[0] == sum && out[4] == sum + 2 * size));
	DO(Allreduce, Iallreduce, in, out, M, cell, op, world);
	CHECK(out[0] == sum && out[2] == sum + size && whole(out, M));
	memcpy(out, in, 2 * M * sizeof *in);
	DO(Allreduce, Iallreduce, MPI_IN_PLACE, out, M, cell, op, world);
	CHECK(out[0] == sum && out[2] == sum + size && whole(out, M));
	DO(Scan, Iscan, in, out, M, cell, op, world);
	CHECK(out[0] == 50 * rank * (rank + 1) && whole(out, M));
	DO(Exscan, Iexscan, in, out, M, cell, op, world);
	CHECK(rank == 0 || out[0] == 50 * rank * (rank - 1));
	DO(Reduce_scatter_block, Ireduce_scatter_block, many, out, M, cell, op, world);
	CHECK(out[0] == 10 * sum + size * M * rank && whole(out, M));
	int *each = malloc((size_t)size * sizeof *each);
	for (int i = 0; i < size; i++)
		each[i] = M;
	memcpy(out, many, 2 * M * (size_t)size * sizeof *out);
	DO(Reduce_scatter, Ireduce_scatter, MPI_IN_PLACE, out, each, cell, op, world);
	CHECK(out[0] == 10 * sum + size * M * rank && whole(out, M * size));
	for (int i = 0; i < M; i++)
		out[2 * i] = 1;
	MPI_Reduce_local(in, out, M, cell, op);
	CHECK(out[2] == 100 * rank + 2 && whole(out, M));
	MPI_Op_free(&op);
	free(in), free(out), free(many), free(each);
}

/* Member i has i+1 cells. Blocks lie in reverse order, one cell apart. */
static void varying(int later, int root) {
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Request request;
	int total = size * (size + 1) / 2, room = total + size, at = 0;
	int *counts = malloc((size_t)size * 4 * sizeof *counts), *places = counts + size, *each = places + size, *froms = each + size;
	int *in = cells(size, 100 * rank), *out = cells(room, -1), *got = cells((rank + 2) * size, -1);
	for (int i = size - 1; i >= 0; i--) {
		counts[i] = i + 1, places[i] = at, each[i] = rank + 1, froms[i] = i * (rank + 2);
		at += counts[i] + 1;
	}
	DO(Gatherv, Igatherv, in, rank + 1, cell, out, counts, places, cell, root, world);
	for (int m = 0; rank == root && m < size; m++)
		CHECK(out[2 * (places[m] + m)] == 100 * m + m && out[2 * (places[m] + m + 1)] != 100 * m + m + 1);
	DO(Allgatherv, Iallgatherv, in, rank + 1, cell, out, counts, places, cell, world);
	for (int m = 0; m < size; m++)
		CHECK(out[2 * (places[m] + m)] == 100 * m + m);
	CHECK(whole(out, room));
	in[0] = -1;
	DO(Scatterv, Iscatterv, out, counts, places, cell, in, rank + 1, cell, root, world);
	CHECK(in[0] == 100 * rank && in[2 * rank] == 101 * rank && whole(in, size));
	for (int m = 0; m < size; m++)
		for (int i = 0; i <= m; i++)
			out[2 * (places[m] + i)] = 10000 * rank + 100 * m + i;
	DO(Alltoallv, Ialltoallv, out, counts, places, cell, got, each, froms, cell, world);
	for (int m = 0; m < size; m++)
		for (int i = 0; i <= rank; i++)
			CHECK(got[2 * (froms[m] + i)] == 10000 * m + 100 * rank + i);
	CHECK(whole(got, (rank + 2) * size));
	/* The same with displacements in bytes, from cells to plain ints. */
	MPI_Datatype *these = malloc((size_t)size * 2 * sizeof *these), *those = these + size;
	int *plain = malloc((size_t)(rank + 1) * (size_t)size * sizeof *plain);
	for (int m = 0; m < size; m++)
		these[m] = cell, those[m] = MPI_INT, places[m] *= 8, froms[m] = m * (rank + 1) * (int)sizeof(int);
	DO(Alltoallw, Ialltoallw, out, counts, places, these, plain, each, froms, those, world);
	for (int m = 0; m < size; m++)
		for (int i = 0; i <= rank; i++)
			CHECK(plain[m * (rank + 1) + i] == 10000 * m + 100 * rank + i);
	for (int m = 0; m < size; m++)
		each[m] = 1, those[m] = MPI_INT, froms[m] = (size - 1 - m) * (int)sizeof(int);
	int *swap = malloc((size_t)size * sizeof *swap);
	for (int m = 0; m < size; m++)
		swap[size - 1 - m] = 10 * rank + m;
	DO(Alltoallw, Ialltoallw, MPI_IN_PLACE, NULL, NULL, NULL, swap, each, froms, those, world);
	for (int m = 0; m < size; m++)
		CHECK(swap[size - 1 - m] == 10 * m + rank);
	free(counts), free(in), free(out), free(got), free(these), free(plain), free(swap);
}

/* A matrix is transposed by an alltoall of columns. */
/* Members describe the same elements by different types. */
static void signatures(void) {
	int m[N][N], flat[N], *all = malloc((size_t)size * N * sizeof *all), counts[64], places[64], odd = rank % 2;
	MPI_Datatype row;
	MPI_Type_contiguous(N, MPI_INT, &row);
	MPI_Type_commit(&row);
	fill(m, 0);
	for (int i = 0; i < N; i++)
		flat[i] = rank == 0 ? i : -1;
	if (odd)
		MPI_Bcast(flat, 1, row, 0, MPI_COMM_WORLD);
	else
		MPI_Bcast(flat, N, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < N; i++)
		CHECK(flat[i] == i);
	if (odd)
		MPI_Gather(&m[0][1], 1, column, all, 1, row, 0, MPI_COMM_WORLD);
	else
		MPI_Gather(flat, N, MPI_INT, all, 1, row, 0, MPI_COMM_WORLD);
	if (rank == 0)
		for (int i = 0; i < size * N; i++)
			CHECK(all[i] == (i / N % 2 ? i % N * N + 1 : i % N));
	for (int i = 0; i < size * N; i++)
		all[i] = i;
	clear(m);
	if (odd)
		MPI_Scatter(all, N, MPI_INT, &m[0][2], 1, column, 0, MPI_COMM_WORLD);
	else
		MPI_Scatter(all, 1, row, &m[2][0], N, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < N; i++)
		CHECK((odd ? m[i][2] : m[2][i]) == rank * N + i);
	if (odd)
		MPI_Allgather(&m[0][2], 1, column, all, 1, row, MPI_COMM_WORLD);
	else
		MPI_Allgather(&m[2][0], N, MPI_INT, all, N, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size * N; i++)
		CHECK(all[i] == i);
	/* Odd members have nothing, of another type. */
	for (int i = 0; i < size; i++)
		counts[i] = i % 2 ? 0 : N, places[i] = i * N;
	memset(all, -1, (size_t)size * N * sizeof *all);
	if (odd)
		MPI_Gatherv(NULL, 0, MPI_DOUBLE, NULL, NULL, NULL, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	else
		MPI_Gatherv(flat, 1, row, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 0)
		for (int i = 0; i < size * N; i++)
			CHECK(all[i] == (i / N % 2 ? -1 : i % N));
	MPI_Type_free(&row);
	free(all);
}

static void transposed(void) {
	MPI_Datatype t, resized;
	int *m = malloc((size_t)size * sizeof *m), *n = malloc((size_t)(size * size) * sizeof *n), *all = malloc((size_t)(size * size) * sizeof *all);
	for (int i = 0; i < size; i++)
		m[i] = size * rank + i;
	MPI_Type_vector(size, 1, size, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, sizeof(int), &resized);
	MPI_Type_commit(&resized);
	MPI_Gather(m, size, MPI_INT, n, 1, resized, 0, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < size * size; i++)
		CHECK(n[i] == size * (i % size) + i / size);
	MPI_Bcast(n, size, resized, 0, MPI_COMM_WORLD);
	MPI_Reduce(n, all, size * size, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	CHECK(rank != 0 || all[size * size - 1] == size * (size * size - 1));
	MPI_Type_free(&t);
	MPI_Type_free(&resized);
	free(m), free(n), free(all);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Datatype t;
	MPI_Type_vector(N, 1, N, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Type_create_resized(MPI_INT, 0, 8, &cell);
	MPI_Type_dup(cell, &t);
	MPI_Type_free(&cell);
	cell = t;
	MPI_Type_commit(&cell);
	messages();
	persistent();
	in_one_piece();
	for (int later = 0; later < 2; later++) {
		collectives(later, 0);
		collectives(later, size - 1);
		varying(later, size / 2);
	}
	transposed();
	signatures();
	MPI_Type_free(&column);
	MPI_Type_free(&cell);
	return finish("layouts");
}
