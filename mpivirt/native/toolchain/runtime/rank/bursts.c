/* What ranks compute between their calls, where CPU times count. */
#define _GNU_SOURCE
#include "gigarank.h"
#include "rank/internal.h"
#include "rank/regions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int (*read_clock)(clockid_t, struct timespec *); /* that of the C library */

static int64_t nanoseconds(clockid_t clock) {
	struct timespec t;
	read_clock(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int64_t monotonic(void) { return nanoseconds(CLOCK_MONOTONIC); }

static int64_t cpu(const void **thread) {
	*thread = &gigarank_current;
	return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

/* gigarank_measure has the CPU times of an engine's ranks count. It returns 0 if it has the
 * memory. */
int gigarank_measure(struct gigarank_engine *e) {
	if (!read_clock)
		*(void **)&read_clock = dlsym(RTLD_NEXT, "clock_gettime");
	e->bursts = calloc((size_t)e->count + 1, sizeof *e->bursts);
	e->meter = (struct gigarank_meter){.monotonic = monotonic, .cpu = cpu};
	return e->bursts ? 0 : -1;
}

static struct gigarank_burst *burst_of(struct gigarank_engine *e, struct gigarank_rank *r) { return &e->bursts[r - e->ranks]; }

static void count(struct gigarank_burst *b, int64_t used) {
	if (!b->unpaid)
		b->used += used;
}

void gigarank_burst_end(struct gigarank_engine *e, struct gigarank_rank *r) { count(burst_of(e, r), gigarank_meter_stop(&e->meter)); }

void gigarank_burst_add(struct gigarank_engine *e, struct gigarank_rank *r, int64_t time) { count(burst_of(e, r), time); }

/* A look ends a burst. Other ranks may run before a look that is a call returns: the rank's row of looks goes on after it. */
int64_t gigarank_burst_look(struct gigarank_engine *e, struct gigarank_rank *r) {
	struct gigarank_burst *b = burst_of(e, r);
	if (!e->lazy || b->sampled) {
		struct gigarank_call c = {.procedure = GIGARANK_LOOK};
		int32_t looks = e->looks;
		int64_t looked_at = e->looked_at;
		gigarank_trap(&c);
		e->looks = looks, e->looked_at = looked_at;
	} else {
		count(b, gigarank_meter_split(&e->meter));
	}
	return r->clock + r->computed + (int64_t)((double)b->used * b->ratio * 1000);
}

/* measured returns the burst of the running rank, NULL if CPU times do not count. */
static struct gigarank_burst *measured(void) {
	struct gigarank_rank *r = gigarank_running();
	return r && gigarank_current->bursts ? burst_of(gigarank_current, r) : NULL;
}

int gigarank_charge(int on) {
	struct gigarank_burst *b = measured();
	on = on != 0;
	if (!b)
		return 0;
	if (b->sampled || (!gigarank_current->lazy && b->unpaid == on)) {
		struct gigarank_call c = {.procedure = GIGARANK_LOOK}; /* which a sample refuses */
		gigarank_trap(&c);
	} else {
		count(b, gigarank_meter_split(&gigarank_current->meter));
	}
	b->unpaid = !on;
	return 0;
}

int gigarank_sample_begin(const char *name, int times) {
	struct gigarank_burst *b = measured();
	if (!b || b->unpaid)
		return 1;
	struct gigarank_call c = {.procedure = GIGARANK_SAMPLE_BEGIN, .detail = name, .key = times};
	gigarank_trap(&c);
	return c.found;
}

int gigarank_sample_end(void) {
	struct gigarank_burst *b = measured();
	if (!b || b->unpaid)
		return 0;
	struct gigarank_call c = {.procedure = GIGARANK_SAMPLE_END};
	if (!b->sampled)
		c.error = MPI_ERR_OTHER, c.detail = "gigarank_sample_end outside a sample: call it where gigarank_sample_begin has returned 1";
	return gigarank_trap(&c);
}
