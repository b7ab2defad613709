package maxplus

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/network"
	"gigarank/vtime"
)

// everywhere holds participants that are the ranks of WORLD in order, none of which gets
// past the end of virtual time.
type everywhere struct{ t fataler }

// fataler is a test of either kind.
type fataler interface {
	Fatalf(format string, arguments ...any)
}

func (everywhere) RankOf(participant int) int { return participant }

func (e everywhere) PastSend(src, dst int, _ int64, t vtime.Time) {
	e.t.Fatalf("the message from %d to %d, of %v, ends after the end of virtual time", src, dst, t)
}

func (e everywhere) PastReceive(src, dst int, _ int64, t vtime.Time) { e.PastSend(src, dst, 0, t) }

// drawRounds gives rounds that are all regular, on a machine.
func drawRounds(t *rapid.T, machine string) Rounds {
	operations := []collectives.Operation{collectives.Barrier, collectives.Allgather, collectives.Allreduce}
	limited := strings.Contains(machine, "eager_limit")
	if limited {
		operations = operations[:2] // these have shifts among any number of members
	}
	op := rapid.SampledFrom(operations).Draw(t, "operation")
	members := rapid.OneOf(rapid.IntRange(2, 80), rapid.SampledFrom([]int{1 << 10, 1<<10 + 7, 3 << 9, 5 << 9})).Draw(t, "members")
	var regular []collectives.Schedule // of few rounds
	for _, s := range schedules(t, op, members, 0) {
		irregular := func(round int) bool {
			p := s.Pattern(round)
			if p.Kind == collectives.Strided && limited && p.Sent > 0 {
				return true // rendezvous, but to fold
			}
			return p.Kind == collectives.Irregular || p.Kind == collectives.Paired || p.Sent == collectives.Varies || p.Combined == collectives.Varies
		}
		if s.MaxRounds() <= 100 && !slices.ContainsFunc(upTo(s.MaxRounds()), irregular) {
			regular = append(regular, s)
		}
	}
	s := rapid.SampledFrom(regular).Draw(t, "schedule")
	m, err := network.Parse("m", []byte(machine), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(members))
	if err != nil {
		t.Fatal(err)
	}
	return Rounds{
		Target: target, Schedule: s, Bytes: 8, UniformFrom: target.UniformFrom(), Consecutive: rapid.Bool().Draw(t, "consecutive"),
		High: members, Participants: everywhere{t},
		Memory: &Memory{Reserve: func(n int) []vtime.Time { return make([]vtime.Time, n) }},
	}
}

// through takes clocks, which it leaves alone, through rounds in arrays that exchange what
// they need. It returns the clocks and the number of messages. top is that of all arrays.
func through(t fataler, r Rounds, cuts cuts, clocks []vtime.Time, top vtime.Time) (after []vtime.Time, messages uint64) {
	arrays := make([]Array, cuts.arrays())
	spares := make([]Spare, len(arrays))
	for i := range arrays {
		part := r
		part.Low, part.High = cuts[i], cuts[i+1]
		arrays[i] = NewArray(part)
		arrays[i].Begin(&spares[i])
		copy(arrays[i].Clocks(), clocks[cuts[i]:])
		arrays[i].Top = top
	}
	type stretch struct {
		to, dst, src, stride int
		clocks               []vtime.Time
	}
	for !arrays[0].Over() {
		var sent []stretch
		for i := range arrays {
			arrays[i].Prepare()
		}
		for i := range arrays {
			for j := range arrays {
				if i == j {
					continue
				}
				arrays[i].Needed(cuts[j], cuts[j+1], 0, func(dst, src, n, stride int) bool {
					s := stretch{j, dst, src, stride, make([]vtime.Time, n)}
					for k := range n {
						s.clocks[k] = arrays[i].From(src)[k*stride]
					}
					sent = append(sent, s)
					return true
				})
			}
		}
		for _, s := range sent {
			e := arrays[s.to].Evaluation()
			e.Receive(s.dst, s.src, s.stride, s.clocks, Told{})
		}
		for i := range arrays {
			if !arrays[i].Complete() {
				t.Fatalf("step %d of array %d is not complete", arrays[i].Step(), i)
			}
			messages += arrays[i].Evaluate()
		}
	}
	for i := range arrays {
		if !arrays[i].Over() {
			t.Fatalf("array %d is not through all rounds", i)
		}
		arrays[i].Finish()
		after = append(after, arrays[i].Clocks()...)
		arrays[i].End(&spares[i])
	}
	return after, messages
}

