package contention

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"gigarank/vtime"
)

const us = vtime.Microsecond

// The messages of the exact rows: one rank a node, 1 GB/s, each asks 10 us after it is sent.
var five = []Message{
	{At: vtime.Time(10 * us), Source: 0, Sequence: 1, Dest: 1, Bytes: 100_000, Tag: 1},
	{At: vtime.Time(10 * us), Source: 0, Sequence: 2, Dest: 2, Bytes: 50_000, Tag: 2},
	{At: vtime.Time(30 * us), Source: 3, Sequence: 1, Dest: 1, Bytes: 50_000, Tag: 3},
	{At: vtime.Time(50 * us), Source: 3, Sequence: 2, Dest: 2, Bytes: 20_000, Tag: 4},
	{At: vtime.Time(40 * us), Source: 4, Sequence: 1, Dest: 2, Bytes: 100_000, Tag: 5},
}

// placed returns messages with a rank a node and 1 GB/s, in the order of asking.
func placed(messages []Message) []Message {
	messages = slices.Clone(messages)
	for i := range messages {
		m := &messages[i]
		m.From, m.To, m.Transfer = m.Source, m.Dest, vtime.Duration(m.Bytes)*vtime.Nanosecond
	}
	slices.SortFunc(messages, func(a, b Message) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	return messages
}

// run has messages ask in order, and returns the outcomes by tag.
func run(r Resource, messages []Message) map[uint64]Outcome {
	found := map[uint64]Outcome{}
	keep := func() {
		for _, o := range r.Outcomes() {
			if _, twice := found[o.Tag]; twice {
				panic(fmt.Sprintf("message %d is decided twice", o.Tag))
			}
			found[o.Tag] = o
		}
	}
	for _, m := range messages {
		for t := r.Next(); t < m.At; t = r.Next() {
			r.Advance(t)
			keep()
		}
		r.Ask(m)
		keep()
	}
	for t := r.Next(); t < vtime.Forever; t = r.Next() {
		r.Advance(t)
		keep()
	}
	return found
}

func limits(busses, out, in int) Limits {
	return Limits{busses, func(int) (int, int) { return out, in }}
}

// Each row of busses and links is what Dimemas 5.5.0 prints, but the last, where Dimemas asks for links before busses.
func TestRowsOfBussesAndLinks(t *testing.T) {
	rows := []struct {
		busses, out, in int
		spans           [][2]vtime.Duration // by message, in us
	}{
		{0, 0, 0, [][2]vtime.Duration{{10, 110}, {10, 60}, {30, 80}, {50, 70}}},
		{1, 0, 0, [][2]vtime.Duration{{10, 110}, {110, 160}, {160, 210}, {210, 230}}},
		{2, 0, 0, [][2]vtime.Duration{{10, 110}, {10, 60}, {60, 110}, {110, 130}}},
		{3, 0, 0, [][2]vtime.Duration{{10, 110}, {10, 60}, {30, 80}, {60, 80}}},
		{0, 0, 1, [][2]vtime.Duration{{10, 110}, {10, 60}, {110, 160}, {60, 80}}},
		{0, 1, 0, [][2]vtime.Duration{{10, 110}, {110, 160}, {30, 80}, {80, 100}}},
		{0, 1, 1, [][2]vtime.Duration{{10, 110}, {110, 160}, {110, 160}, {50, 70}}},
		{2, 1, 1, [][2]vtime.Duration{{10, 110}, {110, 160}, {110, 160}, {50, 70}}},
		{0, 0, 0, [][2]vtime.Duration{{10, 110}, {10, 60}, {30, 80}, {50, 70}, {40, 140}}},
		{1, 0, 0, [][2]vtime.Duration{{10, 110}, {110, 160}, {160, 210}, {310, 330}, {210, 310}}},
		{2, 0, 0, [][2]vtime.Duration{{10, 110}, {10, 60}, {60, 110}, {110, 130}, {110, 210}}},
		{3, 0, 0, [][2]vtime.Duration{{10, 110}, {10, 60}, {30, 80}, {80, 100}, {60, 160}}},
		{0, 0, 1, [][2]vtime.Duration{{10, 110}, {10, 60}, {110, 160}, {160, 180}, {60, 160}}},
		{0, 1, 0, [][2]vtime.Duration{{10, 110}, {110, 160}, {30, 80}, {80, 100}, {40, 140}}},
		{0, 0, 2, [][2]vtime.Duration{{10, 110}, {10, 60}, {30, 80}, {60, 80}, {40, 140}}},
		{0, 1, 1, [][2]vtime.Duration{{10, 110}, {140, 190}, {110, 160}, {190, 210}, {40, 140}}},
		{2, 1, 1, [][2]vtime.Duration{{10, 110}, {140, 190}, {110, 160}, {190, 210}, {40, 140}}},
		{1, 1, 1, [][2]vtime.Duration{{10, 110}, {110, 160}, {160, 210}, {310, 330}, {210, 310}}},
	}
	for _, row := range rows {
		found := run(NewLinks(limits(row.busses, row.out, row.in)), placed(five[:len(row.spans)]))
		for i, span := range row.spans {
			want := Outcome{uint64(i + 1), vtime.Time(span[0] * us), vtime.Time(span[1] * us)}
			if got := found[want.Tag]; got != want {
				t.Errorf("%d messages, busses %d, out %d, in %d: m%d %v to %v, not %v to %v", len(row.spans), row.busses, row.out, row.in, i+1, got.Begins, got.Ends, want.Begins, want.Ends)
			}
		}
	}
}

func TestRowsOfScaledBandwidth(t *testing.T) {
	rows := []struct {
		busses, out, in int
		ends            []vtime.Duration
	}{
		{1, 0, 0, []vtime.Duration{110, 110, 180, 130}},
		{2, 0, 0, []vtime.Duration{110, 60, 105, 90}},
		{0, 0, 1, []vtime.Duration{110, 60, 130, 90}},
		{0, 1, 0, []vtime.Duration{110, 110, 80, 90}},
		{1, 0, 0, []vtime.Duration{110, 110, 180, 150, 440}},
		{2, 0, 0, []vtime.Duration{110, 60, 105, 100, 240}},
		{0, 0, 1, []vtime.Duration{110, 60, 130, 110, 240}},
		{2, 1, 1, []vtime.Duration{110, 110, 130, 110, 240}},
	}
	for _, row := range rows {
		found := run(NewScaled(limits(row.busses, row.out, row.in)), placed(five[:len(row.ends)]))
		for i, end := range row.ends {
			if got, want := found[uint64(i+1)], (Outcome{uint64(i + 1), five[i].At, vtime.Time(end * us)}); got != want {
				t.Errorf("%d messages, busses %d, out %d, in %d: m%d %v to %v, not %v to %v", len(row.ends), row.busses, row.out, row.in, i+1, got.Begins, got.Ends, want.Begins, want.Ends)
			}
		}
	}
}

// ends are the links out of nodes, numbered 2·node, and into nodes.
type ends struct{ capacity int64 }

func (ends) Route(from, to int, links []int) []int { return append(links, 2*from, 2*to+1) }
func (e ends) Capacity(int) int64                  { return e.capacity }

// The rows are what SimGrid 3.32 gives with model CM02.
func TestRowsOfFairShares(t *testing.T) {
	at := func(source, dest int, sequence uint64, bytes int64, sent vtime.Duration, tag uint64) Message {
		return Message{At: vtime.Time((sent + 10) * us), Source: source, Sequence: sequence, Dest: dest, Bytes: bytes, Tag: tag}
	}
	for _, row := range []struct {
		messages []Message
		ends     []vtime.Duration
	}{
		{[]Message{at(0, 2, 1, 50_000, 0, 1), at(0, 1, 2, 100_000, 0, 2), at(3, 2, 1, 100_000, 20, 3)}, []vtime.Duration{110, 160, 170}},
		{[]Message{at(0, 2, 1, 30_000, 0, 1), at(0, 1, 2, 100_000, 0, 2), at(3, 2, 1, 60_000, 0, 3), at(4, 2, 1, 90_000, 0, 4)}, []vtime.Duration{100, 140, 160, 190}},
		{five[:4], []vtime.Duration{170, 110, 130, 90}},
		{five, []vtime.Duration{170, 130, 130, 110, 195}},
	} {
		found := run(NewFair(ends{1_000_000_000}), placed(row.messages))
		for i, end := range row.ends {
			if got := found[uint64(i+1)].Ends; got != vtime.Time(end*us) {
				t.Errorf("%d messages: m%d ends at %v, not %v", len(row.ends), i+1, got, end*us)
			}
		}
	}
}

// traffic returns random messages in the order of asking. Many ask at the same instant.
func traffic(rng *rand.Rand, count, ranks, perNode, spread int) []Message {
	sequence := make([]uint64, ranks)
	at := make([]vtime.Time, count)
	for i := range at {
		at[i] = vtime.Time(rng.IntN(spread)) * 1000
	}
	slices.Sort(at)
	messages := make([]Message, 0, count)
	for i := range count {
		source := rng.IntN(ranks)
		dest := rng.IntN(ranks)
		for dest/perNode == source/perNode {
			dest = rng.IntN(ranks)
		}
		sequence[source]++
		bytes := 1 + int64(rng.ExpFloat64()*2000)
		messages = append(messages, Message{At: at[i], Source: source, Sequence: sequence[source], Dest: dest, From: source / perNode, To: dest / perNode,
			Bytes: bytes, Transfer: vtime.Duration(bytes) * 80, Tag: uint64(i)})
	}
	slices.SortStableFunc(messages, func(a, b Message) int {
		switch {
		case a.before(&b):
			return -1
		case b.before(&a):
			return 1
		}
		return 0
	})
	return messages
}

// slowLinks is the rule of busses and links as written: at each instant all that wait are looked at in order.
func slowLinks(l Limits, messages []Message) map[uint64]Outcome {
	found := map[uint64]Outcome{}
	type under struct {
		m    Message
		ends vtime.Time
	}
	var active []under
	var waiting []Message
	delivered := map[pair]vtime.Time{}
	taken := func(count func(m *Message) bool) (n int) {
		for i := range active {
			if count(&active[i].m) {
				n++
			}
		}
		return n
	}
	free := func(limit, n int) bool { return limit == 0 || n < limit }
	for next := 0; next < len(messages) || len(active) > 0; {
		now := vtime.Forever
		if next < len(messages) {
			now = messages[next].At
		}
		for _, u := range active {
			now = min(now, u.ends)
		}
		active = slices.DeleteFunc(active, func(u under) bool { return u.ends == now })
		for next < len(messages) && messages[next].At == now {
			waiting = append(waiting, messages[next])
			next++
		}
		var still []Message
		for _, m := range waiting {
			out, _ := l.Links(m.From)
			_, in := l.Links(m.To)
			if free(l.Busses, len(active)) && free(out, taken(func(o *Message) bool { return o.From == m.From })) && free(in, taken(func(o *Message) bool { return o.To == m.To })) {
				active = append(active, under{m, now.Add(m.Transfer)})
				key := pair{m.Source, m.Dest}
				delivered[key] = max(delivered[key], now.Add(m.Transfer))
				found[m.Tag] = Outcome{m.Tag, now, delivered[key]}
				continue
			}
			still = append(still, m)
		}
		waiting = still
	}
	return found
}

func TestLinksAgainstSlowTwin(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		busses, out, in := rng.IntN(6), rng.IntN(4), rng.IntN(4)
		perNode := 1 + rng.IntN(3)
		l := Limits{busses, func(node int) (int, int) {
			if node%3 == 1 {
				return out + 1, in
			}
			return out, in
		}}
		messages := traffic(rng, 400, perNode*(2+rng.IntN(8)), perNode, 1+rng.IntN(60_000))
		fast := NewLinks(l)
		got, want := run(fast, messages), slowLinks(l, messages)
		compare(t, seed, messages, got, want)
	}
}

