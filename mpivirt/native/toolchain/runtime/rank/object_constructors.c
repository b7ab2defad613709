/* Constructors of the objects of a program, as those of C++, and the functions that end objects: the loader does not call
 * them, and each rank does. */
#define _GNU_SOURCE
#include "rank/object_constructors.h"
#include "rank/crashes.h"
#include "rank/running.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The functions that the loader would call once, and that each rank calls: the constructors of
 * an object, or the functions that end it. */
struct gigarank_held {
	struct gigarank_held *next; /* of the object that the loader initialised before */
	void (**begin)(int, char **, char **);
	void (**end)(void);
	size_t begins, ends;
	size_t before; /* ends of the objects that the loader initialised before */
};

static struct gigarank_held *held; /* of the objects that are being loaded, the last first */

/* This thread loads a program. The constructors of an object that a rank opens meanwhile on another thread are called at once,
 * one time. */
static __thread int loading __attribute__((tls_model("initial-exec")));

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
 * calling the other initialisations: they would run once, and memory that they allocate would belong to all ranks. */
void gigarank_hold(const void *dynamic) {
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct closed c = {.dynamic = dynamic};
	if (!loading)
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

/* A constructor that compilers link into objects, libgcc's __cpu_indicator_init, asks the processor for its features: by a dozen
 * instructions CPUID, each of which takes 5 us in a virtual machine. It begins with a test of a variable, and does nothing
 * if that is set. So it is called once as a program is loaded, and the features that it finds are among the initial values of
 * the ranks' variables. */
#if defined(__x86_64__)

/* guard_of returns the variable by which a constructor begins, NULL if it is not of this kind. */
static const int32_t *guard_of(const unsigned char *code) {
	static const unsigned char landing[] = {0xf3, 0x0f, 0x1e, 0xfa}, cpuid[] = {0x0f, 0xa2};
	enum { NEAR = 64 };
	int32_t offset;
	if (gigarank_faults(code + NEAR - 1) || !memmem(code, NEAR, cpuid, sizeof cpuid))
		return NULL;
	if (memcmp(code, landing, sizeof landing) == 0) /* endbr64 */
		code += sizeof landing;
	int loads = code[0] == 0x8b && (code[1] & 0xc7) == 0x05;               /* mov variable(%rip), register */
	int compares = code[0] == 0x83 && code[1] == 0x3d && code[6] == 0x00; /* cmpl $0, variable(%rip) */
	if (!loads && !compares)
		return NULL;
	memcpy(&offset, code + 2, sizeof offset);
	return (const int32_t *)(code + 6 + compares + offset);
}

void gigarank_ask_processor(const struct gigarank_program *p) {
	for (struct gigarank_held *h = p->held; h; h = h->next)
		for (size_t i = 0; i < h->begins; i++) {
			const int32_t *guard = guard_of((const unsigned char *)h->begin[i]);
			for (int k = 0; guard && k < p->pieces; k++)
				if ((size_t)((const char *)guard - p->piece[k].address) < p->piece[k].bytes && *guard == 0)
					h->begin[i](0, NULL, environ);
		}
}

#else

void gigarank_ask_processor(const struct gigarank_program *p) { (void)p; }

#endif

void gigarank_construct(struct gigarank_held *h, int argc, char **argv, char **envp) {
	if (!h)
		return;
	gigarank_construct(h->next, argc, argv, envp);
	gigarank_running()->ends = (int32_t)(h->before + h->ends);
	for (size_t i = 0; i < h->begins; i++)
		h->begin[i](argc, argv, envp);
}

int gigarank_end_next(struct gigarank_rank *r) {
	if (r->ends == 0)
		return 0;
	size_t i = (size_t)--r->ends;
	struct gigarank_held *h = gigarank_current->program->held;
	while (i < h->before)
		h = h->next;
	h->end[i - h->before]();
	return 1;
}

/* count_ends numbers the functions that end objects. */
static size_t count_ends(struct gigarank_held *h) {
	if (!h)
		return 0;
	h->before = count_ends(h->next);
	return h->before + h->ends;
}

void gigarank_begin_holding(void) { held = NULL, loading = 1; }
void gigarank_end_holding(void) { loading = 0; }

struct gigarank_held *gigarank_held(void) {
	count_ends(held);
	return held;
}

/* In a copy of a system library that belongs to one program, tags of its dynamic section are
 * moved: the loader does not see its constructors and destructors. */
enum { MOVED = 0x60676900 };

void gigarank_hold_copy(const struct dl_phdr_info *o) {
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
	while (*last) /* before the constructors of the program */
		last = &(*last)->next;
	*last = kept;
}
