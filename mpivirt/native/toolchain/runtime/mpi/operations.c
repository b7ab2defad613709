/* Operations of reductions. */
#include "mpi/operations.h"
#include "mpi/arguments.h"
#include "mpi/basic_types.h"
#include "mpi/datatypes.h"
#include "rank/crashes.h"
#include "rank/hooks.h"
#include "rank/running.h"
#include "rank/variables.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct gigarank_operation *gigarank_operation_of(MPI_Op operation) {
	struct gigarank_operation *o = (struct gigarank_operation *)operation;
	return (uintptr_t)operation >= GIGARANK_PREDEFINED && (uintptr_t)operation % 8 == 0 && o->mark == GIGARANK_OPERATION_MARK ? o : NULL;
}

MPI(MPI_Op_free, MPI_Op *operation) {
	GIVEN(operation, "op", MPI_ERR_OP);
	struct gigarank_operation *o = gigarank_operation_of(*operation);
	if (!o)
		return refuse(GIGARANK_NONE, MPI_ERR_OP, "MPI_Op_free of a handle that is no operation of the program's own");
	*operation = MPI_OP_NULL;
	gigarank_leave_operation(o);
	return MPI_SUCCESS;
}

struct gigarank_operation *gigarank_hold_operation(MPI_Op operation) {
	struct gigarank_operation *o = gigarank_operation_of(operation);
	if (o)
		o->plans++;
	return o;
}

/* The program is a holder, too. The memory stays: a nonblocking reduction may still use it. */
void gigarank_leave_operation(struct gigarank_operation *o) {
	if (o->plans-- == 0)
		o->mark = 0;
}

MPI(MPI_Op_commutative, MPI_Op operation, int *commutes) {
	GIVEN(commutes, "commute", MPI_ERR_ARG);
	struct gigarank_operation *o = gigarank_operation_of(operation);
	if (o) {
		*commutes = o->commutative;
		return MPI_SUCCESS;
	}
	switch ((uintptr_t)operation) {
	case (uintptr_t)MPI_SUM: case (uintptr_t)MPI_PROD: case (uintptr_t)MPI_MIN: case (uintptr_t)MPI_MAX:
	case (uintptr_t)MPI_BAND: case (uintptr_t)MPI_BOR: case (uintptr_t)MPI_BXOR:
	case (uintptr_t)MPI_LAND: case (uintptr_t)MPI_LOR: case (uintptr_t)MPI_LXOR:
	case (uintptr_t)MPI_MINLOC: case (uintptr_t)MPI_MAXLOC: case (uintptr_t)MPI_REPLACE: case (uintptr_t)MPI_NO_OP:
		*commutes = 1;
		return MPI_SUCCESS;
	}
	return refuse(GIGARANK_NONE, MPI_ERR_OP, "MPI_Op_commutative of a handle that is no operation");
}

/* gigarank_applies follows the table of MPI 4.1, 6.9.2. As in other implementations characters
 * and bytes are integers, too: benchmarks reduce MPI_CHAR. */
int gigarank_applies(MPI_Op operation, MPI_Datatype type) {
	int e = gigarank_element(type);
	int logical = type == MPI_LOGICAL || type == MPI_LOGICAL1 || type == MPI_LOGICAL2 || type == MPI_LOGICAL4 || type == MPI_LOGICAL8;
	int integer = !logical && ((e >= GIGARANK_INT8 && e <= GIGARANK_UINT64) || e == GIGARANK_CHARACTER || e == GIGARANK_OCTET);
	int floating = e == GIGARANK_FLOAT || e == GIGARANK_DOUBLE || e == GIGARANK_LONG_DOUBLE || e == GIGARANK_QUAD;
	int complex_ = e == GIGARANK_FLOAT_COMPLEX || e == GIGARANK_DOUBLE_COMPLEX || e == GIGARANK_LONG_DOUBLE_COMPLEX || e == GIGARANK_QUAD_COMPLEX;
	switch ((uintptr_t)operation) {
	case (uintptr_t)MPI_SUM: case (uintptr_t)MPI_PROD:
		return integer || floating || complex_;
	case (uintptr_t)MPI_MIN: case (uintptr_t)MPI_MAX:
		return integer || floating;
	case (uintptr_t)MPI_BAND: case (uintptr_t)MPI_BOR: case (uintptr_t)MPI_BXOR:
		return integer;
	case (uintptr_t)MPI_LAND: case (uintptr_t)MPI_LOR: case (uintptr_t)MPI_LXOR:
		return integer || logical || e == GIGARANK_BOOLEAN;
	case (uintptr_t)MPI_MINLOC: case (uintptr_t)MPI_MAXLOC:
		return e >= GIGARANK_FLOAT_INT;
	}
	return 0;
}

