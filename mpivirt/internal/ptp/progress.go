package ptp

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// On a machine with progress in calls, a rank handles what has arrived for it only while it
// is in an MPI call, as in VACED-SIM. Of a rendezvous the receiver handles REQ, and sends ACK,
// at the first instant in a call from the match on. The sender handles ACK, and sends DATA, at
// the first instant in a call from the arrival of ACK on. The receiver handles DATA in the wait
// for it. An instant is in a call unless it lies strictly within a compute phase. A rank that
// has ended is in MPI_Finalize.
//
// Each of the two is a timed event. At its instant all that the rank does by then is known: it
// waits in a call, has ended, or has computed beyond. VACED-SIM handles messages as its host
// learns of them and approximates this.

// progress is the state of a partition with progress in calls.
type progress struct {
	InCalls    bool
	computing  []computing // by LP
	handshakes world.Slab[handshake]
	handled    vtime.Time // time of the latest handshake event
}

// computing is the recent past of an LP, as far as a handshake may need it.
type computing struct {
	phases []phase // in the order of time, disjoint
	open   int32   // receives and rendezvous of the LP that are not over
	called bool    // MPI, since the last phase
}

// phase is a time of computing without a call of MPI.
type phase struct{ from, to vtime.Time }

// handshake is a message of a rendezvous or a synchronous send on its way to a rank, which
// handles it at an instant.
type handshake struct {
	bytes    int64
	lp       int32 // that handles it
	peer     int32 // WORLD number of the other rank
	request  int32 // of the LP, 0 for none
	opposite int32 // request of the other rank, 0 for none
	ack      bool  // it is ACK, else REQ
	large    bool  // a rendezvous, else a synchronous send
}

// openProgress sets the state up on a machine with progress in calls.
func (k *Messages) openProgress() {
	if k.InCalls = k.Target.ProgressInCalls(); k.InCalls {
		k.ClocksOnly = false
		k.computing = make([]computing, k.Ranks)
	}
}

// EnterCall notes that an LP calls MPI.
func (k *Messages) EnterCall(lp int32) {
	if k.InCalls {
		k.computing[lp].called = true
	}
}

// computes notes a compute phase of an LP. Phases without a call in between are one. Without
// open receives or rendezvous no handshake will lie in it.
func (k *Messages) computes(lp int32, from, to vtime.Time) {
	c := &k.computing[lp]
	if c.open == 0 {
		c.phases = c.phases[:0]
		return
	}
	past := 0
	for past < len(c.phases) && c.phases[past].to <= k.handled {
		past++
	}
	c.phases = append(c.phases[:0], c.phases[past:]...)
	if last := len(c.phases) - 1; last >= 0 && !c.called && c.phases[last].to == from {
		c.phases[last].to = to
	} else {
		c.phases = append(c.phases, phase{from, to})
	}
	c.called = false
}

// inCall returns the first instant from t on at which an LP is in a call.
func (k *Messages) inCall(lp int32, t vtime.Time) vtime.Time {
	for _, p := range k.computing[lp].phases {
		if p.from < t && t < p.to {
			return p.to
		}
	}
	return t
}

// opened counts a receive or rendezvous that an LP has begun, closed one that is over.
func (k *Messages) opened(lp int32) {
	if k.InCalls {
		k.computing[lp].open++
	}
}

func (k *Messages) closed(lp int32) {
	if k.InCalls {
		k.computing[lp].open--
	}
}

// expectHandshake has a handshake handled at an instant, or the call after it.
func (k *Messages) expectHandshake(h handshake, t vtime.Time) {
	index := k.handshakes.Take()
	*k.handshakes.At(index) = h
	rank := k.Global(h.lp)
	k.Engine.Schedule(engine.Event{Time: t, Source: rank, LP: rank, Sequence: uint64(index), Data: world.DataHandshake})
}

// HandleHandshake handles a REQ or an ACK that reaches its rank at t. All arrivals at or before
// t are known.
func (k *Messages) HandleHandshake(index int32, t vtime.Time) {
	h := *k.handshakes.At(index)
	k.handshakes.Release(index)
	k.handled = max(k.handled, t)
	own, at := int(k.Global(h.lp)), k.inCall(h.lp, t)
	if !h.ack {
		if k.Activities != nil {
			k.acked(own, int(h.peer))
		}
		k.tell(world.RecordReply, &h, at.Add(k.Target.Latency(own, int(h.peer))))
		return
	}
	arrival, free := k.Target.Data(own, int(h.peer), h.bytes, at)
	if max(arrival, free) == vtime.Forever {
		k.PastEnd(own, at, k.Box(h.lp).Wait.Procedure, "a message of %d bytes to rank %d", h.bytes, h.peer)
	}
	if k.Activities != nil {
		k.sentData(h.bytes, at, arrival)
	}
	k.tell(world.RecordData, &h, arrival)
	k.closed(h.lp)
	if h.request != 0 {
		k.Acknowledged(h.request, free)
	}
}

// tell has the answer to a handshake reach the other rank at an instant.
func (k *Messages) tell(kind byte, h *handshake, t vtime.Time) {
	answer := handshake{bytes: h.bytes, peer: k.Global(h.lp), request: h.opposite, opposite: h.request, ack: true, large: h.large}
	lp, local := k.Local(int(h.peer))
	if local {
		answer.lp = lp
		k.answered(kind, answer, t)
		return
	}
	w := world.Writer{Rest: k.Engine.Record(k.Engine.Partition().Owner(int(h.peer)), 1+1+4*4+8+8)}
	w.U8(kind)
	large := byte(0)
	if h.large {
		large = 1
	}
	w.U8(large)
	w.U32(uint32(h.peer))
	w.U32(uint32(answer.peer))
	w.U32(uint32(answer.request))
	w.U32(uint32(answer.opposite))
	w.U64(uint64(answer.bytes))
	w.U64(uint64(t))
}

// DeliverAnswer handles the record of an answer to a handshake.
func (k *Messages) DeliverAnswer(kind byte, r world.Reader) {
	answer := handshake{ack: true, large: r.U8() != 0}
	answer.lp, _ = k.Local(int(r.U32()))
	answer.peer, answer.request, answer.opposite = int32(r.U32()), int32(r.U32()), int32(r.U32())
	answer.bytes = int64(r.U64())
	k.answered(kind, answer, vtime.Time(r.U64()))
}

// answered handles an answer that reaches its rank at t: ACK or DATA.
func (k *Messages) answered(kind byte, h handshake, t vtime.Time) {
	switch {
	case kind == world.RecordData:
		r := k.Requests.At(h.request)
		r.arrival = t
		k.CompleteRequest(h.request, max(r.posted, t))
		k.Notice(h.lp)
	case h.large:
		k.expectHandshake(h, t)
	default: // of a synchronous send, which waits in a call for it
		k.Acknowledged(h.request, t)
	}
}

// shake begins the handshake of a message that an LP has matched with a receive. It reports
// whether the receive is complete only when DATA has come.
func (k *Messages) shake(lp, ri int32, m *message, posted vtime.Time) bool {
	k.expectHandshake(handshake{bytes: m.bytes, lp: lp, peer: m.rank, request: ri, opposite: m.request, large: m.large}, max(posted, m.arrival))
	return m.large
}
