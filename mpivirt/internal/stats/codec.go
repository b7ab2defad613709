package stats

import (
	"encoding/binary"
	"math"
	"slices"

	"gigarank/vtime"
)

// iterationWords is the number of words of an iteration in the bytes of Append.
const iterationWords = 8

// Append appends a settled tally to b, in the form that Read reads.
func (t *Tally) Append(b []byte) []byte {
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

// Read fills an empty tally from the bytes of Append and returns the rest of b.
func (t *Tally) Read(b []byte) (rest []byte) {
	r := reader{b}
	t.finishes.moments.read(&r)
	t.finishes.histogram.read(&r)
	t.setUp = wordToSeconds(r.word())
	operations, iterations := r.word(), r.word()
	for range operations {
		n := r.word()
		o := &operationTally{name: string(r.b[:n])}
		r.b = r.b[n:]
		o.times.read(&r)
		t.operations = append(t.operations, o)
	}
	t.iterations = make([]iterationTally, 0, iterations)
	for range iterations {
		it := iterationTally{index: int(r.word()), operation: t.operations[r.word()], wall: wordToSeconds(r.word())}
		it.moments.read(&r)
		t.iterations = append(t.iterations, it)
	}
	return r.b
}

// append appends the moments to b.
func (m *moments) append(b []byte) []byte {
	return appendWords(b, uint64(m.min), uint64(m.max), m.sumHigh, m.sumLow, m.count)
}

// read sets the moments from the bytes of append.
func (m *moments) read(r *reader) {
	m.min, m.max = vtime.Duration(r.word()), vtime.Duration(r.word())
	m.sumHigh, m.sumLow, m.count = r.word(), r.word(), r.word()
}

// append appends the histogram to b.
func (h *histogram) append(b []byte) []byte {
	r := h.result()
	b = appendWords(b, uint64(len(r.Counts)), h.low, uint64(h.shift))
	return appendWords(b, r.Counts...)
}

// read fills an empty histogram from the bytes of append.
func (h *histogram) read(r *reader) {
	n, low, shift := r.word(), r.word(), uint8(r.word())
	for i := range n {
		if count := r.word(); count > 0 {
			h.addBin(low+i, shift, count)
		}
	}
}

func appendWords(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// reader takes words off its front. It panics where a word is missing.
type reader struct{ b []byte }

func (r *reader) word() uint64 { v := binary.LittleEndian.Uint64(r.b); r.b = r.b[8:]; return v }

// secondsToWord keeps nanoseconds: wall times are reported, never computed with.
func secondsToWord(s float64) uint64 { return uint64(int64(math.Round(s * 1e9))) }
func wordToSeconds(w uint64) float64 { return float64(int64(w)) / 1e9 }