/* --- reductions: into = left op right, where into may be left or right --------------- */

#define EACH(t, expression) \
	do { \
		t *to = into; \
		const t *x = left, *y = right; \
		for (size_t i = 0; i < bytes / sizeof(t); i++) { \
			t a = x[i], b = y[i]; \
			to[i] = (t)(expression); \
		} \
	} while (0)

#define INTEGERS(expression) \
	case GIGARANK_INT8: case GIGARANK_CHARACTER: EACH(int8_t, expression); return; \
	case GIGARANK_INT16: EACH(int16_t, expression); return; \
	case GIGARANK_INT32: EACH(int32_t, expression); return; \
	case GIGARANK_INT64: EACH(int64_t, expression); return; \
	case GIGARANK_UINT8: case GIGARANK_OCTET: EACH(uint8_t, expression); return; \
	case GIGARANK_UINT16: EACH(uint16_t, expression); return; \
	case GIGARANK_UINT32: EACH(uint32_t, expression); return; \
	case GIGARANK_UINT64: EACH(uint64_t, expression); return;

/* Sums and products wrap round, which signed arithmetic does not. */
#define WRAPPING(expression) \
	case GIGARANK_INT8: case GIGARANK_UINT8: case GIGARANK_CHARACTER: case GIGARANK_OCTET: EACH(uint8_t, expression); return; \
	case GIGARANK_INT16: case GIGARANK_UINT16: EACH(uint16_t, expression); return; \
	case GIGARANK_INT32: case GIGARANK_UINT32: EACH(uint32_t, expression); return; \
	case GIGARANK_INT64: case GIGARANK_UINT64: EACH(uint64_t, expression); return;

#define FLOATING(expression) \
	case GIGARANK_FLOAT: EACH(float, expression); return; \
	case GIGARANK_DOUBLE: EACH(double, expression); return; \
	case GIGARANK_LONG_DOUBLE: EACH(long double, expression); return; \
	case GIGARANK_QUAD: EACH(gigarank_quad, expression); return;

#define COMPLEX(expression) \
	case GIGARANK_FLOAT_COMPLEX: EACH(float _Complex, expression); return; \
	case GIGARANK_DOUBLE_COMPLEX: EACH(double _Complex, expression); return; \
	case GIGARANK_LONG_DOUBLE_COMPLEX: EACH(long double _Complex, expression); return; \
	case GIGARANK_QUAD_COMPLEX: EACH(gigarank_quad_complex, expression); return;

#define PAIRS(before) \
	case GIGARANK_FLOAT_INT: EACHPAIR(struct packed_float_int, before); return; \
	case GIGARANK_DOUBLE_INT: EACHPAIR(struct packed_double_int, before); return; \
	case GIGARANK_LONG_INT: EACHPAIR(struct packed_long_int, before); return; \
	case GIGARANK_2INT: EACHPAIR(struct packed_two_int, before); return; \
	case GIGARANK_SHORT_INT: EACHPAIR(struct packed_short_int, before); return; \
	case GIGARANK_LONG_DOUBLE_INT: EACHPAIR(struct packed_long_double_int, before); return; \
	case GIGARANK_2REAL: EACHPAIR(struct packed_two_real, before); return; \
	case GIGARANK_2DOUBLE: EACHPAIR(struct packed_two_double, before); return;

