/* Threads and processes that a rank starts. */
#define _GNU_SOURCE
#include "libc/threads.h"
#include "libc/environment.h"
#include "libc/process.h"
#include "rank/ranks.h"
#include "rank/real.h"
#include "rank/running.h"
#include "rank/threads.h"

#include <aio.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <threads.h>

/* A thread that a rank has started, or a thread of its. */
struct thread {
	union {
		void *(*posix)(void *);
		int (*c11)(void *);
	} function;
	void *what;
	struct gigarank_parent parent;
	int counts; /* it is among the living threads */
};

static __thread struct gigarank_threads *mine __attribute__((tls_model("initial-exec"))); /* which this thread counts for */
static __thread int turn __attribute__((tls_model("initial-exec")));
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t end_key; /* by which the C library tells that a thread ends */

/* The threads of these libraries work only within calls, on the arguments of a call; threads.go has the same table. Regions of libgomp are
 * found by another way. */
static const char *const workers[] = {"libgomp.so", "libopenblas", "libblis", "libmkl_", "libfftw3"};

/* may_stray reports whether a thread that begins with a function may use variables of its rank at any time. */
static int may_stray(const void *function) {
	Dl_info where;
	if (!dladdr(function, &where) || !where.dli_fname)
		return 1;
	const char *slash = strrchr(where.dli_fname, '/'), *name = slash ? slash + 1 : where.dli_fname;
	for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
		if (strncmp(name, workers[i], strlen(workers[i])) == 0)
			return i > 0 || (gigarank_running() && !gigarank_current->program->openmp.active_level);
	return 1;
}

/* thread_of returns the data that a thread begins with, NULL if no rank starts it or memory lacks. */
static struct thread *thread_of(void *what, const void *function) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_parent parent = gigarank_parent;
	if (gigarank_running()) {
		gigarank_fortran();                 /* has the keys of the rank and its threads */
		gigarank_environment(e->running); /* of which a thread reads */
		e = gigarank_current;
		parent = (struct gigarank_parent){e, (int32_t)(e->running - e->ranks), gigarank_own_threads()};
	}
	struct thread *t = parent.engine && parent.threads ? malloc(sizeof *t) : NULL;
	if (!t)
		return NULL;
	__atomic_store_n(&parent.engine->threads, 1, __ATOMIC_RELAXED);
	*t = (struct thread){.what = what, .parent = parent, .counts = may_stray(function)};
	gigarank_hold_threads(parent.threads);
	if (t->counts)
		__atomic_add_fetch(&parent.threads->living, 1, __ATOMIC_RELAXED);
	return t;
}

/* not_begun undoes thread_of, if the system has no thread. */
static int not_begun(struct thread *t, int error) {
	if (!error)
		return 0;
	if (t->counts)
		__atomic_sub_fetch(&t->parent.threads->living, 1, __ATOMIC_RELAXED);
	gigarank_leave_threads(t->parent.threads);
	free(t);
	return error;
}

/* ends is called with the destructors of a thread's values under keys, which may use the rank's variables. It ends
 * the thread in the last turn that the C library gives destructors. */
static void ends(void *counts) {
	enum { TURNS = 4 /* PTHREAD_DESTRUCTOR_ITERATIONS */ };
	if (++turn < TURNS && real(pthread_setspecific)(end_key, counts) == 0)
		return;
	if (counts == &turn)
		__atomic_sub_fetch(&mine->living, 1, __ATOMIC_RELEASE);
	gigarank_leave_threads(mine);
}

static void make_end_key(void) { real(pthread_key_create)(&end_key, ends); }

static struct thread begun(void *what) {
	struct thread t = *(struct thread *)what;
	free(what);
	gigarank_parent = t.parent;
	mine = t.parent.threads;
	pthread_once(&once, make_end_key);
	real(pthread_setspecific)(end_key, t.counts ? (void *)&turn : (void *)&mine);
	return t;
}

static void *posix_begins(void *what) {
	struct thread t = begun(what);
	return t.function.posix(t.what);
}

static int c11_begins(void *what) {
	struct thread t = begun(what);
	return t.function.c11(t.what);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*function)(void *), void *restrict what) {
	struct thread *t = thread_of(what, (void *)function);
	if (!t)
		return real(pthread_create)(thread, attributes, function, what);
	t->function.posix = function;
	return not_begun(t, real(pthread_create)(thread, attributes, posix_begins, t));
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *what) {
	struct thread *t = thread_of(what, (void *)function);
	if (!t)
		return real(thrd_create)(thread, function, what);
	t->function.c11 = function;
	return not_begun(t, real(thrd_create)(thread, c11_begins, t));
}

