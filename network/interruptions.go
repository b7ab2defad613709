package network

import (
	"gigarank/internal/random"
	"gigarank/vtime"
)

// interruptions take the processor of a rank away while the rank communicates: daemons and the kernel have work to do on full nodes.
// Each rank has one in each interval, at a random instant, for an exponentially distributed time. The zero value is none.
type interruptions struct {
	interval vtime.Duration
	duration vtime.Duration // the mean; no interruption is longer than the interval
}

func parseInterruptions(o *object) (i interruptions) {
	inner := o.object("interruptions", false, "write interruptions: {interval: 5s, duration: 200us}")
	if inner == nil {
		return i
	}
	i = interruptions{inner.duration("interval", true, 0), inner.duration("duration", true, 0)}
	switch {
	case inner.has("duration") && i.duration == 0:
		inner.fault("duration", "is zero, so that nothing is interrupted", "write a time of at least 1ps, or leave interruptions out")
	case inner.has("interval") && inner.has("duration") && i.interval/2 < i.duration:
		inner.fault("interval", "is less than two durations", "write the mean time from one interruption of a rank to its next")
	}
	inner.close("", nil)
	return i
}

func (i interruptions) given() bool { return i.interval != 0 }

func (i interruptions) write(o *objectWriter) {
	if !i.given() {
		return
	}
	inner := o.object(o.within("interruptions"))
	inner.text("interval", i.interval.String())
	inner.text("duration", i.duration.String())
	o.put("interruptions", inner.node)
}

// interruptionSalt separates the random numbers of interruptions from those of jitter.
const interruptionSalt = 0x696e74657272

// Interrupts reports whether ranks are interrupted while they communicate.
func (t *Target) Interrupts() bool { return t.interrupts.given() }

// Free returns the instant from which on a rank can send or take a message that it would send or take at an instant: the
// same instant, or the end of the interruptions that it falls into. It is a function of the seed, the rank and the instant, and
// never earlier for a later instant.
func (t *Target) Free(rank int, at vtime.Time) vtime.Time {
	if !t.interrupts.given() {
		return at
	}
	return t.afterInterruptions(uint64(rank), at)
}

func (t *Target) afterInterruptions(rank uint64, at vtime.Time) vtime.Time {
	i := &t.interrupts
	for at < vtime.Forever {
		end, last := at, uint64(at)/uint64(i.interval)
		for k := last - min(last, 1); k <= last; k++ {
			begin := vtime.Time(k * uint64(i.interval)).Add(vtime.Duration(random.Intn(t.seed^interruptionSalt, rank, 2*k, int(i.interval))))
			if begin <= at {
				end = max(end, begin.Add(min(random.Exponential(t.seed^interruptionSalt, rank, 2*k+1, i.duration), i.interval)))
			}
		}
		if end == at {
			return at
		}
		at = end
	}
	return at
}
