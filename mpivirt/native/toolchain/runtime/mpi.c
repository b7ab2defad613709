/* The functions of MPI. Each checks what it can in the rank, composes a call of the
 * simulator, and is suspended in it. */
#include "attributes.h"
#include "datatypes.h"
#include "exchanges.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* unhosted ends a program that runs by itself and does what takes ranks. */
static void unhosted(const char *function, const char *what) {
	fprintf(stderr, "%s%sthis program was built with gigarank cc: run it with gigarank run ./PROGRAM --ranks N\n", function, what);
	_exit(2);
}

/* --- errors ----------------------------------------------------------------------- */

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
		unhosted(strncmp(function, "PMPI_", 5) == 0 ? function + 1 : "a function of MPI", " is called before MPI_Init; ");
	if (!gigarank_running()) {
		gigarank_intrudes(function + (function[0] == 'P'), strncmp(function, "PMPI_", 5) == 0 ? GIGARANK_NONE : procedure);
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
	if (r && ((r->initialized && !r->finalized) || r->in_session))
		return MPI_SUCCESS;
	return gigarank_refuse(function, procedure, MPI_ERR_OTHER, !r ? "no rank runs" : r->finalized ? "called after MPI_Finalize" : "called before MPI_Init");
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
	for (struct gigarank_comm *made = r->comms; made; made = made->next)
		if ((MPI_Comm)made == comm) {
			r->about = c->comm = made->index, c->size = made->size, c->member = made->member, c->remote = made->remote;
			return MPI_SUCCESS;
		}
	return gigarank_refuse(function, procedure, MPI_ERR_COMM, comm == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL" : "the handle is no communicator of this rank, or it has been freed");
}

int bytes_of(int procedure, int64_t count, MPI_Datatype type, int64_t *bytes) {
	const struct gigarank_datatype *t = gigarank_type(type);
	if (!t)
		return refuse(procedure, MPI_ERR_TYPE, type == MPI_DATATYPE_NULL ? "the type is MPI_DATATYPE_NULL" : "the handle is no type, or it has been freed");
	if (!t->committed)
		return refuse(procedure, MPI_ERR_TYPE, "the type has not been committed");
	if (count < 0)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %lld", (long long)count);
	if (__builtin_mul_overflow(count, t->bytes, bytes) || *bytes > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %lld values of %lld bytes is more than memory holds", (long long)count, (long long)t->bytes);
	return MPI_SUCCESS;
}

int multiply(int procedure, int64_t each, int32_t n, int64_t *all) {
	if (__builtin_mul_overflow(each, n, all) || *all > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "%lld bytes for each of %d members are more than memory holds", (long long)each, n);
	return MPI_SUCCESS;
}

int add_up(int procedure, int64_t *all, int64_t bytes) {
	if ((*all += bytes) > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "the counts of all members are more than memory holds");
	return MPI_SUCCESS;
}

/* product returns the elements of n blocks, or more than memory holds. */
static int64_t product(int64_t count, int32_t n) {
	int64_t all;
	return __builtin_mul_overflow(count, n, &all) ? INT64_MAX : all;
}

int touch(int procedure, const void *buffer, int64_t bytes) {
	if (bytes == 0)
		return MPI_SUCCESS;
	if (!buffer)
		return refuse(procedure, MPI_ERR_BUFFER, "a null buffer for %lld bytes", (long long)bytes);
	if (gigarank_reads(buffer, (const char *)buffer + bytes - 1))
		return refuse(procedure, MPI_ERR_BUFFER, "the buffer of %lld bytes at %p is no memory that can be read", (long long)bytes, buffer);
	return MPI_SUCCESS;
}

int touch_to(int procedure, void *buffer, int64_t bytes) {
	if (bytes == 0)
		return MPI_SUCCESS;
	if (!buffer)
		return refuse(procedure, MPI_ERR_BUFFER, "a null buffer for %lld bytes", (long long)bytes);
	if (gigarank_writes(buffer, (char *)buffer + bytes - 1))
		return refuse(procedure, MPI_ERR_BUFFER, "the buffer of %lld bytes at %p is no memory that can be written", (long long)bytes, buffer);
	return MPI_SUCCESS;
}

/* Negative numbers that mean nothing in MPI are refused here, since the simulator has other
 * meanings for some. */

/* to sets where a call sends. */
static int to(struct gigarank_call *c, int procedure, int dest, int tag) {
	if (tag < 0)
		return refuse(procedure, MPI_ERR_TAG, "tag %d: tags of messages are 0 to %d", tag, INT_MAX);
	if (dest < 0 && dest != MPI_PROC_NULL)
		return refuse(procedure, MPI_ERR_RANK, "destination %d: no rank has a negative number", dest);
	c->dest = dest == MPI_PROC_NULL ? GIGARANK_PROC_NULL : dest, c->sendtag = tag;
	return MPI_SUCCESS;
}

/* from sets what a call receives. */
static int from(struct gigarank_call *c, int procedure, int source, int tag) {
	if (tag < 0 && tag != MPI_ANY_TAG)
		return refuse(procedure, MPI_ERR_TAG, "tag %d: tags are 0 to %d, or MPI_ANY_TAG", tag, INT_MAX);
	if (source < 0 && source != MPI_ANY_SOURCE && source != MPI_PROC_NULL)
		return refuse(procedure, MPI_ERR_RANK, "source %d: no rank has a negative number", source);
	c->source = source == MPI_ANY_SOURCE ? GIGARANK_ANY_SOURCE : source == MPI_PROC_NULL ? GIGARANK_PROC_NULL : source;
	c->tag = tag == MPI_ANY_TAG ? GIGARANK_ANY_TAG : tag;
	return MPI_SUCCESS;
}

void set_status(MPI_Status *status, const struct gigarank_status *s, int error) {
	if (!status)
		return;
	status->MPI_SOURCE = s->source == GIGARANK_ANY_SOURCE ? MPI_ANY_SOURCE : s->source == GIGARANK_PROC_NULL ? MPI_PROC_NULL : s->source;
	status->MPI_TAG = s->tag == GIGARANK_ANY_TAG ? MPI_ANY_TAG : s->tag;
	if (error >= 0)
		status->MPI_ERROR = error;
	status->MPI_internal[2] = s->cancelled;
	memcpy(&status->MPI_internal[0], &s->bytes, sizeof s->bytes);
}

const struct gigarank_status empty = {.source = GIGARANK_ANY_SOURCE, .tag = GIGARANK_ANY_TAG};

/* --- environment ------------------------------------------------------------------- */

MPI(Init_thread, int *argc, char ***argv, int required, int *provided) {
	struct gigarank_rank *r = gigarank_running();
	(void)argc, (void)argv;
	if (!gigarank_hosted)
		unhosted("", "");
	if (!r)
		return gigarank_active(__func__, GIGARANK_NONE);
	if (r->initialized)
		return refuse(GIGARANK_NONE, MPI_ERR_OTHER, "MPI_Init is called a second time");
	r->initialized = 1;
	*provided = required < MPI_THREAD_FUNNELED ? required : MPI_THREAD_FUNNELED;
	return MPI_SUCCESS;
}

MPI(Init, int *argc, char ***argv) {
	int provided;
	return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

MPI(Initialized, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = gigarank_running() && gigarank_running()->initialized;
	return MPI_SUCCESS;
}

MPI(Finalized, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = gigarank_running() && gigarank_running()->finalized;
	return MPI_SUCCESS;
}

MPI(Finalize, void) {
	CHECK(active(GIGARANK_NONE));
	struct gigarank_rank *r = gigarank_running();
	if (!r->initialized || r->finalized)
		return refuse(GIGARANK_NONE, MPI_ERR_OTHER, "called %s", r->finalized ? "a second time" : "without MPI_Init: a session ends with MPI_Session_finalize");
	CHECK(gigarank_end_detached());
	CHECK(gigarank_drop_attributes(__func__, MPI_COMM_SELF));
	r->finalized = 1;
	return MPI_SUCCESS;
}

MPI(Query_thread, int *provided) {
	GIVEN(provided, "provided", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	*provided = MPI_THREAD_FUNNELED;
	return MPI_SUCCESS;
}

MPI(Is_thread_main, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = gigarank_running() != NULL;
	return MPI_SUCCESS;
}

MPI(Abort, MPI_Comm comm, int code) {
	struct gigarank_call c = {.procedure = GIGARANK_ABORT, .key = code};
	(void)comm;
	if (gigarank_running())
		gigarank_trap(&c);
	gigarank_outside("MPI_Abort");
	if (gigarank_intrudes("MPI_Abort", GIGARANK_NONE))
		pthread_exit(NULL); /* a thread that no rank is known to have started */
	abort();
}

MPI(Get_version, int *version, int *subversion) {
	GIVEN(version, "version", MPI_ERR_ARG);
	GIVEN(subversion, "subversion", MPI_ERR_ARG);
	*version = MPI_VERSION, *subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}

MPI(Get_library_version, char *version, int *length) {
	GIVEN(version, "version", MPI_ERR_ARG);
	GIVEN(length, "resultlen", MPI_ERR_ARG);
	*length = sprintf(version, "gigarank: simulated MPI");
	return MPI_SUCCESS;
}

MPI(Get_processor_name, char *name, int *length) {
	GIVEN(name, "name", MPI_ERR_ARG);
	GIVEN(length, "resultlen", MPI_ERR_ARG);
	struct gigarank_call c = {.procedure = GIGARANK_NODE};
	CHECK(active(GIGARANK_NONE));
	CHECK(gigarank_trap(&c));
	*length = sprintf(name, "node%d", c.found);
	return MPI_SUCCESS;
}

MPI(Pcontrol, const int level, ...) {
	(void)level;
	return MPI_SUCCESS;
}

MPI(Alloc_mem, MPI_Aint size, MPI_Info info, void *base) {
	GIVEN(base, "baseptr", MPI_ERR_ARG);
	(void)info;
	void *memory = size < 0 ? NULL : malloc((size_t)size + 1);
	if (!memory)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "MPI_Alloc_mem of %lld bytes", (long long)size);
	memcpy(base, &memory, sizeof memory);
	return MPI_SUCCESS;
}

MPI(Free_mem, void *base) {
	free(base);
	return MPI_SUCCESS;
}

MPI(Get_address, const void *location, MPI_Aint *address) {
	GIVEN(address, "address", MPI_ERR_ARG);
	*address = (MPI_Aint)location;
	return MPI_SUCCESS;
}

/* --- requests ----------------------------------------------------------------------- */

int add(int32_t index, struct gigarank_call *persistent, MPI_Request *request) {
	struct gigarank_engine *e = gigarank_current;
	int32_t slot = e->request_free;
	if (slot < 0) {
		int32_t room = e->request_count ? 2 * e->request_count : 64;
		struct gigarank_request *larger = realloc(e->requests, (size_t)room * sizeof *larger);
		if (!larger)
			return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a request");
		memset(larger + e->request_count, 0, (size_t)(room - e->request_count) * sizeof *larger);
		for (int32_t i = e->request_count; i < room; i++)
			larger[i].rank = -1, larger[i].next = i + 1 < room ? i + 1 : -1;
		slot = e->request_count;
		e->requests = larger, e->request_count = room;
	}
	struct gigarank_request *q = &e->requests[slot];
	e->request_free = q->next;
	q->rank = (int32_t)(e->running - e->ranks);
	q->index = 0;
	set_index(q, index);
	q->persistent = persistent, q->plan = NULL;
	q->done = q->detached = 0;
	q->general = NULL;
	q->comm = e->running->about;
	q->after = NULL;
	*request = (MPI_Request)((uintptr_t)(uint32_t)q->generation << 32 | (uint32_t)(slot + GIGARANK_PREDEFINED));
	return MPI_SUCCESS;
}

struct gigarank_request *look(MPI_Request request) {
	struct gigarank_engine *e = gigarank_current;
	uint32_t slot = (uint32_t)(uintptr_t)request - GIGARANK_PREDEFINED;
	if (slot >= (uint32_t)e->request_count)
		return NULL;
	struct gigarank_request *q = &e->requests[slot];
	if (q->rank != e->running - e->ranks || (uint32_t)q->generation != (uintptr_t)request >> 32)
		return NULL;
	return q;
}

void gigarank_drop_request(struct gigarank_request *q) {
	struct gigarank_engine *e = gigarank_current;
	if (q->persistent)
		gigarank_leave_layouts(q->persistent);
	free(q->persistent);
	free(q->general);
	if (q->plan)
		q->plan->close(q->plan);
	q->persistent = NULL, q->plan = NULL, q->general = NULL;
	set_index(q, 0);
	q->rank = -1;
	q->generation++;
	q->next = e->request_free;
	e->request_free = (int32_t)(q - e->requests);
}

/* retire makes a request inactive whose operation is over. */
static void retire(MPI_Request *request, int64_t bytes) {
	if (*request == MPI_REQUEST_NULL)
		return;
	struct gigarank_request *q = look(*request);
	set_index(q, 0);
	q->done = 0;
	if (q->after) {
		q->after(q->what, bytes);
		q->after = NULL;
	}
	if (!q->persistent && !q->plan) {
		gigarank_drop_request(q);
		*request = MPI_REQUEST_NULL;
	}
}

/* A list of requests that is handed in. */
struct list {
	int n, every, any; /* a wait for all of them, or for any one */
	MPI_Request *requests;
	int generals, done; /* some are generalised ones, or known to be done */
	int actives;        /* with an index */
};

/* indices_of stores the simulator's requests of a list. */
static int indices_of(int procedure, struct list *l, int32_t *indices) {
	for (int i = 0; i < l->n; i++) {
		indices[i] = 0;
		if (l->requests[i] == MPI_REQUEST_NULL)
			continue;
		struct gigarank_request *q = look(l->requests[i]);
		if (!q)
			return refuse(procedure, MPI_ERR_REQUEST, "request %d is no request of this rank, or it has been waited for or freed", i);
		indices[i] = q->index;
		l->actives += q->index != 0;
		l->generals |= q->general != NULL;
		l->done |= q->done;
	}
	return MPI_SUCCESS;
}

/* comm_of returns the index of the communicator of the first of some requests. */
static int32_t comm_of(int n, const MPI_Request *requests) {
	for (int i = 0; i < n; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			return look(requests[i])->comm;
	return 1;
}

/* take_kept stores the places and statuses of requests that are known to be done. */
static void take_kept(struct gigarank_call *c, const struct list *l) {
	for (int i = 0; i < l->n; i++) {
		struct gigarank_request *q = l->requests[i] == MPI_REQUEST_NULL ? NULL : look(l->requests[i]);
		if (!q || !q->done)
			continue;
		c->statuses[c->outcount] = q->kept, c->indices[c->outcount++] = i;
		c->found = 1;
		if (l->any)
			return;
	}
}

/* collect retires the requests that a call has completed, and stores their places and statuses. */
static int collect(struct gigarank_call *c, const struct list *l, int error, int *which, int *outcount, int *flag, MPI_Status *statuses) {
	MPI_Request *requests = l->requests;
	int32_t comm = error || l->generals ? comm_of(l->n, requests) : 1;
	*flag = c->found;
	*outcount = c->outcount;
	if (error && c->outcount == 0 && l->every)
		*flag = 0;
	for (int i = 0; i < c->outcount; i++) {
		int at = c->indices[i], to = l->every ? at : i;
		struct gigarank_status *s = &c->statuses[i];
		struct gigarank_request *q = l->every && requests[at] != MPI_REQUEST_NULL ? look(requests[at]) : NULL;
		if (q && q->done)
			*s = q->kept;
		if (which)
			which[i] = at;
		if (l->generals && requests[at] != MPI_REQUEST_NULL && look(requests[at])->general) {
			int failed = gigarank_end_general(&requests[at], statuses ? &statuses[to] : NULL);
			error = error ? error : failed;
			continue;
		}
		if (statuses)
			set_status(&statuses[to], s, error == MPI_ERR_IN_STATUS ? s->error : -1);
		retire(&requests[at], s->error ? -1 : s->bytes);
	}
	if (error)
		gigarank_handle_error(comm, error);
	return error;
}

/* A program may wait again and again for any of a long list of requests, of which the simulator
 * keeps the places from one call to the next. While all active requests of the rank are in that
 * list, a call hands in the program's handles, and nobody reads them all. GIGARANK_UNKNOWN as the
 * number of completed requests says that they must be. What happens depends on the handles and on
 * earlier calls, not on where the list lies: that differs with the hosting. */
static int wait_for(int procedure, int n, MPI_Request *requests, int *which, int *outcount, int *flag, MPI_Status *statuses) {
	enum { SMALL = 16, LONG = 256 };
	int32_t few[SMALL], fewer[SMALL];
	struct gigarank_status little[SMALL];
	struct list l = {.n = n, .requests = requests};
	l.every = procedure == GIGARANK_WAITALL || procedure == GIGARANK_TESTALL || procedure == GIGARANK_WAIT || procedure == GIGARANK_TEST;
	l.any = procedure == GIGARANK_WAITANY || procedure == GIGARANK_TESTANY;
	CHECK(active(procedure));
	if (n < 0)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %d", n);
	struct gigarank_rank *r = gigarank_running();
	int kept = n >= LONG && !l.every && !r->singular, error = MPI_SUCCESS, over = 0;
	int32_t *indices = few, *positions = fewer;
	struct gigarank_status *all = little;
	void *memory = NULL, *further = NULL;
	if (n > SMALL && !l.any) {
		all = memory = malloc((size_t)n * (sizeof *all + sizeof *positions));
		positions = (int32_t *)(all + n);
		if (!memory)
			goto none;
	}
	struct gigarank_call c = {.procedure = procedure, .comm = 1, .n = n, .indices = positions, .statuses = all};
	if (kept && r->listed) {
		c.handles = (const uintptr_t *)requests;
		error = gigarank_suspend(&c);
	}
	if (!c.handles || c.outcount == GIGARANK_UNKNOWN) {
		if (n > SMALL)
			indices = further = malloc((size_t)n * sizeof *indices);
		if (!indices)
			goto none;
		c = (struct gigarank_call){.procedure = procedure, .comm = 1, .n = n, .requests = indices, .indices = positions, .statuses = all};
		error = indices_of(procedure, &l, indices);
		if (!error && l.generals)
			error = gigarank_wait_for_generals(procedure, n, requests, which, outcount, flag, statuses, &over);
		over |= error;
		if (!over && kept && (r->listed = l.actives == r->actives))
			c.handles = (const uintptr_t *)requests;
		if (!over && !l.every && l.done)
			take_kept(&c, &l);
		if (!over && !c.found)
			error = gigarank_suspend(&c);
	}
	if (!over)
		error = collect(&c, &l, error, which, outcount, flag, statuses);
	free(memory);
	free(further);
	return error;
none:
	free(memory);
	return refuse(procedure, MPI_ERR_NO_MEM, "no memory for %d requests", n);
}

int wait_alone(int32_t index, int64_t *bytes) {
	struct gigarank_status status = {0};
	int32_t place = 0;
	struct gigarank_call c = {.procedure = GIGARANK_WAIT, .comm = 1, .n = 1, .requests = &index, .indices = &place, .statuses = &status};
	int error = gigarank_trap(&c);
	*bytes = error ? -1 : status.bytes;
	return error;
}

MPI(Wait, MPI_Request *request, MPI_Status *status) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	int outcount = 0, flag = 0;
	set_status(status, &empty, -1);
	return wait_for(GIGARANK_WAIT, 1, request, NULL, &outcount, &flag, status);
}

MPI(Test, MPI_Request *request, int *flag, MPI_Status *status) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	int outcount = 0;
	if (*request == MPI_REQUEST_NULL)
		set_status(status, &empty, -1);
	return wait_for(GIGARANK_TEST, 1, request, NULL, &outcount, flag, status);
}

MPI(Waitall, int count, MPI_Request requests[], MPI_Status statuses[]) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	int outcount = 0, flag = 0;
	for (int i = 0; statuses && i < count; i++)
		set_status(&statuses[i], &empty, -1);
	return wait_for(GIGARANK_WAITALL, count, requests, NULL, &outcount, &flag, statuses);
}

MPI(Testall, int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	int outcount = 0;
	int error = wait_for(GIGARANK_TESTALL, count, requests, NULL, &outcount, flag, statuses);
	return error;
}

/* An operation of the program's own is told whether it is complete. One that is known to be over
 * cannot be cancelled. */
MPI(Cancel, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	CHECK(active(GIGARANK_CANCEL));
	struct gigarank_request *q = *request == MPI_REQUEST_NULL ? NULL : look(*request);
	if (!q)
		return refuse(GIGARANK_CANCEL, MPI_ERR_REQUEST, *request == MPI_REQUEST_NULL ? "the request is MPI_REQUEST_NULL" : "the handle is no request of this rank, or it has been waited for or freed");
	if (q->general)
		return q->general->cancel(q->general->extra, q->general->complete);
	if (q->done)
		return MPI_SUCCESS;
	if (!q->index)
		return refuse(GIGARANK_CANCEL, MPI_ERR_REQUEST, "the request is not active");
	int32_t index = q->index, about = q->comm;
	struct gigarank_call c = {.procedure = GIGARANK_CANCEL, .comm = 1, .n = 1, .requests = &index};
	int error = gigarank_suspend(&c);
	if (error)
		gigarank_handle_error(about, error);
	return error;
}

static int any_of(int procedure, int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	int outcount = 0, at = MPI_UNDEFINED;
	int error = wait_for(procedure, count, requests, &at, &outcount, flag, status);
	*index = outcount ? at : MPI_UNDEFINED;
	if (!outcount && *flag)
		set_status(status, &empty, -1);
	return error;
}

MPI(Waitany, int count, MPI_Request requests[], int *index, MPI_Status *status) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(index, "index", MPI_ERR_ARG);
	int flag = 0;
	return any_of(GIGARANK_WAITANY, count, requests, index, &flag, status);
}

