package stats

import (
	"fmt"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// span is the time of some ranks for a cause.
type span struct {
	cause    Cause
	from, to uint64
	ranks    int
}

// slowCourse sums spans up bin by bin, in numbers of any size.
func slowCourse(spans []span) (width uint64, bins []map[Cause]*big.Int) {
	end := uint64(0)
	for _, s := range spans {
		if s.to > s.from {
			end = max(end, s.to)
		}
	}
	for width = 1; end > 0 && (end-1)/width >= CourseBins; width *= 2 {
	}
	for low := uint64(0); low < end; low += width {
		bin := map[Cause]*big.Int{}
		for _, s := range spans {
			if from, to := max(s.from, low), min(s.to, low+width); to > from {
				if bin[s.cause] == nil {
					bin[s.cause] = new(big.Int)
				}
				bin[s.cause].Add(bin[s.cause], new(big.Int).Mul(big.NewInt(int64(to-from)), big.NewInt(int64(s.ranks))))
			}
		}
		bins = append(bins, bin)
	}
	return width, bins
}

// The course of a run has the times of all bins, in bins as narrow as they can be, however the times are divided among engines and in whatever
// order they come and are merged, with or without a trip over the wire.
func TestCourseAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		engines := rapid.IntRange(1, 4).Draw(t, "engines")
		parts := make([]Course, engines)
		for i := range parts {
			parts[i].Open()
		}
		var spans []span
		for range rapid.IntRange(0, 30).Draw(t, "spans") {
			limit := uint64(1) << rapid.IntRange(0, 61).Draw(t, "bits")
			from := rapid.Uint64Range(0, limit).Draw(t, "from")
			s := span{Cause(rapid.IntRange(0, int(NumberOfCauses)-1).Draw(t, "cause")), from, from + rapid.Uint64Range(0, limit).Draw(t, "length"), rapid.IntRange(1, 1<<30).Draw(t, "ranks")}
			spans = append(spans, s)
			parts[rapid.IntRange(0, engines-1).Draw(t, "engine")].Add(s.cause, vtime.Time(s.from), vtime.Time(s.to), s.ranks)
		}
		var total Course
		for _, part := range rapid.Permutation(parts).Draw(t, "order") {
			if rapid.Bool().Draw(t, "travels") {
				r := reader{append(part.append(nil), 7)}
				var read Course
				if read.read(&r); len(r.b) != 1 {
					t.Fatalf("%d bytes are left", len(r.b))
				}
				part = read
			}
			total.Merge(&part)
		}
		width, bins := slowCourse(spans)
		got := total.Times()
		if len(got.Bins) != len(bins) || len(bins) > 0 && uint64(got.Width) != width {
			t.Fatalf("%d bins of %d ps, want %d of %d ps", len(got.Bins), got.Width, len(bins), width)
		}
		for i := range bins {
			times := map[Cause]*big.Int{}
			for cause, sum := range got.Bins[i] {
				if sum != (Total{}) {
					times[Cause(cause)] = sum.Big()
				}
			}
			if !reflect.DeepEqual(times, bins[i]) {
				t.Fatalf("bin %d has %v, want %v", i, times, bins[i])
			}
		}
	})
}

// The parts of a call pass in the order of the rules, and are all of its time.
func TestPartsPassInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var times Causes
		for i := range times {
			times[i] = vtime.Duration(rapid.IntRange(0, 3).Draw(t, "time"))
		}
		lead := vtime.Duration(rapid.Int64Range(0, int64(times[Processor])).Draw(t, "lead"))
		tail := vtime.Duration(rapid.Int64Range(0, int64(times[Processor]-lead)).Draw(t, "tail"))
		var sums Causes
		var order []Cause
		times.InOrder(lead, tail, func(cause Cause, d vtime.Duration) {
			sums[cause] += d
			order = append(order, cause)
		})
		if sums != times {
			t.Fatalf("the parts are %v, want %v", sums, times)
		}
		if lead > 0 && order[0] != Processor || tail > 0 && order[len(order)-1] != Processor {
			t.Fatalf("lead %v, tail %v: %v", lead, tail, order)
		}
	})
}

// Places keep their sums whoever numbers them, and however they are merged.
func TestSitesAddUp(t *testing.T) {
	var total, alone Calls
	alone.Open(0, 4, 4, false)
	alone.OpenSites()
	text := func(s Site) string { return fmt.Sprint("place ", int(s)%10) }
	for engine := range 3 {
		var part Calls
		part.Open(engine, 1, 4, false)
		part.OpenSites()
		for i := range 20 {
			times := Causes{Network: vtime.Duration(i)}
			part.NoteSite(Site(10*(engine+1)+i%3), 0, uint8(i%2), int64(i), &times) // each engine has numbers of its own
			alone.NoteSite(Site(10+i%3), 0, uint8(i%2), int64(i), &times)
		}
		part.NoteSite(0, 0, 5, 1, &Causes{})
		alone.NoteSite(0, 0, 5, 1, &Causes{})
		part.NameSites(text)
		var read Calls
		if rest := read.Read(append(part.Append(nil), 9)); len(rest) != 1 {
			t.Fatalf("%d bytes are left", len(rest))
		}
		total.Merge(&read)
	}
	alone.NameSites(text)
	want := alone.Sites()
	if len(want) != 7 || want[0].Place != "" || want[0].Count != 3 || want[1].Place != "place 0" || want[1].Count != 3*4 {
		t.Errorf("%+v", want)
	}
	if got := total.Sites(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The time for late senders is summed up by the place that waits and the place of the send, which may be in a call of another engine. Places of
// one line are one place.
func TestSendersAddUp(t *testing.T) {
	text := func(s Site) string {
		return map[Site]string{1: "recv (a.c:1)", 2: "send (a.c:2)", 3: "send (a.c:2)", 4: "send (a.c:4)"}[s]
	}
	var total Calls
	for engine, calls := range [][]struct {
		site, sender Site
		late         vtime.Duration
	}{
		{{1, 2, 10}, {1, 4, 5}, {1, 0, 100}, {2, 4, 0}}, // 4 is a place of engine 1 alone
		{{1, 3, 2}, {4, 0, 7}, {1, 9, 3}, {3, 0, 0}},    // 9 is a place of no engine
	} {
		var part Calls
		part.Open(engine, 1, 2, false)
		part.OpenSites()
		for _, c := range calls {
			part.NoteSite(c.site, c.sender, 5, 8, &Causes{LateSender: c.late})
		}
		part.NameSites(text)
		var read Calls
		read.Read(part.Append(nil))
		total.Merge(&read)
	}
	for _, s := range total.Sites() {
		var want []LateSends
		if s.Place == "recv (a.c:1)" {
			want = []LateSends{{"send (a.c:2)", Total{Low: 12}}, {"send (a.c:4)", Total{Low: 5}}, {"", Total{Low: 3}}}
		}
		if !reflect.DeepEqual(s.Senders, want) {
			t.Errorf("%s waits for %+v, want %+v", s.Place, s.Senders, want)
		}
	}
}
