/* Each rank has settings of OpenMP of its own and a team of its own, also while it waits in MPI with a region open. A bit of
 * the number that a rank prints is a fault. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 200 };

static int rank, size, faults, global, private;
#pragma omp threadprivate(private)

static void check(int right, int bit) {
	if (!right)
#pragma omp atomic
		faults |= 1 << bit;
}

/* OpenMP 5.2, 2.2: a process has settings of its own. */
static void settings(void) {
	omp_sched_t kind, mine = rank % 2 ? omp_sched_dynamic : omp_sched_guided;
	int chunk, team = 0;
	omp_set_num_threads(2 + rank % 3);
	omp_set_dynamic(rank % 2);
	omp_set_max_active_levels(1 + rank % 4);
	omp_set_schedule(mine, 3 + rank);
	MPI_Barrier(MPI_COMM_WORLD);
	omp_get_schedule(&kind, &chunk);
	check(kind == mine && chunk == 3 + rank, 0);
	check(omp_get_dynamic() == rank % 2, 1);
	check(omp_get_max_active_levels() == 1 + rank % 4, 2);
	omp_set_dynamic(0);
#pragma omp parallel
#pragma omp atomic
	team++;
	check(team == 2 + rank % 3, 3);
}

/* OpenMP 5.2, 5.2: the threads of two regions one after another keep their private variables. */
static void privates(void) {
#pragma omp parallel
	private = 100 * rank + omp_get_thread_num();
	MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel
	check(private == 100 * rank + omp_get_thread_num(), 4);
}

/* MPI 4.1, 11.6.2: the main thread calls MPI, while the others compute. */
static void funneled(void) {
	int team = 0, all = 0, sum = 0, want = 0;
#pragma omp parallel
	{
#pragma omp atomic
		team++;
#pragma omp barrier
#pragma omp master
		MPI_Allreduce(&team, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (omp_get_thread_num())
			for (int i = 0; i < 1000; i++)
#pragma omp atomic
				global++;
#pragma omp barrier
#pragma omp atomic
		sum += all;
	}
	for (int i = 0; i < size; i++)
		want += 2 + i % 3;
	check(all == want && sum == all * team, 5);
	check(global == 1000 * (1 + rank % 3), 6);
}

static void critical(void) {
	int entered = 0, from = -1;
#pragma omp parallel
	{
#pragma omp master
#pragma omp critical
		{
			global = rank;
			MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			check(global == rank, 7);
		}
#pragma omp critical
		entered++;
	}
	check(from == (rank + size - 1) % size && entered == 2 + rank % 3, 8);
}

static void tasks(void) {
	int *done = calloc(TASKS, sizeof *done);
#pragma omp parallel
#pragma omp master
	{
		for (int i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i)
			done[i] = i + rank;
		MPI_Barrier(MPI_COMM_WORLD);
#pragma omp taskwait
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int i = 0; i < TASKS; i++)
		check(done[i] == i + rank, 9);
	free(done);
}

static void nested(void) {
	int inner = 0, received = -1;
	MPI_Request request;
	MPI_Irecv(&received, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, &request);
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
#pragma omp atomic
		inner++;
#pragma omp master
		{
			MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	}
	check(received == (rank + 1) % size, 10);
	check(inner == (rank % 4 ? 4 : 2), 11);
}

int main(int argc, char **argv) {
	int provided, closed = argc > 1 && strcmp(argv[1], "closed") == 0;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	settings();
	privates();
	if (!closed)
		funneled(), critical(), tasks(), nested();
	printf("%d faults %x\n", rank, faults);
	return MPI_Finalize();
}
