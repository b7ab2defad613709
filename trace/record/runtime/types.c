/* What the elements of a datatype are. */
#include "trace.h"

/* The sorts of elements, in the order of package world. */
enum { UNTYPED, BOOLEAN, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, SINGLE, DOUBLE, COMPLEX_SINGLE, COMPLEX_DOUBLE };

enum { NAMED = 128, SORT = 127 };

static struct table known; /* by handle: sort in the low byte, with NAMED for a predefined type, unit above */
static int *scratch;       /* of the arguments of constructors */
static MPI_Datatype *parts;

enum { MOST_ARGUMENTS = 1 << 20, DEPTH = 64 };

static void know(MPI_Datatype type, int kind) {
	MPI_Count size = 0;
	if (type != MPI_DATATYPE_NULL && next.type_size(type, &size) == MPI_SUCCESS && size > 0 && size < 256 && !find_entry(&known, KEY(type)))
		add_entry(&known, KEY(type), (int32_t)(size << 8 | NAMED | kind));
}

static int kind_of_int(size_t size, int is_unsigned) {
	int base = size == 1 ? INT8 : size == 2 ? INT16 : size == 4 ? INT32 : INT64;
	return base + 4 * is_unsigned;
}

/* know_int enters an integer type of C. */
static void know_int(MPI_Datatype type, size_t size, int is_unsigned) { know(type, kind_of_int(size, is_unsigned)); }

static void know_sized(MPI_Datatype type) {
	MPI_Count size = 0;
	if (type != MPI_DATATYPE_NULL && next.type_size(type, &size) == MPI_SUCCESS)
		know(type, kind_of_int((size_t)size, 0));
}

int start_types(void) {
	if (!make_table(&known) || !(scratch = room(MOST_ARGUMENTS * sizeof *scratch * 2 + MOST_ARGUMENTS * sizeof(MPI_Aint))) || !(parts = room(MOST_ARGUMENTS * sizeof *parts)))
		return 0;
	know_int(MPI_SHORT, sizeof(short), 0), know_int(MPI_INT, sizeof(int), 0), know_int(MPI_LONG, sizeof(long), 0), know_int(MPI_LONG_LONG, 8, 0);
	know_int(MPI_SIGNED_CHAR, 1, 0), know_int(MPI_UNSIGNED_CHAR, 1, 1), know_int(MPI_UNSIGNED_SHORT, sizeof(short), 1), know_int(MPI_UNSIGNED, sizeof(int), 1);
	know_int(MPI_UNSIGNED_LONG, sizeof(long), 1), know_int(MPI_UNSIGNED_LONG_LONG, 8, 1), know_int(MPI_WCHAR, sizeof(wchar_t), 0);
	know_int(MPI_INT8_T, 1, 0), know_int(MPI_INT16_T, 2, 0), know_int(MPI_INT32_T, 4, 0), know_int(MPI_INT64_T, 8, 0);
	know_int(MPI_UINT8_T, 1, 1), know_int(MPI_UINT16_T, 2, 1), know_int(MPI_UINT32_T, 4, 1), know_int(MPI_UINT64_T, 8, 1);
	know_int(MPI_AINT, sizeof(MPI_Aint), 0), know_int(MPI_OFFSET, sizeof(MPI_Offset), 0), know_int(MPI_COUNT, sizeof(MPI_Count), 0);
	know(MPI_FLOAT, SINGLE), know(MPI_DOUBLE, DOUBLE), know(MPI_C_BOOL, BOOLEAN), know(MPI_CXX_BOOL, BOOLEAN);
	know(MPI_C_FLOAT_COMPLEX, COMPLEX_SINGLE), know(MPI_C_DOUBLE_COMPLEX, COMPLEX_DOUBLE), know(MPI_CXX_FLOAT_COMPLEX, COMPLEX_SINGLE), know(MPI_CXX_DOUBLE_COMPLEX, COMPLEX_DOUBLE);
	know_sized(MPI_INTEGER), know(MPI_REAL, SINGLE), know(MPI_DOUBLE_PRECISION, DOUBLE), know(MPI_COMPLEX, COMPLEX_SINGLE), know(MPI_DOUBLE_COMPLEX, COMPLEX_DOUBLE);
	know_sized(MPI_LOGICAL);
	return 1;
}

static int basic(MPI_Datatype type, int depth);

/* basic_of_parts returns the elements that all parts of a derived type have. Handles of derived parts are freed. */
static int basic_of_parts(MPI_Datatype type, int integers, int addresses, int n, int depth) {
	if (depth == DEPTH || integers > MOST_ARGUMENTS || addresses > MOST_ARGUMENTS || n > MOST_ARGUMENTS / DEPTH)
		return 0;
	MPI_Datatype *of = parts + (int64_t)depth * (MOST_ARGUMENTS / DEPTH);
	if (next.type_get_contents(type, integers, addresses, n, scratch, (MPI_Aint *)(scratch + MOST_ARGUMENTS), of) != MPI_SUCCESS)
		return 0;
	int all = 0;
	for (int i = 0; i < n; i++) {
		int one = basic(of[i], depth + 1) & ~NAMED, a, b, c, combiner;
		all = i && one != all ? -1 : one;
		if (next.type_get_envelope(of[i], &a, &b, &c, &combiner) == MPI_SUCCESS && combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_INTEGER && combiner != MPI_COMBINER_F90_COMPLEX)
			next.type_free(&of[i]);
	}
	return all < 0 ? 0 : all;
}

/* basic returns unit and sort of the elements of a type, 0 if they differ. */
static int basic(MPI_Datatype type, int depth) {
	int32_t e = find_entry(&known, KEY(type));
	int integers, addresses, n, combiner;
	if (e)
		return known.entries[e].value;
	if (next.type_get_envelope(type, &integers, &addresses, &n, &combiner) != MPI_SUCCESS)
		return 0;
	if (combiner != MPI_COMBINER_NAMED)
		return basic_of_parts(type, integers, addresses, n, depth);
	MPI_Count size = 0;
	next.type_size(type, &size);
	return size > 0 && size < 256 ? (int)size << 8 | NAMED : 0;
}

struct elements elements_of(MPI_Datatype type) {
	struct elements x = {bytes_of(1, type), 1, UNTYPED, 0};
	int32_t e = find_entry(&known, KEY(type));
	int b = e ? known.entries[e].value : basic(type, 0);
	if (!e)
		add_entry(&known, KEY(type), b);
	if (b)
		x.unit = b >> 8, x.kind = b & SORT, x.is_named = (b & NAMED) != 0;
	return x;
}

/* The handle of a type that is freed may come back as another type. */
EXPORT int MPI_Type_free(MPI_Datatype *type) {
	MPI_Datatype freed = type ? *type : MPI_DATATYPE_NULL;
	BEGIN(Type_free, type);
	int code = NEXT(Type_free)(type);
	if (leave(&called, code)) {
		int32_t e = find_entry(&known, KEY(freed));
		if (e)
			remove_entry(&known, e);
	}
	return done(code);
}
ALSO_PMPI(Type_free)
