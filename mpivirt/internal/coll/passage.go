package coll

import (
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Round messages pass the interfaces of nodes as other messages do (room resource). An agent that
// receives a message above the eager limit answers REQ by ACK, and waits for DATA.

// roundShake is the ACK or DATA of a round on its way between nodes.
type roundShake struct {
	agent    int32 // agent that sends DATA
	receiver int32 // agent that receives DATA
	message  int32 // round message on the receiver's engine
	bytes    int64 // of DATA
}

// roundFreight receives round messages that have passed between nodes. It implements
// [resource.Freight].
type roundFreight Collectives

var _ resource.Freight = (*roundFreight)(nil)

// sendRoundAcross has the message of an agent's round request its passage to another node. The
// payload lies at an offset of the agent's layout; a negative offset stands for none.
func (c *Collectives) sendRoundAcross(a *agent, m *roundMessage, payload []byte, at int64) {
	owner := a.memory
	if at < 0 {
		owner = nil
	}
	index := c.rounds.Take()
	r := c.rounds.At(index)
	*r = *m
	r.payload = payload
	c.keep(r, owner, at)
	c.partition.Engine.Buffer(roundBytes + int64(len(payload)))
	way := c.way
	way.Owner, way.Kind, way.Index, way.Order = resource.OfAgents, p2p.PassMessage, index, c.orderOfRound(m)
	way.Context = way.Order[0]
	c.Messages.Interfaces.Leave(way)
}

// orderOfRound returns the key that orders the round messages of a sender.
func (c *Collectives) orderOfRound(m *roundMessage) [2]uint64 {
	return [2]uint64{c.Communicators.At(m.comm).Context, uint64(m.number)<<32 | uint64(uint32(m.round))}
}

// reachRoundAcross has a round message from another engine ask for the interfaces of its receiver's
// node at its arrival.
func (c *Collectives) reachRoundAcross(m *roundMessage, dst int, sent vtime.Time) {
	index := c.rounds.Take()
	r := c.rounds.At(index)
	*r = *m
	c.keep(r, nil, 0)
	c.partition.Engine.Buffer(roundBytes + int64(len(m.payload)))
	p := resource.Passage{Sent: sent, Source: m.rank, Dest: int32(dst), Owner: resource.OfAgents, Kind: p2p.PassMessage, Index: index, Bytes: m.bytes, Order: c.orderOfRound(m)}
	if m.agent != 0 {
		p.Bytes = 0
	}
	c.Messages.Interfaces.Reach(p, m.arrival)
}

// replyAcross sends ACK for the message of an agent's round, once.
func (c *Collectives) replyAcross(index int32, a *agent, m *roundMessage) {
	if m.asked {
		return
	}
	m.asked = true
	p := c.Messages.PassageOf(int(c.partition.Global(a.lp)), int(m.rank), 0, max(a.posted, m.arrival), 0)
	p.Owner, p.Kind, p.Order, p.Index = resource.OfAgents, p2p.PassReply, c.orderOfRound(m), c.shakes.Take()
	*c.shakes.At(p.Index) = roundShake{agent: m.agent, receiver: index, message: a.message, bytes: m.bytes}
	c.Messages.Interfaces.Leave(p)
}

// Left records that a message begins to leave its node at an instant, and asks for the interfaces
// of its receiver's node at another instant.
func (f *roundFreight) Left(p *resource.Passage, begins, asks vtime.Time) {
	c := (*Collectives)(f)
	if asks == vtime.Forever {
		c.partition.PastEnd(int(p.Source), p.At, world.NoProcedure, "a message of %s of a collective to rank %d", spelling.Count(p.Bytes, "byte"), p.Dest)
		return
	}
	s := roundShake{}
	if p.Kind == p2p.PassData {
		s = *c.shakes.At(p.Index)
	}
	_, local := c.partition.Local(int(p.Dest))
	switch {
	case local:
		c.Messages.Interfaces.Reach(*p, asks)
	case p.Kind == p2p.PassMessage:
		m := c.rounds.At(p.Index)
		m.arrival = asks
		c.partition.Engine.Buffer(-roundBytes - int64(len(m.payload)))
		c.sendRoundMessage(m, p.Context, int(p.Dest), p.Sent, m.payload)
		c.disposeRound(p.Index)
	default:
		c.sendRoundAnswer(p, asks)
		c.shakes.Release(p.Index)
	}
	if p.Kind == p2p.PassData {
		c.dataFreed(&s, c.Messages.DataLeft(p, begins))
	}
}

// Freed records that a message to a local rank is on its way. The sender of DATA is free at an
// instant.
func (f *roundFreight) Freed(p *resource.Passage, at vtime.Time) {
	if c := (*Collectives)(f); p.Kind == p2p.PassData {
		c.dataFreed(c.shakes.At(p.Index), at)
	}
}

// dataFreed carries the agent that has sent DATA on at an instant.
func (c *Collectives) dataFreed(s *roundShake, free vtime.Time) {
	if c.partition.Activities != nil {
		c.Messages.CopiedData(s.bytes)
	}
	c.AgentAcknowledged(s.agent, free)
}

// Arrived handles the arrival of a message from another node.
func (f *roundFreight) Arrived(p *resource.Passage, at vtime.Time) {
	c := (*Collectives)(f)
	if at == vtime.Forever {
		c.partition.PastEnd(int(p.Dest), p.At, world.NoProcedure, "a message of %s of a collective from rank %d", spelling.Count(p.Bytes, "byte"), p.Source)
		return
	}
	if c.partition.Activities != nil {
		c.Messages.Passed(p, at, p.Kind == p2p.PassMessage && c.rounds.At(p.Index).agent != 0)
	}
	if p.Kind == p2p.PassMessage {
		m := c.rounds.At(p.Index)
		m.arrival = at
		c.partition.Engine.Buffer(-roundBytes - int64(len(m.payload)))
		lp, _ := c.partition.Local(int(p.Dest))
		c.arriveRound(lp, p.Index, nil, 0)
		return
	}
	s := *c.shakes.At(p.Index)
	if p.Kind == p2p.PassReply {
		data := c.Messages.PassageOf(int(p.Dest), int(p.Source), s.bytes, at, 0)
		data.Owner, data.Kind, data.Order, data.Index = resource.OfAgents, p2p.PassData, p.Order, c.shakes.Take()
		*c.shakes.At(data.Index) = s
		c.Messages.Interfaces.Leave(data)
	} else if a := c.agents.At(s.receiver); a.fate != ended {
		m := c.rounds.At(s.message)
		m.arrival, m.agent = at, 0
		c.continueAgent(s.receiver)
	}
	c.shakes.Release(p.Index)
}

// roundAnswerRecord is the size in bytes of the record of an ACK or DATA of a round between
// engines.
const roundAnswerRecord = 1 + 5*4 + 5*8

// sendRoundAnswer sends ACK or DATA to another engine, whose interfaces it asks for at an instant.
func (c *Collectives) sendRoundAnswer(p *resource.Passage, asks vtime.Time) {
	s, kind := c.shakes.At(p.Index), world.RecordRoundReply
	if p.Kind == p2p.PassData {
		kind = world.RecordRoundData
	}
	w := world.Writer{Rest: c.partition.Engine.Record(c.partition.Engine.Partition().Owner(int(p.Dest)), roundAnswerRecord)}
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

// DeliverRoundAnswer handles a record that holds an ACK or DATA of a round.
func (c *Collectives) DeliverRoundAnswer(kind byte, r world.Reader) {
	p := resource.Passage{Source: int32(r.U32()), Dest: int32(r.U32()), Owner: resource.OfAgents, Kind: p2p.PassReply, Index: c.shakes.Take()}
	s := c.shakes.At(p.Index)
	s.agent, s.receiver, s.message, s.bytes = int32(r.U32()), int32(r.U32()), int32(r.U32()), int64(r.U64())
	if kind == world.RecordRoundData {
		p.Kind, p.Bytes = p2p.PassData, s.bytes
	}
	p.Sent = vtime.Time(r.U64())
	asks := vtime.Time(r.U64())
	p.Order = [2]uint64{r.U64(), r.U64()}
	c.partition.Engine.CheckArrival(int(p.Source), int(p.Dest), p.Sent, asks)
	c.Messages.Interfaces.Reach(p, asks)
}
