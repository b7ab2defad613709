/* What the examples share. They are plain MPI programs: under mpirun they print the same as
 * under gigarank run. What they compute takes no time in itself, so they declare some. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_include
#if __has_include("gigarank.h")
#include "gigarank.h"
#define DECLARED
#endif
#endif

#ifndef DECLARED /* for a compiler without gigarank's header */
static inline int gigarank_compute(double seconds) { return (void)seconds, 0; }
static inline int gigarank_record(int index, const char *operation, double seconds) { return (void)index, (void)operation, (void)seconds, 0; }
#endif

static int rank, size;

static inline void begin(int *argc, char ***argv) {
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* argument returns an argument of the program as a number. */
static inline int argument(int argc, char **argv, int which, int otherwise) { return argc > which ? atoi(argv[which]) : otherwise; }

/* expect ends the program if a number is wrong. */
static inline void expect(const char *what, int64_t got, int64_t want) {
	if (got == want)
		return;
	fprintf(stderr, "rank %d: %s is %lld; it must be %lld\n", rank, what, (long long)got, (long long)want);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ring_number returns the number that a rank sends in an iteration of a ring. */
static inline int64_t ring_number(int of, int iteration) { return ((int64_t)of << 20) + iteration; }
