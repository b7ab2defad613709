/* The variables of programs: where they lie, and how they are moved in and out as ranks are switched. */
#define _GNU_SOURCE
#include "rank/variables.h"
#include "rank/engines.h"
#include "rank/portions.h"
#include "rank/running.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The variables of a program that has many variables are mapped: the memory of the rank that runs is moved
 * to where the program has its variables, and back. That takes 2 to 10 us, of which little depends on the
 * size; copying takes 6 us for 128 KiB, 15 us for 256 KiB, 90 us for 1 MiB. A rank takes memory only for pages
 * that it has written: the memory is blank but for a few pages that are written at first, or, if
 * more pages have initial values, a private mapping of these pages. Blank memory is better: the system finds
 * its pages faster, and where they lie one behind another the processor does, too.
 * After a move the processor has to find all pages anew: a rank that computes on them takes longer
 * than it would in a process of its own. An engine with an image of the program for each of its
 * ranks moves and copies nothing: the variables of a rank stay in its image. */
enum { MAPPED_FROM = 160 << 10, TABLE = 2 << 20 /* covered by a table of pages, which moves as a whole */ };

/* A range of fewer bytes is copied: a copy takes less time than a move, and no mappings. */
enum { LARGE = 32 << 10 };

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4 /* Linux 5.13: nothing else may take the place of memory that is moved away */
#endif

/* gigarank_open_variables makes the places of the variables of an engine's ranks. The variables of as many ranks are
 * mapped as there are mappings for; those of the other ranks are copied. A moved range splits the memory that
 * holds the variables of all ranks into itself and the memory behind it. */
int gigarank_open_variables(struct gigarank_engine *e) {
	struct gigarank_program *p = e->program;
	if (p->large)
		e->mapped = (int32_t)(gigarank_claim(e, (int64_t)e->count * 2 * p->large) / (2 * p->large));
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
		madvise(e->reserved, e->reserved_bytes, MADV_NOHUGEPAGE); /* pages that a rank has not written take no memory */
		e->variables = (char *)(((uintptr_t)e->reserved + TABLE - 1) & ~(uintptr_t)(TABLE - 1));
	}
	e->plain = !e->images && !p->large;
	for (int i = 0; i < p->pieces + p->locals; i++)
		e->plain = e->plain && p->piece[i].bytes <= GIGARANK_PORTION;
	return gigarank_open_portions(e);
}

enum { PORTION = GIGARANK_PORTION };
static const char zeros[PORTION];

/* renew copies the portions that differ: pages that no rank has written stay without memory. */
static void renew(char *to, const char *from, size_t bytes) {
	for (size_t at = 0; at < bytes; at += PORTION) {
		size_t n = bytes - at < PORTION ? bytes - at : PORTION;
		if (memcmp(to + at, from + at, n) != 0)
			memcpy(to + at, from + at, n);
	}
}

/* take copies a range. Of one with several portions it writes those that differ alone: an array whose end no rank has written takes memory for its begin. */
static void take(char *to, const char *from, size_t bytes) {
	if (bytes > PORTION)
		renew(to, from, bytes);
	else
		memcpy(to, from, bytes);
}

/* copy_from copies the variables of the program to a rank's place, from the first range on. */
static void copy_from(struct gigarank_engine *e, int32_t lp, int first) {
	struct gigarank_program *p = e->program;
	char *own = e->ranks[lp].variables;
	for (int i = first; i < p->pieces + p->locals; i++)
		if (gigarank_has_portions(e, i))
			gigarank_portions_out(e, lp, i, own + p->piece[i].offset);
		else
			take(own + p->piece[i].offset, p->piece[i].address, p->piece[i].bytes);
	gigarank_end_portions(e, lp);
}

/* copy_to copies a rank's variables to the program. */
static void copy_to(struct gigarank_engine *e, int32_t lp, int first) {
	struct gigarank_program *p = e->program;
	const char *own = e->ranks[lp].variables;
	for (int i = first; i < p->pieces + p->locals; i++)
		if (gigarank_has_portions(e, i))
			gigarank_portions_in(e, lp, i, own + p->piece[i].offset);
		else
			take(p->piece[i].address, own + p->piece[i].offset, p->piece[i].bytes);
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

/* is_mapped reports whether the large ranges of a rank's variables are moved. Otherwise they are copied,
 * and the copy back writes only to portions that have changed. */
static int is_mapped(const struct gigarank_engine *e, int32_t lp) { return lp < e->mapped && !e->ranks[lp].lent; }

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
		gigarank_made(e, 2 * mapped);
	for (int i = mapped; i < p->pieces + p->locals; i++)
		take(p->piece[i].address, p->initial + p->piece[i].offset, p->piece[i].bytes);
	gigarank_overwritten(e);
}