/* An unnamed critical section keeps the threads of one rank apart. A rank that waits for a message in it
 * would else hold up the other ranks of the process. */
static pthread_mutex_t of_others = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *critical(void) {
	struct gigarank_threads *t = gigarank_own_threads();
	return t ? &t->critical : &of_others;
}

void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_start(void) { pthread_mutex_lock(critical()); }
void GOMP_critical_end(void) { pthread_mutex_unlock(critical()); }

/* Asynchronous operations go on by themselves, in threads that the C library makes. */
#define IN_BACKGROUND(name, parameters, when, ...) \
	int name parameters { \
		struct gigarank_threads *t = when ? gigarank_own_threads() : NULL; \
		if (t) { \
			struct gigarank_engine *e = gigarank_running() ? gigarank_current : gigarank_parent.engine; \
			__atomic_store_n(&e->threads, 1, __ATOMIC_RELAXED); \
			__atomic_add_fetch(&t->living, 1, __ATOMIC_RELAXED); \
		} \
		return real(name)(__VA_ARGS__); \
	}
IN_BACKGROUND(aio_read, (struct aiocb * block), 1, block)
IN_BACKGROUND(aio_read64, (struct aiocb64 * block), 1, block)
IN_BACKGROUND(aio_write, (struct aiocb * block), 1, block)
IN_BACKGROUND(aio_write64, (struct aiocb64 * block), 1, block)
IN_BACKGROUND(lio_listio, (int mode, struct aiocb *const list[], int n, struct sigevent *event), mode == LIO_NOWAIT, mode, list, n, event)
IN_BACKGROUND(lio_listio64, (int mode, struct aiocb64 *const list[], int n, struct sigevent *event), mode == LIO_NOWAIT, mode, list, n, event)
IN_BACKGROUND(timer_create, (clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer), event && event->sigev_notify == SIGEV_THREAD, clock, event, timer)
IN_BACKGROUND(mq_notify, (mqd_t queue, const struct sigevent *event), event && event->sigev_notify == SIGEV_THREAD, queue, event)

/* In the copy of the process no rank runs: its calls are the system's. */
pid_t fork(void) {
	char **own = gigarank_running() ? gigarank_environment(gigarank_running()) : NULL;
	pid_t child = real(fork)();
	if (child == 0 && gigarank_running())
		gigarank_forked = 1, gigarank_current = NULL, environ = own;
	return child;
}

pid_t vfork(void) { return fork(); }

void gigarank_forbid(const char *function, const char *why) {
	char text[160];
	if (!gigarank_running())
		return;
	snprintf(text, sizeof text, "the program has called %s, which would %s", function, why);
	gigarank_fail(text);
}

#define IN_ITS_PLACE "take the simulator's place: start other programs by posix_spawn or system"

#define EXEC(name, parameters, ...) \
	int name parameters { \
		gigarank_forbid(#name, IN_ITS_PLACE); \
		return real(name)(__VA_ARGS__); \
	}
EXEC(execv, (const char *path, char *const argv[]), path, argv)
EXEC(execvp, (const char *file, char *const argv[]), file, argv)
EXEC(execve, (const char *path, char *const argv[], char *const envp[]), path, argv, envp)
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), file, argv, envp)
EXEC(fexecve, (int file, char *const argv[], char *const envp[]), file, argv, envp)

/* Arguments of a list, and after its end the environment if it is given. */
#define EXEC_LIST(name, environment, ...) \
	int name(const char *path, const char *first, ...) { \
		gigarank_forbid(#name, IN_ITS_PLACE); \
		va_list list; \
		size_t n = 1; \
		va_start(list, first); \
		while (va_arg(list, char *)) \
			n++; \
		va_end(list); \
		char *argv[n + 1]; \
		argv[0] = (char *)first; \
		va_start(list, first); \
		for (size_t i = 1; i <= n; i++) \
			argv[i] = va_arg(list, char *); \
		char *const *envp = environment; \
		va_end(list); \
		(void)envp; \
		return __VA_ARGS__; \
	}
EXEC_LIST(execl, NULL, execv(path, argv))
EXEC_LIST(execlp, NULL, execvp(path, argv))
EXEC_LIST(execle, va_arg(list, char *const *), execve(path, argv, envp))
