/* Functions that programs may be linked with and that native ranks do not have, and the error handler of
 * MPI_FILE_NULL, which hears of functions for files. */
#include "mpi/unsupported.h"
#include "mpi/arguments.h"
#include "mpi/error_handlers.h"
#include "mpi/errors.h"
#include "mpi/objects.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The error handler of MPI_FILE_NULL, of a rank that has set it. */
struct gigarank_file_handler {
	void *own;              /* object of the error handler, NULL for a predefined handler */
	MPI_Errhandler handler; /* if it is predefined */
};

void gigarank_leave_file_handler(struct gigarank_file_handler *h) {
	if (h && h->own)
		gigarank_release_object(h->own);
	free(h);
}

static struct gigarank_file_handler *file_handler(void) {
	struct gigarank_rank *r = gigarank_running();
	return r->own ? r->own->file_handler : NULL;
}

/* handled has the handler of MPI_FILE_NULL take an error, and reports whether the run goes on. The standard's
 * default is MPI_ERRORS_RETURN (MPI 4.1, 14.7). Here the program must set it: a program that ignores error codes
 * would go on with data that no file has given it. */
static int handled(int code) {
	struct gigarank_file_handler *h = file_handler();
	MPI_File none = MPI_FILE_NULL;
	if (h && h->own)
		gigarank_call_handler(h->own, &none, code);
	return h && (h->own || h->handler == MPI_ERRORS_RETURN);
}

int gigarank_unsupported(const char *function, const MPI_Comm *comm) {
	struct gigarank_call about = {0};
	char text[200];
	if (comm)
		CHECK(gigarank_find(function, GIGARANK_NONE, *comm, &about));
	else
		CHECK(gigarank_runs(function));
	int of_file = strncmp(function, "PMPI_File_", 10) == 0;
	if (of_file && handled(MPI_ERR_UNSUPPORTED_OPERATION))
		return MPI_ERR_UNSUPPORTED_OPERATION;
	snprintf(text, sizeof text, "native ranks do not have %s: run the program so that it does not call it, or set MPI_ERRORS_RETURN on %s and look at what it returns",
		function + 1, of_file ? "MPI_FILE_NULL" : comm && *comm != MPI_COMM_WORLD ? "the communicator" : "MPI_COMM_WORLD");
	struct gigarank_call c = {.procedure = GIGARANK_NONE, .comm = about.comm, .error = MPI_ERR_UNSUPPORTED_OPERATION, .detail = text};
	return gigarank_trap(&c);
}

#undef GIGARANK_UNSUPPORTED
#undef GIGARANK_UNSUPPORTED_ON
#define DEFINE(name, arguments, comm) \
	int name arguments __attribute__((weak, alias("P" #name))); \
	int P##name arguments { return gigarank_unsupported(__func__, comm); }
#define GIGARANK_UNSUPPORTED(type, name, arguments) DEFINE(name, arguments, NULL)
#define GIGARANK_UNSUPPORTED_ON(type, name, arguments) DEFINE(name, arguments, &comm)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "mpi_unsupported.h"

/* --- the error handler of MPI_FILE_NULL ---------------------------------------------------- */

/* There are no files: MPI_FILE_NULL is the only handle. */
#define NO_FILE(file) \
	CHECK(active(GIGARANK_NONE)); \
	if ((file) != MPI_FILE_NULL) \
		return refuse(GIGARANK_NONE, MPI_ERR_FILE, "the handle is no file: native ranks have none but MPI_FILE_NULL")

MPI(MPI_File_create_errhandler, MPI_File_errhandler_function *function, MPI_Errhandler *handler) {
	GIVEN(function, "file_errhandler_fn", MPI_ERR_ARG);
	GIVEN(handler, "errhandler", MPI_ERR_ARG);
	return gigarank_create_errhandler((MPI_Comm_errhandler_function *)(void (*)(void))function, 0, handler); /* which both take a handle by its address */
}

MPI(MPI_File_set_errhandler, MPI_File file, MPI_Errhandler handler) {
	NO_FILE(file);
	void *kept = gigarank_keep_handler(handler);
	if (!kept && handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_ABORT)
		return refuse(GIGARANK_NONE, MPI_ERR_ERRHANDLER, "the handle is no error handler, or it has been freed");
	struct gigarank_own *own = gigarank_own();
	struct gigarank_file_handler *h = own ? own->file_handler : NULL;
	if (own && !h)
		h = own->file_handler = calloc(1, sizeof *h);
	if (!h) {
		if (kept)
			gigarank_release_object(kept);
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an error handler");
	}
	if (h->own)
		gigarank_release_object(h->own);
	h->own = kept, h->handler = handler;
	return MPI_SUCCESS;
}

MPI(MPI_File_get_errhandler, MPI_File file, MPI_Errhandler *handler) {
	GIVEN(handler, "errhandler", MPI_ERR_ARG);
	NO_FILE(file);
	struct gigarank_file_handler *h = file_handler();
	*handler = h ? h->handler : MPI_ERRORS_RETURN;
	if (h && h->own) {
		struct gigarank_object *o = gigarank_retain(h->own);
		o->handles++;
		*handler = gigarank_handle(o);
	}
	return MPI_SUCCESS;
}

MPI(MPI_File_call_errhandler, MPI_File file, int code) {
	NO_FILE(file);
	if (!file_handler() || handled(code))
		return MPI_SUCCESS;
	return refuse(GIGARANK_NONE, code, "called by MPI_File_call_errhandler");
}
