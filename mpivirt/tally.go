package mpivirt

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"gigarank/engine"
	"gigarank/vtime"
)

// tally keeps what is reported of an engine's ranks, in space that does not grow
// with their number.
type tally struct {
	engine.Digest // of the ranks that have finished

	finishes   distribution // of their finish times
	finishRun  vtime.Time   // finish of the last ranks, which is summed up when it changes
	finishing  uint64       // how many these are
	operations []*operationTally
	ranks      uint64 // of the engine
	now        func() float64
	iterations []iterationTally
	latest     int     // of iterations: the one recorded last
	wall       float64 // when the iteration before was complete
	began      float64
	setUp      float64
	progressed func(iterations int)
	ended      *atomic.Int64 // ranks finished, for other goroutines to read
}

// iterationTally sums up one operation of one iteration. Ranks that record the same
// length one after another are a run; it is summed up when it ends.
type iterationTally struct {
	moments
	index     int
	operation *operationTally
	run       vtime.Duration // length that the run's ranks recorded
	missing   uint64         // ranks of the engine that have not recorded it
	runFrom   uint64         // what was missing when the run began
	wall      float64
}

// operationTally counts the times of an operation over all iterations.
type operationTally struct {
	name   string
	times  histogram
	places []int32 // of its entries in iterations, by index
}

// moments sum times up.
type moments struct {
	min, max vtime.Duration
	sumHigh  uint64
	sumLow   uint64
	count    uint64
}

// distribution sums times up and counts them.
type distribution struct {
	moments
	histogram
}

func (d *distribution) addRun(t vtime.Duration, n uint64) {
	d.moments.addRun(t, n)
	d.add(uint64(t), n)
}

func (t *tally) start(c *Config, ranks int) {
	t.ranks = uint64(ranks)
	t.now = c.Now
	if t.now == nil {
		t.now = func() float64 { return 0 }
	}
	t.wall = t.now()
	t.began = t.wall
}

func (t *tally) finish(rank int, at vtime.Time) {
	t.Add(rank, at)
	if at != t.finishRun {
		t.endFinishes()
		t.finishRun = at
	}
	t.finishing++
	if t.Finished%64 == 0 {
		t.ended.Add(64)
	}
}

// forgetFinishes forgets which ranks have finished.
func (t *tally) forgetFinishes() {
	t.Digest, t.finishes, t.finishing = engine.Digest{}, distribution{}, 0
}

// endFinishes sums the finishes at one time up.
func (t *tally) endFinishes() {
	if t.finishing > 0 {
		t.finishes.addRun(vtime.Duration(t.finishRun), t.finishing)
	}
	t.finishing = 0
}

// record enters one rank's operation.
func (t *tally) record(index int, operation string, d vtime.Duration) {
	t.note(t.label(index, operation), d)
}

// untimed is no label.
const untimed = -1

// label returns the place of an operation of an iteration in iterations.
func (t *tally) label(index int, operation string) int32 {
	if t.latest < len(t.iterations) {
		if it := &t.iterations[t.latest]; it.index == index && same(it.operation.name, operation) {
			return int32(t.latest)
		}
	}
	return int32(t.find(index, operation))
}

// note enters one rank's operation under its label.
func (t *tally) note(label int32, d vtime.Duration) { t.noteSame(label, d, 1) }

