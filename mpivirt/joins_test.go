package mpivirt_test

import (
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// A node of eight ranks, complexes of four. Each vector of 16 bytes takes 16 ns to sum and 8 ns to copy, and 4 ns to pass the memory.
const levelled = "name: levelled\nranks_per_node: 8\nnetwork: {model: flat, latency: 1us, reduce: {bandwidth: 1GB/s}, local_copy: {bandwidth: 2GB/s}, " +
	"join: {levels: [{name: complex, ranks: 4, latency: 60ns, gap: 10ns}, {name: node, latency: 300ns}], bandwidth: 4GB/s}}\n"

// The last of the other members, its flags, the sums of complexes (3 more vectors each) and of the node (1), the leaders, and the result back: on any
// hosting, for a barrier and an allreduce, on full nodes and one of two ranks.
func TestJoinsByLevels(t *testing.T) {
	const ns = vtime.Nanosecond
	entries := []int{100, 0, 0, 0, 0, 700, 0, 0, 900, 40}
	for _, c := range []struct {
		bytes  int64
		leader [2]vtime.Duration // what each node's leader has when its node has joined
		out    [2]vtime.Duration
	}{
		{0, [2]vtime.Duration{700*ns + 390*ns, 900 * ns}, [2]vtime.Duration{390 * ns, 70 * ns}},
		// Sums: max(3·16, 8·16/4 ns) + max(16, 2·16/4); of two ranks max(16, 2·16/4). Copies: max(8, 8·16/4), of two max(8, 8).
		{16, [2]vtime.Duration{700*ns + 390*ns + 48*ns + 16*ns, 900*ns + 16*ns}, [2]vtime.Duration{390*ns + 32*ns, 70*ns + 8*ns}},
	} {
		call := func(comm *mpivirt.Comm) error {
			if c.bytes == 0 {
				return comm.Barrier()
			}
			return mpivirt.Allreduce(comm, []uint64{1, 2}, []uint64{0, 0}, mpivirt.Sum[uint64]())
		}
		combine := vtime.Duration(c.bytes) * ns
		var ends [2]vtime.Time
		for node, own := range c.leader {
			ends[node] = vtime.Time(0).Add(max(own, c.leader[1-node]+vtime.Microsecond) + combine)
		}
		var want []vtime.Time
		for rank := range entries {
			t := ends[rank/8]
			if rank%8 != 0 {
				t = t.Add(c.out[rank/8])
			}
			want = append(want, t)
		}
		eachHost(t, len(entries), func(h host) {
			got := exits(t, mpivirt.Config{
				Target: target(t, levelled, len(entries)), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
			}, h.Engines, entries, call)
			if !slices.Equal(got, want) {
				t.Errorf("%d bytes, %+v: ranks leave at %v, want %v", c.bytes, h, got, want)
			}
		})
	}
}

// 128 ranks of a node share the sum of a megabyte: no rank sums 127 vectors alone.
func TestASharedSum(t *testing.T) {
	time := func(join string) vtime.Duration {
		laidOut := target(t, "name: m\nranks_per_node: 128\nnetwork: {model: twolevel, intra: {latency: 200ns, bandwidth: 10GB/s}, inter: {latency: 2us, bandwidth: 25GB/s}, reduce: {bandwidth: 4GB/s}, local_copy: {bandwidth: 10GB/s}"+join+"}\n", 256)
		return finish(t, laidOut, mpivirt.Auto, 2, collectives.Allreduce, collectives.NodeLeader, func(c *mpivirt.Comm) error { return c.CollectiveSize(collectives.Allreduce, 1<<20, 0) })
	}
	alone, shared := time(""), time(", join: {levels: [{name: complex, ranks: 8, latency: 60ns, gap: 15ns}, {name: socket, ranks: 64, latency: 150ns, gap: 30ns}, {name: node, latency: 250ns}], bandwidth: 400GB/s}")
	if alone < 33*vtime.Millisecond || shared > 2*vtime.Millisecond || shared < 500*vtime.Microsecond {
		t.Errorf("two nodes of 128 ranks take %v by the leader and %v together; 1.07 ms were measured", alone, shared)
	}
}
