package network

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gigarank/vtime"
)

const writesMachine = `ranks_per_node: 1
node: {interfaces: 4, bandwidth: 1GB/s}
topology: {kind: torus, dims: [4, 2]}
network: {model: flat, latency: 1us, bandwidth: 1GB/s, reduce: {bandwidth: 2GB/s}, torus_writes: {begin: 6us, hop: 2us, take: 500ns}}
`

// The times on 4·2 nodes, worked out by hand: 4 hops to the far corner, along two dimensions.
func TestTimesOfWritesAlongTorus(t *testing.T) {
	const us = vtime.Microsecond
	plain := mustTarget(t, writesMachine, 8)
	summing := mustTarget(t, strings.Replace(writesMachine, "torus_writes", "allreduce: [{nodes: 8, delays: [{size: 8, delay: 3us}]}], torus_writes", 1), 8)
	for _, c := range []struct {
		what string
		time func(*Target) vtime.Duration
		want vtime.Duration
	}{
		// The parts of 4,000 B have 4 segments of 1 us; the first takes 3 us a hop, each other one 1 us and 0.5 us for that of each tree.
		{"bcast", func(t *Target) vtime.Duration { return t.TreesTime(Trees{Down: true, Count: 2, Segment: 1000}, 8000) }, 6*us + 4*3*us + 3*2*us},
		// A hop takes 1 us more to take the segments of two children in, and 0.5 us for the sum; each beat the sums of both trees.
		{"reduce", func(t *Target) vtime.Duration { return t.TreesTime(Trees{Up: true, Count: 2, Segment: 1000}, 8000) }, 6*us + 4*4500*us/1000 + 3*3*us},
		{"allreduce", func(t *Target) vtime.Duration {
			return t.TreesTime(Trees{Up: true, Down: true, Count: 2, Segment: 1000}, 8000)
		}, 12*us + 4*7500*us/1000 + 3*4*us},
		{"bcast in one segment", func(t *Target) vtime.Duration { return t.TreesTime(Trees{Down: true, Count: 2}, 8000) }, 6*us + 4*6*us},
		{"bcast of nothing", func(t *Target) vtime.Duration { return t.TreesTime(Trees{Down: true, Count: 2, Segment: 1000}, 0) }, 6*us + 4*2*us},
		// 7 blocks of 600 B over 3 links: 0.2 us, taken in and handed on.
		{"allgather", func(t *Target) vtime.Duration { return t.RingsTime(600) }, 6*us + 2*2*us + 7*1200*us/1000},
		// Half of 8 blocks come over one link of the longer dimension, or of the other one.
		{"gather", func(t *Target) vtime.Duration { return t.DirectTime(1000) }, 6*us + 4*2*us + 4*us},
		// 7 blocks of 1 us at an interface, of 100 ns, in which a processor takes half of one in.
		{"alltoall", func(t *Target) vtime.Duration { return t.SpreadTime(1000) }, 6*us + 4*2*us + 7*us},
		{"alltoall of short blocks", func(t *Target) vtime.Duration { return t.SpreadTime(100) }, 6*us + 4*2*us + 7*us/2},
	} {
		if got := c.time(plain); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
		if got := c.time(summing); got != c.want+3*us {
			t.Errorf("%s where the network sums vectors: got %v, want %v", c.what, got, c.want+3*us)
		}
	}
}

