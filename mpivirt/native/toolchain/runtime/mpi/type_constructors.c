/* The functions that make datatypes and tell of them. */
#include "mpi/type_constructors.h"
#include "mpi/arguments.h"
#include "mpi/attributes.h"
#include "mpi/datatypes.h"
#include "mpi/objects.h"
#include "rank/running.h"
#include "rank/unread.h"

#include <limits.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* These macros name the function of MPI in which they stand. */
#define part(...) part_of(__func__, __VA_ARGS__)
#define known(...) known_of(__func__, __VA_ARGS__)
#define made(...) made_of(__func__, __VA_ARGS__)
#define ready(...) ready_of(__func__, __VA_ARGS__)
#define check_order(order) check_order_of(__func__, order)
#define wrong_count(what, n) refuse(GIGARANK_NONE, MPI_ERR_COUNT, "%s of %lld", what, (long long)(n))
#define wrong(what, i, n) refuse(GIGARANK_NONE, MPI_ERR_ARG, "%s[%d] is %lld", what, i, (long long)(n))

/* part finds a type that another is made of. */
static int part_of(const char *function, MPI_Datatype handle, struct gigarank_datatype **t) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	*t = gigarank_type(handle);
	if (*t)
		return MPI_SUCCESS;
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL ? "the type is MPI_DATATYPE_NULL" : "the handle is no type, or it has been freed");
}

static int no_memory(const char *function) { return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a type"); }

/* made_of finishes the type of a constructor, with room for the constructor's arguments. Parts of the type are
 * the datatypes among them. It stores the handle. */
static int made_of(const char *function, struct gigarank_datatype *t, int combiner, int64_t integers, int64_t addresses, int64_t counts, int parts, MPI_Datatype *handle) {
	*handle = MPI_DATATYPE_NULL;
	if (!t)
		return no_memory(function);
	if (t->immense || integers > INT_MAX || counts > INT_MAX) {
		gigarank_drop_handle(t);
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COUNT, "the type reaches further than memory does");
	}
	t->combiner = combiner;
	t->integer = calloc((size_t)integers + 1, sizeof *t->integer);
	t->address = calloc((size_t)addresses + 1, sizeof *t->address);
	t->count = calloc((size_t)counts + 1, sizeof *t->count);
	t->part = calloc((size_t)parts + 1, sizeof *t->part);
	if (!t->integer || !t->address || !t->count || !t->part) {
		gigarank_drop_handle(t);
		return no_memory(function);
	}
	*handle = gigarank_type_handle(t);
	return MPI_SUCCESS;
}

/* These keep the arguments of a constructor, one after the other. */
static void keep_integer(struct gigarank_datatype *t, int value) { t->integer[t->integers++] = value; }

static void keep_integers(struct gigarank_datatype *t, int n, const int values[]) {
	for (int i = 0; i < n; i++)
		keep_integer(t, values[i]);
}

static void keep_number(struct gigarank_datatype *t, int large, int64_t value) {
	if (large)
		t->count[t->counts++] = value;
	else
		keep_integer(t, (int)value);
}

static void keep_distance(struct gigarank_datatype *t, int large, int64_t value) {
	if (large)
		t->count[t->counts++] = value;
	else
		t->address[t->addresses++] = value;
}
static void keep_part(struct gigarank_datatype *t, struct gigarank_datatype *of) { t->part[t->parts++] = gigarank_use_type(of); }

/* one returns a type with one piece. */
static struct gigarank_datatype *one(int64_t at, int64_t count, int64_t stride, struct gigarank_datatype *of) {
	struct gigarank_datatype *t = gigarank_new_type(1);
	if (t) {
		gigarank_add_piece(t, at, count, stride, of);
		gigarank_seal_type(t);
	}
	return t;
}

/* strided returns blocks of values at equal distances. */
static struct gigarank_datatype *strided(int64_t count, int64_t length, int64_t stride, struct gigarank_datatype *of) {
	struct gigarank_datatype *block = one(0, length, gigarank_extent(of), of), *t = block ? one(0, count, stride, block) : NULL;
	if (block)
		gigarank_drop_handle(block);
	return t;
}

