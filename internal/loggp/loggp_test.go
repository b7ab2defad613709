package loggp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/network"
	"gigarank/vtime"
)

// fake is a link on which times follow LogGP, on nodes given.
type fake struct {
	nodes        []int
	cold         bool
	intra, inter LogGP
	rank         int
	reduce       float64 // seconds for each byte
	noise        func() float64
	failure      error
	pauses       int
	eagerLimit   int  // 0 if no message waits for its receiver
	inCalls      bool // whether one waits for a receiver that computes
	inWaits      bool // and has posted its receive before
}

func (l *fake) of(partner int) LogGP {
	if l.nodes[partner] == l.nodes[l.rank] {
		return l.intra
	}
	return l.inter
}

func (l *fake) result(seconds float64) (float64, error) {
	if l.noise != nil {
		seconds += l.noise()
	}
	return seconds, l.failure
}

func (l *fake) Rank() int    { return l.rank }
func (l *fake) Nodes() []int { return l.nodes }
func (l *fake) Cold() bool   { return l.cold }

func (l *fake) Most(number int) (int, error) { return number, l.failure }

func (l *fake) PingPong(partner int, _ bool, bytes, _ int) (float64, error) {
	return l.result(l.delay(partner, bytes))
}

// least is the size of the least message that is measured.
func (l *fake) least() int {
	if l.eagerLimit > 0 {
		return min(l.eagerLimit, leastBytes)
	}
	return leastBytes
}

// delay is that of LogGP, with a request and an acknowledgement above the eager limit.
func (l *fake) delay(partner, bytes int) float64 {
	p := l.of(partner)
	seconds := p.SendOverhead + p.L + p.ReceiveOverhead + p.GapPerByte*float64(bytes)
	if l.eagerLimit > 0 && bytes > l.eagerLimit {
		seconds += 2 * (p.L + p.GapPerByte*float64(l.least()))
	}
	return seconds
}

func (l *fake) Waits(partner int, _ bool, bytes int, posted bool, late float64, _ int) (bool, error) {
	if late < 2*l.delay(partner, bytes) {
		return false, errors.New("the receiver is not late enough to tell")
	}
	return l.eagerLimit > 0 && bytes > l.eagerLimit && (!posted || l.inCalls), l.failure
}

func (l *fake) WaitsForWait(partner int, _ bool, bytes int, late float64, _ int) (bool, error) {
	if late < 2*l.delay(partner, bytes) {
		return false, errors.New("the receiver is not late enough to tell")
	}
	return l.eagerLimit > 0 && bytes > l.eagerLimit && l.inWaits, l.failure
}

func (l *fake) SendTime(partner int, _ bool, _, _ int) (float64, error) {
	return l.result(l.of(partner).SendOverhead)
}

func (l *fake) ReceiveTime(partner int, _ bool, bytes int, wait float64, _ int) (float64, error) {
	p := l.of(partner)
	if there := p.SendOverhead + 2*p.L + p.ReceiveOverhead + p.GapPerByte*float64(bytes); wait < there {
		return l.result(there - wait) // it has not come yet
	}
	return l.result(p.ReceiveOverhead)
}

func (l *fake) Gap(partner int, _ bool, _, _ int) (float64, error) {
	return l.result(l.of(partner).Gap)
}

// The collectives of a node are those of joins, the others take ten times as long.
func (l *fake) Collective(operation string, near bool, bytes, _ int) (float64, error) {
	size := 0
	for _, first := range l.nodes {
		if first == l.nodes[l.rank] {
			size++
		}
	}
	seconds := 2 * fakeJoin(bytes)
	if operation == "allreduce" {
		seconds += float64(size-1) * l.reduce * float64(bytes)
	}
	if !near && size < len(l.nodes) {
		seconds *= 10
	}
	return l.result(seconds)
}

// fakeJoin is the time of a join on the fake link.
func fakeJoin(bytes int) float64 { return 250e-9 + 2e-9*float64(bytes) }

func (l *fake) Bcast(bytes, times int) (float64, error) {
	barrier, err := l.Collective("barrier", false, 0, times)
	return barrier + fakeBcast(bytes), err
}

func fakeBcast(bytes int) float64 { return 3 * (1e-6 + 1e-9*float64(bytes)) }

func (l *fake) Reduce(bytes, _ int) (float64, error) { return l.result(l.reduce * float64(bytes)) }

func (l *fake) LocalCopy(bytes, _ int) (float64, error) { return l.result(fakeCopy * float64(bytes)) }

