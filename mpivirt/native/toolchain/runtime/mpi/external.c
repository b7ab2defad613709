/* The external32 representation of MPI 4.1, 14.5.2: big-endian, with sizes of its own. Its table has
 * 4 bytes for MPI_LONG and MPI_UNSIGNED_LONG, and 2 for MPI_WCHAR, as Open MPI and MPICH have. */
#include "mpi/arguments.h"
#include "mpi/datatypes.h"
#include "rank/unread.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* The bytes of a basic type's numbers in memory and in the representation. */
struct number {
	int bytes, external; /* of a number */
	int numbers;         /* in an element: a complex element has two */
	int is_signed, is_quad;
};

static struct number number_of(const struct gigarank_datatype *t) {
	struct number n = {(int)t->bytes, (int)t->bytes, 1, 0, 0};
	MPI_Datatype handle = gigarank_type_handle((struct gigarank_datatype *)t);
	switch (t->element) {
	case GIGARANK_FLOAT_COMPLEX: case GIGARANK_DOUBLE_COMPLEX: case GIGARANK_LONG_DOUBLE_COMPLEX: case GIGARANK_QUAD_COMPLEX:
		n.numbers = 2;
		break;
	case GIGARANK_UNTYPED:
		if (handle == MPI_COMPLEX4)
			n.numbers = 2;
		if (n.numbers == 2 || handle == MPI_REAL2 || handle == MPI_INTEGER16 || handle == MPI_LOGICAL16)
			break;
		n.numbers = (int)t->bytes, n.bytes = n.external = 1; /* characters and bytes */
		return n;
	case GIGARANK_INT8: case GIGARANK_INT16: case GIGARANK_INT32: case GIGARANK_INT64:
		n.is_signed = 1;
	}
	n.bytes = n.external = (int)t->bytes / n.numbers;
	if (handle == MPI_LONG || handle == MPI_UNSIGNED_LONG)
		n.external = 4;
	if (handle == MPI_WCHAR)
		n.external = 2;
	n.is_quad = t->element == GIGARANK_LONG_DOUBLE || t->element == GIGARANK_LONG_DOUBLE_COMPLEX;
	if (n.is_quad)
		n.external = 16;
	return n;
}

#if defined(__x86_64__)
typedef __float128 quad;
#else
typedef long double quad;
#endif

static void reverse(char *to, const char *from, int n) {
	for (int i = 0; i < n; i++)
		to[i] = from[n - 1 - i];
}

/* to_external writes a number in the external representation, from_external reads it. Hosts have the low byte first. */
static void to_external(const struct number *n, const char *from, char *to) {
	char low[16] = {0};
	if (n->is_quad) {
		long double value;
		memcpy(&value, from, sizeof value);
		quad q = value;
		memcpy(low, &q, sizeof q);
	} else
		memcpy(low, from, (size_t)(n->bytes < n->external ? n->bytes : n->external));
	reverse(to, low, n->external);
}

static void from_external(const struct number *n, const char *from, char *to) {
	char low[16];
	reverse(low, from, n->external);
	if (n->is_quad) {
		quad q;
		memcpy(&q, low, sizeof q);
		long double value = q;
		memcpy(to, &value, sizeof value);
		return;
	}
	memset(to, n->is_signed && (signed char)low[n->external - 1] < 0 ? -1 : 0, (size_t)n->bytes);
	memcpy(to, low, (size_t)(n->bytes < n->external ? n->bytes : n->external));
}

/* represent walks the elements of a value from an address on, and returns the end of their
 * representation. Without a memory it only counts. */