MPI(Testany, int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(index, "index", MPI_ERR_ARG);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	return any_of(GIGARANK_TESTANY, count, requests, index, flag, status);
}

static int some_of(int procedure, int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int flag = 0;
	*outcount = 0;
	int error = wait_for(procedure, count, requests, indices, outcount, &flag, statuses);
	if (!error && !*outcount && flag) /* none is active */
		*outcount = MPI_UNDEFINED;
	return error;
}

MPI(Waitsome, int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	GIVEN(incount == 0 || indices, "array_of_indices", MPI_ERR_ARG);
	GIVEN(incount == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(outcount, "outcount", MPI_ERR_ARG);
	return some_of(GIGARANK_WAITSOME, incount, requests, outcount, indices, statuses);
}

MPI(Testsome, int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	GIVEN(incount == 0 || indices, "array_of_indices", MPI_ERR_ARG);
	GIVEN(incount == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	GIVEN(outcount, "outcount", MPI_ERR_ARG);
	return some_of(GIGARANK_TESTSOME, incount, requests, outcount, indices, statuses);
}

/* --- messages ----------------------------------------------------------------------- */

static int sending(struct gigarank_call *c, int procedure, const void *buffer, int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
	CHECK(find(procedure, comm, c));
	CHECK(bytes_of(procedure, count, type, &c->bytes));
	gigarank_lay(&c->from, &buffer, count, type);
	if (!c->from.type)
		CHECK(touch(procedure, buffer, c->bytes));
	c->input = buffer;
	return to(c, procedure, dest, tag);
}

static int receiving(struct gigarank_call *c, int procedure, void *buffer, int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm) {
	CHECK(find(procedure, comm, c));
	CHECK(bytes_of(procedure, count, type, &c->room));
	gigarank_lay(&c->to, (const void **)&buffer, count, type);
	if (!c->to.type)
		CHECK(touch_to(procedure, buffer, c->room));
	c->output = buffer;
	return from(c, procedure, source, tag);
}

/* Where stacks are copied, what lies on one has no address while other ranks run. A shelter
 * is memory for the buffers of an operation that goes on after its call. */
struct shelter {
	void *to, *output, *input;
	size_t bytes;
	void (*after)(void *, int64_t);
	void *what;
};

static int on_stack(const void *address) {
	struct gigarank_engine *e = gigarank_current;
	return e->copied && (size_t)((const char *)address - e->stacks) < e->stack;
}

static void *copy_of(const void *memory, int64_t bytes) {
	void *copy = malloc((size_t)bytes + 1);
	return copy ? memcpy(copy, memory, (size_t)bytes) : NULL;
}

/* come_back ends the use of a shelter. The rank that it belongs to runs. */
static void come_back(void *what, int64_t bytes) {
	struct shelter *s = what;
	if (s->output)
		memcpy(s->to, s->output, s->bytes);
	if (s->after)
		s->after(s->what, bytes);
	free(s->output);
	free(s->input);
	free(s);
}

/* shelter moves the buffers of a call from the stack. input is the size of what it sends. It
 * stores NULL if none lies there. */
static int shelter(struct gigarank_call *c, int64_t input, struct shelter **made) {
	*made = NULL;
	int out = c->room > 0 && on_stack(c->output), same = out && c->input == c->output;
	int in = input > 0 && !same && on_stack(c->input);
	if (!in && !out)
		return MPI_SUCCESS;
	struct shelter *s = calloc(1, sizeof *s);
	if (s && out)
		s->to = c->output, s->bytes = (size_t)c->room, s->output = copy_of(c->output, c->room);
	if (s && in)
		s->input = copy_of(c->input, input);
	if (!s || (out && !s->output) || (in && !s->input)) {
		if (s)
			free(s->output), free(s->input), free(s);
		return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for a copy of the buffers");
	}
	if (in || same)
		c->input = same ? s->output : s->input;
	if (out)
		c->output = s->output;
	*made = s;
	return MPI_SUCCESS;
}

/* settle has a request come back from a shelter when its operation is over. */
static void settle(struct gigarank_request *q, struct shelter *s) {
	if (!s)
		return;
	s->after = q->after, s->what = q->what;
	q->after = come_back, q->what = s;
}

static void give_up(struct shelter *s) {
	if (s) {
		free(s->output);
		free(s->input);
		free(s);
	}
}

/* launch makes a call that begins an operation. It stores what is to be done when that is over
 * in a request: a new one, or a persistent one that is started. */
static int launch(struct gigarank_call *c, MPI_Request *request, int persistent) {
	struct shelter *s;
	CHECK(gigarank_pack_call(c));
	const void *sent = c->input;
	void *packed = c->output;
	int error = shelter(c, 0, &s); /* what is sent is copied at once */
	if (!error) {
		error = gigarank_trap(c);
		int32_t index = c->request;
		if (!error && !persistent)
			error = add(index, NULL, request);
		if (error)
			give_up(s);
		else {
			struct gigarank_request *q = look(*request); /* the table may have moved */
			set_index(q, index);
			if (c->to.type)
				gigarank_receive_later(q, &c->to, packed);
			settle(q, s);
		}
	}
	c->input = sent, c->output = packed;
	gigarank_drop_packed(c, 1, error);
	return error;
}

static int begin(struct gigarank_call *c, MPI_Request *request) { return launch(c, request, 0); }

/* persist keeps a call that a start makes. */
static int persist(struct gigarank_call *c, MPI_Request *request) {
	struct gigarank_call *kept = malloc(sizeof *kept);
	if (!kept)
		return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for a request");
	*kept = *c;
	gigarank_keep_layouts(kept);
	return add(0, kept, request);
}

#define SENDS(name, procedure) \
	COUNTED(name, const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
		struct gigarank_call c = {0}; \
		CHECK(sending(&c, procedure, buffer, count, type, dest, tag, comm)); \
		return gigarank_transfer(&c); \
	}
#define SENDS_LATER(name, procedure, how) \
	COUNTED(name, const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) { \
		struct gigarank_call c = {0}; \
		GIVEN(request, "request", MPI_ERR_REQUEST); \
		CHECK(sending(&c, procedure, buffer, count, type, dest, tag, comm)); \
		return how(&c, request); \
	}

MPI(Start, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	CHECK(active(GIGARANK_NONE));
	struct gigarank_request *q = *request == MPI_REQUEST_NULL ? NULL : look(*request);
	if (!q || (!q->persistent && !q->plan))
		return refuse(GIGARANK_NONE, MPI_ERR_REQUEST, "the request is not persistent");
	if (q->index || q->done)
		return refuse(q->persistent ? q->persistent->procedure : GIGARANK_NONE, MPI_ERR_REQUEST, "the persistent request is active: wait for it before the next start");
	if (q->plan)
		return gigarank_start_plan(request);
	struct gigarank_call c = *q->persistent;
	return launch(&c, request, 1);
}

MPI(Startall, int count, MPI_Request requests[]) {
	GIVEN(count == 0 || requests, "array_of_requests", MPI_ERR_REQUEST);
	for (int i = 0; i < count; i++)
		CHECK(PMPI_Start(&requests[i]));
	return MPI_SUCCESS;
}

static int probe(struct gigarank_call *c, int procedure, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	CHECK(find(procedure, comm, c));
	CHECK(from(c, procedure, source, tag));
	gigarank_trap(c);
	if (c->found)
		set_status(status, &c->status, -1);
	return c->error;
}

/* The handle of a message is its number. */
static MPI_Message message_of(int32_t number) {
	return number == -1 ? MPI_MESSAGE_NO_PROC : number <= 0 ? MPI_MESSAGE_NULL : (MPI_Message)((uintptr_t)number + GIGARANK_PREDEFINED);
}

/* take_message takes the message of a handle, which is none from then on. */
static int32_t take_message(MPI_Message *message) {
	MPI_Message m = *message;
	*message = MPI_MESSAGE_NULL;
	return m == MPI_MESSAGE_NO_PROC ? -1 : m == MPI_MESSAGE_NULL ? -2 : (int32_t)((uintptr_t)m - GIGARANK_PREDEFINED);
}

MPI(Probe, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c = {0};
	return probe(&c, GIGARANK_PROBE, source, tag, comm, status);
}

MPI(Iprobe, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	int error = probe(&c, GIGARANK_IPROBE, source, tag, comm, status);
	*flag = c.found;
	return error;
}

MPI(Mprobe, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	int error = probe(&c, GIGARANK_MPROBE, source, tag, comm, status);
	*message = message_of(c.message);
	return error;
}

MPI(Improbe, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	int error = probe(&c, GIGARANK_IMPROBE, source, tag, comm, status);
	*flag = c.found;
	*message = c.found ? message_of(c.message) : MPI_MESSAGE_NULL;
	return error;
}

/* The simulator keeps buffered messages itself. It wants to know the room for them. */
static int attach(int64_t bytes, int64_t *before) {
	struct gigarank_call c = {.procedure = GIGARANK_ATTACH, .bytes = bytes};
	CHECK(active(GIGARANK_BSEND));
	int error = gigarank_trap(&c);
	*before = c.room;
	return error;
}

/* --- operations --------------------------------------------------------------------- */

static struct gigarank_operation *operation_of(MPI_Op operation) {
	struct gigarank_operation *o = (struct gigarank_operation *)operation;
	return (uintptr_t)operation >= GIGARANK_PREDEFINED && (uintptr_t)operation % 8 == 0 && o->mark == GIGARANK_OPERATION_MARK ? o : NULL;
}

MPI(Op_free, MPI_Op *operation) {
	GIVEN(operation, "op", MPI_ERR_OP);
	struct gigarank_operation *o = operation_of(*operation);
	if (!o)
		return refuse(GIGARANK_NONE, MPI_ERR_OP, "MPI_Op_free of a handle that is no operation of the program's own");
	o->mark = 0; /* a nonblocking reduction may still use it */
	*operation = MPI_OP_NULL;
	return MPI_SUCCESS;
}

MPI(Op_commutative, MPI_Op operation, int *commutes) {
	GIVEN(commutes, "commute", MPI_ERR_ARG);
	struct gigarank_operation *o = operation_of(operation);
	*commutes = o ? o->commutative : 1;
	return MPI_SUCCESS;
}

/* reducing sets the operation of a call. */
static int reducing(struct gigarank_call *c, MPI_Datatype type, MPI_Op operation) {
	struct gigarank_operation *o = operation_of(operation);
	c->handle = (uintptr_t)operation;
	if (o) {
		struct gigarank_datatype *t = gigarank_type(type);
		gigarank_pin(t);
		if (o->fortran)
			gigarank_number_type(t);
		c->commutative = o->commutative;
		c->operand = (uintptr_t)t;
		return MPI_SUCCESS;
	}
	c->commutative = 1;
	c->operand = (uintptr_t)c->type;
	if (gigarank_applies(operation, type))
		return MPI_SUCCESS;
	return refuse(c->procedure, MPI_ERR_OP, "the operation does not exist, or does not apply to the type");
}

/* --- collectives -------------------------------------------------------------------- */

/* What a collective has to undo or copy when it is over. Blocks at displacements go through
 * one piece of memory, in the order of the members. */
struct staging {
	char *packed;          /* received blocks */
	char *to;
	int64_t *counts;       /* bytes by member */
	int64_t *displacements;
	int32_t n;
	void *others[3];       /* to be freed */
};

static void unpack(void *what, int64_t bytes) {
	struct staging *s = what;
	(void)bytes;
	if (s->packed)
		for (int64_t i = 0, at = 0; i < s->n; at += s->counts[i++])
			memcpy(s->to + s->displacements[i], s->packed + at, (size_t)s->counts[i]);
	free(s->packed);
	free(s->counts);
	free(s->displacements);
	for (size_t i = 0; i < sizeof s->others / sizeof *s->others; i++)
		free(s->others[i]);
	free(s);
}

/* stage returns a staging for a call of n members, NULL after an error. */
static struct staging *stage(struct gigarank_call *c, int32_t n) {
	struct staging *s = calloc(1, sizeof *s);
	if (s)
		s->n = n, s->counts = calloc((size_t)n + 1, sizeof *s->counts), s->displacements = calloc((size_t)n + 1, sizeof *s->displacements);
	if (s && s->counts && s->displacements)
		return s;
	if (s)
		unpack(s, 0);
	refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %d counts", n);
	return NULL;
}

/* at_root reports whether the rank is the root of a collective, and away_from_root whether the
 * root is in the remote group. */
static int at_root(const struct gigarank_call *c, int root) { return c->remote ? root == MPI_ROOT : root == c->member; }
static int away_from_root(const struct gigarank_call *c, int root) { return c->remote && root != MPI_ROOT && root != MPI_PROC_NULL; }

#define SIDE(memory, n, t) ((struct gigarank_side){.buffer = (char *)(memory), .count = n, .type = t})
#define BLOCKS(memory, n, at, t) {.buffer = (char *)(memory), .counts = n, .displacements = at, .type = t}

/* finish makes a collective call, in its blocking form if request is NULL. */
static int finish(struct gigarank_call *c, struct staging *s, MPI_Request *request) {
	int error = 0;
	struct shelter *sheltered = NULL;
	c->nonblocking = request != NULL;
	if (request)
		error = shelter(c, c->given, &sheltered);
	if (!error)
		error = gigarank_trap(c);
	if (request && !error && !(error = add(c->request, NULL, request))) {
		struct gigarank_request *q = look(*request);
		if (s)
			q->after = unpack, q->what = s;
		settle(q, sheltered);
		return MPI_SUCCESS;
	}
	give_up(sheltered);
	if (s)
		unpack(s, 0);
	return error;
}

/* elements sets what the elements of a collective are. Types of members may differ, if they
 * have the same elements; so may those of blocks without any, where blocks differ in length. */
static int elements(struct gigarank_call *c, MPI_Datatype type) {
	int64_t size = 0;
	CHECK(bytes_of(c->procedure, 1, type, &size));
	int p = c->procedure, differ = p == GIGARANK_GATHERV || p == GIGARANK_SCATTERV || p == GIGARANK_ALLGATHERV || p == GIGARANK_ALLTOALLV;
	const struct gigarank_datatype *t = gigarank_type(type);
	c->type = differ ? GIGARANK_UNTYPED : t->kind, c->element = differ ? 1 : t->unit;
	return MPI_SUCCESS;
}

/* operands sets what a reduction combines: values of the one type of all members. */
static int operands(struct gigarank_call *c, MPI_Datatype type) {
	int64_t size = 0;
	CHECK(bytes_of(c->procedure, 1, type, &size));
	c->type = gigarank_element(type), c->element = size;
	return MPI_SUCCESS;
}

/* A barrier has nothing but what all calls have. Only that line lies on the stack: a rank that
 * waits in a barrier takes little memory. */
MPI(Barrier, MPI_Comm comm) {
	char line[GIGARANK_COMMON] __attribute__((aligned(64)));
	struct gigarank_call *c;
	__asm__("" : "=r"(c) : "0"(line)); /* the compiler does not know that it is shorter */
	CHECK(find(GIGARANK_BARRIER, comm, c));
	c->error = 0, c->input = c->output = NULL, c->detail = NULL, c->nonblocking = 0;
	return gigarank_trap(c);
}

MPI(Ibarrier, MPI_Comm comm, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_BARRIER, comm, &c));
	return finish(&c, NULL, request);
}

