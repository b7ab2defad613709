#include <gigarank.h>
#include <mpi.h>

/* Ranks in a ring exchange halos, and sum a residual up in each fifth step. Rank 11 computes five times as long as the others. */
enum { POINTS = 500, STEPS = 10 };

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double mine[POINTS] = {0}, left[POINTS], right[POINTS], residual = 1, sum;
	int before = (rank + size - 1) % size, after = (rank + 1) % size;
	for (int step = 1; step <= STEPS; step++) {
		gigarank_compute(rank == 11 ? 5e-3 : 1e-3);
		MPI_Request requests[4];
		MPI_Irecv(left, POINTS, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(right, POINTS, MPI_DOUBLE, after, 1, MPI_COMM_WORLD, &requests[1]);
		MPI_Isend(mine, POINTS, MPI_DOUBLE, after, 0, MPI_COMM_WORLD, &requests[2]);
		MPI_Isend(mine, POINTS, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[3]);
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		if (step % 5 == 0)
			MPI_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
