package network

import (
	"strings"
	"testing"

	"gigarank/vtime"
)

// Times of Tofu, by nodes and size: at a row, between sizes, between nodes (half way in the logarithm), below the first and beyond the
// last number of nodes; longer vectors are not for the network.
func TestOffloadByNodes(t *testing.T) {
	const tofu = "ranks_per_node: 2\nnetwork: {model: flat, latency: 1us, allreduce: [" +
		"{nodes: 8, delays: [{size: 8, delay: 3us}, {size: 24, delay: 3.2us}]}, {nodes: 128, delays: [{size: 8, delay: 5us}, {size: 24, delay: 5.6us}]}]}"
	for _, c := range []struct {
		nodes, bytes int64
		want         vtime.Duration
	}{
		{8, 0, 3 * us}, {8, 8, 3 * us}, {8, 16, 3100 * ns}, {8, 24, 3200 * ns}, {2, 24, 3200 * ns}, {32, 8, 4 * us}, {32, 24, 4400 * ns}, {32, 16, 4200 * ns}, {2048, 8, 7 * us}, {1, 8, 0},
	} {
		target := mustTarget(t, tofu, 2*c.nodes)
		if got := target.OffloadTime(target.Span(), c.bytes); got != c.want {
			t.Errorf("%d bytes on %d nodes take %v, want %v", c.bytes, c.nodes, got, c.want)
		}
		if !target.Offloads(24) || target.Offloads(25) || target.OffloadsRanks() || target.LeastOffloadTime() != 3*us {
			t.Errorf("on %d nodes the network sums other vectors than those up to 24 bytes", c.nodes)
		}
	}
	for rows, want := range map[string]string{
		"[{nodes: 8, delays: [{size: 8, delay: 3us}]}, {nodes: 8, delays: [{size: 8, delay: 4us}]}]":                        "allreduce[1].nodes: are no more than those before",
		"[{nodes: 8, delays: [{size: 8, delay: 3us}]}, {nodes: 9, delays: [{size: 9, delay: 4us}]}]":                        "allreduce[1].delays: end at 9 bytes, and those of 8 nodes at 8",
		"[{nodes: 8, delays: [{size: 0, delay: 1us}, {size: 8, delay: 5us}]}, {nodes: 9, delays: [{size: 8, delay: 4us}]}]": "allreduce[1].delays: are less than those of 8 nodes",
		"[{nodes: 8, delays: [{size: 8, delay: 3ps}]}]":                                                                     "allreduce[0].delays: begin with less than 1ns",
		"[{nodes: 8}]": "allreduce[0].delays: is missing",
		"[{nodes: 8, delays: [{size: 8, delay: 3us}]}], switches: {levels: [{name: a, latency: 1us}]}": "switches: is given beside allreduce",
	} {
		if _, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, allreduce: "+rows+"}"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rows, err, want)
		}
	}
}

