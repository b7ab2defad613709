package maxplus

import (
	"math/bits"

	"gigarank/vtime"
)

// Memory is room that arrays share which are not worked on at the same time.
type Memory struct {
	// Reserve makes an array of clocks whose length grows with that of the arrays.
	Reserve func(n int) []vtime.Time

	idle   [][]vtime.Time   // given back, of any length
	delays []vtime.Duration // scratch of chunk
	kept   []vtime.Time     // scratch of exchange
	steps  []exchangeStep   // scratch of fusible
}

// Spare is memory of an array that has ended, for the next one to use.
type Spare struct{ work, next, third []vtime.Time }

// Take returns room for n clocks, few enough to stay in a cache, which show anything.
func (m *Memory) Take(n int) []vtime.Time {
	if last := len(m.idle) - 1; last >= 0 {
		clocks := m.idle[last]
		m.idle = m.idle[:last]
		if cap(clocks) >= n {
			return clocks[:n]
		}
	}
	return make([]vtime.Time, n, 1<<bits.Len(uint(n)))
}

// Give takes back what Take has returned.
func (m *Memory) Give(clocks []vtime.Time) { m.idle = append(m.idle, clocks) }
