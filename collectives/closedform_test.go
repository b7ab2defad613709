package collectives_test

import (
	"math"
	"testing"

	"gigarank/collectives"
	"gigarank/vtime"

	"pgregory.net/rapid"
)

// perByte returns a cost of ps picoseconds per byte, rounded once.
func perByte(ps float64) func(int64) vtime.Duration {
	return func(bytes int64) vtime.Duration { return vtime.Duration(math.RoundToEven(ps * float64(bytes))) }
}

// measure runs the schedule on a flat machine, all members entering at once, and
// returns the last exit.
func measure(t fataler, p pair, members int, count, size int64, c collectives.Cost) vtime.Duration {
	t.Helper()
	s, err := collectives.For(p.op, p.a, collectives.Size{Members: members, Bytes: count * size})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return flat(t, s, p.op, count, size, c)
}

// flat is measure for a schedule.
func flat(t fataler, s collectives.Schedule, op collectives.Operation, count, size int64, c collectives.Cost) vtime.Duration {
	t.Helper()
	x := newExecutor(s, func(int, int) struct{} { return struct{}{} }, func(struct{}, struct{}) struct{} { return struct{}{} })
	layout := collectives.LayoutOf(op, s, count, size)
	x.layout = func(int) collectives.Layout { return layout }
	x.delay = func(bytes int64) vtime.Duration { return c.Alpha + c.Beta(bytes) }
	x.work, x.spent, x.overhead, x.gap = c.Gamma, c.Send, c.Receive, c.Gap
	if c.Copy != nil {
		x.copied = c.Copy
	}
	if err := x.run(ascending(s.Members())); err != nil {
		t.Fatalf("%s, %d members: %v", op, s.Members(), err)
	}
	return x.exit()
}

// hasClosedForm reports whether an algorithm has a closed form.
func hasClosedForm(p pair, members int, count int64) bool {
	power := members&(members-1) == 0
	if collectives.TakesNodes(p.op, p.a) {
		return false
	}
	switch p.a {
	case collectives.SplitBinary:
		return false
	case collectives.LinearSync:
		return p.op == collectives.Alltoall
	case collectives.ScatterAllgather:
		return power && count%int64(members) == 0
	case collectives.ScatterAllgatherRing:
		return count%int64(members) == 0
	}
	switch p.op {
	case collectives.Alltoall, collectives.Alltoallv:
		return p.a != collectives.Linear && p.a != collectives.Spread || members == 1
	case collectives.Allgather, collectives.Allgatherv, collectives.Scan, collectives.Exscan:
		return p.a != collectives.RecursiveDoubling || power
	case collectives.Allreduce:
		return p.a != collectives.RecursiveMultiplying || power
	case collectives.ReduceScatter:
		switch p.a {
		case collectives.RecursiveHalving, collectives.Butterfly, collectives.RecursiveDoubling:
			return power
		}
	}
	return true
}

// The closed form is the time that the schedule takes, to the picosecond: up to 16 members for each cost and count, beyond for
// five pairs of them, which differ from the pairs of neighbouring numbers.
func TestClosedFormsAreExact(t *testing.T) {
	costs := []struct {
		name string
		collectives.Cost
	}{
		{"latency", collectives.Cost{Alpha: 5_000_000, Beta: perByte(0), Gamma: perByte(0)}},
		{"all", collectives.Cost{Alpha: 5_000_000, Beta: perByte(500.37), Gamma: perByte(123.45)}},
		{"reduction", collectives.Cost{Alpha: 1, Beta: perByte(0.3), Gamma: perByte(777.7)}},
		{"overheads", collectives.Cost{Alpha: 3_000_000, Beta: perByte(100), Gamma: perByte(50), Send: 400_000, Receive: 700_000, Gap: 900_000}},
		{"busy", collectives.Cost{Alpha: 1000, Beta: perByte(100), Gamma: perByte(7), Send: 5_000_000, Receive: 2_000_000, Copy: perByte(60)}},
	}
	for _, p := range pairs() {
		t.Run(p.String(), func(t *testing.T) {
			for members := 1; members <= mostMembers(40); members++ {
				for i, c := range costs {
					for j, count := range []int64{0, 1, 7, 64, 1000} {
						if members > 16 && (i+j+members)%5 != 0 {
							continue
						}
						want, ok := collectives.ClosedForm(p.op, p.a, members, count, 8, c.Cost)
						if has := hasClosedForm(p, members, count); ok != has {
							t.Fatalf("%d members: closed form %t, want %t: add a case to closedform.go, or an exception to hasClosedForm", members, ok, has)
						}
						if !ok {
							continue
						}
						if got := measure(t, p, members, count, 8, c.Cost); got != want {
							t.Fatalf("%d members, %d elements, cost %s: takes %d, closed form %d", members, count, c.name, got, want)
						}
					}
				}
			}
		})
	}
}

