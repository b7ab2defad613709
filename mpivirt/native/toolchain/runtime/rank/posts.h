/* Calls that go with the next call of their rank. A short standard send is over at once, and so is the call that begins an operation: the
 * rank needs no answer. Such a call is posted, and the rank goes on without a switch to the engine. Before its next call, or the end of its run, the simulator
 * carries its posted calls out in their order, each at the clock that the rank has then: virtual times and contents are the same. A call is posted
 * only if the simulator cannot refuse it. The rank settles its posted calls before it looks at its clock, or at a request that one of them begins. */
#ifndef GIGARANK_RANK_POSTS_H
#define GIGARANK_RANK_POSTS_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* A rank that has posted as many calls settles them: the memory for the calls of all ranks that run between two looks of the engine stays small. */
enum { GIGARANK_MOST_POSTS = 64 };

/* gigarank_posts reports whether the running rank may post the call that it makes now, if the call is one that can be. */
static inline int gigarank_posts(const struct gigarank_engine *e, const struct gigarank_rank *r) {
	int awaited = e->count < e->world && e->computes >= GIGARANK_COMPUTES; /* by other engines */
	return e->posts >= 0 && !awaited && !e->threads && !e->form && !r->polled_clock && !r->polls && e->posted_count < GIGARANK_MOST_POSTS;
}

/* gigarank_enlarge_posts makes room for further bytes of posted calls. */
void gigarank_enlarge_posts(struct gigarank_engine *e, size_t bytes);

/* gigarank_next_post returns a new posted call of the running rank, with room for bytes of content behind it. Its other fields are the caller's to store. */
static inline struct gigarank_posted *gigarank_next_post(struct gigarank_engine *e, struct gigarank_rank *r, int procedure, size_t content) {
	size_t size = sizeof(struct gigarank_posted) + (content + 15) / 16 * 16;
	if (e->posted_bytes + size > e->posted_room)
		gigarank_enlarge_posts(e, size);
	struct gigarank_posted *p = (struct gigarank_posted *)(e->posted + e->posted_bytes);
	p->size = (int32_t)size, p->lp = (int32_t)(r - e->ranks), p->procedure = procedure, p->computed = r->computed, p->content = (int64_t)content;
	e->posted_bytes += size, e->posted_count++;
	r->computed = 0;
	r->last = (uint16_t)procedure;
	e->foreseen.left = 0, e->clock_polls = 0;
	return p;
}

/* gigarank_may_post reports whether a send, or the call that begins a send or a receive, may be posted. */
int gigarank_may_post(const struct gigarank_call *c);

/* gigarank_post posts a call, which begins the request in a slot, -1 for none. */
void gigarank_post(struct gigarank_call *c, int32_t request);

/* gigarank_settle has the simulator carry out the posted calls of the running rank. */
void gigarank_settle(void);

#pragma GCC visibility pop

#endif
