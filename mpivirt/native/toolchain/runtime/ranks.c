/* Ranks as C stacks: how they are made, resumed, suspended and ended. */
#define _GNU_SOURCE
#include "internal.h"
#include "attributes.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
__thread struct gigarank_engine *gigarank_current;
#else
__attribute__((noinline)) struct gigarank_engine **gigarank_engine_of_thread(void) {
	static __thread struct gigarank_engine *current __attribute__((tls_model("initial-exec")));
	__asm__ volatile("" ::: "memory"); /* so that two calls may have two results */
	return &current;
}
#endif
__thread struct gigarank_engine *gigarank_operating;
__thread struct gigarank_parent gigarank_parent;

extern char gigarank_begin[], gigarank_probed[], gigarank_not_there[];

void gigarank_fatal(const char *message) {
	ssize_t unused = write(2, message, strlen(message));
	(void)unused;
	((void (*)(int))dlsym(RTLD_NEXT, "_exit"))(3);
	__builtin_unreachable();
}

/* enlarged returns more memory. */
static void *enlarged(void *old, size_t room) {
	void *p = realloc(old, room);
	if (!p)
		gigarank_fatal("gigarank: no memory for the stacks and the output of ranks\n");
	return p;
}

/* --- the engines of the process --------------------------------------------------- */

/* The engines of this process, which threads of programs look for, and which share its mappings. */
static struct gigarank_engine *engines;
static pthread_mutex_t engines_lock = PTHREAD_MUTEX_INITIALIZER;

static void enlist(struct gigarank_engine *e) {
	pthread_mutex_lock(&engines_lock);
	e->next = engines;
	engines = e;
	pthread_mutex_unlock(&engines_lock);
}

static void strike_off(struct gigarank_engine *e) {
	pthread_mutex_lock(&engines_lock);
	struct gigarank_engine **link = &engines;
	while (*link && *link != e)
		link = &(*link)->next;
	if (*link)
		*link = e->next;
	pthread_mutex_unlock(&engines_lock);
}

/* most_mappings is how many the system lets a process have. */
static int64_t most_mappings(void) {
	long long most = 65530; /* Linux's default */
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	if (f) {
		if (fscanf(f, "%lld", &most) != 1)
			most = 65530;
		fclose(f);
	}
	return most;
}

/* mappings counts those that the process has. */
static int64_t mappings(void) {
	char text[16 << 10];
	int64_t lines = 0;
	ssize_t n;
	int f = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (f < 0)
		return 0;
	while ((n = read(f, text, sizeof text)) > 0)
		for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + n - at))); at++)
			lines++;
	close(f);
	return lines;
}

/* claim has an engine make further mappings for guards and variables of its ranks, as many of
 * those wanted as there are, and returns their number. An eighth of what the process may have
 * stays for all else. */
static int64_t claim(struct gigarank_engine *e, int64_t wanted) {
	int64_t most = most_mappings(), claimed = 0, left;
	pthread_mutex_lock(&engines_lock);
	for (struct gigarank_engine *other = engines; other; other = other->next)
		claimed += __atomic_load_n(&other->claimed, __ATOMIC_RELAXED);
	left = most - most / 8 - claimed - mappings(); /* in this order: what is made meanwhile counts twice */
	if (wanted > left)
		wanted = left > 0 ? left : 0;
	e->claimed += wanted;
	pthread_mutex_unlock(&engines_lock);
	return wanted;
}

/* made notes that an engine has made mappings that it has claimed. */
static void made(struct gigarank_engine *e, int64_t n) { __atomic_fetch_sub(&e->claimed, n, __ATOMIC_RELAXED); }

/* --- stacks -------------------------------------------------------------------- */

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13: pages that fault, without a mapping of their own */
#endif

/* stacks_of returns the number of stacks in memory. */
static int32_t stacks_of(struct gigarank_engine *e) { return e->copied ? e->count > 0 : e->count; }

/* faults reports whether memory cannot be read: the system refuses it as a path. */
static int faults(const char *address) { return access(address, F_OK) != 0 && errno == EFAULT; }

/* Code built with -fstack-clash-protection touches its stack at least so often on its way down.
 * A guard of as many bytes is not stepped over. */
#if defined(__aarch64__)
enum { LONGEST_STEP = 64 << 10 };
#else
enum { LONGEST_STEP = 4 << 10 };
#endif

/* guard makes the lowest pages of each stack fault. Before Linux 6.13 each guard is a mapping, as is
 * what lies behind it. It reports whether there are as many. */
static int guard(struct gigarank_engine *e) {
	int64_t split = 0;
	for (int32_t i = 0; i < stacks_of(e); i++) {
		char *stack = e->stacks + (size_t)i * e->stack;
		/* Emulators take advice that they do not know, and do not follow it. */
		if (!split && (madvise(stack, e->guard, MADV_GUARD_INSTALL) != 0 || (i == 0 && !faults(stack)))) {
			split = 2 * (int64_t)(stacks_of(e) - i);
			if (claim(e, split) < split)
				return 0;
		}
		if (split && mprotect(stack, e->guard, PROT_NONE) != 0)
			return 0;
	}
	made(e, split);
	return 1;
}

/* top_of returns the end of a rank's stack. Those of neighbours differ in their places within
 * a page, or all would compete for the same sets of the cache. */
static char *top_of(struct gigarank_engine *e, int32_t lp) {
	if (e->copied)
		return e->stacks + e->stack;
	return e->stacks + ((size_t)lp + 1) * e->stack - (size_t)(lp % 16) * 128;
}

