package coll

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
)

// The layers of a repeated collective count the messages of its rounds at each interface, inward by those who send them, in the order of the rounds,
// again for each call. The messages of a window of several rounds are those of its last round.
func TestLayersCountTheMessagesOfRounds(t *testing.T) {
	t.Parallel()
	layered := map[collectives.Algorithm]bool{}
	rapid.Check(t, func(r *rapid.T) {
		op := rapid.SampledFrom([]collectives.Operation{collectives.Barrier, collectives.Allreduce, collectives.Allgather, collectives.Alltoall, collectives.ReduceScatter}).Draw(r, "operation")
		a := drawAlgorithm(r, op)
		ranks := rapid.IntRange(2, 17).Draw(r, "ranks")
		node := rapid.SampledFrom([]string{"", ", memory: 2GB/s", ", interfaces: 2"}).Draw(r, "node")
		m, err := network.Parse("m", fmt.Appendf(nil, "name: m\nranks_per_node: %d\nnode: {bandwidth: 1GB/s, message_gap: 10ns%s}\nnetwork: {model: twolevel, intra: {latency: 1us, bandwidth: 1GB/s}, inter: {latency: 2us, bandwidth: 1GB/s}}\n",
			rapid.IntRange(1, 5).Draw(r, "ranks per node"), node), nil)
		if err != nil {
			r.Fatal(err)
		}
		target, err := m.Target(int64(ranks))
		if err != nil {
			r.Fatal(err)
		}
		bytes := int64(8 * ranks)
		if op == collectives.Barrier {
			bytes = 0
		}
		l := layeringOf(target, a, &Repeated{Operation: op, Bytes: bytes, Element: 8})
		if l == nil {
			return
		}
		layered[a] = true
		type place struct {
			node, rail int
			way        resource.Way
		}
		rounds := map[place][]int{} // messages of each round
		passes := func(p int, round int, way resource.Way) {
			at := place{p / l.perNode, p % l.perNode % l.each, way}
			if way == resource.Within {
				at.rail = 0
			}
			if rounds[at] == nil {
				rounds[at] = make([]int, l.schedule.MaxRounds())
			}
			rounds[at][round]++
		}
		steps, step := collectives.StepperOf(l.schedule), collectives.Step{}
		for p := range l.schedule.Members() {
			for round := l.schedule.Next(p, 0); round < l.schedule.Rounds(p); round = l.schedule.Next(p, round+1) {
				steps.StepInto(&step, p, round)
				last := round + step.Left // of a window of several rounds
				switch to := step.To; {
				case to == collectives.None:
				case to/l.perNode != p/l.perNode:
					passes(p, last, resource.Outward)
					passes(to, last, resource.Inward)
				case l.target.MemoryTime(l.block*int64(step.Send.Count)) > 0:
					passes(p, last, resource.Within)
				}
			}
		}
		for at, of := range rounds {
			layer := uint64(0)
			for call := range uint64(2) {
				for round, want := range of {
					if want == 0 {
						continue
					}
					got, n := l.Next(at.node, at.rail, at.way, layer)
					for at.way == resource.Within && got%resource.RoundLayers == resource.RoundLayers-1 { // work in memory after a round
						got, n = l.Next(at.node, at.rail, at.way, got+1)
					}
					if got != resource.RoundLayers*(call<<32+uint64(round)) || n != want {
						r.Fatalf("%v by %v of %d, %+v: from layer %x on %d messages in layer %x, want %d in round %d of call %d", op, a, ranks, at, layer, n, got, want, round, call)
					}
					layer = got + 1
				}
			}
		}
	})
	if len(layered) < 3 {
		t.Errorf("layers of %v only", layered)
	}
}

// A call that takes other rounds than the repeated one ends the simulator: layers rest on its algorithm and the lengths of its blocks.
func TestRepeatedCallsTakeTheRoundsOfTheirLayers(t *testing.T) {
	m, err := network.Parse("m", []byte("name: m\nranks_per_node: 2\nnode: {bandwidth: 1GB/s}\nnetwork: {model: flat, latency: 1us}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	l := layeringOf(target, collectives.Ring, &Repeated{Operation: collectives.ReduceScatter, Bytes: 32, Element: 8, Data: true})
	for _, c := range []struct {
		algorithm collectives.Algorithm
		counts    []int64
		want      string // "" if the call is the repeated one
	}{
		{collectives.Ring, []int64{8, 8, 8, 8}, ""},
		{collectives.RecursiveHalving, []int64{8, 8, 8, 8}, "goes by ring, and they call it by recursive-halving"},
		{collectives.Ring, []int64{8, 16, 0, 8}, "blocks of other lengths"}, {collectives.Ring, []int64{0, 8, 16, 8}, "blocks of other lengths"},
	} {
		v := Collective{Procedure: world.ReduceScatter, Operation: collectives.ReduceScatter, Algorithm: c.algorithm, Bytes: 32, Element: 8, Data: true, Counts: c.counts}
		inst := &instance{Call: v, width: l.schedule.Positions(), layout: v.CommonLayout(l.schedule)}
		got := func() (text string) {
			defer func() {
				if broken, ok := recover().(*invariant.Violation); ok {
					text = broken.Text
				}
			}()
			l.check(inst)
			return ""
		}()
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v of %v: %q, want %q", c.algorithm, c.counts, got, c.want)
		}
	}
}