const fakeCopy = 0.25e-9 // seconds for a byte

func (l *fake) Pause() { l.pauses++ }

func measured(t testing.TB, l *fake, runs int) Measurements {
	m, err := Measure(l, runs, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	m.Library = "fake"
	return m
}

func quiet(string) {}

// drawLogGP draws parameters of a network, in whole nanoseconds.
func drawLogGP(t *rapid.T, name string) LogGP {
	ns := func(field string, least, most int) float64 {
		return float64(rapid.IntRange(least, most).Draw(t, name+field)) * 1e-9
	}
	return LogGP{L: ns("L", 200, 5000), SendOverhead: ns("os", 1, 400), ReceiveOverhead: ns("or", 1, 400), Gap: ns("g", 1, 2000), GapPerByte: ns("G", 1, 20) / 10}
}

// On a link that follows LogGP the parameters are found again, both by the method and by
// the least squares: half of a two-way time is os + L + or + Gm.
func TestParametersAreFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &fake{nodes: []int{0, 0, 2}, intra: drawLogGP(t, "intra"), inter: drawLogGP(t, "inter"), reduce: 1e-9}
		m, err := Measure(l, 2, quiet)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s is %g, want %g", what, got, want)
			}
		}
		for name, pair := range map[string]struct {
			*Pair
			want LogGP
		}{"intra": {m.Intra, l.intra}, "inter": {m.Inter, l.inter}} {
			got, h := pair.LogGP(), Fit(pair.Delays)
			near(name+" os", got.SendOverhead, pair.want.SendOverhead)
			near(name+" or", got.ReceiveOverhead, pair.want.ReceiveOverhead)
			near(name+" g", got.Gap, pair.want.Gap)
			near(name+" G", got.GapPerByte, pair.want.GapPerByte)
			near(name+" L", got.L, pair.want.L+8*pair.want.GapPerByte) // the least message has eight bytes
			near(name+" α", h.Alpha, pair.want.SendOverhead+pair.want.L+pair.want.ReceiveOverhead)
			near(name+" β", h.Beta, pair.want.GapPerByte)
			if worst := h.Worst(pair.Delays); worst > 1e-6 {
				t.Errorf("%s: the line is off by %g", name, worst)
			}
		}
	})
}

// On the machine of the file a message takes what was measured, in both models: overheads
// and delay make half of the two-way time.
func TestMachineHasTheMeasuredTimes(t *testing.T) {
	for _, limit := range []int{0, 1, 4056, 64 << 10, 5 << 20} {
		for _, in := range [][2]bool{{false, false}, {true, false}, {true, true}} {
			t.Run(fmt.Sprint(limit, in), func(t *testing.T) { machineHasTheMeasuredTimes(t, limit, in[0], in[1]) })
		}
	}
}

// Broadcasts of processes that all share a node take the times that were measured.
func TestMachineHasTheMeasuredBroadcasts(t *testing.T) {
	l := &fake{nodes: []int{0, 0, 0}, reduce: 0.5e-9, intra: LogGP{L: 300e-9, SendOverhead: 100e-9, ReceiveOverhead: 80e-9, Gap: 150e-9, GapPerByte: 0.1e-9}}
	m := measured(t, l, 3)
	m.Processors = 2
	text, err := m.Machine("here", "table")
	if err != nil || !strings.Contains(string(text), "The 3 processes of a node shared 2 processors") {
		t.Fatalf("%v in\n%s", err, text)
	}
	machine, err := network.Parse("here.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := machine.Target(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range collectiveSizes {
		want := vtime.FromSeconds(fakeBcast(int(n)))
		if j := target.BcastJoins(3, n); j.In+j.Out-want > 1 || want-j.In-j.Out > 1 {
			t.Errorf("a broadcast of %d bytes takes %v + %v, measured was %v", n, j.In, j.Out, want)
		}
	}
}

