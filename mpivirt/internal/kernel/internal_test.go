package kernel

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/network"
	"gigarank/random"
	"gigarank/vtime"
)

// count returns 0 to n-1.
func count(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// arc is one message of a round.
type arc struct{ dst, src int }

// drawPattern gives a round of a schedule that is regular, with the messages that
// the steps of its members say.
func drawPattern(t *rapid.T) (p collectives.Pattern, members int, arcs []arc) {
	op := rapid.SampledFrom(collectives.Operations()).Draw(t, "operation")
	all := slices.DeleteFunc(collectives.Algorithms(op), func(a collectives.Algorithm) bool { return a == collectives.NodeLeader })
	members = rapid.IntRange(2, 80).Draw(t, "members")
	root := 0
	if op.Rooted() {
		root = rapid.SampledFrom([]int{0, members / 2}).Draw(t, "root")
	}
	s, err := collectives.New(op, rapid.SampledFrom(all).Draw(t, "algorithm"), members, root)
	if err != nil {
		t.Fatal(err)
	}
	round := rapid.IntRange(0, s.MaxRounds()-1).Draw(t, "round")
	if p = s.Pattern(round); p.Kind == collectives.Irregular {
		t.Skip("an irregular round")
	}
	for m := range members {
		if from := s.Step(m, round).From; from != collectives.None {
			arcs = append(arcs, arc{m, from})
		}
	}
	return p, members, arcs
}

// The runs of a round, cut to the engines of receivers and senders, are the
// messages of the round: each once, where both its ends belong.
func TestRunsAreTheMessagesOfTheRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members, want := drawPattern(t)
		partition := engine.Partition{LPs: members, Engines: rapid.IntRange(1, 5).Draw(t, "engines")}
		folded := 0
		if p.Kind == collectives.Exchange {
			folded = p.Folded
		}
		var got []arc
		for receiver := range partition.Engines {
			lo, hi := bounds(p, first(partition.Range(receiver)), second(partition.Range(receiver)))
			for sender := range partition.Engines {
				from, to := bounds(p, first(partition.Range(sender)), second(partition.Range(sender)))
				reached := [2]interval{}
				if from < to {
					reached = receivers(p, members, from, to)
				}
				runs(p, members, lo, hi, func(dst, src, n, stride int) {
					dst, src, n = clip(dst, src, n, stride, from, to)
					for i := range n {
						d, s := collectives.Survivor(folded, dst+i*stride), collectives.Survivor(folded, src+i*stride)
						if partition.Owner(d) != receiver || partition.Owner(s) != sender {
							t.Fatalf("%+v: the message from %d to %d is not between engines %d and %d", p, s, d, sender, receiver)
						}
						if e := dst + i*stride; !reached[0].has(e) && !reached[1].has(e) {
							t.Fatalf("%+v: elements %d to %d send to element %d, not in %v alone", p, from, to-1, e, reached)
						}
						got = append(got, arc{d, s})
					}
				})
			}
		}
		slices.SortFunc(got, func(a, b arc) int { return a.dst - b.dst })
		if !slices.Equal(got, want) {
			t.Fatalf("%+v among %d members: %v, want %v", p, members, got, want)
		}
	})
}

func (i interval) has(element int) bool { return i.lo <= element && element < i.hi }

// The receivers of a few senders are few, however many members there are, and the lower
// ones come first.
func TestReceiversAreFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members, _ := drawPattern(t)
		partition := engine.Partition{LPs: members, Engines: rapid.IntRange(1, 9).Draw(t, "engines")}
		for e := range partition.Engines {
			lo, hi := bounds(p, first(partition.Range(e)), second(partition.Range(e)))
			if lo == hi {
				continue
			}
			in := receivers(p, members, lo, hi)
			length := in[0].hi - in[0].lo + in[1].hi - in[1].lo
			ascending := in[0].lo <= in[0].hi && (in[1] == interval{} || in[0].hi <= in[1].lo && in[1].lo <= in[1].hi)
			if end := max(in[0].hi, in[1].hi); !ascending || length > 3*(hi-lo) || in[0].lo < 0 || end > members {
				t.Fatalf("%+v among %d: elements %d to %d send to %v", p, members, lo, hi-1, in)
			}
		}
	})
}