/* gigarank_first_moved returns the first range of variables that ranks do not keep in an image of their own. Thread-local
 * variables are moved if the engine may go on in another thread; variables that the images share are always moved. */
int gigarank_first_moved(const struct gigarank_engine *e) {
	if (!e->images)
		return 0;
	return e->program->pieces + (e->bound ? e->program->own_locals : 0);
}

/* first_copied is the first of a rank's variables that are copied at a switch. */
static int first_copied(const struct gigarank_engine *e, int32_t lp) {
	if (e->images)
		return gigarank_first_moved(e);
	return is_mapped(e, lp) ? e->program->large : 0;
}

/* goes_on reports whether a rank that has returned to its engine is resumed, and so keeps its variables. */
static int goes_on(const struct gigarank_rank *r) { return r->returned_by == GIGARANK_BY_CALL || r->returned_by == GIGARANK_BY_INTERRUPTION; }

void gigarank_restore(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_program *p = e->program;
	struct gigarank_rank *r = &e->ranks[lp];
	if (!r->variables) {
		initialise(e, p, lp);
		r->variables = e->variables + (size_t)lp * e->stride;
		return;
	}
	if (e->plain) {
		for (int i = 0; i < p->pieces + p->locals; i++)
			memcpy(p->piece[i].address, r->variables + p->piece[i].offset, p->piece[i].bytes);
		return;
	}
	if (is_mapped(e, lp) && !e->images)
		move_variables(p, r->variables, 1);
	copy_to(e, lp, first_copied(e, lp));
}

void gigarank_keep_variables(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_program *p = e->program;
	struct gigarank_rank *r = &e->ranks[lp];
	if (!goes_on(r) && !r->actives) {
		gigarank_forget_portions(e, lp);
		return; /* its variables are not read any more: its place takes no memory */
	}
	if (e->plain) {
		for (int i = 0; i < p->pieces + p->locals; i++)
			memcpy(r->variables + p->piece[i].offset, p->piece[i].address, p->piece[i].bytes);
		return;
	}
	copy_from(e, lp, first_copied(e, lp));
	if (is_mapped(e, lp) && !e->images && goes_on(r)) /* else the next rank's take their place */
		move_variables(p, r->variables, 0);
}

/* gigarank_locate finds the thread-local variables of the program in this thread. */
void gigarank_locate(struct gigarank_program *p) {
	extern void *__tls_get_addr(size_t *);
	for (int i = p->pieces; i < p->pieces + p->locals; i++) {
		size_t index[2] = {p->piece[i].module, 0};
		p->piece[i].address = p->piece[i].module == GIGARANK_EXCEPTIONS ? p->exceptions() : __tls_get_addr(index);
	}
}

/* gigarank_leave_locals puts back the values that thread-local variables had before any rank ran: libgomp frees there
 * the memory of a thread that ends. */
void gigarank_leave_locals(const struct gigarank_program *p) {
	for (int i = p->pieces + p->own_locals; i < p->pieces + p->locals; i++)
		memcpy(p->piece[i].address, p->initial + p->piece[i].offset, p->piece[i].bytes);
}

int gigarank_has_variables(const struct gigarank_engine *e, int32_t lp) {
	return e->program->bytes > 0 && lp >= 0 && lp < e->count && e->ranks[lp].variables && goes_on(&e->ranks[lp]);
}

int gigarank_among_variables(const struct gigarank_engine *e, int32_t lp, const void *memory, size_t bytes) {
	uintptr_t own = (uintptr_t)e->ranks[lp].variables, at = (uintptr_t)memory;
	return at < own + e->stride && own < at + bytes;
}

/* gigarank_lend has the variables of a suspended rank stay as they are and where they are until it is resumed, if memory
 * lies among them. */
void gigarank_lend(struct gigarank_engine *e, int32_t lp, const void *memory, size_t bytes) {
	if (e->ranks[lp].variables && gigarank_among_variables(e, lp, memory, bytes))
		e->ranks[lp].lent = 1;
}

