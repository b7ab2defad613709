/* Clocks of the host. */
#ifndef GIGARANK_RANK_METER_H
#define GIGARANK_RANK_METER_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_ticks reads a clock of the host in a few nanoseconds. gigarank_long_ticks is some 50 us on it. */
#if defined(__x86_64__)
static inline uint64_t gigarank_ticks(void) { return __builtin_ia32_rdtsc(); }
static inline uint64_t gigarank_long_ticks(void) { return 150000; }
#else
static inline uint64_t gigarank_ticks(void) {
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}
static inline uint64_t gigarank_long_ticks(void) {
	uint64_t rate;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
	return rate / 20000;
}
#endif

/* gigarank_meter_start begins a burst. gigarank_meter_stop ends the burst and returns its CPU time in
 * nanoseconds. gigarank_meter_split does so and begins the next burst. */
void gigarank_meter_start(struct gigarank_meter *m);
int64_t gigarank_meter_stop(struct gigarank_meter *m);
int64_t gigarank_meter_split(struct gigarank_meter *m);

#pragma GCC visibility pop

#endif
