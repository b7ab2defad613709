/* The end of a rank, as the program asks for it. */
#define _GNU_SOURCE
#include "libc/exit.h"
#include "libc/process.h"
#include "rank/foreign.h"
#include "rank/object_constructors.h"
#include "rank/ranks.h"
#include "rank/real.h"
#include "rank/running.h"

#include <pthread.h>

static void push(struct gigarank_exit_function **list, void (*f)(void *, int), void *what) {
	struct gigarank_exit_function *one = malloc(sizeof *one);
	if (!one)
		gigarank_fatal("gigarank: no memory for the functions that end a rank\n");
	*one = (struct gigarank_exit_function){*list, f, what};
	*list = one;
}

/* call_all calls the functions of a list. A function may add further functions or end the rank. */
static void call_all(struct gigarank_exit_function **list, int code) {
	while (*list) {
		struct gigarank_exit_function one = **list;
		free(*list);
		*list = one.next;
		one.function(one.what, code);
	}
}

void gigarank_at_exit(void (*f)(void *, int), void *what) { push(&gigarank_process(gigarank_running())->exits, f, what); }

int __cxa_atexit(void (*f)(void *), void *what, void *object) {
	if (!gigarank_running())
		return real(__cxa_atexit)(f, what, object);
	gigarank_at_exit((void (*)(void *, int))f, what);
	return 0;
}

int on_exit(void (*f)(int, void *), void *what);

/* A function of on_exit takes its arguments in another order. */
struct on_exit {
	void (*function)(int, void *);
	void *what;
};

static void call_on_exit(void *what, int code) {
	struct on_exit one = *(struct on_exit *)what;
	free(what);
	one.function(code, one.what);
}

int on_exit(void (*f)(int, void *), void *what) {
	if (!gigarank_running())
		return real(on_exit)(f, what);
	struct on_exit *one = malloc(sizeof *one);
	if (!one)
		return -1;
	*one = (struct on_exit){f, what};
	gigarank_at_exit(call_on_exit, one);
	return 0;
}

int __cxa_at_quick_exit(void (*f)(void *), void *object);

int __cxa_at_quick_exit(void (*f)(void *), void *object) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(__cxa_at_quick_exit)(f, object);
	push(&gigarank_process(r)->quick_exits, (void (*)(void *, int))f, NULL);
	return 0;
}

/* The destructors of a rank's thread-local objects. */
int __cxa_thread_atexit_impl(void (*f)(void *), void *what, void *object);

int __cxa_thread_atexit_impl(void (*f)(void *), void *what, void *object) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(__cxa_thread_atexit_impl)(f, what, object);
	push(&gigarank_process(r)->thread_exits, (void (*)(void *, int))f, what);
	return 0;
}

int __cxa_thread_atexit(void (*f)(void *), void *what, void *object);

int __cxa_thread_atexit(void (*f)(void *), void *what, void *object) { return __cxa_thread_atexit_impl(f, what, object); }

__attribute__((noreturn)) void exit(int code) {
	struct gigarank_rank *r = gigarank_running();
	if (!r) {
		gigarank_end_foreign("exit");
		real(exit)(code);
		__builtin_unreachable();
	}
	if (r->process)
		call_all(&r->process->thread_exits, code);
	do { /* objects end last, and may add functions */
		if (r->process)
			call_all(&r->process->exits, code);
	} while (gigarank_end_next(r));
	gigarank_leave(code & 0xff);
}

__attribute__((noreturn)) void quick_exit(int code) {
	struct gigarank_rank *r = gigarank_running();
	if (!r) {
		gigarank_end_foreign("quick_exit");
		real(quick_exit)(code);
		__builtin_unreachable();
	}
	if (r->process)
		call_all(&r->process->quick_exits, code);
	gigarank_leave(code & 0xff);
}

__attribute__((noreturn)) void _exit(int code) {
	if (gigarank_running())
		gigarank_leave(code & 0xff);
	gigarank_end_foreign("_exit");
	real(_exit)(code);
	__builtin_unreachable();
}

__attribute__((noreturn)) void _Exit(int code) { _exit(code); }

__attribute__((noreturn)) void pthread_exit(void *result) {
	if (gigarank_running())
		exit(0);
	real(pthread_exit)(result);
	__builtin_unreachable();
}
