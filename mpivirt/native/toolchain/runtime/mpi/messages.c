/* Messages from rank to rank. */
#include "mpi/messages.h"
#include "mpi/arguments.h"
#include "mpi/bounce_buffers.h"
#include "mpi/datatypes.h"
#include "mpi/error_handlers.h"
#include "mpi/packing.h"
#include "mpi/plain_messages.h"
#include "mpi/request_table.h"
#include "mpi/requests.h"
#include "rank/posts.h"
#include "rank/ranks.h"
#include "rank/running.h"
#include "rank/unread.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* gigarank_clear_call has all fields of a call be 0. Of the whole call compilers make a string instruction, which takes longer than the stores. */
static inline void gigarank_clear_call(struct gigarank_call *c) {
	enum { PIECE = 48 };
	_Static_assert(sizeof *c % PIECE == 0, "a call is cleared by pieces");
	for (size_t at = 0; at < sizeof *c; at += PIECE)
		memset((char *)c + at, 0, PIECE);
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

/* from sets the source and tag that a call receives from. */
static int from(struct gigarank_call *c, int procedure, int source, int tag) {
	if (tag < 0 && tag != MPI_ANY_TAG)
		return refuse(procedure, MPI_ERR_TAG, "tag %d: tags are 0 to %d, or MPI_ANY_TAG", tag, INT_MAX);
	if (source < 0 && source != MPI_ANY_SOURCE && source != MPI_PROC_NULL)
		return refuse(procedure, MPI_ERR_RANK, "source %d: no rank has a negative number", source);
	c->source = source == MPI_ANY_SOURCE ? GIGARANK_ANY_SOURCE : source == MPI_PROC_NULL ? GIGARANK_PROC_NULL : source;
	c->tag = tag == MPI_ANY_TAG ? GIGARANK_ANY_TAG : tag;
	return MPI_SUCCESS;
}

int gigarank_sending(struct gigarank_call *c, int procedure, const void *buffer, int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
	CHECK(find(procedure, comm, c));
	CHECK(gigarank_bytes_of(procedure, count, type, &c->bytes));
	if (gigarank_is_unread(buffer))
		buffer = NULL;
	else {
		gigarank_lay(&c->from, &buffer, count, type);
		if (!c->from.type)
			CHECK(gigarank_touch(procedure, buffer, c->bytes));
	}
	c->input = buffer;
	return to(c, procedure, dest, tag);
}

int gigarank_receiving(struct gigarank_call *c, int procedure, void *buffer, int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm) {
	CHECK(find(procedure, comm, c));
	CHECK(gigarank_bytes_of(procedure, count, type, &c->room));
	if (gigarank_is_unread(buffer))
		buffer = NULL;
	else {
		gigarank_lay(&c->to, (const void **)&buffer, count, type);
		if (!c->to.type)
			CHECK(gigarank_touch_to(procedure, buffer, c->room));
	}
	c->output = buffer;
	return from(c, procedure, source, tag);
}

int gigarank_launch(struct gigarank_call *c, MPI_Request *request, int persistent) {
	struct gigarank_bounce_buffer *s;
	CHECK(gigarank_pack_call(c));
	const void *sent = c->input;
	void *packed = c->output;
	int error = gigarank_bounce(c, 0, &s); /* bytes that are sent are copied at once */
	if (!error && gigarank_may_post(c)) {
		if (persistent)
			gigarank_set_index(gigarank_find_request(*request), GIGARANK_POSTED);
		else
			error = gigarank_add_request(GIGARANK_POSTED, NULL, request);
		if (error) {
			gigarank_free_bounce_buffer(s);
		} else {
			struct gigarank_request *q = gigarank_find_request(*request);
			gigarank_post(c, (int32_t)(q - gigarank_current->requests));
			gigarank_settle_bounce_buffer(q, s);
		}
	} else if (!error) {
		error = gigarank_suspend(c);
		if (error) /* the communicator of the request, since the message may have another */
			gigarank_handle_error(persistent ? gigarank_find_request(*request)->comm : c->comm, error);
		int32_t index = c->request;
		if (!error && !persistent)
			error = gigarank_add_request(index, NULL, request);
		if (error)
			gigarank_free_bounce_buffer(s);
		else {
			struct gigarank_request *q = gigarank_find_request(*request); /* the table may have moved */
			gigarank_set_index(q, index);
			if (c->to.type)
				gigarank_receive_later(q, &c->to, packed);
			gigarank_settle_bounce_buffer(q, s);
		}
	}
	c->input = sent, c->output = packed;
	gigarank_drop_packed(c, 1, error);
	return error;
}

static int begin(struct gigarank_call *c, MPI_Request *request) { return gigarank_launch(c, request, 0); }

int gigarank_persist(struct gigarank_call *c, MPI_Request *request) {
	int ranks = c->remote ? c->remote : c->size;
	if (c->dest >= ranks)
		return refuse(c->procedure, MPI_ERR_RANK, "destination %d in a communicator of %d rank%s", c->dest, ranks, plural(ranks));
	if (c->source >= ranks)
		return refuse(c->procedure, MPI_ERR_RANK, "source %d in a communicator of %d rank%s", c->source, ranks, plural(ranks));
	struct gigarank_call *kept = malloc(sizeof *kept);
	if (!kept)
		return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for a request");
	gigarank_form(GIGARANK_PLAIN);
	*kept = *c;
	gigarank_keep_layouts(kept);
	return gigarank_add_request(0, kept, request);
}

#define SENDS(name, procedure) \
	COUNTED(name, const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
		struct gigarank_call c = {0}; \
		CHECK(gigarank_sending(&c, procedure, buffer, count, type, dest, tag, comm)); \
		return gigarank_transfer(&c); \
	}
#define SENDS_LATER(name, procedure, how) \
	COUNTED(name, const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) { \
		struct gigarank_call c = {0}; \
		GIVEN(request, "request", MPI_ERR_REQUEST); \
		gigarank_form(how == gigarank_persist ? GIGARANK_PERSISTENT : GIGARANK_PLAIN); \
		CHECK(gigarank_sending(&c, procedure, buffer, count, type, dest, tag, comm)); \
		return how(&c, request); \
	}

MPI(MPI_Start, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	CHECK(active(GIGARANK_NONE));
	struct gigarank_request *q = *request == MPI_REQUEST_NULL ? NULL : gigarank_find_request(*request);
	if (!q || (!q->persistent && !q->plan))
		return refuse(GIGARANK_NONE, MPI_ERR_REQUEST, "the request is not persistent");
	if (q->index || q->done || gigarank_unready(q))
		return refuse(GIGARANK_NONE, MPI_ERR_REQUEST, "the persistent request is active: wait for it before the next start");
	if (q->plan)
		return gigarank_start_plan(request);
	struct gigarank_partitions *p = q->partitions;
	if (p && !p->receives && p->count > 0) { /* the message leaves with its last partition */
		memset(p->ready, 0, (size_t)p->count);
		p->unready = p->count, gigarank_running()->singular = 1;
		return MPI_SUCCESS;
	}
	struct gigarank_call c = *q->persistent;
	return gigarank_launch(&c, request, 1);
}

MPI(MPI_Startall, int count, MPI_Request requests[]) {
	if (count < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_COUNT, "a count of %d", count);
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
		gigarank_set_status(status, &c->status, -1);
	return c->error;
}

/* The handle of a message is its number. */
static MPI_Message message_of(int32_t number) {
	return number == -1 ? MPI_MESSAGE_NO_PROC : number <= 0 ? MPI_MESSAGE_NULL : (MPI_Message)((uintptr_t)number + GIGARANK_PREDEFINED);
}

/* take_message takes the message of a handle, which becomes MPI_MESSAGE_NULL. */
static int32_t take_message(MPI_Message *message) {
	MPI_Message m = *message;
	*message = MPI_MESSAGE_NULL;
	return m == MPI_MESSAGE_NO_PROC ? -1 : m == MPI_MESSAGE_NULL ? -2 : (int32_t)((uintptr_t)m - GIGARANK_PREDEFINED);
}

MPI(MPI_Probe, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c = {0};
	return probe(&c, GIGARANK_PROBE, source, tag, comm, status);
}

MPI(MPI_Iprobe, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	*flag = 0;
	if (gigarank_fails_again(GIGARANK_IPROBE, (uintptr_t)comm, source, tag))
		return MPI_SUCCESS;
	struct gigarank_call c = {0};
	int error = probe(&c, GIGARANK_IPROBE, source, tag, comm, status);
	if (!(*flag = c.found) && !error)
		gigarank_foresees(c.key, GIGARANK_IPROBE, (uintptr_t)comm, source, tag);
	return error;
}

MPI(MPI_Mprobe, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	int error = probe(&c, GIGARANK_MPROBE, source, tag, comm, status);
	*message = message_of(c.message);
	return error;
}

MPI(MPI_Improbe, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	int error = probe(&c, GIGARANK_IMPROBE, source, tag, comm, status);
	*flag = c.found;
	*message = c.found ? message_of(c.message) : MPI_MESSAGE_NULL;
	return error;
}

/* The simulator keeps buffered messages itself. It gets the size of the attached buffer. */
static int attach(int64_t bytes, int64_t *before) {
	struct gigarank_call c = {.procedure = GIGARANK_ATTACH, .bytes = bytes};
	int error = gigarank_trap(&c);
	*before = c.room;
	return error;
}

#include "mpi/counts_small.h"
#include "mpi/counted_messages.h"
#include "mpi/counts_large.h"
#include "mpi/counted_messages.h"
