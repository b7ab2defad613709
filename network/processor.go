package network

import (
	"gigarank/internal/quantity"
	"gigarank/vtime"
)

// Overhead is the cost of a message to the processors of its ends, independent of the size: o of
// LogP (Culler et al., 1993), separate for send and receive.
type Overhead struct{ Send, Receive vtime.Duration }

// Port is the state of one rank's network interface. The zero value is ready for use.
// Only targets with HasPorts use it.
type Port struct {
	Send    vtime.Time // instant from which on the interface can take the next message
	Receive vtime.Time // instant from which on the interface can deliver the next message
}

// HasPorts reports whether the cost of a message depends on earlier messages, stored in a Port. A
// gap no longer than both overheads has no effect: the processor itself is busy with the earlier
// message until then.
func (t *Target) HasPorts() bool {
	m := t.machine
	return m.gap > m.overhead.Send || m.gap > m.overhead.Receive
}

// Gap returns the least time between two messages that a port takes, and between two messages that
// it delivers: g under loggops.
func (t *Target) Gap() vtime.Duration {
	if t.occupier != nil {
		return t.occupier.interval()
	}
	return t.machine.gap
}

// Overhead returns the processors' cost of a message without bytes. Under loggops both
// are o.
func (t *Target) Overhead() Overhead {
	if t.occupier != nil {
		return t.occupier.charge()
	}
	return t.overhead
}

// Copy returns the time that the bytes of a message add to the overhead at either end. Under hops
// it is the time of the copy between the user's buffer and the message's buffer in memory:
// bytes/B_mem.
func (t *Target) Copy(bytes int64) vtime.Duration { return t.copied.time(bytes) }

// SendTime returns the time for which an eager message keeps the sender's processor busy.
func (t *Target) SendTime(bytes int64) vtime.Duration {
	return t.overhead.Send.Plus(t.copied.time(bytes))
}

// ReceiveTime returns the time for which a message keeps the receiver's processor busy.
func (t *Target) ReceiveTime(bytes int64) vtime.Duration {
	return t.overhead.Receive.Plus(t.copied.time(bytes))
}

// Send passes an eager message to the network at processor time at. It returns the instant at which
// the sender's processor is free again, and the instant at which the message leaves; the message
// arrives after its Delay. Calls for one Port are in the order in which the rank sends. p may be
// nil if the target has no ports.
//
// The processor is busy for SendTime. The message leaves once the overhead, and the port's gap
// since the previous message, are over.
func (t *Target) Send(p *Port, bytes int64, at vtime.Time) (free, leaves vtime.Time) {
	leaves = at.Add(t.overhead.Send)
	free = leaves.Add(t.copied.time(bytes))
	if p != nil {
		leaves = max(leaves, p.Send)
		p.Send = leaves.Add(t.machine.gap)
	}
	return free, leaves
}

// Receive completes a receive that was posted at posted, for a message that reached the receiver at
// arrival. The receiver's processor is free from free on. It returns the instant at which the
// receive is complete and the processor free again. Calls for one Port are in the order in which
// the rank completes its receives. p may be nil if the target has no ports.
//
// The message is taken at the latest of the three instants and the end of the port's gap since the
// previous message. It costs ReceiveTime from then on.
func (t *Target) Receive(p *Port, bytes int64, posted, free, arrival vtime.Time) (done vtime.Time) {
	taken := max(posted, free, arrival)
	if p != nil {
		taken = max(taken, p.Receive)
		p.Receive = taken.Add(t.machine.gap)
	}
	return taken.Add(t.ReceiveTime(bytes))
}

// Charges reports whether a message takes time of processors or ports, or waits until its rank is not interrupted.
func (t *Target) Charges() bool {
	return t.Interrupts() || t.machine.overhead != (Overhead{}) || t.machine.gap != 0 || t.copied.num != 0
}

