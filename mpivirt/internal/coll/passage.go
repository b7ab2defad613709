package coll

import (
	"gigarank/collectives"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Round messages pass the interfaces of nodes as other messages do (room resource). An agent that
// receives a message above the eager limit answers REQ by ACK, and waits for DATA.

// roundShake is the ACK or DATA of a round on its way between nodes.
type roundShake struct {
	agent    int32      // that sends DATA
	rank     int32      // that receives it; known once ACK has come
	receiver int32      // agent
	message  int32      // of the receiver's engine
	round    int32      // of the message
	bytes    int64      // of DATA
	came     vtime.Time // ACK at the agent
	apart    bool       // it takes no places at interfaces and memories
}

// roundFreight receives round messages that have passed between nodes. It implements
// [resource.Freight].
type roundFreight Collectives

var _ resource.Freight = (*roundFreight)(nil)

// takesNoPlaces reports whether the messages of a call, among a number of members, take no places at the interfaces and the memory that the ranks of a
// node share. They then wait for no other message, and delay none, so that the call goes in bulk whatever else the program does. Messages without bytes
// occupy no interface that has no gap. Where all ranks gather colors and keys of new communicators, each message has an equal share of
// what its node shares (see [network.Target.EqualShares]): all ranks of a node send at the same time in such a call, and the last of their
// messages decides when the next round begins.
func takesNoPlaces(t *network.Target, v *Collective, members int) bool {
	if !t.Contended() || t.EqualShares() == t {
		return false
	}
	if v.Creation != nil && v.Operation == collectives.Allgather {
		return members == t.Ranks()
	}
	_, _, gap := t.Interfaces()
	return v.Bytes == 0 && gap == 0 && synchronizing(v.Operation)
}

// shares reports whether a message between two ranks takes places at interfaces, links or the memory of a node. apart says that it takes none.
func (c *Collectives) shares(apart bool, src, dst int) bool {
	return !apart && c.Messages.Shares(src, dst)
}

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
	if c.explains {
		*c.carries.Open(index) = c.carrying
	}
	c.keep(r, owner, at)
	c.partition.Engine.Buffer(roundBytes + int64(len(payload)))
	way := c.way
	way.Owner, way.Kind, way.Index, way.Order = resource.OfAgents, p2p.PassMessage, index, c.orderOfRound(m)
	way.Context = way.Order[0]
	c.Messages.Interfaces.Leave(way)
}

// orderOfRound returns the key that orders the round messages of a sender.
func (c *Collectives) orderOfRound(m *roundMessage) [2]uint64 {
	return [2]uint64{c.Communicators.At(m.comm).Context, uint64(m.number)<<32 | uint64(uint32(c.layering.layerOf(m.round)))}
}

// reachRoundAcross has a round message from another engine ask for the interfaces of its receiver's
// node at its arrival.
func (c *Collectives) reachRoundAcross(m *roundMessage, dst int, sent vtime.Time) {
	index := c.rounds.Take()
	r := c.rounds.At(index)
	*r = *m
	if c.explains {
		*c.carries.Open(index) = c.carrying
	}
	c.keep(r, nil, 0)
	c.partition.Engine.Buffer(roundBytes + int64(len(m.payload)))
	p := resource.Passage{Sent: sent, Source: m.rank, Dest: int32(dst), Owner: resource.OfAgents, Kind: p2p.PassMessage, Index: index, Bytes: m.bytes, Order: c.orderOfRound(m)}
	if m.agent != 0 {
		p.Bytes = 0
	}
	c.Messages.Interfaces.Reach(p, m.arrival)
}

// reply sends ACK for the message of a round of an agent, once.
func (c *Collectives) reply(index int32, a *agent, message int32) {
	m := c.rounds.At(message)
	if m.ways&asked != 0 {
		return
	}
	m.ways |= asked
	c.takeOver(m)
	p := c.Messages.PassageOf(int(c.partition.Global(a.lp)), int(m.rank), 0, max(a.posted, m.arrival), 0)
	p.Owner, p.Kind, p.Order, p.Index = resource.OfAgents, p2p.PassReply, c.orderOfRound(m), c.shakes.Take()
	*c.shakes.At(p.Index) = roundShake{agent: m.agent, round: m.round, receiver: index, message: message, bytes: m.bytes, apart: m.ways&apart != 0}
	if c.explains {
		t := c.tells.Open(p.Index)
		*t = carried{rest: c.answers(index, a.posted, m.arrival)}
		if late := c.calledAt(a, m.arrival); a.posted <= m.arrival && c.carries.Open(message).chain == late {
			t.chain = late // see takesLate
		}
	}
	arrival := p.At.Add(p.Latency)
	if arrival == vtime.Forever {
		c.pastReceive(a.inst, int(m.rank), int(p.Source), m.bytes, p.At)
	}
	c.sendAnswer(&p, arrival)
}

