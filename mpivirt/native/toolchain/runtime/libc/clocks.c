/* The clocks that a program sees show virtual time. It begins at the start of the run's
 * virtual time, which stands for 2000-01-01 00:00 UTC where a date is asked for. */
#define _GNU_SOURCE
#include "libc/process.h"
#include "rank/computation.h"
#include "rank/meter.h"
#include "rank/posts.h"
#include "rank/ranks.h"
#include "rank/real.h"
#include "rank/running.h"
#include "rank/threads.h"
#include "gigarank.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define EPOCH 946684800 /* of virtual time, in seconds */
#define SECOND 1000000000000ll

enum { FREE_CLOCK_POLLS = 1000 }; /* in a row take no time */

/* now returns the rank's virtual time in picoseconds. Where computation takes no time, a rank
 * that waits for a time by polling the clock would wait forever: in a long row of polls each
 * takes as long as a poll. */
static int64_t now(struct gigarank_rank *r) {
	gigarank_settle();
	struct gigarank_engine *e = gigarank_current;
	r->polled_clock = 1;
	int64_t at = e->bursts ? gigarank_poll_clock(e, r) : r->clock + r->computed;
	uint64_t ticks = gigarank_ticks();
	if (at != e->polled_time)
		e->clock_polls = 0;
	if (e->clock_polls && ticks - e->polled_ticks > e->long_ticks)
		e->timeless++;
	e->polled_ticks = ticks;
	if (e->clock_polls < FREE_CLOCK_POLLS) {
		e->clock_polls++;
	} else {
		r->computed += e->poll;
		at += e->poll;
	}
	return e->polled_time = at;
}

/* pass has the clock of the running rank advance. */
static int pass(double seconds) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return -1;
	if (!(seconds >= 0) || seconds > 9e6) {
		struct gigarank_call c = {.procedure = GIGARANK_COMPUTE, .error = MPI_ERR_ARG, .detail = "gigarank_compute wants a time of 0 or more seconds, at most 9e6"};
		return gigarank_trap(&c);
	}
	return gigarank_pass(r, (int64_t)(seconds * 1e12 + 0.5));
}

int gigarank_compute(double seconds) {
	if (gigarank_running() && seconds > 0)
		gigarank_current->declares = 1;
	return pass(seconds);
}

int gigarank_record(int index, const char *operation, double seconds) {
	struct gigarank_call c = {.procedure = GIGARANK_RECORD, .key = index, .detail = operation, .bytes = (int64_t)(seconds * 1e12 + 0.5)};
	return gigarank_running() ? gigarank_trap(&c) : -1;
}

double PMPI_Wtime(void) {
	struct gigarank_rank *r = gigarank_running();
	return r ? (double)now(r) / 1e12 : 0;
}

double PMPI_Wtick(void) { return 1e-12; }

double MPI_Wtime(void) __attribute__((weak, alias("PMPI_Wtime")));
double MPI_Wtick(void) __attribute__((weak, alias("PMPI_Wtick")));

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(gettimeofday)(t, zone);
	int64_t at = now(r);
	t->tv_sec = EPOCH + at / SECOND;
	t->tv_usec = at % SECOND / 1000000;
	return 0;
}

/* exists reports whether there is a clock. Clocks of processes and threads have negative numbers. */
static int exists(clockid_t clock) { return clock <= CLOCK_TAI; }

/* used is now without the time that the rank has slept. */
static int64_t used(struct gigarank_rank *r) {
	int64_t at = now(r);
	return at - *gigarank_slept(r, 0);
}

/* sleeps lets a rank sleep. */
static void sleeps(double seconds) {
	struct gigarank_rank *r = gigarank_running();
	if (pass(seconds) == 0 && seconds > 0)
		*gigarank_slept(r, 1) += (int64_t)(seconds * 1e12 + 0.5);
}

/* Clocks of processes and threads have negative numbers, too. */
static int is_cpu(clockid_t clock) { return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0; }

int clock_gettime(clockid_t clock, struct timespec *t) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(clock_gettime)(clock, t);
	if (!exists(clock)) {
		errno = EINVAL;
		return -1;
	}
	int64_t at = is_cpu(clock) ? used(r) : now(r);
	t->tv_sec = at / SECOND + (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ? EPOCH : 0);
	t->tv_nsec = at % SECOND / 1000;
	return 0;
}