func first(a, _ int) int { return a }

func second(_, b int) int { return b }

// A round is complete exactly when all clocks have come that its receivers need of
// other engines.
func TestRoundIsCompleteWhenAllHasCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members, arcs := drawPattern(t)
		partition := engine.Partition{LPs: members, Engines: rapid.IntRange(1, 5).Draw(t, "engines")}
		own := rapid.IntRange(0, partition.Engines-1).Draw(t, "engine")
		b := &arrayRun{total: members, inbox: map[int][]stretch{}}
		b.lo, b.hi = partition.Range(own)
		missing := 0
		for _, a := range arcs {
			if partition.Owner(a.dst) == own && partition.Owner(a.src) != own {
				missing++
			}
		}
		for ; missing > 0; missing-- {
			if b.complete(p) {
				t.Fatalf("%+v: complete for engine %d of %d while %d clocks are missing", p, own, partition.Engines, missing)
			}
			b.received++
		}
		if !b.complete(p) {
			t.Fatalf("%+v: not complete for engine %d of %d", p, own, partition.Engines)
		}
	})
}

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

// modeOf returns how a kernel would carry a collective on WORLD out.
func modeOf(t *testing.T, machine string, ranks, engines int, chosen Interpreter, v Collective) mode {
	t.Helper()
	target := targetOf(t, machine, ranks)
	s, err := New(Config{Target: target, Transports: engine.NewInProcess(engines), Collectives: chosen,
		Program: Program{Name: "none", Forms: []Form{listed{}}}})
	if err != nil {
		t.Fatal(err)
	}
	k := newKernel(&s.config, s.engines[0])
	return k.newInstance(k.comms[World], 0, 0, &v).mode
}

// Bulk interpretation is used where it is possible, and only there.
func TestModeOfInstances(t *testing.T) {
	gapped := func(gap string) string {
		return "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, overhead: {send: 1us, receive: 1us}, gap: " + gap + "}\n"
	}
	const (
		flat    = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us}\n"
		limited = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, eager_limit: 8}\n"
		shared  = "name: m\nranks_per_node: 2\nnetwork: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns}\n"
		mixed   = "name: m\nranks_per_node: 2\nmapping: random:4\nnetwork: {model: flat, latency: 1us}\n"
	)
	sum := sumOfDoubles
	barrier := func(a collectives.Algorithm) Collective {
		return Collective{Procedure: Barrier, Operation: collectives.Barrier, algorithm: a}
	}
	allreduce := func(a collectives.Algorithm, bytes int64) Collective {
		return Collective{Procedure: Allreduce, Operation: collectives.Allreduce, algorithm: a, Bytes: bytes, Element: 8}
	}
	data := func(a collectives.Algorithm) Collective {
		v := allreduce(a, 16)
		v.Data, v.Operator = true, sum
		return v
	}
	bcast := Collective{Procedure: Bcast, Operation: collectives.Bcast, algorithm: collectives.Binomial, Bytes: 8, Element: 8}
	for _, c := range []struct {
		name        string
		machine     string
		engines     int
		interpreter Interpreter
		v           Collective
		want        mode
	}{
		{"asked for messages", flat, 1, Message, barrier(collectives.NodeLeader), byMessages},
		{"node-leader barrier", flat, 3, Auto, barrier(collectives.NodeLeader), byArrays},
		{"dissemination barrier", flat, 3, Bulk, barrier(collectives.Dissemination), byArrays},
		{"leaders in no order", mixed, 3, Auto, barrier(collectives.NodeLeader), byMessages},
		{"dissemination, whatever the mapping", mixed, 3, Auto, barrier(collectives.Dissemination), byArrays},
		{"shared state", shared, 1, Auto, barrier(collectives.Dissemination), byMessages},
		{"shared state on several engines", shared, 3, Auto, barrier(collectives.Dissemination), byMessages},
		{"sizes", flat, 3, Auto, allreduce(collectives.RecursiveDoubling, 16), byArrays},
		{"a gap that overheads hide", gapped("2us"), 3, Auto, allreduce(collectives.RecursiveDoubling, 16), byArrays},
		{"a gap that they do not", gapped("3us"), 3, Auto, allreduce(collectives.RecursiveDoubling, 16), byMessages},
		{"a gap where members only receive", gapped("2us"), 3, Auto, barrier(collectives.Binomial), byMessages},
		{"rendezvous in pairs", limited, 3, Auto, allreduce(collectives.RecursiveDoubling, 16), byArrays},
		{"rendezvous round a ring, on one engine", limited, 1, Auto, allreduce(collectives.Ring, 16*12), locally},
		{"rendezvous round a ring", limited, 3, Auto, allreduce(collectives.Ring, 16*12), byMessages},
		{"chunks of different lengths", flat, 3, Auto, allreduce(collectives.Ring, 16), byMessages},
		{"chunks of one length", flat, 3, Auto, allreduce(collectives.Ring, 8*12), byArrays},
		{"data in the tree", flat, 3, Auto, data(collectives.NodeLeader), byArrays},
		{"data in chunks", flat, 3, Auto, data(collectives.Rabenseifner), byMessages},
		{"data in chunks on one engine", flat, 1, Auto, data(collectives.Rabenseifner), locally},
		{"who does not wait for all", flat, 3, Auto, bcast, byMessages},
		{"who does not wait for all, on one engine", flat, 1, Auto, bcast, locally},
	} {
		if got := modeOf(t, c.machine, 12, c.engines, c.interpreter, c.v); got != c.want {
			t.Errorf("%s: mode %d, want %d", c.name, got, c.want)
		}
	}
}