/* times and plus return a product and a sum, or a number further than memory reaches. */
static int64_t times(int64_t a, int64_t b) {
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* in_array returns a type as a part of an array of a number of bytes: its bounds are the bounds of
 * the array. */
static struct gigarank_datatype *in_array(struct gigarank_datatype *inner, int64_t at, int64_t bytes) {
	struct gigarank_datatype *t = inner ? one(at, 1, 0, inner) : NULL;
	if (inner)
		gigarank_drop_handle(inner);
	if (t)
		gigarank_set_bounds(t, 0, bytes);
	return t;
}

static int check_order_of(const char *function, int order) {
	return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN ? MPI_SUCCESS : gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "an order of %d", order);
}

/* dealt returns the share of a process in a dimension of an array: blocks of block
 * indices are dealt out in turn. */
static struct gigarank_datatype *dealt(int64_t size, int64_t block, int processes, int place, int64_t stride, struct gigarank_datatype *of) {
	int64_t round = times(block, processes), first = times(block, place);
	int64_t rest = size > first ? size - first : 0; /* from the first index on */
	int64_t whole = rest / round + (rest % round >= block), left = rest % round < block ? rest % round : 0;
	struct gigarank_datatype *full = one(0, block, stride, of), *t = full ? gigarank_new_type(2) : NULL;
	if (t) {
		gigarank_add_piece(t, times(first, stride), whole, times(round, stride), full);
		gigarank_add_piece(t, times(plus(first, times(whole, round)), stride), left, stride, of);
		gigarank_seal_type(t);
	}
	if (full)
		gigarank_drop_handle(full);
	return t;
}

/* A list of blocks: the one length of all blocks, or the length of each; the displacements in extents, or in
 * bytes. */
struct list {
	int64_t count, length;
	struct gigarank_numbers lengths, displacements;
	const MPI_Aint *bytes;
	int even;
};

static int64_t length_at(const struct list *l, int64_t i) { return l->even ? l->length : gigarank_number_at(l->lengths, i); }

/* listed makes a type of a list for a function, whose counts and displacements are large or not. */
static int listed(const char *function, int large, const struct list *l, int combiner, MPI_Datatype old, MPI_Datatype *new) {
	struct gigarank_datatype *of;
	CHECK(part_of(function, old, &of));
	if (l->count < 0 || l->count > INT_MAX)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COUNT, "a count of %lld", (long long)l->count);
	if (l->count > 0 && !l->even && !gigarank_has_numbers(l->lengths))
		return gigarank_missing(function, MPI_ERR_ARG, "array_of_blocklengths");
	if (l->count > 0 && !l->bytes && !gigarank_has_numbers(l->displacements))
		return gigarank_missing(function, MPI_ERR_ARG, "array_of_displacements");
	for (int64_t i = 0; i < (l->even ? 1 : l->count); i++)
		if (length_at(l, i) < 0)
			return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COUNT, "a block length of %lld", (long long)length_at(l, i));
	struct gigarank_datatype *t = gigarank_new_type((int32_t)l->count);
	if (t) {
		for (int64_t i = 0; i < l->count; i++)
			gigarank_add_piece(t, l->bytes ? l->bytes[i] : times(gigarank_number_at(l->displacements, i), gigarank_extent(of)), length_at(l, i), gigarank_extent(of), of);
		gigarank_seal_type(t);
	}
	int64_t counts = 1 + (l->even ? 1 : l->count) + (l->bytes ? 0 : l->count), bytes = l->bytes ? l->count : 0;
	CHECK(made_of(function, t, combiner, large ? 0 : counts, large ? 0 : bytes, large ? counts + bytes : 0, 1, new));
	keep_number(t, large, l->count);
	for (int64_t i = 0; i < (l->even ? 1 : l->count); i++)
		keep_number(t, large, length_at(l, i));
	for (int64_t i = 0; i < l->count; i++)
		if (l->bytes)
			keep_distance(t, large, l->bytes[i]);
		else
			keep_number(t, large, gigarank_number_at(l->displacements, i));
	keep_part(t, of);
	return MPI_SUCCESS;
}

