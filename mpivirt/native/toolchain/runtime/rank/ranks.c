/* Ranks as C stacks: how they are made, resumed, suspended and ended. */
#define _GNU_SOURCE
#include "rank/ranks.h"
#include "rank/bursts.h"
#include "rank/caches.h"
#include "rank/crashes.h"
#include "rank/engines.h"
#include "rank/hooks.h"
#include "rank/meter.h"
#include "rank/portions.h"
#include "rank/regions.h"
#include "rank/running.h"
#include "rank/switch.h"
#include "rank/threads.h"
#include "rank/variables.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- stacks -------------------------------------------------------------------- */

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13: pages that fault, without a mapping of their own */
#endif

/* stacks_of returns the number of stacks in memory. */
static int32_t stacks_of(struct gigarank_engine *e) { return e->copied ? e->count > 0 : e->count; }

/* Code built with -fstack-clash-protection touches its stack on its way down at least once in this number of bytes.
 * It does not step over a guard of that size. */
#if defined(__aarch64__)
enum { LONGEST_STEP = 64 << 10 };
#else
enum { LONGEST_STEP = 4 << 10 };
#endif

/* guard makes the lowest pages of each stack fault. Before Linux 6.13 each guard is a mapping, and so is
 * the memory behind it. It reports whether the process may have that many mappings. */
static int guard(struct gigarank_engine *e) {
	int64_t split = 0;
	for (int32_t i = 0; i < stacks_of(e); i++) {
		char *stack = e->stacks + (size_t)i * e->stack;
		/* Emulators take advice that they do not know, and do not follow it. */
		if (!split && (madvise(stack, e->guard, MADV_GUARD_INSTALL) != 0 || (i == 0 && !gigarank_faults(stack)))) {
			split = 2 * (int64_t)(stacks_of(e) - i);
			if (gigarank_claim(e, split) < split)
				return 0;
		}
		if (split && mprotect(stack, e->guard, PROT_NONE) != 0)
			return 0;
	}
	gigarank_made(e, split);
	return 1;
}

/* top_of returns the end of a rank's stack. The ends of neighbours differ in their places within
 * a page, or all stacks would compete for the same sets of the cache. */
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

/* --- engines ---------------------------------------------------------------------- */

/* name_process gives the process the name of the program, with which error, warn and assert begin their lines. Engines of the
 * process open at the same time, with the same name. A name is never freed: code may hold it. */
static void name_process(const char *name) {
	if (strcmp(__atomic_load_n(&program_invocation_name, __ATOMIC_ACQUIRE), name) == 0)
		return;
	char *copy = strdup(name), *slash = copy ? strrchr(copy, '/') : NULL;
	if (!copy)
		return;
	__atomic_store_n(&program_invocation_short_name, slash ? slash + 1 : copy, __ATOMIC_RELEASE);
	__atomic_store_n(&program_invocation_name, copy, __ATOMIC_RELEASE);
}

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
	e->long_ticks = gigarank_long_ticks();
	e->argc = argc, e->argv = argv, e->copied = copied;
	if (argc > 0)
		name_process(argv[0]);
	e->program = program;
	e->guard = page > LONGEST_STEP ? page : LONGEST_STEP;
	e->stack = (stack + page - 1) / page * page + e->guard;
	e->ranks = calloc((size_t)count + 1, sizeof *e->ranks);
	e->list = calloc((size_t)count + 1, sizeof *e->list);
	e->environment = gigarank_hooks.without_launcher(environ);
	if (!e->ranks || !e->list || !e->environment)
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
	gigarank_enlist(e);
	if (!guard(e)) {
		snprintf(fault, room, "no pages that guard %d stacks: use --stacks copied, fewer ranks, Linux 6.13 or later, or a vm.max_map_count of %lld",
			stacks_of(e), 2ll * stacks_of(e) + gigarank_most_mappings());
		gigarank_close(e);
		return NULL;
	}
	if (program->bytes && gigarank_open_variables(e) != 0)
		goto memory;
	e->request_free = -1;
	return e;
memory:
	snprintf(fault, room, "no memory for the tables and variables of %d ranks: use fewer ranks or more hosts", count);
	if (e)
		gigarank_close(e);
	return NULL;
}

/* gigarank_release gives the stacks and variables back, once no rank runs any more. An engine whose ranks have left
 * threads stays as it is, as the threads may use its memory. */
