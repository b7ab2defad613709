/* Pairs exchange messages by synchronous sends, without a deadlock: deadlock_fix [ITERATIONS] */
#include "example.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int iterations = argument(argc, argv, 1, 10), other = rank ^ 1;
	for (int i = 0; other < size && i < iterations; i++) {
		double start = MPI_Wtime();
		int64_t out = ring_number(rank, i), in = -1;
		MPI_Request request;
		MPI_Issend(&out, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD, &request);
		MPI_Recv(&in, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		expect("the partner's number", in, ring_number(other, i));
		gigarank_record(i, "exchange", MPI_Wtime() - start);
	}
	if (rank == 0)
		printf("%d exchanges in each of %d pairs\n", iterations, size / 2);
	return MPI_Finalize();
}
