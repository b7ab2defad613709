/* What the C library keeps for a process, kept for each rank: the ends that it asks for, random
 * numbers, locale, environment, working directory, handlers of signals, static results. The
 * state is made when a rank first asks for it. */
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* real returns the function of the C library that a name of this file hides. */
#define real(name) ({ \
	static __typeof__(&name) real_; \
	if (!real_) \
		real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
	real_; \
})

/* A function that is called when a rank ends. */
struct ending {
	struct ending *next; /* registered before */
	void (*function)(void *, int);
	void *what;
};

/* An entry of the environment, as a rank has it. */
struct value {
	struct value *next;
	char entry[];
};

struct gigarank_process {
	struct ending *thread_exits, *exits, *quick_exits; /* the last first */
	struct random_data random;
	int32_t random_state[32]; /* as much as the C library has */
	struct drand48_data drand48;
	char *token;              /* where strtok goes on */
	locale_t locale;
	struct value *values;     /* of the run's environment that it has asked for */
	char **environment;       /* of its own, with the room for as many entries */
	size_t environment_room;
	int directory;            /* number of the engine's directory, 0 for that of the run */
	mode_t mask;
	int has_mask;
	int closed;               /* bit n: the stream whose file has number n */
	FILE *output;             /* where its standard output goes, NULL for that of the run */
	struct sigaction *actions; /* by signal */
	sigset_t blocked, pending; /* signals; those that wait until they are not blocked */
	struct tm tm;
	char date[64], message[256];
};

/* What the thread takes from a rank. */
enum { LOCALE = 1, DIRECTORY = 2, MASK = 4 };

/* A directory that ranks of an engine have gone to. The first is that of the run. */
struct gigarank_directory {
	struct gigarank_directory *next;
	int file, number;
	dev_t device;
	ino_t node;
};

struct gigarank_process *gigarank_process(struct gigarank_rank *r) {
	if (!r->process && !(r->process = calloc(1, sizeof *r->process)))
		gigarank_fatal("gigarank: no memory for what a rank has of a process\n");
	return r->process;
}

static void forget(struct ending *all) {
	for (struct ending *next; all; all = next) {
		next = all->next;
		free(all);
	}
}

void gigarank_forget_process(struct gigarank_rank *r) {
	struct gigarank_process *p = r->process;
	if (!p)
		return;
	forget(p->thread_exits), forget(p->exits), forget(p->quick_exits);
	if (p->locale)
		freelocale(p->locale);
	for (struct value *next; p->values; p->values = next) {
		next = p->values->next;
		free(p->values);
	}
	free(p->environment);
	free(p->actions);
	if (p->output)
		real(fclose)(p->output);
	free(p);
	r->process = NULL;
}

/* --- the end of a rank, as the program asks for it --------------------------------- */

static void push(struct ending **list, void (*f)(void *, int), void *what) {
	struct ending *one = malloc(sizeof *one);
	if (!one)
		gigarank_fatal("gigarank: no memory for the functions that end a rank\n");
	*one = (struct ending){*list, f, what};
	*list = one;
}

