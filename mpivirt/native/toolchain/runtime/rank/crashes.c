/* Signals that the code of ranks raises: which rank crashes, and where. */
#define _GNU_SOURCE
#include "rank/crashes.h"
#include "rank/hooks.h"
#include "rank/running.h"
#include "rank/switch.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
static struct sigaction before[65];

/* crashed goes on, on the stack of the engine, in the place of a rank that has crashed. */
static void crashed(void) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	r->returned_by = GIGARANK_BY_SIGNAL;
	e->stops = 1;
	void *unused;
	gigarank_switch(&unused, e->sp);
}

static uintptr_t *program_counter(ucontext_t *u) {
#if defined(__x86_64__)
	return (uintptr_t *)&u->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t *)&u->uc_mcontext.pc;
#endif
}

/* divert makes the thread go on in a function that does not return, on a stack below sp. */
static void divert(ucontext_t *u, void (*to)(void), uintptr_t sp) {
	sp = (sp - 4096) & ~(uintptr_t)63;
	*program_counter(u) = (uintptr_t)to;
#if defined(__x86_64__)
	u->uc_mcontext.gregs[REG_RSP] = (greg_t)(sp - 8);
	u->uc_mcontext.gregs[REG_EFL] &= ~0x400; /* the direction flag */
#else
	u->uc_mcontext.sp = sp;
#endif
}

static uintptr_t stack_pointer(ucontext_t *u) {
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#else
	return (uintptr_t)u->uc_mcontext.sp;
#endif
}

enum { RUNTIME = 16 << 20 }; /* more than the runtime has in memory, in bytes */

/* object_of returns the base address of the object that holds an address, 0 if no object does. */
static uintptr_t object_of(uintptr_t pc, const char **file) {
	Dl_info where;
	*file = NULL;
	if (!dladdr((void *)pc, &where))
		return 0;
	*file = where.dli_fname;
	return (uintptr_t)where.dli_fbase;
}

/* is_system reports whether a library is the system's: it lies in lib, lib64 or another directory
 * of that kind, of / or of /usr. */
int gigarank_is_system(const char *file) {
	if (strncmp(file, "/usr/", 5) == 0)
		file += 4;
	static const char *const tops[] = {"/lib/", "/lib32/", "/lib64/", "/libx32/"};
	for (unsigned i = 0; i < sizeof tops / sizeof *tops; i++)
		if (strncmp(file, tops[i], strlen(tops[i])) == 0)
			return 1;
	return 0;
}

/* gigarank_is_own reports whether an object is a library of the program's own. Copies in memory are of the
 * program or of a library of the system. */
int gigarank_is_own(const char *file) {
	return file && !gigarank_is_system(file) && strncmp(file, "/proc/self/fd/", 14) != 0 && strncmp(file, "/dev/fd/", 8) != 0;
}

/* follows_call reports whether an address may be a return address of a call. */
static int follows_call(uintptr_t pc) {
#if defined(__x86_64__)
	const unsigned char *code = (const unsigned char *)pc;
	if (code[-5] == 0xe8)
		return 1; /* direct */
	/* Other calls are 0xff with 2 in the middle bits of the next byte: by a register, or by memory without an
	 * offset, with a short offset, and with a long offset, as through the table of functions. */
	return (code[-2] == 0xff && ((code[-1] & 0xf8) == 0xd0 || (code[-1] & 0xf8) == 0x10)) ||
		(code[-3] == 0xff && ((code[-2] & 0xf8) == 0x50 || code[-2] == 0x14)) || (code[-4] == 0xff && code[-3] == 0x54) ||
		(code[-6] == 0xff && (code[-5] == 0x15 || (code[-5] & 0xf8) == 0x90)) || (code[-7] == 0xff && code[-6] == 0x94);
#else
	uint32_t code = ((const uint32_t *)pc)[-1];
	return code >> 26 == 0x25 || (code & 0xfffffc1f) == 0xd63f0000;
#endif
}

/* target returns the function that the call before an address in a program goes to, also through the
 * program's table of functions, 0 if the code does not say. */