func machineHasTheMeasuredTimes(t *testing.T, limit int, inCalls, inWaits bool) {
	l := &fake{nodes: []int{0, 0, 2, 2}, reduce: 0.5e-9, eagerLimit: limit, inCalls: inCalls, inWaits: inWaits,
		intra: LogGP{L: 300e-9, SendOverhead: 100e-9, ReceiveOverhead: 80e-9, Gap: 150e-9, GapPerByte: 0.1e-9},
		inter: LogGP{L: 1500e-9, SendOverhead: 120e-9, ReceiveOverhead: 90e-9, Gap: 400e-9, GapPerByte: 0.4e-9}}
	m := measured(t, l, 3)
	for _, model := range Models {
		if model == "hockney" && limit > 0 {
			continue // its line is of all sizes alike
		}
		text, err := m.Machine("here", model)
		if err != nil {
			t.Fatal(err)
		}
		machine, err := network.Parse("here.yaml", text, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", model, err, text)
		}
		target, err := machine.Target(4)
		if err != nil {
			t.Fatal(err)
		}
		o := target.Overhead()
		if o.Send != 120*vtime.Nanosecond || o.Receive != 90*vtime.Nanosecond || target.Gap() != 400*vtime.Nanosecond || target.ReduceTime(1000) != 500*vtime.Nanosecond || target.LocalCopyTime(1<<22) != vtime.FromSeconds(fakeCopy*(1<<22)) {
			t.Errorf("%s: overheads %v, gap %v, 1000 bytes reduced in %v, copied in %v\n%s", model, o, target.Gap(), target.ReduceTime(1000), target.LocalCopyTime(1000), text)
		}
		wantLimit := int64(math.MaxInt64)
		if limit > 0 {
			wantLimit = int64(limit)
		}
		if target.EagerLimit() != wantLimit || target.ProgressInCalls() != (limit > 0 && inCalls) || target.ProgressInWaits() != (limit > 0 && inCalls && inWaits) {
			t.Errorf("%s: eager limit %d, progress in calls %v, in waits %v\n%s", model, target.EagerLimit(), target.ProgressInCalls(), target.ProgressInWaits(), text)
		}
		sizes := DelaySizes()
		if limit > 0 {
			sizes = append(sizes, int64(limit), int64(limit+1), int64(3*limit/2))
		}
		for _, n := range sizes {
			for partner := 1; partner <= 2; partner++ {
				want := vtime.FromSeconds(l.delay(partner, max(int(n), l.least())))
				got := o.Send + target.Delay(0, partner, n) + o.Receive
				if n > wantLimit {
					got += target.Latency(0, partner) + target.Latency(partner, 0)
				}
				if off := math.Abs(float64(got-want)) / float64(want); off > 1e-6 {
					t.Errorf("%s: %d bytes to rank %d take %v, measured were %v", model, n, partner, got, want)
				}
			}
		}
		for _, c := range m.Near {
			want := vtime.FromSeconds(fakeJoin(int(c.Bytes)))
			if got := target.Join(c.Bytes); got-want > 1 || want-got > 1 {
				t.Errorf("%s: a join of %d bytes takes %v, measured was %v", model, c.Bytes, got, want)
			}
		}
		for _, c := range m.Collectives {
			if want := 3 * (1e-6 + 1e-9*float64(c.Bytes)); c.Operation == "bcast" && math.Abs(c.Seconds-want) > 1e-12 {
				t.Errorf("a bcast of %d bytes takes %g, to its last end it is %g", c.Bytes, c.Seconds, want)
			}
		}
		if len(m.Near) != 1+len(collectiveSizes) || len(m.Collectives) != 1+2*len(collectiveSizes) {
			t.Errorf("%d collectives of a node and %d of all", len(m.Near), len(m.Collectives))
		}
		for _, want := range []string{"# Joins: half of a barrier and of allreduces of 2 processes", "# Within a node, least squares", "# Between nodes, LogGP: L ", "fake; processes: 4, nodes: 2; the least of 3 runs or more", "ranks_per_node: 2"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q in\n%s", model, want, text)
			}
		}
	}
}

