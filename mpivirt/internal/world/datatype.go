package world

import "unsafe"

// ElementType is the type of the elements of a message; int and int64 are the same type.
type ElementType uint8

// The kinds of elements.
const (
	Untyped ElementType = iota
	Boolean
	Signed8
	Signed16
	Signed32
	Signed64
	Unsigned8
	Unsigned16
	Unsigned32
	Unsigned64
	Single
	Double
	ComplexSingle
	ComplexDouble
)

var typeNames = [...]string{
	"untyped", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64", "complex64", "complex128",
}

func (k ElementType) String() string { return typeNames[k] }

// The names are those of types of C where these have a size of their own.
var mpiTypeNames = [...]string{
	"bytes or a derived datatype", "MPI_C_BOOL", "MPI_INT8_T", "MPI_SHORT", "MPI_INT", "MPI_INT64_T", "MPI_UINT8_T", "MPI_UNSIGNED_SHORT", "MPI_UNSIGNED", "MPI_UINT64_T",
	"MPI_FLOAT", "MPI_DOUBLE", "MPI_C_FLOAT_COMPLEX", "MPI_C_DOUBLE_COMPLEX",
}

// MPIName returns the name of MPI's datatype with such elements.
func (k ElementType) MPIName() string { return mpiTypeNames[k] }

// Overlap reports whether two pieces of memory have a byte in common.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}
