/* Programs: how they are loaded, and how a rank enters its code. */
#define _GNU_SOURCE
#include "rank/programs.h"
#include "rank/crashes.h"
#include "rank/hooks.h"
#include "rank/object_constructors.h"
#include "rank/regions.h"
#include "rank/running.h"
#include "rank/variables.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int gigarank_hosted;

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
	gigarank_construct(e->program->held, e->argc, argv, envp);
	exit(e->program->main(e->argc, argv, envp));
}

/* --- loading ------------------------------------------------------------------------- */

struct search {
	struct gigarank_program *program;
	const struct link_map *map; /* of the program */
	int32_t seen, old;          /* objects so far; objects that were loaded before */
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
	if (!own && gigarank_is_system(o->dlpi_name))
		return 0;
	gigarank_hold_copy(o);
	gigarank_add_object(p, o);
	for (int i = 0; own && i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD && o->dlpi_phdr[i].p_flags & PF_X) {
			p->base = o->dlpi_addr;
			p->text = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
			p->text_bytes = o->dlpi_phdr[i].p_memsz;
		}
	return 0;
}

/* add_openmp makes the state that libgomp keeps of a thread a rank's own: its settings, its regions, and the threads that wait
 * for the next region. Other libraries of OpenMP are not known. */
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
	gigarank_begin_holding();
	p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	gigarank_end_holding();
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
	p->held = gigarank_held();
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
		gigarank_ask_processor(p);
		gigarank_keep_initial(p);
	}
	return p;
}
