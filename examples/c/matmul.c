/* Rank 0 hands rows of a matrix out to the others on demand and collects the product of two
 * matrices: matmul [ROWS] */
#include "example.h"

static int n;

/* The operands are A = (i+k) and B = (k-j), so that an element of the product is the sum over
 * k of (i+k)(k-j), a whole number. */
static void left_row(double *row, int i) {
	for (int k = 0; k < n; k++)
		row[k] = i + k;
}

static void check_row(const double *row, int i) {
	int64_t sum = (int64_t)n * (n - 1) / 2, squares = sum * (2 * n - 1) / 3;
	for (int64_t j = 0; j < n; j++)
		expect("an element of the product", (int64_t)row[j], squares + (i - j) * sum - n * i * j);
}

static void multiply(double *out, const double *row, const double *b) {
	memset(out, 0, (size_t)n * sizeof *out);
	for (int k = 0; k < n; k++)
		for (int j = 0; j < n; j++)
			out[j] += row[k] * b[k * n + j];
	gigarank_compute((double)n * n * 1e-9);
}

/* The tag of a message is the number of its row. Tag n, without data, ends a worker. */
static void hand_out(double *row) {
	MPI_Status status;
	int next = 0;
	for (int received = -(size - 1); received < n; received++) {
		int worker = size + received;
		if (received >= 0) {
			MPI_Recv(row, n, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
			check_row(row, status.MPI_TAG);
			worker = status.MPI_SOURCE;
		}
		if (next < n)
			left_row(row, next);
		MPI_Send(row, next < n ? n : 0, MPI_DOUBLE, worker, next < n ? next : n, MPI_COMM_WORLD);
		next += next < n;
	}
}

static void work(double *row, double *out, const double *b) {
	for (;;) {
		MPI_Status status;
		MPI_Recv(row, n, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == n)
			return;
		multiply(out, row, b);
		MPI_Send(out, n, MPI_DOUBLE, 0, status.MPI_TAG, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	n = argument(argc, argv, 1, 64);
	double start = MPI_Wtime();
	double *b = malloc((size_t)n * (size_t)n * sizeof *b), *row = malloc((size_t)n * sizeof *row), *out = malloc((size_t)n * sizeof *out);
	if (rank == 0)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				b[k * n + j] = k - j;
	MPI_Bcast(b, n * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (size == 1)
		for (int i = 0; i < n; i++) {
			left_row(row, i);
			multiply(out, row, b);
			check_row(out, i);
		}
	else if (rank == 0)
		hand_out(row);
	else
		work(row, out, b);
	gigarank_record(0, "matmul", MPI_Wtime() - start);
	if (rank == 0)
		printf("the product of two matrices of %d rows is right\n", n);
	free(b);
	free(row);
	free(out);
	return MPI_Finalize();
}
