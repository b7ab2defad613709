/* CPU times of bursts. A burst is the computing of a rank between two calls. The monotonic clock
 * is read for each burst. The CPU clock of the thread, which costs a system call, is read only where
 * the thread may have been preempted, which takes longer than the limits below. Package
 * cputime has the same for ranks in Go. */
#include "rank/meter.h"
#include "rank/interface.h"

enum {
	SHORT = 20000,   /* nanoseconds: a burst of less is taken to run through */
	RECENT = 1000000 /* a reading of the CPU clock that is older is renewed */
};

/* renew reads the CPU clock and returns the instant. */
static int64_t renew(struct gigarank_meter *m) {
	m->used = m->cpu(&m->thread);
	return m->at = m->monotonic();
}

void gigarank_meter_start(struct gigarank_meter *m) {
	m->start = m->monotonic();
	if (!m->thread || m->start - m->at > RECENT)
		m->start = renew(m);
}

/* stop ends the burst at an instant. */
static int64_t stop(struct gigarank_meter *m, int64_t end) {
	struct gigarank_meter before = *m;
	int64_t wall = end - m->start;
	if (wall < SHORT)
		return wall > 0 ? wall : 0;
	renew(m);
	if (m->thread != before.thread)
		return wall;
	int64_t reading = m->at - end;
	if (reading >= SHORT)
		reading = 0; /* the thread was preempted in it: most of that time was not its own */
	int64_t used = m->used - before.used - (before.start - before.at) - reading;
	return used < 0 ? 0 : used > wall ? wall : used;
}

int64_t gigarank_meter_stop(struct gigarank_meter *m) { return stop(m, m->monotonic()); }

int64_t gigarank_meter_split(struct gigarank_meter *m) {
	int64_t end = m->monotonic(), used = stop(m, end);
	m->start = m->at > end ? m->at : end; /* a reading of the CPU clock is in no burst */
	return used;
}
