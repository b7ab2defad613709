package mpivirt

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"gigarank/engine"
	"gigarank/vtime"
)

// tally keeps what is reported of an engine's ranks, in space that does not grow
// with their number.
type tally struct {
	engine.Digest // of the ranks that have finished

	now        func() float64
	iterations []iterationTally
	current    *iterationTally // of iterations: the one recorded last
	latest     int             // the iteration recorded last
	wall       float64         // when the iteration before was complete
	began      float64
	setUp      float64
	progressed func(iterations int)
	ended      *atomic.Int64 // ranks finished, for other goroutines to read
}

// iterationTally sums up one operation of one iteration.
type iterationTally struct {
	index     int
	operation string
	min, max  vtime.Duration
	sumHigh   uint64
	sumLow    uint64
	count     uint64
	wall      float64
}

func (t *tally) start(c *Config) {
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

// record enters one rank's operation; all is the number of the engine's ranks.
func (t *tally) record(index int, operation string, d vtime.Duration, all int) {
	it := t.current
	if it == nil || it.index != index || it.operation != operation {
		it = t.find(index, operation)
		t.current = it
	}
	if it.count == 0 || d < it.min {
		it.min = d
	}
	if it.count == 0 || d > it.max {
		it.max = d
	}
	var carry uint64
	it.sumLow, carry = bits.Add64(it.sumLow, uint64(d), 0)
	it.sumHigh += carry
	it.count++
	if it.count == uint64(all) {
		now := t.now()
		it.wall, t.wall = now-t.wall, now
		if t.progressed != nil {
			t.progressed(index + 1)
		}
	}
}

// find returns the tally of an operation of an iteration. Ranks mostly record the
// one recorded last or the one after it.
func (t *tally) find(index int, operation string) *iterationTally {
	for i := t.latest; i < min(t.latest+2, len(t.iterations)); i++ {
		if it := &t.iterations[i]; it.index == index && it.operation == operation {
			t.latest = i
			return it
		}
	}
	return t.search(index, operation)
}

func (t *tally) search(index int, operation string) *iterationTally {
	for i := len(t.iterations) - 1; i >= 0; i-- {
		if it := &t.iterations[i]; it.index == index && it.operation == operation {
			t.latest = i
			return it
		}
	}
	t.latest = len(t.iterations)
	t.current = nil
	t.iterations = append(t.iterations, iterationTally{index: index, operation: operation})
	return &t.iterations[t.latest]
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

// merge adds what another engine kept.
func (t *tally) merge(o *tally) {
	t.Merge(&o.Digest)
	t.setUp = max(t.setUp, o.setUp)
	for i := range o.iterations {
		other := &o.iterations[i]
		t.find(other.index, other.operation).add(other)
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
