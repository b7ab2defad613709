package stats

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"gigarank/vtime"
)

// Tally stores the times that the ranks of one engine report. The zero value is empty and takes in
// other tallies by Merge or Read; ranks report only to a tally that is started.
type Tally struct {
	// Progressed is called when all ranks of the engine have recorded an operation, with the number
	// of iterations up to it. It may be nil.
	Progressed func(iterations int)

	finishes   distribution // of finish times
	finishRun  vtime.Time   // finish time of the latest ranks, added up when it changes
	finishing  uint64       // number of these ranks
	operations []*operationTally
	ranks      uint64 // of the engine
	now        func() float64
	iterations []iterationTally
	latest     int     // index in iterations of the one recorded last
	wall       float64 // end of the previous iteration
	began      float64
	setUp      float64
}

// iterationTally summarises one operation of one iteration. Successive ranks that record equal
// times are a run, which is added up when it ends.
type iterationTally struct {
	moments
	index     int
	operation *operationTally
	run       vtime.Duration // time that the ranks of the run recorded
	missing   uint64         // ranks of the engine that have not recorded it
	runFrom   uint64         // value of missing when the run began
	wall      float64
}

// operationTally counts the times of an operation over all iterations.
type operationTally struct {
	name   string
	times  histogram
	places []int32 // by index: place of its entry in iterations
}

// moments hold the extremes, the sum and the number of times.
type moments struct {
	min, max vtime.Duration
	sumHigh  uint64
	sumLow   uint64
	count    uint64
}

// distribution holds moments and a histogram of the same times.
type distribution struct {
	moments
	histogram
}

func (d *distribution) addRun(t vtime.Duration, n uint64) {
	d.moments.addRun(t, n)
	d.add(uint64(t), n)
}

// Start prepares the tally of an engine with a number of ranks. now reads the wall clock in
// seconds; without it wall times are 0.
func (t *Tally) Start(ranks int, now func() float64) {
	t.ranks = uint64(ranks)
	t.now = now
	if t.now == nil {
		t.now = func() float64 { return 0 }
	}
	t.wall = t.now()
	t.began = t.wall
}

// Since sets an earlier beginning of the set-up than Start.
func (t *Tally) Since(began float64) { t.began = began }

// Begin records that the first rank is about to run.
func (t *Tally) Begin() {
	t.wall = t.now()
	t.setUp = between(t.began, t.wall)
}

// between returns the seconds between two instants, to the nanosecond: the difference of the
// floats has digits that no clock gives.
func between(from, to float64) float64 { return math.Round((to-from)*1e9) / 1e9 }

// Finish records the finish time of one rank.
func (t *Tally) Finish(at vtime.Time) {
	if at != t.finishRun {
		t.nextFinishes(at)
	}
	t.finishing++
}

// nextFinishes starts a run of finishes at another time. It is not inlined, so that Finish can be.
//
//go:noinline
func (t *Tally) nextFinishes(at vtime.Time) {
	t.endFinishes()
	t.finishRun = at
}

// ForgetFinishes removes all finish times.
func (t *Tally) ForgetFinishes() { t.finishes, t.finishing = distribution{}, 0 }

// endFinishes adds up the finishes of a run.
func (t *Tally) endFinishes() {
	if t.finishing > 0 {
		t.finishes.addRun(vtime.Duration(t.finishRun), t.finishing)
	}
	t.finishing = 0
}

// Record records one rank's time of an operation.
func (t *Tally) Record(index int, operation string, d vtime.Duration) {
	t.Note(t.Label(index, operation), d)
}

// Untimed stands for no label.
const Untimed = -1

// Label returns the label of an operation of an iteration: its place in iterations.
func (t *Tally) Label(index int, operation string) int32 {
	at := t.latest
	if at < len(t.iterations) && t.iterations[at].index != index {
		at++
	}
	if at < len(t.iterations) {
		if it := &t.iterations[at]; it.index == index && same(it.operation.name, operation) {
			t.latest = at
			return int32(at)
		}
	}
	return int32(t.find(index, operation))
}

// Note records one rank's time under a label.
func (t *Tally) Note(label int32, d vtime.Duration) {
	it := &t.iterations[label]
	if d != it.run {
		it.endRun()
		it.run = d
	}
	if it.missing--; it.missing == 0 {
		t.complete(it)
	}
}

