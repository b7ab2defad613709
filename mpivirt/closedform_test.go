package mpivirt_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// drawPayingMachine gives a machine on which all nodes are equally far apart and
// messages cost processors and ports something.
func drawPayingMachine(t *rapid.T, perNode int) string {
	time := func(name string) string {
		return fmt.Sprintf("%dps", rapid.OneOf(rapid.Just(0), rapid.Just(1), rapid.IntRange(2, 3_000_000)).Draw(t, name))
	}
	rate := func(name string) string {
		return fmt.Sprintf("%dMB/s", rapid.IntRange(10, 30_000).Draw(t, name))
	}
	model := fmt.Sprintf("model: twolevel, intra: {latency: %s, bandwidth: %s}, inter: {latency: %s, bandwidth: %s}",
		time("intra latency"), rate("intra bandwidth"), time("latency"), rate("bandwidth"))
	if rapid.Bool().Draw(t, "hops") {
		model = fmt.Sprintf("model: hops, latency: %s, bandwidth: %s, latency_per_hop: %s, memory_latency: %s, memory_bandwidth: %s",
			time("latency"), rate("bandwidth"), time("per hop"), time("memory latency"), rate("memory bandwidth"))
	}
	return fmt.Sprintf("name: paying\nranks_per_node: %d\ntopology: {kind: star}\nnetwork: {%s, overhead: {send: %s, receive: %s}, gap: %s, reduce: {bandwidth: %s}, local_copy: {bandwidth: %s}, datatype: {time: 70ns, block: 3ns}}\n",
		perNode, model, time("send"), time("receive"), time("gap"), rate("reduce"), rate("local copy"))
}

// costOf is what a machine, whose nodes are equally far apart, charges.
func costOf(t *network.Target) collectives.Cost {
	last := t.Ranks() - 1
	return collectives.Cost{
		Send: t.Overhead().Send, Receive: t.Overhead().Receive, Gap: t.Gap(), Copy: t.Copy, Gamma: t.ReduceTime, Own: t.LocalCopyTime, Type: t.TypeTime,
		Alpha: t.Latency(0, last), Beta: func(bytes int64) vtime.Duration { return t.Transfer(0, last, bytes) },
		PerNode: t.NodeSize(0), Intra: t.Latency(0, 0),
		IntraBeta: func(bytes int64) vtime.Duration { return t.Join(bytes) - t.Join(0) },
	}
}

// With all ranks together, what a simulation takes is the closed form, with overheads,
// copies and gaps, whoever carries it out.
func TestClosedFormsWithOverheads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		op := rapid.SampledFrom(collectives.Operations()).Filter(hasSizeForm).Draw(rt, "operation")
		a := rapid.SampledFrom(collectives.Algorithms(op)).Draw(rt, "algorithm")
		members, perNode := rapid.IntRange(1, 40).Draw(rt, "members"), 1
		if a == collectives.NodeLeader {
			perNode = rapid.IntRange(1, 5).Draw(rt, "ranks per node")
		}
		tgt := target(rt, drawPayingMachine(rt, perNode), members*perNode)
		bytes := rapid.SampledFrom([]int64{0, 1, 8, 37, 1000, 65536}).Draw(rt, "bytes")
		want, ok := collectives.ClosedForm(op, a, members, bytes, 1, costOf(tgt))
		if !ok {
			return
		}
		h := drawHost.Draw(rt, "host")
		r, err := simulate(rt, mpivirt.Config{
			Target: tgt, Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Window: h.Window,
			Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
			Program: mpivirt.Program{Name: "one", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				return r.World().CollectiveSize(op, bytes, 0)
			})}},
		}, h.Engines)
		if err != nil {
			rt.Fatal(err)
		}
		if got := vtime.Duration(r.VirtualTime); got != want {
			rt.Fatalf("%v %v of %d bytes among %d nodes of %d ranks, %+v: %v, closed form %v", op, a, bytes, members, perNode, h, got, want)
		}
	})
}
