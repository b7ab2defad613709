package coll

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The engines that have members of a communicator are those of its ranks: the others in ascending order, the successor cyclically.
func TestEnginesWithMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 12).Draw(t, "ranks")
		engines := rapid.IntRange(1, ranks).Draw(t, "engines")
		members := rapid.SliceOfNDistinct(rapid.IntRange(0, ranks-1), 1, ranks, rapid.ID).Draw(t, "members")
		partition := engine.Partition{LPs: ranks, Engines: engines}
		own := partition.Owner(rapid.SampledFrom(members).Draw(t, "one of the engine"))
		m, err := network.Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(int64(ranks))
		if err != nil {
			t.Fatal(err)
		}
		k := &Collectives{}
		k.Messages.Partition.Init(world.Settings{Target: target, Engine: engine.New(engine.Config{
			Partition: partition, Transport: engine.NewInProcess(engines)[own], Lookahead: func(int) vtime.Duration { return vtime.Second },
		})})
		k.Messages.Open(nil, 0, idle{k})
		k.Open(Algorithms{First: nil}, Auto, nil)
		comm := k.addComm(1001, world.NewGroup(members))
		var all []int
		for _, rank := range members {
			all = append(all, partition.Owner(rank))
		}
		slices.Sort(all)
		all = slices.Compact(all)
		at := slices.Index(all, own)
		if got, want := k.successor(comm), all[(at+1)%len(all)]; got != want {
			t.Fatalf("after engine %d of %v comes %d, want %d", own, all, got, want)
		}
		if got, want := k.others(comm), slices.Delete(slices.Clone(all), at, at+1); !slices.Equal(got, want) {
			t.Fatalf("beside engine %d of %v there are %v", own, all, got)
		}
	})
}
