/* Clocks. A burst of less than BRIEF is taken to run through: its CPU time is the time of the clock. The CPU clock of the thread, which costs a system call, is
 * read at the end of a longer burst, after a longer call of MPI, and where the latest reading is old. */
#include "trace.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { BRIEF = 20000, RECENT = 1000000, SAMPLE = 5000000 }; /* nanoseconds */

struct clock ticking = {.by_system = 1, .multiplier = 1ull << 32};

static uint64_t sampled_ticks, sampled_time;

static int constant_rate(void) {
#if defined(__x86_64__)
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#elif defined(__aarch64__)
	return 1;
#else
	return 0;
#endif
}

/* sample reads both clocks at the same instant. */
static void sample(uint64_t *t, uint64_t *ns) {
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 8; i++) {
		uint64_t before = ticks(), now = system_ticks(), after = ticks();
		if (after - before < least)
			least = after - before, *t = before + (after - before) / 2, *ns = now;
	}
}

/* start_clock begins the comparison of the clocks, at the beginning of MPI_Init, and set_clock ends it. */
void start_clock(void) {
	ticking.by_system = !constant_rate();
	sample(&sampled_ticks, &sampled_time);
}

void set_clock(void) {
	uint64_t t, ns;
	do
		sample(&t, &ns);
	while (ns - sampled_time < SAMPLE);
	ticking.multiplier = t > sampled_ticks ? (uint64_t)(((unsigned __int128)(ns - sampled_time) << 32) / (t - sampled_ticks)) : 1ull << 32;
	ticking.brief = (uint64_t)(((unsigned __int128)BRIEF << 32) / ticking.multiplier);
	ticking.recent = (uint64_t)(((unsigned __int128)RECENT << 32) / ticking.multiplier);
}

int64_t cpu_clock(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void renew_cpu_clock(void) {
	task.used = cpu_clock();
	task.read = task.start = ticks();
}

/* end_long_burst reads the CPU clock at the end of a burst. The call begins after the reading. */
void end_long_burst(void) {
	int64_t wall = nanoseconds(task.burst_end - task.start), before = nanoseconds(task.start - task.read), used = task.used;
	task.used = cpu_clock();
	task.read = task.begun = ticks();
	int64_t reading = nanoseconds(task.begun - task.burst_end);
	if (reading >= BRIEF)
		reading = 0; /* the thread was preempted in it: most of that time was not its own */
	int64_t cpu = task.used - used - before - reading;
	task.burst_cpu = cpu < 0 ? 0 : cpu > wall ? wall : cpu;
}

/* time_recording measures what recording a call takes, by sends that are forgotten. */
void time_recording(void) {
	uint64_t least = UINT64_MAX;
	task.on = 1;
	for (int i = 0; i < 100; i++) {
		task.begun = task.burst_end = ticks(), task.start = task.begun - (uint64_t)(i % 7 + 1) * 100;
		task.ended = ticks();
		operation(FUNCTION_Isend);
		V(Comm) = V(Request) = V(Peer) = 0, V(Tag) = i % 3, V(Bytes) = 8;
		emit();
		uint64_t took = ticks() - task.ended;
		least = took < least ? took : least;
	}
	forget_block();
	task.on = 0, task.operations = 0;
	ticking.recording = least;
}