/* call_all calls the functions of a list. One of them may add others or end the rank. */
static void call_all(struct ending **list, int code) {
	while (*list) {
		struct ending one = **list;
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

void gigarank_outside(const char *function) {
	if (gigarank_operating) {
		gigarank_intrudes(function, GIGARANK_NONE);
		gigarank_end_attempt();
	}
	if (gigarank_parent.engine && !gigarank_forked) {
		gigarank_intrudes(function, GIGARANK_NONE);
		real(pthread_exit)(NULL);
	}
}

__attribute__((noreturn)) void exit(int code) {
	struct gigarank_rank *r = gigarank_running();
	if (!r) {
		gigarank_outside("exit");
		real(exit)(code);
		__builtin_unreachable();
	}
	if (r->process) {
		call_all(&r->process->thread_exits, code);
		call_all(&r->process->exits, code);
	}
	gigarank_leave(code & 0xff);
}

__attribute__((noreturn)) void quick_exit(int code) {
	struct gigarank_rank *r = gigarank_running();
	if (!r) {
		gigarank_outside("quick_exit");
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
	gigarank_outside("_exit");
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

/* --- threads and processes that a rank starts ------------------------------------------ */

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
	if (gigarank_running())
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

/* forbid ends a rank that calls a function which would concern the simulator. */
static void forbid(const char *function, const char *why) {
	char text[160];
	if (!gigarank_running())
		return;
	snprintf(text, sizeof text, "the program has called %s, which would %s", function, why);
	gigarank_fail(text);
}

#define IN_ITS_PLACE "take the simulator's place: start other programs by posix_spawn or system"

#define EXEC(name, parameters, ...) \
	int name parameters { \
		forbid(#name, IN_ITS_PLACE); \
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
		forbid(#name, IN_ITS_PLACE); \
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

/* --- signals ------------------------------------------------------------------------- */

static struct sigaction *actions(struct gigarank_rank *r) {
	struct gigarank_process *p = gigarank_process(r);
	if (!p->actions && !(p->actions = calloc(_NSIG, sizeof *p->actions)))
		gigarank_fatal("gigarank: no memory for the signals of a rank\n");
	return p->actions;
}

/* ignores reports whether a handler does nothing about a signal. */
static int ignores(void (*handler)(int), int number) {
	return handler == SIG_IGN || (handler == SIG_DFL && (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH));
}

void (*gigarank_handler(struct gigarank_rank *r, int number))(int) {
	if (!r->process || !r->process->actions || number <= 0 || number >= _NSIG)
		return SIG_DFL;
	struct sigaction *a = &r->process->actions[number];
	void (*handler)(int) = a->sa_handler;
	if (a->sa_flags & (int)SA_RESETHAND)
		a->sa_handler = SIG_DFL;
	return handler;
}

int sigaction(int number, const struct sigaction *restrict set, struct sigaction *restrict old) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(sigaction)(number, set, old);
	if (number <= 0 || number >= _NSIG || number == SIGKILL || number == SIGSTOP) {
		errno = EINVAL;
		return -1;
	}
	struct sigaction *a = &actions(r)[number], was = *a;
	if (set)
		*a = *set;
	if (set && ignores(a->sa_handler, number))
		sigdelset(&r->process->pending, number);
	if (old)
		*old = was;
	return 0;
}

sighandler_t signal(int number, sighandler_t handler) {
	struct sigaction set = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
	if (!gigarank_running())
		return real(signal)(number, handler);
	return sigaction(number, &set, &old) == 0 ? old.sa_handler : SIG_ERR;
}

int raise(int number) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(raise)(number);
	if (number <= 0 || number >= _NSIG) {
		errno = EINVAL;
		return -1;
	}
	int acts = r->process && r->process->actions;
	if (acts && ignores(r->process->actions[number].sa_handler, number))
		return 0;
	if (r->process && number != SIGKILL && number != SIGSTOP && sigismember(&r->process->blocked, number) == 1)
		return sigaddset(&r->process->pending, number);
	int takes_more = acts && r->process->actions[number].sa_flags & SA_SIGINFO;
	void (*handler)(int) = gigarank_handler(r, number);
	if (ignores(handler, number))
		return 0;
	if (handler == SIG_DFL)
		gigarank_die(number);
	siginfo_t info = {.si_signo = number, .si_code = SI_TKILL};
	if (takes_more)
		((void (*)(int, siginfo_t *, void *))(void *)handler)(number, &info, NULL);
	else
		handler(number);
	return 0;
}

int kill(pid_t process, int number) {
	if (gigarank_running() && process == getpid())
		return number == 0 ? 0 : raise(number);
	return real(kill)(process, number);
}

__attribute__((noreturn)) void abort(void) {
	struct gigarank_rank *r = gigarank_running();
	if (r) {
		if (r->process)
			sigdelset(&r->process->blocked, SIGABRT);
		raise(SIGABRT);
		gigarank_die(SIGABRT);
	}
	real(abort)();
	__builtin_unreachable();
}

/* The thread's mask and its stack for signals are the Go runtime's. */
int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(pthread_sigmask)(how, set, old);
	struct gigarank_process *p = gigarank_process(r);
	sigset_t was = p->blocked;
	if (set && how == SIG_BLOCK)
		sigorset(&p->blocked, &was, set);
	else if (set && how == SIG_SETMASK)
		p->blocked = *set;
	else if (set && how == SIG_UNBLOCK)
		for (int i = 1; i < _NSIG; i++)
			if (sigismember(set, i) == 1)
				sigdelset(&p->blocked, i);
	if (old)
		*old = was;
	for (int i = 1; i < _NSIG; i++)
		if (sigismember(&p->pending, i) == 1 && sigismember(&p->blocked, i) == 0) {
			sigdelset(&p->pending, i);
			raise(i);
		}
	return 0;
}

int sigpending(sigset_t *set) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(sigpending)(set);
	*set = gigarank_process(r)->pending;
	return 0;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
	if (!gigarank_running())
		return real(sigprocmask)(how, set, old);
	return pthread_sigmask(how, set, old);
}

int sigaltstack(const stack_t *restrict set, stack_t *restrict old) {
	if (!gigarank_running())
		return real(sigaltstack)(set, old);
	if (old)
		*old = (stack_t){.ss_flags = SS_DISABLE};
	return 0;
}

/* --- random numbers -------------------------------------------------------------------- */

/* generator returns the rank's generator of random, which begins as that of the C library. */
static struct random_data *generator(struct gigarank_rank *r) {
	struct gigarank_process *p = gigarank_process(r);
	if (!p->random.state)
		initstate_r(1, (char *)p->random_state, sizeof p->random_state, &p->random);
	return &p->random;
}

long random(void) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(random)();
	int32_t x;
	random_r(generator(r), &x);
	return x;
}

void srandom(unsigned seed) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		real(srandom)(seed);
	else
		srandom_r(seed, generator(r));
}

int rand(void) { return gigarank_running() ? (int)random() : real(rand)(); }

void srand(unsigned seed) {
	if (gigarank_running())
		srandom(seed);
	else
		real(srand)(seed);
}

/* The functions of the library return a word before the numbers, in which they keep the type. */
char *initstate(unsigned seed, char *state, size_t bytes) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(initstate)(seed, state, bytes);
	struct random_data *g = generator(r);
	char *old = (char *)&g->state[-1];
	return initstate_r(seed, state, bytes, g) == 0 ? old : NULL;
}

