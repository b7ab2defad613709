/* The CPU times of ranks between their calls, where CPU times count. */
#define _GNU_SOURCE
#include "rank/bursts.h"
#include "rank/meter.h"
#include "rank/running.h"
#include "gigarank.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int (*read_clock)(clockid_t, struct timespec *); /* clock_gettime of the C library */

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

/* gigarank_measure has the CPU times of an engine's ranks count. It returns 0, and -1 without memory. */
int gigarank_measure(struct gigarank_engine *e) {
	if (!read_clock)
		*(void **)&read_clock = dlsym(RTLD_NEXT, "clock_gettime");
	e->bursts = calloc((size_t)e->count + 1, sizeof *e->bursts);
	e->meter = (struct gigarank_meter){.monotonic = monotonic, .cpu = cpu};
	return e->bursts ? 0 : -1;
}

void gigarank_burst_end(struct gigarank_engine *e, struct gigarank_rank *r) {
	int64_t used = gigarank_meter_stop(&e->meter);
	gigarank_burst_count(gigarank_burst_of(e, r), used);
	e->rest += used, e->rests++;
}

void gigarank_burst_add(struct gigarank_engine *e, struct gigarank_rank *r, int64_t time) { gigarank_burst_count(gigarank_burst_of(e, r), time); }
