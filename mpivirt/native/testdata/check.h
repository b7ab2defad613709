/* What the self-checking programs share. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, failures, checks;

#define CHECK(condition) \
	do { \
		checks++; \
		if (!(condition)) { \
			failures++; \
			printf("rank %d of %d, line %d: not so: %s\n", rank, size, __LINE__, #condition); \
		} \
	} while (0)

static void begin(int *argc, char ***argv) {
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* finish prints, on rank 0, how many checks were made by all ranks. */
static int finish(const char *name) {
	int mine[2] = {checks, failures}, all[2] = {0, 0};
	MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s: %d checks on %d ranks, %d failed\n", name, all[0], size, all[1]);
	MPI_Finalize();
	return all[1] != 0;
}
