/* Ranks as C stacks: how they are made, resumed, suspended and ended. */
#define _GNU_SOURCE
#include "internal.h"
#include "objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

__thread struct gigarank_engine *gigarank_current;

void gigarank_switch(void **from, void *to);
extern char gigarank_begin[];

/* --- stacks -------------------------------------------------------------------- */

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13: pages that fault, without a mapping of their own */
#endif

/* stacks_of returns the number of stacks in memory. */
static int32_t stacks_of(struct gigarank_engine *e) { return e->copied ? e->count > 0 : e->count; }

/* guard makes the lowest page of each stack fault. Before Linux 6.13 each guard splits the
 * mapping, of which a process has some 65,000: past half of them stacks have no guards. */
static void guard(struct gigarank_engine *e, size_t page) {
	int light = 1;
	if (e->stack < 4 * page)
		return;
	for (int32_t i = 0; i < stacks_of(e); i++) {
		char *stack = e->stacks + (size_t)i * e->stack;
		if (light && madvise(stack, page, MADV_GUARD_INSTALL) != 0) {
			light = 0;
			if (stacks_of(e) > 15000)
				return;
		}
		if (!light && mprotect(stack, page, PROT_NONE) != 0)
			return;
	}
	e->guard = page;
}

/* top_of returns the end of a rank's stack. Those of neighbours differ in their places within
 * a page, or all would compete for the same sets of the cache. */
static char *top_of(struct gigarank_engine *e, int32_t lp) {
	if (e->copied)
		return e->stacks + e->stack;
	return e->stacks + ((size_t)lp + 1) * e->stack - (size_t)(lp % 16) * 128;
}

/* The frame of a new stack, as gigarank_switch leaves it. */
static void *first_frame(char *top, struct gigarank_rank *r) {
	void **frame = (void **)((uintptr_t)top & ~(uintptr_t)63);
#if defined(__x86_64__)
	uint32_t state[2] = {0, 0};
	__asm__("stmxcsr %0\n\tfnstcw %1" : "=m"(state[0]), "=m"(state[1]));
	frame -= 10; /* the entry has the alignment of the instruction before a call */
	memset(frame, 0, 10 * sizeof *frame);
	memcpy(frame, state, sizeof state);
	frame[4] = r; /* r12 */
	frame[7] = gigarank_begin;
#else
	frame -= 20;
	memset(frame, 0, 20 * sizeof *frame);
	frame[1] = gigarank_begin; /* x30 */
	frame[2] = r;              /* x19 */
#endif
	return frame;
}

