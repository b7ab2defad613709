package mpivirt

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// Datatype are the types whose slices can be sent: numbers and truth values of
// fixed size. Each stands for the basic MPI datatype of the same kind.
type Datatype interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// kind is what types have in common whose elements mean the same: int and int64 do.
type kind uint8

// The kinds of elements.
const (
	untyped kind = iota
	truth
	signed8
	signed16
	signed32
	signed64
	unsigned8
	unsigned16
	unsigned32
	unsigned64
	single
	double
	complexSingle
	complexDouble
)

var kindNames = [...]string{
	"untyped", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64", "complex64", "complex128",
}

func (k kind) String() string { return kindNames[k] }

// kindOf is the kind of the elements of a type.
func kindOf[T Datatype]() kind {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Bool:
		return truth
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signed8 + kind(bits.Len(uint(sizeOf[T]()))) - 1
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return unsigned8 + kind(bits.Len(uint(sizeOf[T]()))) - 1
	case reflect.Float32:
		return single
	case reflect.Float64:
		return double
	case reflect.Complex64:
		return complexSingle
	default:
		return complexDouble
	}
}

// overlap reports whether two pieces of memory have a byte in common.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}

// bytesOf returns the memory of a slice, nil for a nil or empty one.
func bytesOf[T Datatype](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// elements returns memory as a slice of T; its length is a whole number of
// elements.
func elements[T Datatype](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/sizeOf[T]())
}

// sizeOf is the size of an element in bytes.
func sizeOf[T Datatype]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