func compare(t *testing.T, seed uint64, messages []Message, got, want map[uint64]Outcome) {
	t.Helper()
	if len(got) != len(messages) {
		t.Fatalf("seed %d: %d of %d messages are decided", seed, len(got), len(messages))
	}
	for _, m := range messages {
		if got[m.Tag] != want[m.Tag] {
			t.Fatalf("seed %d: %+v: %+v, not %+v", seed, m, got[m.Tag], want[m.Tag])
		}
	}
}

// Half a million messages that crowd the links agree with the slow twin, which looks at all that wait. Its time
// bounds the crowd: it comes in many waves.
func TestHalfAMillionMessagesOnLinks(t *testing.T) {
	const count, waves = 500_000, 5000
	l := limits(7, 1, 1)
	fast := NewLinks(l)
	rng := rand.New(rand.NewPCG(37, 1))
	var all []Message
	for wave := range waves {
		for _, m := range traffic(rng, count/waves, 48, 2, 1000) {
			m.At = m.At.Add(vtime.Duration(wave) * 4 * us)
			m.Sequence += uint64(wave) * count
			m.Tag += uint64(wave * (count / waves))
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b Message) int {
		if a.before(&b) {
			return -1
		}
		if b.before(&a) {
			return 1
		}
		return 0
	})
	compare(t, 37, all, run(fast, all), slowLinks(l, all))
}

// Ten thousand messages that wait for one bus, or for the links of their nodes, are not looked at each time a
// transfer ends.
func TestLooksAtWaitingMessages(t *testing.T) {
	for _, l := range []Limits{limits(1, 0, 0), limits(1, 1, 1), limits(0, 1, 1), limits(16, 2, 1), limits(0, 0, 1)} {
		for _, ranks := range []int{2, 100, 1000, 10_000} {
			const count = 10_000
			fast := NewLinks(l)
			messages := traffic(rand.New(rand.NewPCG(7, uint64(ranks))), count, ranks, 1, 10)
			if got := run(fast, messages); len(got) != count {
				t.Fatalf("%d of %d messages are decided", len(got), count)
			}
			if most := 16 * count; fast.looks > most {
				t.Errorf("busses %d, %d ranks: %d looks at %d messages, more than %d", l.Busses, ranks, fast.looks, count, most)
			}
		}
	}
}

// In any interval a link carries no more than its transfers at its limit: never more than limit at an instant.
func TestLinksCarryNoMoreThanTheyCan(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		busses, out, in := 1+rng.IntN(5), 1+rng.IntN(3), 1+rng.IntN(3)
		messages := traffic(rng, 2000, 24, 2, 1+rng.IntN(200_000))
		found := run(NewLinks(limits(busses, out, in)), messages)
		check := func(name string, limit int, of func(m *Message) bool) {
			var changes [][2]int64
			for i := range messages {
				if m := &messages[i]; of(m) {
					begins := int64(found[m.Tag].Begins)
					changes = append(changes, [2]int64{begins, 1}, [2]int64{begins + int64(m.Transfer), -1})
				}
			}
			slices.SortFunc(changes, func(a, b [2]int64) int {
				if a[0] != b[0] {
					return int(a[0] - b[0])
				}
				return int(a[1] - b[1])
			})
			under := 0
			for _, c := range changes {
				if under += int(c[1]); under > limit {
					t.Fatalf("seed %d: %s carries %d transfers at %d, more than %d", seed, name, under, c[0], limit)
				}
			}
		}
		check("the busses", busses, func(*Message) bool { return true })
		for node := range 12 {
			check("a link out", out, func(m *Message) bool { return m.From == node })
			check("a link in", in, func(m *Message) bool { return m.To == node })
		}
	}
}