// NoteSame records n equal times under a label.
func (t *Tally) NoteSame(label int32, d vtime.Duration, n uint64) {
	it := &t.iterations[label]
	if d != it.run {
		it.endRun()
		it.run = d
	}
	it.missing -= n
	if it.missing == 0 {
		t.complete(it)
	}
}

// same is a == b; it is quick for identical strings, such as constants.
func same(a, b string) bool {
	return len(a) == len(b) && (unsafe.StringData(a) == unsafe.StringData(b) || a == b)
}

// complete records that all ranks of the engine have recorded an operation.
func (t *Tally) complete(it *iterationTally) {
	now := t.now()
	it.wall, t.wall = between(t.wall, now), now
	if t.Progressed != nil {
		t.Progressed(it.index + 1)
	}
}

// endRun adds up the run.
func (it *iterationTally) endRun() {
	n := it.runFrom - it.missing
	it.runFrom = it.missing
	if n == 0 {
		return
	}
	it.addRun(it.run, n)
	it.operation.times.add(uint64(it.run), n)
}

// find is Label for an operation other than the latest. It first tries the operation after the
// latest. It appends a new operation.
func (t *Tally) find(index int, operation string) int {
	if next := t.latest + 1; next < len(t.iterations) {
		if it := &t.iterations[next]; it.index == index && same(it.operation.name, operation) {
			t.latest = next
			return next
		}
	}
	o := t.operation(operation)
	if uint(index) < uint(len(o.places)) { // most programs number their iterations from 0
		if place := int(o.places[index]); t.iterations[place].index == index {
			t.latest = place
			return place
		}
	}
	at, known := slices.BinarySearchFunc(o.places, index, func(place int32, index int) int {
		return cmp.Compare(t.iterations[place].index, index)
	})
	if !known {
		o.places = slices.Insert(o.places, at, int32(len(t.iterations)))
		t.iterations = append(t.iterations, iterationTally{index: index, operation: o, missing: t.ranks, runFrom: t.ranks})
	}
	t.latest = int(o.places[at])
	return t.latest
}

// operation returns the tally of an operation over all iterations. It makes a missing tally.
func (t *Tally) operation(name string) *operationTally {
	for _, o := range t.operations {
		if same(o.name, name) {
			return o
		}
	}
	o := &operationTally{name: name}
	t.operations = append(t.operations, o)
	return o
}

// note adds a time.
func (m *moments) note(d vtime.Duration) {
	if d < m.min || d > m.max || m.count == 0 {
		m.addRun(d, 1)
		return
	}
	var carry uint64
	m.sumLow, carry = bits.Add64(m.sumLow, uint64(d), 0)
	m.sumHigh += carry
	m.count++
}

// addRun adds n equal times.
func (m *moments) addRun(d vtime.Duration, n uint64) {
	high, low := bits.Mul64(uint64(d), n)
	m.merge(&moments{min: d, max: d, sumHigh: high, sumLow: low, count: n})
}

func (m *moments) merge(o *moments) {
	if m.count == 0 || o.count > 0 && o.min < m.min {
		m.min = o.min
	}
	if m.count == 0 || o.count > 0 && o.max > m.max {
		m.max = o.max
	}
	var carry uint64
	m.sumLow, carry = bits.Add64(m.sumLow, o.sumLow, 0)
	m.sumHigh += o.sumHigh + carry
	m.count += o.count
}

func (m *moments) mean() vtime.Duration {
	if m.count == 0 {
		return 0
	}
	quotient, _ := bits.Div64(m.sumHigh%m.count, m.sumLow, m.count)
	return vtime.Duration(quotient)
}

// Settle ends all runs, so that the sums include all reported times.
func (t *Tally) Settle() {
	for i := range t.iterations {
		t.iterations[i].endRun()
	}
	t.endFinishes()
}

// Merge adds the tally of another engine. Both must be settled.
func (t *Tally) Merge(o *Tally) {
	t.setUp = max(t.setUp, o.setUp)
	t.finishes.moments.merge(&o.finishes.moments)
	t.finishes.histogram.merge(&o.finishes.histogram)
	for _, other := range o.operations {
		t.operation(other.name).times.merge(&other.times)
	}
	t.iterations = slices.Grow(t.iterations, max(len(o.iterations)-len(t.iterations), 0))
	for i := range o.iterations {
		other := &o.iterations[i]
		it := &t.iterations[t.Label(other.index, other.operation.name)]
		it.merge(&other.moments)
		it.wall = max(it.wall, other.wall)
	}
}