void gigarank_release(struct gigarank_engine *e) {
	if (gigarank_threads_live(e))
		return; /* they use both, until the process ends */
	if (e->stacks)
		fflush(NULL); /* files that ranks have left open */
	if (e->stacks)
		munmap(e->stacks, (size_t)stacks_of(e) * e->stack);
	if (e->variables)
		munmap(e->reserved, e->reserved_bytes);
	e->stacks = e->variables = NULL;
	gigarank_close_portions(e);
}

/* gigarank_close frees an engine. It returns 0 if threads still use the engine's memory: it then stays, with its images. */
int32_t gigarank_close(struct gigarank_engine *e) {
	gigarank_strike_off(e);
	if (gigarank_threads_live(e))
		return 0;
	gigarank_release(e);
	if (e->ranks)
		for (int32_t i = 0; i < e->count; i++) {
			struct gigarank_rank *r = &e->ranks[i];
			gigarank_hooks.forget_rank(r);
			free(r->line);
			free(r->saved);
			gigarank_hooks.close_fortran(r);
			gigarank_hooks.forget_process(r);
		}
	gigarank_hooks.close_directories(e);
	for (int32_t i = 0; i < e->request_count; i++) {
		free(e->requests[i].persistent), free(e->requests[i].partitions), free(e->requests[i].grequest);
		if (e->requests[i].plan)
			e->requests[i].plan->close(e->requests[i].plan);
	}
	free(e->requests);
	gigarank_hooks.close_objects(e);
	free(e->ranks);
	free(e->bursts), free(e->sites);
	free(e->tasks), free(e->task_ratios), free(e->task_counts), free(e->beside);
	free(e->images);
	free(e->list);
	free(e->environment);
	free(e->text);
	free(e->posted);
	free(e->aside);
	for (int i = 0; i < GIGARANK_MODELS; i++)
		free(e->models[i].words);
	free(e);
	return 1;
}

/* While the engine runs, the variables of all ranks lie in their copies, but for variables that stay in
 * an image: messages may go to a copy. Most addresses lie far from all variables but those of a thread. */
static void *copied_among(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	struct gigarank_program *p = e->program;
	int i = gigarank_first_moved(e);
	if ((uintptr_t)address - p->low >= p->span && i < p->pieces)
		i = p->pieces;
	for (; i < p->pieces + p->locals; i++) {
		size_t offset = (size_t)((const char *)address - p->piece[i].address);
		if (offset < p->piece[i].bytes) {
			if (gigarank_has_portions(e, i))
				gigarank_pin_portions(e, r);
			return r->variables + p->piece[i].offset + offset;
		}
	}
	return (void *)address;
}

static inline void *copied(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	const struct gigarank_program *p = e->program;
	return (uintptr_t)address - p->low >= p->span && !p->locals ? (void *)address : copied_among(e, r, address);
}

void *gigarank_in_copy(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) { return r->variables ? copied(e, r, address) : (void *)address; }

/* --- control --------------------------------------------------------------------- */

enum { PREFETCHED = 192 }; /* bytes of each stack */

/* prefetch loads the memory that the next ranks touch first into the cache, all at once: the latencies of
 * memory and of the page tables overlap. A processor may drop a prefetch from a page that it
 * does not know, so that the stacks are read. */
static inline void prefetch(struct gigarank_engine *e, int32_t i, int32_t n) {
	enum { AT_ONCE = 64 };
	if (i % AT_ONCE)
		return;
	for (int32_t j = i; j < n && j < i + AT_ONCE; j++) {
		const struct gigarank_rank *r = &e->ranks[e->list[j]];
		const volatile char *first = e->copied ? r->saved : r->sp;
		for (int at = 0; first && at < PREFETCHED && (!e->copied || at < r->saved_room); at += 64)
			(void)first[at];
	}
}

/* A copied stack is kept from the stack pointer up. The memory that a call points to lies in the copy
 * while the rank is suspended. moved returns its address there. */
static void *moved(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	size_t offset = (size_t)((const char *)address - (char *)r->sp);
	return offset < (size_t)(e->stacks + e->stack - (char *)r->sp) ? r->saved + offset : (void *)address;
}

/* A rank in a barrier, or in a collective that writes nothing on its stack, keeps the words of its stack that differ from a model: the
 * stack of another rank in such a call. The ranks of a program are mostly at one place in it, and differ in few words. The copy
 * is the call, a mask of the words that differ, these words, and a short input that lies on the stack. In other calls the simulator may
 * write anywhere on the stack, which is then copied whole. */
