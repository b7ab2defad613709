package coll

import (
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// The bytes of a collective belong to the operation from the entry of a member to the end of
// its part: its input may be read and its output written. So the positions of a schedule lie
// in input and output wherever they have a place there. A pooled buffer holds them only where
// an algorithm needs more.
//
// The content of a message within an engine is a view of its sender's memory, which lasts
// until the sender changes those bytes or its part is over. Whoever waits for the message
// takes the content in at once. Otherwise the message keeps a copy, unless its sender waits
// for the match. Messages with the same bytes share one copy, also those of members that
// forward what they have received.

// memory holds the bytes of a participant. Positions below split lie in lent, the others in
// own.
type memory struct {
	lent     []byte // the input, which is only read
	own      []byte // what the participant writes: its output, or a pooled buffer
	output   []byte // where the result goes that does not lie there yet
	lentAt   int64  // offset in the layout at which lent begins
	ownAt    int64  // likewise of own
	keptAt   int64  // likewise of kept
	split    int32
	kept     int32 // a content with bytes of this memory, 0 for none
	message  int32 // by messages: the one of which viewed says so
	viewed   bool  // a message that nobody has taken in has a view of this memory as its payload
	buffered bool  // own is a pooled buffer
	copied   bool  // lent is one: the input does not outlive the call
}

// lay gives an agent a memory, which has no bytes so far: the input and the output of a member's call.
func (c *Collectives) lay(a *agent, m *memory, v *Collective, input, output []byte) {
	a.memory = m
	if a.inst.resultBlocks(int(a.member)) > 0 {
		m.output = output
	}
	switch a.placeFor(v, input) {
	case InInput:
		c.lend(a, v, input, a.inst.width)
		if v.Operation == collectives.Bcast {
			m.output = nil // the root has its result
		}
	case InInputFirst:
		c.lend(a, v, input, 1)
		m.own = m.output
	case InBoth:
		w := a.inst.width
		c.lend(a, v, input, w/2)
		m.own, m.ownAt = m.output, a.layout.Offset(w/2)
	case InOutput:
		m.own, m.output, m.ownAt = m.output, nil, a.layout.Offset(a.extent().First)
		c.loadSources(a, input)
	default:
		extent := a.extent()
		m.ownAt, m.buffered = a.layout.Offset(extent.First), true
		m.own = c.partition.Buffers.Take(int(a.layout.Offset(extent.First+extent.Count) - m.ownAt))
		if a.inst.layout == nil { // messages may be shorter than the room for them
			a.results(func(out, mine []byte) { copy(mine, out) })
		}
		c.loadSources(a, input)
	}
}

// Place is where the positions of a member lie.
type Place uint8

const (
	InBuffer     Place = iota
	InInput            // the member receives nothing
	InInputFirst       // a vector that is combined into the output
	InBoth             // what the member sends in the input, what it receives in the output
	InOutput
)

// placeFor returns where the positions of an agent's member lie. Input and output that share
// memory must be one slice where positions lie in both.
func (a *agent) placeFor(v *Collective, input []byte) Place {
	output := a.memory.output
	apart := !world.Overlap(input, output)
	if v.Operation != collectives.Alltoall && v.Operation != collectives.Alltoallv {
		apart = apart || unsafe.SliceData(input) == unsafe.SliceData(output)
	}
	return v.PlaceOf(a.inst.schedule, int(a.member), output != nil, apart)
}

// PlaceOf returns where the positions of a member lie that has an output or not, apart from its
// input or not.
func (v *Collective) PlaceOf(s collectives.Schedule, member int, output, apart bool) Place {
	root, vector := member == v.Root, s.Positions() == 1
	alone := s.Extent(member).Count == 1
	switch v.Operation {
	case collectives.Bcast:
		if root {
			return InInput
		}
		return InOutput
	case collectives.Scatter, collectives.Scatterv:
		switch {
		case root:
			return InInput
		case alone:
			return InOutput
		}
	case collectives.Gather, collectives.Gatherv:
		switch {
		case root:
			return InOutput
		case alone:
			return InInput
		}
	case collectives.Allgather, collectives.Allgatherv:
		return InOutput
	case collectives.Alltoall, collectives.Alltoallv:
		if apart && s.Positions() == 2*s.Members() {
			return InBoth
		}
	case collectives.Reduce, collectives.Allreduce, collectives.Scan:
		switch {
		case apart && vector && !v.Transient:
			return InInputFirst
		case apart && output && v.Operation != collectives.Scan:
			return InOutput
		}
	}
	return InBuffer
}

// extent returns the contiguous range of positions that an agent's member uses.
func (a *agent) extent() collectives.Blocks {
	w, extent := a.inst.width, a.inst.schedule.Extent(int(a.member))
	if extent.Run != 0 || extent.First+extent.Count > w {
		return collectives.Blocks{Count: w}
	}
	return extent
}

// lend lays positions below split into an agent's input.
func (c *Collectives) lend(a *agent, v *Collective, input []byte, split int) {
	m := a.memory
	m.lent, m.split = input, int32(split)
	if split == a.inst.width {
		m.lentAt = a.layout.Offset(a.extent().First)
	}
	if v.Transient && input != nil {
		m.lent, m.copied = c.partition.Buffers.Take(len(input)), true
		copy(m.lent, input)
	}
}

// loadSources copies an agent's input to where its positions lie.
func (c *Collectives) loadSources(a *agent, input []byte) {
	s, extent := a.inst.schedule, a.extent()
	for p := extent.First; p < extent.First+extent.Count; p++ {
		if b := s.Source(int(a.member), p); b != collectives.None {
			at := a.layout.Offset(b)
			moveTo(a.at(p, 1), input[at:at+a.layout.Offset(p+1)-a.layout.Offset(p)])
		}
	}
}

// moveTo copies bytes unless they are there.
func moveTo(to, from []byte) {
	if unsafe.SliceData(to) != unsafe.SliceData(from) {
		copy(to, from)
	}
}

// at returns the memory of n positions, all below split or none.
func (a *agent) at(position, n int) []byte {
	m, begin, end := a.memory, a.layout.Offset(position), a.layout.Offset(position+n)
	if position < int(m.split) {
		return m.lent[begin-m.lentAt : end-m.lentAt]
	}
	return m.own[begin-m.ownAt : end-m.ownAt]
}

// toWrite returns the memory of n positions in which to write. What the agent has lent of it
// is secured.
func (c *Collectives) toWrite(a *agent, position, n int) []byte {
	m := a.memory
	if position < int(m.split) { // from here on the vector lies in own
		if m.own == nil {
			m.own, m.buffered = c.partition.Buffers.Take(int(a.layout.Offset(position+n))), true
		}
		m.split = 0
	}
	into := a.at(position, n)
	if m.viewed {
		c.secure(a, into)
	}
	if m.kept != 0 && m.keptAt < a.layout.Offset(position+n) && a.layout.Offset(position) < m.keptAt+int64(len(c.contents.At(m.kept).bytes)) {
		c.dropKept(m)
	}
	return into
}

// store writes a member's result to its output, if it wants it for itself.
func (a *agent) store() {
	if a.memory.output != nil {
		a.results(moveTo)
	}
}

// results visits the blocks of a member's result: where each lies in the output,
// with all that comes after it, and in its memory.
func (a *agent) results(visit func(out, mine []byte)) {
	s, n := a.inst.schedule, a.inst.resultBlocks(int(a.member))
	out := a.inst.resultBase()
	for b := range n {
		p := s.Result(int(a.member), b)
		if p == collectives.None {
			continue
		}
		at := int64(0)
		if n > 1 {
			at = a.layout.Offset(out+b) - a.layout.Offset(out)
		}
		visit(a.memory.output[at:], a.at(p, 1))
	}
}

// finish ends an agent's memory and gives its buffers back. With the common result of an
// allreduce, whose members have no outputs of their own, it leaves the instance the buffer.
func (c *Collectives) finish(a *agent) {
	m, inst := a.memory, a.inst
	if m.buffered && m.output == nil && inst.result == nil && inst.Call.Operation == collectives.Allreduce {
		inst.result, m.buffered = m.own, false
	}
	c.forget(a)
}

// forget ends an agent's memory and gives its buffers back.
func (c *Collectives) forget(a *agent) {
	m := a.memory
	a.memory = nil
	if m.buffered {
		c.partition.Buffers.Release(m.own)
	}
	if m.copied {
		c.partition.Buffers.Release(m.lent)
	}
	c.dropKept(m)
	*m = memory{}
}

// content is a copy of bytes that messages and the memory of agents share.
type content struct {
	bytes []byte
	users int32
	small [SmallContent]byte // holds a short content
}

// SmallContent is the greatest length of a content that needs no pooled buffer.
const SmallContent = 16

// keep gives a round message, whose content is a view, a copy of its own. If the view is of
// an agent's memory, at an offset of its layout, others with the same bytes share the copy.
func (c *Collectives) keep(r *roundMessage, m *memory, at int64) {
	n := int64(len(r.payload))
	if n == 0 {
		return
	}
	if m != nil && m.kept != 0 {
		piece := c.contents.At(m.kept)
		if begin := at - m.keptAt; begin >= 0 && begin+n <= int64(len(piece.bytes)) {
			piece.users++
			r.payload, r.content = piece.bytes[begin:begin+n], m.kept
			return
		}
		c.dropKept(m)
	}
	r.view, r.content = false, c.contents.Take()
	piece := c.contents.At(r.content)
	if piece.users = 1; n <= SmallContent {
		piece.bytes = piece.small[:n:n]
	} else {
		piece.bytes = c.partition.Buffers.Take(int(n))
	}
	copy(piece.bytes, r.payload)
	r.payload = piece.bytes
	if m != nil && c.Messages.Processors == nil { // a processor sends the messages of an agent one by one
		piece.users++
		m.kept, m.keptAt = r.content, at
	}
}

// dropKept ends the use of a content by a memory, if there is both. An agent that waits has
// no use for it: what it sends on it sends at once.
func (c *Collectives) dropKept(m *memory) {
	if m != nil && m.kept != 0 {
		c.drop(m.kept)
		m.kept = 0
	}
}

// drop ends one use of a content.
func (c *Collectives) drop(index int32) {
	piece := c.contents.At(index)
	if piece.users--; piece.users == 0 {
		if cap(piece.bytes) > SmallContent {
			c.partition.Buffers.Release(piece.bytes)
		}
		c.contents.Release(index)
	}
}

// keepReceived notes that an agent has stored a message's content as it is: it may send it on.
func (c *Collectives) keepReceived(a *agent, b collectives.Blocks, r *roundMessage) {
	first, n, rest := b.Next(a.inst.width)
	at := a.layout.Offset(first)
	if c.Messages.Processors != nil || rest.Count > 0 || a.layout.Offset(first+n)-at != int64(len(r.payload)) {
		return
	}
	m, piece := a.memory, c.contents.At(r.content)
	c.dropKept(m)
	piece.users++
	m.kept, m.keptAt = r.content, at-int64(cap(piece.bytes)-cap(r.payload))
}

// secure gives the message whose payload is a view of an agent's memory a copy of its own,
// before bytes of it are changed.
func (c *Collectives) secure(a *agent, changed []byte) {
	m := a.memory
	if a.inst.mode == Locally {
		if r := &c.localRun; world.Overlap(r.sent[a.member].payload, changed) {
			r.keep(a.member)
			m.viewed = false
		}
		return
	}
	if r := c.rounds.At(m.message); world.Overlap(r.payload, changed) {
		c.keep(r, nil, 0)
		m.viewed = false
	}
}
