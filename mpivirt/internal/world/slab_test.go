package world

import (
	"slices"
	"testing"
)

// The indices that count as given are those that have been given out.
func TestSlabGiven(t *testing.T) {
	var s Slab[int64]
	var given []int32
	for range 3000 {
		given = append(given, s.Take())
		if last := given[len(given)-1]; !s.Taken(last) || s.Taken(last+1) {
			t.Fatalf("index %d: given %v, its successor %v", last, s.Taken(last), s.Taken(last+1))
		}
	}
	for index := int32(-2); index < 5000; index++ {
		if got, want := s.Taken(index), slices.Contains(given, index); got != want {
			t.Errorf("index %d is given: %v, want %v", index, got, want)
		}
	}
}

// A value beside those of a slab is found again by its index, and is no other's.
func TestBesideAgainstAMap(t *testing.T) {
	var s Slab[int64]
	var b Beside[int32]
	b.Prefetch(slabChunk) // where there is no room yet
	want := map[int32]int32{}
	for i := range int32(3000) {
		index := s.Take()
		if *b.Open(index) != 0 {
			t.Fatalf("index %d has %d at first", index, *b.Open(index))
		}
		*b.Open(index), want[index] = i+1, i+1
	}
	for index, v := range want {
		if b.Prefetch(index); *b.Open(index) != v {
			t.Errorf("index %d has %d, want %d", index, *b.Open(index), v)
		}
	}
}
