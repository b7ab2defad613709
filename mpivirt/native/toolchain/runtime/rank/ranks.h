/* Calls of the running rank, and its end. */
#ifndef GIGARANK_RANK_RANKS_H
#define GIGARANK_RANK_RANKS_H

#include "rank/running.h"

#pragma GCC visibility push(hidden)

/* gigarank_on_stack reports whether an address lies on the stack that an engine's ranks share. It reports true where each rank has a
 * stack of its own. */
static inline int gigarank_on_stack(const struct gigarank_engine *e, const void *address) {
	return !e->copied || (size_t)((const char *)address - e->stacks) < e->stack;
}

/* gigarank_form sets the form of the call that the rank makes next, for messages of errors. */
static inline void gigarank_form(int32_t form) {
	if (gigarank_running())
		gigarank_current->form = form;
}

/* gigarank_called notes the address to which a collective of the running rank returns, if it lies in the program: it does not where a library has
 * made the call. The call in C that a binding makes keeps the address of the binding. */
static inline void gigarank_called(void *returns, int32_t binding) {
	struct gigarank_engine *e = gigarank_current;
	if (!e || !e->running)
		return;
	const struct gigarank_program *p = e->program;
	uintptr_t at = (uintptr_t)returns;
	if (at - 1 - p->text < p->text_bytes)
		e->called = at - p->base, e->bound_call = binding;
	else if (e->bound_call && !binding)
		e->bound_call = 0;
	else
		e->called = 0, e->bound_call = 0;
}

/* gigarank_variant marks the next call as a variant, such as MPI_Reduce_scatter_block, of the procedure whose code it
 * shares. */
static inline void gigarank_variant(void) {
	if (gigarank_running())
		gigarank_current->form |= GIGARANK_VARIANT;
}

/* gigarank_suspend suspends the running rank in a call until the call is over, and returns the error of the call.
 * gigarank_trap also calls the error handler. */
int gigarank_suspend(struct gigarank_call *c);
int gigarank_trap(struct gigarank_call *c);

/* gigarank_in_copy returns the place in a rank's copy of an address in the program's variables, and any other address itself. */
void *gigarank_in_copy(struct gigarank_engine *e, struct gigarank_rank *r, const void *address);

/* gigarank_leave ends the running rank with a code. */
void gigarank_leave(int code) __attribute__((noreturn));

/* gigarank_fail ends the running rank, with the reason. */
void gigarank_fail(const char *reason) __attribute__((noreturn));

/* A persistent collective: the function that begins it, and the function that gives back its types and operation. */
struct gigarank_plan {
	int (*start)(struct gigarank_plan *p, MPI_Request *begun);
	void (*close)(struct gigarank_plan *p);
};

#pragma GCC visibility pop

#endif
