/* Ranks exchange short messages in ways that are drawn: the first argument is the seed. All ranks draw the lengths of messages alike; each draws by
 * itself how it sends, receives, waits and computes. A rank checks what it receives, and prints the times that it has seen. */
#include <gigarank.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, MOST = 6, LONGEST = 600 };

static int rank, size;
static unsigned long seed;
static char variables[MOST][LONGEST]; /* a rank receives there, too */

static unsigned draw(unsigned round, unsigned which, unsigned who, unsigned n) {
	unsigned long x = seed * 1000003 + round * 8191ul + which * 131ul + who * 524287ul;
	x ^= x >> 33, x *= 0xff51afd7ed558ccdul, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53ul, x ^= x >> 33;
	return (unsigned)(x % n);
}

static void fail(const char *what, int round) {
	fprintf(stderr, "rank %d, round %d: %s is wrong\n", rank, round, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void look(int round, int at, double *times) {
	switch (draw(round, 40 + at, rank + 1, 6)) {
	case 0: *times += MPI_Wtime(); break;
	case 1: gigarank_compute(1e-6 * (1 + rank)); break;
	case 2: gigarank_compute(1e-7), *times += MPI_Wtime(), gigarank_compute(1e-7); break;
	}
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	seed = strtoul(argv[1], NULL, 10);
	MPI_Comm other;
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
	double times = 0;
	for (int round = 0; round < ROUNDS; round++) {
		char stack[MOST][LONGEST], *heap = malloc(MOST * LONGEST), sent[LONGEST];
		MPI_Request receives[MOST], sends[MOST];
		MPI_Datatype pairs;
		MPI_Type_vector(LONGEST / 4, 2, 4, MPI_BYTE, &pairs); /* every other pair of bytes */
		MPI_Type_commit(&pairs);
		int n = 1 + (int)draw(round, 0, 0, MOST);
		for (int i = 0; i < n; i++) {
			receives[i] = sends[i] = MPI_REQUEST_NULL;
			int length = (int)draw(round, 1 + i, 0, LONGEST + 1), from = (rank + size - (int)draw(round, 10 + i, 0, size)) % size, in_other = (int)draw(round, 20 + i, 0, 3) == 0;
			char *to = draw(round, 30 + i, rank + 1, 3) == 0 ? stack[i] : draw(round, 30 + i, rank + 1, 3) == 1 ? variables[i] : heap + i * LONGEST;
			if (draw(round, 50 + i, rank + 1, 3) == 0 || from == rank)
				continue; /* received later */
			int source = draw(round, 60 + i, rank + 1, 4) == 0 ? MPI_ANY_SOURCE : in_other ? size - 1 - from : from;
			MPI_Irecv(to, length, MPI_BYTE, source, 100 * round + i, in_other ? other : MPI_COMM_WORLD, &receives[i]);
			look(round, i, &times);
		}
		for (int i = 0; i < n; i++) {
			int length = (int)draw(round, 1 + i, 0, LONGEST + 1), shift = (int)draw(round, 10 + i, 0, size), to = (rank + shift) % size, in_other = (int)draw(round, 20 + i, 0, 3) == 0;
			int dest = in_other ? size - 1 - to : to, tag = 100 * round + i;
			MPI_Comm comm = in_other ? other : MPI_COMM_WORLD;
			memset(sent, rank + round + i, sizeof sent);
			if (shift) {
				int flag = 0;
				switch (draw(round, 70 + i, rank + 1, 5)) {
				case 0:
					MPI_Send(sent, length, MPI_BYTE, dest, tag, comm);
					break;
				case 1:
					MPI_Isend(sent, length, MPI_BYTE, dest, tag, comm, &sends[i]);
					MPI_Request_get_status(sends[i], &flag, MPI_STATUS_IGNORE);
					break;
				case 2:
					MPI_Send_init(sent, length, MPI_BYTE, dest, tag, comm, &sends[i]);
					MPI_Start(&sends[i]);
					MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
					MPI_Request_free(&sends[i]);
					break;
				case 3:
					MPI_Isend(sent, length, MPI_BYTE, dest, tag, comm, &sends[i]);
					MPI_Request_free(&sends[i]);
					break;
				case 4:
					MPI_Isend(sent, length, MPI_BYTE, dest, tag, comm, &sends[i]);
					MPI_Test(&sends[i], &flag, MPI_STATUS_IGNORE);
					break;
				}
				if (flag && sends[i] != MPI_REQUEST_NULL)
					MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
			}
			if (sends[i] != MPI_REQUEST_NULL)
				MPI_Wait(&sends[i], MPI_STATUS_IGNORE); /* the memory is used again */
			look(round, 8 + i, &times);
		}
		MPI_Request to_self = MPI_REQUEST_NULL; /* half of the bytes, through a type with gaps */
		char gaps[LONGEST];
		memset(gaps, 0, sizeof gaps);
		memset(sent, round, sizeof sent);
		MPI_Irecv(gaps, 1, pairs, rank, 9999, MPI_COMM_WORLD, &to_self);
		MPI_Send(sent, 1, pairs, rank, 9999, MPI_COMM_WORLD);
		for (int i = 0; i < n; i++) {
			MPI_Status status;
			int length = (int)draw(round, 1 + i, 0, LONGEST + 1), from = (rank + size - (int)draw(round, 10 + i, 0, size)) % size, in_other = (int)draw(round, 20 + i, 0, 3) == 0;
			char *to = draw(round, 30 + i, rank + 1, 3) == 0 ? stack[i] : draw(round, 30 + i, rank + 1, 3) == 1 ? variables[i] : heap + i * LONGEST;
			int source = in_other ? size - 1 - from : from, got, flag = 0, index = 0;
			if (from == rank)
				continue;
			if (receives[i] == MPI_REQUEST_NULL)
				MPI_Recv(to, length, MPI_BYTE, source, 100 * round + i, in_other ? other : MPI_COMM_WORLD, &status);
			else
				switch (draw(round, 80 + i, rank + 1, 3)) {
				case 0: MPI_Wait(&receives[i], &status); break;
				case 1: MPI_Waitany(1, &receives[i], &index, &status); break;
				case 2:
					while (!flag)
						MPI_Test(&receives[i], &flag, &status);
					break;
				}
			MPI_Get_count(&status, MPI_BYTE, &got);
			if (got != length || status.MPI_SOURCE != source)
				fail("the length or source", round);
			for (int k = 0; k < length; k++)
				if (to[k] != (char)(from + round + i))
					fail("a byte", round);
		}
		MPI_Wait(&to_self, MPI_STATUS_IGNORE);
		for (int k = 0; k < LONGEST; k++)
			if (gaps[k] != (k % 4 < 2 ? round : 0))
				fail("a byte of a type with gaps", round);
		MPI_Type_free(&pairs);
		free(heap);
		if (draw(round, 90, 0, 3) == 0)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int i = 0; i < size; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (i == rank)
			printf("%d: %.12f %.12f\n", rank, MPI_Wtime(), times);
	}
	MPI_Comm_free(&other);
	return MPI_Finalize();
}
