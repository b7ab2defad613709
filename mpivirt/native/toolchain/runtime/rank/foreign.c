/* Foreign calls: code of the program that no rank runs calls a function which only a rank may call. */
#include "rank/foreign.h"
#include "rank/crashes.h"
#include "rank/engines.h"
#include "rank/running.h"
#include "rank/threads.h"

#include <pthread.h>
#include <stdio.h>

/* note keeps the first foreign call of an engine's threads or operations. */
static void note(struct gigarank_foreign_call *n, const char *function, int procedure, int32_t lp) {
	if (n->there)
		return;
	n->lp = lp, n->procedure = procedure;
	snprintf(n->function, sizeof n->function, "%s", function);
	__atomic_store_n(&n->there, 1, __ATOMIC_RELEASE);
}

int gigarank_note_foreign_call(const char *function, int procedure) {
	if (gigarank_forked)
		gigarank_fatal("gigarank: a process that a rank has forked calls MPI: only ranks may\n");
	if (gigarank_operating) {
		note(&gigarank_operating->by_operation, function, procedure, -1);
		return 1;
	}
	struct gigarank_parent parent = gigarank_parent;
	struct gigarank_engine *e = gigarank_lock_engines();
	while (e && (parent.engine ? e != parent.engine : !e->running))
		e = e->next; /* an engine whose rank runs, as beside threads of OpenMP */
	if (e)
		note(&e->by_thread, function, procedure, parent.engine ? parent.lp : (int32_t)(e->running - e->ranks));
	gigarank_unlock_engines();
	return e != NULL;
}

void gigarank_end_foreign(const char *function) {
	if (gigarank_operating) {
		gigarank_note_foreign_call(function, GIGARANK_NONE);
		gigarank_end_attempt();
	}
	if (gigarank_parent.engine && !gigarank_forked) {
		gigarank_note_foreign_call(function, GIGARANK_NONE);
		pthread_exit(NULL);
	}
}