char *setstate(char *state) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(setstate)(state);
	struct random_data *g = generator(r);
	char *old = (char *)&g->state[-1];
	return setstate_r(state, g) == 0 ? old : NULL;
}

/* Each of the family of drand48 has a twin that takes its state. */
#define OF48(type, name, result) \
	type name(void) { \
		struct gigarank_rank *r = gigarank_running(); \
		if (!r) \
			return real(name)(); \
		result x; \
		name##_r(&gigarank_process(r)->drand48, &x); \
		return x; \
	}
#define BY48(type, name, result) \
	type name(unsigned short state[3]) { \
		struct gigarank_rank *r = gigarank_running(); \
		if (!r) \
			return real(name)(state); \
		result x; \
		name##_r(state, &gigarank_process(r)->drand48, &x); \
		return x; \
	}

OF48(double, drand48, double)
OF48(long, lrand48, long)
OF48(long, mrand48, long)
BY48(double, erand48, double)
BY48(long, nrand48, long)
BY48(long, jrand48, long)

void srand48(long seed) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		real(srand48)(seed);
	else
		srand48_r(seed, &gigarank_process(r)->drand48);
}

unsigned short *seed48(unsigned short state[3]) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(seed48)(state);
	struct drand48_data *d = &gigarank_process(r)->drand48;
	seed48_r(state, d);
	return d->__old_x;
}

void lcong48(unsigned short parameters[7]) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		real(lcong48)(parameters);
	else
		lcong48_r(parameters, &gigarank_process(r)->drand48);
}

/* --- static results --------------------------------------------------------------------- */

char *strtok(char *restrict text, const char *restrict separators) {
	struct gigarank_rank *r = gigarank_running();
	return r ? strtok_r(text, separators, &gigarank_process(r)->token) : real(strtok)(text, separators);
}

struct tm *gmtime(const time_t *t) {
	struct gigarank_rank *r = gigarank_running();
	return r ? gmtime_r(t, &gigarank_process(r)->tm) : real(gmtime)(t);
}

struct tm *localtime(const time_t *t) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(localtime)(t);
	tzset();
	return localtime_r(t, &gigarank_process(r)->tm);
}

char *asctime(const struct tm *tm) {
	struct gigarank_rank *r = gigarank_running();
	return r ? asctime_r(tm, gigarank_process(r)->date) : real(asctime)(tm);
}

char *ctime(const time_t *t) { return gigarank_running() ? asctime(localtime(t)) : real(ctime)(t); }

char *strerror(int number) {
	struct gigarank_rank *r = gigarank_running();
	return r ? strerror_r(number, gigarank_process(r)->message, sizeof gigarank_process(r)->message) : real(strerror)(number);
}

