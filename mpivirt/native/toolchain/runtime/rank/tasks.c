/* Tasks take virtual time by their weights in a skeleton, and are timed in the timed form of a program. Both count entries and iterations. */
#include "rank/tasks.h"
#include "rank/bursts.h"
#include "rank/caches.h"
#include "rank/computation.h"
#include "rank/meter.h"
#include "rank/running.h"

#include <stdlib.h>

/* gigarank_open_tasks has an engine know a number of tasks, by rank, too, if asked for, and memory that stands for that of other ranks. It returns 0, and -1 without memory. */
int gigarank_open_tasks(struct gigarank_engine *e, int32_t number, int32_t by_rank, size_t beside) {
	e->tasks = calloc((size_t)number + 1, sizeof *e->tasks);
	e->task_ratios = calloc((size_t)e->count + 1, sizeof *e->task_ratios);
	if (by_rank)
		e->task_counts = calloc((size_t)number * (size_t)e->count + 1, sizeof *e->task_counts);
	if (beside)
		e->beside = calloc(beside + GIGARANK_CACHE_LINE, 1), e->beside_bytes = beside;
	if (!e->tasks || !e->task_ratios || (by_rank && !e->task_counts) || (beside && !e->beside))
		return -1;
	e->task_count = number;
	return 0;
}

/* used ends a burst, and returns it. */
static int64_t used(struct gigarank_engine *e, struct gigarank_rank *r) {
	int64_t time = gigarank_meter_split(&e->meter);
	gigarank_burst_count(gigarank_burst_of(e, r), time);
	return time;
}

void gigarank_task_begin(int32_t task) {
	struct gigarank_rank *r = gigarank_running();
	(void)task;
	if (r && gigarank_current->tasks && gigarank_current->bursts)
		gigarank_current->rest += used(gigarank_current, r);
}

/* observe adds an entry to the sums from which weights are fitted. */
static void observe(struct gigarank_task *t, double iterations, double time) {
	t->entries++;
	t->x += iterations, t->xx += iterations * iterations;
	t->y += time, t->yy += time * time, t->xy += iterations * time;
}

/* weighed returns the virtual time of an entry, in picoseconds. It is made of integers, and rounded once, so that it is the same on all hosts. */
static int64_t weighed(const struct gigarank_task *t, int64_t iterations, double ratio) {
	const int64_t most = 9000000ll * 1000000000000ll;
	int64_t femtoseconds, picoseconds;
	if (!__builtin_mul_overflow(t->iteration, iterations, &femtoseconds) && !__builtin_add_overflow(femtoseconds, t->entry, &femtoseconds)) {
		picoseconds = femtoseconds / 1000; /* most entries take less than 2.5 hours */
	} else {
		__extension__ __int128 wide = ((__int128)t->iteration * iterations + t->entry) / 1000;
		picoseconds = (int64_t)(wide > most ? most : wide);
	}
	double time = (double)picoseconds;
	if (ratio != 1)
		time = (double)(int64_t)(time * ratio + 0.5);
	return time > (double)most ? most : (int64_t)time;
}

void gigarank_task_uncounted(int32_t task, int64_t iterations) {
	struct gigarank_engine *e = gigarank_current;
	if (gigarank_running() && e->tasks && task >= 0 && task < e->task_count)
		e->tasks[task].uncounted += (double)iterations;
}

void gigarank_task_end(int32_t task, int64_t iterations) {
	struct gigarank_rank *r = gigarank_running();
	struct gigarank_engine *e = gigarank_current;
	if (!r || !e->tasks || task < 0 || task >= e->task_count)
		return;
	struct gigarank_task *t = &e->tasks[task];
	if (e->task_counts) {
		struct gigarank_task_count *c = &e->task_counts[(r - e->ranks) * (int64_t)e->task_count + task];
		c->entries++, c->iterations += iterations;
	}
	if (e->bursts) {
		observe(t, (double)iterations, (double)used(e, r));
		return;
	}
	t->entries++;
	if (t->entry || t->iteration) {
		int64_t time = weighed(t, iterations, e->task_ratios[r - e->ranks]);
		e->task_time += time / 1000;
		t->time += time / 1000;
		gigarank_pass(r, time);
	}
}
