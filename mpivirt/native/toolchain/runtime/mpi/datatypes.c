/* Datatypes. A type is a tree of pieces, as in package datatype: bounds, padding and the order
 * of elements follow MPI 4.1, chapter 5. */
#include "mpi/datatypes.h"
#include "mpi/arguments.h"
#include "mpi/attributes.h"
#include "mpi/objects.h"
#include "mpi/types.h"
#include "mpi/waits.h"
#include "rank/hooks.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

enum { BASIC = 0x200, BASICS = 0x100 };

/* The predefined types, by handle, and the dense types for predefined types whose elements do not lie densely. */
static struct gigarank_datatype predefined[BASICS], packed_pairs[BASICS];

/* The pairs: a value and, at an offset, its index. */
static const struct { MPI_Datatype pair, value, index; int offset; } pairs[] = {
	{MPI_FLOAT_INT, MPI_FLOAT, MPI_INT, sizeof(float)}, {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT, sizeof(double)}, {MPI_LONG_INT, MPI_LONG, MPI_INT, sizeof(long)},
	{MPI_2INT, MPI_INT, MPI_INT, sizeof(int)}, {MPI_SHORT_INT, MPI_SHORT, MPI_INT, sizeof(int)}, {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT, sizeof(long double)},
	{MPI_2REAL, MPI_REAL, MPI_REAL, sizeof(float)}, {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, sizeof(double)},
	{MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER, sizeof(int)},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };
static struct gigarank_piece parts_of_pairs[PAIRS][2];

__attribute__((constructor)) static void describe(void) {
	for (uintptr_t i = 0; i < BASICS; i++) {
		int size, element, extent, align;
		const char *name = gigarank_basic(i, &size, &element, &extent, &align);
		if (name)
			predefined[i] = (struct gigarank_datatype){.bytes = size, .elements = 1, .upper = extent, .last = extent, .align = align, .solid = 1, .dense = 1,
				.predefined = 1, .committed = 1, .element = (uint8_t)element, .kind = (uint8_t)element, .unit = (uint8_t)size, .basic = name, .combiner = MPI_COMBINER_NAMED};
	}
	struct gigarank_datatype *low = &predefined[(uintptr_t)MPI_LB - BASIC], *high = &predefined[(uintptr_t)MPI_UB - BASIC];
	low->elements = high->elements = 0;
	low->lower_set = high->upper_set = 1;
	for (int i = 0; i < PAIRS; i++) {
		uintptr_t place = (uintptr_t)pairs[i].pair - BASIC;
		struct gigarank_datatype *t = &predefined[place], *p = &packed_pairs[place];
		struct gigarank_datatype *value = &predefined[(uintptr_t)pairs[i].value - BASIC], *index = &predefined[(uintptr_t)pairs[i].index - BASIC];
		parts_of_pairs[i][0] = (struct gigarank_piece){0, 1, value->bytes, value};
		parts_of_pairs[i][1] = (struct gigarank_piece){pairs[i].offset, 1, index->bytes, index};
		t->piece = parts_of_pairs[i], t->pieces = 2, t->elements = 2;
		t->last = pairs[i].offset + index->bytes, t->align = value->align > index->align ? value->align : index->align;
		gigarank_set_density(t);
		if (t->dense)
			continue;
		*p = *t;
		p->upper = p->last = t->bytes, p->solid = p->dense = 1, p->stands_for = t;
		t->packed = p;
	}
}

static inline int is_basic(MPI_Datatype handle) { return (uintptr_t)handle - BASIC < BASICS; }

__thread struct gigarank_told gigarank_told;

struct gigarank_datatype *gigarank_type(MPI_Datatype handle) {
	if (is_basic(handle)) {
		struct gigarank_datatype *t = &predefined[(uintptr_t)handle - BASIC];
		return t->basic ? t : NULL;
	}
	uintptr_t pair = (uintptr_t)handle - (uintptr_t)packed_pairs;
	if (pair < sizeof packed_pairs)
		return (struct gigarank_datatype *)handle;
	struct gigarank_datatype *t = gigarank_object(GIGARANK_DATATYPE, handle);
	return t || !gigarank_told.type || handle != gigarank_told.handle ? t : gigarank_told.type;
}

