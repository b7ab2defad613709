/* Buffers of operations that go on after their call, where stacks are copied. */
#ifndef GIGARANK_MPI_BOUNCE_BUFFERS_H
#define GIGARANK_MPI_BOUNCE_BUFFERS_H

#include "rank/interface.h"

struct gigarank_bounce_buffer;

#pragma GCC visibility push(hidden)

/* gigarank_bounce moves the buffers of a call from the stack. The call sends input bytes. It stores NULL if no buffer
 * lies on the stack. */
int gigarank_bounce(struct gigarank_call *c, int64_t input, struct gigarank_bounce_buffer **made);

/* gigarank_settle_bounce_buffer has a request come back from a bounce buffer when its operation is over, and
 * gigarank_free_bounce_buffer frees a bounce buffer without one. Both take NULL. */
void gigarank_settle_bounce_buffer(struct gigarank_request *q, struct gigarank_bounce_buffer *s);
void gigarank_free_bounce_buffer(struct gigarank_bounce_buffer *s);

/* gigarank_copy_of returns a copy of memory, NULL if there is no room. */
void *gigarank_copy_of(const void *memory, int64_t bytes);

#pragma GCC visibility pop

#endif