#define KEEP(t, value) keep_number(t, LARGE, value)
#define KEEP_ALL(t, n, values) \
	for (int i = 0; i < (n); i++) \
		KEEP(t, (values)[i])
#define KEEP_DISTANCE(t, value) keep_distance(t, LARGE, value)
#define MADE(t, combiner, integers, counts, distances, parts, new) \
	made(t, combiner, (integers) + (LARGE ? 0 : (counts)), LARGE ? 0 : (distances), LARGE ? (counts) + (distances) : 0, parts, new)

#include "mpi/counts_small.h"
#include "mpi/counted_types.h"
#include "mpi/counts_large.h"
#include "mpi/counted_types.h"

MPI(MPI_Type_dup, MPI_Datatype old, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_TYPE);
	struct gigarank_datatype *of, *t;
	CHECK(part(old, &of));
	t = one(0, 1, 0, of);
	if (t) {
		t->lower = of->lower, t->upper = of->upper, t->lower_set = of->lower_set, t->upper_set = of->upper_set;
		t->align = of->align, t->committed = of->committed;
		gigarank_set_density(t);
	}
	CHECK(made(t, MPI_COMBINER_DUP, 0, 0, 0, 1, new));
	keep_part(t, of);
	int error = gigarank_copy_type_attributes(old, of, t);
	if (error)
		PMPI_Type_free(new);
	return error;
}

MPI(MPI_Type_commit, MPI_Datatype *type) {
	GIVEN(type, "datatype", MPI_ERR_TYPE);
	struct gigarank_datatype *t;
	CHECK(part(*type, &t));
	if (!t->predefined)
		t->committed = 1;
	return MPI_SUCCESS;
}

/* freeable reports whether a program may free the handle of a type. */
static int freeable(const struct gigarank_datatype *t) {
	return !t->predefined && (t->combiner < MPI_COMBINER_F90_REAL || t->combiner > MPI_COMBINER_F90_INTEGER);
}

struct gigarank_datatype *gigarank_hold_type(MPI_Datatype handle) {
	struct gigarank_datatype *t = gigarank_type(handle);
	if (!t || !freeable(t))
		return NULL;
	gigarank_use_type(t)->object.handles++;
	return t;
}

void gigarank_leave_type(struct gigarank_datatype *t) {
	MPI_Datatype handle = gigarank_type_handle(t);
	PMPI_Type_free(&handle);
}

MPI(MPI_Type_free, MPI_Datatype *type) {
	GIVEN(type, "datatype", MPI_ERR_TYPE);
	struct gigarank_datatype *t;
	CHECK(part(*type, &t));
	if (!freeable(t))
		return refuse(GIGARANK_NONE, MPI_ERR_TYPE, "a predefined type cannot be freed");
	if (t->object.handles == 1)
		CHECK(gigarank_drop_type_attributes(__func__, t));
	gigarank_drop_handle(t);
	*type = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}

/* --- inquiries about types ------------------------------------------------------------------- */

/* known is part for functions that may be called at any time, also in reduction operations. */
static int known_of(const char *function, MPI_Datatype handle, struct gigarank_datatype **t) {
	*t = gigarank_type(handle);
	return *t ? MPI_SUCCESS : part_of(function, handle, t);
}

MPI(MPI_Type_size, MPI_Datatype type, int *size) {
	GIVEN(size, "size", MPI_ERR_ARG);
	struct gigarank_datatype *t;
	CHECK(known(type, &t));
	*size = t->bytes > INT_MAX ? MPI_UNDEFINED : (int)t->bytes;
	return MPI_SUCCESS;
}

