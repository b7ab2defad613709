/* All collectives, blocking and not, with MPI_IN_PLACE and displacements. */
#include "check.h"

static int *numbers(int n, int first) {
	int *p = malloc(((size_t)n + 1) * sizeof *p);
	for (int i = 0; i < n; i++)
		p[i] = first + i;
	return p;
}

static void wait_if(int later, MPI_Request *request) {
	if (later)
		MPI_Wait(request, MPI_STATUS_IGNORE);
}

#define DO(name, later_name, ...) \
	do { \
		if (later) { \
			MPI_##later_name(__VA_ARGS__, &request); \
			wait_if(later, &request); \
		} else \
			MPI_##name(__VA_ARGS__); \
	} while (0)

static void simple(int later, int n, int root) {
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Request request;
	int sum = size * (size - 1) / 2, below = rank * (rank - 1) / 2;
	int *in = numbers(n, rank), *out = numbers(n * size, -5), *many = numbers(n * size, 1000 * rank);
	DO(Barrier, Ibarrier, world);
	for (int i = 0; i < n; i++)
		out[i] = rank == root ? 7 * i : -1;
	DO(Bcast, Ibcast, out, n, MPI_INT, root, world);
	CHECK(n == 0 || out[n - 1] == 7 * (n - 1));
	DO(Reduce, Ireduce, in, out, n, MPI_INT, MPI_SUM, root, world);
	for (int i = 0; rank == root && i < n; i++)
		CHECK(out[i] == sum + i * size);
	DO(Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_MAX, world);
	for (int i = 0; i < n; i++)
		CHECK(out[i] == size - 1 + i);
	memcpy(out, in, (size_t)n * sizeof *in);
	DO(Allreduce, Iallreduce, MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, world);
	for (int i = 0; i < n; i++)
		CHECK(out[i] == sum + i * size);
	DO(Scan, Iscan, in, out, n, MPI_INT, MPI_SUM, world);
	for (int i = 0; i < n; i++)
		CHECK(out[i] == below + rank + i * (rank + 1));
	DO(Exscan, Iexscan, in, out, n, MPI_INT, MPI_SUM, world);
	for (int i = 0; rank > 0 && i < n; i++)
		CHECK(out[i] == below + i * rank);
	DO(Gather, Igather, in, n, MPI_INT, out, n, MPI_INT, root, world);
	for (int i = 0; rank == root && i < n * size; i++)
		CHECK(out[i] == i / n + i % n);
	DO(Allgather, Iallgather, in, n, MPI_INT, out, n, MPI_INT, world);
	for (int i = 0; i < n * size; i++)
		CHECK(out[i] == i / n + i % n);
	memset(out, 0, (size_t)(n * size) * sizeof *out);
	memcpy(out + n * rank, in, (size_t)n * sizeof *in);
	DO(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, world);
	for (int i = 0; i < n * size; i++)
		CHECK(out[i] == i / n + i % n);
	DO(Scatter, Iscatter, many, n, MPI_INT, out, n, MPI_INT, root, world);
	for (int i = 0; i < n; i++)
		CHECK(out[i] == 1000 * root + n * rank + i);
	DO(Alltoall, Ialltoall, many, n, MPI_INT, out, n, MPI_INT, world);
	for (int i = 0; i < n * size; i++)
		CHECK(out[i] == 1000 * (i / n) + n * rank + i % n);
	memcpy(out, many, (size_t)(n * size) * sizeof *out);
	DO(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, world);
	for (int i = 0; i < n * size; i++)
		CHECK(out[i] == 1000 * (i / n) + n * rank + i % n);
	DO(Reduce_scatter_block, Ireduce_scatter_block, many, out, n, MPI_INT, MPI_SUM, world);
	for (int i = 0; i < n; i++)
		CHECK(out[i] == 1000 * sum + size * (n * rank + i));
	free(in);
	free(out);
	free(many);
}

