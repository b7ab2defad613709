package ptp

import (
	"math"
	"unsafe"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
)

// Held counts what a program's ranks hold of this room at the same time: the mean of all
// ranks, when it is most.
type Held struct {
	Mailboxes  float64 // ranks that have one
	Requests   float64
	Messages   float64 // that no receive has taken
	Payload    float64 // bytes of each message's content; 0 if only the size is simulated
	Operations float64 // under a model with state at the receiver: under way in a processor
}

// Occupied is what a processor holds of operations and arrivals while its rank computes and then
// enters a collective. Forecasts count it for every rank.
var Occupied = Held{Messages: 1, Operations: 2}

// Bytes returns the memory of a rank that holds so much, under a model with state at the
// receiver or without.
func (h Held) Bytes(processors bool) float64 {
	const link = 4 // of an index in the stack of those that are free
	n := h.Mailboxes*size[Mailbox]() + h.Requests*(size[request]()+link) + h.Messages*(size[message]()+link)
	n += 4 // of MailboxOf, which the first message makes
	if h.Payload > smallPayload {
		n += h.Messages * world.BufferBytes(h.Payload)
	}
	if processors {
		n += h.occupied() - Occupied.occupied()
	}
	return max(n, 0)
}

// ProcessorBytes is the memory of a processor and of what [Occupied] holds, in bytes.
func ProcessorBytes() float64 { return size[processor]() + Occupied.occupied() }

// Queued counts what a processor holds at most of one rank, while it takes part in collectives.
type Queued struct {
	Arrivals   int // messages that it has not taken in
	Matches    int // of its own messages
	Operations int // that may begin
}

// Bytes returns the memory over what [Occupied] counts; negative if it is less.
func (q Queued) Bytes() float64 {
	return grown[Arrival](float64(q.Arrivals)) + grown[Arrival](float64(q.Matches)) + grown[Operation](float64(q.Operations)) -
		grown[Arrival](Occupied.Messages) - grown[Operation](1)
}

// occupied returns the memory of operations, arrivals and the timed event of a processor.
func (h Held) occupied() float64 {
	queued := max(h.Operations-1, 0) // one is active
	return grown[Operation](1) + grown[Operation](queued) + grown[Arrival](h.Messages) + engine.EventBytes
}

// grown returns the bytes that a slice has had in all, which has grown one by one: twice as
// many elements each time.
func grown[T any](n float64) (bytes float64) {
	const most = 48
	for c := 1.; c < 2*math.Ceil(n) && c < 1<<most; c *= 2 {
		bytes += c * size[T]()
	}
	return bytes
}

// size returns the bytes of a value.
func size[T any]() float64 {
	var v T
	return float64(unsafe.Sizeof(v))
}
