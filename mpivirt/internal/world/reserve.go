package world

import (
	"reflect"
	"sync"
	"unsafe"
)

// Reserve returns an array whose length grows with the number of ranks, after passing its memory to
// Reserve of [Settings].
func Reserve[T any](k *Partition, n int) []T {
	if k.blocks != nil {
		if array := pieceOf[T](k.blocks, n); array != nil {
			return array
		}
	}
	return Announced[T](n, k.reserve)
}

// Announced returns an array of n zero values, after passing its memory to reserve, unless reserve
// is nil.
func Announced[T any](n int, reserve func(memory []byte)) []T {
	array := make([]T, n)
	if reserve != nil && n > 0 {
		var element T
		reserve(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(array))), uintptr(n)*unsafe.Sizeof(element)))
	}
	return array
}

// Blocks is memory from which the partitions of a process take small arrays without pointers during
// the set-up, so that thousands of partitions share large pages.
type Blocks struct {
	reserve func(memory []byte)
	length  int // length of a block in words
	lock    sync.Mutex
	rest    []uint64 // unused part of the last block
}

const (
	mostBlock      = 32 << 20 // bytes
	piecesPerBlock = 8        // least number of pieces of a block
)

// NewBlocks returns blocks of memory for a number of ranks.
func NewBlocks(ranks int, reserve func(memory []byte)) *Blocks {
	return &Blocks{reserve: reserve, length: min(2*ranks, mostBlock/8)}
}

// pieceOf returns a piece of a block as an array of n zero values, nil if the values may have
// pointers or the array is not small.
func pieceOf[T any](b *Blocks, n int) []T {
	var element T
	words := (n*int(unsafe.Sizeof(element)) + 7) / 8
	if words == 0 || words > b.length/piecesPerBlock || hasPointers(reflect.TypeFor[T]()) {
		return nil
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	if len(b.rest) < words {
		b.rest = Announced[uint64](b.length, b.reserve)
	}
	piece := b.rest[:words:words]
	b.rest = b.rest[words:]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(piece))), n)
}

// hasPointers reports whether values of a type may have pointers.
func hasPointers(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Array:
		return hasPointers(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return k < reflect.Bool || k > reflect.Complex128 || k == reflect.Uintptr
	}
}
