package stats

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/vtime"
)

// noted is a call, or the computing of a rank if the procedure is 0.
type noted struct {
	rank  int
	key   CallKey
	bytes int64
	times Causes
}

// slowCalls sums calls up one by one, with numbers of any size.
func slowCalls(calls []noted, ranks int) (lines []string) {
	times, tasks := map[string]*big.Int{}, make([]Task, ranks)
	for _, c := range calls {
		t := &tasks[c.rank]
		if c.key.Procedure > 0 {
			t.Count, t.Bytes = t.Count+1, t.Bytes+uint64(c.bytes)
		}
		t.Times.Add(&c.times)
		for i, d := range c.times {
			if c.key.Procedure == 0 {
				break
			}
			at := fmt.Sprint(c.key.Procedure, nameOf(c.key.Context), i)
			if times[at] == nil {
				times[at] = new(big.Int)
			}
			times[at].Add(times[at], big.NewInt(int64(d)))
		}
	}
	return append(linesOf(times), fmt.Sprint(tasks))
}

func linesOf(times map[string]*big.Int) []string { return []string{fmt.Sprint(times)} } // fmt sorts maps

// nameOf is the name of a communicator: some contexts share one.
func nameOf(context uint64) string { return fmt.Sprint("comm ", context/2) }

// The sums are those of all calls, however they are divided among engines and merged in whatever order, with or without a trip over
// the wire.
func TestCallsAddUp(t *testing.T) {
	const ranks = 6
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) (c noted) {
			c.rank = rapid.IntRange(0, ranks-1).Draw(t, "rank")
			time := rapid.SampledFrom([]vtime.Duration{0, 1, 1000, math.MaxInt64 / 64})
			if rapid.Bool().Draw(t, "computes") {
				c.times[Computing] = time.Draw(t, "time")
				return c
			}
			c.key = CallKey{uint8(rapid.IntRange(1, 3).Draw(t, "procedure")), rapid.Uint64Range(0, 4).Draw(t, "context")}
			c.bytes = rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
			for i := range c.times {
				c.times[i] = time.Draw(t, "time")
			}
			return c
		}), 0, 60).Draw(t, "calls")
		parts, per := make([]Calls, 3), ranks/3
		for i := range parts {
			parts[i].Open(i*per, per, ranks, true)
		}
		computing := make([]vtime.Duration, ranks)
		for _, c := range calls {
			part, lp := &parts[c.rank/per], int32(c.rank%per)
			if c.key.Procedure == 0 {
				part.Compute(lp, 0, c.times[Computing])
				computing[c.rank] += c.times[Computing]
				continue
			}
			if !part.Names(c.key.Context) {
				part.Name(c.key.Context, nameOf(c.key.Context))
			}
			part.Note(lp, c.key, c.bytes, &c.times)
		}
		var all Calls
		for _, i := range rapid.Permutation([]int{0, 1, 2}).Draw(t, "order") {
			var sent Calls
			parts[i].Settle(&Activities{})
			if rest := sent.Read(parts[i].Append(nil)); len(rest) != 0 {
				t.Fatalf("%d bytes are left", len(rest))
			}
			all.Merge(&sent)
		}
		times := map[string]*big.Int{}
		for _, row := range all.Times(func(context uint64) bool { return context < 2 }) {
			for i, sum := range row.Times {
				times[fmt.Sprint(row.Procedure, row.Name, i)] = sum.Big()
			}
		}
		if diff := cmp.Diff(slowCalls(calls, ranks), append(linesOf(times), fmt.Sprint(all.Tasks()))); diff != "" {
			t.Fatalf("(-slow +fast):\n%s", diff)
		}
		want := Balance{}
		for rank, d := range computing {
			want.Computing.Add(d)
			if d > want.Greatest {
				want.Greatest, want.Rank = d, rank
			}
		}
		if all.Balance() != want {
			t.Fatalf("balance %+v, want %+v", all.Balance(), want)
		}
	})
}

