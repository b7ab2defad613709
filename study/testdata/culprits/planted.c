#include <gigarank.h>
#include <mpi.h>
#include <stdlib.h>

/*
 * Three faults in one program. Rank 11 computes three times as long as the others. Rank 40 feeds the ranks after it, and computes before it sends
 * where it could compute afterwards. All ranks send their results to rank 200 at the same time.
 */
enum { SLOW = 11, FEEDER = 40, FED = 24, COLLECTOR = 200, POINTS = 1000, RESULTS = 100000, STEPS = 4 };

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double *data = calloc(RESULTS, sizeof *data), residual = 1, sum;
	MPI_Request *requests = malloc(size * sizeof *requests);
	for (int step = 0; step < STEPS; step++) {
		gigarank_compute(rank == SLOW ? 15e-3 : 5e-3);
		MPI_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

		if (rank == FEEDER)
			gigarank_compute(10e-3);
		for (int to = FEEDER + 1; rank == FEEDER && to <= FEEDER + FED; to++)
			MPI_Send(data, POINTS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
		if (rank > FEEDER && rank <= FEEDER + FED)
			MPI_Recv(data, POINTS, MPI_DOUBLE, FEEDER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank != FEEDER)
			gigarank_compute(10e-3);

		int count = 0;
		for (int from = 0; rank == COLLECTOR && from < size; from++)
			if (from != rank)
				MPI_Irecv(data, RESULTS, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &requests[count++]);
		if (rank != COLLECTOR)
			MPI_Isend(data, RESULTS, MPI_DOUBLE, COLLECTOR, 1, MPI_COMM_WORLD, &requests[count++]);
		MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
	}
	return MPI_Finalize();
}
