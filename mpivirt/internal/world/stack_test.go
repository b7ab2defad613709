package world

import (
	"runtime"
	"testing"
	"weak"

	"pgregory.net/rapid"
)

// A stack does what a slice does.
func TestStackAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Stack[int]
		var model []int
		for range rapid.IntRange(1, 40).Draw(t, "turns") {
			for n := range rapid.IntRange(0, 3000).Draw(t, "pushed") {
				s.Push(n)
				model = append(model, n)
			}
			for range rapid.IntRange(0, 3000).Draw(t, "popped") {
				got, ok := s.Pop()
				last := len(model) - 1
				if ok != (last >= 0) {
					t.Fatalf("popping from %d values: %v", len(model), ok)
				}
				if !ok {
					break
				}
				if got != model[last] {
					t.Fatalf("popped %d, want %d", got, model[last])
				}
				model = model[:last]
			}
			if s.Len() != len(model) {
				t.Fatalf("%d values, want %d", s.Len(), len(model))
			}
		}
	})
}

// A stack that has been filled once takes no more memory.
func TestStackStays(t *testing.T) {
	var s Stack[[]byte]
	fill := func() {
		for range 5000 {
			s.Push(nil)
		}
		for range 5000 {
			s.Pop()
		}
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n > 0 {
		t.Errorf("%v allocations in a stack that has been filled before", n)
	}
}

// The collector takes back what has been popped.
func TestStackForgets(t *testing.T) {
	var s Stack[*[1 << 10]byte]
	var popped []weak.Pointer[[1 << 10]byte]
	for range 100 {
		s.Push(new([1 << 10]byte))
	}
	for range 100 {
		v, _ := s.Pop()
		popped = append(popped, weak.Make(v))
	}
	runtime.GC()
	for i, p := range popped {
		if p.Value() != nil {
			t.Fatalf("value %d is kept", i)
		}
	}
	runtime.KeepAlive(&s)
}