MPI_Datatype gigarank_type_handle(struct gigarank_datatype *t) {
	if (!t->predefined)
		return gigarank_handle(t);
	return t->stands_for ? (MPI_Datatype)t : (MPI_Datatype)(uintptr_t)(t - predefined + BASIC);
}

int gigarank_spreads(MPI_Datatype handle) {
	const struct gigarank_datatype *t = gigarank_type(handle);
	return t && !t->dense && t->committed;
}

int64_t gigarank_size(MPI_Datatype handle) {
	const struct gigarank_datatype *t = gigarank_type(handle);
	return t ? t->bytes : -1;
}

int gigarank_element(MPI_Datatype handle) {
	const struct gigarank_datatype *t = gigarank_type(handle);
	return t ? t->element : GIGARANK_UNTYPED;
}

struct gigarank_datatype *gigarank_use_type(struct gigarank_datatype *t) { return t->predefined ? t : gigarank_retain(t); }

static void leave_type(struct gigarank_datatype *t) {
	if (t && !t->predefined)
		gigarank_release_object(t);
}

void gigarank_pin(struct gigarank_datatype *t) {
	struct gigarank_datatype *real = t->stands_for ? t->stands_for : t;
	if (!real->predefined && !real->pinned)
		gigarank_use_type(real)->pinned = 1;
}

void gigarank_number_type(struct gigarank_datatype *t) {
	struct gigarank_datatype *real = t->stands_for ? t->stands_for : t;
	if (!real->predefined)
		real->number = gigarank_hooks.number_of(gigarank_type_handle(real));
}

/* --- types from pieces --------------------------------------------------------------- */

static void destroy(struct gigarank_object *o) {
	struct gigarank_datatype *t = (struct gigarank_datatype *)o;
	for (int32_t i = 0; i < t->pieces; i++)
		leave_type(t->piece[i].of);
	for (int32_t i = 0; i < t->parts; i++)
		leave_type(t->part[i]);
	if (t->packed && !t->predefined)
		gigarank_release_object(t->packed);
	free(t->piece);
	free(t->integer);
	free(t->address);
	free(t->count);
	free(t->part);
	free(t->name);
	gigarank_free_attributes(t->attributes);
}

struct gigarank_datatype *gigarank_new_type(int32_t pieces) {
	struct gigarank_datatype *t = gigarank_new(GIGARANK_DATATYPE, sizeof *t, destroy);
	if (t && !(t->piece = calloc((size_t)pieces + 1, sizeof *t->piece))) {
		gigarank_drop_handle(t);
		t = NULL;
	}
	return t;
}

static int64_t extent_of(const struct gigarank_datatype *t) { return t->upper - t->lower; }

/* beyond reports whether a place or a number is further than memory reaches. Sums of two numbers within that do not
 * overflow. */
static int beyond(int64_t n) { return n > (int64_t)1 << 60 || n < -((int64_t)1 << 60); }

void gigarank_add_piece(struct gigarank_datatype *t, int64_t at, int64_t count, int64_t stride, struct gigarank_datatype *of) {
	int64_t bytes, elements, last;
	t->immense |= of->immense;
	if (count == 0 || (of->elements == 0 && !of->lower_set && !of->upper_set))
		return;
	if (__builtin_mul_overflow(count, of->bytes, &bytes) || __builtin_mul_overflow(count, of->elements, &elements) || __builtin_mul_overflow(count - 1, stride, &last) ||
		beyond(bytes) || beyond(elements) || beyond(last) || beyond(at) || beyond(at + last)) {
		t->immense = 1;
		return;
	}
	t->piece[t->pieces++] = (struct gigarank_piece){at, count, stride, gigarank_use_type(of)};
}

/* bound widens the bounds by the bounds of a piece. Bounds that were set go before all other bounds. */
static void bound(struct gigarank_datatype *t, const struct gigarank_datatype *of, int64_t lower, int64_t upper, int first) {
	if (first || of->lower_set > t->lower_set)
		t->lower = lower;
	else if (of->lower_set == t->lower_set && lower < t->lower)
		t->lower = lower;
	if (first || of->upper_set > t->upper_set)
		t->upper = upper;
	else if (of->upper_set == t->upper_set && upper > t->upper)
		t->upper = upper;
	t->lower_set |= of->lower_set, t->upper_set |= of->upper_set;
}