// A slab gives out each index once, never 0, keeps values where they are, and clears
// those that are released.
func TestSlabAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s slab[int]
		held := map[int32]int{}
		places := map[int32]*int{}
		var order []int32
		for i := range rapid.IntRange(0, 3000).Draw(t, "steps") {
			if len(order) > 0 && random.Intn(1, uint64(i), 0, 3) == 0 {
				at := random.Intn(2, uint64(i), 0, len(order))
				index := order[at]
				if *s.at(index) != held[index] || s.at(index) != places[index] {
					t.Fatalf("index %d: %d at %p, want %d at %p", index, *s.at(index), s.at(index), held[index], places[index])
				}
				s.release(index)
				delete(held, index)
				order = slices.Delete(order, at, at+1)
				continue
			}
			index := s.take()
			if _, twice := held[index]; twice || index == 0 || *s.at(index) != 0 {
				t.Fatalf("index %d is given out with the value %d", index, *s.at(index))
			}
			*s.at(index) = i + 1
			held[index], places[index] = i+1, s.at(index)
			order = append(order, index)
		}
		if s.inUse() != len(held) {
			t.Fatalf("%d in use, want %d", s.inUse(), len(held))
		}
	})
}

// Buffers have the length asked for, are not given out twice at a time, and are
// used again.
func TestBufferPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pool bufferPool
		var held [][]byte
		for i, n := range rapid.SliceOf(rapid.IntRange(-1, 5000)).Draw(t, "lengths") {
			if n < 0 {
				if len(held) > 0 {
					pool.release(held[0])
					held = held[1:]
				}
				continue
			}
			b := pool.take(n)
			if len(b) != n || (b == nil) != (n == 0) {
				t.Fatalf("a buffer of %d bytes for %d", len(b), n)
			}
			for j := range b {
				b[j] = byte(i)
			}
			held = append(held, b)
		}
		for i, b := range held {
			for j := range b {
				if b[j] != b[0] {
					t.Fatalf("buffer %d shares memory with another", i)
				}
			}
		}
	})
	var pool bufferPool
	if allocations := testing.AllocsPerRun(100, func() { pool.release(pool.take(1000)) }); allocations > 0 {
		t.Errorf("%v allocations for a buffer that has been released", allocations)
	}
}

