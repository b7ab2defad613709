/* Datatypes: their type maps. */
#ifndef GIGARANK_MPI_DATATYPES_H
#define GIGARANK_MPI_DATATYPES_H

#include "mpi.h"
#include "mpi/objects.h"

struct gigarank_attribute;

/* Copies of a type at equal distances. */
struct gigarank_piece {
	int64_t at, count, stride;
	struct gigarank_datatype *of;
};

/* A datatype. A basic datatype has no pieces. In a message, a value takes the bytes of its elements,
 * one behind another in the order of the type map. */
struct gigarank_datatype {
	struct gigarank_object object;
	int64_t bytes;         /* of a value's elements */
	int64_t elements;      /* basic elements in a value */
	int64_t lower, upper;  /* bounds */
	int64_t first, last;   /* true bounds: of the elements alone */
	struct gigarank_piece *piece; /* in the order of the type map */
	int32_t pieces;
	int32_t align;         /* of the strictest element */
	uint8_t lower_set, upper_set; /* bounds were set, here or in a piece */
	uint8_t solid;         /* the elements lie one behind another from first on */
	uint8_t dense;         /* the values do so too: a buffer of them is sent as it is */
	uint8_t committed, predefined;
	uint8_t immense;       /* the type reaches further than memory, and is refused */
	uint8_t element;       /* of a predefined type, as the simulator knows it */
	uint8_t kind, unit;    /* type and bytes of the basic elements; untyped and 1 if they differ */
	uint8_t pinned;        /* a reduction may use it after its rank has gone on */
	MPI_Fint number;       /* in Fortran, if a reduction there uses it */
	struct gigarank_datatype *packed;     /* the dense type of its values in a message, once it is wanted */
	struct gigarank_datatype *stands_for; /* of a packed type: the type of the values */
	const char *basic;     /* name of a predefined type */

	/* How it was made. */
	int combiner;
	int32_t integers, addresses, counts, parts;
	int *integer;
	MPI_Aint *address;
	MPI_Count *count; /* large counts, and displacements beside them */
	struct gigarank_datatype **part;

	char *name;            /* that the program has given it */
	struct gigarank_attribute *attributes;
};

#pragma GCC visibility push(hidden)

/* gigarank_type returns the datatype of a handle, NULL if the handle is no datatype. */
struct gigarank_datatype *gigarank_type(MPI_Datatype handle);

/* gigarank_type_handle returns the handle of a datatype. */
MPI_Datatype gigarank_type_handle(struct gigarank_datatype *t);

/* gigarank_pin keeps a type, which a reduction may use after its rank has gone on. */
void gigarank_pin(struct gigarank_datatype *t);

/* The type that a function of the program gets as its argument, and its number in Fortran. The function may run outside ranks
 * and after its rank has freed the handle. */
struct gigarank_told {
	struct gigarank_datatype *type; /* NULL outside such functions */
	MPI_Datatype handle;
	MPI_Fint number;
};
extern __thread struct gigarank_told gigarank_told __attribute__((tls_model("initial-exec")));

/* gigarank_number_type notes the number of a type in Fortran. */
void gigarank_number_type(struct gigarank_datatype *t);

/* gigarank_pair returns the predefined type of pairs of a value and its index, MPI_DATATYPE_NULL if there is none. */
MPI_Datatype gigarank_pair(MPI_Datatype value, MPI_Datatype index);

/* gigarank_spreads reports whether a buffer of values of a type has to be packed to be sent. */
int gigarank_spreads(MPI_Datatype handle);

/* gigarank_use_type adds a use of a type, which it returns. gigarank_unuse_type ends a use, and takes NULL. Predefined types count no
 * uses. */
struct gigarank_datatype *gigarank_use_type(struct gigarank_datatype *t);
void gigarank_unuse_type(struct gigarank_datatype *t);

/* gigarank_packed_type returns the dense type of a type's values in messages, NULL without memory. */
struct gigarank_datatype *gigarank_packed_type(struct gigarank_datatype *t);

static inline int64_t gigarank_extent(const struct gigarank_datatype *t) { return t->upper - t->lower; }

/* gigarank_new_type returns a new type with room for pieces, or NULL. gigarank_add_piece adds a
 * piece, which uses its type; a piece without elements and bounds is left out. gigarank_seal_type
 * derives sizes and bounds from the pieces: the bounds of the elements, rounded up for their
 * alignment, unless bounds were set. gigarank_set_bounds sets bounds. gigarank_set_density finds
 * whether the elements lie one behind another. */
struct gigarank_datatype *gigarank_new_type(int32_t pieces);
void gigarank_add_piece(struct gigarank_datatype *t, int64_t at, int64_t count, int64_t stride, struct gigarank_datatype *of);
void gigarank_seal_type(struct gigarank_datatype *t);
void gigarank_set_bounds(struct gigarank_datatype *t, int64_t lower, int64_t upper);
void gigarank_set_density(struct gigarank_datatype *t);

/* gigarank_gather_values copies the elements of values to packed, and gigarank_scatter_values
 * copies as many back as fit into some bytes. */
void gigarank_gather_values(const struct gigarank_datatype *t, const void *buffer, int64_t count, char *packed);
void gigarank_scatter_values(const struct gigarank_datatype *t, void *buffer, int64_t count, const char *packed, int64_t bytes);

/* A call that is kept keeps the types of its layouts. */
void gigarank_keep_layouts(struct gigarank_call *c);
void gigarank_leave_layouts(struct gigarank_call *c);

/* gigarank_size returns the bytes of an element of a type, -1 for a handle that is no type. */
int64_t gigarank_size(MPI_Datatype type);

/* gigarank_element returns the type of an element as the simulator knows it. */
int gigarank_element(MPI_Datatype type);

#pragma GCC visibility pop

#endif