MPI(MPI_Type_size_x, MPI_Datatype type, MPI_Count *size) {
	GIVEN(size, "size", MPI_ERR_ARG);
	struct gigarank_datatype *t;
	CHECK(known(type, &t));
	*size = t->bytes;
	return MPI_SUCCESS;
}

#define EXTENTS(name, true_name, number) \
	MPI(name, MPI_Datatype type, number *low, number *extent) { \
		GIVEN(low, "lb", MPI_ERR_ARG); \
		GIVEN(extent, "extent", MPI_ERR_ARG); \
		struct gigarank_datatype *t; \
		CHECK(known(type, &t)); \
		*low = t->lower, *extent = t->upper - t->lower; \
		return MPI_SUCCESS; \
	} \
	MPI(true_name, MPI_Datatype type, number *low, number *extent) { \
		GIVEN(low, "true_lb", MPI_ERR_ARG); \
		GIVEN(extent, "true_extent", MPI_ERR_ARG); \
		struct gigarank_datatype *t; \
		CHECK(known(type, &t)); \
		*low = t->first, *extent = t->last - t->first; \
		return MPI_SUCCESS; \
	}
EXTENTS(MPI_Type_get_extent, MPI_Type_get_true_extent, MPI_Aint)
EXTENTS(MPI_Type_get_extent_x, MPI_Type_get_true_extent_x, MPI_Count)
EXTENTS(MPI_Type_get_extent_c, MPI_Type_get_true_extent_c, MPI_Count)

MPI(MPI_Type_size_c, MPI_Datatype type, MPI_Count *size) { return PMPI_Type_size_x(type, size); }

/* A type with large counts has no contents in the form with int counts: told_whole refuses that. */
static int told_whole(const char *function, const struct gigarank_datatype *t, int large) {
	if (large || !t->counts)
		return MPI_SUCCESS;
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TYPE, "the type was made with large counts: ask by the function whose name ends in _c");
}

static int envelope(const char *function, int large, MPI_Datatype type, int64_t numbers[4], int *combiner) {
	struct gigarank_datatype *t;
	CHECK(part_of(function, type, &t));
	CHECK(told_whole(function, t, large));
	numbers[0] = t->integers, numbers[1] = t->addresses, numbers[2] = t->counts, numbers[3] = t->parts;
	*combiner = t->combiner;
	return MPI_SUCCESS;
}

MPI(MPI_Type_get_envelope, MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner) {
	GIVEN(integers, "num_integers", MPI_ERR_ARG);
	GIVEN(addresses, "num_addresses", MPI_ERR_ARG);
	GIVEN(types, "num_datatypes", MPI_ERR_ARG);
	GIVEN(combiner, "combiner", MPI_ERR_ARG);
	int64_t n[4];
	CHECK(envelope(__func__, 0, type, n, combiner));
	*integers = (int)n[0], *addresses = (int)n[1], *types = (int)n[3];
	return MPI_SUCCESS;
}

MPI(MPI_Type_get_envelope_c, MPI_Datatype type, MPI_Count *integers, MPI_Count *addresses, MPI_Count *counts, MPI_Count *types, int *combiner) {
	int64_t n[4];
	CHECK(envelope(__func__, 1, type, n, combiner));
	*integers = n[0], *addresses = n[1], *counts = n[2], *types = n[3];
	return MPI_SUCCESS;
}

static int contents(const char *function, int large, MPI_Datatype type, const int64_t room[4], int integer[], MPI_Aint address[], MPI_Count count[], MPI_Datatype parts[]) {
	struct gigarank_datatype *t;
	CHECK(part_of(function, type, &t));
	CHECK(told_whole(function, t, large));
	if (t->combiner == MPI_COMBINER_NAMED)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TYPE, "a predefined type has no contents");
	if (room[0] < t->integers || room[1] < t->addresses || room[2] < t->counts || room[3] < t->parts)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "room for %lld integers, %lld addresses, %lld large counts and %lld types where there are %d, %d, %d and %d",
			(long long)room[0], (long long)room[1], (long long)room[2], (long long)room[3], t->integers, t->addresses, t->counts, t->parts);
	memcpy(integer, t->integer, (size_t)t->integers * sizeof *integer);
	memcpy(address, t->address, (size_t)t->addresses * sizeof *address);
	if (t->counts)
		memcpy(count, t->count, (size_t)t->counts * sizeof *count);
	for (int32_t i = 0; i < t->parts; i++) {
		struct gigarank_datatype *of = gigarank_use_type(t->part[i]);
		if (!of->predefined)
			of->object.handles++;
		parts[i] = gigarank_type_handle(of);
	}
	return MPI_SUCCESS;
}