/* --- locale ------------------------------------------------------------------------------ */

/* name_of returns the name of a locale for a category, in the rank's memory. */
static char *name_of(struct gigarank_process *p, int category) {
	locale_t l = p->locale;
	if (!l)
		return (char *)"C";
	if (category != LC_ALL)
		return nl_langinfo_l(NL_LOCALE_NAME(category), l);
	static const struct { int category; const char *name; } all[] = {
		{LC_CTYPE, "LC_CTYPE"}, {LC_NUMERIC, "LC_NUMERIC"}, {LC_TIME, "LC_TIME"}, {LC_COLLATE, "LC_COLLATE"}, {LC_MONETARY, "LC_MONETARY"},
		{LC_MESSAGES, "LC_MESSAGES"}, {LC_PAPER, "LC_PAPER"}, {LC_NAME, "LC_NAME"}, {LC_ADDRESS, "LC_ADDRESS"}, {LC_TELEPHONE, "LC_TELEPHONE"},
		{LC_MEASUREMENT, "LC_MEASUREMENT"}, {LC_IDENTIFICATION, "LC_IDENTIFICATION"},
	};
	int same = 1;
	size_t at = 0;
	char *first = nl_langinfo_l(NL_LOCALE_NAME(LC_CTYPE), l);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const char *name = nl_langinfo_l(NL_LOCALE_NAME(all[i].category), l);
		same = same && strcmp(name, first) == 0;
		int n = snprintf(p->message + at, sizeof p->message - at, "%s%s=%s", i ? ";" : "", all[i].name, name);
		at = at + (size_t)n < sizeof p->message ? at + (size_t)n : sizeof p->message - 1;
	}
	return same ? first : p->message;
}

char *setlocale(int category, const char *name) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(setlocale)(category, name);
	if (category < 0 || category > LC_IDENTIFICATION)
		return NULL;
	struct gigarank_process *p = gigarank_process(r);
	if (name) {
		locale_t base = p->locale ? duplocale(p->locale) : newlocale(LC_ALL_MASK, "C", (locale_t)0);
		locale_t made = base ? newlocale(category == LC_ALL ? LC_ALL_MASK : 1 << category, name, base) : (locale_t)0;
		if (!made) {
			if (base)
				freelocale(base);
			return NULL;
		}
		gigarank_current->keeps |= LOCALE;
		uselocale(made);
		if (p->locale)
			freelocale(p->locale);
		p->locale = made;
	}
	return name_of(p, category);
}

/* --- environment --------------------------------------------------------------------------- */

/* A rank that changes its environment has one of its own. A value is the rank's own as soon as
 * it asks for it, since programs take values apart in place. */

static char **variable(char **list, const char *name, size_t length) {
	for (; list && *list; list++)
		if (strncmp(*list, name, length) == 0 && (*list)[length] == '=')
			return list;
	return NULL;
}

static char **own_environment(struct gigarank_process *p) {
	if (!p->environment) {
		size_t n = 0;
		while (environ && environ[n])
			n++;
		p->environment_room = n + 16;
		if (!(p->environment = calloc(p->environment_room, sizeof(char *))))
			gigarank_fatal("gigarank: no memory for the environment of a rank\n");
		if (n)
			memcpy(p->environment, environ, n * sizeof(char *));
	}
	return p->environment;
}

/* enter puts an entry in the place of one with the same name, or at the end. */
static int enter(struct gigarank_rank *r, char *entry, size_t length, int overwrite) {
	struct gigarank_process *p = gigarank_process(r);
	char **list = own_environment(p), **old = variable(list, entry, length);
	if (old) {
		if (overwrite)
			*old = entry;
		return 0;
	}
	size_t n = 0;
	while (list[n])
		n++;
	if (n + 2 > p->environment_room) {
		list = realloc(list, 2 * p->environment_room * sizeof(char *));
		if (!list)
			return -1;
		p->environment = list;
		p->environment_room *= 2;
	}
	list[n] = entry, list[n + 1] = NULL;
	return 0;
}

static int wrong_name(const char *name) {
	if (name && *name && !strchr(name, '='))
		return 0;
	errno = EINVAL;
	return -1;
}

