#include <gigarank.h>
#include <mpi.h>

/* Each rank hands data on to the next rank, and computes. Rank 5 computes before it sends, the others after it. */
enum { POINTS = 1000, STEPS = 10 };

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double data[POINTS] = {0};
	for (int step = 0; step < STEPS; step++) {
		if (rank > 0)
			MPI_Recv(data, POINTS, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 5)
			gigarank_compute(4e-3);
		if (rank + 1 < size)
			MPI_Send(data, POINTS, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
		if (rank != 5)
			gigarank_compute(4e-3);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