enum { MODEL_BYTES = 2048, MASKS = MODEL_BYTES / 8 / 64, MOST_WORDS = 16, MOST_INPUT = 64, LEAST_ROOM = 88 /* a piece of malloc's less its header */ };

/* Two words that are compared at once, wherever they lie. */
typedef uint64_t pair __attribute__((vector_size(16), aligned(8)));

/* differing returns the number of words in which a stack differs from a model, and their mask. Words of the call do not
 * count. */
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
	for (size_t i = m->call / 8; i < (m->call + m->length) / 8; i++)
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
		r->saved = gigarank_enlarged(NULL, (size_t)r->saved_room);
	}
	return r->saved;
}

static int on_copied_stack(struct gigarank_engine *e, struct gigarank_rank *r, const void *address) {
	return (size_t)((const char *)address - (char *)r->sp) < (size_t)(e->stacks + e->stack - (char *)r->sp);
}

/* shared_length returns the bytes of a call of which a rank keeps the words that differ from a model, 0 if the simulator may write on
 * the rank's stack. It stores the bytes of an input on the stack. */
static size_t shared_length(struct gigarank_engine *e, struct gigarank_rank *r, const struct gigarank_call *c, size_t *input) {
	*input = 0;
	if (c->nonblocking)
		return 0;
	switch (c->procedure) {
	case GIGARANK_BARRIER:
		return GIGARANK_COMMON;
	case GIGARANK_BCAST: case GIGARANK_REDUCE: case GIGARANK_ALLREDUCE: case GIGARANK_GATHER: case GIGARANK_SCATTER:
		break;
	default:
		return 0;
	}
	if (c->remote || c->counts || on_copied_stack(e, r, c->output) || on_copied_stack(e, r, c->detail))
		return 0;
	if (on_copied_stack(e, r, c->input))
		*input = (size_t)c->given;
	return *input <= MOST_INPUT ? GIGARANK_OF_BUFFERS : 0;
}

/* share copies the stack of a rank in such a call as it differs from a model, and reports whether it
 * does in few words only. If no model fits, the stack replaces a model that no rank uses. */
static int share(struct gigarank_engine *e, struct gigarank_rank *r, size_t bytes) {
	size_t call = (size_t)((char *)r->call - (char *)r->sp), masks = (bytes / 8 + 63) / 64;
	uint64_t mask[MASKS];
	int n = 0, i, unused = -1;
	size_t input, length = shared_length(e, r, r->call, &input);
	if (!length || bytes > MODEL_BYTES || call > bytes)
		return 0;
	for (i = 0; i < GIGARANK_MODELS; i++) {
		struct gigarank_model *m = &e->models[i];
		if (m->bytes == bytes && m->call == call && m->length == length && (n = differing(m, r->sp, mask)) <= MOST_WORDS)
			break;
		if (!m->users)
			unused = i;
	}
	if (i == GIGARANK_MODELS) {
		if (unused < 0)
			return 0;
		struct gigarank_model *m = &e->models[i = unused];
		m->bytes = bytes, m->call = call, m->length = length;
		m->words = gigarank_enlarged(m->words, bytes);
		memcpy(m->words, r->sp, bytes);
		memset(mask, 0, sizeof mask);
		n = 0;
	}
	e->models[i].users++;
	r->model = (uint8_t)(i + 1);
	char *at = keep(r, length + 8 * (masks + (size_t)n) + input);
	memcpy(at, r->call, length);
	r->call = (struct gigarank_call *)at;
	uint64_t *words = (uint64_t *)(at + length) + masks;
	for (size_t j = 0; j < masks; j++) {
		((uint64_t *)(at + length))[j] = mask[j];
		for (uint64_t bits = mask[j]; bits; bits &= bits - 1)
			*words++ = ((uint64_t *)r->sp)[64 * j + (size_t)__builtin_ctzll(bits)];
	}
	if (input)
		r->call->input = memcpy(words, r->call->input, input);
	return 1;
}

