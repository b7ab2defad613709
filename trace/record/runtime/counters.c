/* Counters of the processor for the main thread of a task, by perf_event_open. */
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/perf_event.h>
#endif

static struct counter {
	const char *name;
	uint32_t type;
	uint64_t event;
	int file, error;
	int64_t value;
} counters[] = {
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0, 0},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, 0, 0},
	{"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, -1, 0, 0},
	{"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, -1, 0, 0},
	{"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, -1, 0, 0},
	{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, -1, 0, 0},
	{"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, -1, 0, 0},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

/* start_counters opens the counters, but for a trace: there they would cost more than calls. */
void start_counters(void) {
	if (task.mode == MODE_TRACE)
		return;
	for (struct counter *c = counters; c < counters + COUNTERS; c++) {
		struct perf_event_attr a = {.type = c->type, .size = sizeof a, .config = c->event, .exclude_kernel = c->type == PERF_TYPE_HARDWARE, .exclude_hv = 1,
			.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
		c->file = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		c->error = c->file < 0 ? errno : 0;
	}
}

/* stop_counters reads the counters. A counter that shared its register with others is scaled to the whole time. */
void stop_counters(void) {
	for (struct counter *c = counters; c < counters + COUNTERS; c++) {
		uint64_t v[3] = {0};
		if (c->file < 0)
			continue;
		if (read(c->file, v, sizeof v) == sizeof v && v[2])
			c->value = (int64_t)((unsigned __int128)v[0] * v[1] / v[2]);
		else
			c->error = v[2] ? errno : EBUSY;
		close(c->file);
	}
}

/* write_counters writes the members of a JSON object, and returns their length. */
int write_counters(char *to, int room) {
	int n = 0;
	for (struct counter *c = counters; task.mode != MODE_TRACE && c < counters + COUNTERS; c++)
		if (!c->error && n < room)
			n += snprintf(to + n, (size_t)(room - n), "%s\"%s\":%lld", n ? "," : "", c->name, (long long)c->value);
	return n < room ? n : room - 1;
}

/* write_remarks writes the elements of a JSON array: the counters that the kernel refuses. */
int write_remarks(char *to, int room) {
	int n = 0;
	for (struct counter *c = counters; task.mode != MODE_TRACE && c < counters + COUNTERS; c++)
		if (c->error && n < room)
			n += snprintf(to + n, (size_t)(room - n), "%s\"%s are not counted: the kernel answers: %s\"", n ? "," : "", c->name, strerror(c->error));
	return n < room ? n : room - 1;
}
