/* Messages of growing size go there and back between neighbours in the ring of all ranks:
 * mpiping [GREATEST SIZE [REPETITIONS]]. Times go into the statistics of the run, not into the
 * output. */
#include "example.h"

static char *out, *in;

/* ping sends a message to another rank and gets it back. */
static void ping(int bytes, int step, int other) {
	for (int i = 0; i < bytes; i++)
		out[i] = (char)(i * 7 + step);
	MPI_Send(out, bytes, MPI_CHAR, other, step, MPI_COMM_WORLD);
	MPI_Recv(in, bytes, MPI_CHAR, other, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect("the first difference of a message", memcmp(out, in, (size_t)bytes), 0);
}

static void answer(int bytes, int step, int other) {
	MPI_Recv(in, bytes, MPI_CHAR, other, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(in, bytes, MPI_CHAR, other, step, MPI_COMM_WORLD);
}

/* phase_of returns the phase in which a rank begins: none has two partners at a time. */
static int phase_of(int r) { return size % 2 && r == size - 1 ? 2 : r % 2; }

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int greatest = argument(argc, argv, 1, 1 << 20), repetitions = argument(argc, argv, 2, 10);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	out = malloc((size_t)greatest), in = malloc((size_t)greatest);
	for (int bytes = 8, step = 0; size > 1 && bytes <= greatest; bytes *= 2, step++) {
		char name[32];
		snprintf(name, sizeof name, "%d B", bytes);
		for (int phase = 0; phase < 2 + size % 2; phase++) {
			MPI_Barrier(MPI_COMM_WORLD);
			double start = MPI_Wtime();
			for (int i = 0; i < repetitions; i++)
				if (phase_of(rank) == phase)
					ping(bytes, step, right);
				else if (phase_of(left) == phase)
					answer(bytes, step, left);
			if (phase_of(rank) == phase)
				gigarank_record(step, name, (MPI_Wtime() - start) / repetitions);
		}
		if (rank == 0)
			printf("%d messages of %d bytes came back to each rank\n", repetitions, bytes);
	}
	free(out);
	free(in);
	return MPI_Finalize();
}