static void copy_out(struct gigarank_engine *e, struct gigarank_rank *r) {
	size_t bytes = (size_t)(e->stacks + e->stack - (char *)r->sp);
	if (!gigarank_on_stack(e, r->sp))
		return; /* the rank fails */
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
	const uint64_t *mask = (const uint64_t *)(r->saved + m->length), *words = mask + masks;
	memcpy(r->sp, m->words, m->bytes);
	for (size_t j = 0; j < masks; j++)
		for (uint64_t bits = mask[j]; bits; bits &= bits - 1)
			((uint64_t *)r->sp)[64 * j + (size_t)__builtin_ctzll(bits)] = *words++;
	memcpy((char *)r->sp + m->call, r->saved, m->length);
	m->users--;
	r->model = 0;
}

/* gigarank_resume runs the ranks in the list, up to a rank that fails or is interrupted. It returns the number of ranks that
 * have run. */
int32_t gigarank_resume(struct gigarank_engine *e, int32_t n) {
	int32_t ran = n;
	int variables = e->program->bytes > 0;
	static __thread int32_t number __attribute__((tls_model("initial-exec")));
	uint64_t start = gigarank_ticks();
	gigarank_current = e;
	if (!number)
		number = (int32_t)gettid();
	e->thread = number;
	e->stops = 0;
	e->posted_bytes = 0;
	if (!e->images && e->program->locals)
		gigarank_locate(e->program);
	for (int32_t i = 0; i < ran; i++) {
		struct gigarank_rank *r = e->running = &e->ranks[e->list[i]];
		prefetch(e, i, n);
		if (e->images) {
			e->program = e->images[e->list[i]];
			if (e->program->locals)
				gigarank_locate(e->program);
		}
		if (!r->sp)
			r->sp = first_frame(top_of(e, e->list[i]));
		else if (e->copied)
			copy_in(e, r);
		if (e->copied && e->program->executable)
			__builtin___clear_cache(r->sp, e->stacks + e->stack);
		r->lent = 0;
		gigarank_resume_portions(e, e->list[i]);
		if (variables)
			gigarank_restore(e, e->list[i]);
		r->polled_clock = 0, e->clock_polls = 0, e->posted_count = 0;
		if (e->keeps)
			gigarank_hooks.adopt(e, r);
		errno = r->error_number;
		if (e->beside)
			gigarank_displace(e, r);
		if (e->bursts)
			gigarank_meter_start(&e->meter);
		e->inside = 1;
		gigarank_enter(&e->sp, r->sp);
		e->inside = 0;
		if (e->bursts)
			gigarank_burst_end(e, r);
		if (e->threads)
			gigarank_note_region(e, r);
		if (variables)
			gigarank_keep_variables(e, e->list[i]);
		if (e->copied)
			copy_out(e, r);
		if (e->stops)
			ran = i + 1;
	}
	e->running = NULL;
	if (e->keeps)
		gigarank_hooks.adopt(e, NULL);
	if (e->program->openmp.active_level)
		gigarank_leave_locals(e->program);
	gigarank_current = NULL;
	uint64_t took = gigarank_ticks() - start;
	e->ran += took;
	e->lengthy = took > e->long_ticks;
	e->computes = took <= (uint64_t)ran * e->long_ticks ? 0 : e->computes + (e->computes < GIGARANK_COMPUTES);
	return ran;
}

/* astray returns the call by which a rank fails that is on a stack of the program's own making, with the
 * reason. Where the rank is, other ranks may have variables. */
static struct gigarank_call *astray(struct gigarank_engine *e, const char *reason) {
	struct gigarank_call *c = gigarank_enlarged(NULL, sizeof *c);
	*c = (struct gigarank_call){.procedure = GIGARANK_RAISE, .key = -1, .detail = reason};
	e->stops = 1;
	return c;
}

/* The threads of a rank go on while the rank waits, so that its variables and its stack must stay where they are. That takes
 * an image of the program and a stack of the rank's own. libgomp wakes the first thread of an ordered region by
 * memory of that thread, where another rank may run. threads_stray returns the kind of threads that go on and must not, 0
 * for none. */
static int threads_stray(const struct gigarank_engine *e) {
	int what = gigarank_has_threads(e);
	if (!what || (what == GIGARANK_OPEN_REGION && e->ordered && e->count > 1))
		return what;
	return e->copied || (!e->images && e->program->bytes) ? what : 0;
}

/* led_astray returns the call by which a rank fails whose threads would use the variables of other ranks. */
static struct gigarank_call *led_astray(struct gigarank_engine *e, int what, int procedure) {
	struct gigarank_call *c = astray(e, NULL);
	c->key = GIGARANK_ASTRAY, c->n = what, c->dest = procedure;
	return c;
}