func TestClosedFormsAreExactAtRandom(t *testing.T) {
	all := pairs()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(all).Draw(t, "algorithm")
		if a := p.a.WithFanout(rapid.IntRange(2, 9).Draw(t, "fanout")); a.Check(p.op) == nil {
			p.a = a
		}
		if a := p.a.WithSegment(rapid.Int64Range(1, 1000).Draw(t, "segment")); a.Check(p.op) == nil && p.a == collectives.Pipeline {
			p.a = a
		}
		members := rapid.IntRange(1, 130).Draw(t, "members")
		count := rapid.Int64Range(0, 5000).Draw(t, "count")
		size := rapid.Int64Range(1, 16).Draw(t, "size")
		c := collectives.Cost{
			Alpha:   vtime.Duration(rapid.Int64Range(0, 1e7).Draw(t, "alpha")),
			Beta:    perByte(rapid.Float64Range(0, 1e4).Draw(t, "beta")),
			Gamma:   perByte(rapid.Float64Range(0, 1e4).Draw(t, "gamma")),
			Send:    vtime.Duration(rapid.Int64Range(0, 1e7).Draw(t, "send")),
			Receive: vtime.Duration(rapid.Int64Range(0, 1e7).Draw(t, "receive")),
			Gap:     vtime.Duration(rapid.Int64Range(0, 2e7).Draw(t, "gap")),
		}
		if share := rapid.Float64Range(0, 1).Draw(t, "copy"); share > 0.5 {
			beta := c.Beta
			c.Copy = func(bytes int64) vtime.Duration { return vtime.Duration(share * float64(beta(bytes))) }
		}
		want, ok := collectives.ClosedForm(p.op, p.a, members, count, size, c)
		if !ok {
			return
		}
		if got := measure(t, p, members, count, size, c); got != want {
			t.Fatalf("%s: takes %d, closed form %d", p, got, want)
		}
	})
}

// The formulas as printed in Thakur, Rabenseifner, Gropp 2005 and Rabenseifner 2004.
// The member counts are those for which they are exact without rounds in step: powers
// of two, and for the butterfly those above 1.5·2^L.
func TestClosedFormsAreThoseOfThePapers(t *testing.T) {
	const alpha, beta, gamma = 7_000_000, 500, 30
	c := collectives.Cost{Alpha: alpha, Beta: perByte(beta), Gamma: perByte(gamma), PerNode: 3, Intra: 11, IntraBeta: perByte(5)}
	for members := 2; members <= 1<<20; members = members*3/2 + 1 {
		levels := int64(math.Floor(math.Log2(float64(members))))
		up := int64(math.Ceil(math.Log2(float64(members))))
		power := int64(1) << levels
		odd := int64(0)
		if power != int64(members) {
			odd = 1
		}
		m := power * int64(members) * 8
		n := int64(members)
		table := []struct {
			p     pair
			valid bool
			want  int64
		}{
			{pair{collectives.Barrier, collectives.Dissemination}, true, up * alpha},
			{pair{collectives.Barrier, collectives.RecursiveDoubling}, odd == 0 || 2*n > 3*power, (levels + 2*odd) * alpha},
			{pair{collectives.Barrier, collectives.NodeLeader}, odd == 0 || 2*n > 3*power, 2*11 + (levels+2*odd)*alpha},
			{pair{collectives.Bcast, collectives.Binomial}, true, levels * (alpha + beta*m)},
			{pair{collectives.Allreduce, collectives.RecursiveDoubling}, odd == 0 || 2*n > 3*power,
				levels*(alpha+beta*m+gamma*m) + odd*(2*alpha+2*beta*m+gamma*m)},
			{pair{collectives.Allreduce, collectives.NodeLeader}, odd == 0 || 2*n > 3*power,
				2*(11+5*m) + 2*gamma*m + levels*(alpha+beta*m+gamma*m) + odd*(2*alpha+2*beta*m+gamma*m)},
			{pair{collectives.Allreduce, collectives.Rabenseifner}, true,
				2*levels*alpha + (2*beta+gamma)*(m/power*(power-1)) + odd*(2*alpha+2*beta*m+gamma*m)},
			{pair{collectives.Allreduce, collectives.Ring}, true, 2*(n-1)*alpha + (2*beta+gamma)*(m/n*(n-1))},
		}
		for _, row := range table {
			if m > 1<<40 && row.p.op != collectives.Barrier {
				continue // past the range of a duration
			}
			got, ok := collectives.ClosedForm(row.p.op, row.p.a, members, m/8, 8, c)
			if row.valid && (!ok || int64(got) != row.want) {
				t.Errorf("%s of %d members: %d (%t), the paper says %d", row.p, members, got, ok, row.want)
			}
		}
	}
}

