/* Buffers of operations that go on after their call, where stacks are copied. */
#include "mpi/bounce_buffers.h"
#include "mpi/arguments.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

/* Where stacks are copied, memory on a stack has no address while other ranks run. A bounce buffer
 * is memory for the buffers of an operation that goes on after its call. */
struct gigarank_bounce_buffer {
	void *to, *output, *input;
	size_t bytes;
	void (*after)(void *, int64_t);
	void *what;
};

static int on_stack(const void *address) {
	struct gigarank_engine *e = gigarank_current;
	return e->copied && (size_t)((const char *)address - e->stacks) < e->stack;
}

void *gigarank_copy_of(const void *memory, int64_t bytes) {
	void *copy = malloc((size_t)bytes + 1);
	return copy ? memcpy(copy, memory, (size_t)bytes) : NULL;
}

/* come_back ends the use of a bounce buffer. The rank that it belongs to runs. */
static void come_back(void *what, int64_t bytes) {
	struct gigarank_bounce_buffer *s = what;
	if (s->output)
		memcpy(s->to, s->output, s->bytes);
	if (s->after)
		s->after(s->what, bytes);
	free(s->output);
	free(s->input);
	free(s);
}

int gigarank_bounce(struct gigarank_call *c, int64_t input, struct gigarank_bounce_buffer **made) {
	*made = NULL;
	int out = c->room > 0 && on_stack(c->output), same = out && c->input == c->output;
	int in = input > 0 && !same && on_stack(c->input);
	if (!in && !out)
		return MPI_SUCCESS;
	struct gigarank_bounce_buffer *s = calloc(1, sizeof *s);
	if (s && out)
		s->to = c->output, s->bytes = (size_t)c->room, s->output = gigarank_copy_of(c->output, c->room);
	if (s && in)
		s->input = gigarank_copy_of(c->input, input);
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

void gigarank_settle_bounce_buffer(struct gigarank_request *q, struct gigarank_bounce_buffer *s) {
	if (!s)
		return;
	s->after = q->after, s->what = q->what;
	q->after = come_back, q->what = s;
}

void gigarank_free_bounce_buffer(struct gigarank_bounce_buffer *s) {
	if (s) {
		free(s->output);
		free(s->input);
		free(s);
	}
}
