/* Derived datatypes: how they are made, what is told of them, and packing. */
#include "check.h"

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

static void lengths(MPI_Datatype type, int bytes, long low, long extent, long true_low, long true_extent) {
	int size_;
	MPI_Aint a, b;
	MPI_Count c, d;
	MPI_Type_size(type, &size_);
	CHECK(size_ == bytes);
	MPI_Type_size_x(type, &c);
	CHECK(c == bytes);
	MPI_Type_get_extent(type, &a, &b);
	CHECK(a == low && b == extent);
	MPI_Type_get_extent_x(type, &c, &d);
	CHECK(c == low && d == extent);
	MPI_Type_get_true_extent(type, &a, &b);
	CHECK(a == true_low && b == true_extent);
	MPI_Type_get_true_extent_x(type, &c, &d);
	CHECK(c == true_low && d == true_extent);
#ifdef GIGARANK
	MPI_Type_size_c(type, &c);
	EXPECT(c == bytes);
	MPI_Type_get_extent_c(type, &c, &d);
	EXPECT(c == low && d == extent);
	MPI_Type_get_true_extent_c(type, &c, &d);
	EXPECT(c == true_low && d == true_extent);
#endif
}

/* packs packs a value of a type, in which the first of n ints is at base, and compares. */
static void packs(MPI_Datatype type, const int *base, int n, const int want[]) {
	int packed[64], position = 0, room, back[64];
	MPI_Type_commit(&type);
	MPI_Pack_size(1, type, MPI_COMM_WORLD, &room);
	CHECK(room >= n * (int)sizeof(int));
	MPI_Pack(base, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
	CHECK(position == n * (int)sizeof(int) && memcmp(packed, want, (size_t)position) == 0);
	memset(back, -1, sizeof back);
	position = 0;
	MPI_Unpack(packed, sizeof packed, &position, &back[16], 1, type, MPI_COMM_WORLD);
	CHECK(position == n * (int)sizeof(int));
	for (int i = 0; i < n; i++)
		CHECK(back[16 + want[i] - base[0]] == want[i]);
	int touched = 0;
	for (int i = 0; i < 64; i++)
		touched += back[i] != -1;
	CHECK(touched == n);
#ifdef GIGARANK
	MPI_Count large, at = 0;
	MPI_Pack_size_c(1, type, MPI_COMM_WORLD, &large);
	EXPECT(large == room);
	MPI_Pack_c(base, 1, type, packed, sizeof packed, &at, MPI_COMM_WORLD);
	EXPECT(at == n * (int)sizeof(int) && memcmp(packed, want, (size_t)at) == 0);
	at = 0;
	MPI_Unpack_c(packed, sizeof packed, &at, &back[16], 1, type, MPI_COMM_WORLD);
	EXPECT(at == n * (int)sizeof(int));
#endif
}

/* made_of checks the envelope of a type, and its integers. */
static void made_of(MPI_Datatype type, int combiner, int integers, int addresses, int types, const int want[]) {
	int ni, na, nd, c, got[64];
	MPI_Aint address[16];
	MPI_Datatype parts[16];
	MPI_Type_get_envelope(type, &ni, &na, &nd, &c);
	CHECK(ni == integers && na == addresses && nd == types && c == combiner);
	MPI_Type_get_contents(type, ni, na, nd, got, address, parts);
	for (int i = 0; i < integers; i++)
		CHECK(got[i] == want[i]);
	for (int i = 0; i < types; i++) {
		MPI_Type_get_envelope(parts[i], &ni, &na, &nd, &c);
		if (c == MPI_COMBINER_NAMED)
			CHECK(parts[i] == MPI_INT || parts[i] == MPI_CHAR || parts[i] == MPI_DOUBLE);
		else
			MPI_Type_free(&parts[i]);
	}
}

static int numbers[64];

static void constructors(void) {
	MPI_Datatype t, u;
	for (int i = 0; i < 64; i++)
		numbers[i] = 1000 + i;
	const int *at = &numbers[16];

	MPI_Type_contiguous(3, MPI_INT, &t);
	lengths(t, 12, 0, 12, 0, 12);
	packs(t, at, 3, (int[]){1016, 1017, 1018});
	made_of(t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, (int[]){3});

	MPI_Type_dup(t, &u);
	lengths(u, 12, 0, 12, 0, 12);
	made_of(u, MPI_COMBINER_DUP, 0, 0, 1, NULL);
	MPI_Type_free(&u);
	CHECK(u == MPI_DATATYPE_NULL);

	MPI_Type_vector(2, 2, 3, t, &u); /* of triples: 0 1, 3 4 */
	lengths(u, 48, 0, 60, 0, 60);
	MPI_Type_free(&t); /* u keeps it */
	packs(u, at, 12, (int[]){1016, 1017, 1018, 1019, 1020, 1021, 1025, 1026, 1027, 1028, 1029, 1030});
	made_of(u, MPI_COMBINER_VECTOR, 3, 0, 1, (int[]){2, 2, 3});
	MPI_Type_free(&u);

	MPI_Type_vector(3, 1, -2, MPI_INT, &t);
	lengths(t, 12, -16, 20, -16, 20);
	packs(t, at, 3, (int[]){1016, 1014, 1012});
	MPI_Type_free(&t);

	MPI_Type_create_hvector(3, 1, 8, MPI_INT, &t);
	lengths(t, 12, 0, 20, 0, 20);
	packs(t, at, 3, (int[]){1016, 1018, 1020});
	made_of(t, MPI_COMBINER_HVECTOR, 2, 1, 1, (int[]){3, 1});
	MPI_Type_free(&t);

	MPI_Type_indexed(3, (int[]){2, 0, 1}, (int[]){4, 9, 1}, MPI_INT, &t);
	lengths(t, 12, 4, 20, 4, 20);
	MPI_Type_commit(&t);
	made_of(t, MPI_COMBINER_INDEXED, 7, 0, 1, (int[]){3, 2, 0, 1, 4, 9, 1});
	int packed[3], position = 0;
	MPI_Pack(numbers, 1, t, packed, sizeof packed, &position, MPI_COMM_WORLD);
	CHECK(packed[0] == 1004 && packed[1] == 1005 && packed[2] == 1001);
	MPI_Type_free(&t);

	MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){0, 16}, MPI_INT, &t);
	lengths(t, 12, 0, 24, 0, 24);
	packs(t, at, 3, (int[]){1016, 1020, 1021});
	made_of(t, MPI_COMBINER_HINDEXED, 3, 2, 1, (int[]){2, 1, 2});
	MPI_Type_free(&t);

	MPI_Type_create_indexed_block(3, 2, (int[]){0, 3, 8}, MPI_INT, &t);
	lengths(t, 24, 0, 40, 0, 40);
	packs(t, at, 6, (int[]){1016, 1017, 1019, 1020, 1024, 1025});
	made_of(t, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1, (int[]){3, 2, 0, 3, 8});
	MPI_Type_free(&t);

	MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){0, 12}, MPI_INT, &t);
	lengths(t, 8, 0, 16, 0, 16);
	packs(t, at, 2, (int[]){1016, 1019});
	made_of(t, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1, (int[]){2, 1});
	MPI_Type_free(&t);

	MPI_Type_create_resized(MPI_INT, -4, 16, &t);
	lengths(t, 4, -4, 16, 0, 4);
	made_of(t, MPI_COMBINER_RESIZED, 0, 2, 1, NULL);
	MPI_Type_contiguous(3, t, &u);
	lengths(u, 12, -4, 48, 0, 36);
	packs(u, at, 3, (int[]){1016, 1020, 1024});
	MPI_Type_free(&u);
	MPI_Type_free(&t);

	/* Rows 1 and 2, columns 2 to 3, of 4 by 5. */
	MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 2}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &t);
	lengths(t, 16, 0, 80, 28, 28);
	made_of(t, MPI_COMBINER_SUBARRAY, 8, 0, 1, (int[]){2, 4, 5, 2, 2, 1, 2, MPI_ORDER_C});
	MPI_Type_commit(&t);
	int four[4];
	position = 0;
	MPI_Pack(numbers, 1, t, four, sizeof four, &position, MPI_COMM_WORLD);
	CHECK(four[0] == 1007 && four[1] == 1008 && four[2] == 1012 && four[3] == 1013);
	MPI_Type_free(&t);
	MPI_Type_create_subarray(2, (int[]){5, 4}, (int[]){2, 2}, (int[]){2, 1}, MPI_ORDER_FORTRAN, MPI_INT, &t);
	lengths(t, 16, 0, 80, 28, 28);
	MPI_Type_free(&t);
}

