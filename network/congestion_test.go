package network

import (
	"fmt"
	"testing"

	"gigarank/vtime"
	"pgregory.net/rapid"
)

// Messages of nodes that all send by one displacement pass a link as often as the link load says. Half way round a ring the routes of
// this test all go up, and the link load has half of them go down.
func TestLinkLoadOfRoutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SliceOfN(rapid.IntRange(1, 7), 1, 3).Draw(t, "dims")
		g := grid{dims: dims, wrap: true}
		c := congestion{bandwidth: bandwidthOf(t, "1GB/s")}.linkLoadOf(g, 0, 0)
		by := make([]int, len(dims))
		tie := false
		for i, n := range dims {
			by[i] = rapid.IntRange(0, n-1).Draw(t, "displacement")
			tie = tie || 2*by[i] == n
		}
		moved := func(place int) int {
			to, stride := 0, 1
			for i := len(dims) - 1; i >= 0; i-- {
				n := dims[i]
				to += (place%n + by[i]) % n * stride
				place, stride = place/n, stride*n
			}
			return to
		}
		load, most := map[hop]int{}, 0
		for place := range product(dims) {
			for _, h := range g.route(place, moved(place), share{}, nil) {
				load[hop{from: h.from, to: h.to}]++
				most = max(most, load[hop{from: h.from, to: h.to}])
			}
		}
		for place := range product(dims) {
			if got := c.shared(place, moved(place)); got != most && !tie || got > most || 2*got < most {
				t.Fatalf("from %d of %v to %d the link load has %d messages on a link, the routes %d", place, dims, moved(place), got, most)
			}
		}
	})
}

// Messages of nodes that all send by one displacement go from a unit of a hierarchy to two others at most. The link load has as many of
// them share links as leave a unit, or half of these.
func TestLinkLoadBetweenUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner, outer, units := rapid.IntRange(1, 4).Draw(t, "nodes"), rapid.IntRange(1, 4).Draw(t, "leaves"), rapid.IntRange(1, 5).Draw(t, "units")
		whole, places := inner*outer, inner*outer*units
		h := hierarchy{[]unit{{size: inner}, {size: outer}, {size: unlimited}}}
		by := rapid.IntRange(0, places-1).Draw(t, "displacement")
		c := congestion{bandwidth: bandwidthOf(t, "1GB/s")}.linkLoadOf(h, places, 0)
		left, others := 0, map[int]bool{}
		for place := range whole {
			if to := (place + by) % places / whole; to != 0 {
				left, others[to] = left+1, true
			}
		}
		if len(others) > 2 {
			t.Fatalf("messages by %d go from a unit of %d to %d others", by, whole, len(others))
		}
		for place := range places {
			to := (place + by) % places
			got := c.shared(place, to)
			switch {
			case place/whole == to/whole && got > 1:
				t.Fatalf("%d messages share the way from %d to %d within a unit of %d", got, place, to, whole)
			case place/whole != to/whole && (got > left || 2*got < left):
				t.Fatalf("%d messages of %d that leave a unit share the way from %d to %d", got, left, place, to)
			}
			if n := c.steady(place, to); place+n < places && to+n <= places && n > 1 && c.shared(place+n-1, to+n-1) != got {
				t.Fatalf("from %d to %d as from %d to %d", place, to, place+n-1, to+n-1)
			}
		}
	})
}

// A message between units waits for what the links need for all messages beyond its own time at its node's interface.
func TestWaitBetweenUnits(t *testing.T) {
	const machine = "name: m\nnode: {bandwidth: 10GB/s}\ntopology: {kind: hierarchy, levels: [{size: 8, hops: 1}, {hops: 2}]}\nnetwork: {model: flat, latency: 1us, bandwidth: 10GB/s, congestion: {bandwidth: 20GB/s}}\n"
	m, err := Parse("m", []byte(machine), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(32)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dst  int
		want vtime.Duration // of 1 MB: 1 us and 100 us alone; four messages need 200 us on the links
	}{{4, 101 * vtime.Microsecond}, {8, 201 * vtime.Microsecond}, {16, 201 * vtime.Microsecond}, {31, 101 * vtime.Microsecond}} {
		if got := target.Congested().Delay(0, c.dst, 1_000_000); got != c.want {
			t.Errorf("1 MB to rank %d take %v, not %v", c.dst, got, c.want)
		}
		if got := target.Delay(0, c.dst, 1_000_000); got != 101*vtime.Microsecond {
			t.Errorf("1 MB to rank %d alone take %v", c.dst, got)
		}
	}
}

