package network

import (
	"strings"
	"testing"

	"gigarank/vtime"
)

const typedMachine = `name: m
nodes: 8
ranks_per_node: 2
cpu_ratio: 2
contention: {model: links, out: 2, in: 1}
node_types: {fat: {processors: 4, cpu_ratio: 0.5, in: 3, intra: {latency: 0.4us, bandwidth: 1GB/s}}, thin: {processors: 1}}
nodes_of: {1-2: fat, 4: thin}
network: {model: twolevel, intra: {latency: 1us}, inter: {latency: 5us, bandwidth: 2GB/s}}
`

// Nodes are filled as far as they have room: 2, 4, 4, 2, 1, 2, 2, 2.
func TestNodesOfTypes(t *testing.T) {
	m := parse(t, typedMachine)
	if again := parse(t, m.String()); again.String() != m.String() {
		t.Errorf("%s\nis read as\n%s", m, again)
	}
	target, err := m.Target(18)
	if err != nil {
		t.Fatal(err)
	}
	want := []int{0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7}
	for rank, node := range want {
		if got := target.Node(rank); got != node {
			t.Errorf("rank %d is on node %d, want %d", rank, got, node)
		}
		ratio := vtime.Duration(20)
		if node == 1 || node == 2 {
			ratio = 5
		}
		if got := target.CPUTime(rank, 10); got != ratio {
			t.Errorf("10 ps take %d on rank %d, want %d", got, rank, ratio)
		}
	}
	for _, c := range []struct {
		src, dst int
		bytes    int64
		want     vtime.Duration
	}{{0, 1, 1000, vtime.Microsecond}, {2, 5, 1000, 1400 * vtime.Nanosecond}, {2, 2, 0, 400 * vtime.Nanosecond}, {6, 9, 0, 400 * vtime.Nanosecond}, {5, 6, 1000, 5500 * vtime.Nanosecond}, {10, 11, 0, vtime.Microsecond}} {
		if got := target.Delay(c.src, c.dst, c.bytes); got != c.want {
			t.Errorf("%d bytes from %d to %d take %v, want %v", c.bytes, c.src, c.dst, got, c.want)
		}
	}
	for node, in := range []int{1, 3, 3, 1, 1, 1, 1, 1} {
		if out, got := target.Links(node); out != 2 || got != in {
			t.Errorf("node %d has %d links out and %d in, want 2 and %d", node, out, got, in)
		}
	}
	if a, b := target.JoinOn(0, 1000), target.JoinOn(2, 1000); a != vtime.Microsecond || b != 1400*vtime.Nanosecond || target.JoinsAlike() {
		t.Errorf("joins take %v and %v", a, b)
	}
	if least, most := target.NodeSizes(); least != 1 || most != 4 || target.KeepsBlocks() {
		t.Errorf("nodes have %d to %d ranks", least, most)
	}
	for nodes, want := range map[int]int{8: 19, 2: 6, 3: 10, 1: 2} {
		if got, _ := m.RoomOn(nodes); got != want {
			t.Errorf("%d nodes have room for %d, want %d", nodes, got, want)
		}
	}
	if _, err := m.Target(20); err == nil || !strings.Contains(err.Error(), "20 ranks do not fit: the 8 nodes have room for 19") {
		t.Errorf("20 ranks: %v", err)
	}
}

// Fair shares have links of their own widths, and types are those of the places of an allocation.
func TestLinksOfTypes(t *testing.T) {
	m, err := Parse("m", []byte("name: m\ncontention: {model: fair, in: 2GB/s}\nallocation: {nodes: places}\nnode_types: {fat: {processors: 3, out: 4GB/s}}\nnodes_of: {7: fat}\nnetwork: {model: flat, latency: 1us}\n"),
		func(string) ([]byte, error) { return []byte("5\n7\n6\n"), nil })
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(5)
	if err != nil {
		t.Fatal(err)
	}
	r := target.Routes()
	for i, want := range []int64{0, 0, 2e9, 4e9, 2e9, 0, 2e9} {
		if got := r.Capacity(i); got != want {
			t.Errorf("link %d carries %d, want %d", i, got, want)
		}
	}
	if target.Nodes() != 3 || target.NodeSize(1) != 3 {
		t.Errorf("%d nodes, %d ranks on the second", target.Nodes(), target.NodeSize(1))
	}
	// The types alone may limit.
	alone := parse(t, "name: m\ncontention: {model: links}\nnode_types: {fat: {in: 1}}\nnodes_of: {1: fat}\nnetwork: {model: flat, latency: 1us}\n")
	if target, err := alone.Target(3); err != nil || target.Contention().Model != ModelLinks {
		t.Errorf("%v, %v", target, err)
	}
}

func TestFaultsOfNodeTypes(t *testing.T) {
	for text, want := range map[string]string{
		"node_types: {fat: {processors: 4}}":                                                                "nodes_of: is missing",
		"nodes_of: {0-63: fat}":                                                                             "node_types: is missing",
		"node_types: {fat: {in: 4}}\nnodes_of: {0: fat}":                                                    "node_types.fat.in: makes no difference without section contention",
		"node_types: {fat: {}}\nnodes_of: {0: fat}":                                                         "node_types.fat: says nothing",
		"node_types: {fat: {cpus: 4}}\nnodes_of: {0: fat}":                                                  "node_types.fat.cpus: is unknown",
		"node_types: {fat: {processors: 4}, thin: {processors: 1}}\nnodes_of: {0: fat}":                     "node_types.thin: is the type of no node",
		"node_types: {fat: {processors: 4}}\nnodes_of: {0: fatt}":                                           `nodes_of.0: "fatt" is no type of nodes`,
		"node_types: {fat: {processors: 4}}\nnodes_of: {x: fat}":                                            "nodes_of.x: names no nodes",
		"node_types: {fat: {processors: 4}}\nnodes_of: {5-3: fat}":                                          "nodes_of.5-3: ends at node 3, before it begins",
		"node_types: {fat: {processors: 4}}\nnodes_of: {0-3: fat, 3-4: fat}":                                "nodes_of: nodes 0 to 3 and 3 to 4 overlap",
		"nodes: 4\nnode_types: {fat: {processors: 4}}\nnodes_of: {0-4: fat}":                                "nodes_of.0-4: names node 4, and the machine has 4",
		"mapping: cyclic\nnode_types: {fat: {processors: 4}}\nnodes_of: {0-4: fat}":                         "node_types: processors of a type of nodes do not go with mapping cyclic",
		"cpu_ratios: [{from: 3, to: 9, ratio: 2}]\nnode_types: {fat: {cpu_ratio: 4}}\nnodes_of: {0-4: fat}": "cpu_ratios: nodes 3 to 4 have a ratio by their type",
		"node_types: {fat: {intra: {latency: 1}}}\nnodes_of: {0-4: fat}":                                    "node_types.fat.intra.latency",
		"contention: {model: fair, out: 1GB/s}\nnode_types: {fat: {out: 2}}\nnodes_of: {0-4: fat}":          "node_types.fat.out",
	} {
		_, err := Parse("m", []byte("name: m\n"+text+"\nnetwork: {model: flat, latency: 1us}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
	_, err := Parse("m", []byte("name: m\nnode_types: {fat: {intra: {latency: 1us}}}\nnodes_of: {0: fat}\nnetwork: {model: loggops, L: 2500ns, o: 1500ns, g: 1000ns, G: 6ns, O: 0, S: 65535}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "node_types.fat.intra: does not go with model loggops") {
		t.Errorf("loggops: %v", err)
	}
}
