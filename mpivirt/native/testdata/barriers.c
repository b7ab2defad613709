/* Ranks wait in barriers at many places, with stacks that differ in size and in what they hold. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

/* Each level has numbers of its own, which must survive the barriers below it. */
static __attribute__((noinline)) long deeper(int level, int words) {
	volatile long own[24];
	long sum = 0;
	for (int i = 0; i < 24; i++)
		own[i] = i < words ? 1000L * rank + 10 * level + i : level;
	MPI_Barrier(MPI_COMM_WORLD);
	if (level > 0)
		sum = deeper(level - 1, words);
	else
		for (int i = 0; i < 5; i++)
			MPI_Barrier(i % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 24; i++)
		if (own[i] != (i < words ? 1000L * rank + 10 * level + i : level)) {
			printf("rank %d, level %d: number %d is %ld\n", rank, level, i, own[i]);
			exit(1);
		}
	return sum + own[0];
}

int main(int argc, char **argv) {
	long sum = 0, all = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int words = 0; words <= 24; words += 3) {
		int level = words % 4; /* stacks of some sizes, more than the simulator has models */
		sum += deeper(level, words);
		sum += deeper(5 + words % 2 * 40, rank % 2 ? words : 1); /* large ones, and unlike ones */
		if (rank % 3 == 0)
			MPI_Barrier(MPI_COMM_SELF);
	}
	MPI_Comm odd;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &odd);
	for (int i = 0; i < 3; i++)
		if (rank % 2)
			MPI_Barrier(odd);
	MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %ld\n", all);
	MPI_Barrier(MPI_COMM_WORLD);
	argv[0][0] = (char)('a' + rank % 26);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argv[0][0] != (char)('a' + rank % 26))
		exit(2);
	return MPI_Finalize();
}