// slowFair is progressive filling over all transfers at each change. Changes fall on whole picoseconds as in Fair. Rates are rational
// numbers, or rounded down to whole numbers of 2^-60 bytes a picosecond, as those of Fair: where many links are shared an end in the
// middle of a picosecond may fall on either side.
func slowFair(r Routes, messages []Message, whole bool) map[uint64]Outcome {
	type active struct {
		full  bool // has had its own rate from the begin
		m     *Message
		left  *big.Rat // bytes
		rate  *big.Rat // bytes per picosecond
		own   *big.Rat
		links []int
		ends  vtime.Time
		over  bool
	}
	round := func(r *big.Rat) *big.Rat {
		if !whole {
			return r
		}
		unit := new(big.Int).Lsh(big.NewInt(1), 60)
		n := new(big.Int).Mul(r.Num(), unit)
		return new(big.Rat).SetFrac(n.Quo(n, r.Denom()), unit)
	}
	found := map[uint64]Outcome{}
	var all []*active
	now := vtime.Time(0)
	rates := func() {
		left, open := map[int]*big.Rat{}, map[int]int{}
		todo := []*active{}
		for _, a := range all {
			if a.over {
				continue
			}
			todo = append(todo, a)
			a.rate = nil
			for _, l := range a.links {
				left[l] = round(big.NewRat(r.Capacity(l), int64(vtime.Second)))
				open[l]++
			}
		}
		for len(todo) > 0 {
			least, at := (*big.Rat)(nil), -1
			for l, n := range open {
				if n > 0 {
					if s := round(new(big.Rat).Quo(left[l], big.NewRat(int64(n), 1))); least == nil || s.Cmp(least) < 0 {
						least, at = s, l
					}
				}
			}
			var rest []*active
			fixed := false
			for _, a := range todo {
				if least == nil || a.own.Cmp(least) <= 0 {
					fixed, a.rate = true, a.own
				}
			}
			for _, a := range todo {
				if a.rate == nil && !fixed && slices.Contains(a.links, at) {
					a.rate = least
				}
				if a.rate == nil {
					rest = append(rest, a)
					continue
				}
				for _, l := range a.links {
					left[l] = new(big.Rat).Sub(left[l], a.rate)
					open[l]--
				}
			}
			todo = rest
		}
		half := big.NewRat(1, 2)
		for _, a := range all {
			if a.full = a.full && a.rate.Cmp(a.own) == 0; a.full {
				a.ends = a.m.At.Add(a.m.Transfer)
			} else if !a.over {
				t := new(big.Rat).Add(new(big.Rat).Quo(a.left, a.rate), half)
				a.ends = now.Add(vtime.Duration(new(big.Int).Quo(t.Num(), t.Denom()).Int64()))
			}
		}
	}
	for next := 0; ; {
		then := vtime.Forever
		if next < len(messages) {
			then = messages[next].At
		}
		undone := false
		for _, a := range all {
			if !a.over {
				undone = true
				then = min(then, a.ends)
			}
		}
		if !undone && next == len(messages) {
			return found
		}
		for _, a := range all {
			if !a.over {
				a.left = new(big.Rat).Sub(a.left, new(big.Rat).Mul(a.rate, big.NewRat(int64(then-now), 1)))
			}
		}
		now = then
		for _, a := range all {
			a.over = a.over || a.ends == now
		}
		for i := 0; i < len(all); i++ {
			a := all[i]
			first := !slices.ContainsFunc(all[:i], func(b *active) bool { return b.m.Source == a.m.Source && b.m.Dest == a.m.Dest })
			if a.over && first {
				found[a.m.Tag] = Outcome{a.m.Tag, a.m.At, now}
				all = slices.Delete(all, i, i+1)
				i = -1
			}
		}
		for ; next < len(messages) && messages[next].At == now; next++ {
			m := &messages[next]
			all = append(all, &active{m: m, full: true, left: big.NewRat(m.Bytes, 1), own: round(big.NewRat(m.Bytes, int64(m.Transfer))), links: r.Route(m.From, m.To, nil)})
		}
		rates()
	}
}

