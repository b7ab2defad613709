package typed

import (
	"math/bits"
	"reflect"
	"unsafe"

	"gigarank/mpivirt/internal/world"
)

// Datatype is the constraint of element types that can be sent: numbers and booleans of fixed size.
// Each type stands for the basic MPI datatype of the same kind.
type Datatype interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// elementType returns the type of the elements of a slice of T.
func elementType[T Datatype]() world.ElementType {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Bool:
		return world.Boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return world.Signed8 + world.ElementType(bits.Len(uint(sizeOf[T]()))) - 1
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return world.Unsigned8 + world.ElementType(bits.Len(uint(sizeOf[T]()))) - 1
	case reflect.Float32:
		return world.Single
	case reflect.Float64:
		return world.Double
	case reflect.Complex64:
		return world.ComplexSingle
	default:
		return world.ComplexDouble
	}
}

// Bytes returns the memory of a slice, nil for an empty slice.
func Bytes[T Datatype](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// Elements returns memory as a slice of T. The length must be a whole number of elements.
func Elements[T Datatype](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/sizeOf[T]())
}

// Room returns memory for the elements in a number of bytes.
func Room[T Datatype](bytes int64) []T { return make([]T, bytes/int64(sizeOf[T]())) }

// sizeOf returns the size of an element in bytes.
func sizeOf[T Datatype]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// SameMemory reports whether two slices begin at the same address.
func SameMemory[T any](a, b []T) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }
