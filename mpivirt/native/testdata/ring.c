/* A token goes round the ring and counts its hops. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank, size, token = 0;
	MPI_Status status;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	if (rank == 0) {
		MPI_Send(&token, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &status);
		printf("%d hops with %d arguments; the last from %d with tag %d\n", token + 1, argc - 1, status.MPI_SOURCE, status.MPI_TAG);
	} else {
		MPI_Recv(&token, 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		token++;
		MPI_Send(&token, 1, MPI_INT, right, status.MPI_TAG, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
