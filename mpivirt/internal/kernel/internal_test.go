package kernel

import (
	"reflect"
	"testing"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// targetOf returns a machine for so many ranks.
func targetOf(t *testing.T, machine string, ranks int) *network.Target {
	t.Helper()
	m, err := network.Parse("test", []byte(machine), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// A report of a deadlock comes to host 0 as it was.
func TestDeadlockReportsTravel(t *testing.T) {
	report := func(rank int32) *DeadlockError {
		return &DeadlockError{
			Waiting: 1,
			waiters: []waiter{{Blocked{Rank: int(rank), Call: "Bcast", For: "others", Since: 7}, world.WorldContext, 9}},
			absent:  []absence{{world.WorldContext, 3, true, 5, 2}, {world.SelfContext, 4, false, 0, 1}},
		}
	}
	sent := report(1)
	got := decodeDeadlock(sent.encode(nil))
	if !reflect.DeepEqual(got, sent) {
		t.Fatalf("%+v comes as %+v", sent, got)
	}
	d := mergeDeadlocks(report(0), got)
	if d.explain(); d.Waiting != 2 || len(d.Blocked) != 2 {
		t.Errorf("ranks that agree: %v", d)
	}
}

// Design, section 7: joins and releases take α_intra. So engines that share a node may
// go so far ahead of each other, whatever the algorithm.
func TestEnginesThatShareANodeAreALatencyApart(t *testing.T) {
	target := targetOf(t, "name: m\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 3ns}, inter: {latency: 5ns}}\n", 8)
	c := Config{Target: target}
	for _, a := range []collectives.Algorithm{collectives.NodeLeader, collectives.Dissemination} {
		c.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Barrier: a}
		if got := c.lookahead(0, 2, 2, 4); got != 3*vtime.Nanosecond {
			t.Errorf("%v: two engines on a node are %v apart, want 3ns", a, got)
		}
		if got := c.lookahead(0, 4, 4, 8); got != 5*vtime.Nanosecond {
			t.Errorf("%v: two engines on two nodes are %v apart, want 5ns", a, got)
		}
	}
}

// Ranks in collectives by messages have no mailbox, and those that send to each other no
// round queue. What they had is released when they end.
func TestRanksPayForWhatTheyDo(t *testing.T) {
	target := targetOf(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 8)
	for _, c := range []struct {
		what              string
		do                listed
		mailboxes, queues bool
	}{
		{"a barrier", listed{enterBarrier}, false, true},
		{"a ring", listed{
			func(k *Kernel, lp int32) bool {
				return k.Submit(lp, k.Compose(world.Send, k.Communicator(world.World), lp).Sends(nil, 8, int(lp+1)%8, 0))
			},
			func(k *Kernel, lp int32) bool {
				return k.Submit(lp, k.Compose(world.Recv, k.Communicator(world.World), lp).Receives(nil, 8, true, int(lp+7)%8, 0))
			},
		}, true, false},
	} {
		var k *Kernel
		s, err := New(Config{Target: target, Transports: engine.NewInProcess(1), Collectives: coll.Message,
			Program: Program{Name: c.what, Forms: []Form{append(c.do, func(own *Kernel, _ int32) bool {
				k = own
				return true
			})}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(); err != nil {
			t.Fatal(err)
		}
		mailboxes, messages := k.InUse()
		queues, rounds := k.HeldRounds()
		if mailboxes > 0 != c.mailboxes || queues > 0 != c.queues {
			t.Errorf("%s makes mailboxes: %d, round queues: %d; want %t, %t", c.what, mailboxes, queues, c.mailboxes, c.queues)
		}
		if messages+rounds > 0 {
			t.Errorf("%s leaves %d of mailboxes and messages, %d of round queues, round messages and agents", c.what, messages, rounds)
		}
	}
}