// Equal groups of an engine are one in memory, and those at equal distances have no
// list, so that WORLD, rows and columns cost nothing per member.
func TestGroupsAreSharedAndStrided(t *testing.T) {
	var table groupTable
	list := []int{5, 3, 8, 1}
	a, b := table.intern(newGroup(slices.Clone(list))), table.intern(newGroup(slices.Clone(list)))
	if a != b || a.ranks == nil {
		t.Errorf("equal groups at %p and %p", a, b)
	}
	if other := table.intern(newGroup([]int{5, 8, 3, 1})); other == a {
		t.Error("a group in another order is the same")
	}
	for _, ranks := range [][]int{count(1000), {7}, {9, 6, 3, 0}, {4, 104, 204}, {}} {
		if g := newGroup(ranks); g.ranks != nil || g.sorted != nil {
			t.Errorf("a list for %v", ranks[:min(len(ranks), 5)])
		}
	}
	if row, again := table.intern(newGroup([]int{4, 5, 6, 7})), table.intern(strided(4, 1, 4)); row != again {
		t.Error("a row from a list and one by its stride are two groups")
	}
}

// What each group says about ascending order, from which the array interpreter
// takes which members an engine has.
func TestLocalMembersOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 1, 20, rapid.ID[int]).Draw(t, "ranks")
		g := newGroup(slices.Clone(ranks))
		if g.ascending() != slices.IsSorted(ranks) && len(ranks) > 1 {
			t.Fatalf("%v: ascending is %v", ranks, g.ascending())
		}
		k := &Kernel{lo: rapid.IntRange(0, 30).Draw(t, "lo"), n: rapid.IntRange(0, 12).Draw(t, "n")}
		first, last, locals := k.localMembers(g)
		found := 0
		for m, r := range ranks {
			if _, local := k.local(r); local {
				if found++; m < first || m >= last {
					t.Fatalf("%v: member %d of [%d,%d) is not in [%d,%d)", ranks, m, k.lo, k.lo+k.n, first, last)
				}
			}
		}
		if found != locals || locals == 0 && first < last {
			t.Fatalf("%v: %d members in [%d,%d), want %d", ranks, locals, first, last, found)
		}
	})
}

// The signature tells calls apart that must not meet, and not those that may.
func TestSignature(t *testing.T) {
	v := Collective{Procedure: Reduce, Operation: collectives.Reduce, Root: 1, Bytes: 16, Element: 8, Data: true, Operator: sumOfDoubles}
	for name, change := range map[string]func(w *Collective){
		"MPI_ERR_OTHER": func(w *Collective) { w.Procedure, w.Operation = Bcast, collectives.Bcast },
		"MPI_ERR_ROOT":  func(w *Collective) { w.Root = 2 },
		"MPI_ERR_COUNT": func(w *Collective) { w.Bytes = 24 },
		"MPI_ERR_OP":    func(w *Collective) { w.Operator = Operator{Name: "max", Commutative: true} },
	} {
		w := v
		change(&w)
		c := &Communicator{context: worldContext, Size: 4}
		if err := c.mismatch(0, v.signature(), w.signature(), 3); err == nil || err.(*Error).Class.Error() != name {
			t.Errorf("%v, want %s", err, name)
		}
		if err := c.mismatch(0, v.signature(), v.signature(), 3); err != nil {
			t.Errorf("the same call: %v", err)
		}
	}
	a := Collective{Procedure: Gatherv, Operation: collectives.Gatherv, Bytes: 8, Element: 8, Counts: []int64{8, 0}}
	b := Collective{Procedure: Gatherv, Operation: collectives.Gatherv, Bytes: 0, Element: 8}
	if a.signature() != b.signature() {
		t.Error("members of a gatherv whose lengths differ do not agree")
	}
	if s := a.signature().describe(4); s != "Gatherv with root 0" {
		t.Errorf("the signature names %s", s)
	}
}

// What docs/event-ranks.md says that a rank costs.
func TestSizesAsDocumented(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"mailbox and its number", unsafe.Sizeof(mailbox{}) + 4, 148},
		{"request", unsafe.Sizeof(request{}), 96},
		{"message", unsafe.Sizeof(message{}), 72},
		{"message of a round", unsafe.Sizeof(roundMessage{}), 80},
		{"processor", unsafe.Sizeof(processor{}), 168},
		{"agent", unsafe.Sizeof(agent{}), 144},
		{"round queue and its number", unsafe.Sizeof(roundQueue{}) + 4, 20},
	} {
		if c.got != c.want {
			t.Errorf("a %s takes %d bytes, the document says %d", c.what, c.got, c.want)
		}
	}
}

