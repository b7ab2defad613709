/* Memory of collectives, and the call itself. */
#include "mpi/staging.h"
#include "mpi/arguments.h"
#include "mpi/bounce_buffers.h"
#include "mpi/datatypes.h"
#include "mpi/request_table.h"
#include "rank/ranks.h"
#include "rank/running.h"
#include "rank/unread.h"

#include <stdlib.h>
#include <string.h>

void gigarank_drop_staging(struct gigarank_staging *s) {
	free(s->packed);
	free(s->counts);
	free(s->displacements);
	free(s->blocks);
	for (size_t i = 0; i < sizeof s->others / sizeof *s->others; i++)
		free(s->others[i]);
	free(s);
}

static void unpack(void *what, int64_t bytes) {
	struct gigarank_staging *s = what;
	(void)bytes;
	if (s->alike && s->packed && !gigarank_is_unread(s->to)) {
		for (int32_t i = 0; i < s->n; i++)
			gigarank_copy_block(s->to + gigarank_number_at(s->at, i) * s->each, s->packed + i * s->alike, s->alike);
		gigarank_drop_staging(s);
		return;
	}
	for (int64_t i = 0, at = 0; s->packed && !gigarank_is_unread(s->to) && i < s->n; i++) {
		int64_t bytes = s->blocks ? s->blocks[i].bytes : s->counts[i];
		memcpy(s->to + (s->blocks ? s->blocks[i].displacement : s->displacements[i]), s->packed + at, (size_t)bytes);
		at += bytes;
	}
	gigarank_drop_staging(s);
}

struct gigarank_staging *gigarank_stage(struct gigarank_call *c, int32_t n) {
	struct gigarank_staging *s = calloc(1, sizeof *s);
	if (s)
		s->n = n, s->counts = calloc((size_t)n + 1, sizeof *s->counts), s->displacements = calloc((size_t)n + 1, sizeof *s->displacements);
	if (s && s->counts && s->displacements)
		return s;
	if (s)
		gigarank_drop_staging(s);
	refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %d counts", n);
	return NULL;
}

int gigarank_finish(struct gigarank_call *c, struct gigarank_staging *s, MPI_Request *request) {
	int error = request == GIGARANK_CHECK_ONLY ? GIGARANK_CHECKED : 0;
	struct gigarank_bounce_buffer *bounced = NULL;
	c->nonblocking = request != NULL;
	c->called = gigarank_current->called;
	if (gigarank_is_unread(c->input) || gigarank_is_unread(c->output) || (s && gigarank_is_unread(s->to)))
		c->key = GIGARANK_WITHOUT_CONTENT;
	if (request && !error)
		error = gigarank_bounce(c, c->given, &bounced);
	if (!error)
		error = gigarank_trap(c);
	if (request && !error && !(error = gigarank_add_request(c->request, NULL, request))) {
		struct gigarank_request *q = gigarank_find_request(*request);
		if (s)
			q->after = unpack, q->what = s;
		gigarank_settle_bounce_buffer(q, bounced);
		return MPI_SUCCESS;
	}
	gigarank_free_bounce_buffer(bounced);
	if (s && error)
		gigarank_drop_staging(s);
	else if (s)
		unpack(s, 0);
	return error;
}

int gigarank_elements(struct gigarank_call *c, MPI_Datatype type) {
	int64_t size = 0;
	CHECK(gigarank_bytes_of(c->procedure, 1, type, &size));
	int p = c->procedure, differ = p == GIGARANK_GATHERV || p == GIGARANK_SCATTERV || p == GIGARANK_ALLGATHERV || p == GIGARANK_ALLTOALLV;
	const struct gigarank_datatype *t = gigarank_type(type);
	c->type = differ ? GIGARANK_UNTYPED : t->kind, c->element = differ ? 1 : t->unit;
	return MPI_SUCCESS;
}

int gigarank_no_room(struct gigarank_call *c, struct gigarank_staging *s, int64_t bytes) {
	gigarank_drop_staging(s);
	return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)bytes);
}

int gigarank_listed(const struct gigarank_call *c, int needed, struct gigarank_numbers counts) {
	if (needed && !gigarank_has_numbers(counts))
		return refuse(c->procedure, c->procedure == GIGARANK_ALLTOALLV ? MPI_ERR_ARG : MPI_ERR_COUNT, "the list of counts is NULL");
	return MPI_SUCCESS;
}
