/* State that a rank and the threads that it starts share. */
#include "rank/threads.h"
#include "rank/running.h"

#include <stdlib.h>

int gigarank_forked;

struct gigarank_threads *gigarank_hold_threads(struct gigarank_threads *t) {
	if (t)
		__atomic_add_fetch(&t->holders, 1, __ATOMIC_RELAXED);
	return t;
}

void gigarank_leave_threads(struct gigarank_threads *t) {
	if (t && __atomic_sub_fetch(&t->holders, 1, __ATOMIC_ACQ_REL) == 0)
		free(t);
}

struct gigarank_threads *gigarank_own_threads(void) {
	if (!gigarank_running())
		return gigarank_parent.threads;
	struct gigarank_own *own = gigarank_own();
	if (own && !own->threads && (own->threads = malloc(sizeof *own->threads)))
		*own->threads = (struct gigarank_threads){.holders = 1, .critical = PTHREAD_MUTEX_INITIALIZER};
	return own ? own->threads : NULL;
}

struct gigarank_lapse *gigarank_lapse(void) {
	static __thread struct gigarank_lapse of_thread __attribute__((tls_model("initial-exec")));
	if (!gigarank_running())
		return &of_thread;
	struct gigarank_threads *t = gigarank_own_threads();
	return t ? &t->lapse : NULL;
}

int gigarank_has_threads(const struct gigarank_engine *e) {
	const struct gigarank_openmp *o = &e->program->openmp;
	const struct gigarank_own *own = e->running->own;
	if (own && own->threads && __atomic_load_n(&own->threads->living, __ATOMIC_ACQUIRE))
		return GIGARANK_LIVING_THREAD;
	return o->active_level && o->active_level() > 0 ? GIGARANK_OPEN_REGION : 0;
}

void gigarank_note_region(const struct gigarank_engine *e, const struct gigarank_rank *r) {
	const struct gigarank_openmp *o = &e->program->openmp;
	if (o->active_level && r->own && r->own->threads)
		r->own->threads->in_region = o->active_level() > 0;
}

int gigarank_threads_live(const struct gigarank_engine *e) {
	for (int32_t i = 0; e->threads && e->ranks && i < e->count; i++) {
		const struct gigarank_own *own = e->ranks[i].own;
		if (own && own->threads && (own->threads->in_region || __atomic_load_n(&own->threads->living, __ATOMIC_ACQUIRE)))
			return 1;
	}
	return 0;
}
