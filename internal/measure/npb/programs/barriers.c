/* All ranks compute for a microsecond, then meet in a barrier: barriers ITERATIONS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef SMPI
#define compute smpi_execute
#else
#include <gigarank.h>
#define compute gigarank_compute
#endif

int main(int argc, char **argv) {
	int iterations = argc > 1 ? atoi(argv[1]) : 10, rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < iterations; i++) {
		compute(1e-6);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("Verification Successful\n");
	return MPI_Finalize();
}
