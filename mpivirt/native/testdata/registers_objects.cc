/* Objects are registered in a library before main. Each rank finds its own alone. */
#include <mpi.h>
#include <cstdio>

#include "registry.h"

static struct object {
	int *mine = new int(-1), *first = registered("object", mine);
} one;

int main(int argc, char **argv) {
	int rank, wrong = 0, all = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	*one.mine = rank;
	MPI_Barrier(MPI_COMM_WORLD);
	int *other = new int(rank);
	wrong += one.first != one.mine || *one.first != rank;
	wrong += registered("object", other) != one.mine || registered("other", other) != other;
	wrong += registrations() != 3;
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		std::printf("%d wrong\n", all);
	MPI_Finalize();
}
