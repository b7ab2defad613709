package network

import (
	"strings"
	"testing"

	"gigarank/vtime"
)

// A node of 32 ranks: complexes of 4, sockets of 16. Flags of a barrier go through the levels that the members need. A vector is
// summed in parts: of each level each rank takes its share, and all that is read passes the memory.
func TestJoinsByLevels(t *testing.T) {
	const levels = "join: {levels: [{name: complex, ranks: 4, latency: 60ns, gap: 10ns}, {name: socket, ranks: 16, latency: 100ns, gap: 20ns}, {name: node, latency: 300ns}]"
	const file = "ranks_per_node: 32\nnetwork: {model: flat, latency: 1us, reduce: {bandwidth: 1GB/s}, local_copy: {bandwidth: 4GB/s}, " + levels
	narrow, wide := mustTarget(t, file+", bandwidth: 8GB/s}}", 64), mustTarget(t, file+"}}", 64)
	for _, c := range []struct {
		members, span int
		want          vtime.Duration
	}{{1, 1, 0}, {2, 2, 70 * ns}, {4, 4, 90 * ns}, {8, 8, 210 * ns}, {16, 16, 250 * ns}, {32, 32, 550 * ns}, {2, 17, 300 * ns}, {2, 5, 120 * ns}, {8, 32, 70*ns - 10*ns - 60*ns + 160*ns + 300*ns}} {
		if j := wide.Joins(c.members, c.span, 0); j.In != c.want || j.Out != c.want || j.Combine != 0 {
			t.Errorf("a barrier of %d members over %d ranks joins in %v, %v, %v, want %v", c.members, c.span, j.In, j.Combine, j.Out, c.want)
		}
	}
	// 64,000 bytes of 32 ranks: complexes sum parts of 16,000 of 3 others, sockets parts of 4,000 of 3 others, the node parts of
	// 2,000 of 1 other; each copies 64,000 in 16 us.
	const bytes = 64_000
	if j := wide.Joins(32, 32, bytes); j.Combine != 48*us+12*us+2*us || j.Out != 550*ns+16*us {
		t.Errorf("sums take %v, the result comes in %v", j.Combine, j.Out)
	}
	// At 8 GB/s the memory takes 8 us a vector: 32, 8 and 2 of them are read, and 32 written.
	if j := narrow.Joins(32, 32, bytes); j.Combine != 256*us+64*us+16*us || j.Out != 550*ns+256*us {
		t.Errorf("with a narrow memory sums take %v, the result comes in %v", j.Combine, j.Out)
	}
	if j := wide.Joins(32, 32, 8); j.Combine != (3+3+1)*8*ns {
		t.Errorf("sums of 8 bytes take %v", j.Combine)
	}
	if got := narrow.Lookahead(0, 16, 16, 64); got != 60*ns {
		t.Errorf("the lookahead within a node is %v", got)
	}
	m := narrow.Machine()
	if again, err := Parse("m", m.YAML(), nil); err != nil || string(again.YAML()) != string(m.YAML()) {
		t.Errorf("%v in\n%s", err, m.YAML())
	}
	for rest, want := range map[string]string{
		"[{name: a, latency: 1ns}, {name: b, latency: 1ns}]":                                              "join.levels[0].ranks: is missing",
		"[{name: a, ranks: 4, latency: 1ns}]":                                                             "join.levels[0].ranks: is given in the last level",
		"[{name: a, ranks: 4, latency: 1ns}, {name: b, ranks: 6, latency: 1ns}, {name: c, latency: 1ns}]": "join.levels[1].ranks: 6 is no multiple of the 4",
		"[{name: a, ranks: 4, latency: 1ns}, {name: a, latency: 1ns}]":                                    "join.levels[1].name: \"a\" is the name of another level",
		"[{name: a, ranks: 4, latency: 1ns, width: 3}, {name: b, latency: 1ns}]":                          "join.levels[0].width: is unknown",
	} {
		if _, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, join: {levels: "+rest+"}}"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rest, err, want)
		}
	}
}

// Without levels the leader combines one vector after the other, as before.
func TestJoinsOfTheLeader(t *testing.T) {
	target := mustTarget(t, "ranks_per_node: 8\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, reduce: {bandwidth: 500MB/s}}", 8)
	if j := target.Joins(8, 8, 100); j.In != target.Join(100) || j.Out != 1100*ns || j.Combine != 7*200*ns {
		t.Errorf("the node joins in %v", j)
	}
}

// A machine may give the time of whole broadcasts of a node's ranks. Its joins are then no longer than half of the shortest broadcast.
func TestBroadcastsOfANodeAreGiven(t *testing.T) {
	const file = "ranks_per_node: 4\nnetwork: {model: flat, latency: 1us, join: [{size: 0, delay: 100ns}], node_bcast: [{size: 8, delay: 150ns}, {size: 1008, delay: 1150ns}]}"
	target := mustTarget(t, file, 4)
	for bytes, want := range map[int64]vtime.Duration{0: 150 * ns, 8: 150 * ns, 508: 650 * ns, 1008: 1150 * ns} {
		if j := target.BcastJoins(4, bytes); !target.GivesBcasts() || j.In+j.Out != want || j.Combine != 0 {
			t.Errorf("a broadcast of %d bytes takes %v + %v, want %v", bytes, j.In, j.Out, want)
		}
	}
	if got := target.Lookahead(0, 2, 2, 4); got != 75*ns {
		t.Errorf("the lookahead within a node is %v", got)
	}
	m := target.Machine()
	if again, err := Parse("m", m.YAML(), nil); err != nil || string(again.YAML()) != string(m.YAML()) || !strings.Contains(string(m.YAML()), "node_bcast") {
		t.Errorf("%v in\n%s", err, m.YAML())
	}
	const bcast = "node_bcast: [{size: 8, delay: 150ns}]"
	for rest, want := range map[string]string{
		bcast: "node_bcast: is given without a list of joins",
		bcast + ", join: {levels: [{name: node, latency: 1ns}]}": "node_bcast: is given without a list of joins",
		"node_bcast: [], join: [{size: 0, delay: 1ns}]":          "node_bcast",
	} {
		if _, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, "+rest+"}"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rest, err, want)
		}
	}
}
