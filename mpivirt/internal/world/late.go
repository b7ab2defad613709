package world

import (
	"fmt"

	"gigarank/vtime"
)

// Late counts the events that came too late: messages, completions of requests and ranks that polled on at an instant at or
// before the one up to which a rank had decided without them. There are none unless virtual time has begun anew for
// ranks in long loops of polls.
type Late struct {
	Events uint64
	Rank   int        // the receiver of the first, in WORLD
	Time   vtime.Time // of the first
	// Decided is the instant up to which the rank had decided.
	Decided vtime.Time
	// Source is the rank that sent the first, None if it is no message.
	Source int
	// Polls is the greatest number of polls in a row that have found nothing since virtual time began anew.
	Polls int32
	// Skipped is how many polls in long loops were not made, since a loop only seemed to wait. A loop that would have ended before
	// it found something has gone on.
	Skipped uint64
}

// Add counts an event of source at an instant, for a rank that had decided up to a later one.
func (l *Late) Add(rank, source int32, at, decided vtime.Time) {
	l.merge(&Late{1, int(rank), at, decided, int(source), 0, 0})
}

// Polled notes that a rank has polled a number of times in a row in vain.
func (l *Late) Polled(polls int32) { l.Polls = max(l.Polls, polls) }

// before orders events by (time, receiver, source, decision).
func (l *Late) before(o *Late) bool {
	switch {
	case l.Time != o.Time:
		return l.Time < o.Time
	case l.Rank != o.Rank:
		return l.Rank < o.Rank
	case l.Source != o.Source:
		return l.Source < o.Source
	}
	return l.Decided < o.Decided
}

func (l *Late) merge(o *Late) {
	events, polls, skipped := l.Events+o.Events, max(l.Polls, o.Polls), l.Skipped+o.Skipped
	if o.Events > 0 && (l.Events == 0 || o.before(l)) {
		*l = *o
	}
	l.Events, l.Polls, l.Skipped = events, polls, skipped
}

// String returns a sentence about the events and their remedy, "" without an event.
func (l *Late) String() string {
	if l.Events == 0 {
		return ""
	}
	events, from := "1 event", ""
	if l.Events > 1 {
		events = fmt.Sprintf("%d events", l.Events)
	}
	if l.Source != None {
		from = fmt.Sprintf(", a message from rank %d", l.Source)
	}
	return fmt.Sprintf("Times and results may be wrong: %s came later than a poll or choice that should have seen it, the first at %v for rank %d%s, "+
		"which had gone on to %v. Give --polls %d or more: it has loops of that many polls made in full",
		events, l.Time, l.Rank, from, l.Decided, int64(l.Polls)+1)
}

func (l *Late) append(b []byte) []byte {
	return AppendWords(b, l.Events, uint64(l.Rank), uint64(l.Time), uint64(l.Decided), uint64(int64(l.Source)), uint64(l.Polls), l.Skipped)
}

func (l *Late) read(b []byte) (rest []byte) {
	r := Reader{Rest: b}
	*l = Late{r.U64(), int(r.U64()), vtime.Time(r.U64()), vtime.Time(r.U64()), int(int64(r.U64())), int32(r.U64()), r.U64()}
	return r.Rest
}
