/* Datatypes. A type is a tree of pieces, as in package datatype: bounds, padding and the order
 * of elements follow MPI 4.1, chapter 5. */
#include "mpi/datatypes.h"
#include "mpi/basic_types.h"
#include "mpi/objects.h"
#include "rank/hooks.h"

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

MPI_Datatype gigarank_pair(MPI_Datatype value, MPI_Datatype index) {
	for (int i = 0; i < PAIRS; i++)
		if (pairs[i].value == value && pairs[i].index == index)
			return pairs[i].pair;
	return MPI_DATATYPE_NULL;
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

void gigarank_unuse_type(struct gigarank_datatype *t) {
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
		gigarank_unuse_type(t->piece[i].of);
	for (int32_t i = 0; i < t->parts; i++)
		gigarank_unuse_type(t->part[i]);
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

struct gigarank_datatype *gigarank_packed_type(struct gigarank_datatype *t) {
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
	int64_t extent = gigarank_extent(t);
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

void gigarank_keep_layouts(struct gigarank_call *c) {
	if (c->from.type)
		gigarank_use_type(c->from.type);
	if (c->to.type)
		gigarank_use_type(c->to.type);
}

void gigarank_leave_layouts(struct gigarank_call *c) {
	gigarank_unuse_type(c->from.type);
	gigarank_unuse_type(c->to.type);
}
