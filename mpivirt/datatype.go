package mpivirt

import "unsafe"

// Datatype are the types whose slices can be sent: numbers and truth values of
// fixed size. Each stands for the basic MPI datatype of the same kind.
type Datatype interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
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