/* The frame of a new stack, as gigarank_switch leaves it. */
static void *first_frame(char *top) {
	void **frame = (void **)((uintptr_t)top & ~(uintptr_t)63);
#if defined(__x86_64__)
	uint32_t state[2] = {0, 0};
	__asm__("stmxcsr %0\n\tfnstcw %1" : "+m"(state[0]), "+m"(state[1]));
	frame -= 10; /* the entry has the alignment of the instruction before a call */
	memset(frame, 0, 10 * sizeof *frame);
	memcpy(frame, state, sizeof state);
	frame[7] = gigarank_begin;
#else
	uint64_t state;
	__asm__("mrs %0, fpcr" : "=r"(state));
	frame -= 22;
	memset(frame, 0, 22 * sizeof *frame);
	frame[1] = gigarank_begin; /* x30 */
	memcpy(&frame[20], &state, sizeof state);
#endif
	return frame;
}

/* --- variables ------------------------------------------------------------------ */

/* The variables of a program that has many are mapped: the memory of the rank that runs is moved
 * to where the program has them, and back. That takes 2 to 10 us, of which little depends on the
 * size; copying takes 6 us for 128 KiB, 15 us for 256 KiB, 90 us for 1 MiB. A rank takes pages only
 * that it has written: the memory is blank but for a few pages that are written at first, or, if
 * more have initial values, a private mapping of those. Blank memory is better: the system finds
 * its pages faster, and where they lie one behind another the processor does, too.
 * After a move the processor has to find all pages anew: a rank that computes on them takes longer
 * than it would in a process of its own. An engine with an image of the program for each of its
 * ranks moves and copies nothing: the variables of a rank stay in its image. */
enum { MAPPED_FROM = 160 << 10, TABLE = 2 << 20 /* covered by a table of pages, which moves as a whole */ };

/* A range of fewer bytes is copied beside those that are moved: that takes less time than a move,
 * and no mappings. */
enum { LARGE = 32 << 10 };

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4 /* Linux 5.13: nothing else may take the place of what is moved away */
#endif

/* open_variables makes the places of the variables of an engine's ranks. Those of as many ranks are
 * mapped as there are mappings for; the others are copied. A moved range splits the memory that
 * holds the variables of all ranks into itself and what lies behind it. */
