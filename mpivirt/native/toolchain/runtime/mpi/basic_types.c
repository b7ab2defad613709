/* The predefined datatypes of MPI: sizes and elements. */
#include "mpi/basic_types.h"
#include "rank/interface.h"

#include <complex.h>
#include <stdbool.h>
#include <wchar.h>

struct two_halves { int16_t real, imaginary; };

#define SIGNED(t) (sizeof(t) == 1 ? GIGARANK_INT8 : sizeof(t) == 2 ? GIGARANK_INT16 : sizeof(t) == 4 ? GIGARANK_INT32 : GIGARANK_INT64)
#define UNSIGNED(t) (SIGNED(t) + GIGARANK_UINT8 - GIGARANK_INT8)

/* The predefined types, by handle less the handle of the null type. An entry without a name is no type. */
static const struct { uint8_t size, element, extent, align; const char *name; } types[0xf0] = {
#define TYPE(handle, t, e) [(uintptr_t)(handle) - 0x200] = {sizeof(t), e, sizeof(t), _Alignof(t), #handle}
#define PAIR(handle, t, v, e) [(uintptr_t)(handle) - 0x200] = {sizeof(v) + sizeof(int), e, sizeof(t), _Alignof(t), #handle}
	TYPE(MPI_AINT, MPI_Aint, SIGNED(MPI_Aint)), TYPE(MPI_COUNT, MPI_Count, SIGNED(MPI_Count)), TYPE(MPI_OFFSET, MPI_Offset, SIGNED(MPI_Offset)),
	TYPE(MPI_PACKED, char, GIGARANK_UNTYPED),
	TYPE(MPI_SHORT, short, SIGNED(short)), TYPE(MPI_INT, int, SIGNED(int)), TYPE(MPI_LONG, long, SIGNED(long)), TYPE(MPI_LONG_LONG, long long, SIGNED(long long)),
	TYPE(MPI_UNSIGNED_SHORT, short, UNSIGNED(short)), TYPE(MPI_UNSIGNED, int, UNSIGNED(int)), TYPE(MPI_UNSIGNED_LONG, long, UNSIGNED(long)),
	TYPE(MPI_UNSIGNED_LONG_LONG, long long, UNSIGNED(long long)),
	TYPE(MPI_FLOAT, float, GIGARANK_FLOAT), TYPE(MPI_DOUBLE, double, GIGARANK_DOUBLE), TYPE(MPI_LONG_DOUBLE, long double, GIGARANK_LONG_DOUBLE),
	TYPE(MPI_C_FLOAT_COMPLEX, float _Complex, GIGARANK_FLOAT_COMPLEX), TYPE(MPI_CXX_FLOAT_COMPLEX, float _Complex, GIGARANK_FLOAT_COMPLEX),
	TYPE(MPI_C_DOUBLE_COMPLEX, double _Complex, GIGARANK_DOUBLE_COMPLEX), TYPE(MPI_CXX_DOUBLE_COMPLEX, double _Complex, GIGARANK_DOUBLE_COMPLEX),
	TYPE(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex, GIGARANK_LONG_DOUBLE_COMPLEX),
	TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex, GIGARANK_LONG_DOUBLE_COMPLEX),
	PAIR(MPI_FLOAT_INT, struct float_int, float, GIGARANK_FLOAT_INT), PAIR(MPI_DOUBLE_INT, struct double_int, double, GIGARANK_DOUBLE_INT),
	PAIR(MPI_LONG_INT, struct long_int, long, GIGARANK_LONG_INT), PAIR(MPI_2INT, struct two_int, int, GIGARANK_2INT),
	PAIR(MPI_SHORT_INT, struct short_int, short, GIGARANK_SHORT_INT), PAIR(MPI_LONG_DOUBLE_INT, struct long_double_int, long double, GIGARANK_LONG_DOUBLE_INT),
	TYPE(MPI_C_BOOL, _Bool, GIGARANK_BOOLEAN), TYPE(MPI_CXX_BOOL, _Bool, GIGARANK_BOOLEAN), TYPE(MPI_WCHAR, wchar_t, SIGNED(wchar_t)),
	TYPE(MPI_INT8_T, int8_t, GIGARANK_INT8), TYPE(MPI_UINT8_T, int8_t, GIGARANK_UINT8),
	TYPE(MPI_CHAR, char, GIGARANK_CHARACTER), TYPE(MPI_SIGNED_CHAR, char, GIGARANK_INT8), TYPE(MPI_UNSIGNED_CHAR, char, GIGARANK_UINT8),
	TYPE(MPI_BYTE, char, GIGARANK_OCTET),
	TYPE(MPI_INT16_T, int16_t, GIGARANK_INT16), TYPE(MPI_UINT16_T, int16_t, GIGARANK_UINT16),
	TYPE(MPI_INT32_T, int32_t, GIGARANK_INT32), TYPE(MPI_UINT32_T, int32_t, GIGARANK_UINT32),
	TYPE(MPI_INT64_T, int64_t, GIGARANK_INT64), TYPE(MPI_UINT64_T, int64_t, GIGARANK_UINT64),
	/* Types of Fortran: a default INTEGER, REAL and LOGICAL has four bytes. Integers and logicals
	 * of sixteen bytes and numbers of two bytes, for which C has no portable types, are sent, not reduced. */
	TYPE(MPI_INTEGER, int32_t, GIGARANK_INT32), TYPE(MPI_REAL, float, GIGARANK_FLOAT), TYPE(MPI_DOUBLE_PRECISION, double, GIGARANK_DOUBLE),
	TYPE(MPI_COMPLEX, float _Complex, GIGARANK_FLOAT_COMPLEX), TYPE(MPI_DOUBLE_COMPLEX, double _Complex, GIGARANK_DOUBLE_COMPLEX),
	TYPE(MPI_CHARACTER, char, GIGARANK_OCTET), TYPE(MPI_LOGICAL, int32_t, GIGARANK_INT32),
	TYPE(MPI_INTEGER1, int8_t, GIGARANK_INT8), TYPE(MPI_INTEGER2, int16_t, GIGARANK_INT16), TYPE(MPI_INTEGER4, int32_t, GIGARANK_INT32),
	TYPE(MPI_INTEGER8, int64_t, GIGARANK_INT64), TYPE(MPI_INTEGER16, __int128, GIGARANK_UNTYPED),
	TYPE(MPI_LOGICAL1, int8_t, GIGARANK_INT8), TYPE(MPI_LOGICAL2, int16_t, GIGARANK_INT16), TYPE(MPI_LOGICAL4, int32_t, GIGARANK_INT32),
	TYPE(MPI_LOGICAL8, int64_t, GIGARANK_INT64), TYPE(MPI_LOGICAL16, __int128, GIGARANK_UNTYPED),
	TYPE(MPI_REAL2, int16_t, GIGARANK_UNTYPED), TYPE(MPI_COMPLEX4, struct two_halves, GIGARANK_UNTYPED),
	TYPE(MPI_REAL4, float, GIGARANK_FLOAT), TYPE(MPI_REAL8, double, GIGARANK_DOUBLE), TYPE(MPI_REAL16, gigarank_sixteen, GIGARANK_QUAD),
	TYPE(MPI_COMPLEX8, float _Complex, GIGARANK_FLOAT_COMPLEX), TYPE(MPI_COMPLEX16, double _Complex, GIGARANK_DOUBLE_COMPLEX),
	TYPE(MPI_COMPLEX32, gigarank_two_sixteens, GIGARANK_QUAD_COMPLEX),
	[(uintptr_t)MPI_LB - 0x200] = {0, GIGARANK_UNTYPED, 0, 1, "MPI_LB"}, [(uintptr_t)MPI_UB - 0x200] = {0, GIGARANK_UNTYPED, 0, 1, "MPI_UB"},
	TYPE(MPI_2INTEGER, struct two_int, GIGARANK_2INT), TYPE(MPI_2REAL, struct two_real, GIGARANK_2REAL),
	TYPE(MPI_2DOUBLE_PRECISION, struct two_double, GIGARANK_2DOUBLE),
};

const char *gigarank_basic(uintptr_t place, int *size, int *element, int *extent, int *align) {
	if (place >= sizeof types / sizeof *types)
		return NULL;
	*size = types[place].size, *element = types[place].element, *extent = types[place].extent, *align = types[place].align;
	return types[place].name;
}
