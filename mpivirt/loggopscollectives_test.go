package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// together is a collective of all ranks. In an operation whose blocks
// differ, bytes are those of the largest.
type together struct {
	op          collectives.Operation
	algorithm   collectives.Algorithm
	ranks, root int
	bytes       int64
	entries     []vtime.Duration // what each rank computes before; nil if none does
	nonblocking bool
}

func (x together) String() string {
	return fmt.Sprintf("%v %v of %d ranks, root %d, %d bytes, entries %v, nonblocking %t", x.op, x.algorithm, x.ranks, x.root, x.bytes, x.entries, x.nonblocking)
}

// block returns the bytes that one member has for another, in an operation whose blocks
// differ.
func (x together) block(from, to int) int {
	other := from
	switch x.op {
	case collectives.Scatterv:
		other = to
	case collectives.Alltoallv:
		other = 2*from + to
	}
	return int(x.bytes - x.bytes*int64(other%3)/3)
}

// blocks returns the blocks that a member has for all, or that all have for it.
func (x together) blocks(member int, outward bool) []int {
	all := make([]int, x.ranks)
	for i := range all {
		if all[i] = x.block(i, member); outward {
			all[i] = x.block(member, i)
		}
	}
	return all
}

// call begins the collective, and makes it if it is blocking.
func (x together) call(c *mpivirt.Comm) (mpivirt.Request, error) {
	none := mpivirt.Request{}
	me := c.Rank()
	switch root := x.root; x.op {
	case collectives.Gatherv, collectives.Allgatherv:
		counts := x.blocks(0, false)
		mine, all := make([]byte, counts[me]), []byte(nil)
		if x.op == collectives.Allgatherv || me == root {
			all = make([]byte, sum(counts))
		}
		switch {
		case x.op == collectives.Gatherv && x.nonblocking:
			return mpivirt.Igatherv(c, mine, all, counts, root)
		case x.op == collectives.Gatherv:
			return none, mpivirt.Gatherv(c, mine, all, counts, root)
		case x.nonblocking:
			return mpivirt.Iallgatherv(c, mine, all, counts)
		}
		return none, mpivirt.Allgatherv(c, mine, all, counts)
	case collectives.Scatterv:
		counts := x.blocks(root, true)
		mine, all := make([]byte, counts[me]), []byte(nil)
		if me == root {
			all = make([]byte, sum(counts))
		}
		if x.nonblocking {
			return mpivirt.Iscatterv(c, all, counts, mine, root)
		}
		return none, mpivirt.Scatterv(c, all, counts, mine, root)
	case collectives.Alltoallv:
		to, from := x.blocks(me, true), x.blocks(me, false)
		sent, received := make([]byte, sum(to)), make([]byte, sum(from))
		if x.nonblocking {
			return mpivirt.Ialltoallv(c, sent, to, received, from)
		}
		return none, mpivirt.Alltoallv(c, sent, to, received, from)
	}
	if x.nonblocking {
		return c.IcollectiveSize(x.op, x.bytes, x.root)
	}
	return none, c.CollectiveSize(x.op, x.bytes, x.root)
}

// finishes runs the collective under gigarank and returns when each rank is done.
func (x together) finishes(t *testing.T, tgt *network.Target, engines, times int) []vtime.Time {
	t.Helper()
	ends := make([]vtime.Time, x.ranks)
	_, err := simulate(t, mpivirt.Config{
		Target: tgt, Algorithms: map[collectives.Operation]collectives.Algorithm{x.op: x.algorithm},
		Program: mpivirt.Program{Name: "together", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			if x.entries != nil {
				r.Compute(x.entries[r.Rank()])
			}
			for range times {
				q, err := x.call(r.World())
				if x.nonblocking && err == nil {
					_, err = q.Wait()
				}
				if err != nil {
					return err
				}
			}
			ends[r.Rank()] = r.Now()
			return nil
		})}},
	}, engines)
	if err != nil {
		t.Fatalf("%v, %d engines: %v", x, engines, err)
	}
	return ends
}