/* A struct of a char, two doubles and an int, as a C compiler lays it out. */
static void structs(void) {
	struct part { char c; double d[2]; int i; } parts[3] = {{0}}, back[3];
	MPI_Datatype t, u, types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
	int n[3] = {1, 2, 1}, position = 0;
	MPI_Aint at[3], base, here;
	MPI_Get_address(&parts[0], &base);
	MPI_Get_address(&parts[0].c, &at[0]);
	MPI_Get_address(&parts[0].d, &at[1]);
	MPI_Get_address(&parts[0].i, &at[2]);
	for (int i = 0; i < 3; i++)
		at[i] = MPI_Aint_diff(at[i], base);
	MPI_Type_create_struct(3, n, at, types, &t);
	lengths(t, 21, 0, sizeof(struct part), 0, 28);
	made_of(t, MPI_COMBINER_STRUCT, 4, 3, 3, (int[]){3, 1, 2, 1});
	MPI_Type_commit(&t);
	for (int i = 0; i < 3; i++)
		parts[i] = (struct part){(char)('a' + i), {i + 0.5, i + 0.25}, 10 * i};
	char packed[64];
	MPI_Pack(parts, 3, t, packed, sizeof packed, &position, MPI_COMM_WORLD);
	CHECK(position == 63 && packed[21] == 'b');
	position = 0;
	memset(back, 0, sizeof back);
	MPI_Unpack(packed, 63, &position, back, 3, t, MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++)
		CHECK(back[i].c == 'a' + i && back[i].d[0] == i + 0.5 && back[i].d[1] == i + 0.25 && back[i].i == 10 * i);
	/* The same values by absolute addresses. */
	for (int i = 0; i < 3; i++)
		at[i] = MPI_Aint_add(base, at[i]);
	MPI_Type_create_struct(3, n, at, types, &u);
	MPI_Type_commit(&u);
	MPI_Sendrecv(MPI_BOTTOM, 1, u, rank, 1, &back[2], 1, t, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(back[2].c == 'a' && back[2].d[1] == 0.25 && back[2].i == 0);
	parts[0].i = 77;
	MPI_Get_address(&back[2], &here);
	MPI_Sendrecv(&parts[1], 1, t, rank, 2, MPI_BOTTOM, 1, u, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(parts[0].c == 'b' && parts[0].d[0] == 1.5 && parts[0].i == 10);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
}

/* A struct has the extent that the compiler gives it, which follows from its alignment. */
#define EXTENT_OF(handle, value) \
	do { \
		struct after_a_char { char c; value v; }; \
		MPI_Datatype t; \
		MPI_Aint low, extent; \
		MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, offsetof(struct after_a_char, v)}, (MPI_Datatype[]){MPI_CHAR, handle}, &t); \
		MPI_Type_get_extent(t, &low, &extent); \
		CHECK(low == 0 && extent == sizeof(struct after_a_char)); \
		MPI_Type_free(&t); \
	} while (0)