// Ranks in collectives by messages have no mailbox, and those that send to each other no
// round queue; what they had is given back when they end.
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
				return k.Submit(lp, k.Compose(Send, k.comms[World], lp).Sends(nil, 8, int(lp+1)%8, 0))
			},
			func(k *Kernel, lp int32) bool {
				return k.Submit(lp, k.Compose(Recv, k.comms[World], lp).Receives(nil, 8, true, int(lp+7)%8, 0))
			},
		}, true, false},
	} {
		var k *Kernel
		s, err := New(Config{Target: target, Transports: engine.NewInProcess(1), Collectives: Message,
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
		if mailboxes, queues := k.boxes.next > 0, k.queues.next > 0; mailboxes != c.mailboxes || queues != c.queues {
			t.Errorf("%s makes mailboxes: %t, round queues: %t; want %t, %t", c.what, mailboxes, queues, c.mailboxes, c.queues)
		}
		if left := k.boxes.inUse() + k.queues.inUse() + k.messages.inUse() + k.rounds.inUse() + k.agents.inUse(); left > 0 {
			t.Errorf("%s leaves %d of mailboxes, round queues, messages and agents", c.what, left)
		}
	}
}

// The fast path of a barrier reads and writes no more than two cache lines of its
// instance for each member.
func TestBarriersTouchTwoCacheLinesOfTheirInstance(t *testing.T) {
	var inst instance
	for _, end := range []uintptr{
		unsafe.Offsetof(inst.entered) + unsafe.Sizeof(inst.entered),
		unsafe.Offsetof(inst.labels) + unsafe.Sizeof(inst.labels),
		unsafe.Offsetof(inst.join) + unsafe.Offsetof(inst.join.last) + unsafe.Sizeof(inst.join.last),
	} {
		if end > 128 {
			t.Errorf("a field that enterBarrier needs ends at %d, past two cache lines", end)
		}
	}
}

// A report of a deadlock comes to host 0 as it was, with what the engine's ranks have
// called, and two of them that differ in that name the ranks and the first place.
func TestDeadlockReportsTravel(t *testing.T) {
	bcast := func(root int) signature {
		v := Collective{Procedure: Bcast, Operation: collectives.Bcast, Root: root, Bytes: 4, Element: 4, Data: true}
		return v.signature()
	}
	report := func(rank int32) *DeadlockError {
		return &DeadlockError{
			Waiting: 1,
			waiters: []waiter{{Blocked{Rank: int(rank), Call: "Bcast", For: "others", Since: 7}, worldContext, 9}},
			absent:  []absence{{worldContext, 3, true, 5, 2}, {selfContext, 4, false, 0, 1}},
		}
	}
	calls := func(rank int32, root int) []entrance {
		return []entrance{
			{worldContext, 2, 0, entrant{5, rank, bcast(0)}, 1, 2, 3, 4},
			{worldContext, 2, 3, entrant{6, rank, bcast(root)}, 0, 0, 0, 0},
		}
	}
	sent := report(1)
	if got := decodeCalls([][]byte{encodeCalls(calls(1, 1))}); !reflect.DeepEqual(got, calls(1, 1)) {
		t.Fatalf("%+v come as %+v", calls(1, 1), got)
	}
	got := decodeDeadlock(sent.encode(nil))
	if !reflect.DeepEqual(got, sent) {
		t.Fatalf("%+v comes as %+v", sent, got)
	}
	d := mergeDeadlocks(report(0), got)
	if d.explain(); d.Waiting != 2 || len(d.Blocked) != 2 {
		t.Errorf("ranks that agree: %v", d)
	}
	if err := disagreement(append(calls(0, 1), calls(1, 1)...), true, true); err != nil {
		t.Errorf("ranks that agree: %v", err)
	}
	want := "rank 1 failed at virtual time 6ps in Bcast: MPI_ERR_ROOT: Bcast with root 1, but rank 0 calls Bcast with root 0 as collective 3 on WORLD"
	if err := disagreement(append(calls(1, 1), calls(0, 0)...), false, true); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
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
