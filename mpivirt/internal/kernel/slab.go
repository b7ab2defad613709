package kernel

import "gigarank/invariant"

// slab holds values that come and go, addressed by small indices instead of
// pointers: four bytes a link, nothing for the garbage collector to follow, and
// no allocation once it has grown. Index 0 is never given out: it means none. The first
// chunk is short, so that a slab of few values costs little; the indices that it lacks
// are not given out either.
type slab[T any] struct {
	chunks   [][]T
	free     []int32
	next     int32
	released map[int32]bool // with invariants: as free
}

const (
	slabBits  = 10
	slabChunk = 1 << slabBits
	slabFirst = 1 << 4 // length of the first chunk
)

// at returns the value with an index. It stays where it is until it is released.
func (s *slab[T]) at(index int32) *T {
	if invariant.Enabled && (index <= 0 || index > s.next || s.released[index]) {
		invariant.Broken("%T number %d of %d is looked at, which is not in use", *new(T), index, s.next)
	}
	return s.peek(index)
}

// peek is at for an index that may have been released: the value is then zero, or
// another.
func (s *slab[T]) peek(index int32) *T {
	return &s.chunks[index>>slabBits][index&(slabChunk-1)]
}

// take returns the index of a zero value.
func (s *slab[T]) take() int32 {
	if n := len(s.free); n > 0 {
		index := s.free[n-1]
		s.free = s.free[:n-1]
		if invariant.Enabled {
			delete(s.released, index)
		}
		return index
	}
	s.next++
	if s.next == slabFirst {
		s.next = slabChunk
	}
	if len(s.chunks) == 0 {
		s.chunks = append(s.chunks, make([]T, slabFirst))
	}
	if int(s.next>>slabBits) == len(s.chunks) {
		s.chunks = append(s.chunks, make([]T, slabChunk))
	}
	return s.next
}

// release clears the value and gives its index back.
func (s *slab[T]) release(index int32) {
	var zero T
	*s.at(index) = zero
	s.free = append(s.free, index)
	if invariant.Enabled {
		if s.released == nil {
			s.released = map[int32]bool{}
		}
		s.released[index] = true
	}
}

// inUse is the number of values taken and not released.
func (s *slab[T]) inUse() int {
	taken := int(s.next)
	if taken >= slabChunk {
		taken -= slabChunk - slabFirst
	}
	return taken - len(s.free)
}

// bufferPool keeps byte buffers by power of two of their capacity.
type bufferPool struct {
	classes [48][][]byte
}

func bufferClass(n int) int {
	class := 0
	for size := 64; size < n; size <<= 1 {
		class++
	}
	return class
}

// take returns a buffer of n bytes with undefined content; nil for n = 0.
func (p *bufferPool) take(n int) []byte {
	if n == 0 {
		return nil
	}
	class := bufferClass(n)
	if list := p.classes[class]; len(list) > 0 {
		buffer := list[len(list)-1]
		p.classes[class] = list[:len(list)-1]
		return buffer[:n]
	}
	return make([]byte, n, 64<<class)
}

// release gives a buffer back.
func (p *bufferPool) release(buffer []byte) {
	if cap(buffer) == 0 {
		return
	}
	class := bufferClass(cap(buffer))
	p.classes[class] = append(p.classes[class], buffer[:0])
}
