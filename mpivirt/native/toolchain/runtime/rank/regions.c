/* Where CPU times count, a parallel region of OpenMP takes as long as the thread that computes longest in it. The burst of
 * the rank has the CPU time of the rank's own thread. The time that the longest thread has taken beyond it is added as the region ends. */
#define _GNU_SOURCE
#include "rank/regions.h"
#include "rank/bursts.h"
#include "rank/real.h"
#include "rank/running.h"
#include "rank/threads.h"

#include <time.h>

void *gigarank_libgomp;

/* A region, and the longest time that a thread has computed in it so far, in nanoseconds. */
struct region {
	void (*function)(void *);
	void *what;
	int64_t longest;
};

static __thread int inside __attribute__((tls_model("initial-exec"))); /* regions whose time counts and that this thread, no rank, works in */

int64_t gigarank_thread_time(void) {
	struct timespec t;
	real(clock_gettime)(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* computed returns the time, in nanoseconds, that the rank or thread which runs has computed since some instant. */
static int64_t computed(const struct gigarank_lapse *l) { return gigarank_thread_time() - l->away + l->beyond; }

static void in_thread(void *what) {
	struct region *g = what;
	struct gigarank_lapse *lapse = gigarank_lapse();
	int thread = !gigarank_running();
	int64_t start = computed(lapse);
	inside += thread;
	g->function(g->what);
	inside -= thread;
	int64_t used = computed(lapse) - start, longest = __atomic_load_n(&g->longest, __ATOMIC_RELAXED);
	while (used > longest && !__atomic_compare_exchange_n(&g->longest, &longest, used, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* counts reports whether the time of a region that this thread begins counts. */
static int counts(void) { return gigarank_running() ? gigarank_current->bursts && gigarank_lapse() : inside; }

/* ended adds the time that the longest thread has taken beyond the time of the thread that has begun the region. */
static void ended(const struct region *g, int64_t start) {
	struct gigarank_lapse *lapse = gigarank_lapse();
	int64_t beyond = g->longest - (computed(lapse) - start);
	if (beyond <= 0)
		return;
	lapse->beyond += beyond;
	if (gigarank_running())
		gigarank_burst_add(gigarank_current, gigarank_running(), beyond);
}

/* of_libgomp returns the function of libgomp that a name of this file hides. */
#define of_libgomp(name) ({ \
	static __typeof__(&name) real_; \
	if (!real_ && !(gigarank_libgomp && (real_ = (__typeof__(&name))dlsym(gigarank_libgomp, #name)))) \
		gigarank_fatal("gigarank: the program has " #name ", and no shared library of OpenMP has it: link with -fopenmp\n"); \
	real_; \
})

/* The functions by which GCC begins a region and ends it. */
#define REGION(name, parameters, ...) \
	void name parameters; \
	void name parameters { \
		struct region region = {function, what, 0}; \
		int64_t start = 0; \
		int timed = counts(); \
		if (timed) \
			function = in_thread, what = &region, start = computed(gigarank_lapse()); \
		of_libgomp(name)(__VA_ARGS__); \
		if (timed) \
			ended(&region, start); \
	}

#define LOOP(name) \
	REGION(GOMP_parallel_loop_##name, (void (*function)(void *), void *what, unsigned threads, long from, long to, long step, long chunk, unsigned flags), \
		function, what, threads, from, to, step, chunk, flags)
#define LOOP_AT_RUN_TIME(name) \
	REGION(GOMP_parallel_loop_##name, (void (*function)(void *), void *what, unsigned threads, long from, long to, long step, unsigned flags), \
		function, what, threads, from, to, step, flags)

REGION(GOMP_parallel, (void (*function)(void *), void *what, unsigned threads, unsigned flags), function, what, threads, flags)
REGION(GOMP_parallel_sections, (void (*function)(void *), void *what, unsigned threads, unsigned sections, unsigned flags), function, what, threads, sections, flags)
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP_AT_RUN_TIME(runtime)
LOOP_AT_RUN_TIME(nonmonotonic_runtime)
LOOP_AT_RUN_TIME(maybe_nonmonotonic_runtime)

/* GCC reads the number of threads, which this function returns, in regions with reductions of tasks. */
unsigned GOMP_parallel_reductions(void (*function)(void *), void *what, unsigned threads, unsigned flags);
unsigned GOMP_parallel_reductions(void (*function)(void *), void *what, unsigned threads, unsigned flags) {
	struct region region = {function, what, 0};
	if (!counts())
		return of_libgomp(GOMP_parallel_reductions)(function, what, threads, flags);
	int64_t start = computed(gigarank_lapse());
	unsigned n = of_libgomp(GOMP_parallel_reductions)(in_thread, &region, threads, flags);
	ended(&region, start);
	return n;
}