// One disturbed measurement has no part in the times of other sizes, nor does it stand where longer
// messages took less.
func TestDisturbedSizeIsAlone(t *testing.T) {
	l := &fake{nodes: []int{0, 0}, reduce: 0.5e-9, intra: LogGP{L: 300e-9, SendOverhead: 100e-9, ReceiveOverhead: 80e-9, Gap: 150e-9, GapPerByte: 0.01e-9}}
	m := measured(t, l, 1)
	for _, disturbed := range []int{0, 3} {
		clean := m.Intra.Delays[disturbed].Seconds
		m.Intra.Delays[disturbed].Seconds *= 1.4
		text, err := m.Machine("here", "table")
		if err != nil {
			t.Fatal(err)
		}
		if m.Intra.Delays[disturbed].Seconds != 1.4*clean {
			t.Errorf("the measurement of %d bytes has changed", m.Intra.Delays[disturbed].Bytes)
		}
		m.Intra.Delays[disturbed].Seconds = clean
		machine, err := network.Parse("here.yaml", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := machine.Target(2)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range m.Intra.Delays {
			want := p.Seconds
			if i == disturbed {
				want = m.Intra.Delays[i+1].Seconds
			}
			got := (target.Overhead().Send + target.Delay(0, 1, p.Bytes) + target.Overhead().Receive).Seconds()
			if math.Abs(got/want-1) > 1e-4 {
				t.Errorf("with a disturbed ping-pong of %d bytes, %d bytes take %g, want %g", m.Intra.Delays[disturbed].Bytes, p.Bytes, got, want)
			}
		}
	}
}

// Whatever is measured gives a machine file: noisy times, overheads beyond the delay, and
// one pair only.
func TestNoisyMeasurementsMakeAMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &fake{nodes: rapid.SampledFrom([][]int{{0, 0}, {0, 1}, {0, 1, 0, 1}, {0, 0, 0}}).Draw(t, "nodes"),
			intra: drawLogGP(t, "intra"), inter: drawLogGP(t, "inter"), reduce: 1e-9}
		l.noise = func() float64 { return float64(rapid.IntRange(0, 10_000).Draw(t, "noise")) * 1e-9 }
		m, err := Measure(l, 1, quiet)
		if err != nil {
			t.Fatal(err)
		}
		m.Library = "fake \"v1\": #2"
		for _, model := range Models {
			text, err := m.Machine("here", model)
			if err == nil {
				_, err = network.Parse("here", text, nil)
			}
			if err != nil {
				t.Fatalf("%s: %v", model, err)
			}
		}
	})
}

// The least of the runs counts, and all are kept.
func TestLeastOfRuns(t *testing.T) {
	l := &fake{nodes: []int{0, 0}, intra: LogGP{L: 1e-6, Gap: 1e-6}, reduce: 1e-9}
	left := 0
	defer func() {
		if l.pauses != 4*2 { // of delays, overheads, collectives and bcasts, between three runs
			t.Errorf("%d pauses", l.pauses)
		}
	}()
	l.noise = func() float64 { left++; return []float64{5, 3, 9}[left%3] * 1e-6 }
	for _, p := range measured(t, l, 3).Intra.Delays {
		want := 3
		switch {
		case p.Bytes >= 1<<20:
			want = 9
		case p.Bytes <= 1<<10:
			want = 15
		}
		if len(p.Runs) != want || math.Abs(p.Seconds-4e-6) > 1e-12 || math.Abs(p.Most()-10e-6) > 1e-12 {
			t.Fatalf("the runs are %v, the figure %v", p.Runs, p.Seconds)
		}
	}
}

// Of long messages and copies out of memory the median of the runs counts.
func TestMedianOfColdRuns(t *testing.T) {
	l := &fake{nodes: []int{0, 0}, cold: true, intra: LogGP{L: 1e-6, Gap: 1e-6}, reduce: 1e-9}
	left := 0
	l.noise = func() float64 { left++; return []float64{5, 3, 9}[left%3] * 1e-6 }
	m := measured(t, l, 3)
	for _, p := range slices.Concat(m.Intra.Delays, m.LocalCopies) {
		want := slices.Min(p.Runs)
		if p.Bytes >= 1<<20 {
			want = median(p.Runs)
		}
		if p.Seconds != want {
			t.Errorf("%d bytes: the runs are %v, the figure %v", p.Bytes, p.Runs, p.Seconds)
		}
	}
	if !m.Cold || m.Reduce.Seconds != slices.Min(m.Reduce.Runs) {
		t.Errorf("cold %v, the sum takes %v of %v", m.Cold, m.Reduce.Seconds, m.Reduce.Runs)
	}
}

// The partner is the least process beside process 0, on its node and on another one.
func TestPartners(t *testing.T) {
	for _, c := range []struct {
		nodes        []int
		intra, inter int
	}{{[]int{0}, 0, 0}, {[]int{0, 0}, 1, 0}, {[]int{0, 1}, 0, 1}, {[]int{0, 1, 0, 1}, 2, 1}, {[]int{0, 0, 0, 3}, 1, 3}} {
		if intra, inter := partners(c.nodes); intra != c.intra || inter != c.inter {
			t.Errorf("nodes %v: partners %d and %d, want %d and %d", c.nodes, intra, inter, c.intra, c.inter)
		}
	}
	if _, err := Measure(&fake{nodes: []int{0}}, 1, quiet); err == nil || !strings.Contains(err.Error(), "mpirun -n 2") {
		t.Errorf("one process: %v", err)
	}
}

