package world

// Stack holds values; the value pushed last is popped first. It grows in chunks, which stay in use:
// unlike a growing slice, it leaves no garbage.
type Stack[T any] struct {
	top    []T // the chunk in which values are pushed
	chunks [][]T
	depth  int // depth of top in chunks
}

const (
	stackFirst = 1 << 2 // length of the first chunk; each further chunk is twice as long
	stackChunk = 1 << 10
)

// Push adds a value.
func (s *Stack[T]) Push(v T) {
	if len(s.top) == cap(s.top) {
		s.grow()
	}
	s.top = append(s.top, v)
}

// grow moves on to the next chunk.
func (s *Stack[T]) grow() {
	if s.chunks != nil {
		s.depth++
	}
	if s.depth == len(s.chunks) {
		s.chunks = append(s.chunks, make([]T, 0, min(stackFirst<<min(s.depth, 30), stackChunk)))
	}
	s.top = s.chunks[s.depth]
}

// Pop removes and returns the value pushed last. It returns false for an empty stack.
func (s *Stack[T]) Pop() (v T, ok bool) {
	last := len(s.top) - 1
	if last < 0 {
		if s.depth == 0 {
			return v, false
		}
		s.depth--
		whole := s.chunks[s.depth]
		s.top = whole[:cap(whole)]
		last = len(s.top) - 1
	}
	var none T
	v, s.top[last] = s.top[last], none // popped values do not stay reachable
	s.top = s.top[:last]
	return v, true
}

// Len returns the number of values.
func (s *Stack[T]) Len() int {
	n := len(s.top)
	for _, chunk := range s.chunks[:s.depth] {
		n += cap(chunk)
	}
	return n
}