time_t time(time_t *t) {
	struct gigarank_rank *r = gigarank_running();
	time_t at = r ? EPOCH + now(r) / SECOND : real(time)(NULL);
	if (t)
		*t = at;
	return at;
}

int timespec_get(struct timespec *t, int base) {
	if (!gigarank_running() || base != TIME_UTC)
		return real(timespec_get)(t, base);
	clock_gettime(CLOCK_REALTIME, t);
	return base;
}

clock_t clock(void) {
	struct gigarank_rank *r = gigarank_running();
	return r ? (clock_t)(used(r) / (SECOND / CLOCKS_PER_SEC)) : real(clock)();
}

clock_t times(struct tms *b) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(times)(b);
	int64_t at = now(r), tick = SECOND / sysconf(_SC_CLK_TCK);
	if (b)
		*b = (struct tms){.tms_utime = (clock_t)((at - *gigarank_slept(r, 0)) / tick)};
	return (clock_t)(at / tick);
}

int getrusage(__rusage_who_t who, struct rusage *u) {
	struct gigarank_rank *r = gigarank_running();
	int outcome = real(getrusage)(who, u);
	if (r && outcome == 0) {
		int64_t at = used(r);
		u->ru_utime = (struct timeval){.tv_sec = at / SECOND, .tv_usec = at % SECOND / 1000000};
		u->ru_stime = (struct timeval){0, 0};
	}
	return outcome;
}

int nanosleep(const struct timespec *t, struct timespec *rest) {
	if (!gigarank_running())
		return real(nanosleep)(t, rest);
	if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= 1000000000) {
		errno = EINVAL;
		return -1;
	}
	sleeps((double)t->tv_sec + (double)t->tv_nsec * 1e-9);
	if (rest)
		*rest = (struct timespec){0, 0};
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *rest) {
	if (!gigarank_running())
		return real(clock_nanosleep)(clock, flags, t, rest);
	if (!exists(clock) || clock == CLOCK_THREAD_CPUTIME_ID || t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= 1000000000)
		return EINVAL;
	struct timespec from = {0, 0};
	if (flags & TIMER_ABSTIME)
		clock_gettime(clock, &from);
	struct timespec length = {t->tv_sec - from.tv_sec, t->tv_nsec - from.tv_nsec};
	if (length.tv_nsec < 0)
		length.tv_sec--, length.tv_nsec += 1000000000;
	if (length.tv_sec < 0)
		return 0;
	return nanosleep(&length, rest) == 0 ? 0 : errno;
}

int thrd_sleep(const struct timespec *t, struct timespec *rest) {
	if (!gigarank_running())
		return real(thrd_sleep)(t, rest);
	return nanosleep(t, rest) == 0 ? 0 : -2;
}

unsigned sleep(unsigned seconds) {
	if (!gigarank_running())
		return real(sleep)(seconds);
	sleeps(seconds);
	return 0;
}

int usleep(useconds_t microseconds) {
	if (!gigarank_running())
		return real(usleep)(microseconds);
	sleeps(microseconds * 1e-6);
	return 0;
}

/* Waits for a condition or a semaphore, up to an instant of a clock. Where the rank has no threads, no signal
 * comes: the call only waits for a time. Else it waits in the time of the host, and a wait that ends without a signal
 * takes virtual time. */

/* alone reports that no thread can signal the rank. Else it stores an instant of a clock as the time of the system's clock: at
 * most some thirty years from now. */
static int alone(clockid_t clock, const struct timespec *until, struct timespec *real_until) {
	enum { MOST = 1000000000 };
	if (!gigarank_current->threads || !gigarank_has_threads(gigarank_current))
		return 1;
	struct timespec mine, systems;
	clock_gettime(clock, &mine);
	real(clock_gettime)(clock, &systems);
	int64_t seconds = until->tv_sec > mine.tv_sec + MOST ? MOST : until->tv_sec < mine.tv_sec ? -1 : until->tv_sec - mine.tv_sec;
	int64_t left = seconds * 1000000000ll + until->tv_nsec - mine.tv_nsec;
	int64_t at = systems.tv_nsec + (left > 0 ? left : 0);
	*real_until = (struct timespec){systems.tv_sec + at / 1000000000, at % 1000000000};
	return 0;
}