static int open_variables(struct gigarank_engine *e) {
	struct gigarank_program *p = e->program;
	if (p->large)
		e->mapped = (int32_t)(claim(e, (int64_t)e->count * 2 * p->large) / (2 * p->large));
	e->stride = p->stride;
	for (int32_t i = 0; e->images && i < e->count; i++)
		if (e->images[i]->stride > e->stride) /* it depends on where an image lies */
			e->stride = e->images[i]->stride;
	e->reserved_bytes = (size_t)e->count * e->stride + TABLE;
	e->reserved = mmap(NULL, e->reserved_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (e->reserved == MAP_FAILED) {
		e->reserved = NULL;
		return -1;
	}
	e->variables = e->reserved;
	if (p->large) {
		madvise(e->reserved, e->reserved_bytes, MADV_NOHUGEPAGE); /* pages that a rank has not written take none */
		e->variables = (char *)(((uintptr_t)e->reserved + TABLE - 1) & ~(uintptr_t)(TABLE - 1));
	}
	return 0;
}

enum { PORTION = 4096 };
static const char zeros[PORTION];

/* renew copies those portions that differ: pages that no rank has written stay without memory. */
static void renew(char *to, const char *from, size_t bytes) {
	for (size_t at = 0; at < bytes; at += PORTION) {
		size_t n = bytes - at < PORTION ? bytes - at : PORTION;
		if (memcmp(to + at, from + at, n) != 0)
			memcpy(to + at, from + at, n);
	}
}

/* copy_from copies a program's variables from where it has them to a rank's place, from the first
 * range on. */
static void copy_from(struct gigarank_program *p, char *to, int first) {
	for (; first < p->large; first++)
		renew(to + p->piece[first].offset, p->piece[first].address, p->piece[first].bytes);
	for (int i = first; i < p->pieces + p->locals; i++)
		memcpy(to + p->piece[i].offset, p->piece[i].address, p->piece[i].bytes);
}

static void copy_to(struct gigarank_program *p, const char *from, int first) {
	for (; first < p->large; first++)
		renew(p->piece[first].address, from + p->piece[first].offset, p->piece[first].bytes);
	for (int i = first; i < p->pieces + p->locals; i++)
		memcpy(p->piece[i].address, from + p->piece[i].offset, p->piece[i].bytes);
}

static void map_failed(void) {
	gigarank_fatal("gigarank: a rank's variables cannot be mapped: the program has left too few of vm.max_map_count; raise it, or use fewer ranks\n");
}

/* move_variables moves the variables of the running rank to where the program has them, or back
 * to their own place. */
static void move_variables(struct gigarank_program *p, char *own, int in) {
	for (int i = 0; i < p->large; i++) {
		char *there = p->piece[i].address, *here = own + p->piece[i].offset;
		size_t bytes = p->piece[i].bytes;
		if (mremap(in ? here : there, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, in ? there : here) == MAP_FAILED)
			map_failed();
	}
}

/* is_mapped reports whether the large ranges of a rank's variables are moved. */
static int is_mapped(const struct gigarank_engine *e, int32_t lp) { return lp < e->mapped; }

/* initialise gives a rank its variables. */
static void initialise(struct gigarank_engine *e, struct gigarank_program *p, int32_t lp) {
	int mapped = is_mapped(e, lp) ? p->large : 0;
	for (int i = 0; i < mapped; i++) {
		struct gigarank_variables *v = &p->piece[i];
		int blank = v->filled <= GIGARANK_FILLED;
		if (mmap(v->address, v->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | (blank ? MAP_ANONYMOUS : 0), blank ? -1 : p->image, blank ? 0 : (off_t)v->offset) == MAP_FAILED)
			map_failed();
		for (int k = 0; blank && k < v->filled; k++)
			memcpy(v->address + v->place[k], p->initial + v->offset + v->place[k], v->given - v->place[k] < PORTION ? v->given - v->place[k] : PORTION);
	}
	if (mapped)
		made(e, 2 * mapped);
	copy_to(p, p->initial, mapped);
}

/* first_copied is the first of a rank's variables that are copied at a switch. Thread-local ones
 * always are, since the engine may go on in another thread. */
static int first_copied(const struct gigarank_engine *e, int32_t lp) {
	if (e->images)
		return e->program->pieces;
	return is_mapped(e, lp) ? e->program->large : 0;
}

static void restore(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_program *p = e->program;
	struct gigarank_rank *r = &e->ranks[lp];
	if (!r->variables) {
		initialise(e, p, lp);
		r->variables = e->variables + (size_t)lp * e->stride;
		return;
	}
	if (is_mapped(e, lp) && !e->images)
		move_variables(p, r->variables, 1);
	copy_to(p, r->variables, first_copied(e, lp));
}

static void store(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_program *p = e->program;
	struct gigarank_rank *r = &e->ranks[lp];
	copy_from(p, r->variables, first_copied(e, lp));
	if (is_mapped(e, lp) && !e->images && r->returned_by == GIGARANK_BY_CALL) /* else the next rank's take their place */
		move_variables(p, r->variables, 0);
}

/* The exceptions that a thread has thrown and caught belong to a rank, too. They take the place of
 * the thread-local variables of an object. */
#define EXCEPTIONS ((size_t)-1)

/* locate finds the thread-local variables of the program in this thread. */
static void locate(struct gigarank_program *p) {
	extern void *__tls_get_addr(size_t *);
	for (int i = p->pieces; i < p->pieces + p->locals; i++) {
		size_t index[2] = {p->piece[i].module, 0};
		p->piece[i].address = p->piece[i].module == EXCEPTIONS ? p->exceptions() : __tls_get_addr(index);
	}
}

int gigarank_has_variables(const struct gigarank_engine *e, int32_t lp) {
	return e->program->bytes > 0 && lp >= 0 && lp < e->count && e->ranks[lp].variables && (e->ranks[lp].returned_by == GIGARANK_BY_CALL || e->ranks[lp].returned_by == GIGARANK_BY_INTERRUPTION);
}

int gigarank_among_variables(const struct gigarank_engine *e, int32_t lp, const void *memory, size_t bytes) {
	uintptr_t own = (uintptr_t)e->ranks[lp].variables, at = (uintptr_t)memory;
	return at < own + e->stride && own < at + bytes;
}

void gigarank_place_variables(struct gigarank_engine *e, int32_t lp) {
	if (e->images)
		e->program = e->images[lp];
	if (e->program->locals)
		locate(e->program);
	restore(e, lp);
}

void gigarank_keep_variables(struct gigarank_engine *e, int32_t lp) { store(e, lp); }

/* --- what code outside of ranks must not do -------------------------------------------- */

/* note_intrusion keeps the first of an engine's. */
static void note_intrusion(struct gigarank_intrusion *n, const char *function, int procedure, int32_t lp) {
	if (n->there)
		return;
	n->lp = lp, n->procedure = procedure;
	snprintf(n->function, sizeof n->function, "%s", function);
	__atomic_store_n(&n->there, 1, __ATOMIC_RELEASE);
}

int gigarank_intrudes(const char *function, int procedure) {
	if (gigarank_forked)
		gigarank_fatal("gigarank: a process that a rank has forked calls MPI: only ranks may\n");
	if (gigarank_operating) {
		note_intrusion(&gigarank_operating->by_operation, function, procedure, -1);
		return 1;
	}
	struct gigarank_parent parent = gigarank_parent;
	pthread_mutex_lock(&engines_lock);
	struct gigarank_engine *e = engines;
	while (e && (parent.engine ? e != parent.engine : !e->running))
		e = e->next; /* one whose rank runs, as beside threads of OpenMP */
	if (e)
		note_intrusion(&e->by_thread, function, procedure, parent.engine ? parent.lp : (int32_t)(e->running - e->ranks));
	pthread_mutex_unlock(&engines_lock);
	return e != NULL;
}

/* --- engines ---------------------------------------------------------------------- */

struct gigarank_engine *gigarank_open(struct gigarank_program *const *programs, int32_t images, int32_t count, int32_t first, int32_t world, size_t stack, int32_t copied, int32_t argc, char **argv, char *fault, size_t room) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct gigarank_engine *e = calloc(1, sizeof *e);
	struct gigarank_program *program = programs[0];
	if (!e)
		goto memory;
	if (images == count) {
		e->images = calloc((size_t)count + 1, sizeof(*e->images));
		if (!e->images)
			goto memory;
		memcpy(e->images, programs, (size_t)count * sizeof(*e->images));
	}
	e->count = count, e->first = first, e->world = world;
	e->argc = argc, e->argv = argv, e->copied = copied;
	e->program = program;
	e->guard = page > LONGEST_STEP ? page : LONGEST_STEP;
	e->stack = (stack + page - 1) / page * page + e->guard;
	e->ranks = calloc((size_t)count + 1, sizeof *e->ranks);
	e->list = calloc((size_t)count + 1, sizeof *e->list);
	if (!e->ranks || !e->list)
		goto memory;
	size_t all = (size_t)stacks_of(e) * e->stack;
	e->stacks = mmap(NULL, all ? all : page, PROT_READ | PROT_WRITE | (program->executable ? PROT_EXEC : 0), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (e->stacks == MAP_FAILED) {
		snprintf(fault, room, "no address space for %d stacks of %zu bytes (%s): use --stacks copied, a smaller --stack, fewer ranks, or a larger ulimit -v",
			stacks_of(e), e->stack, strerror(errno));
		e->stacks = NULL;
		gigarank_close(e);
		return NULL;
	}
	madvise(e->stacks, all, MADV_NOHUGEPAGE);
	enlist(e);
	if (!guard(e)) {
		snprintf(fault, room, "no pages that guard %d stacks: use --stacks copied, fewer ranks, Linux 6.13 or later, or a vm.max_map_count of %lld",
			stacks_of(e), 2ll * stacks_of(e) + most_mappings());
		gigarank_close(e);
		return NULL;
	}
	if (program->bytes && open_variables(e) != 0)
		goto memory;
	e->request_free = -1;
	return e;
memory:
	snprintf(fault, room, "no memory for the tables and variables of %d ranks: use fewer ranks or more hosts", count);
	if (e)
		gigarank_close(e);
	return NULL;
}

/* gigarank_release gives the stacks back, once no rank runs any more. */
void gigarank_release(struct gigarank_engine *e) {
	if (e->stacks)
		fflush(NULL); /* files that ranks have left open */
	if (e->stacks)
		munmap(e->stacks, (size_t)stacks_of(e) * e->stack);
	if (e->variables)
		munmap(e->reserved, e->reserved_bytes);
	e->stacks = e->variables = NULL;
}

void gigarank_close(struct gigarank_engine *e) {
	strike_off(e);
	gigarank_release(e);
	if (e->ranks)
		for (int32_t i = 0; i < e->count; i++) {
			struct gigarank_rank *r = &e->ranks[i];
			gigarank_forget_rank(r);
			free(r->line);
			free(r->saved);
			gigarank_close_fortran(r);
			gigarank_forget_process(r);
		}
	gigarank_close_directories(e);
	for (int32_t i = 0; i < e->request_count; i++) {
		free(e->requests[i].persistent), free(e->requests[i].general);
		if (e->requests[i].plan)
			e->requests[i].plan->close(e->requests[i].plan);
	}
	free(e->requests);
	gigarank_close_objects(e);
	free(e->ranks);
	free(e->bursts);
	free(e->images);
	free(e->list);
	free(e->text);
	free(e->aside);
	for (int i = 0; i < GIGARANK_MODELS; i++)
		free(e->models[i].words);
	free(e);
}

/* While the engine runs, the variables of all ranks lie in their copies, but for those that stay in
 * an image: messages may go there. copied returns the place there of an address in the program's variables, and any
 * other address itself. */
static void *copied(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	struct gigarank_program *p = e->program;
	for (int i = e->images ? p->pieces : 0; i < p->pieces + p->locals; i++) {
		size_t offset = (size_t)((const char *)address - p->piece[i].address);
		if (offset < p->piece[i].bytes)
			return r->variables + p->piece[i].offset + offset;
	}
	return (void *)address;
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
		for (int at = 0; first && at < FETCHED && (!e->copied || at < r->saved_room); at += 64)
			(void)first[at];
	}
}

