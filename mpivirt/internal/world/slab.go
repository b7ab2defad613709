package world

import (
	"math"
	"unsafe"

	"gigarank/internal/invariant"
	"gigarank/internal/prefetch"
)

// Slab holds values of short lives, addressed by indices instead of pointers. A link takes
// four bytes, the garbage collector follows none, and a grown slab does not allocate. Index 0
// is never given out: it means none. The first chunk is short, so that a slab of few values
// costs little. The indices that it lacks are not given out either.
type Slab[T any] struct {
	first    *[SlabFirst]T   // the first chunk
	chunks   []*[slabChunk]T // the others, from place 1 on
	free     Stack[int32]
	Next     int32          // greatest index given out so far
	released map[int32]bool // with invariants: the indices in free
}

const (
	slabBits  = 10
	slabChunk = 1 << slabBits
)

// SlabFirst is the length of a slab's first chunk.
const SlabFirst = 1 << 4

// Begin gives a slab of which nothing has been taken its first chunk, zero values that lie with
// what else its owner always needs.
func (s *Slab[T]) Begin(first *[SlabFirst]T) { s.first = first }

// At returns the value with an index. It stays where it is until it is released.
func (s *Slab[T]) At(index int32) *T {
	if invariant.Enabled && (index <= 0 || index > s.Next || s.released[index]) {
		invariant.Broken("%T number %d of %d is looked at, which is not in use", *new(T), index, s.Next)
	}
	return s.Peek(index)
}

// Peek is At for an index that may have been released. The value is then zero, or another.
func (s *Slab[T]) Peek(index int32) *T {
	if index < SlabFirst {
		return &s.first[index]
	}
	return &s.chunks[uint32(index)>>slabBits][index&(slabChunk-1)]
}

// Prefetch has the processor load the value with an index.
func (s *Slab[T]) Prefetch(index int32) { Prefetch(s.Peek(index)) }

// Prefetch has the processor load a value. It reads no data.
func Prefetch[T any](value *T) {
	for at := uintptr(0); at < unsafe.Sizeof(*value); at += 128 {
		prefetch.Pair(unsafe.Add(unsafe.Pointer(value), at))
	}
}

// Given reports whether an index has been given out, so that Peek takes it.
func (s *Slab[T]) Given(index int32) bool {
	return index > 0 && index <= s.Next && (index < SlabFirst || index >= slabChunk)
}

// Take returns the index of a zero value.
func (s *Slab[T]) Take() int32 {
	if index, ok := s.free.Pop(); ok {
		if invariant.Enabled {
			delete(s.released, index)
		}
		return index
	}
	s.Next++
	if s.Next == SlabFirst {
		s.Next = slabChunk
	}
	switch chunk := int(s.Next >> slabBits); {
	case chunk == 0 && s.first == nil:
		s.first = new([SlabFirst]T)
	case chunk > 0 && chunk >= len(s.chunks):
		if chunk == 1 {
			s.chunks = append(s.chunks, nil)
		}
		s.chunks = append(s.chunks, new([slabChunk]T))
	}
	return s.Next
}

// Release clears the value and gives its index back.
func (s *Slab[T]) Release(index int32) {
	var zero T
	*s.At(index) = zero
	s.free.Push(index)
	if invariant.Enabled {
		if s.released == nil {
			s.released = map[int32]bool{}
		}
		s.released[index] = true
	}
}

// InUse returns the number of values taken and not released.
func (s *Slab[T]) InUse() int {
	taken := int(s.Next)
	if taken >= slabChunk {
		taken -= slabChunk - SlabFirst
	}
	return taken - s.free.Len()
}

// bufferPool keeps byte buffers by power of two of their capacity.
type bufferPool struct {
	classes []Stack[[]byte] // up to the greatest that was given back
}

// BufferClass returns the class of buffers that hold n bytes: of 64 bytes times a power of two.
func BufferClass(n int) int {
	class := 0
	for size := 64; size < n; size <<= 1 {
		class++
	}
	return class
}

// BufferBytes returns the memory of a pooled buffer with n bytes of content, as far as it is
// touched, and of its place among those that are not in use.
func BufferBytes(n float64) float64 {
	const header = 24
	if n > PageBytes {
		return math.Ceil(n/PageBytes)*PageBytes + header
	}
	return float64(int64(64)<<BufferClass(int(n))) + header
}

// Take returns a buffer of n bytes with undefined content; nil for n = 0.
func (p *bufferPool) Take(n int) []byte {
	if n == 0 {
		return nil
	}
	class := BufferClass(n)
	if class < len(p.classes) {
		if buffer, ok := p.classes[class].Pop(); ok {
			return buffer[:n]
		}
	}
	return make([]byte, n, 64<<class)
}

// Release gives a buffer back.
func (p *bufferPool) Release(buffer []byte) {
	if cap(buffer) == 0 {
		return
	}
	class := BufferClass(cap(buffer))
	for class >= len(p.classes) {
		p.classes = append(p.classes, Stack[[]byte]{})
	}
	p.classes[class].Push(buffer[:0])
}
