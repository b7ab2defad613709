package coll

import (
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// The bytes of a collective belong to the operation from the entry of a member to the end of its
// part: the operation may read the member's input and write its output. So the positions of a
// schedule lie in input and output wherever they have a place there. A pooled buffer holds them
// only where an algorithm needs more memory.
//
// The content of a message within an engine is a view of its sender's memory, valid until the
// sender changes these bytes or its part is over. An agent that waits for the message absorbs the
// content at once. Otherwise the message gets a copy, unless its sender waits for the match.
// Messages with the same bytes share one copy, also messages of members that forward received bytes.

// memory holds the bytes of a participant. Positions below split lie in lent, the other positions
// in own.
type memory struct {
	lent     []byte // the member's input, which is only read
	own      []byte // written by the participant: its output, or a pooled buffer
	output   []byte // output for a result that lies elsewhere
	lentAt   int64  // offset in the layout at which lent begins
	ownAt    int64  // offset in the layout at which own begins
	keptAt   int64  // offset in the layout at which kept begins
	split    int32
	kept     int32 // a content with bytes of this memory, 0 for none
	message  int32 // by messages: the message that viewed refers to
	viewed   bool  // the payload of a message that no agent has received is a view of this memory
	buffered bool  // own is a pooled buffer
	copied   bool  // lent is a pooled buffer: the input does not outlive the call
}

// lay gives an agent an empty memory over the input and the output of a member's call.
func (c *Collectives) lay(a *agent, m *memory, v *Collective, input, output []byte) {
	a.memory = m
	if a.inst.resultBlocks(int(a.member)) > 0 {
		m.output = output
	}
	switch a.placeFor(v, input) {
	case InInput:
		c.lend(a, v, input, a.inst.width)
		if v.Operation == collectives.Bcast {
			m.output = nil // the root's result is in place
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

// Place says where the positions of a member lie.
type Place uint8

const (
	InBuffer     Place = iota
	InInput            // the member receives no message
	InInputFirst       // a vector that is combined into the output
	InBoth             // sent positions in the input, received positions in the output
	InOutput
)

// placeFor returns the place of the positions of an agent's member. Where positions lie in both, an
// input and an output that share memory must be the same slice.
func (a *agent) placeFor(v *Collective, input []byte) Place {
	output := a.memory.output
	apart := !world.Overlap(input, output)
	if v.Operation != collectives.Alltoall && v.Operation != collectives.Alltoallv {
		apart = apart || unsafe.SliceData(input) == unsafe.SliceData(output)
	}
	return v.PlaceOf(a.inst.schedule, int(a.member), output != nil, apart)
}

// PlaceOf returns the place of the positions of a member. output says that the member has an
// output, apart that output and input are one slice or share no memory.
func (v *Collective) PlaceOf(s collectives.Schedule, member int, output, apart bool) Place {
	root, vector := member == v.Root, s.Positions() == 1
	alone := s.Extent(member).Count*s.Members() <= s.Positions() // only the member's own block
	switch v.Operation {
	case collectives.Bcast:
		if root {
			return InInput
		}
		return InOutput
	case collectives.Scatter, collectives.Scatterv:
		switch {
		case root && collectives.Permutes(s):
		case root:
			return InInput
		case alone:
			return InOutput
		}
	case collectives.Gather, collectives.Gatherv:
		switch {
		case root && collectives.Permutes(s):
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
		case collectives.KeepsVectors(s):
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

// lend places the positions below split in an agent's input.
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

// loadSources copies an agent's input to the place of its positions. The positions of a vector are the
// vector, which only the root of a broadcast has, in its input.
func (c *Collectives) loadSources(a *agent, input []byte) {
	s, extent := a.inst.schedule, a.extent()
	switch a.inst.Call.Operation {
	case collectives.Bcast:
		return
	case collectives.Reduce, collectives.Allreduce:
		if !a.inst.vectors {
			moveTo(a.at(0, a.inst.width), input)
			return
		}
	}
	for p := extent.First; p < extent.First+extent.Count; p++ {
		if b := s.Source(int(a.member), p); b != collectives.None {
			at := a.layout.Offset(b)
			moveTo(a.at(p, 1), input[at:at+a.layout.Offset(p+1)-a.layout.Offset(p)])
		}
	}
}

// moveTo copies bytes, unless source and destination are the same memory.
func moveTo(to, from []byte) {
	if unsafe.SliceData(to) != unsafe.SliceData(from) {
		copy(to, from)
	}
}

// at returns the memory of n positions, which lie all below split or all above.
func (a *agent) at(position, n int) []byte {
	m, begin, end := a.memory, a.layout.Offset(position), a.layout.Offset(position+n)
	if position < int(m.split) {
		return m.lent[begin-m.lentAt : end-m.lentAt]
	}
	return m.own[begin-m.ownAt : end-m.ownAt]
}

// toWrite returns the memory of n positions to write to. It secures messages that are views of this
// memory.
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

// store copies a member's result to its output, if the result lies elsewhere.
func (a *agent) store() {
	if a.memory.output != nil {
		a.results(moveTo)
	}
}

// results visits the blocks of a member's result: for each, its place in the output, and the block in the member's memory.
func (a *agent) results(visit func(out, mine []byte)) {
	s, n := a.inst.schedule, a.inst.resultBlocks(int(a.member))
	out := a.inst.resultBase()
	for b := range n {
		p := s.Result(int(a.member), b)
		if p == collectives.None {
			continue
		}
		room := a.memory.output
		if n > 1 { // a member's own block may be longer than its place
			begin := a.layout.Offset(out)
			room = room[a.layout.Offset(out+b)-begin : a.layout.Offset(out+b+1)-begin]
		}
		visit(room, a.at(p, 1))
	}
}

// finish ends the use of an agent's memory and releases its buffers. For an allreduce whose members
// have no outputs, the instance takes over the buffer with the common result.
func (c *Collectives) finish(a *agent) {
	m, inst := a.memory, a.inst
	if m.buffered && m.output == nil && inst.result == nil && inst.Call.Operation == collectives.Allreduce {
		inst.result, m.buffered = m.own, false
		if inst.vectors { // the result is the first
			inst.result = m.own[:a.layout.Offset(1)]
		}
	}
	c.forget(a)
}

// forget ends the use of an agent's memory and releases its buffers.
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

// content is a copy of bytes that messages and the memories of agents share.
type content struct {
	bytes []byte
	users int32
	small [SmallContent]byte // holds a short content
}

// SmallContent is the greatest length of a content that needs no pooled buffer.
const SmallContent = 16

// keep gives a round message whose content is a view a copy. If the view is of an agent's memory,
// at an offset of its layout, other messages with the same bytes share the copy.
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

// dropKept ends a memory's use of its kept content, if any. An agent that waits needs none: it
// sends forwarded bytes at once.
func (c *Collectives) dropKept(m *memory) {
	if m != nil && m.kept != 0 {
		c.drop(m.kept)
		m.kept = 0
	}
}

// drop ends one use of a content, and releases it after the last use.
func (c *Collectives) drop(index int32) {
	piece := c.contents.At(index)
	if piece.users--; piece.users == 0 {
		if cap(piece.bytes) > SmallContent {
			c.partition.Buffers.Release(piece.bytes)
		}
		c.contents.Release(index)
	}
}

// keepReceived stores in an agent's memory that it has a message's content unchanged, which the
// agent may forward.
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

// secure gives the message whose payload is a view of an agent's memory a copy, before the agent
// changes bytes of the view.
func (c *Collectives) secure(a *agent, changed []byte) {
	m := a.memory
	if a.inst.mode != ByMessages { // round by round, see localRun
		if r := &c.localRun; world.Overlap(r.payloads[int(a.member)-r.first], changed) {
			r.keep(a.member - int32(r.first))
			m.viewed = false
		}
		return
	}
	if r := c.rounds.At(m.message); world.Overlap(r.payload, changed) {
		c.keep(r, nil, 0)
		m.viewed = false
	}
}
