/* Every rank sends to the right and receives from the left, at once: ring_nonblocking [ITERATIONS] */
#include "example.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int iterations = argument(argc, argv, 1, 10), left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int i = 0; i < iterations; i++) {
		double start = MPI_Wtime();
		int64_t out = ring_number(rank, i), in = -1;
		MPI_Request requests[2];
		MPI_Irecv(&in, 1, MPI_INT64_T, left, 0, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&out, 1, MPI_INT64_T, right, 0, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		expect("the number from the left", in, ring_number(left, i));
		gigarank_record(i, "ring", MPI_Wtime() - start);
	}
	if (rank == 0)
		printf("%d messages from each of %d ranks\n", iterations, size);
	return MPI_Finalize();
}