MPI(MPI_Type_get_contents, MPI_Datatype type, int integers, int addresses, int types, int integer[], MPI_Aint address[], MPI_Datatype parts[]) {
	return contents(__func__, 0, type, (int64_t[]){integers, addresses, 0, types}, integer, address, NULL, parts);
}

MPI(MPI_Type_get_contents_c, MPI_Datatype type, MPI_Count integers, MPI_Count addresses, MPI_Count counts, MPI_Count types, int integer[], MPI_Aint address[], MPI_Count count[], MPI_Datatype parts[]) {
	return contents(__func__, 1, type, (int64_t[]){integers, addresses, counts, types}, integer, address, count, parts);
}

MPI(MPI_Type_get_name, MPI_Datatype type, char *name, int *length) {
	GIVEN(name, "type_name", MPI_ERR_ARG);
	GIVEN(length, "resultlen", MPI_ERR_ARG);
	struct gigarank_datatype *t;
	CHECK(part(type, &t));
	const char *given = t->predefined ? t->basic : t->name;
	*length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", given ? given : "");
	return MPI_SUCCESS;
}

MPI(MPI_Type_set_name, MPI_Datatype type, const char *name) {
	GIVEN(name, "type_name", MPI_ERR_ARG);
	struct gigarank_datatype *t;
	CHECK(part(type, &t));
	if (t->predefined)
		return refuse(GIGARANK_NONE, MPI_ERR_TYPE, "%s keeps its name", t->basic);
	char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
	if (!copy)
		return no_memory(__func__);
	free(t->name);
	t->name = copy;
	return MPI_SUCCESS;
}

MPI(MPI_Type_match_size, int class_, int size, MPI_Datatype *type) {
	GIVEN(type, "datatype", MPI_ERR_ARG);
	static const struct { int class_, size; MPI_Datatype type; } all[] = {
		{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1}, {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2}, {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4}, {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
		{MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 4, MPI_REAL4}, {MPI_TYPECLASS_REAL, 8, MPI_REAL8}, {MPI_TYPECLASS_REAL, 16, MPI_REAL16},
		{MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}, {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
	};
	CHECK(active(GIGARANK_NONE));
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].class_ == class_ && all[i].size == size) {
			*type = all[i].type;
			return MPI_SUCCESS;
		}
	return refuse(GIGARANK_NONE, MPI_ERR_ARG, "no type of class %d has %d byte%s", class_, size, plural(size));
}

/* Of the pairs that the standard allows, native ranks have those with a name: the others are MPI_DATATYPE_NULL (MPI 4.1, 6.9.4). */
MPI(MPI_Type_get_value_index, MPI_Datatype value, MPI_Datatype index, MPI_Datatype *pair) {
	GIVEN(pair, "pair_type", MPI_ERR_ARG);
	struct gigarank_datatype *t;
	CHECK(part(value, &t));
	CHECK(part(index, &t));
	*pair = gigarank_pair(value, index);
	return MPI_SUCCESS;
}

/* f90 returns a type whose values have a decimal precision and range. The type is predefined, so
 * that each call with the same arguments returns the same type. */