static int is_instant(const struct timespec *t) { return t->tv_nsec >= 0 && t->tv_nsec < 1000000000; }

/* ends_at lets the time pass up to an instant, after a wait with an error. */
static int ends_at(int error, clockid_t clock, const struct timespec *until) {
	if (error == ETIMEDOUT)
		clock_nanosleep(clock, TIMER_ABSTIME, until, NULL);
	return error;
}

/* C libraries before glibc 2.30 lack these. */
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until);

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
	struct timespec t;
	if (!gigarank_running() || !is_instant(until))
		return real(pthread_cond_clockwait)(condition, mutex, clock, until);
	return ends_at(alone(clock, until, &t) ? ETIMEDOUT : real(pthread_cond_clockwait)(condition, mutex, clock, &t), clock, until);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
	struct timespec t;
	if (!gigarank_running() || !is_instant(until))
		return real(pthread_cond_timedwait)(condition, mutex, until);
	clockid_t clock = until->tv_sec < EPOCH ? CLOCK_MONOTONIC : CLOCK_REALTIME; /* the condition knows; dates begin there */
	return ends_at(alone(clock, until, &t) ? ETIMEDOUT : real(pthread_cond_timedwait)(condition, mutex, &t), clock, until);
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until) {
	struct timespec t;
	if (!gigarank_running() || !is_instant(until))
		return real(cnd_timedwait)(condition, mutex, until);
	int outcome = alone(CLOCK_REALTIME, until, &t) ? thrd_timedout : real(cnd_timedwait)(condition, mutex, &t);
	ends_at(outcome == thrd_timedout ? ETIMEDOUT : 0, CLOCK_REALTIME, until);
	return outcome;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) { return sem_clockwait(semaphore, CLOCK_REALTIME, until); }

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until) {
	struct timespec t;
	if (!gigarank_running() || !is_instant(until))
		return real(sem_clockwait)(semaphore, clock, until);
	if (sem_trywait(semaphore) == 0)
		return 0;
	int outcome = -1;
	if (alone(clock, until, &t))
		errno = ETIMEDOUT;
	else
		outcome = real(sem_clockwait)(semaphore, clock, &t);
	if (outcome)
		errno = ends_at(errno, clock, until);
	return outcome;
}

/* Without files, these only wait for a time. */

int select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict others, struct timeval *restrict t) {
	if (n > 0 || !t || !gigarank_running())
		return real(select)(n, in, out, others, t);
	sleeps((double)t->tv_sec + (double)t->tv_usec * 1e-6);
	*t = (struct timeval){0, 0};
	return 0;
}

int pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict others, const struct timespec *restrict t, const sigset_t *restrict mask) {
	if (n > 0 || !t || !gigarank_running())
		return real(pselect)(n, in, out, others, t, mask);
	return nanosleep(t, NULL);
}

int poll(struct pollfd *files, nfds_t n, int milliseconds) {
	if (n > 0 || milliseconds < 0 || !gigarank_running())
		return real(poll)(files, n, milliseconds);
	sleeps(milliseconds * 1e-3);
	return 0;
}

int ppoll(struct pollfd *files, nfds_t n, const struct timespec *t, const sigset_t *mask) {
	if (n > 0 || !t || !gigarank_running())
		return real(ppoll)(files, n, t, mask);
	return nanosleep(t, NULL);
}

/* The names of checked calls. */
int __poll_chk(struct pollfd *files, nfds_t n, int milliseconds, size_t room);
int __poll_chk(struct pollfd *files, nfds_t n, int milliseconds, size_t room) { return n > 0 ? real(__poll_chk)(files, n, milliseconds, room) : poll(files, n, milliseconds); }
int __ppoll_chk(struct pollfd *files, nfds_t n, const struct timespec *t, const sigset_t *mask, size_t room);
int __ppoll_chk(struct pollfd *files, nfds_t n, const struct timespec *t, const sigset_t *mask, size_t room) { return n > 0 ? real(__ppoll_chk)(files, n, t, mask, room) : ppoll(files, n, t, mask); }
