/* Calls that go with the next call of their rank. */
#include "rank/posts.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <string.h>

/* A rank that has posted as many calls settles them: the memory for the calls of all ranks that run between two looks of the engine stays small. */
enum { MOST_POSTS = 64 };

int gigarank_may_post(const struct gigarank_call *c) {
	const struct gigarank_engine *e = gigarank_current;
	const struct gigarank_rank *r = e->running;
	int receives = c->procedure == GIGARANK_IRECV;
	int32_t partner = receives ? c->source : c->dest;
	int awaited = e->count < e->world && e->computes >= GIGARANK_COMPUTES; /* by other engines */
	if (e->posts < 0 || awaited || e->threads || e->form || r->polled_clock || r->polls || e->posted_count >= MOST_POSTS)
		return 0;
	if (c->remote || c->message || c->from.type || c->to.type)
		return 0;
	switch (c->procedure) {
	case GIGARANK_SEND: case GIGARANK_ISEND:
		return c->bytes <= (c->input ? e->posts : e->bare_posts) && (uint32_t)partner < (uint32_t)c->size;
	case GIGARANK_IRECV:
		return partner == GIGARANK_ANY_SOURCE || (uint32_t)partner < (uint32_t)c->size;
	}
	return 0;
}

void gigarank_post(struct gigarank_call *c, int32_t request) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	int receives = c->procedure == GIGARANK_IRECV;
	size_t content = !receives && c->input ? (size_t)c->bytes : 0, size = sizeof(struct gigarank_posted) + (content + 15) / 16 * 16;
	if (e->posted_bytes + size > e->posted_room) {
		e->posted_room = 2 * (e->posted_room + size);
		e->posted = gigarank_enlarged(e->posted, e->posted_room);
	}
	struct gigarank_posted *p = (struct gigarank_posted *)(e->posted + e->posted_bytes);
	*p = (struct gigarank_posted){
		.size = (int32_t)size, .lp = (int32_t)(r - e->ranks), .procedure = c->procedure, .comm = c->comm, .member = c->member,
		.partner = receives ? c->source : c->dest, .tag = receives ? c->tag : c->sendtag, .request = request,
		.computed = r->computed, .bytes = receives ? c->room : c->bytes, .output = receives ? gigarank_in_copy(e, r, c->output) : NULL, .content = (int64_t)content,
	};
	if (content)
		memcpy(p + 1, c->input, content);
	e->posted_bytes += size, e->posted_count++;
	r->computed = 0;
	r->last = (uint16_t)c->procedure;
	e->foreseen.left = 0, e->clock_polls = 0;
}

void gigarank_settle(void) {
	if (!gigarank_current || !gigarank_current->posted_count)
		return;
	struct gigarank_call c = {.procedure = GIGARANK_SETTLE};
	gigarank_suspend(&c);
}