// Rendezvous returns the arrival of the content of a message above the eager limit, and the instant
// at which its sender is free. The request (REQ), sent like a message without bytes, reaches the
// receiver at request; the receive is posted at posted. The acknowledgement (ACK) goes back at the
// later of both. The data (DATA) leave when ACK arrives (VACED-SIM, Fig. 2b). The sender is free
// when the data have left: when the last byte is on its way, after Transfer. Under hops it is free
// once the data are copied into the network's memory. Of the three messages, only REQ costs the
// sender's processor and port its overhead and gap, and only DATA the receiver's.
//
// Under loggops the message itself acts as the request, and its sender is free at the match.
func (t *Target) Rendezvous(src, dst int, bytes int64, posted, request vtime.Time) (arrival, free vtime.Time) {
	matched := max(posted, request)
	if t.occupier != nil {
		return request, matched
	}
	return t.Data(src, dst, bytes, matched.Add(t.Latency(dst, src)))
}

// Copies reports whether the processors at both ends of a message copy its bytes. The sender of a
// rendezvous is then free once the bytes are copied, not once they have left.
func (t *Target) Copies() bool { return t.copies }

// Match returns the delay from the match of a synchronous eager message to the instant at which its
// sender is free: the Latency back, under loggops 0.
func (t *Target) Match(src, dst int) vtime.Duration {
	if t.occupier != nil {
		return 0
	}
	return t.Latency(dst, src)
}

// partners says what messages of a collective operation cost a processor whose rank exchanges them with many others: a library has buffers
// for some of them, and more steps for the others. The zero value stands for nothing.
type partners struct {
	most     int   // partners up to which a message costs its overhead alone
	above    int64 // bytes of the longest message that costs its overhead alone
	overhead vtime.Duration
}

func parsePartners(o *object) (p partners) {
	if inner := o.object("partners", false, "write partners: {most: 255, above: 1KiB, overhead: 4.8us}"); inner != nil {
		p = partners{inner.count("most", true, 1, maxRanks), inner.size("above", false, 0), inner.duration("overhead", true, 0)}
		inner.close("", nil)
	}
	return p
}

func (p partners) write(o *objectWriter) {
	if p == (partners{}) && !o.estimated(o.within("partners")) {
		return
	}
	inner := o.writer.object(o.within("partners"))
	inner.number("most", p.most)
	inner.text("above", quantity.FormatSize(p.above))
	inner.text("overhead", p.overhead.String())
	o.put("partners", inner.node)
}

// Among returns the target as messages of some bytes find it of a collective operation in which a member exchanges messages with a number of
// others, and a root sends one blocking message after another if it sends in turn: it is the target itself where partners are few, and blocking
// sends cost no more. Otherwise the processors at both ends of each message, or that of the sender, are busy for longer.
func (t *Target) Among(partners int, inTurn bool, bytes int64) *Target {
	if p := &t.machine.partners; t.busy != nil && partners > p.most && bytes > p.above {
		t = t.busy
	}
	if inTurn && t.turns != nil {
		return t.turns
	}
	return t
}

// withPartners gives the target its twin for operations with many partners, and that one its twin for rounds in which all members send.
func (t *Target) withPartners() {
	more := t.machine.partners.overhead
	if more == 0 || t.occupier != nil {
		return
	}
	t.busy = t.dearer(more, more)
	t.busy.busy = t.busy
}

// withTurns gives the target, and its twin for operations with many partners, their twins for operations whose root sends one blocking
// message after another.
func (t *Target) withTurns() {
	more := t.machine.blockingSend
	if more == 0 || t.occupier != nil {
		return
	}
	if t.busy != nil {
		t.busy.turns = t.busy.dearer(more, 0)
	}
	t.turns = t.dearer(more, 0)
}

// dearer returns a twin of the target, and of its twin for rounds in which all members send, whose processors are busy for longer.
func (t *Target) dearer(send, receive vtime.Duration) *Target {
	dear := func(t *Target) *Target {
		twin := *t
		twin.overhead = Overhead{t.overhead.Send.Plus(send), t.overhead.Receive.Plus(receive)}
		if t.delays == delays(&t.paths) {
			twin.delays = &twin.paths
		}
		return &twin
	}
	twin := dear(t)
	if t.congested != nil {
		twin.congested = dear(t.congested)
		twin.congested.congested = twin.congested
	}
	return twin
}
