package coll

import (
	"encoding/binary"

	"gigarank/mpivirt/internal/world"
)

// Rows of an alltoallv between engines. Each engine sends another the blocks of its members for the members there, sender by sender, the empty ones, too:
// lengths without numbers, or a single length if all blocks of a sender have it. The news that all members have entered tells each engine whether all have rows.

// arrivals are the lengths of the blocks that members here receive from members of other engines.
type arrivals struct {
	each    []int32 // by sender: the length of all its blocks; inRow
	lengths []int32 // rows by member here, if there is any, stride apart; the length of the block of each sender
	columns columns
	at      map[int][]int64 // by engine: the place in the memory of each member here of its next block
	to      [][]int64       // by other engine: the place in the memory of each member here of its first block for a member there
}

// reset leaves no arrivals.
func (a *arrivals) reset() {
	clear(a.each)
	a.columns.first, a.at, a.to = -1, nil, nil
}

// decideRows puts rows in lists unless the rounds are over rows. All members have entered.
func (c *Collectives) decideRows(inst *instance) {
	if u := inst.uneven; !u.onlyRows(inst.arrays.Target.EagerLimit()) {
		u.listRows(inst.comm)
	}
}

// column stores the lengths of the messages that members here, from a first one on, receive in a round of a pairwise exchange.
func (a *arrivals) column(round, first, members int, sent, received []int64) {
	from := (first + members - round - 1) % members // the sender of the first member here
	if a.lengths == nil {
		for i := range received {
			if here := from - first; uint(here) < uint(len(sent)) {
				received[i] = sent[here]
			} else {
				received[i] = int64(a.each[from])
			}
			if from++; from == members {
				from = 0
			}
		}
		return
	}
	for i, n := range a.columns.of(round, len(received), func(lengths []int32, stride int) { a.read(round, first, members, lengths, stride) }) {
		if here := from - first; uint(here) < uint(len(sent)) {
			received[i] = sent[here]
		} else {
			received[i] = int64(n)
		}
		if from++; from == members {
			from = 0
		}
	}
}

// read reads the columns of the rounds from one on. Senders here have no entry that counts.
func (a *arrivals) read(round, first, members int, columns []int32, stride int) {
	for local := range stride - skew {
		row, from := a.lengths[local*(members+skew):], (first+local+members-round-1)%members
		for at := local; at < len(columns); at += stride {
			if columns[at] = a.each[from]; columns[at] == inRow {
				columns[at] = row[from]
			}
			if from--; from < 0 {
				from = members - 1
			}
		}
	}
}

// piece are blocks of a member here for members there, one behind another.
type rowPiece struct {
	from, to, blocks int
	begin, end       int64 // of the contents in the memory of the sender
}

// Lengths of the head of a piece in a record, and of a length behind it.
const (
	pieceHead   = 4 * 4
	lengthBytes = 4
)

// startsTo returns the places of the first blocks for the members of another engine, the first of which is low.
func (c *Collectives) startsTo(inst *instance, engine int) []int64 {
	r, others := inst.uneven.rows, c.others(inst.comm)
	if r.arrived.to == nil {
		r.arrived.to = r.in.startsAt(c.firstOf(inst, others))
	}
	for i, other := range others {
		if other == engine {
			return r.arrived.to[i]
		}
	}
	return nil
}

// firstOf returns the first members of engines.
func (c *Collectives) firstOf(inst *instance, engines []int) []int {
	first := make([]int, len(engines))
	for i, engine := range engines {
		first[i], _ = c.participants(inst, engine)
	}
	return first
}

