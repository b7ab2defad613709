/* Ranks that compute for long are interrupted, so that other ranks run meanwhile and the engine takes the messages
 * that have come. The simulator sends ASK to the engine's thread. Its handler runs on the stack that the thread
 * has for signals. If the thread is in a rank's code, where the C library holds no lock, it sends
 * GO, whose handler runs on the rank's stack, above the code that it has interrupted. The handler of GO
 * switches to the engine. When the rank is resumed the handler returns, and the system
 * puts all registers back. */
#define _GNU_SOURCE
#include "rank/crashes.h"
#include "rank/ranks.h"
#include "rank/running.h"
#include "rank/switch.h"
#include "rank/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ASK (SIGRTMAX - 4)
#define GO (SIGRTMAX - 5)

static struct sigaction before_ask, before_go;
static void *runtime; /* where this library lies */

/* hand_on calls the handler of the Go runtime for a signal that is not for ranks. */
static void hand_on(const struct sigaction *b, int number, siginfo_t *info, void *context) {
	if (b->sa_flags & SA_SIGINFO && b->sa_sigaction)
		b->sa_sigaction(number, info, context);
}

/* is_free reports whether code holds no lock of the process: code of the program, of its own libraries and of the
 * mathematical library, but not of this runtime. */
static int is_free(const struct gigarank_program *p, uintptr_t pc) {
	Dl_info where;
	if (pc - p->text < p->text_bytes)
		return 1;
	if (!dladdr((void *)pc, &where) || !where.dli_fname || where.dli_fbase == runtime)
		return 0;
	return gigarank_is_own(where.dli_fname) || strstr(where.dli_fname, "/libm.so") || strstr(where.dli_fname, "/libm-");
}

/* send sends a signal to the thread of an engine. The runtime's getpid is for ranks. */
static void send(const struct gigarank_engine *e, int number) { syscall(SYS_tgkill, (pid_t)syscall(SYS_getpid), e->thread, number); }

static int may_interrupt(const struct gigarank_engine *e) {
	return e && e->running && e->inside && !gigarank_operating && !(e->threads && gigarank_has_threads(e));
}

static void ask(int number, siginfo_t *info, void *context) {
	int error = errno;
	struct gigarank_engine *e = gigarank_current;
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
	uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#endif
	if (!e)
		hand_on(&before_ask, number, info, context);
	else if (may_interrupt(e) && is_free(e->program, pc))
		send(e, GO); /* which comes when this handler has returned */
	errno = error;
}

static void go(int number, siginfo_t *info, void *context) {
	struct gigarank_engine *e = gigarank_current;
	if (!e) {
		hand_on(&before_go, number, info, context);
		return;
	}
	if (!may_interrupt(e) || !gigarank_on_stack(e, __builtin_frame_address(0)))
		return;
	struct gigarank_rank *r = e->running;
	int32_t clock_polls = e->clock_polls;
	int64_t polled_time = e->polled_time;
	uint8_t polled_clock = r->polled_clock;
	r->returned_by = GIGARANK_BY_INTERRUPTION;
	e->foreseen.left = 0;
	e->stops = 1;
	r->error_number = errno;
	__atomic_add_fetch(&e->interruptions, 1, __ATOMIC_RELAXED);
	gigarank_switch(&r->sp, e->sp);
	gigarank_current->clock_polls = clock_polls, gigarank_current->polled_time = polled_time;
	r->polled_clock = polled_clock;
}

/* gigarank_interrupt asks the rank that runs on an engine to give way. Another thread calls it. */
void gigarank_interrupt(struct gigarank_engine *e) { send(e, ASK); }

__attribute__((constructor)) static void catch_interruptions(void) {
	struct sigaction a;
	Dl_info where;
	if (!dladdr((void *)ask, &where))
		return;
	runtime = where.dli_fbase;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = ask;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigfillset(&a.sa_mask);
	sigaction(ASK, &a, &before_ask);
	memset(&a, 0, sizeof a);
	a.sa_sigaction = go;
	a.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
	sigaction(GO, &a, &before_go);
}