// switches are nodes with links out and in of different capacities and one backbone.
type switches struct{ out, in, backbone int64 }

func (switches) Route(from, to int, links []int) []int { return append(links, 2*from+1, 2*to+2, 0) }
func (s switches) Capacity(link int) int64 {
	switch {
	case link == 0:
		return s.backbone
	case link%5 == 1:
		return s.out / 2
	case link%2 == 1:
		return s.out
	}
	return s.in
}

func TestFairAgainstSlowTwin(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		r := switches{1 + rng.Int64N(20e9), 1 + rng.Int64N(20e9), 1 + rng.Int64N(60e9)}
		messages := traffic(rng, 120, 20, 2, 1+rng.IntN(4000))
		compare(t, seed, messages, run(NewFair(r), messages), slowFair(r, messages, false))
	}
}

// rings are routes of several links round a ring of switches, on which transfers share some of their links with others.
type rings struct{ nodes, link int64 }

func (r rings) Route(from, to int, links []int) []int {
	links = append(links, 2*from, 2*to+1)
	n := int(r.nodes)
	for at := from % n; at != to%n; at = (at + 1) % n {
		links = append(links, 1000+at)
	}
	return links
}

func (r rings) Capacity(link int) int64 {
	switch {
	case link >= 1000 && link%3 == 0:
		return r.link / 2
	case link >= 1000:
		return r.link
	}
	return 12e9
}