void gigarank_set_density(struct gigarank_datatype *t) {
	int64_t end = t->first;
	t->solid = 1;
	for (int32_t i = 0; i < t->pieces && t->solid; i++) {
		const struct gigarank_piece *p = &t->piece[i];
		if (p->of->elements == 0)
			continue;
		t->solid = p->of->solid && p->at + p->of->first == end && (p->count == 1 || p->stride == p->of->bytes);
		end += p->count * p->of->bytes;
	}
	t->dense = t->solid && t->first == 0 && t->lower == 0 && t->upper == t->bytes;
}

void gigarank_seal_type(struct gigarank_datatype *t) {
	int any = 0;
	t->align = 1, t->kind = GIGARANK_UNTYPED, t->unit = 1;
	for (int32_t i = 0; i < t->pieces; i++) {
		const struct gigarank_piece *p = &t->piece[i];
		const struct gigarank_datatype *of = p->of;
		int64_t far = p->at + (p->count - 1) * p->stride, low = p->at < far ? p->at : far, high = p->at < far ? far : p->at;
		t->bytes += p->count * of->bytes;
		if (beyond(t->bytes) || beyond(of->lower) || beyond(of->upper)) {
			t->immense = 1;
			return;
		}
		if (of->align > t->align)
			t->align = of->align;
		bound(t, of, low + of->lower, high + of->upper, i == 0);
		if (of->elements == 0)
			continue;
		t->elements += p->count * of->elements;
		if (!any)
			t->kind = of->kind, t->unit = of->unit;
		else if (t->kind != of->kind || t->unit != of->unit)
			t->kind = GIGARANK_UNTYPED, t->unit = 1;
		if (!any || low + of->first < t->first)
			t->first = low + of->first;
		if (!any || high + of->last > t->last)
			t->last = high + of->last;
		any = 1;
	}
	int64_t rest = (t->upper - t->lower) % t->align;
	if (!t->upper_set && rest)
		t->upper += t->align - rest;
	gigarank_set_density(t);
}

void gigarank_set_bounds(struct gigarank_datatype *t, int64_t lower, int64_t upper) {
	t->lower = lower, t->upper = upper, t->lower_set = t->upper_set = 1;
	t->immense |= beyond(lower) || beyond(upper);
	gigarank_set_density(t);
}

/* packed_type returns the dense type of a type's values in messages, NULL without memory. */
static struct gigarank_datatype *packed_type(struct gigarank_datatype *t) {
	if (t->packed)
		return t->packed;
	struct gigarank_datatype *p = gigarank_new_type(0);
	if (!p)
		return NULL;
	p->bytes = p->upper = p->last = t->bytes, p->elements = t->elements, p->align = 1, p->kind = t->kind, p->unit = t->unit;
	p->solid = p->dense = p->committed = 1, p->stands_for = t;
	return t->packed = p;
}

/* --- copying values -------------------------------------------------------------------- */

struct cursor {
	char *at;
	int64_t left;
};

static inline void move(int out, char *memory, struct cursor *c, int64_t bytes) {
	if (bytes > c->left)
		bytes = c->left;
	if (out)
		memcpy(memory, c->at, (size_t)bytes);
	else
		memcpy(c->at, memory, (size_t)bytes);
	c->at += bytes, c->left -= bytes;
}

/* Elements of equal size at equal distances. The compiler knows the size. */
#define MOVE_ALL(size) \
	do { \
		int64_t whole = c->left / (size) < p->count ? c->left / (size) : p->count; \
		char *packed = c->at; \
		for (int64_t i = 0; i < whole; i++, memory += p->stride, packed += (size)) \
			memcpy(out ? memory : packed, out ? packed : memory, size); \
		c->at = packed, c->left -= whole * (size); \
		if (whole < p->count) \
			move(out, memory, c, size); \
	} while (0)