static uintptr_t target(const struct gigarank_program *p, uintptr_t pc) {
	uintptr_t to = 0;
#if defined(__x86_64__)
	const unsigned char *code = (const unsigned char *)pc;
	int32_t offset;
	memcpy(&offset, code - 4, sizeof offset);
	if (code[-5] != 0xe8)
		return code[-6] == 0xff && code[-5] == 0x15 ? *(const uintptr_t *)(pc + (uintptr_t)(intptr_t)offset) : 0;
	to = pc + (uintptr_t)(intptr_t)offset;
	if (to - p->text >= p->text_bytes)
		return to;
	code = (const unsigned char *)to;
	code += memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0; /* endbr64 */
	code += *code == 0xf2;                                       /* bnd */
	if (code[0] == 0xff && code[1] == 0x25) {                    /* jmp *offset(%rip) */
		memcpy(&offset, code + 2, sizeof offset);
		to = *(const uintptr_t *)((uintptr_t)code + 6 + (uintptr_t)(intptr_t)offset);
	}
#else
	const uint32_t *code = (const uint32_t *)pc - 1;
	if (*code >> 26 != 0x25) /* bl */
		return 0;
	to = (uintptr_t)code + (uintptr_t)(intptr_t)((int32_t)(*code << 6) >> 4);
	if (to - p->text >= p->text_bytes)
		return to;
	code = (const uint32_t *)to;
	code += *code == 0xd503245f; /* bti c */
	if ((code[0] & 0x9f00001f) == 0x90000010 && (code[1] & 0xffc003ff) == 0xf9400211) { /* adrp x16, page; ldr x17, [x16, offset] */
		intptr_t pages = (intptr_t)(((code[0] >> 5 & 0x7ffff) << 2 | (code[0] >> 29 & 3)) ^ 0x100000) - 0x100000;
		to = *(const uintptr_t *)(((uintptr_t)code & ~(uintptr_t)0xfff) + ((uintptr_t)pages << 12) + (code[1] >> 10 & 0xfff) * 8);
	}
#endif
	return to;
}

/* note_crash keeps where the code of a program was stopped, on a stack that it uses from sp up to
 * end. Code of libraries is told by where the program has called it. */
static void note_crash(struct gigarank_engine *e, uintptr_t address, uintptr_t pc, uintptr_t sp, uintptr_t end) {
	struct gigarank_crash *c = &e->crash;
	struct gigarank_program *p = e->program;
	memset(c, 0, sizeof *c);
	c->address = address, c->pc = pc;
	c->base = object_of(pc, &c->file);
	const char *file;
	uintptr_t runtime = object_of((uintptr_t)note_crash, &file), callee = c->base == runtime ? pc : 0;
	if (pc - p->text < p->text_bytes || (!callee && gigarank_is_own(c->file)))
		return;
	for (sp = (sp + 7) & ~(uintptr_t)7; sp < end; sp += 8) {
		uintptr_t word = *(uintptr_t *)sp;
		if (word - p->text < p->text_bytes && word - p->text > 8 && follows_call(word)) {
			/* Words below may be left from earlier calls. They tell where a function of the program's own
			 * that was called has jumped to. */
			uintptr_t called = target(p, word);
			if (called && called - p->text >= p->text_bytes)
				callee = called - runtime < RUNTIME && object_of(called, &file) == runtime ? called + 1 : 0;
			c->caller = word - p->base, c->callee = callee ? callee - runtime : 0;
			return;
		}
		if (word - runtime < RUNTIME && object_of(word, &file) == runtime)
			callee = word;
	}
}

/* note_rank_crash is note_crash for the running rank. */
static void note_rank_crash(struct gigarank_engine *e, uintptr_t address, uintptr_t pc, uintptr_t sp) {
	uintptr_t low = (uintptr_t)e->stacks + (e->copied ? 0 : (size_t)(e->running - e->ranks) * e->stack);
	int overflow = address >= low && address < low + e->guard;
	if (sp < low + e->guard || sp > low + e->stack)
		sp = low + e->guard; /* it has left its stack */
	note_crash(e, address, pc, sp, low + e->stack);
	e->crash.overflow = overflow;
}