// Each link of a route is shared.
func TestFairOverRoutesAgainstSlowTwin(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 4))
		r := rings{2 + rng.Int64N(8), 1e9 + rng.Int64N(30e9)}
		messages := traffic(rng, 120, 20, 2, 1+rng.IntN(4000))
		compare(t, seed, messages, run(NewFair(r), messages), slowFair(r, messages, true))
	}
}

// Whatever a link carries within an interval, its capacity allows: the bytes of all messages that begin and end within it.
func TestFairCarriesNoMoreThanLinks(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 6))
		r := rings{2 + rng.Int64N(8), 1e9 + rng.Int64N(10e9)}
		messages := traffic(rng, 150, 20, 2, 1+rng.IntN(1000))
		found := run(NewFair(r), messages)
		over := map[int][]Message{}
		for _, m := range messages {
			for _, l := range r.Route(m.From, m.To, nil) {
				over[l] = append(over[l], m)
			}
		}
		for l, all := range over {
			slices.SortFunc(all, func(a, b Message) int { return cmp.Compare(found[a.Tag].Ends, found[b.Tag].Ends) })
			for _, first := range all {
				begin, sum := found[first.Tag].Begins, int64(0)
				for _, m := range all {
					if found[m.Tag].Begins < begin {
						continue
					}
					sum += m.Bytes
					end := found[m.Tag].Ends.Add(1) // which is rounded
					if most := new(big.Int).Mul(big.NewInt(r.Capacity(l)), big.NewInt(int64(end.Sub(begin)))); new(big.Int).Mul(big.NewInt(sum), big.NewInt(1e12)).Cmp(most) > 0 {
						t.Fatalf("seed %d: link %d of %d bytes a second carries %d from %v to %v", seed, l, r.Capacity(l), sum, begin, end)
					}
				}
			}
		}
	}
}

// One transfer alone takes as long as on a path of its own, whatever its length.
func TestFairAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		m := Message{At: vtime.Time(rng.Int64N(1 << 40)), Source: 0, Dest: 1, From: 0, To: 1, Bytes: 1 + rng.Int64N(1<<40)}
		m.Transfer = vtime.Duration(float64(m.Bytes) * 1000 / (1 + 9*rng.Float64()))
		if got := run(NewFair(ends{20_000_000_000}), []Message{m})[0]; got.Ends != m.At.Add(m.Transfer) {
			t.Fatalf("%+v ends at %v, not %v", m, got.Ends, m.At.Add(m.Transfer))
		}
	}
}

