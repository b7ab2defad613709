package network

import (
	"math"
	"strings"
	"testing"

	"gigarank/vtime"
)

// The times of the Tofu barrier, by the nodes of the job: at a row, halfway between two in the logarithm,
// below the first, and beyond the last.
func TestBarrierByNodes(t *testing.T) {
	const tofu = "ranks_per_node: 2\nnetwork: {model: flat, latency: 1us, barrier: [{nodes: 8, time: 2.9us}, {nodes: 64, time: 3.7us}, {nodes: 512, time: 5.4us}, {nodes: 4096, time: 8.5us}, {nodes: 8192, time: 11.2us}]}"
	for nodes, want := range map[int64]vtime.Duration{
		1: 2900 * ns, 8: 2900 * ns, 16: 2900*ns + 266667*ps, 64: 3700 * ns, 512: 5400 * ns, 4096: 8500 * ns, 8192: 11200 * ns, 16384: 13900 * ns,
	} {
		target := mustTarget(t, tofu, 2*nodes)
		if got := target.BarrierTime(); got != want {
			t.Errorf("a barrier on %d nodes takes %v, want %v", nodes, got, want)
		}
		if least := target.Machine().BarrierTime(); least != 2900*ns {
			t.Errorf("the least time is %v", least)
		}
	}
	if got := mustTarget(t, "network: {model: flat, latency: 1us, barrier: {time: 3us}}", 1000).BarrierTime(); got != 3*us {
		t.Errorf("a barrier of one time takes %v", got)
	}
	for rows, want := range map[string]string{
		"[{nodes: 8, time: 3us}, {nodes: 8, time: 4us}]":  "barrier[1].nodes: are no more than those before",
		"[{nodes: 8, time: 3us}, {nodes: 16, time: 2us}]": "barrier[1].time: is less than that of fewer nodes",
		"[{nodes: 8, time: 3ps}]":                         "barrier[0].time: is less than 1ns",
		"[{time: 3us}]":                                   "barrier[0].nodes: is missing",
	} {
		if _, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, barrier: "+rows+"}"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rows, err, want)
		}
	}
}

func TestLog2(t *testing.T) {
	for n := 1; n < 1<<20; n += 1 + n/7 {
		if got, want := float64(log2(n))/(1<<16), math.Log2(float64(n)); got > want || got < want-1.0/(1<<15) {
			t.Errorf("log2(%d) = %v, want %v", n, got, want)
		}
	}
}
