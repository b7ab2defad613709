/* The functions of MPI check their arguments in the rank, compose a call of the simulator, and are
 * suspended in it. These are the checks that they share. */
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/datatypes.h"
#include "mpi/error_handlers.h"
#include "rank/foreign.h"
#include "rank/programs.h"
#include "rank/ranks.h"
#include "rank/running.h"
#include "rank/switch.h"
#include "rank/unread.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void gigarank_unhosted(const char *function, const char *what) {
	fprintf(stderr, "%s%sthis program was built with gigarank cc: run it with gigarank run ./PROGRAM --ranks N\n", function, what);
	_exit(2);
}

int gigarank_refuse(const char *function, int procedure, int class_, const char *format, ...) {
	char text[320];
	int named = 0;
	if (procedure == GIGARANK_NONE && strncmp(function, "PMPI_", 5) == 0)
		named = snprintf(text, sizeof text / 4, "%s: ", function + 1);
	va_list list;
	va_start(list, format);
	vsnprintf(text + named, sizeof text - (size_t)named, format, list);
	va_end(list);
	if (!gigarank_hosted)
		gigarank_unhosted(strncmp(function, "PMPI_", 5) == 0 ? function + 1 : "a function of MPI", " is called before MPI_Init; ");
	if (!gigarank_running()) {
		gigarank_note_foreign_call(function + (function[0] == 'P'), strncmp(function, "PMPI_", 5) == 0 ? GIGARANK_NONE : procedure);
		return class_;
	}
	struct gigarank_call c = {.procedure = procedure, .error = class_, .detail = text};
	int32_t about = gigarank_running()->about;
	gigarank_suspend(&c);
	gigarank_handle_error(about ? about : 1, class_);
	return class_;
}

int gigarank_missing(const char *function, int class_, const char *name) {
	CHECK(gigarank_runs(function));
	return gigarank_refuse(function, GIGARANK_NONE, class_, "%s is NULL", name);
}

int gigarank_runs(const char *function) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_OTHER, "no rank runs");
	r->about = 1;
	return MPI_SUCCESS;
}

int gigarank_active(const char *function, int procedure) {
	struct gigarank_rank *r = gigarank_running();
	if (r)
		r->about = 1;
	if (r && gigarank_may_call(r))
		return MPI_SUCCESS;
	return gigarank_refuse(function, procedure, MPI_ERR_OTHER, !r ? "no rank runs" : gigarank_is_finalized(r) ? "called after MPI_Finalize" : "called before MPI_Init");
}

int gigarank_find(const char *function, int procedure, MPI_Comm comm, struct gigarank_call *c) {
	struct gigarank_engine *e = gigarank_current;
	CHECK(gigarank_active(function, procedure));
	c->procedure = procedure;
	struct gigarank_rank *r = e->running;
	if (comm == MPI_COMM_WORLD) {
		c->comm = 1, c->size = e->world, c->member = e->first + (int32_t)(r - e->ranks), c->remote = 0;
		return MPI_SUCCESS;
	}
	if (comm == MPI_COMM_SELF) {
		r->about = c->comm = 2, c->size = 1, c->member = 0, c->remote = 0;
		return MPI_SUCCESS;
	}
	const struct gigarank_comm *made = gigarank_comm_record_of(comm);
	if (made) {
		r->about = c->comm = made->index, c->size = made->size, c->member = made->member, c->remote = made->remote;
		return MPI_SUCCESS;
	}
	return gigarank_refuse(function, procedure, MPI_ERR_COMM, comm == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL" : "the handle is no communicator of this rank, or it has been freed");
}

struct gigarank_comm *gigarank_note(struct gigarank_call *c) {
	struct gigarank_comm *noted = gigarank_comm_record(c->comm);
	if (!noted && !(noted = gigarank_add_comm_record((struct gigarank_comm){.index = c->comm, .member = c->member, .size = c->size})))
		refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for a communicator");
	return noted;
}

int gigarank_bytes_of(int procedure, int64_t count, MPI_Datatype type, int64_t *bytes) {
	const struct gigarank_datatype *t = gigarank_type(type);
	if (!t)
		return refuse(procedure, MPI_ERR_TYPE, type == MPI_DATATYPE_NULL ? "the type is MPI_DATATYPE_NULL" : "the handle is no type, or it has been freed");
	if (!t->committed)
		return refuse(procedure, MPI_ERR_TYPE, "the type has not been committed");
	if (count < 0)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %lld", (long long)count);
	if (__builtin_mul_overflow(count, t->bytes, bytes) || *bytes > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %lld values of %lld byte%s is more than memory holds", (long long)count, (long long)t->bytes, plural(t->bytes));
	return MPI_SUCCESS;
}

int gigarank_multiply(int procedure, int64_t each, int32_t n, int64_t *all) {
	if (__builtin_mul_overflow(each, n, all) || *all > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "%lld bytes for each of %d members are more than memory holds", (long long)each, n);
	return MPI_SUCCESS;
}

int gigarank_add_up(int procedure, int64_t *all, int64_t bytes) {
	if ((*all += bytes) > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "the counts of all members are more than memory holds");
	return MPI_SUCCESS;
}

int gigarank_touch(int procedure, const void *buffer, int64_t bytes) {
	if (bytes == 0)
		return MPI_SUCCESS;
	if (gigarank_is_null(buffer))
		return refuse(procedure, MPI_ERR_BUFFER, "a null buffer for %lld byte%s", (long long)bytes, plural(bytes));
	if (!gigarank_is_unread(buffer) && gigarank_reads(buffer, (const char *)buffer + bytes - 1))
		return refuse(procedure, MPI_ERR_BUFFER, "the buffer of %lld byte%s at %p is no memory that can be read", (long long)bytes, plural(bytes), buffer);
	return MPI_SUCCESS;
}

int gigarank_touch_to(int procedure, void *buffer, int64_t bytes) {
	if (bytes == 0)
		return MPI_SUCCESS;
	if (gigarank_is_null(buffer))
		return refuse(procedure, MPI_ERR_BUFFER, "a null buffer for %lld byte%s", (long long)bytes, plural(bytes));
	if (!gigarank_is_unread(buffer) && gigarank_writes(buffer, (char *)buffer + bytes - 1))
		return refuse(procedure, MPI_ERR_BUFFER, "the buffer of %lld byte%s at %p is no memory that can be written", (long long)bytes, plural(bytes), buffer);
	return MPI_SUCCESS;
}

void gigarank_set_status(MPI_Status *status, const struct gigarank_status *s, int error) {
	if (!status)
		return;
	status->MPI_SOURCE = s->source == GIGARANK_ANY_SOURCE ? MPI_ANY_SOURCE : s->source == GIGARANK_PROC_NULL ? MPI_PROC_NULL : s->source;
	status->MPI_TAG = s->tag == GIGARANK_ANY_TAG ? MPI_ANY_TAG : s->tag;
	if (error >= 0)
		status->MPI_ERROR = error;
	status->MPI_internal[2] = s->cancelled;
	memcpy(&status->MPI_internal[0], &s->bytes, sizeof s->bytes);
}

const struct gigarank_status gigarank_empty_status = {.source = GIGARANK_ANY_SOURCE, .tag = GIGARANK_ANY_TAG};