/* A copied stack is kept from the stack pointer up. What a call points to lies in the copy
 * while the rank is suspended. */
static void *moved(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	size_t offset = (size_t)((const char *)address - (char *)r->sp);
	return offset < (size_t)(e->stacks + e->stack - (char *)r->sp) ? r->saved + offset : (void *)address;
}

/* A rank in a barrier keeps of its stack what differs from a model: the stack of another rank in a
 * barrier. The ranks of a program are mostly at one place in it, and differ in few words. Its copy
 * is the call, a mask of the words that differ, and those. In other calls the simulator may write
 * anywhere on the stack, which is then copied whole. */
enum { MODEL_BYTES = 2048, MASKS = MODEL_BYTES / 8 / 64, MOST_WORDS = 8, LEAST_ROOM = 88 /* a piece of malloc's less its header */ };

/* Two words that are compared at once, wherever they lie. */
typedef uint64_t pair __attribute__((vector_size(16), aligned(8)));

/* differing finds the words of a stack that are not those of a model, but for those of the call,
 * and returns their number. */
static int differing(const struct gigarank_model *m, const uint64_t *stack, uint64_t *mask) {
	size_t words = m->bytes / 8;
	int n = 0;
	for (size_t i = 0; i < words; i += 64)
		mask[i / 64] = 0;
	for (size_t i = 0; i < words; i += 8) {
		size_t end = i + 8;
		if (end <= words) {
			const pair *a = (const pair *)&stack[i], *b = (const pair *)&m->words[i];
			pair any = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
			if (!(any[0] | any[1]))
				continue;
		}
		for (size_t j = i; j < end && j < words; j++)
			mask[i / 64] |= (uint64_t)(stack[j] != m->words[j]) << j % 64;
	}
	for (size_t i = m->call / 8; i < (m->call + GIGARANK_COMMON) / 8; i++)
		mask[i / 64] &= ~((uint64_t)1 << i % 64);
	for (size_t i = 0; i < words; i += 64)
		n += __builtin_popcountll(mask[i / 64]);
	return n;
}

/* keep gives a rank room for the copy of its stack. */
static char *keep(struct gigarank_rank *r, size_t bytes) {
	if (bytes > (size_t)r->saved_room || 4 * bytes < (size_t)r->saved_room) {
		free(r->saved);
		r->saved_room = (int32_t)(bytes < LEAST_ROOM ? LEAST_ROOM : bytes);
		r->saved = enlarged(NULL, (size_t)r->saved_room);
	}
	return r->saved;
}

/* share copies the stack of a rank in a barrier as it differs from a model, and reports whether it
 * does in few words only. A model that no rank uses becomes the stack of this one. */