// procedureOf returns the procedure of the call to which a message of a round belongs.
func (c *Collectives) procedureOf(p *resource.Passage) world.Procedure {
	if p.Kind == p2p.PassMessage {
		return c.rounds.At(p.Index).signature.call()
	}
	if inst := c.Communicators.At(c.IndexOfContext(p.Order[0])).numbered(uint32(p.Order[1] >> 32)); inst != nil {
		return inst.Call.Procedure
	}
	return world.NoProcedure
}

// Left records that a message begins to leave its node at an instant, and asks for the interfaces
// of its receiver's node at another instant.
func (f *roundFreight) Left(p *resource.Passage, begins, asks vtime.Time) {
	c := (*Collectives)(f)
	if asks == vtime.Forever {
		c.partition.PastEnd(int(p.Source), p.At, c.procedureOf(p), "a message of %s to rank %d", spelling.Count(p.Bytes, "byte"), p.Dest)
		return
	}
	if c.explains {
		c.passing(p).shared += begins.Sub(p.Sent)
	}
	s, left := roundShake{}, departed{}
	if p.Kind == p2p.PassData {
		s, left = *c.shakes.At(p.Index), c.delaysOf(p, 0)
	}
	_, local := c.partition.Local(int(p.Dest))
	switch {
	case local:
		c.Messages.Interfaces.Reach(*p, asks)
	case p.Kind == p2p.PassMessage:
		m := c.rounds.At(p.Index)
		m.arrival = asks
		c.partition.Engine.Buffer(-roundBytes - int64(len(m.payload)))
		if c.explains {
			c.carrying = *c.carries.Open(p.Index)
		}
		c.sendRoundMessage(m, p.Context, int(p.Dest), p.Sent, m.payload)
		c.disposeRound(p.Index)
	default:
		c.sendRoundAnswer(p, asks)
		c.shakes.Release(p.Index)
	}
	if p.Kind == p2p.PassData {
		left.at = c.Messages.DataLeft(p, begins)
		c.dataFreed(&s, left)
	}
}

// Freed records that a message to a local rank is on its way. The sender of DATA is free at an
// instant.
func (f *roundFreight) Freed(p *resource.Passage, at vtime.Time, delay vtime.Duration) {
	if c := (*Collectives)(f); p.Kind == p2p.PassData {
		left := c.delaysOf(p, delay)
		left.at = at
		c.dataFreed(c.shakes.At(p.Index), left)
	}
}

// delaysOf returns the delays of ACK, of DATA until they have begun to leave, and of their leaving.
func (c *Collectives) delaysOf(p *resource.Passage, delay vtime.Duration) (g departed) {
	if !c.explains {
		return g
	}
	t := c.tells.Open(p.Index)
	if g.shared, g.within = t.shared, t.within; c.Messages.WithinNode(p) {
		g.within += delay
	} else {
		g.shared += delay
	}
	return g
}

// dataFreed carries the agent on whose DATA have left.
func (c *Collectives) dataFreed(s *roundShake, left departed) {
	if c.partition.Activities != nil {
		c.Messages.CopiedData(s.bytes)
	}
	c.leaves(s.agent, left)
	c.AgentAcknowledged(s.agent, left.at)
}

// Arrived handles the arrival of a message from another node.
func (f *roundFreight) Arrived(p *resource.Passage, at vtime.Time) {
	c := (*Collectives)(f)
	if p.Kind == p2p.PassWork {
		c.combined(p, at)
		return
	}
	if at == vtime.Forever {
		c.partition.PastEnd(int(p.Dest), p.At, c.procedureOf(p), "a message of %s from rank %d", spelling.Count(p.Bytes, "byte"), p.Source)
		return
	}
	if c.partition.Activities != nil {
		c.Messages.Passed(p, at, p.Kind == p2p.PassMessage && c.rounds.At(p.Index).agent != 0)
	}
	if c.explains {
		c.delayed(c.passing(p), p, at)
	}
	if p.Kind == p2p.PassMessage {
		m := c.rounds.At(p.Index)
		m.arrival = at
		c.partition.Engine.Buffer(-roundBytes - int64(len(m.payload)))
		lp, _ := c.partition.Local(int(p.Dest))
		c.arriveRound(lp, p.Index, nil, 0)
		return
	}
	c.roundAnswered(p, at)
}

