package coll

import (
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
)

// modeOf returns how engine 0 would carry a collective on WORLD out.
func modeOf(t *testing.T, machine string, ranks, engines int, wanted Interpreter, v Collective) Mode {
	t.Helper()
	k := opened(t, machine, ranks, engines, wanted)
	return k.newInstance(k.Communicators.At(world.World), 0, 0, &v).mode
}

// Bulk interpretation is used where it is possible, and only there.
func TestModeOfInstances(t *testing.T) {
	gapped := func(gap string) string {
		return "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, overhead: {send: 1us, receive: 1us}, gap: " + gap + "}\n"
	}
	const (
		flat    = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us}\n"
		far     = "name: m\nranks_per_node: 2\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}, eager_limit: 8}\n"
		limited = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, eager_limit: 8}\n"
		shared  = "name: m\nranks_per_node: 2\nnetwork: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns}\n"
		mixed   = "name: m\nranks_per_node: 2\nmapping: random:4\nnetwork: {model: flat, latency: 1us}\n"
	)
	sum := world.Operator{Name: "sum", Commutative: true, Apply: func(_, _, _ []byte) {}}
	barrier := func(a collectives.Algorithm) Collective {
		return Collective{Procedure: world.Barrier, Operation: collectives.Barrier, Algorithm: a}
	}
	allreduce := func(a collectives.Algorithm, bytes int64) Collective {
		return Collective{Procedure: world.Allreduce, Operation: collectives.Allreduce, Algorithm: a, Bytes: bytes, Element: 8}
	}
	data := func(a collectives.Algorithm) Collective {
		v := allreduce(a, 16)
		v.Data, v.Operator = true, sum
		return v
	}
	bcast := Collective{Procedure: world.Bcast, Operation: collectives.Bcast, Algorithm: collectives.Binomial, Bytes: 8, Element: 8}
	alltoall := Collective{Procedure: world.Alltoall, Operation: collectives.Alltoall, Algorithm: collectives.Pairwise, Bytes: 8, Element: 8, Data: true}
	for _, c := range []struct {
		name        string
		machine     string
		engines     int
		interpreter Interpreter
		v           Collective
		want        Mode
	}{
		{"asked for messages", flat, 1, Message, barrier(collectives.NodeLeader), ByMessages},
		{"node-leader barrier", flat, 3, Auto, barrier(collectives.NodeLeader), ByArrays},
		{"dissemination barrier", flat, 3, Bulk, barrier(collectives.Dissemination), ByArrays},
		{"leaders in no order", mixed, 3, Auto, barrier(collectives.NodeLeader), ByMessages},
		{"dissemination, whatever the mapping", mixed, 3, Auto, barrier(collectives.Dissemination), ByArrays},
		{"state at the receiver, on one engine", shared, 1, Auto, barrier(collectives.Dissemination), InStep},
		{"state at the receiver, of vectors", shared, 1, Auto, data(collectives.RecursiveDoubling), ByMessages},
		{"state at the receiver, above the eager limit", strings.Replace(shared, "G: 1ns", "G: 1ns, S: 8", 1), 1, Auto, allreduce(collectives.RecursiveDoubling, 16), ByMessages},
		{"state at the receiver, of leaders of nodes", shared, 1, Auto, barrier(collectives.NodeLeader), ByMessages},
		{"state at the receiver, of leaders alone", strings.Replace(shared, "node: 2", "node: 1", 1), 1, Auto, barrier(collectives.NodeLeader), InStep},
		{"state at the receiver, asked for messages", shared, 1, Message, barrier(collectives.Dissemination), ByMessages},
		{"state at the receiver on several engines", shared, 3, Auto, barrier(collectives.Dissemination), ByMessages},
		{"sizes", flat, 3, Auto, allreduce(collectives.RecursiveDoubling, 16), ByArrays},
		{"a gap that overheads hide", gapped("2us"), 3, Auto, allreduce(collectives.RecursiveDoubling, 16), ByArrays},
		{"a gap that they do not", gapped("3us"), 3, Auto, allreduce(collectives.RecursiveDoubling, 16), ByMessages},
		{"a gap where members only receive", gapped("2us"), 3, Auto, barrier(collectives.Binomial), ByMessages},
		{"rendezvous in pairs", limited, 3, Auto, allreduce(collectives.RecursiveDoubling, 16), ByArrays},
		{"rendezvous round a ring", limited, 3, Auto, allreduce(collectives.Ring, 16*12), ByArrays},
		{"rendezvous at different distances, on one engine", far, 1, Auto, allreduce(collectives.Ring, 16*12), Locally},
		{"rendezvous at different distances", far, 3, Auto, allreduce(collectives.Ring, 16*12), ByMessages},
		{"several messages at once", flat, 3, Auto, barrier(collectives.Dissemination.WithFanout(4)), ByArrays},
		{"several messages at once, with a gap that overheads hide", gapped("2us"), 3, Auto, barrier(collectives.Dissemination.WithFanout(4)), ByArrays},
		{"several messages at once, with a gap that they do not", gapped("2500ns"), 3, Auto, barrier(collectives.Dissemination.WithFanout(4)), ByMessages},
		{"several messages at once after one in turn, with a gap", gapped("1500ns"), 3, Auto, allreduce(collectives.RecursiveMultiplying.WithFanout(5), 16), ByMessages},
		{"several messages at once, to more members than a power of the fan-out", flat, 3, Auto, allreduce(collectives.RecursiveMultiplying.WithFanout(5), 16), ByArrays},
		{"several messages at once, above the eager limit", limited, 3, Auto, allreduce(collectives.RecursiveMultiplying.WithFanout(5), 16), ByMessages},
		{"several messages at once, state at the receiver", shared, 1, Auto, barrier(collectives.Dissemination.WithFanout(4)), ByMessages},
		{"several vectors at once", flat, 1, Auto, data(collectives.RecursiveMultiplying.WithFanout(5)), ByMessages},
		{"chunks of different lengths", flat, 3, Auto, allreduce(collectives.Ring, 16), ByMessages},
		{"chunks of one length", flat, 3, Auto, allreduce(collectives.Ring, 8*12), ByArrays},
		{"data in the tree", flat, 3, Auto, data(collectives.NodeLeader), ByArrays},
		{"data in chunks", flat, 3, Auto, data(collectives.Rabenseifner), ByMessages},
		{"data in chunks on one engine", flat, 1, Auto, data(collectives.Rabenseifner), Locally},
		{"data that are moved, on one engine", flat, 1, Auto, alltoall, ByArrays},
		{"data that are moved between engines", flat, 3, Auto, alltoall, ByArrays},
		{"who does not wait for all", flat, 3, Auto, bcast, ByMessages},
		{"who does not wait for all, on one engine", flat, 1, Auto, bcast, Locally},
	} {
		if got := modeOf(t, c.machine, 12, c.engines, c.interpreter, c.v); got != c.want {
			t.Errorf("%s: mode %d, want %d", c.name, got, c.want)
		}
	}
}