void gigarank_note_call(void *returns) {
	note_rank_crash(gigarank_current, 0, (uintptr_t)returns - 1, (uintptr_t)__builtin_frame_address(0));
}

void gigarank_prepare_places(void) {
	void *pc;
	backtrace(&pc, 1); /* the first call loads a library */
}

/* caller_among returns the first return address among frames that lies in the program, or in a library of its own, and the base and the
 * file of that library, NULL for the program. It returns 0 if there is none. */
static uintptr_t caller_among(const struct gigarank_program *p, void *const *frames, int n, uintptr_t *base, const char **file) {
	/* Addresses that lie in neither, in a table by address: a look at the objects of the process takes long. */
	static uintptr_t others[256];
	for (int i = 0; i < n; i++) {
		uintptr_t pc = (uintptr_t)frames[i] - 1, *known = &others[pc * 0x9e3779b97f4a7c15u >> 56];
		if (pc - p->text < p->text_bytes) {
			*base = p->base, *file = NULL;
			return pc + 1;
		}
		if (__atomic_load_n(known, __ATOMIC_RELAXED) == pc)
			continue;
		const char *own;
		uintptr_t runtime = object_of((uintptr_t)caller_among, &own);
		*base = object_of(pc, file);
		if (*base != runtime && gigarank_is_own(*file))
			return pc + 1;
		__atomic_store_n(known, pc, __ATOMIC_RELAXED);
	}
	return 0;
}

enum { DEEPEST = 64, USUAL = 8 }; /* calls from the program's call of MPI on */

void gigarank_note_place(struct gigarank_engine *e) {
	struct gigarank_crash *c = &e->crash;
	void *frames[DEEPEST];
	uintptr_t pc = caller_among(e->program, frames, backtrace(frames, DEEPEST), &c->base, &c->file);
	if (!pc)
		c->file = NULL;
	else if (!c->file)
		c->caller = pc - c->base;
	else
		c->pc = pc - 1;
}

void gigarank_note_site(struct gigarank_engine *e) {
	struct gigarank_site *s = &e->sites[e->running - e->ranks];
	void *frames[DEEPEST];
	uintptr_t base, pc = caller_among(e->program, frames, backtrace(frames, USUAL), &base, &s->file);
	if (!pc)
		pc = caller_among(e->program, frames, backtrace(frames, DEEPEST), &base, &s->file);
	s->offset = pc ? pc - base : 0;
}

/* gigarank_open_sites has an engine keep the places of calls. It returns 0, and -1 without memory. */
int gigarank_open_sites(struct gigarank_engine *e) {
	gigarank_prepare_places(); /* here, since ranks may have little stack */
	e->sites = calloc((size_t)e->count, sizeof *e->sites);
	return e->sites ? 0 : -1;
}

void gigarank_die(int number) {
	struct gigarank_engine *e = gigarank_current;
	note_rank_crash(e, 0, (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0));
	e->running->code = number;
	crashed();
	__builtin_unreachable();
}

/* handled calls the rank's own handler, on the rank's stack. Where it returns, the code would be
 * stopped again. */
static void handled(void) {
	struct gigarank_engine *e = gigarank_current;
	siginfo_t info = {.si_signo = e->running->code, .si_addr = (void *)e->crash.address};
	e->handler(e->running->code, &info, NULL);
	crashed();
}

/* A call of gigarank_attempt: an operation of a program that is carried out outside of ranks. */
struct attempt {
	void *context[5];
	int signal;
};

static __thread struct attempt *attempted __attribute__((tls_model("initial-exec")));

void gigarank_end_attempt(void) { __builtin_longjmp(attempted->context, 1); }

int gigarank_attempt(struct gigarank_engine *e, void (*f)(void *), void *what) {
	struct attempt a = {.signal = 0};
	attempted = &a;
	gigarank_operating = e;
	if (__builtin_setjmp(a.context) == 0)
		f(what);
	gigarank_operating = NULL;
	return attempted->signal;
}

