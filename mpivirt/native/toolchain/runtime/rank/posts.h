/* Calls that go with the next call of their rank. A short standard send is over at once, and so is the call that begins an operation: the
 * rank needs no answer. Such a call is posted, and the rank goes on without a switch to the engine. Before its next call, or the end of its run, the simulator
 * carries its posted calls out in their order, each at the clock that the rank has then: virtual times and contents are the same. A call is posted
 * only if the simulator cannot refuse it. The rank settles its posted calls before it looks at its clock, or at a request that one of them begins. */
#ifndef GIGARANK_RANK_POSTS_H
#define GIGARANK_RANK_POSTS_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_may_post reports whether a send, or the call that begins a send or a receive, may be posted. */
int gigarank_may_post(const struct gigarank_call *c);

/* gigarank_post posts a call, which begins the request in a slot, -1 for none. */
void gigarank_post(struct gigarank_call *c, int32_t request);

/* gigarank_settle has the simulator carry out the posted calls of the running rank. */
void gigarank_settle(void);

#pragma GCC visibility pop

#endif
