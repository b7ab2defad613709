package network

import (
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
	} {
		if got := c.time(plain); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
		if got := c.time(summing); got != c.want+3*us {
			t.Errorf("%s where the network sums vectors: got %v, want %v", c.what, got, c.want+3*us)
		}
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
