package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The queue against a list: items at the end, items before all others, and ranges after
// all items.
func TestReadyItemsComeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q readyQueue
		var slow []int32
		for i := range int32(rapid.IntRange(0, 300).Draw(t, "n")) {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				q.push(i)
				slow = append(slow, i)
			case 2:
				q.pushFirst(i)
				slow = slices.Insert(slow, 0, i)
			default:
				if len(slow) == 0 {
					continue
				}
				if got := q.peek(0); got != slow[0] {
					t.Fatalf("item %d comes next, want %d", got, slow[0])
				}
				if got := q.pop(); got != slow[0] {
					t.Fatalf("item %d, want %d", got, slow[0])
				}
				slow = slow[1:]
			}
		}
		q.pushRange(1000, 1003)
		for _, want := range append(slow, 1000, 1001, 1002) {
			if got := q.pop(); got != want {
				t.Fatalf("item %d, want %d", got, want)
			}
		}
		if !q.empty() {
			t.Fatal("something is left")
		}
	})
}
