/* Ranks send, print and receive. With an argument they compute for long on the host between these calls, which takes no virtual time. */
#include <mpi.h>
#include <stdio.h>

static void compute(int long_) {
	for (volatile long i = 0; i < (long_ ? 300000 : 1); i++)
		;
}

int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int round = 0; round < 8; round++) {
		int in = -1, next = (rank + 1 + round) % size, last = (rank + 2 * size - 1 - round) % size;
		compute(argc > 1);
		MPI_Send(&rank, 1, MPI_INT, next, round, MPI_COMM_WORLD);
		printf("rank %d has sent in round %d\n", rank, round);
		MPI_Recv(&in, 1, MPI_INT, last, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		compute(argc > 1);
		printf("rank %d has received %d\n", rank, in);
	}
	MPI_Finalize();
	return 0;
}
