package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// In an alltoall whose messages all begin at once, by linear-sync, each message keeps its interface until the links of its way have taken those of
// all nodes to the same distance. In a ring of 8 nodes these are 1, 2, 3, 2 (half of 4 each way), 3, 2, 1 messages of 100 us: the last one
// leaves after 1300 us and takes 101 us. A nanosecond goes by for each message before it leaves.
func TestMessagesThatBeginAtOnceShareLinks(t *testing.T) {
	const us = vtime.Microsecond
	for _, c := range []struct {
		topology, network string
		bytes             int64
		want              vtime.Duration
	}{
		{"{kind: torus, dims: [8]}", "congestion: {bandwidth: 1GB/s}", 100_000, 1401*us + 1000},
		{"{kind: torus, dims: [8]}", "congestion: {bandwidth: 500MB/s}", 100_000, 2101*us + 1000},
		{"{kind: torus, dims: [8]}", "latency_per_hop: 1ps", 100_000, 701*us + 1004}, // the interface of the receiver waits 4 ps for the farthest,
		// REQ and ACK take 2 us more, and DATA as long.
		{"{kind: torus, dims: [8]}", "eager_limit: 100, congestion: {bandwidth: 1GB/s}", 100_000, 1403*us + 1000},
		// No message goes more than one place in a ring of two nodes, or, half of them each way, two places in one of four.
		{"{kind: torus, dims: [2, 4]}", "congestion: {bandwidth: 1GB/s}", 100_000, 701*us + 1000},
	} {
		for _, engines := range []int{1, 2, 3} {
			machine := fmt.Sprintf("name: m\nnode: {bandwidth: 1GB/s}\ntopology: %s\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 1ns, receive: 0s}, %s}\n", c.topology, c.network)
			r, err := simulate(t, mpivirt.Config{
				Target: target(t, machine, 8), Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Alltoall: collectives.LinearSync},
				Program: mpivirt.Program{Name: "alltoall", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					return r.World().CollectiveSize(collectives.Alltoall, c.bytes, 0)
				})}},
			}, engines)
			if err != nil {
				t.Fatal(err)
			}
			if r.VirtualTime != vtime.Time(c.want) {
				t.Errorf("%s, %s on %d engines: got %v, want %v", c.topology, c.network, engines, r.VirtualTime, c.want)
			}
		}
	}
}