static char *represent(const struct gigarank_datatype *t, char *memory, char *external, int out, int count_only) {
	if (t->pieces == 0 && t->elements > 0) {
		struct number n = number_of(t);
		for (int i = 0; i < n.numbers; i++, memory += n.bytes, external += n.external)
			if (count_only)
				continue;
			else if (out)
				from_external(&n, external, memory);
			else
				to_external(&n, memory, external);
		return external;
	}
	for (int32_t j = 0; j < t->pieces; j++) {
		const struct gigarank_piece *p = &t->piece[j];
		for (int64_t i = 0; i < p->count; i++)
			external = represent(p->of, memory + p->at + i * p->stride, external, out, count_only);
	}
	return external;
}

static int64_t external_size(const struct gigarank_datatype *t) { return (int64_t)(intptr_t)represent(t, NULL, NULL, 0, 1); }

static int check(const char *function, const char *name, int64_t count, MPI_Datatype type, struct gigarank_datatype **t) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	if (!name)
		return gigarank_missing(function, MPI_ERR_ARG, "datarep");
	if (strcmp(name, "external32") != 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "%s is no data representation: there is external32", name);
	if (!(*t = gigarank_type(type)))
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TYPE, "the handle is no type, or it has been freed");
	if (!(*t)->committed)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TYPE, "the type has not been committed");
	if (count < 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COUNT, "a count of %lld", (long long)count);
	return MPI_SUCCESS;
}

/* convert represents values, or reads them, from a position on. */
static int convert(const char *function, int out, struct gigarank_datatype *t, char *memory, int64_t count, char *external, int64_t room, int64_t *position) {
	int64_t bytes = count * external_size(t), extent = t->upper - t->lower;
	if (*position < 0 || bytes > room - *position)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TRUNCATE, "%lld byte%s at byte %lld of a buffer of %lld", (long long)bytes, plural(bytes), (long long)*position, (long long)room);
	char *at = external + *position;
	for (int64_t i = 0; i < count && !gigarank_is_unread(memory) && !gigarank_is_unread(external); i++)
		at = represent(t, memory + i * extent, at, out, 0);
	*position += bytes;
	return MPI_SUCCESS;
}

#define EXTERNAL(pack_size, pack, unpack, number, length) \
	MPI(pack_size, const char *name, number count, MPI_Datatype type, length *size) { \
		struct gigarank_datatype *t; \
		GIVEN(size, "size", MPI_ERR_ARG); \
		CHECK(check(__func__, name, count, type, &t)); \
		*size = count * external_size(t); \
		return MPI_SUCCESS; \
	} \
	MPI(pack, const char *name, const void *in, number count, MPI_Datatype type, void *out, length room, length *position) { \
		struct gigarank_datatype *t; \
		GIVEN(out, "outbuf", MPI_ERR_ARG); \
		GIVEN(position, "position", MPI_ERR_ARG); \
		int64_t at = *position; \
		CHECK(check(__func__, name, count, type, &t)); \
		GIVEN(in || count * external_size(t) == 0 || t->first, "inbuf", MPI_ERR_BUFFER); \
		CHECK(convert(__func__, 0, t, (char *)in, count, out, room, &at)); \
		*position = at; \
		return MPI_SUCCESS; \
	} \
	MPI(unpack, const char *name, const void *in, length bytes, length *position, void *out, number count, MPI_Datatype type) { \
		struct gigarank_datatype *t; \
		GIVEN(in, "inbuf", MPI_ERR_ARG); \
		GIVEN(position, "position", MPI_ERR_ARG); \
		int64_t at = *position; \
		CHECK(check(__func__, name, count, type, &t)); \
		GIVEN(out || count * external_size(t) == 0 || t->first, "outbuf", MPI_ERR_BUFFER); \
		CHECK(convert(__func__, 1, t, out, count, (char *)in, bytes, &at)); \
		*position = at; \
		return MPI_SUCCESS; \
	}
EXTERNAL(MPI_Pack_external_size, MPI_Pack_external, MPI_Unpack_external, int, MPI_Aint)
EXTERNAL(MPI_Pack_external_size_c, MPI_Pack_external_c, MPI_Unpack_external_c, MPI_Count, MPI_Count)