// Three members, worked out by hand. 0 folds into 1, which gets there at α. The message
// of 2, sent at 0, arrives then too. The next message of 1 reaches 2 and, as the
// release, 0 at 2α.
func TestButterflyBarrierOfThree(t *testing.T) {
	c := collectives.Cost{Alpha: 100, Beta: perByte(0), Gamma: perByte(0)}
	p := pair{collectives.Barrier, collectives.RecursiveDoubling}
	if got := measure(t, p, 3, 0, 1, c); got != 200 {
		t.Errorf("a butterfly barrier of 3 takes %d, want 200", got)
	}
	if got, ok := collectives.ClosedForm(p.op, p.a, 3, 0, 1, c); got != 200 || !ok {
		t.Errorf("closed form %d (%t), want 200", got, ok)
	}
}

// The closed forms of algorithms with arguments are the times of their schedules.
func TestClosedFormsWithArgumentsAreExact(t *testing.T) {
	c := collectives.Cost{Alpha: 5_000_000, Beta: perByte(500.37), Gamma: perByte(123.45), Send: 400_000, Receive: 700_000}
	for members := 1; members <= mostMembers(40); members++ {
		for _, k := range []int{2, 3, 4, 5, 8, 100} {
			for _, p := range []pair{
				{collectives.Barrier, collectives.Dissemination}, {collectives.Allgather, collectives.KBruck}, {collectives.Allgatherv, collectives.KBruck},
				{collectives.Alltoall, collectives.LinearSync},
			} {
				count := int64(13)
				if p.op == collectives.Barrier {
					count = 0
				}
				s := sized{pair{p.op, p.a.WithFanout(k)}, collectives.Size{Members: members}}
				want, ok := collectives.ClosedForm(s.op, s.a, members, count, 8, c)
				if got := flat(t, s.build(t), s.op, count, 8, c); got != want || !ok {
					t.Errorf("%s: takes %d, closed form %d (%t)", s, got, want, ok)
				}
			}
		}
		for _, k := range []int{2, 3, 4, 7} {
			both := sized{pair{collectives.Allreduce, collectives.ReduceBcast.WithFanout(k)}, collectives.Size{Members: members}}
			sum, ok := collectives.ClosedForm(both.op, both.a, members, 100, 8, c)
			if got := flat(t, both.build(t), both.op, 100, 8, c); got != sum || !ok {
				t.Errorf("%s: takes %d, closed form %d (%t)", both, got, sum, ok)
			}
			power := 1
			for power < members {
				power *= k
			}
			s := sized{pair{collectives.Allreduce, collectives.RecursiveMultiplying.WithFanout(k)}, collectives.Size{Members: members}}
			want, powered := collectives.ClosedForm(s.op, s.a, members, 100, 8, c)
			if powered != (power == members) {
				t.Errorf("%s: closed form %t", s, powered)
			} else if got := flat(t, s.build(t), s.op, 100, 8, c); powered && got != want {
				t.Errorf("%s: takes %d, closed form %d", s, got, want)
			}
		}
		for _, segments := range []int64{1, 2, 3, 8} {
			count := 5 * int64(members) * segments
			s := sized{pair{collectives.Allreduce, collectives.RingSegmented.WithSegment(40)}, collectives.Size{Members: members, Bytes: 8 * count}}
			want, ok := collectives.ClosedForm(s.op, s.a, members, count, 8, c)
			if got := flat(t, s.build(t), s.op, count, 8, c); got != want || !ok {
				t.Errorf("%s: takes %d, closed form %d (%t)", s, got, want, ok)
			}
		}
	}
}
