/* Random messages, short and long, around a random ring in each step, from the heap, the stack, variables and
 * thread-local ones, beside a reduction by an operation of the program. Each sender overwrites what it has sent as
 * soon as its call is over. Arguments: a seed and the number of steps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = 300000, count = 20000 };

static char variables[2 * longest];
static _Thread_local char own[longest];
static int ones[count], sums[count];
static unsigned long state;

/* The same on all ranks. */
static int below(int n) {
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (int)((state >> 33) % (unsigned)n);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void fail(const char *what, int step, int i) {
	printf("step %d: %s is wrong at %d\n", step, what, i);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	state = strtoul(argv[1], NULL, 10);
	MPI_Op sum;
	MPI_Op_create(add, 1, &sum);
	for (int i = 0; i < count; i++)
		ones[i] = 1;
	static const int sizes[] = {100, 5000, 16383, 16384, 16385, 40001, 131072, longest};
	char *heap = malloc(longest), *in = malloc(longest), stack[longest], *places[] = {heap, stack, variables + 5, own};
	int *ring = malloc(size * sizeof *ring), place = 0;
	MPI_Request reduction = MPI_REQUEST_NULL, request;
	for (int step = 0; step < atoi(argv[2]); step++) {
		for (int i = 0; i < size; i++) {
			int j = below(i + 1);
			ring[i] = ring[j];
			ring[j] = i;
		}
		for (int i = 0; i < size; i++)
			if (ring[i] == rank)
				place = i;
		int to = ring[(place + 1) % size], from = ring[(place + size - 1) % size], n = sizes[below(8)];
		int source = below(3) ? from : MPI_ANY_SOURCE;
		char *out = places[below(4)];
		for (int i = 0; i < n; i++)
			out[i] = (char)(rank + step + i % 7);
		if (reduction == MPI_REQUEST_NULL && below(4) == 0)
			MPI_Iallreduce(ones, sums, count, MPI_INT, sum, MPI_COMM_WORLD, &reduction);
		switch (below(5)) {
		case 0:
			MPI_Sendrecv(out, n, MPI_BYTE, to, step, in, n, MPI_BYTE, source, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			break;
		case 1:
			MPI_Sendrecv_replace(out, n, MPI_BYTE, to, step, source, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			memcpy(in, out, n);
			break;
		case 2:
			MPI_Irecv(in, n, MPI_BYTE, source, step, MPI_COMM_WORLD, &request);
			MPI_Send(out, n, MPI_BYTE, to, step, MPI_COMM_WORLD);
			memset(out, -1, n);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			break;
		case 3:
			MPI_Isend(out, n, MPI_BYTE, to, step, MPI_COMM_WORLD, &request);
			MPI_Recv(in, n, MPI_BYTE, source, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			break;
		case 4: /* the first of the ring sends at first, and the others answer one after another */
			if (place == 0)
				MPI_Ssend(out, n, MPI_BYTE, to, step, MPI_COMM_WORLD);
			MPI_Recv(in, n, MPI_BYTE, source, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (place != 0)
				MPI_Ssend(out, n, MPI_BYTE, to, step, MPI_COMM_WORLD);
			break;
		}
		memset(out, -1, n);
		for (int i = 0; i < n; i++)
			if (in[i] != (char)(from + step + i % 7))
				fail("a message", step, i);
		if (reduction != MPI_REQUEST_NULL && below(2)) {
			MPI_Wait(&reduction, MPI_STATUS_IGNORE);
			for (int i = 0; i < count; i++)
				if (sums[i] != size)
					fail("a sum", step, i);
		}
	}
	MPI_Wait(&reduction, MPI_STATUS_IGNORE);
	if (rank == 0)
		puts("all came");
	MPI_Finalize();
}
