package forecast

import (
	"math"

	"gigarank/engine"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
)

// Held counts what a program's ranks hold for point-to-point messages at the same time: the mean of all
// ranks, when it is most.
type Held struct {
	Mailboxes  float64 // ranks that have one
	Requests   float64
	Messages   float64 // that no receive has taken
	Payload    float64 // bytes of each message's content; 0 if only the size is simulated
	Operations float64 // under a model with state at the receiver: under way in a processor
}

// occupied is what a processor holds of operations and arrivals while its rank computes and then
// enters a collective. [CostOf] counts it for every rank.
var occupied = Held{Messages: 1, Operations: 2}

// HeldBytes returns the memory that a program's ranks hold for point-to-point messages, over
// what [CostOf] counts.
func HeldBytes(c *kernel.Config, h Held) float64 {
	return h.bytes(c.Target != nil && c.Target.ReceiverState())
}

// bytes returns the memory of a rank that holds so much, under a model with state at the
// receiver or without.
func (h Held) bytes(processors bool) float64 {
	const link = 4 // of an index in the stack of those that are free
	n := h.Mailboxes*float64(p2p.MailboxBytes) + h.Requests*float64(p2p.RequestBytes+link) + h.Messages*float64(p2p.MessageBytes+link)
	n += 4 // of MailboxOf, which the first message makes
	if h.Payload > p2p.SmallPayload {
		n += h.Messages * world.BufferBytes(h.Payload)
	}
	if processors {
		n += h.inProcessor() - occupied.inProcessor()
	}
	return max(n, 0)
}

// processorBytes is the memory of a processor and of what occupied holds, in bytes.
func processorBytes() float64 { return float64(resource.ProcessorBytes) + occupied.inProcessor() }

// queued counts what a processor holds at most of one rank, while it takes part in collectives.
type queued struct {
	arrivals   int // messages that it has not taken in
	matches    int // of its own messages
	operations int // that may begin
}

// bytes returns the memory over what occupied counts; negative if it is less.
func (q queued) bytes() float64 {
	return doubled(resource.ArrivalBytes, float64(q.arrivals)) + doubled(resource.ArrivalBytes, float64(q.matches)) +
		doubled(resource.OperationBytes, float64(q.operations)) - doubled(resource.ArrivalBytes, occupied.Messages) - doubled(resource.OperationBytes, 1)
}

// inProcessor returns the memory of operations, arrivals and the timed event of a processor.
func (h Held) inProcessor() float64 {
	waiting := max(h.Operations-1, 0) // one is active
	return doubled(resource.OperationBytes, 1) + doubled(resource.OperationBytes, waiting) + doubled(resource.ArrivalBytes, h.Messages) + engine.EventBytes
}

// doubled returns the bytes that a slice of elements of a size has had in all, which has grown to n
// one by one: twice as many elements each time.
func doubled(size int, n float64) (bytes float64) {
	const most = 48
	for c := 1.; c < 2*math.Ceil(n) && c < 1<<most; c *= 2 {
		bytes += c * float64(size)
	}
	return bytes
}