struct gigarank_engine *gigarank_open(struct gigarank_program *program, int32_t count, int32_t first, int32_t world, size_t stack, int32_t copied, int32_t argc, char **argv, char *fault, size_t room) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct gigarank_engine *e = calloc(1, sizeof *e);
	if (!e)
		goto memory;
	e->count = count, e->first = first, e->world = world;
	e->argc = argc, e->argv = argv, e->copied = copied;
	e->program = program, e->main = program->main;
	e->stack = (stack + page - 1) / page * page;
	e->ranks = calloc((size_t)count + 1, sizeof *e->ranks);
	e->list = calloc((size_t)count + 1, sizeof *e->list);
	if (!e->ranks || !e->list)
		goto memory;
	size_t all = (size_t)stacks_of(e) * e->stack;
	e->stacks = mmap(NULL, all ? all : page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (e->stacks == MAP_FAILED) {
		snprintf(fault, room, "no address space for %d stacks of %zu bytes (%s): use --stacks copied, a smaller --stack, fewer ranks, or a larger ulimit -v",
			stacks_of(e), e->stack, strerror(errno));
		e->stacks = NULL;
		gigarank_close(e);
		return NULL;
	}
	if (program->bytes && count) {
		e->variables = mmap(NULL, (size_t)count * program->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (e->variables == MAP_FAILED) {
			e->variables = NULL;
			goto memory;
		}
	}
	madvise(e->stacks, all, MADV_NOHUGEPAGE);
	guard(e, page);
	e->request_free = -1;
	return e;
memory:
	snprintf(fault, room, "no memory for the tables and variables of %d ranks: use fewer ranks or more hosts", count);
	if (e)
		gigarank_close(e);
	return NULL;
}

/* gigarank_release gives the stacks back, once all ranks have ended. */
void gigarank_release(struct gigarank_engine *e) {
	if (e->stacks)
		munmap(e->stacks, (size_t)stacks_of(e) * e->stack);
	if (e->variables)
		munmap(e->variables, (size_t)e->count * e->program->bytes);
	e->stacks = e->variables = NULL;
}

void gigarank_close(struct gigarank_engine *e) {
	gigarank_release(e);
	if (e->ranks)
		for (int32_t i = 0; i < e->count; i++) {
			struct gigarank_rank *r = &e->ranks[i];
			for (struct gigarank_comm *c = r->comms, *next; c; c = next) {
				next = c->next;
				free(c->name);
				free(c);
			}
			free(r->line);
			free(r->saved);
			free(r->numbers);
		}
	for (int32_t i = 0; i < e->request_count; i++)
		free(e->requests[i].persistent);
	free(e->requests);
	gigarank_close_objects(e);
	free(e->ranks);
	free(e->bursts);
	free(e->list);
	free(e->text);
	free(e);
}

/* --- variables ------------------------------------------------------------------ */

static void store(struct gigarank_program *p, char *to) {
	for (int i = 0; i < p->pieces; i++) {
		memcpy(to, p->piece[i].address, p->piece[i].bytes);
		to += p->piece[i].bytes;
	}
}

static void restore(struct gigarank_program *p, const char *from) {
	for (int i = 0; i < p->pieces; i++) {
		memcpy(p->piece[i].address, from, p->piece[i].bytes);
		from += p->piece[i].bytes;
	}
}

/* While the engine runs, the variables of all ranks lie in their copies: messages may go
 * there. copied returns the place there of an address in the program's variables, and any
 * other address itself. */
static void *copied(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	struct gigarank_program *p = e->program;
	char *copy = r->variables;
	for (int i = 0; i < p->pieces; i++) {
		size_t offset = (size_t)((const char *)address - p->piece[i].address);
		if (offset < p->piece[i].bytes)
			return copy + offset;
		copy += p->piece[i].bytes;
	}
	return (void *)address;
}

/* real returns a function of the C library that one of this file hides. */
static void (*real(const char *name))(int) { return (void (*)(int))dlsym(RTLD_NEXT, name); }

/* enlarged returns more memory, or ends the process: there is no rank to blame. */
static void *enlarged(void *old, size_t room) {
	void *p = realloc(old, room);
	if (!p) {
		static const char message[] = "gigarank: no memory for the stacks and the output of ranks\n";
		ssize_t unused = write(2, message, sizeof message - 1);
		(void)unused;
		real("_exit")(3);
	}
	return p;
}

/* --- control --------------------------------------------------------------------- */

enum { FETCHED = 192 }; /* bytes of each stack */

/* fetch has what some ranks touch first fetched into the cache, all at once: the latencies of
 * memory and of the page tables overlap. A processor may drop a prefetch from a page that it
 * does not know, so that the stacks are read. */
static inline void fetch(struct gigarank_engine *e, int32_t i, int32_t n) {
	enum { AT_ONCE = 64 };
	if (i % AT_ONCE)
		return;
	for (int32_t j = i; j < n && j < i + AT_ONCE; j++) {
		const struct gigarank_rank *r = &e->ranks[e->list[j]];
		const volatile char *first = e->copied ? r->saved : r->sp;
		for (int at = 0; first && at < FETCHED; at += 64)
			(void)first[at];
	}
}

/* A copied stack is kept from the stack pointer up. What a call points to lies in the copy
 * while the rank is suspended. */
static void *moved(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	size_t offset = (size_t)((const char *)address - (char *)r->sp);
	return offset < (size_t)(e->stacks + e->stack - (char *)r->sp) ? r->saved + offset : (void *)address;
}

static void copy_out(struct gigarank_engine *e, struct gigarank_rank *r) {
	if (r->returned_by != GIGARANK_BY_CALL)
		return; /* it does not go on */
	size_t bytes = (size_t)(e->stacks + e->stack - (char *)r->sp);
	if (bytes > (size_t)r->saved_room || 4 * bytes < (size_t)r->saved_room) {
		free(r->saved);
		r->saved_room = (int32_t)(bytes < FETCHED ? FETCHED : bytes);
		r->saved = enlarged(NULL, (size_t)r->saved_room);
	}
	memcpy(r->saved, r->sp, bytes);
	struct gigarank_call *c = r->call = moved(e, r, r->call);
	c->input = moved(e, r, c->input), c->output = moved(e, r, c->output), c->detail = moved(e, r, c->detail);
	if (c->procedure == GIGARANK_BARRIER)
		return; /* it has no more */
	c->counts = moved(e, r, c->counts), c->incounts = moved(e, r, c->incounts);
	c->requests = moved(e, r, c->requests), c->statuses = moved(e, r, c->statuses), c->indices = moved(e, r, c->indices);
}

static inline void copy_in(struct gigarank_engine *e, struct gigarank_rank *r) {
	memcpy(r->sp, r->saved, (size_t)(e->stacks + e->stack - (char *)r->sp));
}

void gigarank_resume(struct gigarank_engine *e, int32_t n) {
	int variables = e->program->bytes > 0;
	gigarank_current = e;
	for (int32_t i = 0; i < n; i++) {
		struct gigarank_rank *r = &e->ranks[e->list[i]];
		fetch(e, i, n);
		if (!r->sp)
			r->sp = first_frame(top_of(e, e->list[i]), r);
		else if (e->copied)
			copy_in(e, r);
		if (variables) {
			restore(e->program, r->variables ? r->variables : e->program->initial);
			r->variables = e->variables + (size_t)e->list[i] * e->program->bytes;
		}
		r->looked = 0;
		e->running = r;
		errno = r->error_number;
		if (e->bursts)
			gigarank_meter_start(&e->meter);
		gigarank_switch(&e->sp, r->sp);
		if (e->bursts)
			gigarank_burst_end(e, r);
		if (variables)
			store(e->program, r->variables);
		if (e->copied)
			copy_out(e, r);
	}
	e->running = NULL;
	gigarank_current = NULL;
}

int gigarank_trap(struct gigarank_call *c) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	r->call = c;
	r->last = (uint16_t)c->procedure;
	r->returned_by = GIGARANK_BY_CALL;
	r->error_number = errno;
	if (r->variables) {
		c->input = copied(e, r, c->input);
		c->output = copied(e, r, c->output);
		c->detail = copied(e, r, c->detail);
	}
	gigarank_switch(&r->sp, e->sp);
	return c->error;
}

