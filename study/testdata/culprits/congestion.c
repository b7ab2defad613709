#include <gigarank.h>
#include <mpi.h>
#include <stdlib.h>

/* All ranks send to rank 200 at the same time, whose node has one interface. */
enum { COLLECTOR = 200, POINTS = 100000, STEPS = 3 };

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size, count = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double *data = calloc(POINTS, sizeof *data);
	MPI_Request *requests = malloc(size * sizeof *requests);
	for (int step = 0; step < STEPS; step++, count = 0) {
		gigarank_compute(1e-3);
		if (rank != COLLECTOR)
			MPI_Send(data, POINTS, MPI_DOUBLE, COLLECTOR, 0, MPI_COMM_WORLD);
		for (int source = 0; rank == COLLECTOR && source < size; source++)
			if (source != rank)
				MPI_Irecv(data, POINTS, MPI_DOUBLE, source, 0, MPI_COMM_WORLD, &requests[count++]);
		MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
