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
		if last := given[len(given)-1]; !s.Given(last) || s.Given(last+1) {
			t.Fatalf("index %d: given %v, its successor %v", last, s.Given(last), s.Given(last+1))
		}
	}
	for index := int32(-2); index < 5000; index++ {
		if got, want := s.Given(index), slices.Contains(given, index); got != want {
			t.Errorf("index %d is given: %v, want %v", index, got, want)
		}
	}
}