/* Member i has i+1 elements. Blocks lie in reverse order, one element apart. */
static void varying(int later, int root) {
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Request request;
	int total = size * (size + 1) / 2, room = total + size, at = 0;
	int *counts = numbers(size, 1), *places = numbers(size, 0), *in = numbers(size, 100 * rank), *out = numbers(room, 0), *all = numbers(room, 0);
	for (int i = size - 1; i >= 0; i--) {
		places[i] = at;
		at += counts[i] + 1;
	}
	for (int i = 0; i < room; i++)
		out[i] = -1;
	DO(Gatherv, Igatherv, in, rank + 1, MPI_INT, out, counts, places, MPI_INT, root, world);
	for (int m = 0; rank == root && m < size; m++)
		for (int i = 0; i <= m; i++)
			CHECK(out[places[m] + i] == 100 * m + i && out[places[m] + m + 1] == -1);
	for (int i = 0; i < room; i++)
		out[i] = -1;
	DO(Allgatherv, Iallgatherv, in, rank + 1, MPI_INT, out, counts, places, MPI_INT, world);
	for (int m = 0; m < size; m++)
		for (int i = 0; i <= m; i++)
			CHECK(out[places[m] + i] == 100 * m + i && out[places[m] + m + 1] == -1);
	memcpy(all, out, (size_t)room * sizeof *out);
	DO(Scatterv, Iscatterv, all, counts, places, MPI_INT, in, rank + 1, MPI_INT, root, world);
	for (int i = 0; i <= rank; i++)
		CHECK(in[i] == 100 * rank + i);
	/* Everybody sends i+1 elements to member i, and gets rank+1 from each. */
	int *froms = numbers(size, 0), *each = numbers(size, 0), *got = numbers((rank + 2) * size, 0);
	for (int m = 0; m < size; m++)
		each[m] = rank + 1, froms[m] = m * (rank + 2);
	for (int m = 0; m < size; m++)
		for (int i = 0; i <= m; i++)
			all[places[m] + i] = 10000 * rank + 100 * m + i;
	DO(Alltoallv, Ialltoallv, all, counts, places, MPI_INT, got, each, froms, MPI_INT, world);
	for (int m = 0; m < size; m++)
		for (int i = 0; i <= rank; i++)
			CHECK(got[froms[m] + i] == 10000 * m + 100 * rank + i);
	int *sums = numbers(total, rank);
	DO(Reduce_scatter, Ireduce_scatter, sums, out, counts, MPI_INT, MPI_SUM, world);
	for (int i = 0; i <= rank; i++)
		CHECK(out[i] == size * (size - 1) / 2 + size * (rank * (rank + 1) / 2 + i));
	free(counts), free(places), free(in), free(out), free(all), free(froms), free(each), free(got), free(sums);
}

/* An operation that does not commute: 2x2 matrices. */
static void times(void *in, void *inout, int *count, MPI_Datatype *type) {
	int64_t *a = in, *b = inout;
	if (*type != MPI_INT64_T || *count % 4)
		abort();
	for (int i = 0; i < *count; i += 4, a += 4, b += 4) {
		int64_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
		memcpy(b, c, sizeof c);
	}
}

static void own_operation(void) {
	MPI_Op product;
	MPI_Op_create(times, 0, &product);
	int64_t mine[4] = {1, rank + 1, 0, 1}, before[4], want[4] = {1, 0, 0, 1}, got[4];
	if (rank % 2)
		mine[1] = 0, mine[2] = rank;
	memcpy(before, mine, sizeof mine);
	for (int r = 0; r < size; r++) {
		int64_t m[4] = {1, r % 2 ? 0 : r + 1, r % 2 ? r : 0, 1};
		int n = 4;
		MPI_Datatype type = MPI_INT64_T;
		times(want, m, &n, &type);
		memcpy(want, m, sizeof m);
	}
	MPI_Allreduce(mine, got, 4, MPI_INT64_T, product, MPI_COMM_WORLD);
	CHECK(memcmp(got, want, sizeof got) == 0 && memcmp(mine, before, sizeof mine) == 0);
	MPI_Reduce_local(mine, got, 4, MPI_INT64_T, product);
	int commutes;
	MPI_Op_commutative(product, &commutes);
	CHECK(!commutes);
	MPI_Op_free(&product);
	CHECK(product == MPI_OP_NULL);
}