/* own_entry returns a rank's copy of an entry that all ranks share. */
static char *own_entry(struct gigarank_process *p, const char *shared, size_t length) {
	for (struct value *v = p->values; v; v = v->next)
		if (strncmp(v->entry, shared, length + 1) == 0)
			return v->entry;
	size_t size = strlen(shared) + 1;
	struct value *v = malloc(sizeof *v + size);
	if (!v)
		gigarank_fatal("gigarank: no memory for the environment of a rank\n");
	v->next = p->values, p->values = v;
	return memcpy(v->entry, shared, size);
}

char *getenv(const char *name) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(getenv)(name);
	size_t length = strlen(name);
	int own = r->process && r->process->environment;
	char **found = variable(own ? r->process->environment : environ, name, length);
	if (!found)
		return NULL;
	char *entry = *found, **shared = own ? variable(environ, name, length) : found;
	if (shared && *shared == entry)
		entry = own_entry(gigarank_process(r), entry, length);
	return entry + length + 1;
}

char *secure_getenv(const char *name) { return gigarank_running() ? getenv(name) : real(secure_getenv)(name); }

int setenv(const char *name, const char *value, int overwrite) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(setenv)(name, value, overwrite);
	if (wrong_name(name))
		return -1;
	char *entry = NULL;
	if (asprintf(&entry, "%s=%s", name, value) < 0)
		return -1;
	return enter(r, entry, strlen(name), overwrite);
}

int unsetenv(const char *name) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(unsetenv)(name);
	if (wrong_name(name))
		return -1;
	char **at = variable(own_environment(gigarank_process(r)), name, strlen(name));
	for (; at && *at; at++)
		at[0] = at[1];
	return 0;
}

int putenv(char *entry) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(putenv)(entry);
	const char *end = strchr(entry, '=');
	return end ? enter(r, entry, (size_t)(end - entry), 1) : unsetenv(entry);
}

int clearenv(void) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(clearenv)();
	own_environment(gigarank_process(r))[0] = NULL;
	return 0;
}

/* --- identity -------------------------------------------------------------------------------- */

/* Each rank is a process by its number, the same in every run. */
pid_t getpid(void) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = gigarank_running();
	return r ? 100 + e->first + (pid_t)(r - e->ranks) : real(getpid)();
}