// schedule returns the collective's schedule. That of node-leader is the one of the
// leaders, since each node has one rank.
func (x together) schedule(t *testing.T) collectives.Schedule {
	t.Helper()
	s, err := collectives.LeaderSchedule(x.op, x.ranks)
	if x.algorithm != collectives.NodeLeader {
		s, err = collectives.New(x.op, x.algorithm, x.ranks, x.root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// layout returns how a member's buffer is laid out.
func (x together) layout(s collectives.Schedule, member int) collectives.Layout {
	var blocks []int
	switch x.op {
	case collectives.Gatherv, collectives.Allgatherv:
		blocks = x.blocks(0, false)
	case collectives.Scatterv:
		blocks = x.blocks(x.root, true)
	case collectives.Alltoallv:
		blocks = append(x.blocks(member, true), x.blocks(member, false)...)
	default:
		return collectives.LayoutOf(x.op, s, x.bytes, 1)
	}
	counts := make([]int64, len(blocks))
	for i, b := range blocks {
		counts[i] = int64(b)
	}
	return collectives.Uneven(counts, 1)
}

// operations translates the collective into a LogGOPSim schedule. The send and the
// receive of a round require the end of the round before; in a window of rounds they require
// that the send before has started, and the first of the next window requires the end of all. What is received is combined
// by a computation that requires the receive, and that the send has started. A wait is a
// computation of no length that requires the last round.
func (x together) operations(t *testing.T, tgt *network.Target, times int) [][]node {
	t.Helper()
	s := x.schedule(t)
	all := make([][]node, x.ranks)
	for member := range all {
		layout := x.layout(s, member)
		var before, now []int
		add := func(n node) int {
			all[member] = append(all[member], n)
			now = append(now, len(all[member])-1)
			return len(all[member]) - 1
		}
		if x.entries != nil {
			add(node{callStep: callStep{call: "compute", length: x.entries[member]}})
		}
		for number := range times {
			var sends, last []int // of the window, of the round before
			until := 0
			for round := s.Next(member, 0); round < s.Rounds(member); round = s.Next(member, round+1) {
				step, tag := s.Step(member, round), number*s.MaxRounds()+round
				before, now = now, nil
				if round >= until {
					before, sends, last, until = append(before, sends...), nil, nil, round+1+step.Left
				}
				begun := last
				last = nil
				if step.To != collectives.None {
					bytes := layout.Bytes(step.Send, s.Positions())
					last = []int{add(node{callStep: callStep{call: "send", peer: step.To, tag: tag + step.Later, bytes: bytes}, needs: before, needsStart: begun})}
					sends, now = append(sends, last...), nil
				}
				if step.From == collectives.None {
					continue
				}
				bytes := layout.Bytes(step.Receive, s.Positions())
				received := add(node{callStep: callStep{call: "recv", peer: step.From, tag: tag, bytes: bytes}, needs: before, needsStart: begun})
				if work := tgt.ReduceTime(throughOperator(step, bytes)); work > 0 {
					add(node{callStep: callStep{call: "compute", length: work}, needs: []int{received}, needsStart: last})
				}
			}
			now = append(now, sends...)
			if x.nonblocking {
				before, now = now, nil
				add(node{callStep: callStep{call: "waitall"}, needs: before})
			}
		}
	}
	return all
}

// throughOperator returns how many bytes a step combines of those that it receives.
func throughOperator(step collectives.Step, bytes int64) (n int64) {
	if step.Switched {
		return 0
	}
	if step.Combine != collectives.Store {
		n += bytes
	}
	if step.Also.Count > 0 && step.AlsoCombine != collectives.Store {
		n += bytes
	}
	if sum := int64(step.Sum.Count); sum > 0 {
		n += (sum - 1) * bytes / int64(step.Receive.Count)
	}
	return n
}

// combining is a machine on which a reduction pays for its bytes, and each byte for its
// way through the CPU.
const combining = "name: combining\nnetwork: {model: loggops, L: 1700ns, o: 900ns, g: 2300ns, G: 2ns, O: 3ns, S: 65535, reduce: {bandwidth: 1GB/s}}\n"

// Collectives, twice in succession, end when LogGOPSim's rules say, rank by rank, whatever
// the algorithm.
func TestCollectivesAgainstLogGOPSim(t *testing.T) {
	number := 0
	for _, machine := range []string{"loggops-default", combining} {
		sizes := []int{2, 3, 5, 8} // a tree of more levels is in TestLogGOPSimCollectives
		if testing.Short() || machine == combining {
			sizes = sizes[1:3]
		}
		for _, ranks := range sizes {
			tgt := target(t, machine, ranks)
			staggered := make([]vtime.Duration, ranks)
			for rank := range staggered {
				staggered[rank] = vtime.Duration(random.Intn(7, uint64(ranks), uint64(rank), 30000)) * vtime.Nanosecond
			}
			for _, op := range collectives.Operations() {
				for _, a := range collectives.Algorithms(op) {
					for i, bytes := range []int64{1, 1024, 65536} {
						x := together{op: op, algorithm: a, ranks: ranks, bytes: bytes}
						if op.Rooted() {
							x.root = i % ranks
						}
						for range 3 {
							number++
							want := replayed(tgt.LogGOPS(), x.operations(t, tgt, 2))
							engines := 1 + (number+number/3)%min(3, ranks)
							if got := x.finishes(t, tgt, engines, 2); !slices.Equal(got, want) {
								t.Errorf("%v, %d engines: finish times %v, LogGOPSim's rules give %v\n%s", x, engines, got, want, machine)
							}
							x.nonblocking = x.entries != nil
							x.entries = staggered
						}
					}
				}
			}
		}
	}
}

// The last finish in ns that LogGOPSim prints with its default parameters (L=2500 o=1500
// g=1000 G=6 O=0 S=65535) for the schedules of these collectives, in which the send and
// the receive of a round require those of the round before. Messages of a barrier have one
// byte there. Messages above 65,535 bytes use rendezvous. In an operation whose blocks
// differ, they have the given number of bytes, two thirds or a third of it.
func TestLogGOPSimCollectives(t *testing.T) {
	for _, c := range []struct {
		op    collectives.Operation
		a     collectives.Algorithm
		ranks int
		bytes int64
		want  vtime.Duration
	}{
		{collectives.Barrier, collectives.NodeLeader, 16, 0, 22000},
		{collectives.Barrier, collectives.Linear, 8, 0, 29000},
		{collectives.Barrier, collectives.Binomial, 5, 0, 23500},
		{collectives.Barrier, collectives.Dissemination, 16, 0, 22000},
		{collectives.Barrier, collectives.RecursiveDoubling, 8, 0, 16500},
		{collectives.Bcast, collectives.Binomial, 3, 65536, 792920},
		{collectives.Bcast, collectives.Linear, 16, 1, 26500},
		{collectives.Bcast, collectives.Ring, 16, 1024, 174570},
		{collectives.Reduce, collectives.Binomial, 8, 65536, 1196130},
		{collectives.Reduce, collectives.Linear, 5, 1024, 34552},
		{collectives.Allreduce, collectives.NodeLeader, 16, 65536, 1594840},
		{collectives.Allreduce, collectives.RecursiveDoubling, 8, 1, 16500},
		{collectives.Allreduce, collectives.Ring, 3, 65536, 546328},
		{collectives.Allreduce, collectives.Rabenseifner, 16, 1, 44000},
		{collectives.Allreduce, collectives.Binomial, 16, 1024, 93104},
		{collectives.Allreduce, collectives.Linear, 8, 65536, 5530940},
		{collectives.Gather, collectives.Binomial, 5, 1024, 33058},
		{collectives.Gather, collectives.Linear, 16, 65536, 5924650},
		{collectives.Gatherv, collectives.Linear, 8, 1, 14500},
		{collectives.Scatter, collectives.Binomial, 3, 65536, 792920},
		{collectives.Scatter, collectives.Linear, 16, 1, 26500},
		{collectives.Scatterv, collectives.Linear, 16, 1024, 80880},
		{collectives.Allgather, collectives.Ring, 8, 65536, 2790970},
		{collectives.Allgather, collectives.RecursiveDoubling, 5, 1024, 84054},
		{collectives.Allgather, collectives.Bruck, 16, 65536, 5920216},
		{collectives.Allgather, collectives.Linear, 8, 1, 29042},
		{collectives.Allgatherv, collectives.Ring, 3, 65536, 797420},
		{collectives.Allgatherv, collectives.RecursiveDoubling, 16, 1, 22066},
		{collectives.Allgatherv, collectives.Bruck, 16, 1024, 95722},
		{collectives.Allgatherv, collectives.Linear, 8, 65536, 17458604},
		{collectives.Alltoall, collectives.Pairwise, 5, 1024, 46552},
		{collectives.Alltoall, collectives.Bruck, 16, 65536, 12604888},
		{collectives.Alltoallv, collectives.Pairwise, 3, 65536, 404210},
		{collectives.ReduceScatter, collectives.Binomial, 16, 1024, 529328},
		{collectives.ReduceScatter, collectives.Pairwise, 8, 65536, 2790970},
		{collectives.ReduceScatter, collectives.Ring, 5, 1024, 46552},
		{collectives.ReduceScatter, collectives.Linear, 16, 65536, 100315900},
		{collectives.Scan, collectives.RecursiveDoubling, 8, 1, 16500},
		{collectives.Scan, collectives.Linear, 3, 65536, 797420},
		{collectives.Exscan, collectives.RecursiveDoubling, 16, 1, 22000},
		{collectives.Exscan, collectives.Linear, 16, 1024, 174570},
	} {
		x := together{op: c.op, algorithm: c.a, ranks: c.ranks, bytes: c.bytes}
		want := vtime.Time(c.want * vtime.Nanosecond)
		tgt := target(t, "loggops-default", c.ranks)
		if got := slices.Max(replayed(tgt.LogGOPS(), x.operations(t, tgt, 1))); got != want {
			t.Errorf("%v: LogGOPSim's rules give %v, want %v", x, got, want)
		}
		for _, engines := range []int{1, 3} {
			if got := slices.Max(x.finishes(t, tgt, engines, 1)); got != want {
				t.Errorf("%v, %d engines: last finish %v, want %v", x, engines, got, want)
			}
		}
	}
}