// noteSame enters the operations of n ranks, which took equally long.
func (t *tally) noteSame(label int32, d vtime.Duration, n uint64) {
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

// same is a == b; it is quick for one and the same string, as constants are.
func same(a, b string) bool {
	return len(a) == len(b) && (unsafe.StringData(a) == unsafe.StringData(b) || a == b)
}

// complete notes that all ranks of the engine have recorded an operation.
func (t *tally) complete(it *iterationTally) {
	now := t.now()
	it.wall, t.wall = now-t.wall, now
	if t.progressed != nil {
		t.progressed(it.index + 1)
	}
}

// endRun sums up the run.
func (it *iterationTally) endRun() {
	n := it.runFrom - it.missing
	it.runFrom = it.missing
	if n == 0 {
		return
	}
	it.addRun(it.run, n)
	it.operation.times.add(uint64(it.run), n)
}

// find is label without a guess. Ranks mostly record the operation recorded last or
// the one after it; a new one is put at the end.
func (t *tally) find(index int, operation string) int {
	if next := t.latest + 1; next < len(t.iterations) {
		if it := &t.iterations[next]; it.index == index && it.operation.name == operation {
			t.latest = next
			return next
		}
	}
	o := t.operation(operation)
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

// operation returns the tally of an operation over all iterations.
func (t *tally) operation(name string) *operationTally {
	for _, o := range t.operations {
		if o.name == name {
			return o
		}
	}
	o := &operationTally{name: name}
	t.operations = append(t.operations, o)
	return o
}

// addRun adds n times of the same length.
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

func (d *distribution) result() Distribution {
	return Distribution{Min: d.min, Mean: d.mean(), Max: d.max, Histogram: d.histogram.result()}
}

// settle ends all runs: from here on the sums are right.
func (t *tally) settle() {
	for i := range t.iterations {
		t.iterations[i].endRun()
	}
	t.endFinishes()
}

// merge adds what another engine kept. Both are settled.
func (t *tally) merge(o *tally) {
	t.Merge(&o.Digest)
	t.setUp = max(t.setUp, o.setUp)
	t.finishes.moments.merge(&o.finishes.moments)
	t.finishes.histogram.merge(&o.finishes.histogram)
	for _, other := range o.operations {
		t.operation(other.name).times.merge(&other.times)
	}
	t.iterations = slices.Grow(t.iterations, max(len(o.iterations)-len(t.iterations), 0))
	for i := range o.iterations {
		other := &o.iterations[i]
		it := &t.iterations[t.label(other.index, other.operation.name)]
		it.merge(&other.moments)
		it.wall = max(it.wall, other.wall)
	}
}

// result returns the tally of all engines as the result of a simulation.
func (t *tally) result(s engine.Statistics) *Result {
	r := &Result{
		VirtualTime: t.Last, Finished: t.Finished, Statistics: s, SetupWall: t.setUp,
		Fingerprint: t.String(), Finish: t.finishes.result(),
	}
	for _, o := range t.operations {
		r.Operations = append(r.Operations, OperationTimes{o.name, o.times.result()})
	}
	slices.SortFunc(r.Operations, func(a, b OperationTimes) int { return strings.Compare(a.Operation, b.Operation) })
	r.Iterations = make([]Iteration, 0, len(t.iterations))
	for i := range t.iterations {
		it := &t.iterations[i]
		r.Iterations = append(r.Iterations, Iteration{
			Index: it.index, Operation: it.operation.name, Min: it.min, Max: it.max, Mean: it.mean(), Count: it.count, Wall: it.wall,
		})
	}
	slices.SortStableFunc(r.Iterations, func(a, b Iteration) int {
		if a.Index != b.Index {
			return a.Index - b.Index
		}
		return strings.Compare(a.Operation, b.Operation)
	})
	return r
}

// iterationWords is the length of an iteration as encode packs it.
const iterationWords = 8

// encode packs a tally and the engine's statistics for engine 0.
func (t *tally) encode(s engine.Statistics) []byte {
	b := s.Append(t.Append(nil))
	b = t.finishes.histogram.append(t.finishes.moments.append(b))
	b = appendWords(b, secondsToWord(t.setUp), uint64(len(t.operations)), uint64(len(t.iterations)))
	for _, o := range t.operations {
		b = append(appendWords(b, uint64(len(o.name))), o.name...)
		b = o.times.append(b)
	}
	b = slices.Grow(b, iterationWords*8*len(t.iterations))
	for i := range t.iterations {
		it := &t.iterations[i]
		b = appendWords(b, uint64(it.index), uint64(slices.Index(t.operations, it.operation)), secondsToWord(it.wall))
		b = it.moments.append(b)
	}
	return b
}

// append packs the moments.
func (m *moments) append(b []byte) []byte {
	return appendWords(b, uint64(m.min), uint64(m.max), m.sumHigh, m.sumLow, m.count)
}

// read unpacks what append has packed.
func (m *moments) read(r *reader) {
	m.min, m.max, m.sumHigh, m.sumLow, m.count = vtime.Duration(r.u64()), vtime.Duration(r.u64()), r.u64(), r.u64(), r.u64()
}

func appendWords(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// secondsToWord keeps nanoseconds: wall times are reported, never computed with.
func secondsToWord(s float64) uint64 { return uint64(int64(s * 1e9)) }
func wordToSeconds(w uint64) float64 { return float64(int64(w)) / 1e9 }

// decodeTally unpacks what encode packed.
func decodeTally(b []byte) (t *tally, s engine.Statistics, rest []byte) {
	t = &tally{}
	r := reader{s.Read(t.Read(b))}
	t.finishes.moments.read(&r)
	t.finishes.histogram.read(&r)
	t.setUp = wordToSeconds(r.u64())
	operations, iterations := r.u64(), r.u64()
	for range operations {
		n := r.u64()
		o := &operationTally{name: string(r.b[:n])}
		r.b = r.b[n:]
		o.times.read(&r)
		t.operations = append(t.operations, o)
	}
	t.iterations = make([]iterationTally, 0, iterations)
	for range iterations {
		it := iterationTally{index: int(r.u64()), operation: t.operations[r.u64()], wall: wordToSeconds(r.u64())}
		it.moments.read(&r)
		t.iterations = append(t.iterations, it)
	}
	return t, s, r.b
}