static int f90(const char *function, int combiner, int precision, int range, MPI_Datatype basic, MPI_Datatype *new) {
	struct gigarank_engine *e = gigarank_current;
	CHECK(gigarank_active(function, GIGARANK_NONE));
	if (combiner != MPI_COMBINER_F90_INTEGER && precision == MPI_UNDEFINED && range == MPI_UNDEFINED)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "both precision and range are MPI_UNDEFINED: give one of them");
	if (basic == MPI_DATATYPE_NULL)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "no type has a precision of %d and a range of %d", precision, range);
	struct gigarank_datatype *of = gigarank_type(basic), *t;
	for (int32_t i = 0; i < e->object_count; i++) {
		t = (struct gigarank_datatype *)e->objects[i];
		if (t->object.kind == GIGARANK_DATATYPE && t->combiner == combiner && t->integer[0] == (combiner == MPI_COMBINER_F90_INTEGER ? range : precision)
			&& (combiner == MPI_COMBINER_F90_INTEGER || t->integer[1] == range)) {
			*new = gigarank_type_handle(t);
			return MPI_SUCCESS;
		}
	}
	CHECK(made_of(function, t = one(0, 1, 0, of), combiner, combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2, 0, 0, 0, new));
	t->element = of->element, t->committed = 1;
	keep_integer(t, combiner == MPI_COMBINER_F90_INTEGER ? range : precision);
	if (combiner != MPI_COMBINER_F90_INTEGER)
		keep_integer(t, range);
	return MPI_SUCCESS;
}

/* kind_of returns the bytes of the smallest IEEE number with a precision and a range. */
static int kind_of(int precision, int range) {
	int p = precision == MPI_UNDEFINED ? 0 : precision, r = range == MPI_UNDEFINED ? 0 : range;
	return p <= 6 && r <= 37 ? 4 : p <= 15 && r <= 307 ? 8 : p <= 33 && r <= 4931 ? 16 : 0;
}

MPI(MPI_Type_create_f90_real, int precision, int range, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_ARG);
	int kind = kind_of(precision, range);
	return f90(__func__, MPI_COMBINER_F90_REAL, precision, range, kind == 4 ? MPI_REAL4 : kind == 8 ? MPI_REAL8 : kind == 16 ? MPI_REAL16 : MPI_DATATYPE_NULL, new);
}

MPI(MPI_Type_create_f90_complex, int precision, int range, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_ARG);
	int kind = kind_of(precision, range);
	return f90(__func__, MPI_COMBINER_F90_COMPLEX, precision, range, kind == 4 ? MPI_COMPLEX8 : kind == 8 ? MPI_COMPLEX16 : kind == 16 ? MPI_COMPLEX32 : MPI_DATATYPE_NULL, new);
}

MPI(MPI_Type_create_f90_integer, int range, MPI_Datatype *new) {
	GIVEN(new, "newtype", MPI_ERR_ARG);
	return f90(__func__, MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, range, range <= 2 ? MPI_INTEGER1 : range <= 4 ? MPI_INTEGER2 : range <= 9 ? MPI_INTEGER4 : range <= 18 ? MPI_INTEGER8 : range <= 38 ? MPI_INTEGER16 : MPI_DATATYPE_NULL, new);
}

/* --- counts of statuses ----------------------------------------------------------------- */

static int64_t bytes_in(const MPI_Status *status) {
	int64_t bytes;
	memcpy(&bytes, &status->MPI_internal[0], sizeof bytes);
	return bytes;
}

/* count_basic returns the number of basic elements in the first bytes of a value, -1 if the bytes end within an
 * element. It subtracts the bytes. */
static int64_t count_basic(const struct gigarank_datatype *t, int64_t *bytes) {
	if (*bytes == 0 || t->elements == 0)
		return 0;
	if (t->pieces == 0) {
		const struct gigarank_datatype *real = t->stands_for ? t->stands_for : t;
		if (real != t)
			return count_basic(real, bytes);
		*bytes -= t->bytes;
		return *bytes < 0 ? -1 : 1;
	}
	int64_t n = 0;
	for (int32_t j = 0; j < t->pieces && *bytes > 0; j++) {
		const struct gigarank_piece *p = &t->piece[j];
		int64_t whole = p->of->bytes ? *bytes / p->of->bytes : 0;
		if (whole > p->count)
			whole = p->count;
		n += whole * p->of->elements;
		*bytes -= whole * p->of->bytes;
		if (whole < p->count && *bytes > 0) {
			int64_t rest = count_basic(p->of, bytes);
			if (rest < 0)
				return -1;
			n += rest;
		}
	}
	return n;
}

