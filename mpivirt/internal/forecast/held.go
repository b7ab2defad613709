package forecast

import (
	"math"

	"gigarank/engine"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
)

// Held counts the values that a program's ranks hold for point-to-point messages at the same time:
// the mean over all ranks, at its greatest.
type Held struct {
	Mailboxes  float64 // ranks with a mailbox
	Requests   float64
	Messages   float64 // messages that no receive has taken
	Payload    float64 // bytes of each message's content; 0 if only the size is simulated
	Length     float64 // bytes of a message where interfaces take long messages in packets; 0 is Payload
	Received   float64 // contents that event ranks have received and not seen yet
	Leaving    float64 // messages that wait for an interface of their sender's node, or for its memory
	Coming     float64 // messages that wait for an interface of their receiver's node
	Operations float64 // under a model with state at the receiver: operations in a processor
}

// occupied counts the operations and arrivals in a processor while its rank computes and then
// enters a collective. [CostOf] counts them for every rank.
var occupied = Held{Messages: 1, Operations: 2}

// HeldBytes returns the memory that a program's ranks hold for point-to-point messages, beyond the
// memory that [CostOf] has counted in a cost.
func HeldBytes(c *kernel.Config, h Held, cost Cost) float64 {
	n := h.bytes(c.Target != nil && c.Target.ReceiverState())
	if c.Target != nil && c.Target.Contended() {
		n += max(h.passageBytes(c.Target)-cost.PassageBytes, 0) // messages of collectives have left these when messages of the program come
	}
	if c.Activities {
		n += float64(kernel.CallBytes) + h.Requests*float64(p2p.ReasonBytes) + h.Messages*float64(p2p.OriginBytes)
	}
	return n
}

// arrivedBytes is the memory of the latest arrival of a pair, in a hash table that grows.
const arrivedBytes = 70

// passageBytes returns the memory of messages that delay each other: passages, and the two lists of their places, which double. Between
// nodes they have interfaces.
func (h Held) passageBytes(t *network.Target) float64 {
	const link = 4
	if h.Leaving+h.Coming == 0 {
		return 0
	}
	ranks := float64(t.Ranks())
	n := (h.Leaving+h.Coming)*float64(resource.PassageBytes+link) + (doubled(resource.PlaceBytes, h.Leaving*ranks)+doubled(resource.PlaceBytes, h.Coming*ranks))/ranks
	if t.ContendedWithin() && h.Payload > 0 {
		n += max(h.Leaving-h.Coming, 0) * arrivedBytes
	}
	if t.Contention().Model == "" {
		length := int64(max(h.Length, h.Payload))
		n += float64(t.Nodes()) / ranks * float64(resource.NodeBytes(t, length, false))
		if t.RailTime(length) > t.PacketTime() { // messages of a pair must not pass each other, at either end
			n += 2 * h.Coming * arrivedBytes
		}
	}
	return n
}

// bytes returns the memory of a rank that holds these values, under a model with state at the
// receiver or without.
func (h Held) bytes(processors bool) float64 {
	const link = 4 // bytes of an index in the stack of free values
	n := h.Mailboxes*float64(p2p.MailboxBytes) + h.Requests*float64(p2p.RequestBytes+link) + h.Messages*float64(p2p.MessageBytes+link)
	n += 4 // bytes of MailboxOf, which the first message makes
	if h.Payload > p2p.SmallPayload {
		n += h.Messages * world.BufferBytes(h.Payload)
	}
	if h.Received > 0 && h.Payload <= p2p.SmallPayload { // else the message's own buffer
		n += h.Received * world.BufferBytes(max(h.Payload, 1))
	}
	if processors {
		n += h.inProcessor() - occupied.inProcessor()
	}
	return max(n, 0)
}

// processorBytes returns the memory in bytes of a processor and of the values that occupied counts.
func processorBytes() float64 { return float64(resource.ProcessorBytes) + occupied.inProcessor() }

// queued counts the greatest numbers of values in a rank's processor, during collectives.
type queued struct {
	arrivals   int // messages that the CPU has not taken in
	matches    int // matches of its own messages
	operations int // operations that may begin
}

// bytes returns the memory beyond the values that occupied counts, which may be negative.
func (q queued) bytes() float64 {
	return doubled(resource.ArrivalBytes, float64(q.arrivals)) + doubled(resource.ArrivalBytes, float64(q.matches)) +
		doubled(resource.OperationBytes, float64(q.operations)) - doubled(resource.ArrivalBytes, occupied.Messages) - doubled(resource.OperationBytes, 1)
}

// inProcessor returns the memory of operations, arrivals and the timed event of a processor.
func (h Held) inProcessor() float64 {
	waiting := max(h.Operations-1, 0) // without the active operation
	return doubled(resource.OperationBytes, 1) + doubled(resource.OperationBytes, waiting) + doubled(resource.ArrivalBytes, h.Messages) + engine.EventBytes
}

// doubled returns the bytes of all arrays of a slice of elements of a size that has grown to n one
// by one, doubling its capacity each time.
func doubled(size int, n float64) (bytes float64) {
	const most = 48
	for c := 1.; c < 2*math.Ceil(n) && c < 1<<most; c *= 2 {
		bytes += c * float64(size)
	}
	return bytes
}