// A tree of switches: leaves of four nodes, pods of twelve, the rest. A vector goes up and comes down through the levels that it
// needs, at the rate of the slowest of them.
func TestOffloadBySwitches(t *testing.T) {
	const sharp = "ranks_per_node: 2\nnetwork: {model: flat, latency: 1us, overhead: {send: 100ns, receive: 50ns}, switches: {most: 4KiB, levels: [" +
		"{name: leaf, nodes: 4, latency: 300ns, bandwidth: 10GB/s}, {name: pod, nodes: 12, latency: 200ns, bandwidth: 5GB/s}, {name: core, latency: 1us}]}}"
	const ends = 150 * ns
	for _, c := range []struct {
		nodes, bytes int64
		want         vtime.Duration
	}{
		{1, 1000, 0}, {2, 0, ends + 600*ns}, {4, 1000, ends + 600*ns + 100*ns}, {5, 1000, ends + 1000*ns + 200*ns}, {12, 1, ends + 1000*ns + 200*ps}, {13, 1000, ends + 3*us + 200*ns},
	} {
		target := mustTarget(t, sharp, 2*c.nodes)
		if got := target.OffloadTime(target.Span(), c.bytes); got != c.want {
			t.Errorf("%d bytes on %d nodes take %v, want %v", c.bytes, c.nodes, got, c.want)
		}
	}
	target := mustTarget(t, sharp, 100)
	if target.Offloads(4097) || !target.Offloads(4096) || target.LeastOffloadTime() != ends+600*ns {
		t.Error("other vectors are summed than those up to 4 KiB")
	}
	for _, c := range []struct {
		nodes []int
		want  vtime.Duration
	}{
		{[]int{4, 6, 7}, ends + 600*ns}, {[]int{3, 4}, ends + 1000*ns}, {[]int{11, 12}, ends + 3*us}, {[]int{24, 35, 30}, ends + 1000*ns},
	} {
		s := target.SpanOf(len(c.nodes), func(i int) int { return c.nodes[i] })
		if got := target.OffloadTime(s, 0); got != c.want {
			t.Errorf("nodes %v take %v, want %v", c.nodes, got, c.want)
		}
	}
	// An allocation of two nodes of different pods.
	if machine, err := Parse("m", []byte("name: m\nallocation: {nodes: list}\n"+sharp[len("ranks_per_node: 2\n"):]), func(string) ([]byte, error) { return []byte("11\n12\n"), nil }); err != nil {
		t.Error(err)
	} else if target, err := machine.Target(2); err != nil {
		t.Error(err)
	} else if got := target.OffloadTime(target.Span(), 0); got != ends+3*us {
		t.Errorf("nodes 11 and 12 take %v", got)
	}
	// NVLS: a switch within the node sums up what ranks have.
	nvls := mustTarget(t, "ranks_per_node: 8\nnetwork: {model: flat, latency: 1us, switches: {levels: [{name: nvswitch, nodes: 1, latency: 4us, bandwidth: 250GB/s}, {name: rail, latency: 5us, bandwidth: 400GB/s}]}}", 8)
	if got := nvls.OffloadTime(nvls.Span(), 1e9); !nvls.OffloadsRanks() || got != 8*us+4*vtime.Millisecond {
		t.Errorf("a gigabyte on one node takes %v", got)
	}
	for levels, want := range map[string]string{
		"[{name: a, latency: 1us}, {name: b, latency: 1us}]":                                              "levels[0].nodes: is missing",
		"[{name: a, nodes: 2, latency: 1us}, {name: a, latency: 1us}]":                                    "levels[1].name: \"a\" is the name of another level",
		"[{name: a, nodes: 2, latency: 1us}, {name: b, nodes: 3, latency: 1us}, {name: c, latency: 1us}]": "levels[1].nodes: 3 is no multiple of the 2",
		"[{name: a, nodes: 2, latency: 1us}, {name: b, nodes: 4, latency: 1us}]":                          "levels[1].nodes: is given in the last level",
		"[{name: a, latency: 1ps}]":                           "levels: take less than 1ns",
		"[{name: a, latency: 1us, rate: 3GB/s}]":              "levels[0].rate: is unknown",
		"[{name: a, nodes: 0, latency: 1us}, {latency: 1us}]": "levels[1].name: is missing",
	} {
		if _, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, switches: {levels: "+levels+"}}"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", levels, err, want)
		}
	}
}

// What a file says of offload is written and read back.
func TestOffloadIsWritten(t *testing.T) {
	for _, text := range []string{
		"allreduce: [{nodes: 8, delays: [{size: 8, delay: 3us}, {size: 24, delay: 3.2us}]}]",
		"switches: {most: 4KiB, levels: [{name: leaf, nodes: 4, latency: 300ns, bandwidth: 10GB/s}, {name: core, latency: 1us}]}",
		"switches: {levels: [{name: core, latency: 1us}]}",
		"spread: 64B, allreduce: [{nodes: 8, delays: [{size: 24, delay: 3us}]}]",
	} {
		m, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, "+text+"}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("m", m.YAML(), nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, m.YAML())
		}
		if string(again.YAML()) != string(m.YAML()) || !strings.Contains(string(m.YAML()), strings.SplitN(text, ":", 2)[0]) {
			t.Errorf("%s becomes\n%s", m.YAML(), again.YAML())
		}
	}
}