static void alignments(void) {
	EXTENT_OF(MPI_SHORT, short);
	EXTENT_OF(MPI_INT, int);
	EXTENT_OF(MPI_LONG_LONG, long long);
	EXTENT_OF(MPI_FLOAT, float);
	EXTENT_OF(MPI_LONG_DOUBLE, long double);
	EXTENT_OF(MPI_WCHAR, wchar_t);
	EXTENT_OF(MPI_C_BOOL, _Bool);
	EXTENT_OF(MPI_INT16_T, int16_t);
	EXTENT_OF(MPI_C_FLOAT_COMPLEX, float _Complex);
	EXTENT_OF(MPI_C_DOUBLE_COMPLEX, double _Complex);
	EXTENT_OF(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex);
}

/* The parts of a distributed array are each element once, in the order of the array. */
static void distributed(int order, int distribution, int argument) {
	enum { ROWS = 7, COLUMNS = 10 };
	int array[ROWS * COLUMNS], owner[ROWS * COLUMNS], all = 0;
	for (int i = 0; i < ROWS * COLUMNS; i++)
		array[i] = i, owner[i] = -1;
	for (int process = 0; process < 6; process++) {
		MPI_Datatype t;
		int bytes, position = 0, part[ROWS * COLUMNS];
		MPI_Aint low, extent;
		MPI_Type_create_darray(6, process, 2, (int[]){ROWS, COLUMNS}, (int[]){MPI_DISTRIBUTE_BLOCK, distribution}, (int[]){MPI_DISTRIBUTE_DFLT_DARG, argument}, (int[]){2, 3}, order, MPI_INT, &t);
		MPI_Type_get_extent(t, &low, &extent);
		CHECK(low == 0 && extent == sizeof array);
		made_of(t, MPI_COMBINER_DARRAY, 12, 0, 1, (int[]){6, process, 2, ROWS, COLUMNS, MPI_DISTRIBUTE_BLOCK, distribution, MPI_DISTRIBUTE_DFLT_DARG, argument, 2, 3, order});
		MPI_Type_commit(&t);
		MPI_Type_size(t, &bytes);
		MPI_Pack(array, 1, t, part, sizeof part, &position, MPI_COMM_WORLD);
		CHECK(position == bytes);
		int n = bytes / (int)sizeof(int), block = argument == MPI_DISTRIBUTE_DFLT_DARG ? distribution == MPI_DISTRIBUTE_BLOCK ? 4 : 1 : argument;
		for (int i = 0; i < n; i++) {
			int row = order == MPI_ORDER_C ? part[i] / COLUMNS : part[i] % ROWS, column = order == MPI_ORDER_C ? part[i] % COLUMNS : part[i] / ROWS;
			EXPECT(owner[part[i]] == -1 && (i == 0 || part[i] > part[i - 1]));
			EXPECT(row / 4 == process / 3 && column / block % 3 == process % 3);
			owner[part[i]] = process;
		}
		all += n;
		MPI_Type_free(&t);
	}
	CHECK(all == ROWS * COLUMNS);
}

