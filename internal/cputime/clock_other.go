//go:build !linux

package cputime

import "time"

// hostClock reads the clocks of this machine. There is no CPU clock of a thread here, so
// that preemption is not corrected.
type hostClock struct{ began time.Time }

// HostClock returns the clocks of this machine.
func HostClock() Clock { return hostClock{time.Now()} }

// Monotonic implements [Clock].
func (c hostClock) Monotonic() int64 { return int64(time.Since(c.began)) }

// Thread implements [Clock].
func (c hostClock) Thread() (cpu int64, thread int) { return c.Monotonic(), 0 }
