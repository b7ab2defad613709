package world

import (
	"fmt"

	"gigarank/vtime"
)

// Late counts events that come too late: messages, completions of requests, and ranks that poll on,
// at an instant up to which a rank has already decided without them. There are none unless virtual
// time has begun anew for ranks in long loops of polls.
type Late struct {
	Events uint64
	Rank   int        // receiver of the first late event, in WORLD
	Time   vtime.Time // of that event
	// Decided is the instant up to which the receiver had decided.
	Decided vtime.Time
	// Source is the rank that sent the first late message, None if the first late event is no
	// message.
	Source int
	// Polls is the greatest number of failing polls in a row since virtual time began anew.
	Polls int32
	// Skipped is the number of skipped polls in long loops, which only seemed to wait. A loop that
	// would have ended before a poll succeeded has gone on.
	Skipped uint64
}

// Add counts an event of source at an instant, for a rank that had decided up to a later instant.
func (l *Late) Add(rank, source int32, at, decided vtime.Time) {
	l.merge(&Late{1, int(rank), at, decided, int(source), 0, 0})
}

// Polled records a number of failing polls of a rank in a row.
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
