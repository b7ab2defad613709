package coll

import (
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// collectiveRecord starts a record about an instance for another engine, with room for n bytes. The
// record need not describe the call: the receiver learns it from the calls of its own members.
func (c *Collectives) collectiveRecord(inst *instance, engine int, kind byte, n int) world.Writer {
	w := world.Writer{Rest: c.partition.Engine.Record(engine, 2+8+4+entrantBytes+n)}
	w.U8(kind)
	w.U8(0)
	w.U64(inst.comm.Context)
	w.U32(inst.Number)
	writeEntrant(&w, inst.entrant)
	return w
}

// entrantBytes is the length in bytes of an entrant in a record.
const entrantBytes = 8 + 4 + 8

func writeEntrant(w *world.Writer, e entrant) {
	w.U64(uint64(e.at))
	w.U32(uint32(e.rank))
	w.U64(uint64(e.signature))
}

func readEntrant(r *world.Reader) entrant {
	return entrant{vtime.Time(r.U64()), int32(r.U32()), signature(r.U64())}
}

// DeliverCollective handles a record about an instance. The record waits if no local member has
// entered the instance yet. It returns false if the whole record waits.
func (c *Collectives) DeliverCollective(src int, record []byte, r world.Reader) bool {
	r.U8()
	comm := c.Communicators.At(c.IndexOfContext(r.U64()))
	number := r.U32()
	inst := comm.numbered(number)
	if inst == nil && number < comm.Next {
		c.checkRecord(comm, number, record[0], readEntrant(&r))
		return true
	}
	if inst == nil {
		if comm.pending == nil {
			comm.pending = map[uint32][]pendingRecord{}
		}
		comm.pending[number] = append(comm.pending[number], pendingRecord{origin{src, 0}, record[0], append([]byte(nil), r.Rest...)})
		return true
	}
	return c.takeRecord(inst, origin{src, len(record)}, record[0], r)
}

// origin is the engine that sent a record, and the length of the record in bytes.
type origin struct{ engine, size int }

// pendingRecord is a record about an instance that has not begun here.
type pendingRecord struct {
	from origin // with size 0, since the record has been consumed
	kind byte
	body []byte
}

// adopt delivers the records that came for an instance before it began.
func (c *Collectives) adopt(inst *instance) {
	for _, p := range inst.comm.pending[inst.Number] {
		c.takeRecord(inst, p.from, p.kind, world.Reader{Rest: p.body})
	}
	delete(inst.comm.pending, inst.Number)
}

// takeRecord handles a record about an instance. It returns false if the record will be consumed
// later. A record with size 0 has been consumed already.
func (c *Collectives) takeRecord(inst *instance, from origin, kind byte, r world.Reader) bool {
	theirs := readEntrant(&r)
	own := c.ofFamily(inst, c.family(theirs.signature))
	switch {
	case own == nil:
		c.bound(inst.comm, inst.Number, inst.entrant, theirs)
		return true
	case kind == world.RecordFailed:
		c.receiveFailed(own, from.engine, r)
		return true
	case own.failed != nil:
		return true
	case theirs.signature != own.signature:
		c.contradiction(own)
		return true
	}
	inst = own
	switch kind {
	case world.RecordJoin:
		c.receiveJoin(inst, r)
	case world.RecordRelease:
		p, t := int(r.U64()), vtime.Time(r.U64())
		if c.explains {
			c.leaving = account{rest: readRest(&r)}
		}
		if len(r.Rest) > 0 && inst.result == nil {
			inst.result = append([]byte(nil), r.Rest...)
		}
		c.releaseHere(inst, p, t)
	case world.RecordArray:
		return c.receiveStretch(inst, from, r)
	case world.RecordTree:
		if inst.fixedCost != nil {
			c.receiveEntries(inst, r)
		} else {
			c.receiveTree(inst, from.engine, r)
		}
	case world.RecordResult:
		if inst.fixedCost != nil {
			last := vtime.Time(r.U64())
			if c.explains {
				inst.fixedCost.rests = readRest(&r)
			}
			c.leaveFixedCost(inst, last, r.Rest)
		} else {
			c.receiveResult(inst, r)
		}
	case world.RecordBlocks:
		c.receivePiece(inst, from.engine, r)
	case world.RecordSplit:
		c.receiveSplit(inst, r)
	case world.RecordGroups:
		c.receiveGroups(inst, r)
	case world.RecordSignature:
		c.announce(inst)
	default:
		invariant.Broken("a record of kind %d", kind)
	}
	return true
}

// sendJoin sends the engine of a node's leader the joins of the node's members here, which are
// complete.
func (c *Collectives) sendJoin(inst *instance, p int) {
	node := p - inst.comm.nodes.here
	var early []contribution
	if inst.join.sums != nil {
		_, early = inst.join.sums.take(p)
	}
	size := 8 + 8 + 4
	if c.explains {
		size += restRecord
	}
	for _, e := range early {
		size += 4 + 8 + len(e.data)
	}
	owner := c.partition.Engine.Partition().Owner(inst.comm.RankOf(inst.comm.nodes.leader(p), 0))
	w := c.collectiveRecord(inst, owner, world.RecordJoin, size)
	w.U64(uint64(p))
	w.U64(uint64(inst.join.last[node]))
	w.U32(uint32(inst.comm.nodes.locals(c, p)))
	if c.explains {
		inst.join.rests[node].write(&w)
	}
	for _, e := range early {
		w.U32(uint32(e.index))
		w.U64(uint64(len(e.data)))
		w.Rest = w.Rest[copy(w.Rest, e.data):]
		c.partition.Buffers.Release(e.data)
	}
}

// receiveJoin reads the joins of another engine's members of a node.
func (c *Collectives) receiveJoin(inst *instance, r world.Reader) {
	p := int(r.U64())
	last, count := vtime.Time(r.U64()), int32(r.U32())
	if c.explains {
		rests := readRest(&r)
		inst.join.rests[p-inst.comm.nodes.here].add(rests)
		inst.join.joinsLater(p-inst.comm.nodes.here, rests.chain, last)
	}
	missing := inst.enterOthers(p-inst.comm.nodes.here, last, count)
	for len(r.Rest) > 0 {
		index, n := int(r.U32()), r.U64()
		c.contribute(inst, p, inst.comm.nodes.member(p, index), r.Rest[:n])
		r.Rest = r.Rest[n:]
	}
	if missing == 0 {
		c.joinedHere(inst, p)
	}
}

// sendRelease sends another engine, which has members of a node, the instant at which the node's
// leader leaves.
func (c *Collectives) sendRelease(inst *instance, p int, t vtime.Time, engine int) {
	size := 16
	if c.explains {
		size += restRecord
	}
	w := c.collectiveRecord(inst, engine, world.RecordRelease, size+len(inst.result))
	w.U64(uint64(p))
	w.U64(uint64(t))
	if c.explains {
		c.leaving.write(&w)
	}
	copy(w.Rest, inst.result)
}
