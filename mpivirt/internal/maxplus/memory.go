package maxplus

import (
	"math/bits"

	"gigarank/vtime"
)

// Memory is memory for arrays that are not in use at the same time.
type Memory struct {
	// Reserve makes an array of clocks whose length grows with that of the arrays.
	Reserve func(n int) []vtime.Time

	idle   [][]vtime.Time   // unused arrays of more than few clocks
	chunk  []vtime.Time     // memory from which arrays of few clocks are cut
	cut    int              // clocks of chunk up to the last array in use
	pieces int              // arrays in use, of this chunk and earlier chunks
	delays []vtime.Duration // scratch of chunk
	kept   []vtime.Time     // scratch of exchange
	steps  []exchangeStep   // scratch of fusible
}

// Spare is memory of an ended array, for the next array.
type Spare struct {
	work, next, third []vtime.Time
	contended
	accounting
	windowing
}

// few is the greatest number of clocks in an array that is cut from a chunk. Each chunk is twice as
// long as the previous one, up to chunkMost; the first has chunkFirst clocks, unless Begin sets
// another.
const (
	few        = 1 << 8
	chunkFirst = 1 << 7
	chunkMost  = 1 << 12
)

// Begin sets the first chunk of unused memory.
func (m *Memory) Begin(chunk []vtime.Time) { m.chunk = chunk }

// Take returns an array of n clocks with arbitrary values, few enough to stay in a cache.
func (m *Memory) Take(n int) []vtime.Time {
	if n <= few {
		return m.takePiece(n)
	}
	if last := len(m.idle) - 1; last >= 0 {
		clocks := m.idle[last]
		m.idle = m.idle[:last]
		if cap(clocks) >= n {
			return clocks[:n]
		}
	}
	return make([]vtime.Time, n, 1<<bits.Len(uint(n)))
}

// takePiece is Take for few clocks.
func (m *Memory) takePiece(n int) []vtime.Time {
	if m.cut+n > len(m.chunk) {
		m.chunk, m.cut = make([]vtime.Time, max(n, min(max(2*len(m.chunk), chunkFirst), chunkMost))), 0
	}
	piece := m.chunk[m.cut : m.cut+n : m.cut+n]
	m.cut += n
	m.pieces++
	return piece
}

// Give makes an array of Take, with its length unchanged, available again.
func (m *Memory) Give(clocks []vtime.Time) {
	n := cap(clocks)
	if n > few {
		m.idle = append(m.idle, clocks)
		return
	}
	m.pieces--
	switch {
	case m.pieces == 0:
		m.cut = 0
	case n > 0 && m.cut >= n && &m.chunk[m.cut-n] == &clocks[:n][0]:
		m.cut -= n
	}
}
