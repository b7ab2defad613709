package engine

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gigarank/vtime"

	"pgregory.net/rapid"
)

// events draws events with many ties in time and source. Sources before and after all ranks are drawn, too.
func events(t *rapid.T) []Event {
	n := rapid.IntRange(0, 200).Draw(t, "n")
	list := make([]Event, n)
	for i := range list {
		list[i] = Event{
			Time:     vtime.Time(rapid.IntRange(0, 5).Draw(t, "time")),
			Source:   rapid.SampledFrom([]int32{math.MinInt32, 0, 1, math.MaxInt32}).Draw(t, "source"),
			Sequence: uint64(i),
			Data:     uint64(i),
		}
	}
	return list
}

// The order is (time, source, sequence), lexicographically.
func compareTuples(a, b Event) int {
	return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Sequence, b.Sequence))
}

func TestBeforeIsTheLexicographicOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := events(t)
		for i := range list {
			for j := range list {
				if got, want := list[i].Before(&list[j]), compareTuples(list[i], list[j]) < 0; got != want {
					t.Fatalf("%+v before %+v: %t", list[i], list[j], got)
				}
			}
		}
	})
}

// The heap against a sorted list, with pushes and pops mixed.
func TestEventListPopsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list eventList
		var slow []Event
		for _, ev := range events(t) {
			list.push(ev)
			slow = append(slow, ev)
			if rapid.IntRange(0, 2).Draw(t, "pop") == 0 {
				slices.SortFunc(slow, compareTuples)
				if got := list.minimum(); got != slow[0].Time {
					t.Fatalf("minimum %v; want %v", got, slow[0].Time)
				}
				if got := list.pop(); got != slow[0] {
					t.Fatalf("popped %+v; want %+v", got, slow[0])
				}
				slow = slow[1:]
			}
		}
		slices.SortFunc(slow, compareTuples)
		for _, want := range slow {
			if got := list.pop(); got != want {
				t.Fatalf("popped %+v; want %+v", got, want)
			}
		}
		if !list.empty() || list.minimum() != vtime.Forever {
			t.Fatal("something is left")
		}
	})
}

// Every LP has one owner, whose range contains it. Ranges are whole units and differ by
// one unit at most; the last unit may be cut short.
func TestPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Partition{LPs: rapid.IntRange(1, 1<<31-1).Draw(t, "LPs"), Engines: rapid.IntRange(1, 20000).Draw(t, "engines"),
			Unit: rapid.IntRange(0, 100).Draw(t, "unit")}
		unit := max(p.Unit, 1)
		end, least, most := 0, p.LPs, 0
		for e := range p.Engines {
			lo, hi := p.Range(e)
			if lo != end || hi < lo || lo%unit != 0 && lo != p.LPs {
				t.Fatalf("%+v: engine %d has %d to %d, the one before ends at %d", p, e, lo, hi, end)
			}
			least, most, end = min(least, hi-lo), max(most, hi-lo), hi
		}
		if end != p.LPs || most-least > 2*unit-1 {
			t.Fatalf("%+v: ends at %d, sizes %d to %d", p, end, least, most)
		}
		for range 20 {
			lp := rapid.IntRange(0, p.LPs-1).Draw(t, "LP")
			if lo, hi := p.Range(p.Owner(lp)); lp < lo || lp >= hi {
				t.Fatalf("%+v: LP %d has owner %d, which has %d to %d", p, lp, p.Owner(lp), lo, hi)
			}
		}
	})
}

// Items and ranges come out once each, whatever the mix.
func TestReadyQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q readyQueue
		waiting := map[int32]int{}
		next := int32(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				q.push(next)
				waiting[next]++
				next++
			case 1:
				n := int32(rapid.IntRange(0, 5).Draw(t, "length"))
				q.pushRange(next, next+n)
				for i := range n {
					waiting[next+i]++
				}
				next += n
			case 2:
				if q.count == 0 && len(q.ranges) > 0 {
					lo, hi := q.popRange(3)
					for i := lo; i < hi; i++ {
						waiting[i]--
					}
				}
			default:
				if !q.empty() {
					waiting[q.pop()]--
				}
			}
		}
		for !q.empty() {
			waiting[q.pop()]--
		}
		for item, n := range waiting {
			if n != 0 {
				t.Fatalf("item %d came %d times too seldom", item, n)
			}
		}
	})
}

func BenchmarkEventList(b *testing.B) {
	for _, n := range []int{1024, 65536} {
		b.Run(map[int]string{1024: "1024", 65536: "65536"}[n], func(b *testing.B) {
			var list eventList
			x := uint64(1)
			for i := range n {
				x = x*6364136223846793005 + 1442695040888963407
				list.push(Event{Time: vtime.Time(x >> 44), Source: int32(i)})
			}
			b.ReportAllocs()
			for b.Loop() {
				ev := list.pop()
				x = x*6364136223846793005 + 1442695040888963407
				ev.Time += vtime.Time(x >> 44)
				list.push(ev)
			}
		})
	}
}

// LPs are numbered up to the largest int32 less one.
func TestReadyQueueAtItsEnd(t *testing.T) {
	var q readyQueue
	q.pushRange(math.MaxInt32-5, math.MaxInt32)
	var got [][2]int32
	for !q.empty() {
		lo, hi := q.popRange(3)
		got = append(got, [2]int32{lo, hi})
	}
	want := [][2]int32{{math.MaxInt32 - 5, math.MaxInt32 - 2}, {math.MaxInt32 - 2, math.MaxInt32}}
	if !slices.Equal(got, want) {
		t.Errorf("popped %v, want %v", got, want)
	}
}