static void move_value(int out, const struct gigarank_datatype *t, char *base, struct cursor *c) {
	if (t->solid) {
		move(out, base + t->first, c, t->bytes);
		return;
	}
	for (int32_t j = 0; j < t->pieces && c->left > 0; j++) {
		const struct gigarank_piece *p = &t->piece[j];
		const struct gigarank_datatype *of = p->of;
		char *memory = base + p->at;
		if (!of->solid) {
			for (int64_t i = 0; i < p->count && c->left > 0; i++)
				move_value(out, of, memory + i * p->stride, c);
			continue;
		}
		memory += of->first;
		if (p->stride == of->bytes)
			move(out, memory, c, p->count * of->bytes);
		else if (of->bytes == 8)
			MOVE_ALL(8);
		else if (of->bytes == 4)
			MOVE_ALL(4);
		else
			for (int64_t i = 0; i < p->count && c->left > 0; i++, memory += p->stride)
				move(out, memory, c, of->bytes);
	}
}

static void move_values(int out, const struct gigarank_datatype *t, char *base, int64_t count, struct cursor *c) {
	int64_t extent = extent_of(t);
	if (t->solid && extent == t->bytes)
		move(out, base + t->first, c, count * t->bytes);
	else
		for (int64_t i = 0; i < count && c->left > 0; i++)
			move_value(out, t, base + i * extent, c);
}

void gigarank_gather_values(const struct gigarank_datatype *t, const void *buffer, int64_t count, char *packed) {
	struct cursor c = {packed, count * t->bytes};
	move_values(0, t, (char *)buffer, count, &c);
}

void gigarank_scatter_values(const struct gigarank_datatype *t, void *buffer, int64_t count, const char *packed, int64_t bytes) {
	int64_t all = count * t->bytes;
	struct cursor c = {(char *)packed, bytes < all ? bytes : all};
	move_values(1, t, buffer, count, &c);
}

/* --- buffers of calls ------------------------------------------------------------------ */

static void forget(struct gigarank_spread *s) {
	leave_type(s->type);
	for (int64_t i = 0; s->types && i < s->count; i++)
		leave_type(s->types[i]);
	free(s->packed);
	free(s->counts);
	free(s->displacements);
	free(s->types);
	*s = (struct gigarank_spread){0};
}

/* fill copies the values of a buffer to the packed buffer; spill copies back the values in a number of bytes. */
static void fill(struct gigarank_spread *s) {
	if (!s->counts) {
		gigarank_gather_values(s->type, s->buffer, s->count, s->packed);
		return;
	}
	char *at = s->packed;
	for (int64_t i = 0; i < s->count; i++) {
		const struct gigarank_datatype *t = s->types ? s->types[i] : s->type;
		gigarank_gather_values(t, s->buffer + s->displacements[i], s->counts[i], at);
		at += s->counts[i] * t->bytes;
	}
}

static void spill(struct gigarank_spread *s, int64_t bytes) {
	if (!s->counts) {
		gigarank_scatter_values(s->type, s->buffer, s->count, s->packed, bytes);
		return;
	}
	const char *at = s->packed;
	for (int64_t i = 0; i < s->count; i++) {
		const struct gigarank_datatype *t = s->types ? s->types[i] : s->type;
		gigarank_scatter_values(t, s->buffer + s->displacements[i], s->counts[i], at, s->counts[i] * t->bytes);
		at += s->counts[i] * t->bytes;
	}
}

static int no_memory(int procedure, int64_t bytes) {
	return refuse(procedure, MPI_ERR_NO_MEM, "no memory to pack %lld bytes", (long long)bytes);
}

/* open_packed makes the packed buffer of a spread buffer, with its contents. */
static int open_packed(int procedure, struct gigarank_spread *s) {
	s->packed = malloc((size_t)s->bytes + 1);
	if (!s->packed)
		return no_memory(procedure, s->bytes);
	fill(s);
	return MPI_SUCCESS;
}