func bandwidthOf(t *rapid.T, text string) bandwidth {
	m, err := Parse("m", []byte("name: m\ntopology: {kind: ring}\nnetwork: {model: flat, latency: 1us, congestion: {bandwidth: "+text+"}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.congestion.bandwidth
}

// A dimension of an allocation that is longer than the machine's longest is folded in two, and ranks of one node, or alone, do not
// wait. Delays of consecutive pairs are those of each pair.
func TestCongestion(t *testing.T) {
	const file = "name: m\nranks_per_node: 2\ntopology: {kind: torus, dimensions: 3}\nallocation: {shape: [4, 64]}\n" +
		"network: {model: flat, latency: 1us, bandwidth: 1GB/s, congestion: {bandwidth: 500MB/s, longest: 32}}\n"
	m, err := Parse("m", []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := m.Target(512)
	if err != nil {
		t.Fatal(err)
	}
	congested := alone.Congested()
	for _, c := range []struct{ src, dst, links int }{
		{0, 1, 0}, {0, 2, 1}, {0, 6, 3}, {0, 2 * 4, 2}, // half of the messages go each way round the eight
		{0, 2 * 8, 1}, {0, 2 * 24, 3}, {0, 2 * 32, 2}, {0, 2 * 64, 1}, {1, 2*128 + 1, 1}, {0, 2*(64+24) + 1, 3},
	} {
		wait := vtime.Duration(max(c.links-1, 0)) * 2 * vtime.Microsecond
		if got, want := congested.Delay(c.src, c.dst, 1000), alone.Delay(c.src, c.dst, 1000)+wait; got != want {
			t.Errorf("from %d to %d a congested message takes %v, want %v", c.src, c.dst, got, want)
		}
		if want := 2 * vtime.Microsecond; alone.Delay(c.src, c.dst, 1000) != want {
			t.Errorf("from %d to %d a message alone takes %v, want %v", c.src, c.dst, alone.Delay(c.src, c.dst, 1000), want)
		}
	}
	for _, from := range []struct{ src, dst int }{{0, 1}, {0, 2}, {3, 17}, {100, 3}, {0, 256}} {
		out := make([]vtime.Duration, 250)
		congested.Delays(from.src, from.dst, 1000, out)
		for j, got := range out {
			if want := congested.Delay(from.src+j, from.dst+j, 1000); got != want {
				t.Fatalf("Delays(%d, %d)[%d] is %v, Delay %v", from.src, from.dst, j, got, want)
			}
		}
	}
	if longest := congested.LongestDelay(1000); longest < congested.Delay(0, 2*3, 1000) {
		t.Errorf("the longest delay is %v", longest)
	}
}

func TestCongestionIsRefused(t *testing.T) {
	for _, rest := range []string{
		"topology: {kind: star}\nnetwork: {model: flat, latency: 1us, congestion: {bandwidth: 1GB/s}}",
		"topology: {kind: ring}\nnetwork: {model: loggops, L: 1us, o: 1us, g: 0, G: 0, congestion: {bandwidth: 1GB/s}}",
		"topology: {kind: ring}\nnetwork: {model: flat, latency: 1us, congestion: {longest: 4}}",
		"network: {model: flat, latency: 1us, congestion: {bandwidth: 1GB/s}}",
	} {
		if _, err := Parse("m", []byte(fmt.Sprintf("name: m\n%s\n", rest)), nil); err == nil {
			t.Errorf("%s is accepted", rest)
		}
	}
}