static int share(struct gigarank_engine *e, struct gigarank_rank *r, size_t bytes) {
	size_t call = (size_t)((char *)r->call - (char *)r->sp), masks = (bytes / 8 + 63) / 64;
	uint64_t mask[MASKS];
	int n = 0, i, unused = -1;
	if (r->call->procedure != GIGARANK_BARRIER || r->call->nonblocking || bytes > MODEL_BYTES || call > bytes)
		return 0;
	for (i = 0; i < GIGARANK_MODELS; i++) {
		struct gigarank_model *m = &e->models[i];
		if (m->bytes == bytes && m->call == call && (n = differing(m, r->sp, mask)) <= MOST_WORDS)
			break;
		if (!m->users)
			unused = i;
	}
	if (i == GIGARANK_MODELS) {
		if (unused < 0)
			return 0;
		struct gigarank_model *m = &e->models[i = unused];
		m->bytes = bytes, m->call = call;
		m->words = enlarged(m->words, bytes);
		memcpy(m->words, r->sp, bytes);
		memset(mask, 0, sizeof mask);
		n = 0;
	}
	e->models[i].users++;
	r->model = (uint8_t)(i + 1);
	char *at = keep(r, GIGARANK_COMMON + 8 * (masks + (size_t)n));
	memcpy(at, r->call, GIGARANK_COMMON);
	r->call = (struct gigarank_call *)at;
	uint64_t *words = (uint64_t *)(at + GIGARANK_COMMON) + masks;
	for (size_t j = 0; j < masks; j++) {
		((uint64_t *)(at + GIGARANK_COMMON))[j] = mask[j];
		for (uint64_t bits = mask[j]; bits; bits &= bits - 1)
			*words++ = ((uint64_t *)r->sp)[64 * j + (size_t)__builtin_ctzll(bits)];
	}
	return 1;
}

static void copy_out(struct gigarank_engine *e, struct gigarank_rank *r) {
	size_t bytes = (size_t)(e->stacks + e->stack - (char *)r->sp);
	if (r->returned_by == GIGARANK_BY_INTERRUPTION)
		memcpy(keep(r, bytes), r->sp, bytes);
	if (r->returned_by != GIGARANK_BY_CALL)
		return; /* it does not go on, or is in no call */
	if (share(e, r, bytes))
		return;
	memcpy(keep(r, bytes), r->sp, bytes);
	struct gigarank_call *c = r->call = moved(e, r, r->call);
	c->input = moved(e, r, c->input), c->output = moved(e, r, c->output), c->detail = moved(e, r, c->detail);
	if (c->procedure == GIGARANK_BARRIER)
		return; /* it has no more */
	c->handles = moved(e, r, c->handles);
	c->counts = moved(e, r, c->counts), c->incounts = moved(e, r, c->incounts);
	c->requests = moved(e, r, c->requests), c->statuses = moved(e, r, c->statuses), c->indices = moved(e, r, c->indices);
}

static inline void copy_in(struct gigarank_engine *e, struct gigarank_rank *r) {
	if (!r->model) {
		memcpy(r->sp, r->saved, (size_t)(e->stacks + e->stack - (char *)r->sp));
		return;
	}
	struct gigarank_model *m = &e->models[r->model - 1];
	size_t masks = (m->bytes / 8 + 63) / 64;
	const uint64_t *mask = (const uint64_t *)(r->saved + GIGARANK_COMMON), *words = mask + masks;
	memcpy(r->sp, m->words, m->bytes);
	for (size_t j = 0; j < masks; j++)
		for (uint64_t bits = mask[j]; bits; bits &= bits - 1)
			((uint64_t *)r->sp)[64 * j + (size_t)__builtin_ctzll(bits)] = *words++;
	memcpy((char *)r->sp + m->call, r->saved, GIGARANK_COMMON);
	m->users--;
	r->model = 0;
}

/* ticks reads a clock in a few nanoseconds. lengthy is some 50 us on it. */
#if defined(__x86_64__)
static inline uint64_t ticks(void) { return __builtin_ia32_rdtsc(); }
static inline uint64_t lengthy(void) { return 150000; }
#else
static inline uint64_t ticks(void) {
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}
static inline uint64_t lengthy(void) {
	uint64_t rate;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
	return rate / 20000;
}
#endif

/* gigarank_resume runs the ranks in the list, up to one that crashes. It returns how many have run. */
int32_t gigarank_resume(struct gigarank_engine *e, int32_t n) {
	int32_t ran = n;
	int variables = e->program->bytes > 0;
	static __thread int32_t number __attribute__((tls_model("initial-exec")));
	uint64_t start = ticks();
	gigarank_current = e;
	if (!number)
		number = (int32_t)gettid();
	e->thread = number;
	if (!e->images && e->program->locals)
		locate(e->program);
	for (int32_t i = 0; i < ran; i++) {
		struct gigarank_rank *r = e->running = &e->ranks[e->list[i]];
		fetch(e, i, n);
		if (e->images) {
			e->program = e->images[e->list[i]];
			if (e->program->locals)
				locate(e->program);
		}
		if (!r->sp)
			r->sp = first_frame(top_of(e, e->list[i]));
		else if (e->copied)
			copy_in(e, r);
		if (e->copied && e->program->executable)
			__builtin___clear_cache(r->sp, e->stacks + e->stack);
		if (variables)
			restore(e, e->list[i]);
		r->looked = 0, e->looks = 0;
		if (e->keeps)
			gigarank_adopt(e, r);
		errno = r->error_number;
		if (e->bursts)
			gigarank_meter_start(&e->meter);
		e->inside = 1;
		gigarank_switch(&e->sp, r->sp);
		e->inside = 0;
		if (e->bursts)
			gigarank_burst_end(e, r);
		if (variables)
			store(e, e->list[i]);
		if (e->copied)
			copy_out(e, r);
		if (r->returned_by == GIGARANK_BY_SIGNAL)
			ran = i + 1;
	}
	e->running = NULL;
	if (e->keeps)
		gigarank_adopt(e, NULL);
	gigarank_current = NULL;
	e->lengthy = ticks() - start > lengthy();
	return ran;
}