// Where the first rounds of many can be carried out over arrays, so can the others, which
// arraysFit does not look at.
func TestLaterRoundsFitAsTheFirst(t *testing.T) {
	const network = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, overhead: {send: 1us, receive: 1us}, gap: 2us, "
	for _, machine := range []string{network + "eager_limit: 8}\n", network + "eager_limit: 64Ki}\n"} {
		long := 0 // schedules with many rounds, which all fit
		for _, ranks := range []int{66, 97, 128, 150} {
			for _, op := range []collectives.Operation{collectives.Barrier, collectives.Allreduce, collectives.Allgather, collectives.Alltoall, collectives.ReduceScatter} {
				for _, a := range collectives.Algorithms(op) {
					if a == collectives.GivenTime {
						continue
					}
					k := opened(t, machine, ranks, 1, Auto)
					v := Collective{Operation: op, Algorithm: a, Bytes: 8 * int64(ranks), Element: 8}
					if op == collectives.Barrier {
						v.Bytes, v.Element = 0, 0
					}
					inst := k.newInstance(k.Communicators.At(world.World), 0, 0, &v)
					c := k.choiceFor(inst)
					fits := true
					for round := range c.schedule.MaxRounds() {
						if fit := c.roundFits(c.schedule.Pattern(round)); round < LongRounds {
							fits = fits && fit
						} else if fits && !fit {
							t.Fatalf("%v by %v among %d: round %d does not fit, and the %d before do", op, a, ranks, round, LongRounds)
						}
					}
					if fits && c.schedule.MaxRounds() > LongRounds {
						long++
					}
				}
			}
		}
		if long == 0 {
			t.Errorf("no schedule with more than %d rounds fits on %q", LongRounds, machine)
		}
	}
}

