package sync

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"gigarank/vtime"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The tournament gives the same as a look at every engine.
func TestPromisesTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		others := rapid.IntRange(1, 100).Draw(t, "others")
		var p promises
		p.init(others, 20, &usualRoom{})
		slow, heard := slices.Repeat([]vtime.Time{20}, others), 0
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			number := rapid.IntRange(0, others-1).Draw(t, "number")
			slow[number], heard = vtime.Time(rapid.IntRange(0, 50).Draw(t, "promise")), max(heard, number+1)
			p.set(int32(number), slow[number])
			level := vtime.Time(rapid.IntRange(0, 50).Draw(t, "level"))
			limit := rapid.IntRange(1, others).Draw(t, "limit")
			least, below := vtime.Forever, []int32(nil)
			for i, promise := range slow {
				least = min(least, promise)
				if i < heard && promise < level && len(below) < limit {
					below = append(below, int32(i))
				}
				if p.of(int32(i)) != promise {
					t.Fatalf("promise of %d is %v; want %v", i, p.of(int32(i)), promise)
				}
			}
			if p.least() != least {
				t.Fatalf("the least is %v; want %v", p.least(), least)
			}
			if diff := gocmp.Diff(below, p.below(level, limit, nil)); diff != "" {
				t.Fatalf("below %v, at most %d (-want +got):\n%s", level, limit, diff)
			}
			if p.silent != others-heard {
				t.Fatalf("%d engines are silent; want %d", p.silent, others-heard)
			}
		}
	})
}

// A table of peers gives the same as a map, whatever the engines' numbers: powers of two apart,
// next to each other, at random.
func TestPeersTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table peerTable
		table.init(func(dst int) vtime.Duration { return vtime.Duration(dst) }, 5, &usualRoom{})
		slow := map[int]*peer{}
		engine := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 1<<20),
			rapid.Map(rapid.IntRange(0, 20), func(k int) int { return 1 << k }))
		for range rapid.IntRange(0, 200).Draw(t, "calls") {
			n := engine.Draw(t, "engine")
			if known := table.known(n); known != slow[n] {
				t.Fatalf("engine %d is %p; want %p", n, known, slow[n])
			}
			if rapid.Bool().Draw(t, "make") {
				p := table.of(n)
				if slow[n] == nil {
					slow[n] = p
				}
				if p != slow[n] || int(p.engine) != n || p.lookahead != vtime.Duration(max(n, 5)) || table.list[p.number] != p {
					t.Fatalf("peer %d is %+v, number %d of %d", n, *p, p.number, len(table.list))
				}
			}
		}
		if len(table.list) != len(slow) {
			t.Fatalf("%d peers; want %d", len(table.list), len(slow))
		}
	})
}

// The engines that hold one back are those whose promise is too low, of those that have sent
// one and of the others, unless they are too many.
func TestLaggards(t *testing.T) {
	e := NewEndpoint(NewInProcess(6)[2], Config{Lookahead: func(int) vtime.Duration { return 5 }})
	for engine, promise := range map[int]vtime.Time{0: 30, 4: 10, 5: 20} {
		e.promises.set(e.peers.of(engine).number, promise)
	}
	for _, c := range []struct {
		level vtime.Time
		limit int
		want  []int32
		few   bool
	}{
		{1, 6, nil, true},
		{2, 2, []int32{1, 3}, true},
		{11, 6, []int32{1, 3, 4}, true},
		{31, 5, []int32{0, 1, 3, 4, 5}, true},
		{31, 4, nil, false},
		{2, 1, nil, false},
	} {
		few := e.listLaggards(c.level, c.limit)
		var got []int32
		for _, p := range e.laggards {
			got = append(got, p.engine)
		}
		slices.Sort(got)
		if few != c.few || few && !slices.Equal(got, c.want) {
			t.Errorf("below %v, at most %d: %v, %v; want %v, %v", c.level, c.limit, few, got, c.few, c.want)
		}
	}
}

// What an endpoint keeps for engines that it has nothing to do with is nothing, and for one that
// it exchanges packets with at most 400 bytes: the memory does not depend on how many there are.
func TestMemoryOfAnEndpoint(t *testing.T) {
	const peers, repetitions = 64, 20
	once := func(end Transport, size int) uint64 {
		c := Config{Lookahead: func(int) vtime.Duration { return 5 }, LeastLookahead: 5}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range repetitions {
			e := NewEndpoint(end, c)
			for i := range peers {
				p := e.peers.of(i * (size / peers))
				e.promises.set(p.number, 7)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / repetitions
	}
	bytes := func(size int) uint64 { // the least of some: the runtime allocates, too
		end, least := NewInProcess(size)[size/2], uint64(math.MaxUint64)
		for range 5 {
			least = min(least, once(end, size))
		}
		return least
	}
	few, many := bytes(128), bytes(16384)
	t.Logf("an endpoint with %d peers takes %d bytes among 128 engines, %d among 16,384", peers, few, many)
	if many > few+64 || few > 2048+400*peers {
		t.Errorf("an endpoint with %d peers takes %d bytes among 128 engines, %d among 16,384", peers, few, many)
	}
}
