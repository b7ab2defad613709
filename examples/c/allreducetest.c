/* Ranks that compute for different times sum a vector of doubles: allreducetest [ITERATIONS [ELEMENTS]] */
#include "example.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int iterations = argument(argc, argv, 1, 10), n = argument(argc, argv, 2, 1024);
	double *mine = malloc((size_t)n * sizeof *mine), *sum = malloc((size_t)n * sizeof *sum);
	for (int i = 0; i < iterations; i++) {
		/* Element j of rank r is (r + j + i) mod 8: sums are exact in any order. */
		for (int j = 0; j < n; j++)
			mine[j] = (rank + i + j) % 8;
		gigarank_compute(0.5e-3 + 1e-5 * ((rank * 37 + i * 11) % 100));
		double start = MPI_Wtime();
		MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		gigarank_record(i, "allreduce", MPI_Wtime() - start);
		for (int j = 0; j < n && j < 8; j++) {
			int64_t want = size / 8 * 28;
			for (int r = 0; r < size % 8; r++)
				want += (r + i + j) % 8;
			expect("a sum", (int64_t)sum[j], want);
		}
	}
	if (rank == 0)
		printf("%d sums of %d doubles over %d ranks\n", iterations, n, size);
	free(mine);
	free(sum);
	return MPI_Finalize();
}