// An error of the link ends the measurements.
func TestFailureOfTheLink(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Measure(&fake{nodes: []int{0, 0}, failure: broken}, 2, quiet); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

// The line has the least weighted squares: no line beside it has less.
func TestFitIsTheLeast(t *testing.T) {
	points := []Point{{Bytes: 8, Seconds: 1e-6}, {Bytes: 1 << 10, Seconds: 3e-6}, {Bytes: 1 << 20, Seconds: 200e-6}, {Bytes: 16 << 20, Seconds: 5e-3}}
	squares := func(h Hockney) (sum float64) {
		for _, p := range points {
			e := (h.Alpha+h.Beta*float64(p.Bytes))/p.Seconds - 1
			sum += e * e
		}
		return sum
	}
	best := Fit(points)
	for _, da := range []float64{-0.01, 0, 0.01} {
		for _, db := range []float64{-0.01, 0, 0.01} {
			if other := (Hockney{best.Alpha * (1 + da), best.Beta * (1 + db)}); squares(other) < squares(best) {
				t.Errorf("%+v has %g, %+v has %g", other, squares(other), best, squares(best))
			}
		}
	}
	if h := Fit([]Point{{Bytes: 8, Seconds: 2}, {Bytes: 16, Seconds: 1}}); h.Beta != 0 || h.Alpha <= 0 {
		t.Errorf("falling times give %+v", h)
	}
}

// Of several jobs the medians count, without those that are slower as a whole.
func TestCombineJobs(t *testing.T) {
	slowed := func(factor float64) Measurements {
		l := &fake{nodes: []int{0, 0}, intra: LogGP{L: factor * 1e-6, SendOverhead: factor * 1e-7, ReceiveOverhead: factor * 1e-7, Gap: factor * 1e-6, GapPerByte: factor * 1e-9}, reduce: factor * 1e-9}
		m := measured(t, l, 1)
		for i := range m.Collectives {
			m.Collectives[i].Seconds = factor * 1e-6
		}
		for i := range m.LocalCopies {
			m.LocalCopies[i].Seconds = factor * 1e-3
		}
		m.Near = nil
		return m
	}
	m, err := Combine([]Measurements{slowed(1), slowed(2.5), slowed(1.1), slowed(1.04)}, Disturbed, 3)
	if err != nil {
		t.Fatal(err)
	}
	least := slowed(1)
	for i, p := range m.points() {
		if got := p.Seconds / least.points()[i].Seconds; math.Abs(got-1.04) > 1e-9 || len(p.Runs) < 3 {
			t.Errorf("figure %d is %v of the least in %d runs, want 1.04", i, got, len(p.Runs))
		}
	}
	if m.Jobs.Kept != 3 || math.Abs(m.Jobs.Slowness[1]-2.5) > 1e-9 || math.Abs(m.Jobs.Spread-0.1) > 1e-9 {
		t.Errorf("jobs: %+v", m.Jobs)
	}
	for _, disturbed := range [][]Measurements{{slowed(1), slowed(2)}, {slowed(1), slowed(2), slowed(1), slowed(2)}} {
		if _, err := Combine(disturbed, Disturbed, Majority(len(disturbed))); err == nil || !strings.Contains(err.Error(), "1.00, 2.00") {
			t.Errorf("error %v, want one that names 1.00 and 2.00", err)
		}
	}
	if m, err := Combine([]Measurements{slowed(2), slowed(1), slowed(3), slowed(1.04), slowed(2), slowed(3), slowed(1.1)}, Disturbed, Majority(5)); err != nil || m.Jobs.Kept != 3 {
		t.Errorf("three quick jobs of seven: %v", err)
	}
	if m, err := Combine([]Measurements{slowed(1), slowed(2)}, 3, 2); err != nil || m.Jobs.Kept != 2 {
		t.Errorf("two jobs within 3: %v", err)
	}
}

// A job in which only ping-pongs of short messages are slow was disturbed, though most of its figures
// are of other kinds. So was one in which only those of long messages are.
func TestJobsOfSlowPingPongs(t *testing.T) {
	slowed := func(slow func(bytes int64) bool) Measurements {
		m := measured(t, &fake{nodes: []int{0, 0}, intra: LogGP{L: 1e-6, SendOverhead: 1e-7, ReceiveOverhead: 1e-7, Gap: 1e-6, GapPerByte: 1e-9}, reduce: 1e-9}, 1)
		for i := range m.LocalCopies {
			m.LocalCopies[i].Seconds = 1e-3
		}
		for i := range m.Collectives {
			m.Collectives[i].Seconds = 1e-6
		}
		m.Near = nil
		for i := range m.Intra.Delays {
			if p := &m.Intra.Delays[i]; slow(p.Bytes) {
				p.Seconds *= 3
			}
		}
		return m
	}
	none := func(int64) bool { return false }
	for name, slow := range map[string]func(bytes int64) bool{
		"short": func(bytes int64) bool { return bytes <= 2<<10 },
		"long":  func(bytes int64) bool { return bytes >= 64<<10 },
	} {
		m, err := Combine([]Measurements{slowed(none), slowed(slow), slowed(none)}, Disturbed, 2)
		if err != nil {
			t.Fatal(err)
		}
		if m.Jobs.Kept != 2 || math.Abs(m.Jobs.Slowness[1]-3) > 1e-9 {
			t.Errorf("%s messages three times slower in the second of three jobs: %+v", name, m.Jobs)
		}
		if _, err := Combine([]Measurements{slowed(slow), slowed(none), slowed(slow)}, Disturbed, 2); err == nil {
			t.Errorf("%s messages three times slower in two of three jobs: no error", name)
		}
	}
}

// Ratios of short messages and of long ones have medians of their own, and either alone tells.
func TestRatios(t *testing.T) {
	sizes := []int64{8, 64, ShortMost, ShortMost + 1, 1 << 20}
	for _, c := range []struct {
		ratios      []float64
		short, long float64
		differ      bool
	}{
		{[]float64{1, 1.1, 9, 1.1, 1.3}, 1.1, 1.2, false},
		{[]float64{3, 2, 1, 1, 1}, 2, 1, true},
		{[]float64{1, 1, 1, 0.7, 0.7}, 1, 0.7, true},
	} {
		r := RatiosOf(sizes, c.ratios)
		if math.Abs(r.Short-c.short) > 1e-9 || math.Abs(r.Long-c.long) > 1e-9 || r.Differ() != c.differ {
			t.Errorf("%v: %+v, differ: %v", c.ratios, r, r.Differ())
		}
	}
	if r := RatiosOf(sizes[:1], []float64{2}); r != (Ratios{2, 1}) {
		t.Errorf("no long message: %+v", r)
	}
}

// Most jobs say which messages wait for a late receiver. Those that say otherwise were disturbed.
func TestJobsAgreeOnTheEagerLimit(t *testing.T) {
	job := func(limit int, inCalls bool, seconds float64) *Rendezvous {
		if limit == 0 {
			return nil
		}
		l := &fake{nodes: []int{0, 0}, intra: LogGP{L: seconds}, eagerLimit: limit, inCalls: inCalls}
		return measured(t, l, 1).Intra.Rendezvous
	}
	for _, c := range []struct {
		jobs    []*Rendezvous
		limit   int64 // 0 for none
		inCalls bool
		edge    float64
	}{
		{jobs: []*Rendezvous{job(0, false, 1e-6), job(4096, true, 1e-6), job(0, false, 1e-6)}},
		{jobs: []*Rendezvous{job(0, false, 1e-6), job(4096, true, 2e-6), job(4096, true, 3e-6), job(2048, true, 1e-6), job(4096, false, 7e-6)}, limit: 4096, inCalls: true, edge: 3e-6},
		{jobs: []*Rendezvous{job(100, false, 1e-6)}, limit: 100, edge: 1e-6},
		{jobs: []*Rendezvous{job(4064, false, 1e-6), job(2048, false, 2e-6), job(4040, false, 3e-6)}, limit: 4040, edge: 3e-6},
	} {
		got := agreed(c.jobs)
		if c.limit == 0 {
			if got != nil {
				t.Errorf("%+v, want no limit", got)
			}
			continue
		}
		if got == nil || got.EagerLimit != c.limit || got.InCalls != c.inCalls || len(got.Edge) != 2 || got.Edge[0].Bytes != c.limit || got.Edge[1].Bytes != c.limit+1 ||
			math.Abs(got.Edge[0].Seconds-c.edge) > 1e-12 || math.Abs(got.Edge[1].Seconds-3*c.edge) > 1e-12 {
			t.Errorf("%+v, want limit %d", got, c.limit)
		}
	}
}