// Blocks of an alltoall share links as messages do that are counted one by one: those of all nodes, both ways by the same distance, dimension after
// dimension the shorter way, half of them each way where both are as long.
func TestLinksThatAnAlltoallShares(t *testing.T) {
	for _, c := range []struct {
		kind string
		dims []int
	}{
		{"torus", []int{8}}, {"torus", []int{9}}, {"torus", []int{12, 3}}, {"torus", []int{6, 8}}, {"torus", []int{2, 10, 3}},
		{"mesh", []int{7}}, {"mesh", []int{8, 2}}, {"mesh", []int{3, 5, 4}},
	} {
		nodes := product(c.dims)
		target := mustTarget(t, strings.Replace(writesMachine, "{kind: torus, dims: [4, 2]}", fmt.Sprintf("{kind: %s, dims: %s}", c.kind, strings.ReplaceAll(fmt.Sprint(c.dims), " ", ", ")), 1), int64(nodes))
		hops := 0
		for _, n := range c.dims {
			hops += n - 1
		}
		want := 6*vtime.Microsecond + vtime.Duration(hops)*2*vtime.Microsecond
		for way := 1; way < nodes; way++ {
			back := opposite(way, c.dims)
			if back < way {
				continue // counted with its opposite
			}
			halves := make([]int, 2*len(c.dims)*nodes) // by dimension, direction and node: half messages on the link there
			messages := 0
			for _, d := range slices.Compact([]int{way, back}) {
				messages++
				for node := range nodes {
					routeHalves(node, d, c.dims, c.kind == "torus", halves)
				}
			}
			// A block of 1000 bytes takes an interface and a link 1 us.
			want += max(vtime.Duration(messages)*vtime.Microsecond, vtime.Duration(slices.Max(halves))*vtime.Microsecond/2)
		}
		if got := target.SpreadTime(1000); got != want {
			t.Errorf("%s %v: got %v, want %v", c.kind, c.dims, got, want)
		}
	}
}

// opposite returns the way back of a way through a grid, both as the place to which node 0 goes.
func opposite(way int, dims []int) int {
	back, stride := 0, 1
	for i := len(dims) - 1; i >= 0; i-- {
		back += (dims[i] - way%dims[i]) % dims[i] * stride
		way /= dims[i]
		stride *= dims[i]
	}
	return back
}

// routeHalves counts two half messages from a node to the node some way further on, on each link that they pass.
func routeHalves(node, way int, dims []int, wrap bool, halves []int) {
	nodes, stride := product(dims), 1
	for i := len(dims) - 1; i >= 0; i-- {
		n := dims[i]
		at, d := node/stride%n, way%n
		way /= n
		to := (at + d) % n
		for half := range 2 {
			up := to > at
			if wrap {
				up = 2*d < n || 2*d == n && half == 0
			}
			for j := at; j != to; {
				here := node + (j-at)*stride
				if up {
					halves[(2*i)*nodes+here]++
					j = (j + 1) % n
				} else {
					halves[(2*i+1)*nodes+here]++
					j = (j + n - 1) % n
				}
			}
		}
		node += (to - at) * stride
		stride *= n
	}
}

// Only ranks that fill the torus, on a node each, write along its links.
func TestWhoWritesAlongTorus(t *testing.T) {
	for _, c := range []struct {
		old, new string
		ranks    int64
		want     bool
	}{
		{"", "", 8, true},
		{"", "", 7, false},
		{"ranks_per_node: 1", "ranks_per_node: 2", 8, false},
		{"dims: [4, 2]}", "dims: [8, 8]}\nallocation: {shape: [2, 3]}", 6, true},
		{"dims: [4, 2]}", "dimensions: 3}", 27, true},
		{"", "", 1, false},
		{", torus_writes: {begin: 6us, hop: 2us, take: 500ns}", ", latency_per_hop: 1us", 8, false},
	} {
		target := mustTarget(t, strings.Replace(writesMachine, c.old, c.new, 1), c.ranks)
		if got := target.WritesAlongTorus(int(c.ranks)); got != c.want {
			t.Errorf("%q, %d ranks: got %v", c.new, c.ranks, got)
		}
		if target.WritesAlongTorus(5) {
			t.Errorf("%q: a part of the ranks writes along the torus", c.new)
		}
	}
}

func TestFaultsOfWritesAlongTorus(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"topology: {kind: torus, dims: [4, 2]}\n", "topology: {kind: ring}\n", "links of a torus or mesh"},
		{"node: {interfaces: 4, bandwidth: 1GB/s}\n", "", "bandwidth of the interfaces"},
		{"begin: 6us", "begin: 1ps", "less than 1ns"},
		{", take: 500ns", "", "take"},
		{"hop: 2us", "hop: 2us, leap: 1us", "leap"},
	} {
		if _, err := Parse("m.yaml", []byte("name: writes\n"+strings.Replace(writesMachine, c.old, c.new, 1)), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.new, err, c.want)
		}
	}
	m, err := Parse("m.yaml", []byte("name: writes\n"+writesMachine), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(m.YAML()); !strings.Contains(text, "torus_writes") {
		t.Errorf("torus_writes is not shown: %s", text)
	}
}
