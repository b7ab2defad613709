package kernel

import (
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

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
			waiters: []waiter{{Blocked{Rank: int(rank), Call: "Bcast", Place: "main (x.c:3)", For: "others", Near: "tag 4", Since: 7}, world.WorldContext, 9, "WORLD"}},
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

// One rank waits, several wait: the report has the number of its subject.
func TestDeadlockReportsCountRanks(t *testing.T) {
	for waiting, want := range map[uint64]string{
		1: "deadlock: 1 rank waits and cannot go on\n  and 1 more",
		2: "deadlock: 2 ranks wait and none can go on\n  and 2 more",
	} {
		if got := (&DeadlockError{Waiting: waiting}).Error(); got != want {
			t.Errorf("%d ranks: %q, want %q", waiting, got, want)
		}
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
				return k.Submit(lp, k.Compose(world.Send, k.collectives.Communicator(world.World), lp).Sends(nil, 8, int(lp+1)%8, 0))
			},
			func(k *Kernel, lp int32) bool {
				return k.Submit(lp, k.Compose(world.Recv, k.collectives.Communicator(world.World), lp).Receives(nil, 8, true, int(lp+7)%8, 0))
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
		mailboxes, messages := k.messages.InUse()
		queues, rounds := k.collectives.HeldRounds()
		if mailboxes > 0 != c.mailboxes || queues > 0 != c.queues {
			t.Errorf("%s makes mailboxes: %d, round queues: %d; want %t, %t", c.what, mailboxes, queues, c.mailboxes, c.queues)
		}
		if messages+rounds > 0 {
			t.Errorf("%s leaves %d of mailboxes and messages, %d of round queues, round messages and agents", c.what, messages, rounds)
		}
	}
}

// Ranks that need no answer in a collective go no further ahead of a rank on another engine
// than its window allows, whatever the operation, as if they had sent. Nobody is stopped.
func TestCollectivesAheadOfASlowRank(t *testing.T) {
	const calls, window = 3000, 16 << 10
	target := targetOf(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 3)
	for _, c := range []struct {
		operation collectives.Operation
		root      int
	}{
		{collectives.Reduce, 0}, {collectives.Gather, 0}, {collectives.Bcast, 1}, {collectives.Bcast, 2}, {collectives.Scatter, 2},
	} {
		for _, nonblocking := range []bool{false, true} {
			most := 0
			call := func(k *Kernel, lp int32) bool {
				if k.partition.Global(lp) == 0 { // alone on its engine
					_, held := k.collectives.HeldRounds()
					most = max(most, held)
					for until := time.Now().Add(5 * time.Microsecond); time.Now().Before(until); {
						runtime.Gosched()
					}
				}
				v, err := k.collectives.Sized(c.operation, 8, 1, c.root)
				q := k.Compose(v.Procedure, k.collectives.Communicators.At(world.World), k.partition.Global(lp)).Enters(v, err)
				if !nonblocking {
					return k.Submit(lp, q)
				}
				k.Submit(lp, q.Nonblocking())
				requests := []int32{k.messages.Completion.Request}
				return k.Submit(lp, k.Compose(world.Wait, k.collectives.Communicators.At(world.World), k.partition.Global(lp)).Waits(requests, nil))
			}
			s, err := New(Config{Target: target, Transports: engine.NewInProcess(2), Window: window,
				Program: Program{Name: "ahead", Forms: []Form{listed(slices.Repeat([]func(*Kernel, int32) bool{call}, calls))}}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(); err != nil {
				t.Fatal(err)
			}
			// Twice the window, where rank 0 waits in between; a record takes more than 64 bytes.
			if most > 2*window/64 {
				t.Errorf("%v with root %d, nonblocking %t: %d round queues, round messages and agents are kept", c.operation, c.root, nonblocking, most)
			}
		}
	}
}

// Communicators that all members have freed leave nothing behind, nor do their groups.
func TestFreedCommunicatorsLeaveNothing(t *testing.T) {
	target := targetOf(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 12)
	for _, engines := range []int{1, 3} {
		split := func(k *Kernel, lp int32) bool {
			c, rank := k.collectives.Communicators.At(world.World), k.partition.Global(lp)
			key := int(rank) * int(1+c.Next) % 101 // other groups each time
			v, err := k.collectives.Split(int(rank)%2, key)
			return k.Submit(lp, k.Compose(v.Procedure, c, rank).Enters(v, err))
		}
		free := func(k *Kernel, lp int32) bool {
			made := k.collectives.NewComm(lp, k.collectives.Communicators.At(world.World), int(k.partition.Global(lp))%2)
			return k.Submit(lp, k.Compose(world.CommFree, made, int32(made.Group.Member(int(k.partition.Global(lp))))))
		}
		var kernels sync.Map
		program := listed(slices.Repeat([]func(*Kernel, int32) bool{split, free}, 200))
		program = append(program, func(k *Kernel, _ int32) bool {
			kernels.Store(k, true)
			return true
		})
		s, err := New(Config{Target: target, Transports: engine.NewInProcess(engines), Program: Program{Name: "freed", Forms: []Form{program}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(); err != nil {
			t.Fatal(err)
		}
		kernels.Range(func(k, _ any) bool {
			comms, both, contexts, groups := k.(*Kernel).partition.Comms.InUse(), k.(*Kernel).collectives.Communicators.InUse(), len(k.(*Kernel).partition.Contexts), k.(*Kernel).partition.Groups.InUse()
			if comms != 3 || both != 3 || contexts != 2 || groups != 0 {
				t.Errorf("%d engines: %d and %d communicators, %d contexts and %d groups stay; want WORLD, SELF and that in the place of freed ones, and no group with a list",
					engines, comms, both, contexts, groups)
			}
			return true
		})
	}
}
