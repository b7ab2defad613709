package world

import (
	"fmt"

	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// Unreceived counts the messages that no receive has taken when the ranks have ended. A program
// that leaves such messages is in error (MPI 4.1, 11.2.2: communication that others have begun must
// be completed before MPI_FINALIZE).
type Unreceived struct {
	Messages uint64
	first    unreceived
}

// unreceived is a message that no receive has taken, with its receiver.
type unreceived struct {
	rank, source, tag int32 // ranks in WORLD
	arrival, ended    vtime.Time
	bytes             int64
}

// before orders messages by (receiver, arrival, source).
func (m *unreceived) before(o *unreceived) bool {
	switch {
	case m.rank != o.rank:
		return m.rank < o.rank
	case m.arrival != o.arrival:
		return m.arrival < o.arrival
	}
	return m.source < o.source
}

// Add counts a message of some bytes from source for a rank that ended at an instant.
func (u *Unreceived) Add(rank int32, ended vtime.Time, source, tag int32, arrival vtime.Time, bytes int64) {
	u.merge(1, &unreceived{rank, source, tag, arrival, ended, bytes})
}

func (u *Unreceived) merge(messages uint64, first *unreceived) {
	if messages > 0 && (u.Messages == 0 || first.before(&u.first)) {
		u.first = *first
	}
	u.Messages += messages
}

// Err returns the failure of the rank that has not received the first such message, nil for none.
func (u *Unreceived) Err() error {
	if u.Messages == 0 {
		return nil
	}
	m, more := &u.first, ""
	if u.Messages > 1 {
		more = fmt.Sprintf("; %d messages are left in all", u.Messages)
	}
	return &RankError{Rank: int(m.rank), Time: m.ended, Err: Errorf(ErrOther,
		"the rank has ended (MPI_Finalize) and not received the message of %s that rank %d has sent to it with tag %d: receive each message before the end%s",
		spelling.Count(m.bytes, "byte"), m.source, m.tag, more)}
}

func (u *Unreceived) append(b []byte) []byte {
	m := &u.first
	return AppendWords(b, u.Messages, uint64(m.rank), uint64(m.source), uint64(m.tag), uint64(m.arrival), uint64(m.ended), uint64(m.bytes))
}

func (u *Unreceived) read(b []byte) (rest []byte) {
	r := Reader{Rest: b}
	*u = Unreceived{r.U64(), unreceived{int32(r.U64()), int32(r.U64()), int32(r.U64()), vtime.Time(r.U64()), vtime.Time(r.U64()), int64(r.U64())}}
	return r.Rest
}