// nextRowPieces sets u.pieces to the next blocks of a consignment: at least one, and as many as fit into a record. It returns the size of
// the record, and whether they are the last. Of a consignment, to counts the blocks of member from that have been sent, and at is the place of the next.
func (u *uneven) nextRowPieces(comm *Communicator, t *trading, consigned *consignment, starts []int64) (size int, last bool) {
	in, width := &u.rows.in, consigned.end-consigned.low
	u.pieces, size = u.pieces[:0], 1
	for ; consigned.from < comm.Last; consigned.from, consigned.to = consigned.from+1, 0 {
		local := consigned.from - comm.First
		if consigned.to == 0 && t.inputs != nil {
			consigned.at = starts[local]
		}
		p := rowPiece{from: consigned.from, to: consigned.low + consigned.to, begin: consigned.at, end: consigned.at}
		length := 0
		if in.each[local] == inRow {
			length = lengthBytes
		}
		needs := pieceHead
		for consigned.to < width {
			n := in.of(local, consigned.low+consigned.to)
			block := length
			if t.inputs != nil {
				block += int(n)
			}
			if len(u.pieces)+p.blocks > 0 && size+needs+block > pieceBytes {
				break
			}
			needs, p.end = needs+block, p.end+n
			p.blocks++
			consigned.to++
		}
		if p.blocks > 0 {
			consigned.at = p.end
			u.pieces, size = append(u.pieces, p), size+needs
		}
		if consigned.to < width {
			return size, false
		}
	}
	return size, true
}

// sendRowPieces sends a record of the next blocks of a consignment. It reports whether they are the last.
func (c *Collectives) sendRowPieces(inst *instance, t *trading, consigned *consignment) (bytes int, last bool) {
	u := inst.uneven
	var starts []int64
	if t.inputs != nil {
		starts = c.startsTo(inst, consigned.engine)
	}
	size, last := u.nextRowPieces(inst.comm, t, consigned, starts)
	w := c.collectiveRecord(inst, consigned.engine, world.RecordBlocks, size)
	w.U8(flagsOfBlocks(last, true))
	for _, p := range u.pieces {
		local := p.from - inst.comm.First
		each := u.rows.in.each[local]
		w.U32(uint32(p.from))
		w.U32(uint32(p.to))
		w.U32(uint32(p.blocks))
		w.U32(uint32(each))
		if each == inRow {
			for i, n := range u.rows.in.row(local)[p.to:][:p.blocks] {
				binary.LittleEndian.PutUint32(w.Rest[lengthBytes*i:], uint32(n))
			}
			w.Rest = w.Rest[lengthBytes*p.blocks:]
		}
		if t.inputs != nil {
			w.Rest = w.Rest[copy(w.Rest, t.inputs[local][p.begin:p.end]):]
		}
	}
	c.partition.Engine.Copied(size)
	return size, last
}

// receiveRowPieces reads the blocks of a record of sendRowPieces.
func (c *Collectives) receiveRowPieces(inst *instance, engine int, r world.Reader) {
	u, first := inst.uneven, inst.comm.First
	a, out := &u.rows.arrived, &u.rows.out
	if a.each == nil {
		a.each = make([]int32, inst.comm.Size)
	}
	var places []int64
	if inst.local != nil {
		places = c.placesFor(inst, engine)
	}
	for len(r.Rest) > 0 {
		from, to, blocks, each := int(r.U32()), int(r.U32()), int(r.U32()), int32(r.U32())
		var lengths []byte
		if a.each[from] = each; each == inRow {
			lengths, r.Rest = r.Rest[:lengthBytes*blocks], r.Rest[lengthBytes*blocks:]
			if a.lengths == nil {
				a.lengths = make([]int32, len(out.each)*out.stride())
			}
		}
		for i := range blocks {
			local, n := to+i-first, each
			if lengths != nil {
				n = int32(binary.LittleEndian.Uint32(lengths[lengthBytes*i:]))
				a.lengths[local*out.stride()+from] = n
			}
			bytes, room := int64(n), out.of(local, from)
			if places != nil {
				at := places[local]
				copy(inst.local.outputs[local][at:at+room], r.Rest[:bytes])
				places[local], r.Rest = at+room, r.Rest[bytes:]
			}
			if bytes > room {
				u.cutsOff(to+i, cutOff{roundTo(from, to+i, inst.comm.Size), inst.comm.RankOf(from, 0), bytes, room})
			}
		}
	}
}

// placesFor returns the places in the memory of members here of the next blocks from an engine.
func (c *Collectives) placesFor(inst *instance, engine int) []int64 {
	a := &inst.uneven.rows.arrived
	if a.at == nil {
		others := c.others(inst.comm)
		a.at = make(map[int][]int64, len(others))
		for i, starts := range inst.uneven.rows.out.startsAt(c.firstOf(inst, others)) {
			a.at[others[i]] = starts
		}
	}
	return a.at[engine]
}