/* Of equal values the value with the least index counts. */
#define EACHPAIR(t, before) \
	do { \
		t *to = into; \
		const t *x = left, *y = right; \
		for (size_t i = 0; i < bytes / sizeof(t); i++) { \
			t a = x[i], b = y[i]; \
			to[i] = a.value before b.value || (a.value == b.value && a.index <= b.index) ? a : b; \
		} \
	} while (0)

/* apply calls the function of an operation, several times if the count exceeds int. */
static void apply(struct gigarank_operation *o, char *in, char *inout, int64_t count, struct gigarank_datatype *t) {
	MPI_Datatype handle = gigarank_type_handle(t);
	struct gigarank_told before = gigarank_told;
	gigarank_told = (struct gigarank_told){t, handle, t->predefined ? (MPI_Fint)(uintptr_t)handle : t->number};
	if (o->large)
		((MPI_User_function_c *)o->function)(in, inout, &count, &handle);
	else
		for (int64_t done = 0; done == 0 || done < count;) {
			int n = count - done < INT_MAX ? (int)(count - done) : INT_MAX;
			int64_t at = done * (t->upper - t->lower);
			if (o->fortran)
				gigarank_hooks.call_operation(o->function, in + at, inout + at, n, gigarank_told.number);
			else
				o->function(in + at, inout + at, &n, &handle);
			done += n ? n : 1;
		}
	gigarank_told = before;
}

/* by_program calls an operation of a program. Its function sees values as they lie in the
 * program's buffers. */
static void by_program(struct gigarank_operation *o, struct gigarank_datatype *t, void *into, const void *left, const void *right, size_t bytes) {
	struct gigarank_datatype *real = t->stands_for ? t->stands_for : t;
	int64_t count = t->bytes ? (int64_t)(bytes / (size_t)t->bytes) : 0;
	if (t->dense && !t->stands_for && (into == right || into != left)) {
		if (into != right)
			memcpy(into, right, bytes);
		apply(o, (void *)left, into, count, real);
		return;
	}
	/* Values lie between the true bounds of the first value and of the last value. */
	int64_t extent = real->upper - real->lower, far = (count - 1) * extent;
	int64_t low = real->first + (far < 0 ? far : 0), high = real->last + (far < 0 ? 0 : far);
	size_t room = count > 0 ? (size_t)(high - low) : 0;
	size_t each = (room + 32) / 16 * 16; /* elements keep their alignment */
	char *memory = gigarank_enlarged(NULL, 2 * each), *a = memory + (low & 15) - low, *b = a + each;
	memset(memory, 0, 2 * each);
	gigarank_scatter_values(real, a, count, left, (int64_t)bytes);
	gigarank_scatter_values(real, b, count, right, (int64_t)bytes);
	apply(o, a, b, count, real);
	gigarank_gather_values(real, b, count, into);
	free(memory);
}

void gigarank_reduce(uintptr_t handle, uintptr_t type, void *into, const void *left, const void *right, size_t bytes) {
	switch (handle) {
	case (uintptr_t)MPI_SUM:
		switch (type) { WRAPPING(a + b) FLOATING(a + b) COMPLEX(a + b) }
		return;
	case (uintptr_t)MPI_PROD:
		switch (type) { WRAPPING(1u * a * b) FLOATING(a * b) COMPLEX(a * b) }
		return;
	case (uintptr_t)MPI_MIN:
		switch (type) { INTEGERS(a < b ? a : b) FLOATING(a < b ? a : b) }
		return;
	case (uintptr_t)MPI_MAX:
		switch (type) { INTEGERS(a > b ? a : b) FLOATING(a > b ? a : b) }
		return;
	case (uintptr_t)MPI_BAND:
		switch (type) { INTEGERS(a & b) }
		return;
	case (uintptr_t)MPI_BOR:
		switch (type) { INTEGERS(a | b) }
		return;
	case (uintptr_t)MPI_BXOR:
		switch (type) { INTEGERS(a ^ b) }
		return;
	case (uintptr_t)MPI_LAND:
		switch (type) { case GIGARANK_BOOLEAN: INTEGERS(a && b) }
		return;
	case (uintptr_t)MPI_LOR:
		switch (type) { case GIGARANK_BOOLEAN: INTEGERS(a || b) }
		return;
	case (uintptr_t)MPI_LXOR:
		switch (type) { case GIGARANK_BOOLEAN: INTEGERS(!a != !b) }
		return;
	case (uintptr_t)MPI_MINLOC:
		switch (type) { PAIRS(<) }
		return;
	case (uintptr_t)MPI_MAXLOC:
		switch (type) { PAIRS(>) }
		return;
	}
	by_program((struct gigarank_operation *)handle, (struct gigarank_datatype *)type, into, left, right, bytes);
}

