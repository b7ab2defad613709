/* The integral of 4/(1+x^2) from 0 to 1 on all ranks, by the midpoint rule: picalc [INTERVALS] */
#include "example.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	double start = MPI_Wtime(), share = 0, pi = 0;
	int64_t n = rank == 0 ? argument(argc, argv, 1, 100000) : 0, intervals = 0;
	MPI_Bcast(&n, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	double h = 1 / (double)n;
	for (int64_t i = rank; i < n; i += size, intervals++) {
		double x = h * ((double)i + 0.5);
		share += 4 / (1 + x * x);
	}
	share *= h;
	gigarank_compute((double)intervals * 5e-9);
	MPI_Reduce(&share, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	gigarank_record(0, "pi", MPI_Wtime() - start);
	if (rank == 0)
		printf("pi is %.10f with %lld intervals\n", pi, (long long)n);
	return MPI_Finalize();
}