int gethostname(char *name, size_t room) {
	if (!gigarank_running())
		return real(gethostname)(name, room);
	struct gigarank_call c = {.procedure = GIGARANK_NODE};
	gigarank_trap(&c);
	if ((size_t)snprintf(name, room, "node%d", c.found) < room)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

/* The name of a checked call. */
int __gethostname_chk(char *name, size_t room, size_t all);
int __gethostname_chk(char *name, size_t room, size_t all) { return gigarank_running() ? gethostname(name, room) : real(__gethostname_chk)(name, room, all); }

int uname(struct utsname *host) {
	int failed = real(uname)(host);
	return failed || !gigarank_running() ? failed : gethostname(host->nodename, sizeof host->nodename);
}

enum { PROC = 64 }; /* bytes of a path below /proc/self */

/* in_proc returns a path with /proc/self in the place of /proc and the number of the rank, which
 * the system does not know. */
static const char *in_proc(const char *path, char room[PROC]) {
	if (!path || strncmp(path, "/proc/", 6) != 0 || !gigarank_running())
		return path;
	char own[16];
	int length = snprintf(own, sizeof own, "%d/", (int)getpid());
	if (strncmp(path + 6, own, (size_t)length) != 0)
		return path;
	return snprintf(room, PROC, "/proc/self/%s", path + 6 + length) < PROC ? room : path;
}

/* map_of_memory returns a file with what the process has mapped, from which tools find out where
 * code stands in a program. Programs that are loaded from memory have the names of their files,
 * and libraries that are loaded so are left out. */
static int map_of_memory(void) {
	static const char in_memory[] = "/memfd:", deleted[] = " (deleted)\n";
	FILE *from = real(fopen)("/proc/self/maps", "re");
	int file = from ? memfd_create("maps", MFD_CLOEXEC) : -1;
	FILE *to = file >= 0 ? fdopen(dup(file), "w") : NULL;
	const char *program = gigarank_current->program->file, *name = strrchr(program, '/') + 1;
	size_t length = strlen(name), room = 0;
	char *line = NULL;
	while (to && real(getline)(&line, &room, from) > 0) {
		char *at = strstr(line, in_memory);
		if (!at)
			fputs(line, to);
		else if (strncmp(at + sizeof in_memory - 1, name, length) == 0 && strcmp(at + sizeof in_memory - 1 + length, deleted) == 0)
			fprintf(to, "%.*s%s\n", (int)(at - line), line, program);
	}
	free(line);
	if (from)
		real(fclose)(from);
	if (to && real(fclose)(to) == 0 && lseek(file, 0, SEEK_SET) == 0)
		return file;
	if (file >= 0)
		real(close)(file);
	return -1;
}

static int is_map(const char *path) { return path && strcmp(path, "/proc/self/maps") == 0 && gigarank_running(); }

#define FOPEN(name) \
	FILE *name(const char *restrict path, const char *restrict mode) { \
		path = in_proc(path, (char[PROC]){0}); \
		if (!is_map(path)) \
			return real(name)(path, mode); \
		int file = map_of_memory(); \
		return file < 0 ? NULL : fdopen(file, mode); \
	}
FOPEN(fopen)
FOPEN(fopen64)

/* The mode counts where a file is made. */
#define OPEN(name) \
	int name(const char *path, int flags, ...) { \
		va_list list; \
		va_start(list, flags); \
		mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0; \
		va_end(list); \
		path = in_proc(path, (char[PROC]){0}); \
		return is_map(path) ? map_of_memory() : real(name)(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

/* The program that a rank runs is not the one that its process has begun with. */
ssize_t readlink(const char *restrict path, char *restrict to, size_t room) {
	path = in_proc(path, (char[PROC]){0});
	if (!path || strcmp(path, "/proc/self/exe") != 0 || !gigarank_running())
		return real(readlink)(path, to, room);
	const char *file = gigarank_current->program->file;
	size_t length = strlen(file);
	length = length < room ? length : room;
	memcpy(to, file, length);
	return (ssize_t)length;
}

ssize_t __readlink_chk(const char *restrict path, char *restrict to, size_t room, size_t all);
ssize_t __readlink_chk(const char *restrict path, char *restrict to, size_t room, size_t all) { return room > all ? real(__readlink_chk)(path, to, room, all) : readlink(path, to, room); }

/* --- working directory, mask of new files ------------------------------------------------------ */

/* A thread may have a working directory and a mask of its own. An engine whose ranks ask for one
 * has its thread take that of the rank that runs. */
static int part(struct gigarank_engine *e) {
	if (e->keeps & (DIRECTORY | MASK))
		return 0;
	if (unshare(CLONE_FS) != 0)
		return -1;
	e->mask = real(umask)(0);
	real(umask)(e->mask);
	return 0;
}

/* number_of returns the number of a directory of the engine's ranks, which is open as file. */
static int number_of(struct gigarank_engine *e, int file) {
	struct stat s;
	struct gigarank_directory *d;
	if (fstat(file, &s) != 0)
		return -1;
	for (d = e->directories; d; d = d->next)
		if (d->device == s.st_dev && d->node == s.st_ino) {
			close(file);
			return d->number;
		}
	if (!(d = malloc(sizeof *d)))
		return -1;
	*d = (struct gigarank_directory){e->directories, file, e->directories ? e->directories->number + 1 : 0, s.st_dev, s.st_ino};
	e->directories = d;
	return d->number;
}

static int go(struct gigarank_engine *e, int number) {
	for (struct gigarank_directory *d = e->directories; d; d = d->next)
		if (d->number == number) {
			e->directory = number;
			return real(fchdir)(d->file);
		}
	return -1;
}

/* go_to has the running rank go to a directory, which is open as file. */
static int go_to(struct gigarank_engine *e, int file) {
	int run = e->directories ? -1 : open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), number = -1;
	if (file < 0 || part(e) != 0 || (!e->directories && (run < 0 || number_of(e, run) != 0)) || real(fchdir)(file) != 0 || (number = number_of(e, file)) < 0) {
		int why = errno;
		if (file >= 0)
			close(file);
		errno = why;
		return -1;
	}
	e->keeps |= DIRECTORY;
	e->directory = gigarank_process(e->running)->directory = number;
	return 0;
}

int chdir(const char *path) {
	if (!gigarank_running())
		return real(chdir)(path);
	return go_to(gigarank_current, open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

int fchdir(int file) {
	if (!gigarank_running())
		return real(fchdir)(file);
	return go_to(gigarank_current, fcntl(file, F_DUPFD_CLOEXEC, 3));
}

mode_t umask(mode_t mask) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(umask)(mask);
	if (part(e) != 0)
		return real(umask)(mask);
	struct gigarank_process *p = gigarank_process(r);
	e->keeps |= MASK;
	p->has_mask = 1, p->mask = mask & 0777;
	return real(umask)(mask);
}

void gigarank_close_directories(struct gigarank_engine *e) {
	for (struct gigarank_directory *d = e->directories, *next; d; d = next) {
		next = d->next;
		close(d->file);
		free(d);
	}
	e->directories = NULL;
}

void gigarank_adopt(struct gigarank_engine *e, struct gigarank_rank *r) {
	struct gigarank_process *p = r ? r->process : NULL;
	if (e->keeps & LOCALE)
		uselocale(p && p->locale ? p->locale : LC_GLOBAL_LOCALE);
	if (e->keeps & DIRECTORY && e->directory != (p ? p->directory : 0))
		go(e, p ? p->directory : 0);
	if (e->keeps & MASK)
		real(umask)(p && p->has_mask ? p->mask : e->mask);
}

/* --- standard streams, which a rank closes for itself ---------------------------------------------- */

int gigarank_has_closed(struct gigarank_rank *r, int file) { return r->process && r->process->closed >> file & 1; }

FILE *gigarank_output(struct gigarank_rank *r) { return r->process ? r->process->output : NULL; }

/* standard returns the number of a standard stream's file, -1 for another stream. */
static int standard(FILE *f) { return f == stdin ? STDIN_FILENO : f == stdout ? STDOUT_FILENO : f == stderr ? STDERR_FILENO : -1; }

/* close_standard closes the file of a standard stream for a rank. */
static int close_standard(struct gigarank_rank *r, int file) {
	if (gigarank_has_closed(r, file)) {
		errno = EBADF;
		return -1;
	}
	struct gigarank_process *p = gigarank_process(r);
	p->closed |= 1 << file;
	FILE *output = file == STDOUT_FILENO ? p->output : NULL;
	if (output)
		p->output = NULL;
	return output ? real(fclose)(output) : 0;
}

int close(int file) {
	struct gigarank_rank *r = gigarank_running();
	return r && file >= STDIN_FILENO && file <= STDERR_FILENO ? close_standard(r, file) : real(close)(file);
}

int fclose(FILE *f) {
	struct gigarank_rank *r = gigarank_running();
	return r && standard(f) >= 0 ? close_standard(r, standard(f)) : real(fclose)(f);
}

/* The ranks of an engine write to one stream, which keeps whole lines of each. It has no buffer of theirs. */
int setvbuf(FILE *restrict f, char *restrict buffer, int mode, size_t size) {
	struct gigarank_rank *r = gigarank_running();
	int file = r ? standard(f) : -1;
	if (file == STDOUT_FILENO && gigarank_output(r))
		return real(setvbuf)(gigarank_output(r), buffer, mode, size);
	return file == STDOUT_FILENO || file == STDERR_FILENO ? 0 : real(setvbuf)(f, buffer, mode, size);
}

void setbuffer(FILE *f, char *buffer, size_t size) { setvbuf(f, buffer, buffer ? _IOFBF : _IONBF, size); }
void setbuf(FILE *restrict f, char *restrict buffer) { setbuffer(f, buffer, BUFSIZ); }
void setlinebuf(FILE *f) { setvbuf(f, NULL, _IOLBF, 0); }

/* The standard output of one rank may go to a file. */
static FILE *reopen(FILE *(*really)(const char *, const char *, FILE *), const char *name, const char *path, const char *mode, FILE *f) {
	struct gigarank_rank *r = gigarank_running();
	if (!r || standard(f) < 0)
		return really(path, mode, f);
	if (f != stdout || !path)
		forbid(name, "change the standard streams of the simulator: only stdout can be opened again, with a path");
	FILE *output = fopen(path, mode);
	struct gigarank_process *p = gigarank_process(r);
	if (p->output)
		real(fclose)(p->output);
	p->output = output;
	p->closed = output ? p->closed & ~(1 << STDOUT_FILENO) : p->closed | 1 << STDOUT_FILENO;
	return output ? f : NULL;
}

FILE *freopen(const char *restrict path, const char *restrict mode, FILE *restrict f) { return reopen((void *)real(freopen), "freopen", path, mode, f); }
FILE *freopen64(const char *restrict path, const char *restrict mode, FILE *restrict f) { return reopen((void *)real(freopen64), "freopen64", path, mode, f); }

#define STREAMS "change the standard streams of the simulator"

int dup2(int from, int to) {
	if (to >= STDIN_FILENO && to <= STDERR_FILENO)
		forbid("dup2", STREAMS);
	return real(dup2)(from, to);
}

int dup3(int from, int to, int flags) {
	if (to >= STDIN_FILENO && to <= STDERR_FILENO)
		forbid("dup3", STREAMS);
	return real(dup3)(from, to, flags);
}

/* --- standard input ------------------------------------------------------------------------------ */

/* Rank 0 reads the standard input. Others are at its end, as under mpirun. */
static int at_end(int file) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = gigarank_running();
	return file == STDIN_FILENO && r && (e->first + (r - e->ranks) != 0 || gigarank_has_closed(r, STDIN_FILENO));
}

static int ended(FILE *f) { return f == stdin && at_end(STDIN_FILENO); }

ssize_t read(int file, void *to, size_t bytes) { return at_end(file) ? 0 : real(read)(file, to, bytes); }

#undef getc
#undef getchar
#undef feof

#define AT_END(type, name, parameters, arguments, stream, at) \
	type name parameters { return ended(stream) ? (at) : real(name) arguments; }

AT_END(int, fgetc, (FILE *f), (f), f, EOF)
AT_END(int, getc, (FILE *f), (f), f, EOF)
AT_END(int, getchar, (void), (), stdin, EOF)
AT_END(int, getc_unlocked, (FILE *f), (f), f, EOF)
AT_END(int, getchar_unlocked, (void), (), stdin, EOF)
AT_END(char *, fgets, (char *restrict s, int n, FILE *restrict f), (s, n, f), f, NULL)
AT_END(size_t, fread, (void *restrict p, size_t size, size_t n, FILE *restrict f), (p, size, n, f), f, 0)
AT_END(ssize_t, getline, (char **restrict p, size_t *restrict n, FILE *restrict f), (p, n, f), f, -1)
AT_END(ssize_t, getdelim, (char **restrict p, size_t *restrict n, int end, FILE *restrict f), (p, n, end, f), f, -1)
AT_END(int, feof, (FILE *f), (f), f, 1)

/* The names of checked calls. */
char *__fgets_chk(char *s, size_t room, int n, FILE *f);
char *__fgets_chk(char *s, size_t room, int n, FILE *f) { return ended(f) ? NULL : real(__fgets_chk)(s, room, n, f); }
size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f);
size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f) { return ended(f) ? 0 : real(__fread_chk)(p, room, size, n, f); }
ssize_t __read_chk(int file, void *to, size_t bytes, size_t room);
ssize_t __read_chk(int file, void *to, size_t bytes, size_t room) { return at_end(file) ? 0 : real(__read_chk)(file, to, bytes, room); }