static int pack(int procedure, struct gigarank_spread *s, void **buffer, int64_t count, MPI_Datatype *type) {
	struct gigarank_datatype *t = gigarank_type(*type);
	if (!t || t->dense || !t->committed)
		return MPI_SUCCESS; /* or an error, which the call finds */
	struct gigarank_datatype *p = packed_type(t);
	if (!p)
		return no_memory(procedure, 0);
	*type = gigarank_type_handle(p);
	if (*buffer == MPI_IN_PLACE || count <= 0 || t->bytes == 0)
		return MPI_SUCCESS;
	if (t->solid && (count == 1 || extent_of(t) == t->bytes)) {
		*buffer = (char *)*buffer + t->first;
		return MPI_SUCCESS;
	}
	int64_t bytes, reach;
	if (__builtin_mul_overflow(count, t->bytes, &bytes) || __builtin_mul_overflow(count, extent_of(t), &reach) || bytes > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %lld values of %lld byte%s is more than memory holds", (long long)count, (long long)t->bytes, plural(t->bytes));
	*s = (struct gigarank_spread){.buffer = *buffer, .count = count, .type = gigarank_use_type(t), .bytes = bytes};
	CHECK(open_packed(procedure, s));
	*buffer = s->packed;
	return MPI_SUCCESS;
}

int gigarank_pack_in(int procedure, struct gigarank_packing *p, const void **buffer, int64_t count, MPI_Datatype *type) {
	return pack(procedure, &p->in, (void **)buffer, count, type);
}

int gigarank_pack_out(int procedure, struct gigarank_packing *p, void **buffer, int64_t count, MPI_Datatype *type) {
	return pack(procedure, &p->out, buffer, count, type);
}

/* set_blocks stores the blocks of a spread buffer. */
static int set_blocks(int procedure, struct gigarank_spread *s, int32_t n, struct gigarank_numbers counts) {
	s->count = n;
	s->counts = calloc((size_t)n + 1, sizeof *s->counts);
	s->displacements = calloc((size_t)n + 1, sizeof *s->displacements);
	if (!s->counts || !s->displacements)
		return no_memory(procedure, n);
	for (int32_t i = 0; i < n; i++) {
		if ((s->counts[i] = gigarank_number_at(counts, i)) < 0)
			return refuse(procedure, MPI_ERR_COUNT, "a count of %lld for member %d", (long long)s->counts[i], i);
	}
	return MPI_SUCCESS;
}

static int pack_blocks(int procedure, struct gigarank_spread *s, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type) {
	struct gigarank_datatype *t = gigarank_type(*type);
	if (!t || t->dense || !t->committed)
		return MPI_SUCCESS;
	struct gigarank_datatype *p = packed_type(t);
	if (!p)
		return no_memory(procedure, 0);
	*type = gigarank_type_handle(p);
	if (*buffer == MPI_IN_PLACE)
		return MPI_SUCCESS;
	*s = (struct gigarank_spread){.buffer = *buffer, .type = gigarank_use_type(t)};
	CHECK(set_blocks(procedure, s, n, counts));
	for (int32_t i = 0; i < n; i++) {
		s->displacements[i] = gigarank_number_at(*displacements, i) * extent_of(t);
		int64_t bytes;
		CHECK(gigarank_bytes_of(procedure, s->counts[i], *type, &bytes));
		CHECK(gigarank_add_up(procedure, &s->bytes, bytes));
	}
	CHECK(open_packed(procedure, s));
	*buffer = s->packed, *displacements = (struct gigarank_numbers){0};
	return MPI_SUCCESS;
}

int gigarank_pack_blocks_in(int procedure, struct gigarank_packing *p, const void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type) {
	return pack_blocks(procedure, &p->in, (void **)buffer, n, counts, displacements, type);
}

int gigarank_pack_blocks_out(int procedure, struct gigarank_packing *p, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type) {
	return pack_blocks(procedure, &p->out, buffer, n, counts, displacements, type);
}

static int pack_each(int procedure, struct gigarank_spread *s, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]) {
	*s = (struct gigarank_spread){.buffer = *buffer};
	if (!(s->types = calloc((size_t)n + 1, sizeof *s->types)))
		return no_memory(procedure, n);
	CHECK(set_blocks(procedure, s, n, counts));
	for (int32_t i = 0; i < n; i++) {
		CHECK(gigarank_bytes_of(procedure, s->counts[i], types[i], &bytes[i]));
		s->types[i] = gigarank_use_type(gigarank_type(types[i]));
		s->displacements[i] = gigarank_number_at(displacements, i);
		CHECK(gigarank_add_up(procedure, &s->bytes, bytes[i]));
	}
	CHECK(open_packed(procedure, s));
	*buffer = s->packed;
	return MPI_SUCCESS;
}

int gigarank_pack_each_in(int procedure, struct gigarank_packing *p, const void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]) {
	return pack_each(procedure, &p->in, (void **)buffer, n, counts, displacements, types, bytes);
}

int gigarank_pack_each_out(int procedure, struct gigarank_packing *p, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]) {
	return pack_each(procedure, &p->out, buffer, n, counts, displacements, types, bytes);
}

