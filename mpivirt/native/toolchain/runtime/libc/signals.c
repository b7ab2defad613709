/* A rank's own handlers of signals, and signals that wait until they are not blocked. */
#define _GNU_SOURCE
#include "libc/signals.h"
#include "libc/process.h"
#include "rank/crashes.h"
#include "rank/real.h"
#include "rank/running.h"

#include <errno.h>

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
