/* What the programs of the suite share. A program checks one family of functions. It prints
 * the same under gigarank and under a real MPI: one line, with the number of checks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GIGARANK is defined for builds under gigarank, MPI_4 also for those under a real MPI that has the functions of MPI 4. */
#if MPI_VERSION >= 4 || defined GIGARANK
#define MPI_4
#endif

static int rank, size, failures, checks;

/* EXPECT is a check that is not counted: for what only one of the two has, or repeats. */
#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			failures++; \
			printf("rank %d of %d, line %d: not so: %s\n", rank, size, __LINE__, #condition); \
		} \
	} while (0)

#define CHECK(condition) \
	do { \
		checks++; \
		EXPECT(condition); \
	} while (0)

/* CHECK_CLASS checks the error class of a call. */
#define CHECK_CLASS(call, class_) CHECK(class_of(call) == (class_))

/* EXPECT_CLASS checks the error class of a call under gigarank alone: Open MPI 4.1 lacks the function, crashes in the
 * call, or gives it another class. */
#ifdef GIGARANK
#define EXPECT_CLASS(call, class_) EXPECT(class_of(call) == (class_))
#else
#define EXPECT_CLASS(call, class_) ((void)0)
#endif

static inline int class_of(int code) {
	int class_ = -1;
	MPI_Error_class(code, &class_);
	return class_;
}

static inline void begin(int *argc, char ***argv) {
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* finish prints, on rank 0, how many checks were made by all ranks. */
static int finish(const char *name) {
	int mine[2] = {checks, failures}, all[2] = {0, 0};
	fflush(stdout);
	MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s: %d checks on %d ranks, %d failed\n", name, all[0], size, all[1]);
	MPI_Finalize();
	return all[1] != 0;
}