// Phases of computing count alike in their short form and in the general way, in which the sums, the activities and the phases hear of each.
func TestShortComputingCountsAsOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 4
		type phase struct {
			lp int32
			d  vtime.Duration
		}
		phases := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) phase {
			return phase{int32(rapid.IntRange(0, ranks-1).Draw(t, "rank")), vtime.Duration(rapid.Int64Range(1, 1<<60).Draw(t, "time"))}
		}), 0, 40).Draw(t, "phases")
		tasks, course := rapid.Bool().Draw(t, "tasks"), rapid.Bool().Draw(t, "course")
		var clock [ranks]vtime.Time
		var short, general Calls
		var shortly, generally Activities
		for _, c := range []*Calls{&short, &general} {
			c.Open(0, ranks, ranks, tasks)
			if course {
				c.course.Open()
			}
		}
		for _, p := range phases {
			if clock[p.lp].Add(p.d) == vtime.Forever {
				continue
			}
			short.Computes(p.lp, clock[p.lp], p.d)
			general.Compute(p.lp, clock[p.lp], p.d)
			general.Phases().NoteOne(SequentialComputation, p.d)
			generally.Note(Computation, p.d)
			clock[p.lp] = clock[p.lp].Add(p.d)
		}
		short.Settle(&shortly)
		general.Settle(&generally)
		if !bytes.Equal(short.Append(nil), general.Append(nil)) || shortly != generally {
			t.Errorf("%v count as %+v and %+v, want %+v and %+v", phases, short, shortly, general, generally)
		}
		for lp, task := range general.Tasks() {
			if got := vtime.Time(task.Times[Computing]); got != clock[lp] {
				t.Errorf("rank %d has computed for %v, want %v", lp, got, clock[lp])
			}
		}
	})
}

// Beyond ManyContexts communicators, those that own no names of their own share a row.
func TestManyCommunicatorsShareRows(t *testing.T) {
	for _, many := range []int{ManyContexts, ManyContexts + 1} {
		var c Calls
		c.Open(0, 1, 1, false)
		times := Causes{Network: 1}
		for context := range many + 1 {
			c.Name(uint64(context), fmt.Sprint(context))
			c.Note(0, CallKey{7, uint64(context)}, 1, &times)
		}
		rows := c.Times(func(context uint64) bool { return context == 0 })
		want := many + 1
		if many > ManyContexts {
			want = 2
		}
		total := uint64(0)
		for _, row := range rows {
			total += row.Count
		}
		if len(rows) != want || total != uint64(many+1) {
			t.Errorf("%d communicators have %d rows with %d calls, want %d with %d", many, len(rows), total, want, many+1)
		}
	}
}

// The parts of a call are its time, whatever its ending.
func TestSplitAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) vtime.Time { return vtime.Time(rapid.Int64Range(0, 100).Draw(t, name)) }
		length := func(name string) vtime.Duration { return vtime.Duration(rapid.Int64Range(-5, 60).Draw(t, name)) }
		e := Ending{
			Known: rapid.Bool().Draw(t, "known"), From: at("from"), Root: at("root"), Other: at("other"), Left: at("left"), Ready: at("ready"), Late: LateSender,
			Bus: rapid.Bool().Draw(t, "bus"), Works: length("works"), Shared: length("shared"), Within: length("within"),
		}
		began := at("began")
		ended := began.Add(vtime.Duration(rapid.Int64Range(0, 100).Draw(t, "length")))
		var all Causes
		e.Split(began, ended, &all)
		for c, d := range all {
			if d < 0 {
				t.Errorf("%v takes %v", Cause(c), d)
			}
		}
		if all.Total() != ended.Sub(began) {
			t.Errorf("%+v from %v to %v is divided into %v", e, began, ended, all)
		}
	})
}

// A matrix counts the bytes of all messages, in blocks of ranks beyond MatrixSide ranks.
func TestMatrix(t *testing.T) {
	for _, c := range []struct{ ranks, block, side int }{{1, 1, 1}, {5, 1, 5}, {1024, 1, 1024}, {1025, 2, 513}, {1 << 20, 1024, 1024}} {
		var parts [2]Matrix
		for i := range parts {
			parts[i].Open(c.ranks)
		}
		last := c.ranks - 1
		parts[0].Note(0, last, 10)
		parts[1].Note(0, last, 5)
		parts[1].Note(last, 0, 3)
		var all Matrix
		for i := range parts {
			var sent Matrix
			r := reader{parts[i].append(nil)}
			sent.read(&r)
			all.Merge(&sent)
		}
		rows := all.Rows()
		if len(rows) != c.side || all.Block() != c.block {
			t.Errorf("%d ranks have %d rows of %d ranks, want %d of %d", c.ranks, len(rows), all.Block(), c.side, c.block)
		}
		if there, back := rows[0][c.side-1], rows[c.side-1][0]; c.side > 1 && (there != 15 || back != 3) {
			t.Errorf("%d ranks: %d bytes there and %d back, want 15 and 3", c.ranks, there, back)
		}
	}
}
