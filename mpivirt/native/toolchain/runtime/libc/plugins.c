/* Libraries that a rank opens while it runs. Open MPI, if the simulator is built with it, and the C
 * library are in the scope that all objects of the process share. A plugin looks in its own scope
 * first, where the runtime is, as the program does. */
#define _GNU_SOURCE
#include "rank/ranks.h"
#include "rank/real.h"
#include "rank/running.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

/* opener returns the engine whose rank runs, or has started this thread, NULL if there is no such engine. */
static struct gigarank_engine *opener(void) { return gigarank_running() ? gigarank_current : gigarank_parent.engine; }

/* section returns the address that an entry of an object's dynamic section has, which the loader has
 * made absolute, or its number, 0 without the entry. */
static uintptr_t section(const struct link_map *map, ElfW(Sxword) tag) {
	const ElfW(Dyn) *d = map->l_ld;
	while (d->d_tag != DT_NULL && d->d_tag != tag)
		d++;
	return d->d_tag == tag ? d->d_un.d_ptr : 0;
}

/* is_of_mpi reports whether a name is the name of a function of MPI in C or Fortran. */
static int is_of_mpi(const char *name) {
	name += *name == 'P' || *name == 'p';
	return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "mpi_", 4) == 0;
}

/* wants_mpi reports whether some relocations of an object are to functions of MPI. */
static int wants_mpi(const struct link_map *map, uintptr_t table, size_t bytes) {
	const ElfW(Sym) *symbols = (const void *)section(map, DT_SYMTAB);
	const char *names = (const void *)section(map, DT_STRTAB);
	const ElfW(Rela) *r = (const void *)table;
	for (size_t i = 0; r && i < bytes / sizeof *r; i++)
		if (ELF64_R_SYM(r[i].r_info) && is_of_mpi(names + symbols[ELF64_R_SYM(r[i].r_info)].st_name))
			return 1;
	return 0;
}

/* strays reports whether a plugin calls MPI, and was not linked with the runtime. */
static int strays(void *plugin) {
	struct link_map *map;
	if (dlsym(plugin, "gigarank_hold") || dlinfo(plugin, RTLD_DI_LINKMAP, &map) != 0)
		return 0;
	dlerror(); /* the program hears of no error */
	return wants_mpi(map, section(map, DT_RELA), section(map, DT_RELASZ)) || wants_mpi(map, section(map, DT_JMPREL), section(map, DT_PLTRELSZ));
}

/* The loader looks for a name without a slash, and for $ORIGIN, where the object that calls it says. So the
 * call must be the last statement: its caller is then the caller of this function. */
void *dlopen(const char *name, int mode) {
	struct gigarank_engine *e = opener();
	if (!e)
		return real(dlopen)(name, mode);
	if (!name || !*name)
		return e->program->handle;
	mode |= RTLD_DEEPBIND;
	if (!strchr(name, '/') || strchr(name, '$'))
		return real(dlopen)(name, mode);
	void *plugin = real(dlopen)(name, mode);
	if (plugin && gigarank_running() && strays(plugin)) {
		char text[320];
		snprintf(text, sizeof text, "the program has opened %.120s, which calls MPI and was not linked by gigarank: link it with gigarank cc -shared, or cxx or fc", name);
		gigarank_fail(text);
	}
	return plugin;
}

int dlclose(void *plugin) {
	struct gigarank_engine *e = opener();
	return e && plugin == e->program->handle ? 0 : real(dlclose)(plugin);
}