typedef int scan(FILE *, const char *, va_list);

/* SCANS defines a family of scanf. Headers choose one by the standard of C that is asked for. */
#define SCANS(family, prefix) \
	int family##_vfscanf(FILE *f, const char *format, va_list list) __asm__(prefix "vfscanf"); \
	int family##_vscanf(const char *format, va_list list) __asm__(prefix "vscanf"); \
	int family##_fscanf(FILE *f, const char *format, ...) __asm__(prefix "fscanf"); \
	int family##_scanf(const char *format, ...) __asm__(prefix "scanf"); \
	int family##_vfscanf(FILE *f, const char *format, va_list list) { \
		static scan *real_; \
		if (!real_ && !(real_ = (scan *)dlsym(RTLD_NEXT, prefix "vfscanf"))) \
			real_ = (scan *)dlsym(RTLD_NEXT, "vfscanf"); \
		return ended(f) ? EOF : real_(f, format, list); \
	} \
	int family##_vscanf(const char *format, va_list list) { return family##_vfscanf(stdin, format, list); } \
	int family##_fscanf(FILE *f, const char *format, ...) { \
		va_list list; \
		va_start(list, format); \
		int n = family##_vfscanf(f, format, list); \
		va_end(list); \
		return n; \
	} \
	int family##_scanf(const char *format, ...) { \
		va_list list; \
		va_start(list, format); \
		int n = family##_vfscanf(stdin, format, list); \
		va_end(list); \
		return n; \
	}

SCANS(plain, "")
SCANS(since99, "__isoc99_")
SCANS(since23, "__isoc23_")