/* crash_of_thread ends the process, since a thread that the program has started cannot go on. */
static void crash_of_thread(int number, uintptr_t pc) {
	struct gigarank_parent *p = &gigarank_parent;
	const struct gigarank_rank *r = &p->engine->ranks[p->lp];
	char text[256];
	const char *file;
	uintptr_t base = object_of(pc, &file);
	snprintf(text, sizeof text, "gigarank: rank %d failed at virtual time %g s: a thread that the rank has started was stopped by SIG%s in %s+%#lx\n",
		p->engine->first + p->lp, (double)(r->clock + r->computed) / 1e12, sigabbrev_np(number), file ? file : "unknown code", (unsigned long)(pc - base));
	gigarank_fatal(text);
}

/* crash_of_switch ends the process: the engine's work for a rank between its calls has failed, and neither the rank nor
 * the engine can go on. */
static void crash_of_switch(struct gigarank_engine *e, int number, uintptr_t address) {
	struct gigarank_rank *r = e->running;
	char text[320];
	snprintf(text, sizeof text, "gigarank: the simulator was stopped by SIG%s at address %#lx when it switched to or from rank %d at virtual time %g s: has the program unmapped or protected memory with its variables or its stack, or written where the simulator has its own?\n",
		sigabbrev_np(number), (unsigned long)address, e->first + (int)(r - e->ranks), (double)(r->clock + r->computed) / 1e12);
	gigarank_fatal(text);
}

/* crash_by ends a rank that a signal has stopped. The Go runtime handles all other signals. It runs
 * on the alternate stack of the thread. */
static void crash_by(int number, siginfo_t *info, void *context) {
	struct gigarank_rank *r = gigarank_running();
	ucontext_t *u = context;
	uintptr_t pc = *program_counter(u);
	if (pc >= (uintptr_t)gigarank_reads && pc < (uintptr_t)gigarank_probed) {
		*program_counter(u) = (uintptr_t)gigarank_not_there;
		return;
	}
	if (gigarank_operating) {
		struct attempt *a = attempted;
		note_crash(gigarank_operating, (uintptr_t)info->si_addr, pc, stack_pointer(u), (uintptr_t)a);
		a->signal = number;
		divert(u, gigarank_end_attempt, (uintptr_t)a->context[2]);
		return;
	}
	if (!r && gigarank_parent.engine)
		crash_of_thread(number, pc);
	if (!r) {
		struct sigaction *b = &before[number];
		if (b->sa_flags & SA_SIGINFO && b->sa_sigaction)
			b->sa_sigaction(number, info, context);
		else if (b->sa_handler == SIG_DFL) {
			signal(number, SIG_DFL);
			raise(number);
		}
		return;
	}
	struct gigarank_engine *e = gigarank_current;
	if (!e->inside)
		crash_of_switch(e, number, (uintptr_t)info->si_addr);
	note_rank_crash(e, (uintptr_t)info->si_addr, pc, stack_pointer(u));
	r->code = number;
	void (*handler)(int) = gigarank_hooks.handler(r, number);
	if (handler != SIG_DFL && handler != SIG_IGN && !e->crash.overflow) {
		e->handler = (void (*)(int, void *, void *))(void *)handler;
		divert(u, handled, stack_pointer(u));
	} else {
		divert(u, crashed, (uintptr_t)e->sp);
	}
}

__attribute__((constructor)) static void catch_signals(void) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = crash_by;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigfillset(&a.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaction(caught[i], &a, &before[caught[i]]);
}

/* __ubsan_default_options has the runtime of -fsanitize=undefined, where it does not go on, end the rank by a signal and
 * not the process by its exit: the run then names the rank. */
const char *__ubsan_default_options(void) { return "abort_on_error=1"; }

/* The system refuses memory that cannot be read as a path. */
int gigarank_faults(const void *address) { return access(address, F_OK) != 0 && errno == EFAULT; }
