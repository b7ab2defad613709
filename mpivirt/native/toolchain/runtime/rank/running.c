/* The rank that runs on this thread, and memory for ranks. */
#define _GNU_SOURCE
#include "rank/running.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
__thread struct gigarank_engine *gigarank_current;
#else
__attribute__((noinline)) struct gigarank_engine **gigarank_engine_of_thread(void) {
	static __thread struct gigarank_engine *current __attribute__((tls_model("initial-exec")));
	__asm__ volatile("" ::: "memory"); /* so that two calls may have two results */
	return &current;
}
#endif
__thread struct gigarank_engine *gigarank_operating;
__thread struct gigarank_parent gigarank_parent;

void gigarank_fatal(const char *message) {
	ssize_t unused = write(2, message, strlen(message));
	(void)unused;
	((void (*)(int))dlsym(RTLD_NEXT, "_exit"))(3);
	__builtin_unreachable();
}

void *gigarank_enlarged(void *old, size_t room) {
	void *p = realloc(old, room);
	if (!p)
		gigarank_fatal("gigarank: no memory for what ranks keep and what they exchange: use fewer ranks, or more hosts\n");
	return p;
}

struct gigarank_own *gigarank_own(void) {
	struct gigarank_rank *r = gigarank_running();
	if (!r->own) {
		if (!(r->own = calloc(1, sizeof *r->own)))
			return NULL;
		r->own->universe = gigarank_current->world;
		r->own->last_code = MPI_ERR_LASTCODE;
	}
	return r->own;
}
