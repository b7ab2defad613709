package world

import "unsafe"

// Reserve returns an array whose length grows with the number of ranks, after it has passed
// the memory to Reserve of [Settings].
func Reserve[T any](k *Partition, n int) []T {
	array := make([]T, n)
	if f := k.reserve; f != nil && n > 0 {
		var element T
		f(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(array))), uintptr(n)*unsafe.Sizeof(element)))
	}
	return array
}
