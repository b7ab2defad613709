package mpivirt

import (
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
	index     int
	operation string
	min, max  vtime.Duration
	sumHigh   uint64
	sumLow    uint64
	count     uint64
	run       vtime.Duration // length that the run's ranks recorded
	missing   uint64         // ranks of the engine that have not recorded it
	runFrom   uint64         // what was missing when the run began
	wall      float64
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
	if t.Finished%64 == 0 {
		t.ended.Add(64)
	}
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
		if it := &t.iterations[t.latest]; it.index == index && same(it.operation, operation) {
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
	high, low := bits.Mul64(uint64(it.run), n)
	it.add(&iterationTally{min: it.run, max: it.run, sumHigh: high, sumLow: low, count: n})
}

// find is label without a guess. Ranks mostly record the operation recorded last or
// the one after it; a new one is put at the end.
func (t *tally) find(index int, operation string) int {
	is := func(it iterationTally) bool { return it.index == index && it.operation == operation }
	if next := t.latest + 1; next < len(t.iterations) && is(t.iterations[next]) {
		t.latest = next
	} else if t.latest = slices.IndexFunc(t.iterations, is); t.latest < 0 {
		t.latest = len(t.iterations)
		t.iterations = append(t.iterations, iterationTally{index: index, operation: operation, missing: t.ranks, runFrom: t.ranks})
	}
	return t.latest
}

func (it *iterationTally) add(o *iterationTally) {
	if it.count == 0 || o.count > 0 && o.min < it.min {
		it.min = o.min
	}
	if it.count == 0 || o.count > 0 && o.max > it.max {
		it.max = o.max
	}
	var carry uint64
	it.sumLow, carry = bits.Add64(it.sumLow, o.sumLow, 0)
	it.sumHigh += o.sumHigh + carry
	it.count += o.count
	it.wall = max(it.wall, o.wall)
}

func (it *iterationTally) mean() vtime.Duration {
	if it.count == 0 {
		return 0
	}
	quotient, _ := bits.Div64(it.sumHigh%it.count, it.sumLow, it.count)
	return vtime.Duration(quotient)
}

// settle ends all runs: from here on the sums are right.
func (t *tally) settle() {
	for i := range t.iterations {
		t.iterations[i].endRun()
	}
}

// merge adds what another engine kept. Both are settled.
func (t *tally) merge(o *tally) {
	t.Merge(&o.Digest)
	t.setUp = max(t.setUp, o.setUp)
	for i := range o.iterations {
		other := &o.iterations[i]
		t.iterations[t.label(other.index, other.operation)].add(other)
	}
}

// result returns the tally of all engines as the result of a simulation.
func (t *tally) result(s engine.Statistics) *Result {
	r := &Result{
		VirtualTime: t.Last, Finished: t.Finished, Statistics: s, SetupWall: t.setUp,
		Fingerprint: t.String(),
	}
	for i := range t.iterations {
		it := &t.iterations[i]
		r.Iterations = append(r.Iterations, Iteration{
			Index: it.index, Operation: it.operation, Min: it.min, Max: it.max, Mean: it.mean(), Count: it.count, Wall: it.wall,
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

// encode packs a tally and the engine's statistics for engine 0.
func (t *tally) encode(s engine.Statistics) []byte {
	b := s.Append(t.Append(nil))
	b = appendWords(b, secondsToWord(t.setUp), uint64(len(t.iterations)))
	for i := range t.iterations {
		it := &t.iterations[i]
		b = appendWords(b, uint64(it.index), uint64(it.min), uint64(it.max), it.sumHigh, it.sumLow, it.count,
			secondsToWord(it.wall), uint64(len(it.operation)))
		b = append(b, it.operation...)
	}
	return b
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
	t.setUp = wordToSeconds(r.u64())
	for range r.u64() {
		it := iterationTally{index: int(r.u64()), min: vtime.Duration(r.u64()), max: vtime.Duration(r.u64()),
			sumHigh: r.u64(), sumLow: r.u64(), count: r.u64(), wall: wordToSeconds(r.u64())}
		n := r.u64()
		it.operation = string(r.b[:n])
		r.b = r.b[n:]
		t.iterations = append(t.iterations, it)
	}
	return t, s, r.b
}
