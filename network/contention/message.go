package contention

import "gigarank/vtime"

// Message is a transfer that asks for a resource.
type Message struct {
	At       vtime.Time     // instant of asking
	Source   int            // rank
	Sequence uint64         // ascends with the messages of its source
	Dest     int            // rank
	From, To int            // nodes
	Bytes    int64          // at least 1
	Transfer vtime.Duration // of its bytes on an undisturbed path
	Tag      uint64         // the caller's
}

// before reports whether a message comes before another in the order of asking.
func (m *Message) before(o *Message) bool {
	switch {
	case m.At != o.At:
		return m.At < o.At
	case m.Source != o.Source:
		return m.Source < o.Source
	}
	return m.Sequence < o.Sequence
}

// is reports whether two values are the same message.
func (m *Message) is(o *Message) bool {
	return m.At == o.At && m.Source == o.Source && m.Sequence == o.Sequence
}

// Outcome is the decision about a message. It is final.
type Outcome struct {
	Tag          uint64     // of the message
	Begins, Ends vtime.Time // of its transfer
}

// A Resource decides when the messages that ask it begin and end. Messages ask in the order of
// their instants, sources and numbers.
type Resource interface {
	// Ask adds a message. All that happens before its instant is then decided.
	Ask(m Message)
	// Next returns the instant of the next decision unless another message asks before: Advance has
	// work then. It is Forever while nothing waits or changes.
	Next() vtime.Time
	// Advance decides everything up to and including an instant, if no message asks before.
	Advance(to vtime.Time)
	// Outcomes returns the decisions since the last call, in their order. The list is valid until
	// the next call of any method.
	Outcomes() []Outcome
}

// outcomes collects decisions.
type outcomes struct {
	decided []Outcome
	given   bool // the caller has received them
}

func (o *outcomes) add(tag uint64, begins, ends vtime.Time) {
	if o.given {
		o.decided, o.given = o.decided[:0], false
	}
	o.decided = append(o.decided, Outcome{tag, begins, ends})
}

// Outcomes returns the decisions since the last call.
func (o *outcomes) Outcomes() []Outcome {
	if o.given {
		return nil
	}
	o.given = true
	return o.decided
}

// pairs keep the messages between two ranks in order. The zero value is ready for use.
type pairs struct {
	latest map[pair]vtime.Time // end of the latest transfer
	limit  int                 // number of pairs at which past entries are dropped
}

type pair struct{ source, dest int }

// inOrder returns the end of a transfer, which is not before the ends of earlier messages of the
// pair. No transfer ends before now any more.
func (p *pairs) inOrder(m *Message, ends, now vtime.Time) vtime.Time {
	if p.latest == nil {
		p.latest, p.limit = make(map[pair]vtime.Time), 64
	}
	key := pair{m.Source, m.Dest}
	ends = max(ends, p.latest[key])
	p.latest[key] = ends
	if len(p.latest) > p.limit {
		for key, t := range p.latest {
			if t <= now {
				delete(p.latest, key)
			}
		}
		p.limit = max(64, 2*len(p.latest))
	}
	return ends
}

// heap is a binary heap in ascending order of less.
type heap[T any] struct {
	items []T
	less  func(a, b *T) bool
}

func (h *heap[T]) len() int { return len(h.items) }

func (h *heap[T]) push(v T) {
	h.items = append(h.items, v)
	i := len(h.items) - 1
	for i > 0 {
		above := (i - 1) / 2
		if !h.less(&h.items[i], &h.items[above]) {
			break
		}
		h.items[i], h.items[above] = h.items[above], h.items[i]
		i = above
	}
}

func (h *heap[T]) pop() T {
	top, last := h.items[0], len(h.items)-1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	for i := 0; ; {
		below := 2*i + 1
		if below >= last {
			return top
		}
		if below+1 < last && h.less(&h.items[below+1], &h.items[below]) {
			below++
		}
		if !h.less(&h.items[below], &h.items[i]) {
			return top
		}
		h.items[i], h.items[below] = h.items[below], h.items[i]
		i = below
	}
}