void gigarank_leave(int code) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	r->code = code;
	r->returned_by = GIGARANK_BY_EXIT;
	gigarank_switch(&r->sp, e->sp);
	__builtin_unreachable(); /* the rank is not resumed */
}

/* gigarank_rank_main is a rank, on its own stack. Each has its own argv. */
__attribute__((visibility("hidden"), noreturn)) void gigarank_rank_main(struct gigarank_rank *r) {
	struct gigarank_engine *e = gigarank_current;
	size_t bytes = 0;
	char *argv[e->argc + 1];
	(void)r;
	for (int i = 0; i < e->argc; i++)
		bytes += strlen(e->argv[i]) + 1;
	char text[bytes + 1], *at = text;
	for (int i = 0; i < e->argc; i++) {
		argv[i] = at;
		at = stpcpy(at, e->argv[i]) + 1;
	}
	argv[e->argc] = NULL;
	gigarank_leave(e->main(e->argc, argv, environ));
}

/* --- the end of a rank, as the program asks for it --------------------------------- */

__attribute__((noreturn)) void exit(int code) {
	if (gigarank_running())
		gigarank_leave(code);
	real("exit")(code);
	__builtin_unreachable();
}

__attribute__((noreturn)) void _exit(int code) {
	if (gigarank_running())
		gigarank_leave(code);
	real("_exit")(code);
	__builtin_unreachable();
}

