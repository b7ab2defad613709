/* Programs: how they are loaded, and how a rank enters its code. */
#define _GNU_SOURCE
#include "rank/hooks.h"
#include "rank/ranks.h"
#include "rank/regions.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- constructors -------------------------------------------------------------------- */

/* The functions that the loader would call once, and that each rank calls: the constructors of
 * an object, or those that end it. */
struct gigarank_held {
	struct gigarank_held *next; /* of the object that the loader initialised before */
	void (**begin)(int, char **, char **);
	void (**end)(void);
	size_t begins, ends;
	size_t before; /* ends of the objects that the loader initialised before */
};

int gigarank_hosted;

static struct gigarank_held *held; /* of the objects that are being loaded, the last first */

/* This thread loads a program. What a rank opens meanwhile on another one begins at once, and once. */
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
 * calling the others: they would run once, and what they allocate would belong to all ranks. */
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

/* A constructor that compilers link into objects, libgcc's __cpu_indicator_init, asks the processor what it can: by a dozen
 * instructions CPUID, each of which takes 5 us in a virtual machine. It begins with a test of a variable, and does nothing
 * if that is set. So it is called once as a program is loaded, and what it has found is among the initial values of
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

static void ask_processor(const struct gigarank_program *p) {
	for (struct gigarank_held *h = p->held; h; h = h->next)
		for (size_t i = 0; i < h->begins; i++) {
			const int32_t *guard = guard_of((const unsigned char *)h->begin[i]);
			for (int k = 0; guard && k < p->pieces; k++)
				if ((size_t)((const char *)guard - p->piece[k].address) < p->piece[k].bytes && *guard == 0)
					h->begin[i](0, NULL, environ);
		}
}

#else

static void ask_processor(const struct gigarank_program *p) { (void)p; }

#endif

/* construct calls the constructors, libraries' first. */
static void construct(struct gigarank_held *h, int argc, char **argv, char **envp) {
	if (!h)
		return;
	construct(h->next, argc, argv, envp);
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
	char **envp = gigarank_hooks.begin_environment(e->running);
	e = gigarank_current; /* the rank may have waited */
	for (int i = 0; i < 2; i++)
		if (e->program->streams[i])
			e->program->streams[i]();
	construct(e->program->held, e->argc, argv, envp);
	exit(e->program->main(e->argc, argv, envp));
}

/* --- loading ------------------------------------------------------------------------- */

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
	if (!own && gigarank_is_system(o->dlpi_name))
		return 0;
	hold_copy(o);
	gigarank_add_object(p, o);
	for (int i = 0; own && i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD && o->dlpi_phdr[i].p_flags & PF_X) {
			p->base = o->dlpi_addr;
			p->text = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
			p->text_bytes = o->dlpi_phdr[i].p_memsz;
		}
	return 0;
}

/* add_openmp adds what libgomp keeps of a thread, as a rank's own: its settings, its regions, and the threads that wait
 * for the next one. Other libraries of OpenMP are not known. */
static int add_openmp(struct dl_phdr_info *o, size_t size, void *what) {
	struct gigarank_program *p = what;
	Dl_info where;
	(void)size;
	if (!dladdr((void *)p->openmp.active_level, &where) || (uintptr_t)where.dli_fbase != o->dlpi_addr)
		return 0;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_TLS)
			gigarank_add_variables(p, (char *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr), o->dlpi_phdr[i].p_memsz, o->dlpi_phdr[i].p_filesz, o->dlpi_tls_modid);
	return 1;
}

static void find_openmp(struct gigarank_program *p) {
	Dl_info where;
	void *level = dlsym(p->handle, "omp_get_active_level");
	if (!level || !dladdr(level, &where))
		return;
	gigarank_libgomp = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!strstr(where.dli_fname, "/libgomp.so"))
		return;
	p->openmp.active_level = (int (*)(void))level;
	p->openmp.pause = (int (*)(int))dlsym(p->handle, "omp_pause_resource_all");
	dl_iterate_phdr(add_openmp, p);
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
	loading = 1;
	p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	loading = 0;
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
	count_ends(held);
	p->streams[0] = (void (*)(void))dlsym(p->handle, "gigarank_streams");
	p->streams[1] = (void (*)(void))dlsym(p->handle, "gigarank_wide_streams");
	p->own_locals = p->locals;
	find_openmp(p);
	char ***const *environment = dlsym(p->handle, "gigarank_program_environment");
	p->environment = environment ? *environment : NULL;
	p->exceptions = (char *(*)(void))dlsym(p->handle, "__cxa_get_globals");
	if (p->exceptions)
		gigarank_add_variables(p, NULL, sizeof(void *) + sizeof(void *), 0, GIGARANK_EXCEPTIONS);
	if (!p->fault[0] && p->bytes) {
		ask_processor(p);
		gigarank_keep_initial(p);
	}
	return p;
}
