package coll

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The calls of a block of LPs that leave together are counted as the calls of each of them, whichever of them have entered at one instant.
func TestBlocksOfCallsCountAsEachCall(t *testing.T) {
	machine, err := network.Parse("machine", []byte("name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	const most = 12
	target, err := machine.Target(most)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		clocks := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3), func(i int) vtime.Time { return vtime.Time(i) * 500 }), 1, most).Draw(t, "clocks")
		late := slices.Max(clocks)
		first, others := late+vtime.Time(rapid.IntRange(0, 2).Draw(t, "first")), late+vtime.Time(rapid.IntRange(0, 2).Draw(t, "others"))
		tasks := rapid.Bool().Draw(t, "tasks")
		count := func(leave func(c *Collectives, inst *instance)) []byte {
			c := &Collectives{}
			c.Messages.Partition.Init(world.Settings{Target: target, Engine: engine.New(engine.Config{
				Partition: engine.Partition{LPs: most, Engines: 1}, Transport: engine.NewInProcess(1)[0], Lookahead: func(int) vtime.Duration { return vtime.Second },
			})})
			c.Explain(true, false)
			calls := &c.Messages.Partition.Summary.Calls
			calls.Open(0, most, most, tasks)
			c.sums = calls.Meet(stats.CallKey{Procedure: uint8(world.Barrier)}, 8, stats.LateMember, late, stats.Late{Rank: 3})
			leave(c, &instance{})
			calls.Settle(&stats.Activities{})
			return calls.Append(nil)
		}
		block := count(func(c *Collectives, inst *instance) { c.sumBlock(inst, 0, clocks, first, others) })
		each := count(func(c *Collectives, inst *instance) {
			for lp, entry := range clocks {
				c.sumCall(inst, int32(lp), entry, map[bool]vtime.Time{true: first, false: others}[lp == 0], stats.Parts{}, &stats.Phases{})
			}
		})
		if !bytes.Equal(block, each) {
			t.Errorf("a block with entries %v counts %x, its calls count %x", clocks, block, each)
		}
	})
}
