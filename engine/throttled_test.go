package engine

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/internal/random"
	"gigarank/vtime"

	"pgregory.net/rapid"
)

// The queues by destination give the same as a look at every item, while destinations
// get full and open again.
func TestThrottledTwin(t *testing.T) {
	type item struct {
		ev  Event
		dst int
	}
	rapid.Check(t, func(t *rapid.T) {
		const destinations = 6
		var h throttled
		var slow []item
		var full [destinations]bool
		room := func(dst int) bool { return !full[dst] }
		for i := range rapid.IntRange(0, 150).Draw(t, "steps") {
			dst := rapid.IntRange(0, destinations-1).Draw(t, "destination")
			switch rapid.SampledFrom([]string{"push", "push", "pop", "fill", "open"}).Draw(t, "step") {
			case "push":
				ev := Event{Time: vtime.Time(rapid.IntRange(0, 9).Draw(t, "time")), Source: int32(i), LP: int32(i)}
				h.push(ev, dst)
				slow = append(slow, item{ev, dst})
				slices.SortFunc(slow, func(a, b item) int { return compareTuples(a.ev, b.ev) })
			case "pop":
				want := slices.IndexFunc(slow, func(i item) bool { return room(i.dst) })
				got, found := h.pop(room)
				if found != (want >= 0) || found && got != slow[want].ev {
					t.Fatalf("popped %+v, %t of %+v, full %v", got, found, slow, full)
				}
				if found {
					slow = slices.Delete(slow, want, want+1)
				}
			case "fill":
				full[dst] = true
			case "open":
				if full[dst] {
					full[dst] = false
					h.opened(dst)
				}
			}
			least := vtime.Forever
			if len(slow) > 0 {
				least = slow[0].ev.Time
			}
			if got := h.minimum(); got != least {
				t.Fatalf("the least of %+v is at %v, not %v", slow, least, got)
			}
		}
	})
}

// A release looks at few items, however many wait for a destination without room.
func BenchmarkReleaseBesideFullDestination(b *testing.B) {
	for _, waiting := range []int{1 << 10, 1 << 16} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			var h throttled
			for i := range waiting {
				h.push(Event{Source: int32(i)}, 1)
			}
			for b.Loop() {
				h.push(Event{Time: 1}, 2)
				h.pop(func(dst int) bool { return dst != 1 })
			}
		})
	}
}

// Items for many destinations are held back and released, while destinations get full and open again.
func BenchmarkReleaseAmongDestinations(b *testing.B) {
	for _, destinations := range []int{2, 16, 256, 4096} {
		b.Run(fmt.Sprint(destinations), func(b *testing.B) {
			var h throttled
			draw := func(stream, n uint64, below int) int { return random.Intn(stream, n, 0, below) }
			hold := func(now vtime.Time, n uint64) {
				h.push(Event{Time: now + vtime.Time(draw(1, n, 1<<30)), LP: int32(n & 1023)}, draw(2, n, destinations))
			}
			for i := range 4 * destinations {
				hold(0, uint64(i))
			}
			now, n := vtime.Time(0), uint64(4*destinations)
			for b.Loop() {
				n++
				h.opened(draw(3, n, destinations))
				if ev, found := h.pop(func(dst int) bool { return (uint64(dst)*7+n>>6)%16 != 0 }); found {
					now = ev.Time
					hold(now, n)
				}
			}
		})
	}
}
