/* Plain messages: see the header. */
#include "mpi/plain_messages.h"
#include "mpi/arguments.h"
#include "mpi/datatypes.h"
#include "rank/posts.h"
#include "rank/running.h"
#include "rank/switch.h"
#include "rank/unread.h"

#include <string.h>

/* bytes_of returns the bytes of a buffer that a plain message may have, less than 0 for another buffer. The caller looks whether the memory is there. */
static inline int64_t bytes_of(const void *buffer, int64_t count, MPI_Datatype type) {
	const struct gigarank_datatype *t = gigarank_type(type);
	int64_t bytes;
	if (!t || !t->dense || !t->committed || count < 0 || gigarank_is_null(buffer) || gigarank_is_unread(buffer))
		return -1;
	return __builtin_mul_overflow(count, t->bytes, &bytes) || bytes > GIGARANK_MOST_BYTES ? -1 : bytes;
}

/* calls returns the running rank if it may make a call on a communicator, with numbers of a partner and a tag, that is plain, NULL otherwise. */
static inline struct gigarank_rank *calls(const struct gigarank_engine *e, MPI_Comm comm, int partner, int tag) {
	struct gigarank_rank *r = e ? e->running : NULL;
	return r && comm == MPI_COMM_WORLD && gigarank_may_call(r) && (uint32_t)partner < (uint32_t)e->world && tag >= 0 ? r : NULL;
}

int gigarank_send_plain(const void *buffer, int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = calls(e, comm, dest, tag);
	if (!r || !gigarank_posts(e, r))
		return 0;
	int64_t bytes = bytes_of(buffer, count, type);
	if (bytes < 0 || bytes > e->posts || (bytes > 0 && gigarank_reads(buffer, (const char *)buffer + bytes - 1)))
		return 0;
	r->about = 1;
	struct gigarank_posted *p = gigarank_next_post(e, r, GIGARANK_SEND, (size_t)bytes);
	p->comm = 1, p->member = e->first + p->lp, p->partner = dest, p->tag = tag, p->request = -1, p->bytes = bytes, p->output = NULL;
	if (bytes == 8) /* without a call */
		memcpy(p + 1, buffer, 8);
	else
		memcpy(p + 1, buffer, (size_t)bytes);
	return 1;
}

int gigarank_receive_plain(struct gigarank_call *c, void *buffer, int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm) {
	const struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = calls(e, comm, source, tag);
	if (!r)
		return 0;
	int64_t bytes = bytes_of(buffer, count, type);
	if (bytes < 0 || (bytes > 0 && gigarank_writes(buffer, (char *)buffer + bytes - 1)))
		return 0;
	r->about = 1;
	c->procedure = GIGARANK_RECV, c->comm = 1, c->size = e->world, c->member = e->first + (int32_t)(r - e->ranks);
	c->output = buffer, c->room = bytes, c->source = source, c->tag = tag;
	return 1;
}