// The plan of a collective of WORLD is the choice that an engine then makes.
func TestPlansAreWhatEnginesDo(t *testing.T) {
	modes := map[Mode]int{}
	for _, machine := range []string{
		"name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, barrier: {time: 5us}}\n",
		"name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, eager_limit: 8}\n",
		"name: m\nranks_per_node: 3\nnetwork: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns}\n",
		"name: m\nranks_per_node: 3\nnetwork: {model: flat, latency: 1us, switches: {levels: [{name: all, latency: 1us}]}}\n",
		"name: m\nranks_per_node: 3\nnetwork: {model: flat, latency: 1us, switches: {levels: [{name: chip, nodes: 1, latency: 1us}, {name: all, latency: 1us}]}}\n",
	} {
		for _, op := range collectives.Operations() {
			for _, a := range collectives.AllAlgorithms(op) {
				for _, engines := range []int{1, 3} {
					k := opened(t, machine, 12, engines, Auto)
					v := Collective{Procedure: world.ProcedureOf(op), Operation: op, Algorithm: a, Bytes: 16, Element: 8}
					if op == collectives.Barrier {
						v.Bytes, v.Element = 0, 0
					}
					if a == collectives.GivenTime && k.partition.Target.BarrierTime() == 0 || a == collectives.Offload && !k.partition.Target.Machine().Offloads() || a.AlongTorus() {
						continue
					}
					p, err := PlanOf(k.partition.Target, Auto, k.partition.Engine.Null(), engines == 1, false, false, &v)
					if err != nil {
						t.Fatal(err)
					}
					inst := k.newInstance(k.Communicators.At(world.World), 0, 0, &v)
					if inst.mode != p.Mode || inst.leaders != p.Leaders || (inst.schedule == nil) != (p.Schedule == nil) {
						t.Errorf("%v by %v on %d engines: planned %+v, and carried out in mode %d", op, a, engines, p, inst.mode)
					}
					if p.Schedule != nil && inst.schedule.Members() != p.Participants {
						t.Errorf("%v by %v on %d engines: %d participants planned, %d take part", op, a, engines, p.Participants, inst.schedule.Members())
					}
					modes[p.Mode]++
				}
			}
		}
	}
	for _, m := range []Mode{ByMessages, ByArrays, Locally, InStep, AtFixedCost} {
		if modes[m] == 0 {
			t.Errorf("no collective was planned in mode %d", m)
		}
	}
}

// Where nodes have interfaces, a vector that ranks cannot cut into equal chunks goes round by round on any number of engines, and one of equal chunks
// over arrays, with contents and without; under null messages alone both go by messages in the same layers on several engines.
func TestUnevenChunksTakeInterfacesInLayers(t *testing.T) {
	m, err := network.Parse("m", []byte("name: m\nranks_per_node: 4\nnode: {interfaces: 1, bandwidth: 1GB/s}\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(64)
	if err != nil {
		t.Fatal(err)
	}
	for bytes, want := range map[int64]Mode{8: Locally, 8 * 64: ByArrays} {
		for _, data := range []bool{false, true} {
			v := Collective{Operation: collectives.Allreduce, Algorithm: collectives.Rabenseifner, Bytes: bytes, Element: 8, Data: data}
			for _, c := range []struct {
				null, alone bool
				want        Mode
			}{{false, true, want}, {false, false, want}, {true, true, want}, {true, false, ByMessages}} {
				p, err := PlanOf(target, Auto, c.null, c.alone, true, false, &v)
				if err != nil {
					t.Fatal(err)
				}
				if !p.Layered || p.Mode != c.want || p.Combines != (data && p.Mode == ByArrays) {
					t.Errorf("%d bytes with elements %t, %+v: planned %+v", bytes, data, c, p)
				}
			}
		}
	}
}

// Where nodes have interfaces, statistics leave a repeated collective in bulk, on any number of engines.
func TestStatisticsStayInBulk(t *testing.T) {
	m, err := network.Parse("m", []byte("name: m\nranks_per_node: 4\nnode: {interfaces: 1, bandwidth: 1GB/s, message_gap: 10ns, memory: 5GB/s}\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 1us, receive: 1us}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(64)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Collective{
		{Operation: collectives.Barrier, Algorithm: collectives.NodeLeader},
		{Operation: collectives.Barrier, Algorithm: collectives.Dissemination},
		{Operation: collectives.Allreduce, Algorithm: collectives.RecursiveDoubling, Bytes: 8, Element: 8},
		{Operation: collectives.Allreduce, Algorithm: collectives.Rabenseifner, Bytes: 8 * 64, Element: 8},
		{Operation: collectives.Alltoall, Algorithm: collectives.Pairwise, Bytes: 8, Element: 8},
	} {
		for _, alone := range []bool{true, false} {
			p, err := PlanOf(target, Auto, false, alone, true, true, &v)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Layered || p.Hidden || p.Mode != ByArrays {
				t.Errorf("%v by %v with statistics: %+v", v.Operation, v.Algorithm, p)
			}
		}
	}
}