/* elements_in returns the number of basic elements of a status, MPI_UNDEFINED if its bytes end
 * within an element. */
static int64_t elements_in(const MPI_Status *status, const struct gigarank_datatype *t) {
	int64_t bytes = bytes_in(status);
	if (t->bytes == 0)
		return bytes == 0 ? 0 : MPI_UNDEFINED;
	int64_t whole = bytes / t->bytes, rest = bytes % t->bytes, n = count_basic(t, &rest);
	return n < 0 || rest < 0 ? MPI_UNDEFINED : whole * t->elements + n;
}

static int64_t values_in(const MPI_Status *status, const struct gigarank_datatype *t) {
	int64_t bytes = bytes_in(status);
	return bytes == 0 ? 0 : t->bytes == 0 || bytes % t->bytes ? MPI_UNDEFINED : bytes / t->bytes;
}

#define COUNTS(name, number, counted, most) \
	MPI(name, const MPI_Status *status, MPI_Datatype type, number *count) { \
		struct gigarank_datatype *t; \
		GIVEN(status, "status", MPI_ERR_ARG); \
		GIVEN(count, "count", MPI_ERR_ARG); \
		CHECK(known(type, &t)); \
		int64_t n = counted(status, t); \
		*count = n > most ? MPI_UNDEFINED : (number)n; \
		return MPI_SUCCESS; \
	}
COUNTS(MPI_Get_count, int, values_in, INT_MAX)
COUNTS(MPI_Get_count_c, MPI_Count, values_in, INT64_MAX)
COUNTS(MPI_Get_elements, int, elements_in, INT_MAX)
COUNTS(MPI_Get_elements_x, MPI_Count, elements_in, INT64_MAX)
COUNTS(MPI_Get_elements_c, MPI_Count, elements_in, INT64_MAX)

/* add_bytes adds the bytes of the first basic elements of a value. It subtracts the elements. */
static void add_bytes(const struct gigarank_datatype *t, int64_t *elements, int64_t *bytes) {
	if (*elements == 0)
		return;
	if (t->pieces == 0) {
		*bytes += t->bytes, *elements -= 1;
		return;
	}
	for (int32_t j = 0; j < t->pieces && *elements > 0; j++) {
		const struct gigarank_piece *p = &t->piece[j];
		int64_t whole = p->of->elements ? *elements / p->of->elements : 0;
		if (whole > p->count)
			whole = p->count;
		*bytes += whole * p->of->bytes, *elements -= whole * p->of->elements;
		if (whole < p->count)
			add_bytes(p->of, elements, bytes);
	}
}

/* set_elements stores a number of basic elements of a type in a status. */
static int set_elements(const char *function, MPI_Status *status, MPI_Datatype type, int64_t count) {
	struct gigarank_datatype *t;
	if (!status)
		return gigarank_missing(function, MPI_ERR_ARG, "status");
	CHECK(part_of(function, type, &t));
	if (count < 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COUNT, "%lld elements", (long long)count);
	int64_t bytes = t->elements ? count / t->elements * t->bytes : 0, rest = t->elements ? count % t->elements : 0;
	add_bytes(t, &rest, &bytes);
	memcpy(&status->MPI_internal[0], &bytes, sizeof bytes);
	return MPI_SUCCESS;
}

MPI(MPI_Status_set_elements, MPI_Status *status, MPI_Datatype type, int count) { return set_elements(__func__, status, type, count); }
MPI(MPI_Status_set_elements_x, MPI_Status *status, MPI_Datatype type, MPI_Count count) { return set_elements(__func__, status, type, count); }
MPI(MPI_Status_set_elements_c, MPI_Status *status, MPI_Datatype type, MPI_Count count) { return set_elements(__func__, status, type, count); }

