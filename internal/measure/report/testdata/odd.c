/* Workloads whose costs on the host have stood out. The first argument names the workload, the second is the number of
 * its repetitions. All ranks check what they receive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, left, right;

static void check(int right_value, const char *what) {
	if (right_value)
		return;
	fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void barrier(int times) {
	while (times-- > 0)
		MPI_Barrier(MPI_COMM_WORLD);
}

static void ring(int times) {
	while (times-- > 0) {
		long out = rank, in = -1;
		MPI_Send(&out, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
		MPI_Recv(&in, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		check(in == left, "the number of the left rank");
	}
}

/* A rank exchanges with both neighbours, by requests. */
static void halo(int times) {
	while (times-- > 0) {
		long out = rank, in[2] = {-1, -1};
		MPI_Request requests[4];
		MPI_Irecv(&in[0], 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&in[1], 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[1]);
		MPI_Isend(&out, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[2]);
		MPI_Isend(&out, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[3]);
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		check(in[0] == left && in[1] == right, "a number of a neighbour");
	}
}

/* A rank exchanges with ten ranks on each side, by requests. */
static void neighbours(int times) {
	enum { n = 20 };
	while (times-- > 0) {
		long out = rank, in[n];
		MPI_Request requests[2 * n];
		int partner[n];
		for (int i = 0; i < n; i++) {
			partner[i] = (rank + size + (i < n / 2 ? i - n / 2 : i - n / 2 + 1)) % size;
			MPI_Irecv(&in[i], 1, MPI_LONG, partner[i], 0, MPI_COMM_WORLD, &requests[i]);
		}
		for (int i = 0; i < n; i++)
			MPI_Isend(&out, 1, MPI_LONG, partner[i], 0, MPI_COMM_WORLD, &requests[n + i]);
		MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
		for (int i = 0; i < n; i++)
			check(in[i] == partner[i], "a number of a neighbour");
	}
}

/* A rank probes in a loop until the message is there. */
static void iprobe(int times) {
	while (times-- > 0) {
		long out = rank, in = -1;
		int there = 0;
		MPI_Status status;
		MPI_Send(&out, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
		while (!there)
			MPI_Iprobe(left, 0, MPI_COMM_WORLD, &there, &status);
		MPI_Recv(&in, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		check(in == left, "the number of the left rank");
	}
}

/* A rank tests a receive in a loop until the message is there. */
static void test(int times) {
	while (times-- > 0) {
		long out = rank, in = -1;
		int there = 0;
		MPI_Request request;
		MPI_Irecv(&in, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &request);
		MPI_Send(&out, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
		while (!there)
			MPI_Test(&request, &there, MPI_STATUS_IGNORE);
		check(in == left, "the number of the left rank");
	}
}

static void *memory(size_t bytes) {
	void *m = calloc(bytes + 1, 1);
	check(m != NULL, "the memory");
	return m;
}

static void allreduce(int times) {
	enum { n = 1024 };
	double *in = memory(n * sizeof *in), *out = memory(n * sizeof *out);
	for (int i = 0; i < n; i++)
		in[i] = i;
	while (times-- > 0) {
		MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		check(out[n - 1] == (double)(n - 1) * size, "the sum");
	}
	free(in), free(out);
}

static void gather(int times) {
	long out = rank, *in = rank ? NULL : memory(size * sizeof *in);
	while (times-- > 0) {
		MPI_Gather(&out, 1, MPI_LONG, in, 1, MPI_LONG, 0, MPI_COMM_WORLD);
		check(rank || in[size - 1] == size - 1, "the number of the last rank");
	}
	free(in);
}

static void alltoall(int times) {
	long *out = memory(size * sizeof *out), *in = memory(size * sizeof *in);
	for (int i = 0; i < size; i++)
		out[i] = rank;
	while (times-- > 0) {
		MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
		check(in[left] == left, "the number of the left rank");
	}
	free(out), free(in);
}

/* Every rank has blocks for the next ranks, so many of them, and none for the others. */
static void exchange(int times, int blocks) {
	long *out = memory(blocks * sizeof *out), *in = memory(blocks * sizeof *in);
	int *counts = memory(4 * size * sizeof *counts), *begins = counts + size, *from = begins + size, *at = from + size;
	for (int i = 0; i < blocks; i++) {
		int to = (rank + 1 + i) % size, source = (rank - 1 - i + 2 * size) % size;
		out[i] = rank, counts[to] = 1, begins[to] = i, from[source] = 1, at[source] = i;
	}
	while (times-- > 0) {
		MPI_Alltoallv(out, counts, begins, MPI_LONG, in, from, at, MPI_LONG, MPI_COMM_WORLD);
		check(in[0] == left && in[blocks - 1] == (rank - blocks + 2 * size) % size, "a number of another rank");
	}
	free(counts), free(out), free(in);
}

static void alltoallv(int times) { exchange(times, size); }

static void sparse(int times) { exchange(times, size < 16 ? size : 16); }

static const struct {
	const char *name;
	void (*run)(int times);
} workloads[] = {
	{"barrier", barrier}, {"ring", ring}, {"halo", halo}, {"neighbours", neighbours}, {"iprobe", iprobe}, {"test", test},
	{"allreduce", allreduce}, {"gather", gather}, {"alltoall", alltoall}, {"alltoallv", alltoallv}, {"sparse", sparse},
};

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size, right = (rank + 1) % size;
	check(argc == 3, "the number of arguments");
	for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
		if (!strcmp(argv[1], workloads[i].name)) {
			workloads[i].run(atoi(argv[2]));
			MPI_Finalize();
			return 0;
		}
	check(0, "the name of the workload");
	return 1;
}
