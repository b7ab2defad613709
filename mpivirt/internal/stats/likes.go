package stats

import "gigarank/vtime"

// Like is a kind of message. Messages of a kind are counted together.
type Like struct {
	Bytes   int64
	Way     vtime.Duration // under way
	Combine vtime.Duration // of the receiver, which combines
	Event   LikeEvent
	Between bool // between nodes, where that is asked
}

// LikeEvent is what happens to messages of a kind.
type LikeEvent uint8

// The events. A message of a round is sent and received at once.
const (
	LikeSent LikeEvent = iota
	LikeReceived
	LikeRounded
)

// Likes counts messages by kind: most programs have messages of a few kinds. A kind that comes in place of another has the other added up.
type Likes struct{ counts [64]likeCount }

type likeCount struct {
	Like
	n uint64
}

// Count counts n messages of a kind. It returns the kind that has to make room, with the number of its messages to be added up, 0 for none.
func (l *Likes) Count(of *Like, n uint64) (full Like, number uint64) {
	key := uint64(of.Bytes)*0x9e3779b97f4a7c15 ^ uint64(of.Way)*0xbf58476d1ce4e5b9 ^ uint64(of.Combine) ^ uint64(of.Event)<<58
	c := &l.counts[key>>58]
	if c.Like == *of {
		c.n += n
		return Like{}, 0
	}
	full, number = c.Like, c.n
	c.Like, c.n = *of, n
	return full, number
}

// Settle returns the kinds with their numbers to a function and forgets them.
func (l *Likes) Settle(add func(of *Like, n uint64)) {
	for i := range l.counts {
		if c := &l.counts[i]; c.n > 0 {
			add(&c.Like, c.n)
			c.n = 0
		}
	}
}
