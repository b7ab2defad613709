package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// hostClock reads the clocks of this machine.
type hostClock struct{ began time.Time }

// HostClock returns the clocks of this machine.
func HostClock() Clock { return hostClock{time.Now()} }

// Monotonic implements [Clock].
func (c hostClock) Monotonic() int64 { return int64(time.Since(c.began)) }

// Thread implements [Clock].
func (c hostClock) Thread() (cpu int64, thread int) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return c.Monotonic(), 0
	}
	return t.Nano(), unix.Gettid()
}
