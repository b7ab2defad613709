/* Functions that the bindings of Fortran share. Handles are INTEGERs there: predefined handles have their
 * values, a request its slot, and other handles a place in a table of the rank. */
#ifndef GIGARANK_FORTRAN_FORTRAN_H
#define GIGARANK_FORTRAN_FORTRAN_H

#include "mpi.h"

#include <stdlib.h>

#pragma GCC visibility push(hidden)

/* The common block in which mpif.h and the modules have the constants that are variables. */
struct gigarank_fortran_constants {
	MPI_Fint bottom, in_place, unweighted, weights_empty, errcodes_ignore;
	MPI_Fint status_ignore[8], statuses_ignore[8], buffer_automatic;
	char argv_null, argvs_null;
};

/* gigarank_call_errhandler calls an error handler in Fortran with the number of a handle. */
void gigarank_call_errhandler(MPI_Comm_errhandler_function *function, void *about, int code);

/* gigarank_call_operation calls a function in Fortran, with the number of the type. */
void gigarank_call_operation(MPI_User_function *function, void *in, void *inout, int count, MPI_Fint number);

/* gigarank_number_of returns the number of a handle in Fortran. */
MPI_Fint gigarank_number_of(void *handle);

void *gigarank_handle_of(MPI_Fint number);
void gigarank_release_number(MPI_Fint number);
MPI_Request gigarank_request_of(MPI_Fint number);
MPI_Fint gigarank_request_number(MPI_Request request);

/* gigarank_buffer_of returns the address that stands in C for one of Fortran. */
void *gigarank_buffer_of(void *address);
MPI_Status *gigarank_status_of(void *status);

void gigarank_take_name(char *to, const char *from, size_t length);
void gigarank_take_text(char *to, const char *from, size_t length);
void gigarank_store_text(char *to, size_t length, const char *from);

/* A list of handles. */
struct gigarank_handles {
	void **all;
	void *few[16];
};

void gigarank_open_handles(MPI_Fint n, struct gigarank_handles *h);

static inline void gigarank_give_up(struct gigarank_handles *h) {
	if (h->all != h->few)
		free(h->all);
}

#define GIGARANK_LISTS(lower, type) \
	static inline void gigarank_take_##lower##s(MPI_Fint n, const MPI_Fint *from, struct gigarank_handles *h) { \
		for (MPI_Fint i = 0; i < n; i++) \
			h->all[i] = gigarank_##lower##_of(from[i]); \
	} \
	static inline void gigarank_store_##lower##s(MPI_Fint n, MPI_Fint *to, const struct gigarank_handles *h) { \
		for (MPI_Fint i = 0; i < n; i++) \
			to[i] = gigarank_##lower##_number(h->all[i]); \
	}

#define GIGARANK_HANDLES(lower, type) \
	static inline type gigarank_##lower##_of(MPI_Fint number) { return (type)gigarank_handle_of(number); } \
	static inline MPI_Fint gigarank_##lower##_number(type handle) { return gigarank_number_of((void *)handle); } \
	GIGARANK_LISTS(lower, type)

GIGARANK_HANDLES(comm, MPI_Comm)
GIGARANK_HANDLES(datatype, MPI_Datatype)
GIGARANK_HANDLES(errhandler, MPI_Errhandler)
GIGARANK_HANDLES(file, MPI_File)
GIGARANK_HANDLES(group, MPI_Group)
GIGARANK_HANDLES(info, MPI_Info)
GIGARANK_HANDLES(message, MPI_Message)
GIGARANK_HANDLES(op, MPI_Op)
GIGARANK_HANDLES(session, MPI_Session)
GIGARANK_HANDLES(win, MPI_Win)
GIGARANK_LISTS(request, MPI_Request)

/* gigarank_neighbors returns the number of a member's destinations or sources. */
int gigarank_neighbors(MPI_Comm comm, _Bool destinations);

/* gigarank_members returns the number of members that a member of a communicator sends to in a collective. */
int gigarank_members(MPI_Comm comm);

#pragma GCC visibility pop

/* Each binding has four names: the name that a program calls, the name that profiling libraries call, and
 * both names in module mpi_f08. */
#define GIGARANK_FORTRAN_NAME(name, target) \
	__asm__(".weak " name "\n.type " name ", %function\n.set " name ", " target);
#define GIGARANK_FORTRAN_NAMES(name) \
	GIGARANK_FORTRAN_NAME("mpi_" #name "_", "pmpi_" #name "_") \
	GIGARANK_FORTRAN_NAME("mpi_" #name "_f08_", "pmpi_" #name "_") \
	GIGARANK_FORTRAN_NAME("pmpi_" #name "_f08_", "pmpi_" #name "_")

#endif