// Interfaces serve one message after the other: bytes over the bandwidth and a gap each.
func TestInterfaces(t *testing.T) {
	own := NewInterfaces(2, 2, false, 5, 1000)
	for _, step := range []struct {
		node, k int
		asks    vtime.Time
		bytes   vtime.Duration
		begins  vtime.Time
	}{
		{0, 0, 10, 100, 10}, {0, 1, 10, 7, 10}, {0, 2, 20, 1, 115}, {0, 3, 20, 0, 22}, {1, 0, 30, 5, 30}, {0, 0, 200, 5, 200}, {0, 1, 22, 1, 27},
	} {
		if got := own.Take(step.node, step.k, step.asks, step.bytes); got != step.begins {
			t.Errorf("%+v begins at %v", step, int64(got))
		}
	}
	shared := NewInterfaces(1, 2, true, 5, 1000)
	for i, want := range []vtime.Time{10, 10, 22, 37} {
		if got := shared.Take(0, 0, 10, []vtime.Duration{100, 7, 10, 5}[i]); got != want {
			t.Errorf("message %d begins at %v, not %v", i, int64(got), int64(want))
		}
	}
}

// A message of at most a packet, of 10 here, does not wait for the bytes of longer ones: behind transfers of 100 and
// 50 at 0, which begin at 0 and 105, it begins at once, and the next transfer, which would begin at 160, by its bytes later.
// Two more that ask at 20 begin one after the other, but the third has nothing more to borrow; a message without bytes
// borrows nothing. From 160 on, and from 232, a packet is lent again.
func TestPacketsPassTransfers(t *testing.T) {
	i := NewInterfaces(1, 1, false, 5, 10)
	for _, step := range []struct {
		asks   vtime.Time
		bytes  vtime.Duration
		begins vtime.Time
	}{
		{0, 100, 0}, {0, 50, 105}, {1, 3, 10}, {20, 3, 20}, {20, 3, 28}, {20, 3, 169}, {20, 0, 41}, {21, 0, 46}, {22, 50, 177}, {165, 10, 165}, {240, 4, 240}, {260, 50, 260},
	} {
		if got := i.Take(0, 0, step.asks, step.bytes); got != step.begins {
			t.Errorf("%+v begins at %v", step, int64(got))
		}
	}
	// Of two interfaces a packet takes one that is idle, and if none is, the one at which it begins first.
	two := NewInterfaces(1, 2, true, 5, 10)
	for k, want := range []vtime.Time{0, 0, 5, 5, 106} {
		if got := two.Take(0, 0, vtime.Time(k/2*3), []vtime.Duration{100, 100, 1, 1, 20}[k]); got != want {
			t.Errorf("message %d begins at %v, not %v", k, int64(got), int64(want))
		}
	}
}

// takes is a message at an interface.
type takes struct {
	asks, begins vtime.Time
	bytes        vtime.Duration
}

// randomTakes returns messages that have asked at one interface.
func randomTakes(rng *rand.Rand, i *Interfaces, packet vtime.Duration) []takes {
	all := make([]takes, 300)
	now, spread := vtime.Time(0), 1+rng.IntN(200)
	for k := range all {
		now = now.Add(vtime.Duration(rng.IntN(spread)))
		m := takes{asks: now}
		switch rng.IntN(4) {
		case 0:
			m.bytes = vtime.Duration(rng.IntN(int(packet) + 1))
		case 1:
			m.bytes = packet + 1 + vtime.Duration(rng.IntN(3000))
		case 2:
			m.bytes = packet
		}
		m.begins = i.Take(0, 0, m.asks, m.bytes)
		all[k] = m
	}
	return all
}

// In any interval the messages of an interface take no more time than there is, but for two packets: an interface never works
// ahead of its bandwidth by more.
func TestInterfacesCarryNoMoreThanTheyCan(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		packet, gap := vtime.Duration(1+rng.IntN(100)), vtime.Duration(rng.IntN(2)*rng.IntN(60))
		all := randomTakes(rng, NewInterfaces(1, 1, false, gap, packet), packet)
		slices.SortFunc(all, func(a, b takes) int { return cmp.Compare(a.begins.Add(a.bytes), b.begins.Add(b.bytes)) })
		for _, first := range all {
			sum := vtime.Duration(0)
			for _, m := range all {
				if m.begins < first.begins {
					continue
				}
				sum += m.bytes
				if end := m.begins.Add(m.bytes); sum > end.Sub(first.begins)+2*packet {
					t.Fatalf("seed %d: %v of bytes from %d to %d, with packets of %v", seed, int64(sum), first.begins, end, int64(packet))
				}
			}
		}
	}
}