// The clocks after the rounds do not depend on how participants are cut into arrays, nor
// on whether each clock is looked at after each addition.
func TestCutsAndCareMakeNoDifference(t *testing.T) {
	for _, machine := range []string{
		"name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n",
		"name: m\nranks_per_node: 3\nnetwork: {model: flat, latency: 1us, overhead: {send: 200ns, receive: 300ns}}\n",
		"name: m\nranks_per_node: 3\ntopology: {kind: torus, dimensions: 3}\nnetwork: {model: hops, latency: 1us, latency_per_hop: 1us}\n",
		"name: m\nranks_per_node: 2\ntopology: {kind: torus, dimensions: 2}\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}, congestion: {bandwidth: 3MB/s, longest: 5}}\n",
		"name: m\nranks_per_node: 2\ntopology: {kind: hierarchy, levels: [{size: 3, hops: 1}, {size: 2, hops: 2}, {hops: 3}]}\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}, congestion: {bandwidth: 3MB/s}}\n",
		"name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 200ns, receive: 300ns}, eager_limit: 40}\n",
	} {
		rapid.Check(t, func(t *rapid.T) {
			r := drawRounds(t, machine)
			clocks := make([]vtime.Time, r.High)
			entry := rapid.SliceOfN(rapid.Int64Range(0, int64(5*vtime.Microsecond)), 1, 20).Draw(t, "entries")
			for i := range clocks {
				clocks[i] = vtime.Time(entry[i*i%len(entry)])
			}
			whole := cuts{0, r.High}
			want, messages := through(t, r, whole, clocks, vtime.Forever-1)
			for _, c := range []struct {
				cuts cuts
				top  vtime.Time
			}{{whole, slices.Max(clocks)}, {drawCuts(t, r.High), slices.Max(clocks)}} {
				got, n := through(t, r, c.cuts, clocks, c.top)
				if !slices.Equal(got, want) || n != messages {
					t.Fatalf("cut at %v: %d messages, %v; want %d, %v", c.cuts, n, got, messages, want)
				}
			}
		})
	}
}

// Shifts over arrays of several blocks give the same clocks however they are cut: into halves,
// unequal parts, and one so large that its last participants send to its first.
func TestLongShifts(t *testing.T) {
	const members = 3*shiftBlock + 5
	s, err := collectives.New(collectives.Barrier, collectives.Dissemination, members, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := network.Parse("m", []byte("name: m\nranks_per_node: 3\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 3us}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(members)
	if err != nil {
		t.Fatal(err)
	}
	clocks := make([]vtime.Time, members)
	for i := range clocks {
		clocks[i] = vtime.Time(i * i % 5_000_000)
	}
	r := Rounds{
		Target: target, Schedule: s, UniformFrom: target.UniformFrom(), Consecutive: true, High: members, Participants: everywhere{t},
		Memory: &Memory{Reserve: func(n int) []vtime.Time { return make([]vtime.Time, n) }},
	}
	want, messages := through(t, r, cuts{0, members}, clocks, vtime.Forever-1)
	for _, c := range []cuts{{0, members}, {0, members / 2, members}, {0, 7, shiftBlock + 9, members}, {0, 2, members}} {
		got, n := through(t, r, c, clocks, slices.Max(clocks))
		if !slices.Equal(got, want) || n != messages {
			t.Errorf("cut at %v: %d messages and other clocks; want %d", c, n, messages)
		}
	}
}

// Where each round shifts by one participant more than the last, the clocks kept aside take a few arrays in
// all. An array for each round would take memory like the square of the participants.
func TestAscendingShiftsShareMemory(t *testing.T) {
	const members = 1<<10 - 1 // its shifts are in no cycles of long blocks
	s, err := collectives.New(collectives.Alltoall, collectives.Pairwise, members, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := network.Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(members)
	if err != nil {
		t.Fatal(err)
	}
	reserved := 0
	r := Rounds{
		Target: target, Schedule: s, Bytes: 8, UniformFrom: target.UniformFrom(), Consecutive: true, High: members, Participants: everywhere{t},
		Memory: &Memory{Reserve: func(n int) []vtime.Time {
			reserved += n
			return make([]vtime.Time, n)
		}},
	}
	through(t, r, cuts{0, members}, make([]vtime.Time, members), 0)
	if reserved > 4*members {
		t.Errorf("%d participants have %d clocks reserved; want at most 4 each", members, reserved)
	}
}
