/* The start and end of MPI in a rank, and inquiries about its environment. */
#include "mpi/start.h"
#include "mpi/arguments.h"
#include "mpi/attributes.h"
#include "mpi/comm_records.h"
#include "mpi/communicators.h"
#include "mpi/errors.h"
#include "mpi/requests.h"
#include "mpi/unsupported.h"
#include "rank/crashes.h"
#include "rank/foreign.h"
#include "rank/programs.h"
#include "rank/ranks.h"
#include "rank/running.h"
#include "rank/threads.h"
#include "gigarank.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int initialise(const char *function, int required, int *provided) {
	struct gigarank_rank *r = gigarank_running();
	if (!gigarank_hosted)
		gigarank_unhosted("", "");
	if (!r)
		return gigarank_active(function, GIGARANK_NONE);
	if (r->initialized)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_OTHER, "called %s", gigarank_is_finalized(r) ? "after MPI_Finalize" : "a second time");
	r->initialized = 1, r->left = 0;
	*provided = required < MPI_THREAD_FUNNELED ? required : MPI_THREAD_FUNNELED;
	return MPI_SUCCESS;
}

MPI(MPI_Init_thread, int *argc, char ***argv, int required, int *provided) {
	(void)argc, (void)argv;
	return initialise(__func__, required, provided);
}

MPI(MPI_Init, int *argc, char ***argv) {
	int provided;
	(void)argc, (void)argv;
	return initialise(__func__, MPI_THREAD_SINGLE, &provided);
}

MPI(MPI_Initialized, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = gigarank_running() && gigarank_running()->initialized;
	return MPI_SUCCESS;
}

MPI(MPI_Finalized, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = gigarank_running() && gigarank_is_finalized(gigarank_running());
	return MPI_SUCCESS;
}

MPI(MPI_Finalize, void) {
	CHECK(active(GIGARANK_NONE));
	struct gigarank_rank *r = gigarank_running();
	if (!r->initialized || gigarank_is_finalized(r))
		return refuse(GIGARANK_NONE, MPI_ERR_OTHER, "called %s", gigarank_is_finalized(r) ? "a second time" : "without MPI_Init: a session ends with MPI_Session_finalize");
	CHECK(gigarank_end_detached());
	CHECK(gigarank_drop_attributes(__func__, MPI_COMM_SELF));
	if (gigarank_current->phased)
		gigarank_phase(NULL);
	r->left = GIGARANK_FINALIZED;
	return MPI_SUCCESS;
}

MPI(MPI_Query_thread, int *provided) {
	GIVEN(provided, "provided", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	*provided = MPI_THREAD_FUNNELED;
	return MPI_SUCCESS;
}

MPI(MPI_Is_thread_main, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = gigarank_running() != NULL;
	return MPI_SUCCESS;
}

MPI(MPI_Abort, MPI_Comm comm, int code) {
	struct gigarank_call c = {.procedure = GIGARANK_ABORT, .key = code};
	(void)comm;
	if (gigarank_running()) {
		gigarank_current->stops = 1;
		gigarank_note_call(__builtin_return_address(0));
		gigarank_trap(&c);
	}
	gigarank_end_foreign("MPI_Abort");
	if (gigarank_note_foreign_call("MPI_Abort", GIGARANK_NONE))
		pthread_exit(NULL); /* a thread that no rank is known to have started */
	abort();
}

MPI(MPI_Get_version, int *version, int *subversion) {
	GIVEN(version, "version", MPI_ERR_ARG);
	GIVEN(subversion, "subversion", MPI_ERR_ARG);
	*version = MPI_VERSION, *subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}

MPI(MPI_Get_library_version, char *version, int *length) {
	GIVEN(version, "version", MPI_ERR_ARG);
	GIVEN(length, "resultlen", MPI_ERR_ARG);
	*length = sprintf(version, "gigarank: simulated MPI");
	return MPI_SUCCESS;
}

MPI(MPI_Get_processor_name, char *name, int *length) {
	GIVEN(name, "name", MPI_ERR_ARG);
	GIVEN(length, "resultlen", MPI_ERR_ARG);
	struct gigarank_call c = {.procedure = GIGARANK_NODE};
	CHECK(active(GIGARANK_NONE));
	CHECK(gigarank_trap(&c));
	*length = sprintf(name, "node%d", c.found);
	return MPI_SUCCESS;
}

MPI(MPI_Pcontrol, const int level, ...) {
	char name[32] = "";
	if (level)
		snprintf(name, sizeof name, "MPI_Pcontrol(%d)", level);
	if (gigarank_running() && (level || gigarank_current->phased))
		gigarank_phase(name);
	return MPI_SUCCESS;
}

MPI(MPI_Alloc_mem, MPI_Aint size, MPI_Info info, void *base) {
	GIVEN(base, "baseptr", MPI_ERR_ARG);
	(void)info;
	if (size < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "MPI_Alloc_mem of %lld bytes: the size must not be negative", (long long)size);
	void *memory = malloc((size_t)size + 1);
	if (!memory)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "MPI_Alloc_mem of %lld bytes", (long long)size);
	memcpy(base, &memory, sizeof memory);
	return MPI_SUCCESS;
}

MPI(MPI_Free_mem, void *base) {
	free(base);
	return MPI_SUCCESS;
}

MPI(MPI_Get_address, const void *location, MPI_Aint *address) {
	GIVEN(address, "address", MPI_ERR_ARG);
	*address = (MPI_Aint)location;
	return MPI_SUCCESS;
}

void gigarank_forget_rank(struct gigarank_rank *r) {
	for (struct gigarank_comm *c = r->comms, *next; c; c = next) {
		next = c->next;
		gigarank_forget_comm(c);
	}
	if (!r->own)
		return;
	gigarank_forget_codes(r->own->codes);
	gigarank_forget_types(r->own);
	gigarank_leave_threads(r->own->threads);
	gigarank_leave_file_handler(r->own->file_handler);
	free(r->own);
}
