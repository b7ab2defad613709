package network

import (
	"math"
	"strings"
	"testing"

	"gigarank/vtime"
)

func TestInterfacesOfNodes(t *testing.T) {
	const text = `name: shared
ranks_per_node: 3
mapping: %s
node: {interfaces: 4, bandwidth: 25GB/s, message_gap: 45ns, rail: shared}
network: {model: flat, latency: 1us, bandwidth: 1GB/s}
`
	for _, mapping := range []string{"block", "cyclic", "random:3"} {
		m, err := Parse("shared", []byte(strings.Replace(text, "%s", mapping, 1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again", m.YAML(), nil)
		if err != nil || string(again.YAML()) != string(m.YAML()) {
			t.Errorf("%v: %s\nis read as\n%s", err, m, again)
		}
		target, err := m.Target(20)
		if err != nil {
			t.Fatal(err)
		}
		each, shared, gap := target.Interfaces()
		if each != 4 || !shared || gap != 45_000 || target.InterfaceTime(1000) != 40_000 || !target.Contended() {
			t.Errorf("%d interfaces, shared %v, gap %v, 1000 bytes in %v", each, shared, gap, target.InterfaceTime(1000))
		}
		for node := range target.Nodes() {
			for k := range target.NodeSize(node) {
				rank := target.NodeMember(node, k)
				if target.RankInNode(rank) != k || target.Shares(rank, target.NodeMember(node, 0)) {
					t.Errorf("%s: rank %d, %d of node %d, is said to be %d", mapping, rank, k, node, target.RankInNode(rank))
				}
			}
		}
	}
}

// Where nothing limits messages between nodes, and where there is one node, none is held up.
func TestNoContention(t *testing.T) {
	for _, c := range []struct {
		node  string
		ranks int64
		want  bool
	}{
		{"{}", 8, false}, {"{interfaces: 2}", 8, false}, {"{interfaces: 2, rail: shared}", 8, false},
		{"{message_gap: 1ns}", 8, true}, {"{message_gap: 1ns}", 4, false}, {"{bandwidth: 1GB/s}", 5, true},
	} {
		m, err := Parse("m", []byte("name: m\nranks_per_node: 4\nnode: "+c.node+"\nnetwork: {model: flat, latency: 1us}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if target, err := m.Target(c.ranks); err != nil || target.Contended() != c.want {
			t.Errorf("node %s, %d ranks: contended %v, error %v", c.node, c.ranks, target.Contended(), err)
		}
	}
}

func TestFaultsOfInterfaces(t *testing.T) {
	for node, want := range map[string]string{
		"{interfaces: 0}":         "node.interfaces",
		"{bandwidth: fast}":       "node.bandwidth",
		"{rail: none}":            `node.rail: "none" is unknown: write one of local, shared, striped`,
		"{rails: local}":          "node.rails: is unknown",
		"{message_gap: -1ns}":     "node.message_gap",
		"[]":                      "node: is a list, not a mapping",
		"{interfaces: 2, gap: 3}": "node.gap: is unknown",
	} {
		_, err := Parse("m", []byte("name: m\nnode: "+node+"\nnetwork: {model: flat, latency: 1us}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("node: %s: %v, not %s", node, err, want)
		}
	}
	_, err := Parse("m", []byte("name: m\nnode: {bandwidth: 1GB/s}\nnetwork: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ps, O: 0ps, S: 64}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "node: does not go with model loggops") {
		t.Errorf("loggops with node: %v", err)
	}
	_, err = Parse("m", []byte("name: m\nnode: {bandwidth: 1GB/s}\nnetwork: {model: factors, intra: {latency: 1us}, inter: {latency: 1us}}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "node: does not go with model factors") {
		t.Errorf("factors with node: %v", err)
	}
}

// Buffers of more than 1,000 bytes are made at 2 GB/s, and no sooner than the memory of the node clears those of its ranks: 4 ranks with two
// vectors of 3,000 bytes have 24,000 bytes. Copies of 4 ranks read and write 24,000 bytes. The default length is that of glibc.
func TestBufferTime(t *testing.T) {
	const us = vtime.Microsecond
	for _, c := range []struct {
		node    string
		n       int
		bytes   int64
		vectors [2]int
		want    vtime.Duration
	}{
		{"", 1, 3000, [2]int{2, 1}, 3 * us},
		{"", 1, 1000, [2]int{2, 1}, 0},
		{"", 1, 3000, [2]int{0, 1}, 0},
		{"node: {memory: 24GB/s}\n", 1, 3000, [2]int{2, 1}, 3 * us},
		{"node: {memory: 24GB/s}\n", 4, 3000, [2]int{2, 1}, 3*us + us},
		{"node: {memory: 6GB/s}\n", 4, 3000, [2]int{2, 1}, 4*us + 4*us},
		{"node: {memory: 6GB/s}\n", 4, 500, [2]int{2, 1}, 666_667 * vtime.Picosecond},
		{"node: {memory: 6GB/s}\n", 4, math.MaxInt64, [2]int{2, 1}, vtime.Endless},
	} {
		text := "name: m\nranks_per_node: 4\n" + c.node + "network: {model: flat, latency: 1us, fresh_memory: {above: 1000B, bandwidth: 2GB/s}}\n"
		m, err := Parse("m", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse("m", m.YAML(), nil); err != nil || string(again.YAML()) != string(m.YAML()) {
			t.Errorf("%v:\n%s", err, m.YAML())
		}
		target, err := m.Target(8)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.BufferTime(c.n, c.bytes, c.vectors[0], c.vectors[1]); got != c.want {
			t.Errorf("%s%d ranks, %v vectors of %d: %v, want %v", c.node, c.n, c.vectors, c.bytes, got, c.want)
		}
	}
	m, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, fresh_memory: {bandwidth: 1GB/s}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(2)
	if err != nil {
		t.Fatal(err)
	}
	if kept, fresh := target.BufferTime(1, 32<<20, 1, 0), target.BufferTime(1, 32<<20+1, 1, 0); kept != 0 || fresh != (32<<20+1)*vtime.Nanosecond {
		t.Errorf("%v for 32 MiB, %v for a byte more", kept, fresh)
	}
}