int gigarank_suspend(struct gigarank_call *c) {
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
		if (c->procedure != GIGARANK_BARRIER)
			c->handles = copied(e, r, c->handles);
	}
	gigarank_switch(&r->sp, e->sp);
	return c->error;
}

int gigarank_trap(struct gigarank_call *c) {
	gigarank_suspend(c);
	if (c->error)
		gigarank_handle_error(c->comm ? c->comm : 1, c->error);
	return c->error;
}

void gigarank_fail(const char *reason) {
	struct gigarank_call c = {.procedure = GIGARANK_RAISE, .key = -1, .detail = reason};
	gigarank_suspend(&c);
	__builtin_unreachable(); /* the rank is not resumed */
}

void gigarank_leave(int code) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	r->code = code;
	r->returned_by = GIGARANK_BY_EXIT;
	gigarank_switch(&r->sp, e->sp);
	__builtin_unreachable(); /* the rank is not resumed */
}

/* --- constructors -------------------------------------------------------------------- */

/* The functions that the loader would call once, and that each rank calls: the constructors of
 * an object, or those that end it. */
struct gigarank_held {
	struct gigarank_held *next; /* of the object that the loader initialised before */
	void (**begin)(int, char **, char **);
	void (**end)(void);
	size_t begins, ends;
};

int gigarank_hosted;

static struct gigarank_held *held; /* of the objects that are being loaded, the last first */

static void nothing(void) {}

/* closed finds the pages of the object with a dynamic section that the loader has closed. */
struct closed {
	const ElfW(Dyn) *dynamic;
	uintptr_t base, from, to;
};

static int find_closed(struct dl_phdr_info *o, size_t size, void *what) {
	struct closed *c = what;
	int found = 0;
	(void)size;
	for (int i = 0; i < o->dlpi_phnum; i++)
		found |= o->dlpi_phdr[i].p_type == PT_DYNAMIC && o->dlpi_addr + o->dlpi_phdr[i].p_vaddr == (uintptr_t)c->dynamic;
	for (int i = 0; found && i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
			c->from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
			c->to = c->from + o->dlpi_phdr[i].p_memsz;
		}
	c->base = o->dlpi_addr;
	return found;
}

/* gigarank_hold is called as the first initialisation of an object. It keeps the loader from
 * calling the others: they would run once, and what they allocate would belong to all ranks. */
void gigarank_hold(const void *dynamic) {
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct closed c = {.dynamic = dynamic};
	if (!gigarank_hosted)
		return;
	struct gigarank_held *h = calloc(1, sizeof *h);
	if (!h || !dl_iterate_phdr(find_closed, &c))
		gigarank_fatal("gigarank: the constructors of a program cannot be held back\n");
	uintptr_t begin = 0, end = 0;
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		begin = d->d_tag == DT_INIT_ARRAY ? c.base + d->d_un.d_ptr : begin;
		end = d->d_tag == DT_FINI_ARRAY ? c.base + d->d_un.d_ptr : end;
		h->begins = d->d_tag == DT_INIT_ARRAYSZ ? d->d_un.d_val / sizeof(void *) : h->begins;
		h->ends = d->d_tag == DT_FINI_ARRAYSZ ? d->d_un.d_val / sizeof(void *) : h->ends;
	}
	h->begin = calloc(h->begins + 1, sizeof *h->begin);
	h->end = calloc(h->ends + 1, sizeof *h->end);
	uintptr_t from = c.from & ~(page - 1), bytes = (c.to & ~(page - 1)) - from;
	if (!h->begin || !h->end || (c.to > from && mprotect((void *)from, bytes, PROT_READ | PROT_WRITE) != 0))
		gigarank_fatal("gigarank: the constructors of a program cannot be held back\n");
	for (size_t i = 0; i < h->begins; i++) {
		h->begin[i] = ((void (**)(int, char **, char **))begin)[i];
		((void (**)(void))begin)[i] = nothing;
	}
	for (size_t i = 0; i < h->ends; i++) {
		h->end[i] = ((void (**)(void))end)[i];
		((void (**)(void))end)[i] = nothing;
	}
	if (c.to > from)
		mprotect((void *)from, bytes, PROT_READ);
	h->next = held;
	held = h;
}

/* construct calls the constructors, libraries' first. */
static void construct(struct gigarank_held *h, int argc, char **argv) {
	if (!h)
		return;
	construct(h->next, argc, argv);
	for (size_t i = 0; i < h->ends; i++)
		gigarank_at_exit((void (*)(void *, int))h->end[i], NULL);
	for (size_t i = 0; i < h->begins; i++)
		h->begin[i](argc, argv, environ);
}