/* The packed buffers of a request, which it copies back and frees when it is over. */
struct kept {
	struct gigarank_packing packing;
	void (*after)(void *, int64_t);
	void *what;
};

/* arrived ends the use of packed buffers. Of a collective all bytes count. */
static void arrived(void *what, int64_t bytes) {
	struct kept *k = what;
	if (k->after)
		k->after(k->what, bytes);
	if (k->packing.out.packed)
		spill(&k->packing.out, k->packing.out.bytes);
	forget(&k->packing.in);
	forget(&k->packing.out);
	free(k);
}

int gigarank_unpack(struct gigarank_packing *p, int error, MPI_Request *request) {
	struct kept *kept = NULL;
	if (request && !error && (p->in.packed || p->out.packed) && !(kept = malloc(sizeof *kept))) {
		PMPI_Wait(request, MPI_STATUS_IGNORE);
		error = no_memory(GIGARANK_NONE, (int64_t)sizeof *kept);
	}
	if (kept) {
		struct gigarank_request *q = gigarank_find_request(*request);
		*kept = (struct kept){*p, q->after, q->what};
		q->after = arrived, q->what = kept;
		return MPI_SUCCESS;
	}
	if (!error && p->out.packed)
		spill(&p->out, p->out.bytes);
	forget(&p->in);
	forget(&p->out);
	return error;
}

/* --- point to point -------------------------------------------------------------------- */

void gigarank_lay(struct gigarank_layout *l, const void **buffer, int64_t count, MPI_Datatype type) {
	struct gigarank_datatype *t = gigarank_type(type);
	if (t->dense || count * t->bytes == 0)
		return;
	if (t->solid && (count == 1 || extent_of(t) == t->bytes))
		*buffer = (const char *)*buffer + t->first;
	else
		*l = (struct gigarank_layout){(void *)*buffer, count, t};
}

int gigarank_pack_call(struct gigarank_call *c) {
	if (c->from.type) {
		void *packed = malloc((size_t)c->bytes + 1);
		if (!packed)
			return no_memory(c->procedure, c->bytes);
		gigarank_gather_values(c->from.type, c->from.buffer, c->from.count, packed);
		c->input = packed;
	}
	if (c->to.type && !(c->output = malloc((size_t)c->room + 1))) {
		if (c->from.type)
			free((void *)c->input);
		return no_memory(c->procedure, c->room);
	}
	return MPI_SUCCESS;
}

void gigarank_drop_packed(struct gigarank_call *c, int in, int out) {
	if (in && c->from.type)
		free((void *)c->input);
	if (out && c->to.type)
		free(c->output);
}

int gigarank_transfer(struct gigarank_call *c) {
	CHECK(gigarank_pack_call(c));
	char *packed = c->output;
	const void *sent = c->input;
	gigarank_trap(c);
	c->input = sent, c->output = packed;
	if (!c->error && c->to.type)
		gigarank_scatter_values(c->to.type, c->to.buffer, c->to.count, packed, c->status.bytes);
	gigarank_drop_packed(c, 1, 1);
	return c->error;
}

/* A receive that goes on after its call. */
struct receiving {
	struct gigarank_layout to;
	char *packed;
	void (*after)(void *, int64_t);
	void *what;
};

static void received(void *what, int64_t bytes) {
	struct receiving *r = what;
	if (r->after)
		r->after(r->what, bytes);
	if (bytes >= 0)
		gigarank_scatter_values(r->to.type, r->to.buffer, r->to.count, r->packed, bytes);
	leave_type(r->to.type);
	free(r->packed);
	free(r);
}

void gigarank_receive_later(struct gigarank_request *q, const struct gigarank_layout *to, void *packed) {
	struct receiving *r = gigarank_enlarged(NULL, sizeof *r);
	*r = (struct receiving){*to, packed, q->after, q->what};
	gigarank_use_type(to->type);
	q->after = received, q->what = r;
}

void gigarank_keep_layouts(struct gigarank_call *c) {
	if (c->from.type)
		gigarank_use_type(c->from.type);
	if (c->to.type)
		gigarank_use_type(c->to.type);
}

void gigarank_leave_layouts(struct gigarank_call *c) {
	leave_type(c->from.type);
	leave_type(c->to.type);
}
