/* Calls that go with the next call of their rank. */
#include "rank/posts.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <string.h>

int gigarank_may_post(const struct gigarank_call *c) {
	const struct gigarank_engine *e = gigarank_current;
	int receives = c->procedure == GIGARANK_IRECV;
	int32_t partner = receives ? c->source : c->dest;
	if (!gigarank_posts(e, e->running))
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

void gigarank_enlarge_posts(struct gigarank_engine *e, size_t bytes) {
	e->posted_room = 2 * (e->posted_room + bytes);
	e->posted = gigarank_enlarged(e->posted, e->posted_room);
}

void gigarank_post(struct gigarank_call *c, int32_t request) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	int receives = c->procedure == GIGARANK_IRECV;
	size_t content = !receives && c->input ? (size_t)c->bytes : 0;
	struct gigarank_posted *p = gigarank_next_post(e, r, c->procedure, content);
	p->comm = c->comm, p->member = c->member, p->request = request;
	p->partner = receives ? c->source : c->dest, p->tag = receives ? c->tag : c->sendtag;
	p->bytes = receives ? c->room : c->bytes, p->output = receives ? gigarank_in_copy(e, r, c->output) : NULL;
	if (content)
		memcpy(p + 1, c->input, content);
}

void gigarank_settle(void) {
	if (!gigarank_current || !gigarank_current->posted_count)
		return;
	struct gigarank_call c = {.procedure = GIGARANK_SETTLE};
	gigarank_suspend(&c);
}
