package p2p

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

func drawOrder(r *rapid.T) order {
	return order{vtime.Time(rapid.IntRange(0, 6).Draw(r, "arrival")), int32(rapid.IntRange(0, 3).Draw(r, "rank")), uint32(rapid.IntRange(0, 3).Draw(r, "number"))}
}

// checkHeap fails if an element of a heap comes before its parent.
func checkHeap(r *rapid.T, children int, orders []order) {
	for i := 1; i < len(orders); i++ {
		if orders[i].before(&orders[(i-1)/children]) {
			r.Fatalf("heap %+v: element %d comes before its parent", orders, i)
		}
	}
}

// A heap of contested bins holds the bins that are put in and not taken out, with the latest order of each, and each bin knows its place.
func TestHeapOfContestedBins(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := &bins{all: make([]bin, 12)}
		want := map[int32]order{}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			i := int32(rapid.IntRange(0, len(x.all)-1).Draw(r, "bin"))
			if rapid.IntRange(0, 3).Draw(r, "step") == 0 {
				x.uncontest(i)
				delete(want, i)
			} else {
				want[i] = drawOrder(r)
				x.contested.put(x.all, i, want[i])
			}
			var orders []order
			for at, e := range x.contested {
				orders = append(orders, e.order)
				if o, is := want[e.bin]; !is || o != e.order || int(x.all[e.bin].place) != at+1 {
					r.Fatalf("heap %+v: bin %d at %d, which has place %d, want %+v", x.contested, e.bin, at, x.all[e.bin].place, want)
				}
			}
			if len(orders) != len(want) {
				r.Fatalf("a heap of %d bins, want %d", len(orders), len(want))
			}
			checkHeap(r, 2, orders)
		}
	})
}

// A heap of heads keeps its order when its top is replaced, and when the heads of messages that have been taken are swept.
func TestHeapOfHeads(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := &bins{all: make([]bin, rapid.IntRange(1, 40).Draw(r, "bins"))}
		var heap []head
		var kept []int32
		for i := range x.all {
			o := drawOrder(r)
			x.all[i].number, x.all[i].messages.head = o.number, 1
			if rapid.Bool().Draw(r, "taken") {
				x.all[i].number++
			} else {
				kept = append(kept, int32(i))
			}
			heap = append(heap, head{o, int32(i)})
		}
		ordersOf := func() (all []order) {
			for _, h := range heap {
				all = append(all, h.order)
			}
			return all
		}
		for i := len(heap) - 1; i >= 0; i-- { // as from the leaves up
			sink(heap, i, heap[i])
		}
		checkHeap(r, headChildren, ordersOf())
		if len(heap) > 1 {
			last := heap[len(heap)-1]
			heap = heap[:len(heap)-1]
			kept = slices.DeleteFunc(kept, func(i int32) bool { return i == heap[0].bin })
			sink(heap, 0, last)
			checkHeap(r, headChildren, ordersOf())
		}
		x.sweep(&heap)
		checkHeap(r, headChildren, ordersOf())
		var left []int32
		for _, h := range heap {
			left = append(left, h.bin)
		}
		slices.Sort(left)
		if !slices.Equal(left, kept) {
			r.Fatalf("bins %v are left, want %v", left, kept)
		}
	})
}