void gigarank_place_variables(struct gigarank_engine *e, int32_t lp) {
	if (e->images)
		e->program = e->images[lp];
	if (e->program->locals)
		gigarank_locate(e->program);
	gigarank_restore(e, lp);
}

/* --- their places ------------------------------------------------------------------- */

/* gigarank_add_variables adds a range of variables, of a module if they are thread-local. */
void gigarank_add_variables(struct gigarank_program *p, char *address, size_t bytes, size_t given, size_t module) {
	if (p->pieces + p->locals == sizeof p->piece / sizeof *p->piece) {
		snprintf(p->fault, sizeof p->fault, "its libraries have too many pieces of variables");
		return;
	}
	/* Thread-local variables come last. */
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

/* slots stores the range of an object's table of functions of other objects (.got.plt), empty without such a table. All
 * functions are bound as the object is loaded, so that the table is no variable. */
static void slots(const struct dl_phdr_info *o, uintptr_t *from, uintptr_t *to) {
	enum { WORDS = 3 /* of the loader's own, at its begin */ };
	uintptr_t table = 0, relocations = 0, bytes = 0, first = UINTPTR_MAX, last = 0;
	for (int i = 0; i < o->dlpi_phnum; i++)
		for (const ElfW(Dyn) *d = (const ElfW(Dyn) *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr); o->dlpi_phdr[i].p_type == PT_DYNAMIC && d->d_tag != DT_NULL; d++) {
			uintptr_t at = d->d_un.d_ptr < o->dlpi_addr ? o->dlpi_addr + d->d_un.d_ptr : d->d_un.d_ptr; /* the loader may have made it an address */
			table = d->d_tag == DT_PLTGOT ? at : table;
			relocations = d->d_tag == DT_JMPREL ? at : relocations;
			bytes = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val : bytes;
		}
	const ElfW(Rela) *r = (const ElfW(Rela) *)relocations;
	size_t n = r ? bytes / sizeof *r : 0;
	for (size_t i = 0; i < n; i++) {
		uintptr_t at = o->dlpi_addr + r[i].r_offset;
		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	*from = *to = 0;
	if (n && last - first == (n - 1) * sizeof(void *)) { /* one behind another */
		*from = table + WORDS * sizeof(void *) == first ? table : first;
		*to = last + sizeof(void *);
	}
}

/* The pages of a loaded object that its code may write, and its thread-local variables.
 * Relocations are over: pages that the loader has closed are left out. */
void gigarank_add_object(struct gigarank_program *p, const struct dl_phdr_info *o) {
	uintptr_t closed = 0, closed_end = 0, bound, bound_end;
	slots(o, &bound, &bound_end);
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
			gigarank_add_variables(p, (char *)from, h->p_memsz, h->p_filesz, o->dlpi_tls_modid);
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W))
			continue;
		if (closed <= from && closed_end > from)
			from = closed_end < to ? closed_end : to;
		if (from < bound_end && bound_end <= to) {
			if (from < bound)
				gigarank_add_variables(p, (char *)from, bound - from, bound - from, 0);
			from = bound_end;
		}
		if (from < to)
			gigarank_add_variables(p, (char *)from, to - from, to - from, 0);
	}
}

/* large_first puts the pieces that may be mapped before other pieces, and counts them. */
static void large_first(struct gigarank_program *p) {
	for (int i = 0; i < p->pieces; i++)
		if (p->piece[i].bytes >= LARGE) {
			struct gigarank_variables v = p->piece[i];
			p->piece[i] = p->piece[p->large];
			p->piece[p->large++] = v;
		}
}

/* lay_out gives each piece its place among the variables of a rank. Large pieces that are mapped have
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

/* can_move reports whether the system moves mappings as move_variables needs it. */
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

/* gigarank_keep_initial keeps the values of a program's variables before any rank has run. */
void gigarank_keep_initial(struct gigarank_program *p) {
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
	uintptr_t end = 0;
	for (int i = 0; i < p->pieces; i++) {
		uintptr_t from = (uintptr_t)p->piece[i].address, to = from + p->piece[i].bytes;
		p->low = i == 0 || from < p->low ? from : p->low;
		end = to > end ? to : end;
	}
	p->span = end - p->low;
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