/* --- packing by the program --------------------------------------------------------------- */

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint displacement) { return base + displacement; }
MPI_Aint PMPI_Aint_diff(MPI_Aint one, MPI_Aint other) { return one - other; }
MPI_Aint MPI_Aint_add(MPI_Aint, MPI_Aint) __attribute__((weak, alias("PMPI_Aint_add")));
MPI_Aint MPI_Aint_diff(MPI_Aint, MPI_Aint) __attribute__((weak, alias("PMPI_Aint_diff")));

/* ready checks the arguments of a function that packs or unpacks between positions. */
static int ready_of(const char *function, int64_t count, MPI_Datatype type, int64_t bytes, int64_t room, int64_t position, struct gigarank_datatype **t) {
	CHECK(part_of(function, type, t));
	if (!(*t)->committed)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TYPE, "the type has not been committed");
	if (count < 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COUNT, "a count of %lld", (long long)count);
	if (room < 0 || position < 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "a buffer of %lld byte%s, from byte %lld on", (long long)room, plural(room), (long long)position);
	if (bytes > room - position)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TRUNCATE, "%lld byte%s at byte %lld of a buffer of %lld", (long long)bytes, plural(bytes), (long long)position, (long long)room);
	return MPI_SUCCESS;
}

static int64_t packed_size(int64_t count, MPI_Datatype type) {
	const struct gigarank_datatype *t = gigarank_type(type);
	return t && count > 0 ? count * t->bytes : 0;
}

static int in_communicator(MPI_Comm comm) {
	struct gigarank_call c;
	return find(GIGARANK_NONE, comm, &c);
}

#define PACKS(pack_size, pack, unpack, number) \
	MPI(pack_size, number count, MPI_Datatype type, MPI_Comm comm, number *size) { \
		struct gigarank_datatype *t; \
		GIVEN(size, "size", MPI_ERR_ARG); \
		CHECK(in_communicator(comm)); \
		CHECK(ready(count, type, 0, 0, 0, &t)); \
		*size = (number)packed_size(count, type); \
		return MPI_SUCCESS; \
	} \
	MPI(pack, const void *in, number count, MPI_Datatype type, void *out, number room, number *position, MPI_Comm comm) { \
		struct gigarank_datatype *t; \
		GIVEN(out, "outbuf", MPI_ERR_ARG); \
		GIVEN(position, "position", MPI_ERR_ARG); \
		CHECK(in_communicator(comm)); \
		CHECK(ready(count, type, packed_size(count, type), room, *position, &t)); \
		GIVEN(in || packed_size(count, type) == 0 || t->first, "inbuf", MPI_ERR_BUFFER); \
		if (!gigarank_is_unread(in) && !gigarank_is_unread(out)) \
			gigarank_gather_values(t, in, count, (char *)out + *position); \
		*position += (number)packed_size(count, type); \
		return MPI_SUCCESS; \
	} \
	MPI(unpack, const void *in, number bytes, number *position, void *out, number count, MPI_Datatype type, MPI_Comm comm) { \
		struct gigarank_datatype *t; \
		GIVEN(in, "inbuf", MPI_ERR_ARG); \
		GIVEN(position, "position", MPI_ERR_ARG); \
		CHECK(in_communicator(comm)); \
		CHECK(ready(count, type, packed_size(count, type), bytes, *position, &t)); \
		GIVEN(out || packed_size(count, type) == 0 || t->first, "outbuf", MPI_ERR_BUFFER); \
		if (!gigarank_is_unread(in) && !gigarank_is_unread(out)) \
			gigarank_scatter_values(t, out, count, (const char *)in + *position, packed_size(count, type)); \
		*position += (number)packed_size(count, type); \
		return MPI_SUCCESS; \
	}
PACKS(MPI_Pack_size, MPI_Pack, MPI_Unpack, int)
PACKS(MPI_Pack_size_c, MPI_Pack_c, MPI_Unpack_c, MPI_Count)
