package coll

import (
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The messages of rounds go through the interfaces of nodes as others do (room resource). An agent that receives one above
// the eager limit answers REQ by ACK, and waits for DATA.

// roundShake is ACK or DATA of a round on its way between nodes.
type roundShake struct {
	agent    int32 // that sends DATA
	receiver int32 // agent
	message  int32 // of the receiver's engine
	bytes    int64 // of DATA
}

// roundFreight hands the messages of rounds on that go between nodes. It implements [resource.Freight].
type roundFreight Collectives

var _ resource.Freight = (*roundFreight)(nil)

// sendRoundAcross has the message of an agent's round ask for its way to another node. The payload lies at an offset of
// the agent's layout, or at none if that is negative.
func (k *Collectives) sendRoundAcross(a *agent, m *roundMessage, payload []byte, at int64) {
	owner := a.memory
	if at < 0 {
		owner = nil
	}
	index := k.rounds.Take()
	r := k.rounds.At(index)
	*r = *m
	r.payload = payload
	k.keep(r, owner, at)
	k.Engine.Buffer(roundBytes + int64(len(payload)))
	way := k.way
	way.Owner, way.Kind, way.Index, way.Order = resource.OfAgents, ptp.PassMessage, index, k.orderOfRound(m)
	k.Interfaces.Leave(way)
}

// orderOfRound returns what tells the message of a round from others of its sender.
func (k *Collectives) orderOfRound(m *roundMessage) [2]uint64 {
	return [2]uint64{k.Communicators.At(m.comm).Context, uint64(m.number)<<32 | uint64(uint32(m.round))}
}

// reachRoundAcross has the message of a round from another engine ask the interfaces of its receiver's node at its arrival.
func (k *Collectives) reachRoundAcross(m *roundMessage, dst int, sent vtime.Time) {
	index := k.rounds.Take()
	r := k.rounds.At(index)
	*r = *m
	k.keep(r, nil, 0)
	k.Engine.Buffer(roundBytes + int64(len(m.payload)))
	p := resource.Passage{Sent: sent, Source: m.rank, Dest: int32(dst), Owner: resource.OfAgents, Kind: ptp.PassMessage, Index: index, Bytes: m.bytes}
	if m.agent != 0 {
		p.Bytes = 0
	}
	k.Interfaces.Reach(p, m.arrival)
}

// replyAcross sends ACK for the message of an agent's round, once.
func (k *Collectives) replyAcross(index int32, a *agent, m *roundMessage) {
	if m.asked {
		return
	}
	m.asked = true
	p := k.PassageOf(int(k.Global(a.lp)), int(m.rank), 0, max(a.posted, m.arrival), 0)
	p.Owner, p.Kind, p.Order, p.Index = resource.OfAgents, ptp.PassReply, k.orderOfRound(m), k.shakes.Take()
	*k.shakes.At(p.Index) = roundShake{agent: m.agent, receiver: index, message: a.message, bytes: m.bytes}
	k.Interfaces.Leave(p)
}

// Left handles that a message begins to leave its node at an instant, and that it asks its receiver's node at another.
func (f *roundFreight) Left(p *resource.Passage, begins, asks vtime.Time) {
	k := (*Collectives)(f)
	if asks == vtime.Forever {
		k.PastEnd(int(p.Source), p.At, world.NoProcedure, "a message of %d bytes of a collective to rank %d", p.Bytes, p.Dest)
		return
	}
	agent := int32(0)
	if p.Kind == ptp.PassData {
		agent = k.shakes.At(p.Index).agent
		if k.Activities != nil {
			k.CopiedData(p.Bytes)
		}
	}
	_, local := k.Local(int(p.Dest))
	switch {
	case local:
		k.Interfaces.Reach(*p, asks)
	case p.Kind == ptp.PassMessage:
		m := k.rounds.At(p.Index)
		m.arrival = asks
		k.Engine.Buffer(-roundBytes - int64(len(m.payload)))
		k.sendRoundMessage(m, int(p.Dest), p.Sent, m.payload)
		k.disposeRound(p.Index)
	default:
		k.sendRoundAnswer(p, asks)
		k.shakes.Release(p.Index)
	}
	if p.Kind == ptp.PassData {
		k.AgentAcknowledged(agent, k.DataLeft(p, begins))
	}
}

// Arrived handles the arrival of a message from another node.
func (f *roundFreight) Arrived(p *resource.Passage, at vtime.Time) {
	k := (*Collectives)(f)
	if at == vtime.Forever {
		k.PastEnd(int(p.Dest), p.At, world.NoProcedure, "a message of %d bytes of a collective from rank %d", p.Bytes, p.Source)
		return
	}
	if k.Activities != nil {
		k.Passed(p, at, p.Kind == ptp.PassMessage && k.rounds.At(p.Index).agent != 0)
	}
	if p.Kind == ptp.PassMessage {
		m := k.rounds.At(p.Index)
		m.arrival = at
		k.Engine.Buffer(-roundBytes - int64(len(m.payload)))
		lp, _ := k.Local(int(p.Dest))
		k.arriveRound(lp, p.Index, nil, 0)
		return
	}
	s := *k.shakes.At(p.Index)
	if p.Kind == ptp.PassReply {
		data := k.PassageOf(int(p.Dest), int(p.Source), s.bytes, at, 0)
		data.Owner, data.Kind, data.Order, data.Index = resource.OfAgents, ptp.PassData, p.Order, k.shakes.Take()
		*k.shakes.At(data.Index) = s
		k.Interfaces.Leave(data)
	} else if a := k.agents.At(s.receiver); a.fate != ended {
		m := k.rounds.At(s.message)
		m.arrival, m.agent = at, 0
		k.continueAgent(s.receiver)
	}
	k.shakes.Release(p.Index)
}

// roundAnswerRecord is the size of ACK or DATA of a round between engines.
const roundAnswerRecord = 1 + 5*4 + 5*8

// sendRoundAnswer sends ACK or DATA to another engine, where it asks at an instant.
func (k *Collectives) sendRoundAnswer(p *resource.Passage, asks vtime.Time) {
	s, kind := k.shakes.At(p.Index), world.RecordRoundReply
	if p.Kind == ptp.PassData {
		kind = world.RecordRoundData
	}
	w := world.Writer{Rest: k.Engine.Record(k.Engine.Partition().Owner(int(p.Dest)), roundAnswerRecord)}
	w.U8(kind)
	w.U32(uint32(p.Source))
	w.U32(uint32(p.Dest))
	w.U32(uint32(s.agent))
	w.U32(uint32(s.receiver))
	w.U32(uint32(s.message))
	w.U64(uint64(s.bytes))
	w.U64(uint64(p.Sent))
	w.U64(uint64(asks))
	w.U64(p.Order[0])
	w.U64(p.Order[1])
}

// DeliverRoundAnswer handles the record of ACK or DATA of a round.
func (k *Collectives) DeliverRoundAnswer(kind byte, r world.Reader) {
	p := resource.Passage{Source: int32(r.U32()), Dest: int32(r.U32()), Owner: resource.OfAgents, Kind: ptp.PassReply, Index: k.shakes.Take()}
	s := k.shakes.At(p.Index)
	s.agent, s.receiver, s.message, s.bytes = int32(r.U32()), int32(r.U32()), int32(r.U32()), int64(r.U64())
	if kind == world.RecordRoundData {
		p.Kind, p.Bytes = ptp.PassData, s.bytes
	}
	p.Sent = vtime.Time(r.U64())
	asks := vtime.Time(r.U64())
	p.Order = [2]uint64{r.U64(), r.U64()}
	k.Engine.CheckArrival(int(p.Source), int(p.Dest), p.Sent, asks)
	k.Interfaces.Reach(p, asks)
}