__attribute__((noreturn)) void _Exit(int code) { _exit(code); }

__attribute__((noreturn)) void abort(void) {
	if (gigarank_running()) {
		raise(SIGABRT);
		gigarank_leave(128 + SIGABRT);
	}
	real("abort")(0);
	__builtin_unreachable();
}

/* --- signals ---------------------------------------------------------------------- */

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
static struct sigaction before[65];

/* crashed goes on, on the stack of the engine, in the place of a rank that has crashed. */
static void crashed(void) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	r->returned_by = GIGARANK_BY_SIGNAL;
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

/* divert makes the thread go on in crashed, on a stack below the engine's frames. */
static void divert(ucontext_t *u, struct gigarank_engine *e) {
	uintptr_t sp = ((uintptr_t)e->sp - 4096) & ~(uintptr_t)63;
	*program_counter(u) = (uintptr_t)crashed;
#if defined(__x86_64__)
	u->uc_mcontext.gregs[REG_RSP] = (greg_t)(sp - 8);
	u->uc_mcontext.gregs[REG_EFL] &= ~0x400; /* the direction flag */
#else
	u->uc_mcontext.sp = sp;
#endif
}

/* crash_by ends a rank that a signal has stopped. The Go runtime handles all others. It runs
 * on the alternate stack of the thread. */
static void crash_by(int number, siginfo_t *info, void *context) {
	struct gigarank_rank *r = gigarank_running();
	ucontext_t *u = context;
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
	struct gigarank_crash *c = &e->crash;
	memset(c, 0, sizeof *c);
	c->address = (uintptr_t)info->si_addr;
	c->pc = *program_counter(u);
	uintptr_t low = (uintptr_t)e->stacks + (e->copied ? 0 : (size_t)(r - e->ranks) * e->stack);
	c->overflow = c->address >= low && c->address < low + e->guard;
	Dl_info where;
	if (dladdr((void *)c->pc, &where)) {
		if (where.dli_fname)
			strncpy(c->file, where.dli_fname, sizeof c->file - 1);
		c->base = (uintptr_t)where.dli_fbase;
	}
	r->code = number;
	divert(u, e);
}

static void catch_signals(void) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = crash_by;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigfillset(&a.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaction(caught[i], &a, &before[caught[i]]);
}

/* --- output ------------------------------------------------------------------------ */

static void put(struct gigarank_engine *e, const char *text, size_t n) {
	if (e->text_length + n > e->text_room)
		e->text = enlarged(e->text, e->text_room = 2 * (e->text_length + n) + 4096);
	memcpy(e->text + e->text_length, text, n);
	e->text_length += n;
}

/* print takes what a rank writes to standard output. Whole lines go to the simulator, the
 * rest waits for the end of its line. */
static ssize_t print(void *cookie, const char *text, size_t n) {
	struct gigarank_engine *e = gigarank_current;
	(void)cookie;
	if (!gigarank_running())
		return write(STDOUT_FILENO, text, n);
	struct gigarank_rank *r = e->running;
	const char *end = memrchr(text, '\n', n);
	size_t whole = end ? (size_t)(end - text) + 1 : 0, rest = n - whole;
	if (whole) {
		if (r->line_length)
			put(e, r->line, (size_t)r->line_length);
		r->line_length = 0;
		put(e, text, whole);
	}
	if (rest) {
		if ((size_t)(r->line_room - r->line_length) < rest)
			r->line = enlarged(r->line, (size_t)(r->line_room = 2 * (r->line_length + (int32_t)rest)));
		memcpy(r->line + r->line_length, text + whole, rest);
		r->line_length += (int32_t)rest;
	}
	return (ssize_t)n;
}

ssize_t gigarank_print(const char *text, size_t n) { return print(NULL, text, n); }

/* gigarank_flush puts out the last line of a rank that has ended. */
void gigarank_flush(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_rank *r = &e->ranks[lp];
	if (r->line_length) {
		put(e, r->line, (size_t)r->line_length);
		put(e, "\n", 1);
	}
	free(r->line);
	r->line = NULL;
	r->line_length = r->line_room = 0;
	free(r->saved);
	r->saved = NULL;
}

