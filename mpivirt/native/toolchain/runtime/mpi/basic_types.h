/* The predefined datatypes of MPI. */
#ifndef GIGARANK_MPI_BASIC_TYPES_H
#define GIGARANK_MPI_BASIC_TYPES_H

#include "mpi.h"
#include <stddef.h>
#include <stdint.h>

/* Pairs of a value and an index, in memory and in messages. */
#define PAIRED(name, v, i) \
	struct name { v value; i index; }; \
	struct packed_##name { v value; i index; } __attribute__((packed));
PAIRED(float_int, float, int)
PAIRED(double_int, double, int)
PAIRED(long_int, long, int)
PAIRED(two_int, int, int)
PAIRED(short_int, short, int)
PAIRED(long_double_int, long double, int)
PAIRED(two_real, float, float)
PAIRED(two_double, double, double)

/* Numbers of sixteen bytes, which only Fortran has. Vectors of them may lie at any address. */
#if defined(__x86_64__)
typedef __float128 gigarank_sixteen;
typedef _Complex float gigarank_two_sixteens __attribute__((mode(TC)));
#else
typedef long double gigarank_sixteen;
typedef long double _Complex gigarank_two_sixteens;
#endif
typedef gigarank_sixteen gigarank_quad __attribute__((aligned(1)));
typedef gigarank_two_sixteens gigarank_quad_complex __attribute__((aligned(1)));

#pragma GCC visibility push(hidden)

/* gigarank_basic describes the predefined type of a handle. It returns NULL, else its name. */
const char *gigarank_basic(uintptr_t place, int *size, int *element, int *extent, int *align);

#pragma GCC visibility pop

#endif