// roundAnswered handles ACK or DATA of a round, which reaches its rank at an instant.
func (c *Collectives) roundAnswered(p *resource.Passage, at vtime.Time) {
	s := c.shakes.At(p.Index)
	if p.Kind == p2p.PassReply {
		a := c.agents.At(s.agent)
		if c.explains {
			c.readied(s.agent, c.tells.Open(p.Index).rest, at)
		}
		s.came = at
		if s.rank = p.Source; a.paced {
			known := false
			if at, known = c.awaitCall(s.agent, a, p.Index, at); !known {
				return
			}
			c.answersLate(p.Index, a, at)
		}
		c.sendRoundData(p.Index, at)
		return
	}
	if a := c.agents.At(s.receiver); a.fate != ended {
		m := c.rounds.At(s.message)
		if c.explains {
			t, of := c.tells.Open(p.Index), c.carries.Open(s.message)
			of.shared, of.within = of.shared+t.shared, of.within+t.within
			if t.chain.Rank != world.None {
				of.chain = t.chain
			}
		}
		m.arrival, m.agent, m.taking = at, 0, untaken
		if a.message == s.message {
			c.continueAgent(s.receiver)
		} else if a.paced { // its turn has not come
			c.takesInCall(s.receiver, a, s.message)
		}
	}
	c.shakes.Release(p.Index)
}

// sendRoundData has DATA of a round leave at an instant, at which its sender handles ACK.
func (c *Collectives) sendRoundData(index int32, at vtime.Time) {
	s := *c.shakes.At(index)
	a := c.agents.At(s.agent)
	if a.fate == ended {
		c.shakes.Release(index)
		return
	}
	src := int(c.partition.Global(a.lp))
	p := c.passageOf(a.inst, s.round, src, int(s.rank), s.bytes, at, 0)
	p.Owner, p.Kind, p.Order, p.Index = resource.OfAgents, p2p.PassData, [2]uint64{a.inst.comm.Context, uint64(a.inst.Number)<<32 | uint64(uint32(s.round))}, index
	if c.shares(s.apart, src, int(s.rank)) {
		c.Messages.Interfaces.Leave(p)
		return
	}
	arrival, free := c.congested(a.inst, s.round).Data(src, int(s.rank), s.bytes, at)
	if max(arrival, free) == vtime.Forever {
		c.pastSend(a.inst, src, int(s.rank), s.bytes, at)
	}
	left := c.delaysOf(&p, 0)
	left.at = free
	c.sendAnswer(&p, arrival)
	c.dataFreed(&s, left)
}

// sendAnswer sends ACK or DATA of a round. Without interfaces on its way it arrives at an instant.
func (c *Collectives) sendAnswer(p *resource.Passage, arrival vtime.Time) {
	if c.shares(c.shakes.At(p.Index).apart, int(p.Source), int(p.Dest)) {
		c.Messages.Interfaces.Leave(*p)
		return
	}
	if c.partition.Activities != nil {
		c.Messages.Passed(p, arrival, false)
	}
	if _, local := c.partition.Local(int(p.Dest)); local {
		c.roundAnswered(p, arrival)
		return
	}
	c.sendRoundAnswer(p, arrival)
	c.shakes.Release(p.Index)
}

// roundAnswerRecord is the size of ACK or DATA of a round between engines.
const roundAnswerRecord = 2 + 5*4 + 5*8

// sendRoundAnswer sends ACK or DATA to another engine, whose interfaces it asks for at an instant.
func (c *Collectives) sendRoundAnswer(p *resource.Passage, asks vtime.Time) {
	s, kind := c.shakes.At(p.Index), world.RecordRoundReply
	if p.Kind == p2p.PassData {
		kind = world.RecordRoundData
	}
	size := roundAnswerRecord
	if c.explains {
		size += carriedRecord
	}
	w := world.Writer{Rest: c.partition.Engine.Record(c.partition.Engine.Partition().Owner(int(p.Dest)), size)}
	w.U8(kind)
	w.U8(map[bool]uint8{true: 1}[s.apart])
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
	if c.explains {
		c.tells.Open(p.Index).write(&w)
	}
}

// DeliverRoundAnswer handles a record that holds an ACK or DATA of a round.
func (c *Collectives) DeliverRoundAnswer(kind byte, r world.Reader) {
	apart := r.U8() != 0
	p := resource.Passage{Source: int32(r.U32()), Dest: int32(r.U32()), Owner: resource.OfAgents, Kind: p2p.PassReply, Index: c.shakes.Take()}
	s := c.shakes.At(p.Index)
	s.apart = apart
	s.agent, s.receiver, s.message, s.bytes = int32(r.U32()), int32(r.U32()), int32(r.U32()), int64(r.U64())
	if kind == world.RecordRoundData {
		p.Kind, p.Bytes = p2p.PassData, s.bytes
	}
	p.Sent = vtime.Time(r.U64())
	asks := vtime.Time(r.U64())
	p.Order = [2]uint64{r.U64(), r.U64()}
	if c.explains {
		*c.tells.Open(p.Index) = readCarried(&r)
	}
	s.round = int32(uint32(p.Order[1]))
	c.partition.Engine.CheckArrival(int(p.Source), int(p.Dest), p.Sent, asks)
	if c.shares(s.apart, int(p.Source), int(p.Dest)) {
		c.Messages.Interfaces.Reach(p, asks)
		return
	}
	c.roundAnswered(&p, asks)
}