static void names(void) {
	MPI_Datatype t, u;
	char name[MPI_MAX_OBJECT_NAME];
	int length;
	MPI_Type_get_name(MPI_INT, name, &length);
	CHECK(strcmp(name, "MPI_INT") == 0 && length == 7);
	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Type_get_name(t, name, &length);
	CHECK(length == 0);
	MPI_Type_set_name(t, "a pair");
	MPI_Type_get_name(t, name, &length);
	CHECK(strcmp(name, "a pair") == 0 && length == 6);
	MPI_Type_free(&t);
	MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
	MPI_Type_size(t, &length);
	CHECK(length == 8);
	MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &t);
	MPI_Type_size(t, &length);
	CHECK(length == 2);
#ifdef GIGARANK
	EXPECT(MPI_Type_get_value_index(MPI_LONG_DOUBLE, MPI_INT, &t) == MPI_SUCCESS && t == MPI_LONG_DOUBLE_INT);
	EXPECT(MPI_Type_get_value_index(MPI_INT, MPI_INT, &t) == MPI_SUCCESS && t == MPI_2INT);
	EXPECT(MPI_Type_get_value_index(MPI_REAL, MPI_REAL, &t) == MPI_SUCCESS && t == MPI_2REAL);
	EXPECT(MPI_Type_get_value_index(MPI_INT, MPI_DOUBLE, &t) == MPI_SUCCESS && t == MPI_DATATYPE_NULL);
#endif
	MPI_Type_create_f90_real(10, 100, &t);
	MPI_Type_size(t, &length);
	CHECK(length == 8);
	MPI_Type_create_f90_real(10, 100, &u);
	CHECK(t == u);
	MPI_Type_create_f90_complex(6, 30, &t);
	MPI_Type_size(t, &length);
	CHECK(length == 8);
	MPI_Type_create_f90_integer(8, &t);
	MPI_Type_size(t, &length);
	CHECK(length == 4);
	int ni, na, nd, combiner;
	MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
	CHECK(combiner == MPI_COMBINER_F90_INTEGER && ni == 1 && nd == 0);
}