struct reduction {
	uintptr_t handle, type;
	void *into;
	const void *left, *right;
	size_t bytes;
};

static void carry_out(void *what) {
	struct reduction *r = what;
	gigarank_reduce(r->handle, r->type, r->into, r->left, r->right, r->bytes);
}

/* aside returns a copy of a vector in memory that the engine keeps for up to two vectors of that length. */
static void *aside(struct gigarank_engine *e, int which, const void *vector, size_t bytes) {
	size_t each = (bytes + 15) / 16 * 16;
	if (e->aside_bytes < 2 * each) {
		free(e->aside);
		e->aside = gigarank_enlarged(NULL, e->aside_bytes = 2 * each);
	}
	return memcpy(e->aside + (which ? each : 0), vector, bytes);
}

/* gigarank_operate carries out an operation in the call of a rank, for the simulator. It returns 0,
 * or the signal that has stopped it. An operation of the program finds the rank's variables in
 * place. So it works on copies of vectors that lie in the saved variables or stacks of ranks. It leaves the
 * result in place of the right vector, which is copied first if it is to stay. */
int gigarank_operate(struct gigarank_engine *e, int32_t lp, uintptr_t handle, uintptr_t type, void *into, const void *left, const void *right, size_t bytes) {
	struct reduction r = {handle, type, into, left, right, bytes};
	if (handle < GIGARANK_PREDEFINED) {
		carry_out(&r);
		return 0;
	}
	if (!gigarank_has_variables(e, lp))
		return gigarank_attempt(e, carry_out, &r);
	if (into != right || gigarank_among_variables(e, lp, right, bytes))
		r.right = r.into = aside(e, 1, right, bytes);
	if (left == right || gigarank_among_variables(e, lp, left, bytes))
		r.left = aside(e, 0, left, bytes);
	gigarank_place_variables(e, lp);
	int signal = gigarank_attempt(e, carry_out, &r);
	gigarank_keep_variables(e, lp);
	if (r.into != into)
		memcpy(into, r.into, bytes);
	return signal;
}

struct row {
	uintptr_t handle, type;
	char *vectors;
	size_t bytes, count;
};

static void carry_out_row(void *what) {
	struct row *r = what;
	for (char *v = r->vectors; --r->count > 0; v += r->bytes)
		gigarank_reduce(r->handle, r->type, v + r->bytes, v, v + r->bytes, r->bytes);
}

/* gigarank_operate_row is gigarank_operate for a program's operation on many vectors, each with the
 * result of the vectors before it. The vectors lie one behind another in memory of the simulator. The result takes
 * the place of the last vector. */
int gigarank_operate_row(struct gigarank_engine *e, int32_t lp, uintptr_t handle, uintptr_t type, void *vectors, size_t bytes, size_t count) {
	struct row r = {handle, type, vectors, bytes, count};
	int placed = gigarank_has_variables(e, lp);
	if (placed)
		gigarank_place_variables(e, lp);
	int signal = gigarank_attempt(e, carry_out_row, &r);
	if (placed)
		gigarank_keep_variables(e, lp);
	return signal;
}
