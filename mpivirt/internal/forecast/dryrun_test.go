package forecast

import (
	"math"
	"math/bits"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/network"
	"gigarank/vtime"
)

// dryRunOf returns a dry run whose messages have one size each.
func dryRunOf(t *testing.T, op collectives.Operation, a collectives.Algorithm, members, engines int, bytes int64) *dryRun {
	t.Helper()
	s, err := collectives.New(op, a, members, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &dryRun{
		schedule: s, eager: math.MaxInt64, engines: engines, batch: int32(members), times: 1,
		data: bytes > 0, bytes: func(collectives.Blocks) int64 { return bytes }, bufferOf: func(int) int64 { return 0 }, packing: func(int) vtime.Duration { return 0 },
	}
}

// The root of a linear gather, which enters first, takes in one message at once. Those of the others wait
// until its agent has its next turn. Past those that are searched one by one they are in a hash table.
func TestDryRunOfALinearGather(t *testing.T) {
	for _, members := range []int{2, 3, 34, 35, 200} {
		n := float64(members)
		u := dryRunOf(t, collectives.Gather, collectives.Linear, members, 1, 0).byMessages()
		want := usage{agents: 1, queues: 1 / n, rounds: (n - 2) / n, early: max(n-2-coll.EarlyLimit, 0) / n, ready: 1}
		if got := u; math.Abs(got.agents-want.agents) > 1e-9 || got.rounds != want.rounds || got.early != want.early || got.ready != want.ready {
			t.Errorf("%d members: %+v, want %+v", members, got, want)
		}
	}
}

// Two members on two engines send each other one record each, with the content if memory is moved.
func TestDryRunCountsRecordsBetweenEngines(t *testing.T) {
	for _, bytes := range []int64{0, 8, 5000} {
		u := dryRunOf(t, collectives.Allreduce, collectives.RecursiveDoubling, 2, 2, bytes).byMessages()
		if want := float64(coll.RoundRecordBytes + bytes); u.wire != want {
			t.Errorf("%d bytes: %g on the wire, want %g", bytes, u.wire, want)
		}
	}
	if u := dryRunOf(t, collectives.Allreduce, collectives.RecursiveDoubling, 2, 1, 8).byMessages(); u.wire != 0 {
		t.Errorf("%g bytes on the wire of one engine", u.wire)
	}
}

// A sender above the eager limit waits for the match, so its message lends its memory. Below, a message
// that comes early keeps a copy.
func TestDryRunCountsCopiesOfEarlyMessages(t *testing.T) {
	const members, bytes = 10, 100
	r := dryRunOf(t, collectives.Gather, collectives.Linear, members, 1, bytes)
	if u := r.byMessages(); u.contents != (members-2.)/members {
		t.Errorf("eager: %g copies", u.contents)
	}
	r.eager = bytes
	if u := r.byMessages(); u.contents != (members-2.)/members {
		t.Errorf("at the eager limit: %g copies", u.contents)
	}
	r.eager = bytes - 1
	if u := r.byMessages(); u.contents != 0 {
		t.Errorf("rendezvous: %g copies", u.contents)
	}
}

// With clocks, every participant has an agent and a queue, and a message in each direction. A dissemination
// barrier among members that compute nothing sends its rounds in step: a processor has few at once.
func TestDryRunWithClocks(t *testing.T) {
	machine, err := network.Load("loggops-default", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, members := range []int{2, 16} {
		r := dryRunOf(t, collectives.Barrier, collectives.Dissemination, members, 1, 0)
		if r.target, err = machine.Target(int64(members)); err != nil {
			t.Fatal(err)
		}
		u := r.inVirtualTime()
		if u.agents != 1 || u.queues != 1 || u.rounds < 1 || u.rounds > 2 || u.early != 0 {
			t.Errorf("%d members: %+v", members, u)
		}
	}
}

// The mean of the members' messages: dissemination has one each round, a linear broadcast one for each
// member but the root.
func TestTrafficOfAlgorithms(t *testing.T) {
	for _, members := range []int{1, 2, 5, 64, 65} {
		for _, c := range []struct {
			op   collectives.Operation
			a    collectives.Algorithm
			want float64
		}{
			{collectives.Barrier, collectives.Dissemination, float64(bits.Len(uint(members - 1)))},
			{collectives.Bcast, collectives.Linear, float64(members-1) / float64(members)},
		} {
			s, err := collectives.New(c.op, c.a, members, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := meanTraffic(s, nil).messages; math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%v by %v among %d: %g messages each, want %g", c.op, c.a, members, got, c.want)
			}
		}
	}
}

// What a program says that its ranks hold is counted by the sizes of the room that holds it.
func TestHeldBytes(t *testing.T) {
	for _, c := range []struct {
		held Held
		want float64
	}{
		{Held{}, 4},
		{Held{Mailboxes: 1}, float64(p2p.MailboxBytes) + 4},
		{Held{Requests: 3}, 3*float64(p2p.RequestBytes+4) + 4},
		{Held{Messages: 2, Payload: p2p.SmallPayload}, 2*float64(p2p.MessageBytes+4) + 4},
		{Held{Messages: 2, Payload: 100}, 2*float64(p2p.MessageBytes+4+128+24) + 4},
	} {
		if got := HeldBytes(&kernel.Config{}, c.held, Cost{}); got != c.want {
			t.Errorf("%+v: %g bytes, want %g", c.held, got, c.want)
		}
	}
}

// Messages that wait for interfaces have a passage and places in a list that doubles, and nodes have interfaces: 40 ranks of ten nodes, of whose messages
// 20 wait at senders' nodes and 10 at receivers', have lists with room for 32 and 16.
func TestHeldBytesAtInterfaces(t *testing.T) {
	m, err := network.Parse("four", []byte("name: four\nranks_per_node: 4\nnode: {interfaces: 2, bandwidth: 1GB/s}\n"+
		"network: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 1us, receive: 1us}, eager_limit: 1KiB}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(40)
	if err != nil {
		t.Fatal(err)
	}
	config := &kernel.Config{Target: target}
	const lists = (32 + 16 + 8 + 4 + 2 + 1) + (16 + 8 + 4 + 2 + 1)
	want := 4 + 30*float64(resource.PassageBytes+4)/40 + lists*float64(resource.PlaceBytes)/40 + 10*float64(2*2*8)/40
	if got := HeldBytes(config, Held{Leaving: 0.5, Coming: 0.25}, Cost{}); math.Abs(got-want) > 1e-9 {
		t.Errorf("%g bytes, want %g", got, want)
	}
	if got := HeldBytes(config, Held{Leaving: 0.5, Coming: 0.25}, Cost{PassageBytes: 1e4}); got != 4 {
		t.Errorf("%g bytes beside more of collectives, want 4", got)
	}
	if got := HeldBytes(config, Held{}, Cost{}); got != 4 {
		t.Errorf("%g bytes without such messages, want 4", got)
	}
}

// A slice that doubles has had 1 + 2 + 4 places for three elements.
func TestBytesOfASliceThatDoubles(t *testing.T) {
	for _, c := range []struct{ n, want float64 }{{0, 0}, {0.5, 10}, {1, 10}, {2, 30}, {3, 70}, {4, 70}, {5, 150}} {
		if got := doubled(10, c.n); got != c.want {
			t.Errorf("%g elements: %g bytes, want %g", c.n, got, c.want)
		}
	}
}
