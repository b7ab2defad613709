/* Threads and processes that a rank starts. */
#define _GNU_SOURCE
#include "fortran.h"
#include "process.h"

#include <stdarg.h>
#include <threads.h>

/* A thread that a rank has started. */
struct thread {
	union {
		void *(*posix)(void *);
		int (*c11)(void *);
	} function;
	void *what;
	struct gigarank_parent parent;
};

/* thread_of returns what a thread begins with, NULL if no rank starts it or memory lacks. */
static struct thread *thread_of(void *what) {
	struct gigarank_engine *e = gigarank_current;
	struct thread *t = gigarank_running() ? malloc(sizeof *t) : NULL;
	if (gigarank_fortran()) /* which has the keys of the rank and its threads */
		e->threads = 1;
	if (t)
		*t = (struct thread){.what = what, .parent = {e, (int32_t)(e->running - e->ranks)}};
	return t;
}

static struct thread begun(void *what) {
	struct thread t = *(struct thread *)what;
	free(what);
	gigarank_parent = t.parent;
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
	struct thread *t = thread_of(what);
	if (!t)
		return real(pthread_create)(thread, attributes, function, what);
	t->function.posix = function;
	return real(pthread_create)(thread, attributes, posix_begins, t);
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *what) {
	struct thread *t = thread_of(what);
	if (!t)
		return real(thrd_create)(thread, function, what);
	t->function.c11 = function;
	return real(thrd_create)(thread, c11_begins, t);
}

int gigarank_forked;

/* In the copy of the process no rank runs: what it calls is the system's. */
pid_t fork(void) {
	pid_t child = real(fork)();
	if (child == 0 && gigarank_running())
		gigarank_forked = 1, gigarank_current = NULL;
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
