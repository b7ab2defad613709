/* Ranks poll for messages that come sooner or later: by the same poll again and again, by two polls in turn, with computing and
 * clock readings in between. They print how often they have polled, and the time after each loop. */
#include <gigarank.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int way = 0; way < 12; way++) {
		int out = 100 * rank + way, in = -1, there = 0, polls = 0, other = 0;
		double seen = 0;
		MPI_Request request = MPI_REQUEST_NULL, sent;
		MPI_Status status;
		if (way % 3 == 1)
			MPI_Irecv(&in, 1, MPI_INT, left, way, MPI_COMM_WORLD, &request);
		gigarank_compute((rank * 7 + way * 5) % 11 * 3e-6);
		MPI_Isend(&out, 1, MPI_INT, right, way, MPI_COMM_WORLD, &sent);
		for (; !there; polls++) {
			if (way % 3 == 1)
				MPI_Test(&request, &there, &status);
			else
				MPI_Iprobe(way % 3 ? MPI_ANY_SOURCE : left, way, MPI_COMM_WORLD, &there, &status);
			if (way / 3 == 1)
				MPI_Iprobe(right, 99, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
			if (way / 3 == 2 && polls % 4 == 3)
				gigarank_compute(250e-9);
			if (way / 3 == 3 && polls % 5 == 2)
				seen += MPI_Wtime();
		}
		double end = MPI_Wtime();
		if (way % 3 != 1)
			MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, way, MPI_COMM_WORLD, &status);
		MPI_Wait(&sent, MPI_STATUS_IGNORE);
		printf("rank %d, way %d: %d polls until %.12f, number %d, clocks %.12f\n", rank, way, polls, end, in, seen);
	}
	MPI_Finalize();
	return 0;
}