static void take_output(void) {
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = print});
	if (f) {
		setvbuf(f, NULL, _IONBF, 0);
		stdout = f;
	}
}

__attribute__((constructor)) static void set_up(void) {
	take_output();
	catch_signals();
}

/* --- programs ----------------------------------------------------------------------- */

/* The pages of a loaded object that its code may write. Relocations are over: those that the
 * loader has closed are left out. */
static void add_pieces(struct gigarank_program *p, const struct dl_phdr_info *o) {
	uintptr_t closed = 0, closed_end = 0;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
			closed = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
			closed_end = (closed + o->dlpi_phdr[i].p_memsz) & ~(page - 1);
		}
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &o->dlpi_phdr[i];
		if (h->p_type == PT_TLS)
			p->thread_local_bytes += (int32_t)h->p_memsz;
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W))
			continue;
		uintptr_t from = o->dlpi_addr + h->p_vaddr, to = from + h->p_memsz;
		if (closed <= from && closed_end > from)
			from = closed_end < to ? closed_end : to;
		if (from >= to)
			continue;
		if (p->pieces == sizeof p->piece / sizeof *p->piece) {
			snprintf(p->fault, sizeof p->fault, "its libraries have too many pieces of variables");
			return;
		}
		p->piece[p->pieces].address = (char *)from;
		p->piece[p->pieces++].bytes = to - from;
		p->bytes += to - from;
	}
}

struct search {
	struct gigarank_program *program;
	const struct link_map *map; /* of the program */
	int32_t seen, old;          /* objects so far; those that were loaded before */
};

static int count_objects(struct dl_phdr_info *o, size_t size, void *what) {
	struct search *s = what;
	(void)o, (void)size;
	s->old++;
	return 0;
}

/* add_object adds the variables of the program and of the libraries that came with it, unless
 * they are the system's. */
static int add_object(struct dl_phdr_info *o, size_t size, void *what) {
	struct search *s = what;
	struct gigarank_program *p = s->program;
	(void)size;
	if (s->seen++ < s->old)
		return 0;
	int own = o->dlpi_addr == s->map->l_addr && strcmp(o->dlpi_name, s->map->l_name) == 0;
	if (!own && (strncmp(o->dlpi_name, "/lib", 4) == 0 || strncmp(o->dlpi_name, "/usr/lib", 8) == 0))
		return 0;
	size_t before = p->bytes;
	add_pieces(p, o);
	p->libraries += !own && p->bytes > before;
	return 0;
}

/* gigarank_load loads a program from a path of its own. The fault names the program. */
struct gigarank_program *gigarank_load(const char *path) {
	struct gigarank_program *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	struct search s = {.program = p};
	dl_iterate_phdr(count_objects, &s);
	p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!p->handle) {
		snprintf(p->fault, sizeof p->fault, "%s", dlerror());
		return p;
	}
	int (*const *entry)(int, char **, char **) = dlsym(p->handle, "gigarank_program_main");
	if (!entry) {
		snprintf(p->fault, sizeof p->fault, "it was not linked by gigarank cc");
		return p;
	}
	p->main = *entry;
	const char *const *constants = dlsym(p->handle, "gigarank_program_constants");
	p->fortran_constants = constants ? *constants : NULL;
	if (dlinfo(p->handle, RTLD_DI_LINKMAP, &s.map) != 0) {
		snprintf(p->fault, sizeof p->fault, "%s", dlerror());
		return p;
	}
	dl_iterate_phdr(add_object, &s);
	if (p->thread_local_bytes)
		snprintf(p->fault, sizeof p->fault, "it has thread-local variables (%d bytes), which its ranks would share: make them plain variables", p->thread_local_bytes);
	if (p->bytes) {
		p->initial = malloc(p->bytes);
		if (p->initial)
			store(p, p->initial);
		else
			snprintf(p->fault, sizeof p->fault, "no memory for a copy of its %zu bytes of variables", p->bytes);
	}
	return p;
}