/* gigarank_rank_main is a rank, on its own stack. Each has its own argv. */
__attribute__((visibility("hidden"), noreturn)) void gigarank_rank_main(void) {
	struct gigarank_engine *e = gigarank_current;
	size_t bytes = 0;
	char *argv[e->argc + 1];
	for (int i = 0; i < e->argc; i++)
		bytes += strlen(e->argv[i]) + 1;
	char text[bytes + 1], *at = text;
	for (int i = 0; i < e->argc; i++) {
		argv[i] = at;
		at = stpcpy(at, e->argv[i]) + 1;
	}
	argv[e->argc] = NULL;
	for (int i = 0; i < 2; i++)
		if (e->program->streams[i])
			e->program->streams[i]();
	construct(e->program->held, e->argc, argv);
	exit(e->program->main(e->argc, argv, environ));
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

/* object_of returns where the object lies that holds an address, 0 if none does. */
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
static int is_system(const char *file) {
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
int gigarank_is_own(const char *file) { return file && !is_system(file) && strncmp(file, "/proc/self/fd/", 14) != 0; }

/* follows_call reports whether an address may be that to which a call returns. */
static int follows_call(uintptr_t pc) {
#if defined(__x86_64__)
	const unsigned char *code = (const unsigned char *)pc;
	return code[-5] == 0xe8 || code[-6] == 0xff || code[-2] == 0xff || code[-3] == 0xff; /* direct, through the table of functions, through a pointer */
#else
	uint32_t code = ((const uint32_t *)pc)[-1];
	return code >> 26 == 0x25 || (code & 0xfffffc1f) == 0xd63f0000;
#endif
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

/* An operation of a program that is carried out outside of ranks. */
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

/* crash_of_switch ends the process: what the engine does for a rank between its calls has failed,
 * and neither the rank nor the engine can go on. */
static void crash_of_switch(struct gigarank_engine *e, int number, uintptr_t address) {
	struct gigarank_rank *r = e->running;
	char text[320];
	snprintf(text, sizeof text, "gigarank: the simulator was stopped by SIG%s at address %#lx when it switched to or from rank %d at virtual time %g s: has the program unmapped or protected memory with its variables or its stack, or written where the simulator has its own?\n",
		sigabbrev_np(number), (unsigned long)address, e->first + (int)(r - e->ranks), (double)(r->clock + r->computed) / 1e12);
	gigarank_fatal(text);
}

/* crash_by ends a rank that a signal has stopped. The Go runtime handles all others. It runs
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
	void (*handler)(int) = gigarank_handler(r, number);
	if (handler != SIG_DFL && handler != SIG_IGN && !e->crash.overflow) {
		e->handler = (void (*)(int, void *, void *))(void *)handler;
		divert(u, handled, stack_pointer(u));
	} else {
		divert(u, crashed, (uintptr_t)e->sp);
	}
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

/* put_label puts the number of a rank before a line of its. */
static void put_label(struct gigarank_engine *e, struct gigarank_rank *r) {
	char label[16];
	if (e->label)
		put(e, label, (size_t)snprintf(label, sizeof label, "[%d] ", e->first + (int)(r - e->ranks)));
}

/* put_begun puts the part of a line that a rank has written before. */
static void put_begun(struct gigarank_engine *e, struct gigarank_rank *r) {
	if (r->line_length)
		put(e, r->line, (size_t)r->line_length);
	r->line_length = 0;
}

/* print takes what a rank writes to standard output. Whole lines go to the simulator, the
 * rest waits for the end of its line. */
static ssize_t print(void *cookie, const char *text, size_t n) {
	struct gigarank_engine *e = gigarank_current;
	(void)cookie;
	if (!gigarank_running())
		return write(STDOUT_FILENO, text, n);
	struct gigarank_rank *r = e->running;
	if (r->process && gigarank_has_closed(r, STDOUT_FILENO)) {
		errno = EBADF;
		return 0;
	}
	if (r->process && gigarank_output(r))
		return (ssize_t)fwrite(text, 1, n, gigarank_output(r));
	const char *end = memrchr(text, '\n', n);
	size_t whole = end ? (size_t)(end - text) + 1 : 0, rest = n - whole;
	if (whole && !e->label) {
		put_begun(e, r);
		put(e, text, whole);
	}
	for (size_t at = 0, next; e->label && at < whole; at = next) {
		next = (size_t)((const char *)memchr(text + at, '\n', whole - at) - text) + 1;
		put_label(e, r);
		put_begun(e, r);
		put(e, text + at, next - at);
	}
	if (rest) {
		if (malloc_usable_size(r->line) < (size_t)r->line_length + rest)
			r->line = enlarged(r->line, 2 * ((size_t)r->line_length + rest));
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
		put_label(e, r);
		put_begun(e, r);
		put(e, "\n", 1);
	}
	free(r->line);
	r->line = NULL;
	r->line_length = 0;
	free(r->saved);
	r->saved = NULL;
	gigarank_forget_process(r);
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

/* add_piece adds a range of variables, of a module if they are thread-local. */
static void add_piece(struct gigarank_program *p, char *address, size_t bytes, size_t given, size_t module) {
	if (p->pieces + p->locals == sizeof p->piece / sizeof *p->piece) {
		snprintf(p->fault, sizeof p->fault, "its libraries have too many pieces of variables");
		return;
	}
	/* Thread-local ones come last. */
	struct gigarank_variables *at = &p->piece[p->pieces + p->locals];
	if (module) {
		p->locals++;
	} else {
		memmove(&p->piece[p->pieces + 1], &p->piece[p->pieces], (size_t)p->locals * sizeof *p->piece);
		at = &p->piece[p->pieces++];
	}
	*at = (struct gigarank_variables){.address = address, .bytes = bytes, .given = given, .module = module};
	p->bytes += bytes;
}

/* The pages of a loaded object that its code may write, and its thread-local variables.
 * Relocations are over: pages that the loader has closed are left out. */
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
		uintptr_t from = o->dlpi_addr + h->p_vaddr, to = from + h->p_memsz;
		if (h->p_type == PT_TLS && from < to)
			add_piece(p, (char *)from, h->p_memsz, h->p_filesz, o->dlpi_tls_modid);
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W))
			continue;
		if (closed <= from && closed_end > from)
			from = closed_end < to ? closed_end : to;
		if (from < to)
			add_piece(p, (char *)from, to - from, to - from, 0);
	}
}

