package world

import (
	"unsafe"

	"gigarank/internal/prefetch"
)

// Beside holds a second value for each index of a Slab. Its address follows from the index alone,
// so that the processor can load it while the value in the slab is still on its way.
type Beside[T any] struct {
	first  *[SlabFirst]T
	chunks []*[slabChunk]T
}

// Open returns the value with an index. It makes missing room for the value.
func (b *Beside[T]) Open(index int32) *T {
	if index < SlabFirst {
		if b.first == nil {
			b.first = new([SlabFirst]T)
		}
		return &b.first[index]
	}
	chunk := int(index >> slabBits)
	for chunk >= len(b.chunks) {
		b.chunks = append(b.chunks, nil)
	}
	if b.chunks[chunk] == nil {
		b.chunks[chunk] = new([slabChunk]T)
	}
	return &b.chunks[chunk][index&(slabChunk-1)]
}

// Peek returns the value with an index, nil if there is no room for it yet.
func (b *Beside[T]) Peek(index int32) *T {
	if index < SlabFirst {
		if b.first == nil {
			return nil
		}
		return &b.first[index]
	}
	if chunk := int(index >> slabBits); chunk < len(b.chunks) && b.chunks[chunk] != nil {
		return &b.chunks[chunk][index&(slabChunk-1)]
	}
	return nil
}

// Prefetch has the processor load the value with an index, if there is room for it. It skips the
// first chunk, which is so short that it stays in the cache.
func (b *Beside[T]) Prefetch(index int32) {
	if chunk := int(index >> slabBits); chunk > 0 && chunk < len(b.chunks) && b.chunks[chunk] != nil {
		prefetch.Pair(unsafe.Pointer(&b.chunks[chunk][index&(slabChunk-1)]))
	}
}
