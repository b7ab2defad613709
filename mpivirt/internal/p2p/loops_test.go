package p2p

import (
	"testing"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Ranks that only wait poll a million times each, ten millions together, but twice as often in any case as makes
// their loops long. They get there in few steps.
func TestPollsOfRanksThatOnlyWait(t *testing.T) {
	for _, c := range []struct {
		longLoop int32
		ranks    uint64
		want     int32
		steps    int
	}{
		{1000, 1, 1_000_000, 1},
		{1000, 2, 1_000_000, 2},
		{1000, 10, 1_000_000, 5},
		{1000, 64, 156_250, 5},
		{1000, 1000, 10_000, 4},
		{1000, 1 << 20, 2000, 1},
		{3, 1 << 30, 6, 1},
		{1 << 30, 5, 1 << 30, 0},
		{1<<31 - 1, 1 << 30, 1<<31 - 1, 0},
	} {
		if got := endlessPolls(c.longLoop, c.ranks); got != c.want {
			t.Errorf("%d ranks, %d polls make a long loop: %d polls are endless, want %d", c.ranks, c.longLoop, got, c.want)
		}
		steps := 0
		for polls := c.longLoop; polls < c.want; steps++ {
			polls += min(furtherPolls(c.longLoop, c.ranks, polls), c.want-polls)
		}
		if steps != c.steps {
			t.Errorf("%d ranks, %d polls make a long loop: %d steps, want %d", c.ranks, c.longLoop, steps, c.steps)
		}
	}
}

// As many polls as make a loop long never make it endless, however many they are; else a million do.
func TestLongLoopsAreNotEndlessAtOnce(t *testing.T) {
	for polls, want := range map[int32][2]int32{0: {UsualPolls, EndlessPolls}, 5: {5, EndlessPolls}, 3_000_000: {3_000_000, 3_000_000}} {
		m := opened(t, 2)
		k := &Messages{}
		k.Partition.Init(world.Settings{Engine: engine.New(engine.Config{Partition: engine.Partition{LPs: 2, Engines: 1}, Transport: engine.NewInProcess(1)[0]}), Target: m.Partition.Target})
		if k.Open(nil, polls, nil); k.longLoop != want[0] || k.endless != want[1] {
			t.Errorf("%d polls make a long loop: a loop of %d is long, of %d endless, want %d and %d", polls, k.longLoop, k.endless, want[0], want[1])
		}
	}
}

// All engines learn how many ranks wait in long loops, when the first of them polls next, how often the one has polled that has polled most, and
// where progress is in calls the latest clock of any rank. Ranks that wait beyond doubt poll no more.
func TestLoopsThatPollOn(t *testing.T) {
	for _, order := range [][]int32{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}} {
		for _, fields := range []string{"", ", progress: calls"} {
			m := openedOn(t, 5, "model: flat, latency: 1us, bandwidth: 1GB/s, poll: 1us"+fields)
			m.longLoop, m.endless = 3, 100
			m.Partition.Clock[4] = 7_000_000 // in no loop
			for i, lp := range order {
				m.Partition.Clock[lp], m.Box(lp).polls = [...]vtime.Time{5_000_000, 2_000_000, 9_000_000, 1_000_000}[i], [...]int32{10, 5, 20, 100}[i]
				m.waitsInLoop(lp)
				m.waitsInLoop(lp) // says nothing more
			}
			want := engine.Deferred{Items: 4, From: 2_000_000, Most: 20}
			if fields != "" {
				want.Last = 9_000_000
			}
			if got := m.Deferred(); !m.Defers() || got != want {
				t.Errorf("loops of %v%s: %+v, want %+v", order, fields, got, want)
			}
			if got := m.PollsInVain(order[2]); got != 20 || m.PollsInVain(4) != 0 {
				t.Errorf("a rank that has polled 20 times in vain has %d polls, one in no loop %d", got, m.PollsInVain(4))
			}
			for left, lp := range order {
				m.leavesLoop(lp)
				m.leavesLoop(lp)
				if got := m.Deferred().Items; got != uint64(3-left) || m.Defers() != (left < 3) {
					t.Errorf("after %d of 4 ranks have left their loops there are %d", left+1, got)
				}
			}
		}
	}
}

// Polls in a row are counted up to the number that makes a loop endless, or long if that is more.
func TestPollsAreCountedUpTo(t *testing.T) {
	for longLoop, most := range map[int32]int32{5: EndlessPolls, 3 * EndlessPolls: 3 * EndlessPolls} {
		m := opened(t, 2)
		m.longLoop = longLoop
		box := m.Box(0)
		box.Wait.Comm, box.Wait.Peer, box.Wait.Tag = world.World, 1, 5
		for _, polls := range []int32{0, 4, most - 1, most} {
			box.polls = polls
			if m.finishPoll(0, box, TestProbe); box.polls != min(polls+1, most) {
				t.Errorf("where %d polls make a long loop, %d polls follow on %d", longLoop, box.polls, polls)
			}
		}
	}
}

// Computing is nothing but an advance of the clock where nobody else has to know of it: before the first mailbox, without noise, statistics,
// processors and progress in calls.
func TestWhereComputingAdvancesTheClockAlone(t *testing.T) {
	for fields, want := range map[string]bool{
		"network: {model: flat, latency: 1us}": true, "network: {model: flat, latency: 1us, progress: calls}": false, "network: {model: flat, latency: 1us, progress: waits}": false,
		"network: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns}": false, "ranks_per_node: 2\nnode: {bandwidth: 1GB/s}\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}": true,
	} {
		machine, err := network.Parse("machine", []byte("name: m\n"+fields+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := machine.Target(4)
		if err != nil {
			t.Fatal(err)
		}
		open := func(noise Noise) *Messages {
			m := &Messages{}
			m.Partition.Init(world.Settings{Engine: engine.New(engine.Config{Partition: engine.Partition{LPs: 4, Engines: 1}, Transport: engine.NewInProcess(1)[0]}), Target: target})
			m.Open(noise, 0, nil)
			return m
		}
		m := open(nil)
		if m.Partition.ClocksOnly != want || open(longerByHalf{}).Partition.ClocksOnly {
			t.Errorf("%q: computing advances the clock alone: %v, want %v, and never with noise", fields, m.Partition.ClocksOnly, want)
		}
		if m.Box(1); m.Partition.ClocksOnly {
			t.Errorf("%q: computing advances the clock alone beside a mailbox", fields)
		}
	}
}
