/* Ranks that communicate, write and come to an end as a seed draws: program SEED DIRECTORY. A line that a rank
 * writes ends with its rank and the virtual time in picoseconds; likewise in its file DIRECTORY/RANK. */
#include "gigarank.h"
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long seed;
static int rank, size;
static FILE *file;

/* draw returns a number below n for three that name a choice. */
static int draw(int what, int a, int b, int n) {
	unsigned long x = seed * 0x9e3779b97f4a7c15ul + (unsigned long)what * 0xbf58476d1ce4e5b9ul + (unsigned long)a * 0x94d049bb133111ebul + (unsigned long)b * 0xd6e8feb86659fd93ul;
	for (int i = 0; i < 3; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ul;
	return (int)((x >> 33) % (unsigned long)n);
}

enum { WORLD, STEPS, KIND, OPERATION, COMPUTE, SAYS, HALF, KEEPS, FAILS, FAILING, AT, HOW, CODE, AFTER, WITH, SLEEPS, ROOT, LEAVES };

static long long now(void) { return (long long)(MPI_Wtime() * 1e12 + 0.5); }

static void say(const char *text, int number) { printf("%s %d %d %lld\n", text, number, rank, now()); }

static void keep(int number) {
	if (file)
		fprintf(file, "kept %d %d %lld\n", number, rank, now());
}

static void at_exit(void) { say("exit", 0); }

/* end comes to an end at once, in one of the ways in which a program fails. */
static void end(int how, int code) {
	switch (how) {
	case 0: exit(code);
	case 1: _exit(code);
	case 2: quick_exit(code);
	case 3: abort();
	case 4: raise(SIGSEGV); break;
	case 5: *(volatile int *)(8L * size) = 1; break;
	case 6: MPI_Abort(MPI_COMM_WORLD, code); break;
	case 7: MPI_Send(&code, 1, MPI_INT, 9999, 0, MPI_COMM_WORLD); break;
	case 8: MPI_Recv(&code, 1, MPI_INT, rank, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
	case 9: pthread_exit(NULL);
	}
}

static void communicate(int step, MPI_Comm comm) {
	int one = rank, all = 0, root = draw(ROOT, step, 0, size);
	switch (draw(OPERATION, step, 0, 7)) {
	case 0: MPI_Barrier(comm); break;
	case 1: MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm); break;
	case 2: MPI_Reduce(&one, &all, 1, MPI_INT, MPI_SUM, root, comm); break;
	case 3: MPI_Bcast(&one, 1, MPI_INT, root, comm); break;
	case 4: MPI_Sendrecv(&one, 1, MPI_INT, (rank + 1) % size, step, &all, 1, MPI_INT, (rank + size - 1) % size, step, comm, MPI_STATUS_IGNORE); break;
	case 5:
		if (rank != root)
			MPI_Send(&one, 1, MPI_INT, root, step, comm);
		for (int i = 0; rank == root && i < size - 1; i++) {
			MPI_Recv(&all, 1, MPI_INT, MPI_ANY_SOURCE, step, comm, MPI_STATUS_IGNORE);
			say("from", all);
		}
	}
}

static void compute(int step) {
	if (draw(COMPUTE, step, rank, 3))
		gigarank_compute(1e-7 * draw(COMPUTE, step, rank + size, 100));
}

int main(int argc, char **argv) {
	MPI_Session session = MPI_SESSION_NULL;
	MPI_Comm comm = MPI_COMM_WORLD;
	seed = strtoul(argv[1], NULL, 10);
	rank = getpid() - 100; /* gigarank's number of the process */
	size = atoi(argv[3]);
	char path[4096];
	snprintf(path, sizeof path, "%s/%d", argv[2], rank);
	if (draw(KEEPS, 0, rank, 2))
		file = fopen(path, "w");
	if (draw(LEAVES, 0, rank, 2))
		atexit(at_exit);
	int world = draw(WORLD, 0, 0, 8), fails = draw(FAILS, 0, 0, 2) == 0;
	if (world == 0) { /* without MPI */
		say("alone", 0);
		return draw(CODE, 0, rank, 3);
	}
	if (world == 1) {
		MPI_Group group;
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
		MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
		MPI_Comm_create_from_group(group, "endings", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
		MPI_Group_free(&group);
	} else
		MPI_Init(&argc, &argv);
	int steps = 1 + draw(STEPS, 0, 0, 6);
	for (int step = 0; step < steps; step++) {
		compute(step);
		if (draw(HALF, step, rank, 6) == 0)
			printf("half ");
		if (draw(SAYS, step, rank, 2))
			say("step", step);
		keep(step);
		if (fails && draw(FAILING, 0, rank, 3) == 0 && draw(AT, 0, rank, steps) == step) {
			say("fails", step);
			end(draw(HOW, 0, rank, 10), 1 + draw(CODE, 0, rank, 4));
		}
		communicate(step, comm);
	}
	compute(steps);
	say("last", 0);
	keep(steps);
	if (session != MPI_SESSION_NULL) {
		MPI_Comm_free(&comm);
		MPI_Session_finalize(&session);
	} else
		MPI_Finalize();
	if (draw(SLEEPS, 0, rank, 3) == 0)
		usleep((useconds_t)draw(SLEEPS, 0, rank + size, 50));
	say("after", 0);
	keep(steps + 1);
	if (draw(AFTER, 0, 0, 3) && draw(AFTER, 0, rank, 2))
		end(draw(HOW, 1, rank, 8), draw(WITH, 0, 0, 3)); /* 6 and 7: calls after MPI_Finalize */
	return draw(WITH, 0, 0, 2);
}
