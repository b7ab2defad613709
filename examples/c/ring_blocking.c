/* A token that counts its hops goes round the ring: ring_blocking [ROUNDS] */
#include "example.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int rounds = argument(argc, argv, 1, 10), left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int i = 0; i < rounds; i++) {
		double start = MPI_Wtime();
		int64_t out = (int64_t)i * size + rank, in = -1;
		if (size == 1)
			MPI_Sendrecv(&out, 1, MPI_INT64_T, 0, 0, &in, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else if (rank == 0) {
			MPI_Send(&out, 1, MPI_INT64_T, right, 0, MPI_COMM_WORLD);
			MPI_Recv(&in, 1, MPI_INT64_T, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&in, 1, MPI_INT64_T, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&out, 1, MPI_INT64_T, right, 0, MPI_COMM_WORLD);
		}
		gigarank_record(i, "round", MPI_Wtime() - start);
		expect("the number of hops", in, rank == 0 ? out + size - 1 : out - 1);
	}
	if (rank == 0)
		printf("%d rounds of %d hops\n", rounds, size);
	return MPI_Finalize();
}