/* large_first puts the pieces that may be mapped before the others, and counts them. */
static void large_first(struct gigarank_program *p) {
	for (int i = 0; i < p->pieces; i++)
		if (p->piece[i].bytes >= LARGE) {
			struct gigarank_variables v = p->piece[i];
			p->piece[i] = p->piece[p->large];
			p->piece[p->large++] = v;
		}
}

/* lay_out gives each piece its place among the variables of a rank. Large ones that are mapped have
 * whole pages, as far from the start of a table of pages as where the program has them. */
static void lay_out(struct gigarank_program *p) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE), at = 0;
	for (int i = 0; i < p->pieces + p->locals; i++) {
		struct gigarank_variables *v = &p->piece[i];
		if (i < p->large) {
			uintptr_t from = (uintptr_t)v->address & ~(page - 1), to = ((uintptr_t)v->address + v->bytes + page - 1) & ~(page - 1);
			v->address = (char *)from, v->bytes = v->given = to - from;
			at += (from - at) % TABLE;
		}
		v->offset = at;
		at += i < p->large ? v->bytes : (v->bytes + 15) & ~(size_t)15;
	}
	p->stride = p->large ? (at + TABLE - 1) / TABLE * TABLE : at;
}

/* can_move reports whether the system moves mappings as they are moved here. */
static int can_move(void) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int file = memfd_create("trial", MFD_CLOEXEC);
	char *two = MAP_FAILED;
	int can = file >= 0 && ftruncate(file, (off_t)page) == 0 &&
		(two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED &&
		mmap(two, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) == two &&
		mremap(two, page, page, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, two + page) == two + page;
	if (two != MAP_FAILED)
		munmap(two, 2 * page);
	if (file >= 0)
		close(file);
	return can;
}

/* keep_initial keeps the values of a program's variables before any rank has run. */
static void keep_initial(struct gigarank_program *p) {
	size_t ordinary = 0;
	p->image = -1;
	for (int i = 0; i < p->pieces; i++)
		ordinary += p->piece[i].bytes;
	if (ordinary > MAPPED_FROM && can_move())
		large_first(p);
	lay_out(p);
	if (p->large) {
		p->image = memfd_create("variables", MFD_CLOEXEC);
		if (p->image >= 0 && ftruncate(p->image, (off_t)p->stride) == 0)
			p->initial = mmap(NULL, p->stride, PROT_READ | PROT_WRITE, MAP_SHARED, p->image, 0);
	} else {
		p->initial = calloc(1, p->stride);
	}
	if (!p->initial || p->initial == MAP_FAILED) {
		snprintf(p->fault, sizeof p->fault, "no memory for a copy of its %zu bytes of variables", p->bytes);
		return;
	}
	for (int i = 0; i < p->pieces + p->locals; i++) {
		struct gigarank_variables *v = &p->piece[i];
		for (size_t at = 0; at < v->given; at += PORTION) {
			size_t n = v->given - at < PORTION ? v->given - at : PORTION;
			if (memcmp(v->address + at, zeros, n) == 0)
				continue; /* no memory for zeros in the image */
			memcpy(p->initial + v->offset + at, v->address + at, n);
			if (v->filled++ < GIGARANK_FILLED)
				v->place[v->filled - 1] = at;
		}
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

/* In a copy of a system library that belongs to one program, tags of its dynamic section are
 * moved: the loader does not see its constructors and destructors. */
enum { MOVED = 0x60676900 };

/* hold_copy has each rank call the constructors of an object if it is such a copy. */
static void hold_copy(const struct dl_phdr_info *o) {
	const ElfW(Dyn) *d = NULL;
	struct gigarank_held h = {0}, *kept, **last = &held;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		h.begin = d->d_tag == MOVED + DT_INIT_ARRAY ? (void *)(o->dlpi_addr + d->d_un.d_ptr) : h.begin;
		h.end = d->d_tag == MOVED + DT_FINI_ARRAY ? (void *)(o->dlpi_addr + d->d_un.d_ptr) : h.end;
		h.begins = d->d_tag == MOVED + DT_INIT_ARRAYSZ ? d->d_un.d_val / sizeof(void *) : h.begins;
		h.ends = d->d_tag == MOVED + DT_FINI_ARRAYSZ ? d->d_un.d_val / sizeof(void *) : h.ends;
	}
	if (!h.begin && !h.end)
		return;
	if (!(kept = malloc(sizeof h)))
		gigarank_fatal("gigarank: the constructors of a library cannot be held back\n");
	*kept = h;
	while (*last) /* before those of the program */
		last = &(*last)->next;
	*last = kept;
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
	if (!own && is_system(o->dlpi_name))
		return 0;
	hold_copy(o);
	add_pieces(p, o);
	for (int i = 0; own && i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD && o->dlpi_phdr[i].p_flags & PF_X) {
			p->base = o->dlpi_addr;
			p->text = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
			p->text_bytes = o->dlpi_phdr[i].p_memsz;
		}
	return 0;
}

/* gigarank_load loads a program from a path of its own. The fault names the program. */
struct gigarank_program *gigarank_load(const char *path) {
	struct gigarank_program *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	struct search s = {.program = p};
	gigarank_hosted = 1;
	dl_iterate_phdr(count_objects, &s);
	held = NULL;
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
	p->held = held;
	p->streams[0] = (void (*)(void))dlsym(p->handle, "gigarank_streams");
	p->streams[1] = (void (*)(void))dlsym(p->handle, "gigarank_wide_streams");
	p->exceptions = (char *(*)(void))dlsym(p->handle, "__cxa_get_globals");
	if (p->exceptions)
		add_piece(p, NULL, sizeof(void *) + sizeof(void *), 0, EXCEPTIONS);
	if (!p->fault[0] && p->bytes)
		keep_initial(p);
	return p;
}
