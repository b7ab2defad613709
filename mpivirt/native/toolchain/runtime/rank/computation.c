/* Clock polls where CPU times advance the clock, and the functions of gigarank.h that declare regions of computing and phases. */
#include "rank/computation.h"
#include "rank/bursts.h"
#include "rank/meter.h"
#include "rank/ranks.h"
#include "rank/running.h"

/* A clock poll ends a burst. Other ranks may run before a poll that is a call returns: the rank's row of polls goes on after it. */
int64_t gigarank_poll_clock(struct gigarank_engine *e, struct gigarank_rank *r) {
	struct gigarank_burst *b = gigarank_burst_of(e, r);
	if (!e->lazy || b->sampled) {
		struct gigarank_call c = {.procedure = GIGARANK_CLOCK_POLL};
		int32_t clock_polls = e->clock_polls;
		int64_t polled_time = e->polled_time;
		gigarank_trap(&c);
		e->clock_polls = clock_polls, e->polled_time = polled_time;
	} else {
		gigarank_burst_count(b, gigarank_meter_split(&e->meter));
	}
	return r->clock + r->computed + (int64_t)((double)b->used * b->ratio * 1000);
}

int gigarank_pass(struct gigarank_rank *r, int64_t picoseconds) {
	struct gigarank_engine *e = gigarank_current;
	if (e->lazy && !(e->bursts && e->bursts[r - e->ranks].sampled)) { /* a sample refuses the call */
		r->computed += picoseconds;
		if (r->computed < 9000000 * 1000000000000ll)
			return 0;
		picoseconds = 0; /* the end of virtual time may be near */
	}
	struct gigarank_call c = {.procedure = GIGARANK_COMPUTE, .bytes = picoseconds};
	return gigarank_trap(&c);
}

/* measured returns the burst of the running rank, NULL if CPU times do not count. */
static struct gigarank_burst *measured(void) {
	struct gigarank_rank *r = gigarank_running();
	return r && gigarank_current->bursts ? gigarank_burst_of(gigarank_current, r) : NULL;
}

int gigarank_charge(int on) {
	struct gigarank_burst *b = measured();
	on = on != 0;
	if (!b)
		return 0;
	if (b->sampled || (!gigarank_current->lazy && b->unpaid == on)) {
		struct gigarank_call c = {.procedure = GIGARANK_CLOCK_POLL}; /* which a sample refuses */
		gigarank_trap(&c);
	} else {
		gigarank_burst_count(b, gigarank_meter_split(&gigarank_current->meter));
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

int gigarank_phase(const char *name) {
	struct gigarank_call c = {.procedure = GIGARANK_PHASE, .detail = name ? name : ""};
	if (!gigarank_running())
		return -1;
	gigarank_current->phased = 1;
	return gigarank_trap(&c);
}