// A message of at most a packet waits for the bytes of others of at most a packet and their gaps alone, unless the
// interface has lent all; longer messages keep their order, and none overlaps another.
func TestPacketsWaitForPacketsOnly(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 8))
		packet, gap := vtime.Duration(1+rng.IntN(100)), vtime.Duration(rng.IntN(60))
		over := vtime.Time(0)
		for k, m := range randomTakes(rng, NewInterfaces(1, 1, false, gap, packet), packet) {
			if m.begins < m.asks {
				t.Fatalf("seed %d: message %d asks at %d and begins at %d", seed, k, m.asks, m.begins)
			}
			if m.bytes > packet {
				if m.begins < over {
					t.Fatalf("seed %d: message %d begins at %d, before the earlier one is over at %d", seed, k, m.begins, over)
				}
				over = m.begins.Add(m.bytes).Add(gap)
			}
		}
		// Without bytes the wait is for gaps alone.
		i, own := NewInterfaces(1, 1, false, gap, packet), vtime.Time(0)
		i.Take(0, 0, 0, 1<<30)
		own = own.Add(gap)
		for range 100 {
			asks := vtime.Time(rng.IntN(5000))
			asks = max(asks, own.Add(-gap))
			if got := i.Take(0, 0, asks, 0); got != max(asks, own) {
				t.Fatalf("seed %d: a message without bytes asks at %d and begins at %d, not %d", seed, asks, got, max(asks, own))
			}
			own = max(asks, own).Add(gap)
		}
	}
}

// A transfer that does not end within virtual time is decided all the same, once all others have ended: its end is Forever. So are
// the transfers of its pair behind it. The rate of the third one, 1000 bytes a second, is rounded down.
func TestFairAtTheEndOfTime(t *testing.T) {
	at := vtime.Forever.Add(-vtime.Second)
	found := run(NewFair(ends{1000}), []Message{
		{At: at, Source: 0, Dest: 1, To: 1, Bytes: 1 << 40, Transfer: vtime.Second, Tag: 0},
		{At: at, Source: 0, Sequence: 1, Dest: 1, To: 1, Bytes: 10, Transfer: 1, Tag: 1},
		{At: at, Source: 2, Dest: 3, From: 2, To: 3, Bytes: 10, Transfer: 1, Tag: 2},
	})
	for tag, want := range []vtime.Time{vtime.Forever, vtime.Forever, at.Add(10*vtime.Millisecond + 5)} {
		if got, decided := found[uint64(tag)]; !decided || got.Ends != want {
			t.Errorf("message %d: decided %v, ends at %v, not %v", tag, decided, got.Ends, want)
		}
	}
}

func BenchmarkLinks(b *testing.B) {
	messages := traffic(rand.New(rand.NewPCG(1, 1)), 100_000, 1000, 1, 1000)
	for _, l := range []Limits{limits(1, 0, 0), limits(16, 2, 1), limits(0, 1, 1)} {
		b.Run(fmt.Sprint(l.Busses), func(b *testing.B) {
			for b.Loop() {
				run(NewLinks(l), messages)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(messages)), "ns/message")
		})
	}
}

func BenchmarkFair(b *testing.B) {
	messages := traffic(rand.New(rand.NewPCG(1, 1)), 10_000, 1000, 1, 1_000_000)
	for b.Loop() {
		run(NewFair(ends{12_500_000_000}), messages)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(messages)), "ns/message")
}

// The documented size of a lane is that which the compiler makes.
func TestLaneBytes(t *testing.T) {
	if got := unsafe.Sizeof(lane{}); got != LaneBytes {
		t.Errorf("a lane has %d bytes, LaneBytes is %d", got, LaneBytes)
	}
}
