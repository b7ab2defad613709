package cputime

import "math"

// Clock reads clocks of the host, in nanoseconds.
type Clock interface {
	// Monotonic returns the time since some instant.
	Monotonic() int64
	// Thread returns the CPU time of the calling thread, and a number for the thread.
	Thread() (cpu int64, thread int)
}

// Limits of bursts and of readings, in nanoseconds of the monotonic clock. A scheduler
// preempts a thread for a time slice of another thread, which is longer than both.
const (
	short  = 20_000    // a burst of less is taken to run through
	recent = 1_000_000 // a reading of the CPU clock that is older is renewed
)

// Meter measures the bursts of the ranks of one engine, one at a time.
type Meter struct {
	clock Clock
	start int64 // of the burst
	read  reading
}

// reading holds both clocks at one instant. From then on the thread has run through, as far
// as is known.
type reading struct {
	at, cpu int64
	thread  int
}

// NewMeter returns a meter that reads a clock.
func NewMeter(c Clock) *Meter {
	m := &Meter{clock: c}
	m.read.at = math.MinInt64 / 2 // long ago
	return m
}

// Start begins a burst.
func (m *Meter) Start() {
	m.start = m.clock.Monotonic()
	if m.start-m.read.at > recent {
		m.start = m.renew()
	}
}

// renew reads the CPU clock and returns the instant.
func (m *Meter) renew() int64 {
	cpu, thread := m.clock.Thread()
	m.read = reading{m.clock.Monotonic(), cpu, thread}
	return m.read.at
}

// Stop ends the burst and returns its CPU time in nanoseconds. A burst whose thread has
// changed counts with its wall time.
func (m *Meter) Stop() int64 {
	end := m.clock.Monotonic()
	wall := end - m.start
	if wall < short {
		return max(wall, 0)
	}
	before := m.read
	m.renew()
	if m.read.thread != before.thread {
		return wall
	}
	reading := m.read.at - end
	if reading >= short {
		reading = 0 // the thread was preempted in it: most of that time was not its own
	}
	used := m.read.cpu - before.cpu - (m.start - before.at) - reading
	return min(max(used, 0), wall)
}
