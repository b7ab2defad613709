package maxplus

import (
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/network"
	"gigarank/vtime"
)

// Lengths whose costs share an entry of the table have the clocks of messages that are taken one by one, where a participant sends a message of
// one length and receives a message of the other.
func TestLengthsThatShareAnEntry(t *testing.T) {
	const members = 24
	s, err := collectives.New(collectives.Alltoall, collectives.Pairwise, members, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, machine := range []string{
		"name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 200ns, receive: 300ns}}\n",
		"name: m\nranks_per_node: 3\ntopology: {kind: torus, dimensions: 3}\nnetwork: {model: hops, latency: 1us, latency_per_hop: 1us, bandwidth: 3GB/s, memory_bandwidth: 7GB/s}\n",
		"name: m\nranks_per_node: 3\nnetwork: {model: twolevel, intra: {latency: 1us, bandwidth: 4GB/s}, inter: {latency: 3us, bandwidth: 1GB/s}}\n",
	} {
		m, err := network.Parse("m", []byte(machine), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(members)
		if err != nil {
			t.Fatal(err)
		}
		rows := func(bytesOf func(round, sender int) int64, top vtime.Time) (*Array, *Spare) {
			a, spare := NewArray(Rounds{
				Target: target, Schedule: s, UniformFrom: target.UniformFrom(), Consecutive: true, High: members, Participants: everywhere{t},
				Memory: &Memory{Reserve: func(n int) []vtime.Time { return make([]vtime.Time, n) }},
			}), &Spare{}
			a.SetRows(1<<12, -1, func(round int, sent, received []int64) {
				for sender := range sent {
					sent[sender] = bytesOf(round, sender)
					received[(sender+round+1)%members] = sent[sender]
				}
			})
			a.Begin(spare)
			for i := range a.Clocks() {
				a.Clocks()[i] = vtime.Time(i * i % 7 * 100_000)
			}
			a.Top = top
			return &a, spare
		}
		one, other := sharers(t, rows)
		// In each round, some participants send a length and receive the other.
		bytesOf := func(round, sender int) int64 { return []int64{one, other, 0, one}[(sender+round)%4] }
		after := func(top vtime.Time) []vtime.Time {
			a, spare := rows(bytesOf, top)
			for !a.Over() {
				a.Prepare()
				if !a.Complete() {
					t.Fatalf("%s: step %d is not complete", machine, a.Step())
				}
				a.Evaluate()
			}
			a.Finish()
			clocks := slices.Clone(a.Clocks())
			a.End(spare)
			return clocks
		}
		// Clocks that may come near the end of time are taken with care, message by message.
		if got, want := after(6*100_000), after(vtime.Forever-1); !slices.Equal(got, want) {
			t.Errorf("%s: lengths %d and %d: %v, want %v", machine, one, other, got, want)
		}
	}
}

// sharers returns two lengths whose costs share an entry of the table.
func sharers(t *testing.T, rows func(func(round, sender int) int64, vtime.Time) (*Array, *Spare)) (one, other int64) {
	t.Helper()
	a, _ := rows(func(int, int) int64 { return 0 }, 0)
	a.Prepare()
	e, lengths := a.Evaluation(), map[*cost]int64{}
	for bytes := int64(1); bytes <= costEntries+1; bytes++ {
		entry := e.costOf(0, 1, bytes*61)
		if before, taken := lengths[entry]; taken {
			return before, bytes * 61
		}
		lengths[entry] = bytes * 61
	}
	t.Fatalf("more lengths than entries share none")
	return 0, 0
}
