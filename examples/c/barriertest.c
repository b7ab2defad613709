/* All ranks compute for a millisecond, then meet in a barrier: barriertest [ITERATIONS [MICROSECONDS]] */
#include "example.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int iterations = argument(argc, argv, 1, 10);
	double compute = argument(argc, argv, 2, 1000) * 1e-6;
	for (int i = 0; i < iterations; i++) {
		gigarank_compute(compute);
		double start = MPI_Wtime();
		MPI_Barrier(MPI_COMM_WORLD);
		gigarank_record(i, "barrier", MPI_Wtime() - start);
	}
	if (rank == 0)
		printf("%d barriers of %d ranks\n", iterations, size);
	return MPI_Finalize();
}
