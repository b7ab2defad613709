package p2p

import (
	"cmp"
	"math/bits"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Loops of polls. A rank that polls in vain many times in a row most likely waits: its loop is long, and its next
// poll returns only with success, at the instant at which the loop would have succeeded. No poll in between takes
// place on the host.
//
// A program may also do something else after some number of polls. So a loop only seems to wait as long as
// others go on. When nothing else can go on anywhere, the ranks in long loops poll on: all ranks poll up to one
// instant in the order of virtual time, as in a short loop. That happens again and again, each time for about twice as
// long, until one of them makes another call or finds something, or until they have polled so often that they wait beyond
// doubt. Then it is a deadlock.
//
// All engines come to a stand in one state, whatever they have done when. The instant follows from sums and extremes over
// it. So outcomes are the same on any number of engines.

const (
	// UsualPolls is the usual number of failing tests or probes in a row, without another call between them, that
	// make a long loop.
	UsualPolls = 1000

	// EndlessPolls is a number of failing polls in a row from which on a rank waits beyond doubt.
	EndlessPolls = 1_000_000

	// AllPolls bounds the failing polls in a row of all ranks in long loops together, for the sake of the host's time. Each
	// of them may make twice as many as make a long loop in any case.
	AllPolls = 10_000_000

	// polledOn is how many polls all ranks in long loops together make at first when they poll on: many, so that
	// what they do then is over before some of them wait again.
	polledOn = 1_000_000
)

// loops is what a partition keeps of loops of polls.
type loops struct {
	pollTime vtime.Duration
	longLoop int32      // failing polls in a row that make a long loop
	endless  int32      // failing polls in a row from which on a rank waits beyond doubt
	pollOn   vtime.Time // polls before it take place, also in a long loop
	waiting  []uint64   // bits by LP: it waits in a long loop, which is not known to succeed; nil before the first
	inLoops  int        // bits that are set
	counted  bool       // deferred is up to date
	deferred engine.Deferred
}

// open sets loops up. polls is the number of failing polls that make a long loop, 0 for UsualPolls.
func (l *loops) open(pollTime vtime.Duration, polls int32) {
	l.pollTime, l.longLoop = pollTime, cmp.Or(polls, UsualPolls)
	l.endless = max(l.longLoop, EndlessPolls)
}

// long reports whether a rank that has polled in vain a number of times in a row is in a long loop at the
// instant of its next poll.
func (l *loops) long(polls int32, next vtime.Time) bool {
	return polls >= l.longLoop && (next >= l.pollOn || polls >= l.endless)
}

// waitsInLoop notes that an LP waits in a long loop, which has not come to an end as far as is known.
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

// leavesLoop notes that an LP does not wait in a long loop any more.
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

// PollsInVain returns how many polls in a row have found nothing, of an LP that waits in a long loop; else 0.
func (m *Messages) PollsInVain(lp int32) int {
	if m.waiting == nil || m.waiting[lp/64]&(1<<(lp%64)) == 0 {
		return 0
	}
	return int(m.Box(lp).polls)
}

// skipped counts the polls of a long loop that were not made between two instants.
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

// Defers implements [engine.Deferrer]: polls in long loops are put off.
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

// endlessPolls returns from how many failing polls in a row on a rank waits beyond doubt, while so many ranks are
// in long loops.
func endlessPolls(longLoop int32, ranks uint64) int32 {
	each := max(AllPolls/ranks, 2*uint64(longLoop))
	return int32(min(each, uint64(max(longLoop, EndlessPolls))))
}

// furtherPolls returns how many more polls ranks in long loops make, when so many ranks are in such loops and the one that
// has polled most often has made most in a row.
func furtherPolls(longLoop int32, ranks uint64, most int32) int32 {
	return max(int32(polledOn/ranks), longLoop, most)
}

// Proceed implements [engine.Deferrer]: ranks in long loops poll on. On a machine with progress in calls, what ranks
// have done at instants in the past is not known any more. There all poll on from the latest instant to which a rank has come.
func (m *Messages) Proceed(all engine.Deferred) {
	m.anew, m.sendsAtOnce = true, false // which looks for no late message
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
