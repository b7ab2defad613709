/* The checks of arguments that functions of MPI share. */
#ifndef GIGARANK_MPI_ARGUMENTS_H
#define GIGARANK_MPI_ARGUMENTS_H

#include "mpi.h"
#include "rank/interface.h"

struct gigarank_comm; /* see comm_records.h */

#pragma GCC visibility push(hidden)

/* MPI defines a function of MPI, as MPI_Send, under its second name, PMPI_Send, and the first as a weak alias. */
#define MPI(name, ...) \
	int name(__VA_ARGS__) __attribute__((weak, alias("P" #name))); \
	int P##name(__VA_ARGS__)

#define CHECK(expression) \
	do { \
		int error_ = (expression); \
		if (error_) \
			return error_; \
	} while (0)

/* refuse ends a call with an error in its arguments, as the rank's error handler wants. The
 * message names the function of MPI that is at fault, if the call has no procedure. */
#define refuse(...) gigarank_refuse(__func__, __VA_ARGS__)

/* plural is the ending of a noun with a number: 1 rank, 2 ranks. */
#define plural(n) ((n) == 1 ? "" : "s")
int gigarank_refuse(const char *function, int procedure, int class_, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* GIVEN refuses a null pointer for an argument, which has a name in the standard. */
#define GIVEN(given, name, class_) \
	do { \
		if (!(given)) \
			return gigarank_missing(__func__, class_, name); \
	} while (0)
int gigarank_missing(const char *function, int class_, const char *name);

/* gigarank_may_call reports whether a rank may use MPI: between its initialisation and its end. active returns an error unless the running rank may. */
static inline int gigarank_may_call(const struct gigarank_rank *r) { return (r->initialized && r->left != GIGARANK_FINALIZED) || r->in_session; }
#define active(procedure) gigarank_active(__func__, procedure)
int gigarank_active(const char *function, int procedure);

/* gigarank_runs returns an error unless a rank runs. It is for the functions that may be called
 * before MPI_Init and after MPI_Finalize, too (MPI 4.1, 11.4.1). */
int gigarank_runs(const char *function);

/* find stores the communicator of a handle, with the rank's place in it. */
#define find(procedure, comm, c) gigarank_find(__func__, procedure, comm, c)
int gigarank_find(const char *function, int procedure, MPI_Comm comm, struct gigarank_call *c);

/* gigarank_note returns the rank's record of the communicator of a call, and makes it first. It returns NULL after an error. */
struct gigarank_comm *gigarank_note(struct gigarank_call *c);

/* More bytes than any memory has. Sums of two numbers of bytes up to it do not overflow. */
#define GIGARANK_MOST_BYTES ((int64_t)1 << 56)

/* A list of counts or displacements, of type int or large; no list
 * if both are NULL. MPI_Count and MPI_Aint are 64 bits wide. */
struct gigarank_numbers {
	const int *narrow;
	const int64_t *wide;
};

static inline int gigarank_has_numbers(struct gigarank_numbers l) { return l.narrow || l.wide; }
static inline int64_t gigarank_number_at(struct gigarank_numbers l, int32_t i) { return l.narrow ? l.narrow[i] : l.wide[i]; }

/* gigarank_bytes_of stores, in bytes, the size of count elements of a type. */
int gigarank_bytes_of(int procedure, int64_t count, MPI_Datatype type, int64_t *bytes);

/* gigarank_multiply stores the size of n blocks of equal bytes, and gigarank_add_up adds the bytes of a block to a sum. */
int gigarank_multiply(int procedure, int64_t each, int32_t n, int64_t *all);
int gigarank_add_up(int procedure, int64_t *all, int64_t bytes);

/* gigarank_touch checks that both ends of a buffer can be read, and gigarank_touch_to that they can be written. */
int gigarank_touch(int procedure, const void *buffer, int64_t bytes);
int gigarank_touch_to(int procedure, void *buffer, int64_t bytes);

void gigarank_set_status(MPI_Status *status, const struct gigarank_status *s, int error);
extern const struct gigarank_status gigarank_empty_status;

static inline int gigarank_is_finalized(const struct gigarank_rank *r) { return r->left == GIGARANK_FINALIZED; }

/* gigarank_unhosted ends a program that runs by itself, without a simulator, and calls a function of MPI. */
void gigarank_unhosted(const char *function, const char *what);

#pragma GCC visibility pop

#endif
