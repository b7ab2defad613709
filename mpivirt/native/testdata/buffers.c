/* Ranks wait in collectives whose buffers lie on their stacks or elsewhere, with stacks that differ in size and in what they hold. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void check(int holds, const char *what, int level, int i) {
	if (holds)
		return;
	printf("rank %d, level %d: %s %d\n", rank, level, what, i);
	exit(1);
}

/* Each level has numbers of its own, which must survive the collectives below it. */
static __attribute__((noinline)) long deeper(int level, int words, long *all, long *elsewhere) {
	volatile long own[24];
	long out[12], in[12], sum = 0;
	int root = level % size, blocks = 1 + level % 12; /* of 8 bytes: up to more than is kept beside the words */
	for (int i = 0; i < 24; i++)
		own[i] = i < words ? 1000L * rank + 10 * level + i : level;
	for (int i = 0; i < 12; i++)
		out[i] = 100L * rank + i, in[i] = -1;
	MPI_Gather(out, blocks, MPI_LONG, all, blocks, MPI_LONG, root, MPI_COMM_WORLD);
	for (int i = 0; rank == root && i < size * blocks; i++)
		check(all[i] == 100L * (i / blocks) + i % blocks, "gathered", level, i);
	MPI_Reduce(out, rank == root ? all : NULL, blocks, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
	for (int i = 0; rank == root && i < blocks; i++)
		check(all[i] == 50L * size * (size - 1) + (long)size * i, "sum", level, i);
	MPI_Reduce(out, rank == root ? in : NULL, blocks, MPI_LONG, MPI_MAX, root, MPI_COMM_WORLD);
	for (int i = 0; i < 12; i++)
		check(in[i] == (rank == root && i < blocks ? 100L * (size - 1) + i : -1), "greatest", level, i);
	if (level > 0)
		sum = deeper(level - 1, words, all, elsewhere);
	MPI_Allreduce(out, elsewhere, blocks, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
	for (int i = 0; i < blocks; i++)
		check(elsewhere[i] == i, "least", level, i);
	for (int i = 0; i < 12; i++)
		elsewhere[i] = rank == root ? level + i : -1, in[i] = elsewhere[i];
	MPI_Bcast(elsewhere, blocks, MPI_LONG, root, MPI_COMM_WORLD);
	MPI_Bcast(in, blocks, MPI_LONG, root, MPI_COMM_WORLD);
	for (int i = 0; i < blocks; i++)
		check(elsewhere[i] == level + i && in[i] == level + i, "cast", level, i);
	for (int i = 0; rank == root && i < size * blocks; i++)
		all[i] = 7 * i;
	MPI_Scatter(all, blocks, MPI_LONG, elsewhere, blocks, MPI_LONG, root, MPI_COMM_WORLD);
	MPI_Scatter(all, blocks, MPI_LONG, in, blocks, MPI_LONG, root, MPI_COMM_WORLD);
	for (int i = 0; i < blocks; i++)
		check(elsewhere[i] == 7L * (rank * blocks + i) && in[i] == elsewhere[i], "scattered", level, i);
	for (int i = 0; i < 24; i++)
		check(own[i] == (i < words ? 1000L * rank + 10 * level + i : level), "number", level, i);
	for (int i = 0; i < 12; i++)
		check(out[i] == 100L * rank + i, "sent", level, i);
	return sum + own[0];
}

int main(int argc, char **argv) {
	long sum = 0, total = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	long *all = malloc(12 * sizeof *all * (size_t)size), *elsewhere = malloc(12 * sizeof *elsewhere);
	for (int words = 0; words <= 24; words += 4) {
		sum += deeper(words % 3 * 5, words, all, elsewhere); /* stacks of some sizes, more than the simulator has models */
		sum += deeper(1, rank % 2 ? words : 1, all, elsewhere); /* unlike ones */
		if (rank % 3 == 0)
			MPI_Barrier(MPI_COMM_SELF);
	}
	MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %d\n", total > 0);
	free(all), free(elsewhere);
	MPI_Finalize();
	return 0;
}
