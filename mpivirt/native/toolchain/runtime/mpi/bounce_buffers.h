/* Buffers of operations that go on after their call, where stacks are copied. */
#ifndef GIGARANK_SHELTERS_H
#define GIGARANK_SHELTERS_H

#include "rank/internal.h"

struct shelter;

#pragma GCC visibility push(hidden)

/* gigarank_shelter moves the buffers of a call from the stack. input is the size of what it sends. It
 * stores NULL if none lies there. */
int gigarank_shelter(struct gigarank_call *c, int64_t input, struct shelter **made);

/* gigarank_settle has a request come back from a shelter when its operation is over, and
 * gigarank_give_up frees a shelter without one. Both take NULL. */
void gigarank_settle(struct gigarank_request *q, struct shelter *s);
void gigarank_give_up(struct shelter *s);

/* gigarank_copy_of returns a copy of memory, NULL if there is no room. */
void *gigarank_copy_of(const void *memory, int64_t bytes);

#pragma GCC visibility pop

#endif
