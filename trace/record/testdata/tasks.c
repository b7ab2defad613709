/* Tasks that end in several ways, or do what a trace does not have. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

/* round passes a token on, n times. */
static void rounds(int n) {
	int token = 0;
	for (int i = 0; i < n; i++)
		MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, i % 100, (rank + size - 1) % size, i % 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *sends(void *nothing) {
	MPI_Send(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD);
	return nothing;
}

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* groups has tasks with even and odd ranks meet three times, and exchange data on what they make. The leaders are the last tasks of each group, then those before. */
static void groups(void) {
	MPI_Comm half, inter, copy, merged;
	int sum = 0, others, n, theirs = -1, group = rank % 2, last = size - 1 - (size + group) % 2; /* of the other group */
	MPI_Comm_split(MPI_COMM_WORLD, group, -rank, &half);
	for (int round = 0; round < 3; round++) {
		if (round == 1)
			MPI_Pcontrol(0);
		MPI_Intercomm_create(half, round % 2, MPI_COMM_WORLD, last - 2 * (round % 2), round, &inter);
		if (round == 1)
			MPI_Pcontrol(1);
		MPI_Comm_remote_size(inter, &others);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
		MPI_Comm_rank(half, &n);
		if (n < others && n < size - others)
			MPI_Sendrecv(&rank, 1, MPI_INT, n, 0, &theirs, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
		if (round < 2) {
			MPI_Comm_dup(inter, &copy);
			MPI_Bcast(&sum, 1, MPI_INT, group ? 1 : n == 1 ? MPI_ROOT : MPI_PROC_NULL, copy);
			MPI_Intercomm_merge(copy, round ? group : 0, &merged);
			MPI_Comm_rank(merged, &n);
			MPI_Sendrecv(&n, 1, MPI_INT, (n + 1) % size, 0, &theirs, 1, MPI_INT, (n + size - 1) % size, 0, merged, MPI_STATUS_IGNORE);
			MPI_Comm_free(&copy);
			MPI_Comm_free(&merged);
		}
		MPI_Comm_free(&inter);
	}
	MPI_Comm_free(&half);
}

/* to_oneself returns the time of an isend and a wait for a byte to oneself, the least of some loops. */
static double to_oneself(void) {
	enum { LOOPS = 20, CALLS = 20000 };
	double least = 1e9;
	char out = 1, in = 0;
	for (int l = 0; l < LOOPS; l++) {
		double spent = 0;
		for (int i = 0; i < CALLS; i += 100) {
			MPI_Request request, receives[100];
			for (int k = 0; k < 100; k++)
				MPI_Irecv(&in, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &receives[k]);
			double begin = seconds();
			for (int k = 0; k < 100; k++) {
				MPI_Isend(&out, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			}
			spent += seconds() - begin;
			MPI_Waitall(100, receives, MPI_STATUSES_IGNORE);
		}
		if (spent / CALLS < least)
			least = spent / CALLS;
	}
	return least;
}

/* a_reading returns the time of a reading of the monotonic clock. */
static double a_reading(void) {
	double least = 1e9;
	for (int l = 0; l < 20; l++) {
		struct timespec t;
		double begin = seconds();
		for (int i = 0; i < 20000; i++)
			clock_gettime(CLOCK_MONOTONIC, &t);
		double each = (seconds() - begin) / 20000;
		if (each < least)
			least = each;
	}
	return least;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	int provided, n = argc > 2 ? atoi(argv[2]) : 1000;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(what, "rounds")) {
		rounds(n);
	} else if (!strcmp(what, "pid")) {
		if (rank == 1)
			printf("pid %d\n", (int)getpid()), fflush(stdout);
		rounds(n);
	} else if (!strcmp(what, "_exit")) {
		rounds(n);
		_exit(0);
	} else if (!strcmp(what, "exit")) {
		rounds(n);
		exit(0);
	} else if (!strcmp(what, "thread")) {
		pthread_t t;
		pthread_create(&t, NULL, sends, NULL);
		MPI_Recv(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		pthread_join(t, NULL);
	} else if (!strcmp(what, "put")) {
		int *memory;
		MPI_Win w;
		MPI_Win_allocate(sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
		MPI_Win_fence(0, w);
		MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w);
		MPI_Win_fence(0, w);
		MPI_Win_free(&w);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
	} else if (!strcmp(what, "control")) {
		MPI_Comm dup;
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Pcontrol(0);
		rounds(n);
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		MPI_Pcontrol(1);
		MPI_Pcontrol(5);
		MPI_Barrier(dup);
		MPI_Comm_free(&dup);
		MPI_Pcontrol(0);
		rounds(n);
	} else if (!strcmp(what, "burst")) {
		MPI_Barrier(MPI_COMM_WORLD);
		for (double end = seconds() + 0.05; seconds() < end;)
			;
		MPI_Barrier(MPI_COMM_WORLD);
		usleep(50000);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (!strcmp(what, "wild")) { /* six receives of anything, each waited for in another way; the program asks for no status */
		for (int way = 0; way < 6; way++) {
			MPI_Request q[2];
			int got = 0, flag = 0, index, count, indices[2];
			MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, way % 2 ? MPI_ANY_TAG : 10 + way, MPI_COMM_WORLD, &q[0]);
			MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 10 + way, MPI_COMM_WORLD, &q[1]);
			if (way == 0) {
				MPI_Wait(&q[0], MPI_STATUS_IGNORE);
			} else if (way == 1) {
				MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
			} else if (way == 2) {
				MPI_Waitany(1, q, &index, MPI_STATUS_IGNORE);
			} else if (way == 3) {
				MPI_Waitsome(1, q, &count, indices, MPI_STATUSES_IGNORE);
			} else if (way == 4) {
				while (!flag)
					MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
			} else {
				while (!flag)
					MPI_Testany(1, q, &index, &flag, MPI_STATUS_IGNORE);
			}
			MPI_Wait(&q[1], MPI_STATUS_IGNORE);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	} else if (!strcmp(what, "groups")) {
		groups();
	} else if (!strcmp(what, "cost")) {
		printf("cost %.1f %.1f\n", 1e9 * to_oneself(), 1e9 * a_reading());
	}
	MPI_Finalize();
	return 0;
}