/* answer notes the place of the running rank's call, and suspends the rank for good. */
static void answer(struct gigarank_engine *e) {
	gigarank_note_place(e);
	void *unused;
	gigarank_switch(&unused, e->sp);
	__builtin_unreachable(); /* the rank is not resumed */
}

/* gigarank_place notes in crash where the program has made the call in which a rank waits. The run is over: no rank is resumed
 * any more but for its place, once. */
void gigarank_place(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_rank *r = &e->ranks[lp];
	memset(&e->crash, 0, sizeof e->crash);
	if (!r->sp || r->returned_by != GIGARANK_BY_CALL || (e->copied && !gigarank_on_stack(e, r->sp)))
		return;
	gigarank_prepare_places(); /* here, since a rank may have little stack left */
	gigarank_current = e;
	e->running = r;
	if (e->images)
		e->program = e->images[lp];
	if (e->copied)
		copy_in(e, r);
	e->asks = e->inside = 1;
	gigarank_switch(&e->sp, r->sp);
	e->asks = e->inside = 0;
	r->sp = NULL;
	e->running = NULL;
	gigarank_current = NULL;
}

#define ASTRAY "the program has called MPI on a stack that it has made itself, as by makecontext, "

int gigarank_suspend(struct gigarank_call *c) {
	struct gigarank_engine *e = gigarank_current;
	if (__builtin_expect(!gigarank_on_stack(e, __builtin_frame_address(0)), 0))
		c = astray(e, ASTRAY "of which ranks whose stacks are copied keep nothing: use --stacks own");
	else if (e->running->variables && __builtin_expect(copied(e, e->running, c) != c, 0))
		c = astray(e, ASTRAY "among its variables, where other ranks have theirs: take memory for it from malloc");
	struct gigarank_rank *r = e->running;
	int stray = __builtin_expect(e->threads, 0) ? threads_stray(e) : 0;
	if (stray && c->procedure != GIGARANK_RAISE)
		c = led_astray(e, stray, c->procedure);
	r->call = c;
	if (__builtin_expect(e->sites != NULL, 0))
		gigarank_note_site(e);
	e->foreseen.left = 0;
	r->last = (uint16_t)c->procedure;
	if (e->form) {
		r->last |= e->form & GIGARANK_VARIANT ? GIGARANK_OF_VARIANT : 0;
		c->nonblocking = e->form, e->form = GIGARANK_PLAIN;
	}
	r->returned_by = GIGARANK_BY_CALL;
	r->error_number = errno;
	if (r->variables) {
		c->input = copied(e, r, c->input);
		c->output = copied(e, r, c->output);
		c->detail = copied(e, r, c->detail);
		if (c->procedure != GIGARANK_BARRIER)
			c->handles = copied(e, r, c->handles);
	}
	int64_t left = e->threads && e->bursts ? gigarank_thread_time() : 0;
	gigarank_switch_back(&r->sp, e->sp);
	if (__builtin_expect(e->asks, 0))
		answer(e);
	if (left && gigarank_lapse())
		gigarank_lapse()->away += gigarank_thread_time() - left;
	return c->error;
}

int gigarank_trap(struct gigarank_call *c) {
	gigarank_suspend(c);
	if (c->error)
		gigarank_hooks.handle_error(c->comm ? c->comm : 1, c->error);
	return c->error;
}

void gigarank_fail(const char *reason) {
	struct gigarank_call c = {.procedure = GIGARANK_RAISE, .key = -1, .detail = reason};
	gigarank_current->stops = 1;
	gigarank_suspend(&c);
	__builtin_unreachable(); /* the rank is not resumed */
}

void gigarank_leave(int code) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = e->running;
	int stray = e->threads ? threads_stray(e) : 0;
	if (stray)
		gigarank_suspend(led_astray(e, stray, GIGARANK_NONE)); /* which does not come back */
	if (e->threads && e->program->openmp.pause)
		e->program->openmp.pause(2 /* omp_pause_hard */);
	r->code = code;
	e->foreseen.left = 0;
	r->returned_by = GIGARANK_BY_EXIT;
	e->stops = code != 0 && !r->left;
	gigarank_switch(&r->sp, e->sp);
	__builtin_unreachable(); /* the rank is not resumed */
}
