/* Calls of the running rank, and its end. */
#ifndef GIGARANK_RANK_RANKS_H
#define GIGARANK_RANK_RANKS_H

#include "rank/running.h"

#pragma GCC visibility push(hidden)

/* gigarank_on_stack reports whether an address lies on the stack of an engine's ranks, if they have one. */
static inline int gigarank_on_stack(const struct gigarank_engine *e, const void *address) {
	return !e->copied || (size_t)((const char *)address - e->stacks) < e->stack;
}

/* gigarank_form tells the form of the call that the rank makes next, for messages of errors. */
static inline void gigarank_form(int32_t form) {
	if (gigarank_running())
		gigarank_current->form = form;
}

/* gigarank_variant marks the next call as a variant, such as MPI_Reduce_scatter_block, of the procedure whose code it
 * shares. */
static inline void gigarank_variant(void) {
	if (gigarank_running())
		gigarank_current->form |= GIGARANK_VARIANT;
}

/* gigarank_suspend suspends the running rank in a call until that is over, and returns its error.
 * gigarank_trap calls the error handler, too. */
int gigarank_suspend(struct gigarank_call *c);
int gigarank_trap(struct gigarank_call *c);

/* gigarank_leave ends the running rank with a code. */
void gigarank_leave(int code) __attribute__((noreturn));

/* gigarank_fail ends the running rank, with the reason. */
void gigarank_fail(const char *reason) __attribute__((noreturn));

/* A persistent collective: what begins it, and gives back what it holds. */
struct gigarank_plan {
	int (*start)(struct gigarank_plan *p, MPI_Request *begun);
	void (*close)(struct gigarank_plan *p);
};

#pragma GCC visibility pop

#endif
