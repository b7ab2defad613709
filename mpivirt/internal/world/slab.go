package world

import (
	"math"
	"unsafe"

	"gigarank/internal/invariant"
	"gigarank/internal/prefetch"
)

// Slab holds short-lived values, addressed by indices instead of pointers. A link takes four bytes,
// the garbage collector follows none, and a grown slab does not allocate. No value has index 0,
// which means none. The first chunk is short, so that a slab of few values takes little memory. No
// value has the indices that the first chunk lacks.
type Slab[T any] struct {
	first    *[SlabFirst]T   // the first chunk
	chunks   []*[slabChunk]T // the later chunks, from place 1 on
	free     Stack[int32]
	Next     int32          // greatest index taken so far
	released map[int32]bool // with invariants: the indices in free
}

const (
	slabBits  = 10
	slabChunk = 1 << slabBits
)

// SlabFirst is the length of a slab's first chunk.
const SlabFirst = 1 << 4

// Begin gives an unused slab its first chunk, zero values in memory that the slab's owner allocates
// together with other values.
func (s *Slab[T]) Begin(first *[SlabFirst]T) { s.first = first }

// At returns the value with an index. The value stays at its address until it is released.
func (s *Slab[T]) At(index int32) *T {
	if invariant.Enabled && (index <= 0 || index > s.Next || s.released[index]) {
		invariant.Broken("%T number %d of %d is looked at, which is not in use", *new(T), index, s.Next)
	}
	return s.Peek(index)
}

// Peek is At for an index that may have been released. The value is then zero, or another value.
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

// Taken reports whether an index has been taken before, so that Peek accepts it.
func (s *Slab[T]) Taken(index int32) bool {
	return index > 0 && index <= s.Next && (index < SlabFirst || index >= slabChunk)
}

// Take returns the index of a new zero value.
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

// Release clears the value with an index and makes the index available again.
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

// bufferPool holds unused byte buffers, by power of two of their capacity.
type bufferPool struct {
	classes []Stack[[]byte] // up to the greatest class that was released
	held    int             // buffers that have not been released
}

// Held returns the number of buffers that have been taken and not released.
func (p *bufferPool) Held() int { return p.held }

// BufferClass returns the class of buffers for n bytes: class i has 64·2^i bytes.
func BufferClass(n int) int {
	class := 0
	for size := 64; size < n; size <<= 1 {
		class++
	}
	return class
}

// BufferBytes returns the memory of a pooled buffer with n bytes of content: the bytes touched, and
// the buffer's place in the list of unused buffers.
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
	p.held++
	class := BufferClass(n)
	if class < len(p.classes) {
		if buffer, ok := p.classes[class].Pop(); ok {
			return buffer[:n]
		}
	}
	return make([]byte, n, 64<<class)
}

// Release makes a buffer available again.
func (p *bufferPool) Release(buffer []byte) {
	if cap(buffer) == 0 {
		return
	}
	p.held--
	class := BufferClass(cap(buffer))
	for class >= len(p.classes) {
		p.classes = append(p.classes, Stack[[]byte]{})
	}
	p.classes[class].Push(buffer[:0])
}
