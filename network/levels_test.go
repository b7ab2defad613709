package network

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"gigarank/internal/input"
	"gigarank/vtime"
)

const fiveLevels = `ranks_per_node: 4
network:
  model: levels
  levels:
    - {name: socket, ranks: 2, latency: 200ns, bandwidth: 10GB/s}
    - {name: node, latency: 500ns, bandwidth: 5GB/s}
    - {name: leaf, nodes: 2, delays: [{size: 32, delay: 1us}, {size: 128, delay: 1.1us}, {size: 129, delay: 2us}]}
    - {name: group, nodes: 6, latency: 3us}
    - {name: machine, latency: 5us, bandwidth: 1GB/s}
`

func TestLevelsByHand(t *testing.T) {
	block := mustTarget(t, fiveLevels, 4*13)
	cyclic := mustTarget(t, "mapping: cyclic\n"+fiveLevels, 4*13)
	for _, c := range []struct {
		name     string
		target   *Target
		src, dst int
		bytes    int64
		want     vtime.Duration
	}{
		{"one socket, 200 ns + 1000 B / 10 GB/s", block, 4, 5, 1000, 300 * ns},
		{"a rank and itself share a socket", block, 5, 5, 0, 200 * ns},
		{"two sockets, 500 ns + 1000 B / 5 GB/s", block, 5, 6, 1000, 700 * ns},
		{"one leaf, inline", block, 0, 7, 128, 1100 * ns},
		{"one leaf, a byte more", block, 0, 7, 129, 2 * us},
		{"one group of six nodes, two leaves", block, 0, 23, 1 << 30, 3 * us},
		{"neighbours of two groups, 5 us + 1000 B / 1 GB/s", block, 23, 24, 1000, 6 * us},
		{"cyclic: ranks 0 and 13 are the first two of node 0", cyclic, 0, 13, 0, 200 * ns},
		{"cyclic: rank 26 is the third", cyclic, 0, 26, 0, 500 * ns},
		{"cyclic: ranks 0 and 5 are on the first and the last node of a group", cyclic, 0, 5, 0, 3 * us},
	} {
		if got := c.target.Delay(c.src, c.dst, c.bytes); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := block.Join(1000); got != 700*ns {
		t.Errorf("a join takes %v, want that of the node's level, 700 ns", got)
	}
}

// Engines whose ranks meet at an outer level only may run ahead by its latency.
func TestLevelsRaiseTheLookahead(t *testing.T) {
	target := mustTarget(t, fiveLevels, 4*18)
	for _, c := range []struct {
		cut  int
		want vtime.Duration
	}{{24, 5 * us}, {48, 5 * us}, {8, 3 * us}, {4, 1 * us}, {6, 500 * ns}, {5, 200 * ns}} {
		if got := target.Lookahead(0, c.cut, c.cut, 4*18); got != c.want {
			t.Errorf("from below rank %d to the others the lookahead is %v, want %v", c.cut, got, c.want)
		}
		if got := target.Lookahead(c.cut, 4*18, 0, c.cut); got != c.want {
			t.Errorf("from rank %d on to the others the lookahead is %v, want %v", c.cut, got, c.want)
		}
	}
	if got := target.UniformFrom(); got != 24 {
		t.Errorf("uniform from distance %d, want the 24 ranks of a group", got)
	}
	if got := mustTarget(t, fiveLevels, 24).UniformFrom(); got != 8 {
		t.Errorf("of one group, uniform from distance %d, want the 8 ranks of a leaf", got)
	}
}

// Two levels are model twolevel, and with tables model table.
func TestLevelsGeneralise(t *testing.T) {
	const ranks = 23
	for _, pair := range [][2]string{
		{"{model: twolevel, intra: {latency: 1us, bandwidth: 3GB/s}, inter: {latency: 2us, bandwidth: 7GB/s}}",
			"{model: levels, levels: [{name: node, latency: 1us, bandwidth: 3GB/s}, {name: machine, latency: 2us, bandwidth: 7GB/s}]}"},
		{"{model: table, intra: [{size: 8, delay: 1us}, {size: 900, delay: 4us}], inter: [{size: 0, delay: 3us}, {size: 2000, delay: 9us}]}",
			"{model: levels, levels: [{name: node, delays: [{size: 8, delay: 1us}, {size: 900, delay: 4us}]}, {name: machine, delays: [{size: 0, delay: 3us}, {size: 2000, delay: 9us}]}]}"},
	} {
		for _, mapping := range []string{"block", "cyclic", "random:3"} {
			var targets []*Target
			for _, network := range pair {
				targets = append(targets, mustTarget(t, fmt.Sprintf("ranks_per_node: 3\nmapping: %s\nnetwork: %s", mapping, network), ranks))
			}
			a, b := targets[0], targets[1]
			for shift := range ranks * ranks {
				src, dst := shift/ranks, shift%ranks
				if x, y := a.Delay(src, dst, 1000), b.Delay(src, dst, 1000); x != y {
					t.Errorf("%s, %s: %v from %d to %d, want %v", mapping, pair[1], y, src, dst, x)
				}
			}
			if a.Join(77) != b.Join(77) || a.UniformFrom() != b.UniformFrom() || a.LeadersUniform() != b.LeadersUniform() || a.LongestDelay(99) != b.LongestDelay(99) {
				t.Errorf("%s: joins, distances or the longest delay differ from those of %s", pair[1], pair[0])
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	files := func(path string) ([]byte, error) {
		if path == "job" {
			return []byte("# rack 7\n100-101\n4\n0\n"), nil
		}
		return nil, fs.ErrNotExist
	}
	const ring = "name: m\nnodes: 128\ntopology: {kind: torus, dims: [128]}\nnetwork: {model: flat, latency: 1us, latency_per_hop: 1us}\n"
	m, err := Parse("m", []byte(ring+"allocation: {nodes: job}\n"), files)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	// Places 100, 101, 4 and 0 of a ring of 128.
	var hops []int
	for b := range 4 {
		hops = append(hops, target.Hops(0, b))
	}
	if want := []int{0, 1, 32, 28}; !slices.Equal(hops, want) {
		t.Errorf("hops from the first node: %v, want %v", hops, want)
	}
	if _, err := m.Target(5); err == nil || !strings.Contains(err.Error(), "allocation file:job has 4") {
		t.Errorf("five nodes of an allocation of four: %v", err)
	}
	whole, err := Parse("m", []byte(ring), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := whole.WithAllocation("file:job", files)
	if err != nil || again.Digest() != m.Digest() || again.Digest() == whole.Digest() || again.Allocation() != "file:job" {
		t.Errorf("as a variant it is another machine, %v:\n%s", err, again)
	}
	// A shape takes the place of the dimensions.
	box, err := whole.WithAllocation("4x8", nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err = box.Target(32)
	if err != nil {
		t.Fatal(err)
	}
	if got := target.Hops(0, 2*8+4); got != 6 {
		t.Errorf("%d hops to the farthest node of a torus of 4·8, want 2 + 4", got)
	}
	if _, err := box.Target(33); err == nil || !strings.Contains(err.Error(), "room for 32") {
		t.Errorf("33 nodes in a shape of 32: %v", err)
	}
	for _, c := range []struct{ spec, want string }{
		{"16x16", "is 256 nodes, but the machine has 128"}, {"16x", "write a shape such as 32x256"}, {"", "write a shape"},
		{"file:none", "file does not exist"}, {"0x4", "write whole numbers"},
	} {
		if _, err := whole.WithAllocation(c.spec, files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("allocation %q: %v, want %q", c.spec, err, c.want)
		}
	}
}

// All faults of a list of places come at once, by line.
func TestNodeListFaults(t *testing.T) {
	_, faults := parseNodeList("job", "0\n7-5\n3-9\nx\n4\n-2\n0-\n8-12\n", 12)
	want := []string{
		"job:2: node 1: the range 7-5 ends before it begins: write the lower place first",
		"job:4: node 8: \"x\" is no place: write a place from 0 to 11, or a range such as 16-31, in a line of its own",
		"job:5: node 8: place 4 is that of another node, too, in line 3: give each node a place of its own",
		"job:6: node 8: \"-2\" is no place: write a place from 0 to 11, or a range such as 16-31, in a line of its own",
		"job:7: node 8: \"0-\" is no place: write a place from 0 to 11, or a range such as 16-31, in a line of its own",
		"job:8: node 8: \"8-12\" is no place: write a place from 0 to 11, or a range such as 16-31, in a line of its own",
	}
	var got []string
	for _, f := range faults {
		got = append(got, f.Error())
	}
	if !slices.Equal(got, want) {
		t.Errorf("faults:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Levels that do not nest, and topologies that make no difference, are refused by line.
func TestLevelFaults(t *testing.T) {
	for levels, want := range map[string]string{
		"[{name: node, latency: 1us}]": "there are 1 of them",
		"[{name: a, ranks: 2, latency: 1us}, {name: b, ranks: 3, latency: 1us}, {name: node, latency: 1us}, {name: m, latency: 1us}]": "levels[1].ranks: 3 is no multiple of the 2",
		"[{name: node, latency: 1us}, {name: a, nodes: 2, latency: 1us}, {name: b, nodes: 3, latency: 1us}, {name: m, latency: 1us}]": "levels[2].nodes: 3 is no multiple of the 2",
		"[{name: node, latency: 1us}, {name: a, ranks: 2, latency: 1us}, {name: m, latency: 1us}]":                                    "levels[1].ranks: is given outside the node",
		"[{name: node, nodes: 2, latency: 1us}, {name: m, latency: 1us}]":                                                             "levels[0].nodes: is given in the level of the node",
		"[{name: node, latency: 1us}, {name: m, nodes: 2, latency: 1us}]":                                                             "levels[1].nodes: is given in the last level",
		"[{name: node, latency: 1us}, {name: a, latency: 1us}, {name: m, latency: 1us}]":                                              "levels[1].nodes: is missing",
		"[{name: a, ranks: 2, latency: 1us}, {name: node, latency: 1us}]":                                                             "the level of the node is the last",
		"[{name: a, ranks: 2, latency: 1us}, {name: b, ranks: 4, latency: 1us}]":                                                      "levels[1].ranks: is given in the last level",
		"[{name: a, latency: 1us}, {name: a, latency: 1us}]":                                                                          "\"a\" is the name of another level",
		"[{name: a, latency: 1us}, {name: b, latency: 1us, delays: [{size: 0, delay: 1us}]}]":                                         "latency: is given beside delays",
	} {
		_, err := Parse("m", []byte("name: m\nnetwork: {model: levels, levels: "+levels+"}\n"), nil)
		var faults input.Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", levels, err, want)
		}
	}
	for _, model := range []string{"flat, latency: 1us", "loggops, L: 1us, o: 1us, g: 1us, G: 1ns", "levels, levels: [{name: node, latency: 1us}, {name: m, latency: 1us}]"} {
		_, err := Parse("m", []byte("name: m\ntopology: {kind: ring}\nnetwork: {model: "+model+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), "m:2: topology: makes no difference") {
			t.Errorf("a ring at which the model does not look: %v", err)
		}
		_, err = Parse("m", []byte("name: m\nnetwork: {latency_per_hop: 1us, model: "+model+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), "m:1: topology: is missing, and network.latency_per_hop depends on it") {
			t.Errorf("hops without a topology: %v", err)
		}
	}
}