/* Buffers of types whose values do not lie one behind another go through packed copies:
 * PACKED(x) is x unless an earlier step has failed, and the call itself is the last step. */
#define PACKED(step) \
	if (!error) \
		error = step

static int bcast(void *buffer, int64_t count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_BCAST, comm, &c));
	if (c.remote)
		return gigarank_between(&c, root, &SIDE(buffer, count, type), at_root(&c, root), &SIDE(buffer, count, type), away_from_root(&c, root), request);
	if (gigarank_spreads(type)) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_out(c.procedure, &p, &buffer, count, &type);
		PACKED(bcast(buffer, count, type, root, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	CHECK(elements(&c, type));
	CHECK(bytes_of(c.procedure, count, type, &c.bytes));
	CHECK(root == c.member ? touch(c.procedure, buffer, c.bytes) : touch_to(c.procedure, buffer, c.bytes));
	c.input = c.output = buffer, c.room = c.given = c.bytes, c.root = root;
	return finish(&c, NULL, request);
}

/* reduction makes the call of a reduction whose result takes part of the members, or all. */
static int reduction(int procedure, const void *sent, void *received, int64_t count, MPI_Datatype type, MPI_Op operation, int root, int receives, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(procedure, comm, &c));
	if (gigarank_spreads(type)) {
		struct gigarank_packing p = {0};
		MPI_Datatype packed = type;
		int error = MPI_SUCCESS;
		if (!c.remote || procedure != GIGARANK_REDUCE || away_from_root(&c, root))
			error = gigarank_pack_in(procedure, &p, &sent, count, &packed);
		if (receives || (procedure == GIGARANK_REDUCE && at_root(&c, root)))
			PACKED(gigarank_pack_out(procedure, &p, &received, count, &type));
		PACKED(reduction(procedure, sent, received, count, packed, operation, root, receives, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	CHECK(operands(&c, type));
	CHECK(bytes_of(procedure, count, type, &c.bytes));
	CHECK(reducing(&c, type, operation));
	if (c.remote) {
		int rooted = procedure == GIGARANK_REDUCE;
		return gigarank_between(&c, root, &SIDE(sent, count, type), !rooted || away_from_root(&c, root), &SIDE(received, count, type), !rooted || at_root(&c, root), request);
	}
	receives |= procedure == GIGARANK_REDUCE && root == c.member;
	if (sent == MPI_IN_PLACE) {
		if (!receives)
			return refuse(procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
		sent = received;
	} else if (receives && sent == received && c.bytes)
		return refuse(procedure, MPI_ERR_BUFFER, "the buffers to send and to receive are the same: give MPI_IN_PLACE");
	CHECK(touch(procedure, sent, c.bytes));
	if (receives)
		CHECK(touch_to(procedure, received, c.bytes));
	c.input = sent, c.given = c.bytes, c.output = receives ? received : NULL, c.room = receives ? c.bytes : 0, c.root = root;
	return finish(&c, NULL, request);
}

/* block returns the memory at a number of elements. */
static char *block(const void *buffer, int64_t count, int64_t element) { return (char *)buffer + count * element; }

static int gather(int procedure, const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(procedure, comm, &c));
	if (c.remote && procedure == GIGARANK_ALLGATHER)
		return gigarank_between(&c, 0, &SIDE(sent, sendcount, sendtype), 1, &SIDE(received, recvcount, recvtype), c.remote, request);
	if (c.remote)
		return gigarank_between(&c, root, &SIDE(sent, sendcount, sendtype), away_from_root(&c, root), &SIDE(received, recvcount, recvtype), at_root(&c, root) * c.remote, request);
	int receives = procedure == GIGARANK_ALLGATHER || root == c.member;
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || (receives && gigarank_spreads(recvtype))) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_in(procedure, &p, &sent, sendcount, &sendtype);
		if (receives)
			PACKED(gigarank_pack_out(procedure, &p, &received, product(recvcount, c.size), &recvtype));
		PACKED(gather(procedure, sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	int64_t each = 0;
	if (receives) {
		CHECK(bytes_of(procedure, recvcount, recvtype, &each));
		CHECK(multiply(procedure, each, c.size, &c.room));
	}
	if (sent == MPI_IN_PLACE) {
		if (!receives)
			return refuse(procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
		sent = block(received, c.member, each), sendcount = recvcount, sendtype = recvtype;
	}
	CHECK(elements(&c, sendtype));
	CHECK(bytes_of(procedure, sendcount, sendtype, &c.bytes));
	if (receives && each < c.bytes)
		return refuse(procedure, MPI_ERR_TRUNCATE, "room for %lld bytes of each member where %lld are sent", (long long)each, (long long)c.bytes);
	CHECK(touch(procedure, sent, c.bytes));
	c.input = sent, c.given = c.bytes, c.root = root;
	if (receives) {
		c.output = received;
		CHECK(touch_to(procedure, received, c.room));
	}
	return finish(&c, NULL, request);
}

static int scatter(const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_SCATTER, comm, &c));
	if (c.remote)
		return gigarank_between(&c, root, &SIDE(sent, sendcount, sendtype), at_root(&c, root) * c.remote, &SIDE(received, recvcount, recvtype), away_from_root(&c, root), request);
	if ((received != MPI_IN_PLACE && gigarank_spreads(recvtype)) || (root == c.member && gigarank_spreads(sendtype))) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_out(c.procedure, &p, &received, recvcount, &recvtype);
		if (root == c.member)
			PACKED(gigarank_pack_in(c.procedure, &p, &sent, product(sendcount, c.size), &sendtype));
		PACKED(scatter(sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	int64_t each = 0, input = 0;
	if (root == c.member) {
		CHECK(bytes_of(c.procedure, sendcount, sendtype, &each));
		CHECK(multiply(c.procedure, each, c.size, &input));
		CHECK(touch(c.procedure, sent, input));
	}
	if (received == MPI_IN_PLACE) {
		if (root != c.member)
			return refuse(c.procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
		received = block(sent, c.member, each), recvcount = sendcount, recvtype = sendtype;
	}
	CHECK(elements(&c, recvtype));
	CHECK(bytes_of(c.procedure, recvcount, recvtype, &c.bytes));
	if (root == c.member && c.bytes < each)
		return refuse(c.procedure, MPI_ERR_TRUNCATE, "room for %lld bytes where %lld are sent", (long long)c.bytes, (long long)each);
	CHECK(touch_to(c.procedure, received, c.bytes));
	c.input = root == c.member ? sent : NULL, c.given = input, c.output = received, c.room = c.bytes, c.root = root;
	if (root == c.member)
		c.bytes = each; /* it may have room for more */
	return finish(&c, NULL, request);
}

/* blocks stores counts of elements and displacements as bytes. It returns the bytes of all
 * blocks, and whether they lie one behind another. */
static int blocks(struct gigarank_call *c, struct staging *s, struct gigarank_numbers counts, struct gigarank_numbers displacements, MPI_Datatype type, int64_t *all, int *packed) {
	int64_t size = gigarank_size(type);
	*all = 0, *packed = 1;
	if (size < 0)
		return refuse(c->procedure, MPI_ERR_TYPE, "the handle is no type");
	for (int32_t i = 0; i < s->n; i++) {
		int64_t count = number_at(counts, i);
		if (count < 0)
			return refuse(c->procedure, MPI_ERR_COUNT, "a count of %lld for member %d", (long long)count, i);
		if (__builtin_mul_overflow(count, size, &s->counts[i]) || s->counts[i] > GIGARANK_MOST_BYTES)
			return refuse(c->procedure, MPI_ERR_COUNT, "a count of %lld for member %d is more than memory holds", (long long)count, i);
		s->displacements[i] = has_numbers(displacements) ? number_at(displacements, i) * size : *all;
		*packed = *packed && (s->displacements[i] == *all || !count);
		CHECK(add_up(c->procedure, all, s->counts[i]));
	}
	return MPI_SUCCESS;
}

static int no_room(struct gigarank_call *c, struct staging *s, int64_t bytes) {
	unpack(s, 0);
	return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)bytes);
}

#define CHECK_STAGED(expression) \
	do { \
		int error_ = (expression); \
		if (error_) { \
			unpack(s, 0); \
			return error_; \
		} \
	} while (0)

/* listed checks that the counts of blocks are given, where the rank needs them. Without displacements
 * blocks lie one behind another. */
static int listed(const struct gigarank_call *c, int needed, struct gigarank_numbers counts) {
	if (needed && !has_numbers(counts))
		return refuse(c->procedure, c->procedure == GIGARANK_ALLTOALLV ? MPI_ERR_ARG : MPI_ERR_COUNT, "the list of counts is NULL");
	return MPI_SUCCESS;
}

static int gatherv(int procedure, const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers displacements, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct staging *s = NULL;
	CHECK(find(procedure, comm, &c));
	CHECK(listed(&c, procedure == GIGARANK_ALLGATHERV || at_root(&c, root), recvcounts));
	if (c.remote) {
		struct gigarank_side in = BLOCKS(received, recvcounts, displacements, recvtype);
		int all = procedure == GIGARANK_ALLGATHERV;
		return gigarank_between(&c, root, &SIDE(sent, sendcount, sendtype), all || away_from_root(&c, root), &in, (all || at_root(&c, root)) * c.remote, request);
	}
	int receives = procedure == GIGARANK_ALLGATHERV || root == c.member;
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || (receives && gigarank_spreads(recvtype))) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_in(procedure, &p, &sent, sendcount, &sendtype);
		if (receives)
			PACKED(gigarank_pack_blocks_out(procedure, &p, &received, c.size, recvcounts, &displacements, &recvtype));
		PACKED(gatherv(procedure, sent, sendcount, sendtype, received, recvcounts, displacements, recvtype, root, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	if (sent == MPI_IN_PLACE && !receives)
		return refuse(procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
	c.root = root;
	if (receives) {
		int64_t all;
		int packed;
		if (!(s = stage(&c, c.size)))
			return MPI_ERR_NO_MEM;
		CHECK_STAGED(blocks(&c, s, recvcounts, displacements, recvtype, &all, &packed));
		if (sent == MPI_IN_PLACE)
			sent = (char *)received + s->displacements[c.member], sendcount = number_at(recvcounts, c.member), sendtype = recvtype;
		c.output = received, c.room = all, c.counts = s->counts;
		if (!packed) {
			if (!(s->packed = malloc((size_t)all + 1)))
				return no_room(&c, s, all);
			s->to = received;
			c.output = s->packed;
		}
	}
	if (s) {
		CHECK_STAGED(elements(&c, sendtype));
		CHECK_STAGED(bytes_of(procedure, sendcount, sendtype, &c.bytes));
		CHECK_STAGED(touch(procedure, sent, c.bytes));
		if (c.bytes != s->counts[c.member]) {
			unpack(s, 0);
			return refuse(procedure, MPI_ERR_COUNT, "the rank sends %lld bytes and counts %lld of itself", (long long)c.bytes, (long long)(number_at(recvcounts, c.member) * gigarank_size(recvtype)));
		}
	} else {
		CHECK(elements(&c, sendtype));
		CHECK(bytes_of(procedure, sendcount, sendtype, &c.bytes));
		CHECK(touch(procedure, sent, c.bytes));
	}
	c.input = sent, c.given = c.bytes;
	return finish(&c, s, request);
}

static int scatterv(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers displacements, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct staging *s = NULL;
	CHECK(find(GIGARANK_SCATTERV, comm, &c));
	CHECK(listed(&c, at_root(&c, root), sendcounts));
	if (c.remote) {
		struct gigarank_side out = BLOCKS(sent, sendcounts, displacements, sendtype);
		return gigarank_between(&c, root, &out, at_root(&c, root) * c.remote, &SIDE(received, recvcount, recvtype), away_from_root(&c, root), request);
	}
	if ((received != MPI_IN_PLACE && gigarank_spreads(recvtype)) || (root == c.member && gigarank_spreads(sendtype))) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_out(c.procedure, &p, &received, recvcount, &recvtype);
		if (root == c.member)
			PACKED(gigarank_pack_blocks_in(c.procedure, &p, &sent, c.size, sendcounts, &displacements, &sendtype));
		PACKED(scatterv(sent, sendcounts, displacements, sendtype, received, recvcount, recvtype, root, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	c.root = root;
	if (received == MPI_IN_PLACE && root != c.member)
		return refuse(c.procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
	if (root == c.member) {
		int64_t all;
		int packed;
		if (!(s = stage(&c, c.size)))
			return MPI_ERR_NO_MEM;
		CHECK_STAGED(blocks(&c, s, sendcounts, displacements, sendtype, &all, &packed));
		c.input = sent, c.counts = s->counts;
		if (!packed) {
			char *copy = malloc((size_t)all + 1);
			if (!copy)
				return no_room(&c, s, all);
			s->others[0] = copy;
			for (int64_t i = 0, at = 0; i < s->n; at += s->counts[i++])
				memcpy(copy + at, (const char *)sent + s->displacements[i], (size_t)s->counts[i]);
			c.input = copy;
		}
		if (received == MPI_IN_PLACE)
			received = (char *)sent + s->displacements[c.member], recvcount = number_at(sendcounts, c.member), recvtype = sendtype;
		CHECK_STAGED(elements(&c, sendtype));
		CHECK_STAGED(bytes_of(c.procedure, recvcount, recvtype, &c.bytes));
		if (c.bytes < s->counts[c.member]) {
			unpack(s, 0);
			return refuse(c.procedure, MPI_ERR_TRUNCATE, "the root has room for less than it scatters to itself");
		}
		c.given = all;
	} else {
		CHECK(elements(&c, recvtype));
		CHECK(bytes_of(c.procedure, recvcount, recvtype, &c.bytes));
	}
	c.output = received, c.room = c.bytes;
	if (s)
		CHECK_STAGED(touch_to(c.procedure, received, c.bytes));
	else
		CHECK(touch_to(c.procedure, received, c.bytes));
	return finish(&c, s, request);
}

static int alltoall(const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct staging *s = NULL;
	int64_t each;
	CHECK(find(GIGARANK_ALLTOALL, comm, &c));
	if (c.remote)
		return gigarank_between(&c, 0, &SIDE(sent, sendcount, sendtype), c.remote, &SIDE(received, recvcount, recvtype), c.remote, request);
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || gigarank_spreads(recvtype)) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_in(c.procedure, &p, &sent, product(sendcount, c.size), &sendtype);
		PACKED(gigarank_pack_out(c.procedure, &p, &received, product(recvcount, c.size), &recvtype));
		PACKED(alltoall(sent, sendcount, sendtype, received, recvcount, recvtype, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	CHECK(bytes_of(c.procedure, recvcount, recvtype, &each));
	CHECK(multiply(c.procedure, each, c.size, &c.room));
	if (sent == MPI_IN_PLACE) {
		sendcount = recvcount, sendtype = recvtype;
		if (!(s = stage(&c, 0)))
			return MPI_ERR_NO_MEM;
		if (!(s->others[0] = malloc((size_t)c.room + 1)))
			return no_room(&c, s, c.room);
		memcpy(s->others[0], received, (size_t)c.room);
		sent = s->others[0];
	}
	int error = elements(&c, sendtype);
	if (!error)
		error = bytes_of(c.procedure, sendcount, sendtype, &c.bytes);
	if (!error && c.bytes > each)
		error = refuse(c.procedure, MPI_ERR_TRUNCATE, "room for %lld bytes of each member where %lld are sent", (long long)each, (long long)c.bytes);
	if (!error)
		error = touch(c.procedure, sent, c.bytes * c.size);
	if (!error)
		error = touch_to(c.procedure, received, c.room);
	if (error) {
		if (s)
			unpack(s, 0);
		return error;
	}
	c.input = sent, c.given = c.bytes * c.size, c.output = received;
	return finish(&c, s, request);
}

static int alltoallv(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers senddisplacements, MPI_Datatype sendtype, void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers recvdisplacements, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	int64_t in, out;
	int packed;
	CHECK(find(GIGARANK_ALLTOALLV, comm, &c));
	CHECK(listed(&c, sent != MPI_IN_PLACE, sendcounts));
	CHECK(listed(&c, 1, recvcounts));
	if (c.remote) {
		struct gigarank_side out = BLOCKS(sent, sendcounts, senddisplacements, sendtype), in = BLOCKS(received, recvcounts, recvdisplacements, recvtype);
		return gigarank_between(&c, 0, &out, c.remote, &in, c.remote, request);
	}
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || gigarank_spreads(recvtype)) {
		struct gigarank_packing p = {0};
		int error = MPI_SUCCESS;
		if (sent != MPI_IN_PLACE)
			PACKED(gigarank_pack_blocks_in(c.procedure, &p, &sent, c.size, sendcounts, &senddisplacements, &sendtype));
		PACKED(gigarank_pack_blocks_out(c.procedure, &p, &received, c.size, recvcounts, &recvdisplacements, &recvtype));
		PACKED(alltoallv(sent, sendcounts, senddisplacements, sendtype, received, recvcounts, recvdisplacements, recvtype, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	struct staging *s = stage(&c, c.size);
	if (!s)
		return MPI_ERR_NO_MEM;
	CHECK_STAGED(elements(&c, recvtype));
	if (sent == MPI_IN_PLACE)
		sendcounts = recvcounts, senddisplacements = recvdisplacements, sendtype = recvtype;
	CHECK_STAGED(blocks(&c, s, sendcounts, senddisplacements, sendtype, &in, &packed));
	int64_t *incounts = malloc(((size_t)c.size + 1) * sizeof *incounts);
	s->others[0] = incounts;
	c.input = sent;
	if (sent == MPI_IN_PLACE || !packed)
		c.input = s->others[1] = malloc((size_t)in + 1);
	else
		CHECK_STAGED(touch(c.procedure, sent, in));
	if (!incounts || (in && !c.input))
		return no_room(&c, s, in);
	memcpy(incounts, s->counts, (size_t)c.size * sizeof *incounts);
	const char *from = sent == MPI_IN_PLACE ? received : sent;
	for (int64_t i = 0, at = 0; s->others[1] && i < s->n; at += s->counts[i++])
		memcpy((char *)s->others[1] + at, from + s->displacements[i], (size_t)s->counts[i]);
	CHECK_STAGED(blocks(&c, s, recvcounts, recvdisplacements, recvtype, &out, &packed));
	c.given = in, c.incounts = incounts, c.counts = s->counts;
	c.output = received, c.room = out;
	if (!packed) {
		if (!(s->packed = malloc((size_t)out + 1)))
			return no_room(&c, s, out);
		s->to = received;
		c.output = s->packed;
	}
	return finish(&c, s, request);
}

static int reduce_scatter(const void *sent, void *received, struct gigarank_numbers recvcounts, int64_t recvcount, MPI_Datatype type, MPI_Op operation, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	int64_t all;
	int packed;
	CHECK(find(GIGARANK_REDUCE_SCATTER, comm, &c));
	if (gigarank_spreads(type)) {
		struct gigarank_packing p = {0};
		MPI_Datatype packed = type;
		int64_t total = product(recvcount, c.size);
		for (int32_t i = 0; has_numbers(recvcounts) && i < c.size; i++)
			if (__builtin_add_overflow(total, number_at(recvcounts, i), &total))
				total = INT64_MAX, i = c.size - 1;
		int error = gigarank_pack_in(c.procedure, &p, &sent, total, &packed);
		PACKED(gigarank_pack_out(c.procedure, &p, &received, sent == MPI_IN_PLACE ? total : has_numbers(recvcounts) ? number_at(recvcounts, c.member) : recvcount, &type));
		PACKED(reduce_scatter(sent, received, recvcounts, recvcount, packed, operation, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	CHECK(operands(&c, type));
	CHECK(reducing(&c, type, operation));
	struct staging *s = stage(&c, c.size);
	if (!s)
		return MPI_ERR_NO_MEM;
	if (has_numbers(recvcounts))
		CHECK_STAGED(blocks(&c, s, recvcounts, (struct gigarank_numbers){0}, type, &all, &packed));
	else {
		int64_t each;
		CHECK_STAGED(bytes_of(c.procedure, recvcount, type, &each));
		CHECK_STAGED(multiply(c.procedure, each, c.size, &all));
		for (int32_t i = 0; i < c.size; i++)
			s->counts[i] = each;
	}
	if (sent == MPI_IN_PLACE) {
		if (!(s->others[0] = malloc((size_t)all + 1)))
			return no_room(&c, s, all);
		memcpy(s->others[0], received, (size_t)all);
		sent = s->others[0];
	}
	CHECK_STAGED(touch(c.procedure, sent, all));
	CHECK_STAGED(touch_to(c.procedure, received, s->counts[c.member]));
	c.input = sent, c.bytes = c.given = all, c.output = received, c.room = s->counts[c.member], c.counts = s->counts;
	return finish(&c, s, request);
}

/* Blocks of alltoallw all go through packed copies, and are those of an alltoallv in bytes. */
static int alltoallw(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers senddisplacements, const MPI_Datatype sendtypes[], void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers recvdisplacements, const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct gigarank_packing p = {0};
	CHECK(find(GIGARANK_ALLTOALLV, comm, &c));
	CHECK(listed(&c, sent != MPI_IN_PLACE, sendcounts));
	CHECK(listed(&c, 1, recvcounts));
	if ((sent != MPI_IN_PLACE && !sendtypes) || !recvtypes)
		return refuse(c.procedure, MPI_ERR_ARG, "the list of types is NULL");
	if (c.remote) {
		struct gigarank_side out = {.buffer = (char *)sent, .counts = sendcounts, .types = sendtypes, .offsets = senddisplacements};
		struct gigarank_side in = {.buffer = received, .counts = recvcounts, .types = recvtypes, .offsets = recvdisplacements};
		return gigarank_between(&c, 0, &out, c.remote, &in, c.remote, request);
	}
	if (sent == MPI_IN_PLACE)
		sent = received, sendcounts = recvcounts, senddisplacements = recvdisplacements, sendtypes = recvtypes;
	struct staging *s = stage(&c, c.size);
	if (!s)
		return MPI_ERR_NO_MEM;
	int64_t *incounts = s->displacements; /* packed blocks need none */
	int error = gigarank_pack_each_in(c.procedure, &p, &sent, c.size, sendcounts, senddisplacements, sendtypes, incounts);
	PACKED(gigarank_pack_each_out(c.procedure, &p, &received, c.size, recvcounts, recvdisplacements, recvtypes, s->counts));
	if (error) {
		unpack(s, 0);
		return gigarank_unpack(&p, error, NULL);
	}
	c.element = 1;
	c.input = sent, c.given = p.in.bytes, c.incounts = incounts, c.counts = s->counts, c.output = received, c.room = p.out.bytes;
	error = finish(&c, s, request);
	return gigarank_unpack(&p, error, request);
}

#define UNPACK(...) __VA_ARGS__
#define BOTH(name, later, parameters, call) \
	COUNTED(name, UNPACK parameters) { \
		MPI_Request *request = NULL; \
		return call; \
	} \
	COUNTED(later, UNPACK parameters, MPI_Request *request) { \
		GIVEN(request, "request", MPI_ERR_REQUEST); \
		return call; \
	}

/* The functions with counts, of both sorts. */
#include "counts_small.h"
#include "counted_calls.h"
#include "counts_large.h"
#include "counted_calls.h"