static void operations(void) {
	struct { double value; int index; } pair = {-(double)(rank % 3), rank}, least;
	MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
	CHECK(least.value == -(size > 2 ? 2 : size - 1) && least.index == (size > 2 ? 2 : size - 1));
	MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
	CHECK(least.value == 0 && least.index == 0);
	unsigned bits = 1u << (rank % 32), got;
	MPI_Allreduce(&bits, &got, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD);
	CHECK(got == (size >= 32 ? ~0u : (1u << size) - 1));
	int flag = rank == 0, any, every;
	MPI_Allreduce(&flag, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
	MPI_Allreduce(&flag, &every, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	CHECK(any == 1 && every == (size == 1));
	float small = 0.5f, most;
	MPI_Allreduce(&small, &most, 1, MPI_FLOAT, MPI_PROD, MPI_COMM_WORLD);
	CHECK(size > 100 || most > 0);
	long double wide = rank, total;
	MPI_Allreduce(&wide, &total, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	CHECK(total == (long double)size * (size - 1) / 2);
	double _Complex z = rank, zs;
	MPI_Allreduce(&z, &zs, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
	CHECK(zs == (double)size * (size - 1) / 2);
	unsigned char byte = (unsigned char)rank, xor;
	MPI_Allreduce(&byte, &xor, 1, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
	unsigned char want = 0;
	for (int r = 0; r < size; r++)
		want ^= (unsigned char)r;
	CHECK(xor == want);
	/* Characters and bytes are integers here, as benchmarks have it: those of C are signed, others not. */
	static const struct { MPI_Op operation; unsigned char result; } of[] = {
		{MPI_SUM, 0xf8}, {MPI_PROD, 0xbf}, {MPI_LAND, 1}, {MPI_LOR, 1}, {MPI_LXOR, 0}, {MPI_BAND, 1}, {MPI_BOR, 0xf7}, {MPI_BXOR, 0xf6}};
	MPI_Datatype types[] = {MPI_CHAR, MPI_BYTE, MPI_CHARACTER};
	for (int t = 0; t < 3; t++) {
		unsigned char a = 0xf3, b = 5, c[5] = {0xf3, 0xf3, 0xf3, 0xf3, 0xf3}, d[5];
		for (size_t i = 0; i < sizeof of / sizeof *of; i++, b = 5)
			CHECK(MPI_Reduce_local(&a, &b, 1, types[t], of[i].operation) == MPI_SUCCESS && b == of[i].result);
		CHECK(MPI_Reduce_local(&a, &b, 1, types[t], MPI_MAX) == MPI_SUCCESS && b == (t == 0 ? 5 : 0xf3));
		CHECK(MPI_Reduce_local(&a, &b, 1, types[t], MPI_MIN) == MPI_SUCCESS && b == (t == 0 ? 0xf3 : b));
		CHECK(MPI_Allreduce(c, d, 5, types[t], MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && d[0] == (unsigned char)(size * 0xf3) && d[4] == d[0]);
	}
}

/* What an operation needs besides its arguments, and vectors beside it among the variables: small
 * ones, and one that a switch does not copy. */
enum { WIDE = 1 << 17 };
static int side, applied;
static int matrix[36], product[36], wide[WIDE], widest[WIDE];

/* multiply multiplies square matrices: side is the rank's own. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type) {
	int *a = in, *b = inout, row[6];
	(void)type;
	applied++;
	for (int n = 0; n < *count; n++, a += side * side, b += side * side)
		for (int j = 0; j < side; j++) {
			for (int i = 0; i < side; i++) {
				row[i] = 0;
				for (int k = 0; k < side; k++)
					row[i] += a[i * side + k] * b[k * side + j];
			}
			for (int i = 0; i < side; i++)
				b[i * side + j] = row[i];
		}
}

/* exchange makes the matrix that exchanges a member with the next. All of a communicator's but the
 * last shift rows by one. */
static void exchange(int member) {
	memset(matrix, 0, sizeof matrix);
	for (int i = 0; i < side; i++)
		matrix[i * side + (member == side - 1 ? i : i == member ? i + 1 : i == member + 1 ? i - 1 : i)] = 1;
}

static int shifts(const int *m) {
	int right = 1;
	for (int i = 0; i < side; i++)
		for (int j = 0; j < side; j++)
			right = right && m[i * side + j] == (i == (j + 1) % side);
	return right;
}

/* gather adds what is in both and the rank's own side. */
static void gather(void *in, void *inout, int *count, MPI_Datatype *type) {
	int *a = in, *b = inout;
	(void)type;
	for (int i = 0; i < *count; i++)
		b[i] = a[i] + b[i] + side;
}

/* Members of communicators of different sizes reduce at the same time, without an order between the
 * reductions of one and those of another. */
static void operations_with_variables(void) {
	int member;
	MPI_Comm part;
	MPI_Datatype whole;
	MPI_Op op, add;
	MPI_Op_create(multiply, 0, &op);
	MPI_Op_create(gather, 1, &add);
	for (int round = 0; round < 3; round++) {
		MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == round, rank, &part);
		MPI_Comm_rank(part, &member);
		MPI_Comm_size(part, &side);
		if (side <= 6) {
			MPI_Type_contiguous(side * side, MPI_INT, &whole);
			MPI_Type_commit(&whole);
			for (int root = 0; root < side; root++) {
				exchange(member);
				MPI_Reduce(matrix, product, 1, whole, op, root, part);
				if (member == root)
					CHECK(shifts(product));
				MPI_Allreduce(MPI_IN_PLACE, matrix, 1, whole, op, part);
				CHECK(shifts(matrix));
				exchange(member);
				MPI_Scan(matrix, product, 1, whole, op, part);
				if (member == side - 1)
					CHECK(shifts(product));
			}
			MPI_Type_free(&whole);
		}
		for (int n = 8; n <= WIDE; n *= 128) { /* the vectors of a node are combined together if they are short */
			for (int i = 0; i < n; i++)
				wide[i] = i + member;
			MPI_Allreduce(wide, widest, n, MPI_INT, add, part);
			int right = 1;
			for (int i = 0; i < n; i++)
				right = right && widest[i] == side * i + side * (side - 1) / 2 + side * (side - 1) && wide[i] == i + member;
			CHECK(right);
		}
		MPI_Comm_free(&part);
	}
	MPI_Allreduce(MPI_IN_PLACE, &applied, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	EXPECT(size == 1 || applied > 0);
	MPI_Op_free(&op);
	MPI_Op_free(&add);
}

static void refused(void) {
	int out = 0, in, count = 1, negative = -1, at = 0;
	MPI_Datatype type = MPI_INT, none = MPI_DATATYPE_NULL;
	MPI_Request request;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Ialltoallw(&out, &count, &at, &type, &in, &count, &at, &type, MPI_COMM_NULL, &request), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Ialltoallw(&out, &negative, &at, &type, &in, &count, &at, &type, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Ialltoallw(&out, &count, &at, &type, &in, &negative, &at, &type, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Ialltoallw(&out, &count, &at, &none, &in, &count, &at, &type, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Ialltoallw(&out, &count, &at, &type, &in, &count, &at, &none, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	for (int later = 0; later < 2; later++) {
		simple(later, 1, 0);
		simple(later, 37, size - 1);
		varying(later, size / 2);
	}
	own_operation();
	operations_with_variables();
	operations();
	refused();
	return finish("collectives");
}