/* Elements of a message that ends within a value. */
static void elements(void) {
	MPI_Datatype t;
	MPI_Status status;
	MPI_Count large;
	int in[8], out[8] = {0, 1, 2, 3, 4, 5, 6, 7}, n;
	MPI_Type_vector(3, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	memset(in, -1, sizeof in);
	MPI_Sendrecv(out, 2, MPI_INT, rank, 0, in, 1, t, rank, 0, MPI_COMM_WORLD, &status);
	CHECK(in[0] == 0 && in[1] == -1 && in[2] == 1 && in[4] == -1);
	MPI_Get_count(&status, t, &n);
	CHECK(n == MPI_UNDEFINED);
	MPI_Get_elements(&status, t, &n);
	CHECK(n == 2);
	MPI_Get_elements_x(&status, t, &large);
	CHECK(large == 2);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(n == 2);
	MPI_Status_set_elements(&status, t, 5);
	MPI_Get_elements(&status, t, &n);
	CHECK(n == 5);
	MPI_Status_set_elements_x(&status, t, 6);
	MPI_Get_count(&status, t, &n);
	CHECK(n == 2);
#ifdef GIGARANK
	MPI_Status_set_elements_c(&status, t, 7);
	MPI_Get_elements_c(&status, t, &large);
	EXPECT(large == 7);
	MPI_Get_count_c(&status, MPI_INT, &large);
	EXPECT(large == 7);
#endif
	MPI_Type_free(&t);
	/* A pair has padding in memory and none in a message. */
	struct { short value; int index; } pairs[2] = {{1, 2}, {3, 4}}, got[2];
	memset(got, 0, sizeof got);
	MPI_Sendrecv(pairs, 2, MPI_SHORT_INT, rank, 0, got, 2, MPI_SHORT_INT, rank, 0, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &n);
	CHECK(n == 12 && got[0].value == 1 && got[0].index == 2 && got[1].value == 3 && got[1].index == 4);
}

static void errors(void) {
	MPI_Datatype t, null = MPI_DATATYPE_NULL;
	int position = 0, data[4] = {0};
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Type_contiguous(1, null, &t), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_commit(&null), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_free(&null), MPI_ERR_TYPE);
	t = MPI_INT;
	CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){3}, (int[]){2}, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pack(data, 4, MPI_INT, data, 15, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
	CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, -8, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_match_size(77777, 4, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_f90_complex(MPI_UNDEFINED, MPI_UNDEFINED, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_f90_real(400, MPI_UNDEFINED, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_f90_real(6, 100000, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_f90_complex(400, MPI_UNDEFINED, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_f90_integer(100, &t), MPI_ERR_ARG);
	CHECK(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &t) == MPI_SUCCESS && MPI_Type_create_f90_complex(MPI_UNDEFINED, 30, &t) == MPI_SUCCESS);
	MPI_Status status = {0};
	MPI_Count large;
	CHECK_CLASS(MPI_Status_set_elements(&status, MPI_INT, -1), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Status_set_elements_x(&status, null, 1), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Status_set_elements_x(&status, MPI_INT, -1), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Get_elements_x(&status, null, &large), MPI_ERR_TYPE);
#ifdef GIGARANK
	EXPECT_CLASS(MPI_Type_get_value_index(null, MPI_INT, &t), MPI_ERR_TYPE);
	EXPECT_CLASS(MPI_Type_get_value_index(MPI_FLOAT, null, &t), MPI_ERR_TYPE);
	EXPECT_CLASS(MPI_Status_set_elements_c(&status, null, 1), MPI_ERR_TYPE);
	EXPECT_CLASS(MPI_Status_set_elements_c(&status, MPI_INT, -1), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Get_elements_c(&status, null, &large), MPI_ERR_TYPE);
#endif
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	CHECK_CLASS(MPI_Send(data, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
	MPI_Type_free(&t);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	constructors();
	structs();
	alignments();
	for (int order = 0; order < 2; order++) {
		int o = order ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
		distributed(o, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG);
		distributed(o, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG);
		distributed(o, MPI_DISTRIBUTE_CYCLIC, 2);
		distributed(o, MPI_DISTRIBUTE_CYCLIC, 3);
	}
	names();
	elements();
	errors();
	return finish("datatypes");
}
