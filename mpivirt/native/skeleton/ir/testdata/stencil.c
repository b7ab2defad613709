/* A stencil on rows: exchanges with the neighbours, a loop nest, a reduction, a function that is inlined. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct grid {
	int columns, rows;
	double weight;
	double *now, *next;
};

static double sum(const double *row, int n) {
	double s = 0;
	for (int i = 0; i < n; i++)
		s += row[i];
	return s;
}

static void step(struct grid *g) {
	for (int j = 1; j <= g->rows; j++)
		for (int i = 1; i < g->columns - 1; i++) {
			const double *u = g->now + j * g->columns + i;
			g->next[j * g->columns + i] = g->weight * (u[-1] + u[1] + u[-g->columns] + u[g->columns]);
		}
	double *t = g->now;
	g->now = g->next;
	g->next = t;
}

static void exchange(struct grid *g, int up, int down) {
	int n = g->columns;
	MPI_Sendrecv(g->now + n, n, MPI_DOUBLE, up, 0, g->now + (g->rows + 1) * n, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(g->now + g->rows * n, n, MPI_DOUBLE, down, 1, g->now, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	struct grid g = {64, argc > 1 ? atoi(argv[1]) : 32, 0.25, NULL, NULL};
	size_t bytes = sizeof(double) * g.columns * (g.rows + 2);
	g.now = calloc(1, bytes);
	g.next = calloc(1, bytes);
	for (int n = 0; n < 10; n++) {
		exchange(&g, rank > 0 ? rank - 1 : MPI_PROC_NULL, rank < size - 1 ? rank + 1 : MPI_PROC_NULL);
		step(&g);
	}
	double own = sum(g.now + g.columns, g.columns), all;
	MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%g\n", all);
	free(g.now);
	free(g.next);
	MPI_Finalize();
	return 0;
}
