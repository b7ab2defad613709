package datatype

import (
	"unsafe"

	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Type is a datatype (MPI_Datatype). It is immutable.
type Type struct {
	pieces       []piece // in the order of the type map; none for a basic type
	size         int64
	elements     int64 // basic ones
	lb, ub       int64
	first, last  int64 // true bounds: of the elements alone
	align        int64 // of the strictest element
	lower, upper bool  // lb, ub were set by Resized, here or in a piece
	dense        bool  // the elements lie one after the other from 0 on, in the order of the map
}

// piece is copies of a type at equal distances.
type piece struct {
	at     int64
	count  int64
	stride int64 // in bytes
	of     *Type
}

// Of returns the basic datatype of one of Go's types.
func Of[T typed.Datatype]() *Type {
	var zero T
	n, align := int64(unsafe.Sizeof(zero)), int64(unsafe.Alignof(zero))
	return &Type{size: n, elements: 1, ub: n, last: n, align: align, dense: true}
}

// Bytes returns the memory of a slice, to send, receive or pack.
func Bytes[T typed.Datatype](s []T) []byte { return typed.Bytes(s) }

// Size returns the number of bytes of the elements (MPI_Type_size).
func (t *Type) Size() int64 { return t.size }

// Extent returns the lower bound, and how far apart consecutive values of the type lie
// (MPI_Type_get_extent).
func (t *Type) Extent() (lb, extent int64) { return t.lb, t.ub - t.lb }

// TrueExtent returns the displacement of the first byte of an element, and the number of bytes
// from there to the end of the last one (MPI_Type_get_true_extent).
func (t *Type) TrueExtent() (lb, extent int64) { return t.first, t.last - t.first }

// made returns the type of pieces, with its bounds. They are those of the elements, rounded up
// for their alignment, unless Resized has set some (MPI 4.1, 5.1.6 and 5.1.7).
func made(pieces []piece) *Type {
	t := &Type{align: 1}
	empty, bytes := true, true
	for _, p := range pieces {
		if p.count == 0 || p.of.elements == 0 && !p.of.lower && !p.of.upper {
			continue
		}
		t.pieces = append(t.pieces, p)
		t.size += p.count * p.of.size
		t.elements += p.count * p.of.elements
		t.align = max(t.align, p.of.align)
		low, high := min(p.at, p.at+(p.count-1)*p.stride), max(p.at, p.at+(p.count-1)*p.stride)
		t.bound(p.of, low+p.of.lb, high+p.of.ub, empty)
		empty = false
		if p.of.elements > 0 {
			first, last := low+p.of.first, high+p.of.last
			if bytes {
				t.first, t.last = first, last
			}
			t.first, t.last, bytes = min(t.first, first), max(t.last, last), false
		}
	}
	if length := t.ub - t.lb; !t.upper && length%t.align != 0 {
		t.ub += t.align - length%t.align
	}
	t.dense = len(t.pieces) == 1 && t.lb == 0 && t.ub == t.size && t.pieces[0].at == 0 && t.pieces[0].of.dense &&
		(t.pieces[0].count == 1 || t.pieces[0].stride == t.pieces[0].of.size)
	return t
}

// bound widens the bounds by those of a piece. Bounds that were set go before all others.
func (t *Type) bound(of *Type, lb, ub int64, first bool) {
	switch {
	case first || of.lower && !t.lower:
		t.lb = lb
	case of.lower == t.lower:
		t.lb = min(t.lb, lb)
	}
	switch {
	case first || of.upper && !t.upper:
		t.ub = ub
	case of.upper == t.upper:
		t.ub = max(t.ub, ub)
	}
	t.lower, t.upper = t.lower || of.lower, t.upper || of.upper
}

// check returns the fault of counts and types, nil if they have none.
func check(counts []int, types ...*Type) error {
	for _, n := range counts {
		if n < 0 {
			return world.Errorf(world.ErrCount, "%d elements: give 0 or more", n)
		}
	}
	for _, t := range types {
		if t == nil {
			return world.Errorf(world.ErrType, "no datatype: give one that a function of this package has made")
		}
	}
	return nil
}

// copies returns the piece of n consecutive values of a type at a displacement.
func copies(at int64, n int, t *Type) piece { return piece{at, int64(n), t.ub - t.lb, t} }

// Contiguous returns the type of consecutive values (MPI_Type_contiguous).
func Contiguous(count int, t *Type) (*Type, error) {
	if err := check([]int{count}, t); err != nil {
		return nil, err
	}
	return made([]piece{copies(0, count, t)}), nil
}

// Vector returns the type of blocks of consecutive values, a stride of values apart
// (MPI_Type_vector).
func Vector(count, blockLength, stride int, t *Type) (*Type, error) {
	if err := check(nil, t); err != nil {
		return nil, err
	}
	return Hvector(count, blockLength, int64(stride)*(t.ub-t.lb), t)
}

// Hvector is Vector with a stride in bytes (MPI_Type_create_hvector).
func Hvector(count, blockLength int, stride int64, t *Type) (*Type, error) {
	if err := check([]int{count, blockLength}, t); err != nil {
		return nil, err
	}
	block := made([]piece{copies(0, blockLength, t)})
	return made([]piece{{0, int64(count), stride, block}}), nil
}

// Indexed returns the type of blocks at displacements in values (MPI_Type_indexed).
func Indexed(blockLengths, displacements []int, t *Type) (*Type, error) {
	if err := check(blockLengths, t); err != nil {
		return nil, err
	}
	return Hindexed(blockLengths, scaled(displacements, t.ub-t.lb), t)
}

// Hindexed is Indexed with displacements in bytes (MPI_Type_create_hindexed).
func Hindexed(blockLengths []int, displacements []int64, t *Type) (*Type, error) {
	types := make([]*Type, len(blockLengths))
	for i := range types {
		types[i] = t
	}
	return Struct(blockLengths, displacements, types)
}

// IndexedBlock is Indexed with blocks of one length (MPI_Type_create_indexed_block).
func IndexedBlock(blockLength int, displacements []int, t *Type) (*Type, error) {
	if err := check([]int{blockLength}, t); err != nil {
		return nil, err
	}
	return HindexedBlock(blockLength, scaled(displacements, t.ub-t.lb), t)
}

// HindexedBlock is IndexedBlock with displacements in bytes (MPI_Type_create_hindexed_block).
func HindexedBlock(blockLength int, displacements []int64, t *Type) (*Type, error) {
	lengths := make([]int, len(displacements))
	for i := range lengths {
		lengths[i] = blockLength
	}
	return Hindexed(lengths, displacements, t)
}

func scaled(displacements []int, extent int64) []int64 {
	bytes := make([]int64, len(displacements))
	for i, d := range displacements {
		bytes[i] = int64(d) * extent
	}
	return bytes
}

// Struct returns the type of blocks of several types at displacements in bytes
// (MPI_Type_create_struct). Errors: ErrArgument for lists of different lengths; ErrCount; ErrType.
func Struct(blockLengths []int, displacements []int64, types []*Type) (*Type, error) {
	if len(blockLengths) != len(displacements) || len(blockLengths) != len(types) {
		return nil, world.Errorf(world.ErrArgument, "%d block lengths, %d displacements and %d types: give one of each", len(blockLengths), len(displacements), len(types))
	}
	if err := check(blockLengths, types...); err != nil {
		return nil, err
	}
	pieces := make([]piece, len(types))
	for i, t := range types {
		pieces[i] = copies(displacements[i], blockLengths[i], t)
	}
	return made(pieces), nil
}

// Resized returns the type with other bounds (MPI_Type_create_resized).
func Resized(t *Type, lb, extent int64) (*Type, error) {
	if err := check(nil, t); err != nil {
		return nil, err
	}
	resized := made([]piece{copies(0, 1, t)})
	resized.lb, resized.ub, resized.lower, resized.upper = lb, lb+extent, true, true
	resized.dense = false
	return resized, nil
}
