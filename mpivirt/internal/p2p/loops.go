package p2p

import (
	"cmp"
	"math/bits"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Loops of polls. A rank that polls in vain many times in a row most likely waits. Its loop is then
// long: its next poll returns only with success, at the instant at which the loop would have
// succeeded. The host carries out no poll in between.
//
// A program may also act otherwise after some number of polls. So a rank in a long loop only counts
// as waiting as long as other ranks go on. When no other rank can go on anywhere, the ranks in long
// loops poll on: all of them poll up to one instant in the order of virtual time, as in a short
// loop. This repeats, each time for about twice as long, until a rank makes another call or a poll
// succeeds, or until the ranks have polled so often that they wait beyond doubt. Then the run is a
// deadlock.
//
// All engines stop in the same state, in whatever order their hosts worked. The instant up to which
// ranks poll on follows from sums and extremes over this state. So outcomes are the same on any
// number of engines.

const (
	// UsualPolls is the usual number of failing tests or probes in a row, without another call in
	// between, that make a long loop.
	UsualPolls = 1000

	// EndlessPolls is the number of failing polls in a row from which on a rank waits beyond doubt.
	EndlessPolls = 1_000_000

	// AllPolls bounds the sum of failing polls in a row over all ranks in long loops, to bound the
	// host's time. Each of these ranks may make twice as many polls as make a long loop in any case.
	AllPolls = 10_000_000

	// polledOn is the number of polls that all ranks in long loops together make when they first
	// poll on: so many that their next actions are over before a rank waits again.
	polledOn = 1_000_000
)

// loops is the state of a partition's loops of polls.
type loops struct {
	pollTime vtime.Duration
	longLoop int32          // failing polls in a row that make a long loop
	endless  int32          // failing polls in a row from which on a rank waits beyond doubt
	pollOn   vtime.Time     // polls before this instant take place, also in a long loop
	waiting  []uint64       // bits by LP: the LP waits in a long loop, which is not known to succeed; nil before the first
	inLoops  int            // number of bits set in waiting
	resumed  int32          // LP that runs since a timed event of its own has resumed it, None for none
	nearest  vtime.Duration // lookahead between the LPs of this engine; 0 where effects of messages have none
	counted  bool           // deferred is up to date
	deferred engine.Deferred
}

// open initialises loops. polls is the number of failing polls that make a long loop, 0 for
// UsualPolls.
func (l *loops) open(pollTime vtime.Duration, polls int32) {
	l.pollTime, l.longLoop = pollTime, cmp.Or(polls, UsualPolls)
	l.endless, l.resumed = max(l.longLoop, EndlessPolls), world.None
}

// long reports whether a rank that has polled in vain a number of times in a row is in a long loop
// at the instant of its next poll.
func (l *loops) long(polls int32, next vtime.Time) bool {
	return polls >= l.longLoop && (next >= l.pollOn || polls >= l.endless)
}

// waitsInLoop records that an LP waits in a long loop, whose success is not known.
func (m *Messages) waitsInLoop(lp int32) {
	if m.waiting == nil {
		m.waiting = make([]uint64, (m.Partition.Ranks+63)/64)
	}
	word, bit := &m.waiting[lp/64], uint64(1)<<(lp%64)
	if *word&bit == 0 {
		*word |= bit
		m.inLoops++
	}
	m.counted = false
}

// leavesLoop records that an LP no longer waits in a long loop.
func (m *Messages) leavesLoop(lp int32) {
	if m.inLoops == 0 {
		return
	}
	if word, bit := &m.waiting[lp/64], uint64(1)<<(lp%64); *word&bit != 0 {
		*word &^= bit
		m.inLoops--
		m.counted = false
	}
}

// PollsInVain returns the number of failing polls in a row of an LP that waits in a long loop, 0
// for another LP.
func (m *Messages) PollsInVain(lp int32) int {
	if m.waiting == nil || m.waiting[lp/64]&(1<<(lp%64)) == 0 {
		return 0
	}
	return int(m.Box(lp).polls)
}

// skipped counts the polls of a long loop that are skipped between two instants.
func (m *Messages) skipped(from, to vtime.Time) {
	if to > from {
		m.Partition.Summary.Late.Skipped += uint64(vtime.Time(to.Sub(from)) / vtime.Time(m.pollTime))
	}
}

// eachInLoop calls visit for each LP that waits in a long loop.
func (m *Messages) eachInLoop(visit func(lp int32)) {
	for i, word := range m.waiting {
		for ; word != 0; word &= word - 1 {
			visit(int32(64*i + bits.TrailingZeros64(word)))
		}
	}
}

// nextPoll returns the instant of the next poll of an LP that waits in a loop of polls.
func (m *Messages) nextPoll(lp int32) vtime.Time {
	if m.Processors != nil {
		if at, inLoop := m.Processors.NextPoll(lp); inLoop {
			return at
		}
	}
	return m.Partition.Clock[lp]
}

// Defers implements [engine.Deferrer]: polls in long loops are deferred.
func (m *Messages) Defers() bool { return m.inLoops > 0 }

// Deferred implements [engine.Deferrer].
func (m *Messages) Deferred() engine.Deferred {
	if m.counted {
		return m.deferred
	}
	d := engine.Deferred{From: vtime.Forever}
	m.eachInLoop(func(lp int32) {
		d.Items++
		if polls := m.Box(lp).polls; polls < m.endless {
			d.From, d.Most = min(d.From, m.nextPoll(lp)), max(d.Most, uint64(polls))
		}
	})
	if m.InCalls {
		for _, t := range m.Partition.Clock {
			d.Last = max(d.Last, t)
		}
	}
	m.deferred, m.counted = d, true
	return d
}

// endlessPolls returns the number of failing polls in a row from which on a rank waits beyond
// doubt, with a number of ranks in long loops.
func endlessPolls(longLoop int32, ranks uint64) int32 {
	each := max(AllPolls/ranks, 2*uint64(longLoop))
	return int32(min(each, uint64(max(longLoop, EndlessPolls))))
}

// furtherPolls returns the number of further polls of ranks in long loops, from the number of such
// ranks and the greatest number of polls in a row of any of them.
func furtherPolls(longLoop int32, ranks uint64, most int32) int32 {
	return max(int32(polledOn/ranks), longLoop, most)
}

// Proceed implements [engine.Deferrer]: ranks in long loops poll on. On a machine with progress in
// calls the past actions of ranks are no longer known. There all ranks poll on from the latest
// clock of any rank.
func (m *Messages) Proceed(all engine.Deferred) {
	m.anew, m.sendsAtOnce = true, false // SendAtOnce looks for no late message
	from := all.From
	if m.InCalls {
		from = max(from, all.Last)
	}
	m.endless = endlessPolls(m.longLoop, all.Items)
	m.pollOn = from.Add(m.pollTime.Times(int(furtherPolls(m.longLoop, all.Items, int32(all.Most)))))
	m.counted = false
	if m.Processors != nil {
		m.Processors.Anew(from)
	}
	m.eachInLoop(func(lp int32) {
		box := m.Box(lp)
		if box.polls >= m.endless {
			return
		}
		if m.InCalls && m.Partition.Clock[lp] < from {
			m.Partition.Summary.Late.Add(m.Partition.Global(lp), world.None, m.Partition.Clock[lp], from)
			m.Partition.Clock[lp] = from
		}
		if m.long(box.polls, m.nextPoll(lp)) {
			return
		}
		m.leavesLoop(lp)
		m.reconsider(lp, box)
	})
}
