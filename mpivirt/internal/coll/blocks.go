package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
)

// Blocks of an allgather or alltoall over arrays, which members receive unchanged, travel between
// engines in large records, independent of the clocks. Blocks of an allgather go up and down the
// tree of the engines that have members, like the vectors of an allreduce. Blocks of an alltoall go
// directly between engines, in pieces, once messages over the same tree have shown that all members
// have entered: from then on outputs may be written. So no piece has to be stored.

// assembling is an engine's state of the blocks of an allgather. Each engine sends its parent its
// own blocks and the blocks of the engines below. The engine at the root has the result, which
// travels back down the tree. The result lies in the output of the first member here.
type assembling struct {
	inputs  [][]byte // of the members here, once all have entered
	parts   [][]byte // by child: the blocks of the engines below it, in buffers
	missing int      // children whose blocks have not arrived, plus one for the engine itself
	done    bool     // the result has arrived, and has been sent to the children
}

// trading is an engine's state of the blocks of an alltoall.
type trading struct {
	inputs  [][]byte // of the members here, once all have entered
	absent  int      // children below which not all members have entered, plus one for the engine itself
	unsent  int      // engines to which blocks are still to be sent
	missing int      // blocks of other engines' members that have not arrived; of an alltoallv, engines
	far     bool     // caches do not hold the outputs
}

// consignment is the progress of sending the blocks of an alltoall to another engine: from each
// member here, a block for each member there.
type consignment struct {
	engine   int
	low, end int   // members there
	from, to int   // what the members before from send has been sent, and of the next ones what those before to get
	at       int64 // of an alltoallv over rows; see nextRowPieces
}

// crossesEngines reports whether blocks of an instance over arrays travel between engines, or their lengths.
func (inst *instance) crossesEngines() bool {
	return (inst.Call.Moved() && Moves(inst.Call.Operation) || inst.Call.Operation == collectives.Alltoallv) && inst.comm.Locals < inst.comm.Size
}

// beginBlocks makes the state of the blocks that travel between engines.
func (c *Collectives) beginBlocks(inst *instance, b *arrayRun) {
	if !inst.crossesEngines() {
		return
	}
	if inst.Call.Operation == collectives.Allgather {
		n := len(c.engineTree(inst).children)
		b.gathered = &assembling{parts: make([][]byte, n), missing: 1 + n}
		return
	}
	b.traded = &trading{}
	if inst.Call.Operation == collectives.Alltoallv {
		others := len(c.others(inst.comm))
		*b.traded = trading{absent: 1 + len(c.engineTree(inst).children), unsent: others, missing: others}
		return
	}
	if inst.layout.Offset(1) > 0 {
		n, here := len(c.engineTree(inst).children), inst.comm.Locals
		*b.traded = trading{absent: 1 + n, unsent: len(c.others(inst.comm)), missing: here * (inst.comm.Size - here)}
	}
}

// enterBlocks starts sending blocks, since all members here have entered.
func (c *Collectives) enterBlocks(inst *instance, b *arrayRun) {
	if g := b.gathered; g != nil {
		g.inputs = c.apart(inst)
		c.addBlocks(inst, g)
	}
	if t := b.traded; t != nil && t.absent > 0 {
		c.holdArrays(b) // from the entries on: others may leave with these blocks before the clocks after some rounds
		if inst.local != nil {
			t.inputs = c.apart(inst)
		}
		t.far = inst.uneven == nil && inst.far()
		c.enterTrade(inst, t)
	}
}

// blocksOver reports whether all blocks between engines have been sent and have arrived, and vectors have been combined.
func (b *arrayRun) blocksOver() bool {
	g, t := b.gathered, b.traded
	return (g == nil || g.done) && (t == nil || t.unsent == 0 && t.missing == 0) && !b.combining
}

// queueBlocks queues an instance that lacked only blocks, if all blocks have arrived.
func (c *Collectives) queueBlocks(inst *instance, b *arrayRun) {
	if b.begun && b.Over() && b.blocksOver() {
		c.queue(inst)
	}
}

// addBlocks records that the blocks of one child, or of the engine itself, are complete. The last
// of them has all blocks sent to the parent.
func (c *Collectives) addBlocks(inst *instance, g *assembling) {
	if g.missing--; g.missing > 0 {
		return
	}
	tree, comm := c.engineTree(inst), inst.comm
	end := comm.Last
	if n := len(tree.children); n > 0 {
		low, _ := c.participants(inst, tree.children[n-1].engine)
		end = low + len(g.parts[n-1])/max(1, int(inst.layout.Offset(1)))
	}
	low := inst.layout.Offset(comm.First)
	var all []byte // of this engine and the engines below, from member First on
	if tree.parent >= 0 {
		w := c.collectiveRecord(inst, tree.parent, world.RecordTree, int(inst.layout.Offset(end)-low))
		all = w.Rest
	} else {
		all = inst.local.outputs[0][low:]
	}
	inst.concatenate(all, comm.First, g.inputs)
	for i, child := range tree.children {
		first, _ := c.participants(inst, child.engine)
		copy(all[inst.layout.Offset(first)-low:], g.parts[i])
		c.partition.Buffers.Release(g.parts[i])
	}
	g.parts = nil
	if tree.parent < 0 {
		c.handOutBlocks(inst, g, tree)
	}
}

// handOutBlocks sends the result, which is in the first output, to the children; the child above
// most engines comes first.
func (c *Collectives) handOutBlocks(inst *instance, g *assembling, tree branches) {
	g.done = true
	result := inst.local.outputs[0][:inst.layout.Offset(inst.comm.Size)]
	for _, child := range slices.Backward(tree.children) {
		w := c.collectiveRecord(inst, child.engine, world.RecordResult, len(result))
		copy(w.Rest, result)
	}
	if len(tree.children) > 0 {
		c.partition.Engine.Flush() // the copies to the other members here take long
	}
}

// receiveBlocks reads the blocks of the engines below a child.
func (c *Collectives) receiveBlocks(inst *instance, b *arrayRun, from int, r world.Reader) {
	g := b.gathered
	i := slices.IndexFunc(c.engineTree(inst).children, func(child branch) bool { return child.engine == from })
	g.parts[i] = c.partition.Buffers.Take(len(r.Rest))
	copy(g.parts[i], r.Rest)
	c.addBlocks(inst, g)
	c.queueBlocks(inst, b)
}

// receiveAllBlocks reads the result of an allgather.
func (c *Collectives) receiveAllBlocks(inst *instance, b *arrayRun, r world.Reader) {
	copy(inst.local.outputs[0], r.Rest)
	c.handOutBlocks(inst, b.gathered, c.engineTree(inst))
	c.queueBlocks(inst, b)
}

// enterTrade records that all members below one child, or here, have entered an alltoall. After the
// last of them it tells the parent.
func (c *Collectives) enterTrade(inst *instance, t *trading) {
	if t.absent--; t.absent > 0 {
		return
	}
	if tree := c.engineTree(inst); tree.parent >= 0 {
		c.sendEntered(inst, tree.parent, world.RecordTree)
	} else {
		c.trade(inst, tree)
	}
}

// sendEntered sends an engine the news that members have entered and, of an alltoallv, the length of their longest block and whether some have no rows.
func (c *Collectives) sendEntered(inst *instance, engine int, kind byte) {
	if inst.uneven == nil {
		c.collectiveRecord(inst, engine, kind, 0)
		return
	}
	w, u := c.collectiveRecord(inst, engine, kind, 8+1), inst.uneven
	w.U64(uint64(u.most))
	if u.listedElsewhere || !u.rows.used() {
		w.U8(1)
	} else {
		w.U8(0)
	}
}

// receiveEntered reads the record of sendEntered.
func (inst *instance) receiveEntered(r world.Reader) {
	if u := inst.uneven; u != nil {
		u.most = max(u.most, int64(r.U64()))
		u.listedElsewhere = r.U8() == 1 || u.listedElsewhere
	}
}

// trade starts sending blocks to other engines, since all members have entered, and tells the
// children. An engine begins with the engine after it, so that not all engines send to the first
// one.
func (c *Collectives) trade(inst *instance, tree branches) {
	for _, child := range slices.Backward(tree.children) {
		c.sendEntered(inst, child.engine, world.RecordResult)
	}
	c.partition.Engine.Flush()
	if inst.uneven != nil {
		c.decideRows(inst)
	}
	others := c.others(inst.comm)
	next, _ := slices.BinarySearch(others, c.partition.Engine.Index())
	for i := range others {
		engine := others[(next+i)%len(others)]
		low, end := c.participants(inst, engine)
		c.partition.Engine.Ready(c.item(task{instance: inst, blocks: inst.consignmentTo(engine, low, end)}))
	}
}

// consignmentTo returns the progress of sending an engine's members, low to end-1, their blocks, before the first.
func (inst *instance) consignmentTo(engine, low, end int) *consignment {
	consigned := &consignment{engine: engine, low: low, end: end, from: inst.comm.First, to: low}
	if inst.uneven != nil {
		consigned.to = 0
	}
	return consigned
}

// pieceBytes bounds a record of several blocks. With its headers it has less than 64 KiB, a
// class of buffers.
const pieceBytes = 1<<16 - 1<<8

// turnBytes is the number of bytes of pieces sent in a row, before other ready items have a turn.
const turnBytes = 8 * pieceBytes

// sendBlocks sends blocks of an alltoall to an engine, as far as there is room. It groups as many
// senders as have blocks in one page of an output.
func (c *Collectives) sendBlocks(inst *instance, consigned *consignment) {
	if inst.uneven != nil {
		c.sendUneven(inst, consigned)
		return
	}
	b := inst.arrays
	if inst.failed != nil {
		return
	}
	t, size := b.traded, int(inst.layout.Offset(1))
	group := max(1, world.PageBytes/size)
	for sent := 0; consigned.from < inst.comm.Last; {
		if !c.partition.Engine.Room(consigned.engine) {
			if invariant.Enabled {
				c.checkHeld(inst, &b.hold)
			}
			c.partition.Engine.Throttle(c.item(task{instance: inst, blocks: consigned}), b.hold.least, consigned.engine)
			return
		}
		if sent > turnBytes {
			c.partition.Engine.Ready(c.item(task{instance: inst, blocks: consigned}))
			return
		}
		senders := min(group, inst.comm.Last-consigned.from)
		receivers := min(max(1, pieceBytes/(senders*size)), consigned.end-consigned.to)
		c.sendPiece(inst, t, consigned, senders, receivers)
		sent += senders * receivers * size
		if consigned.to += receivers; consigned.to == consigned.end {
			consigned.from, consigned.to = consigned.from+senders, consigned.low
		}
	}
	if t.unsent--; t.unsent == 0 {
		c.queueBlocks(inst, b)
	}
}

// sendPiece sends the blocks of some senders for some receivers, sorted by receiver, then by
// sender.
func (c *Collectives) sendPiece(inst *instance, t *trading, consigned *consignment, senders, receivers int) {
	size := int(inst.layout.Offset(1))
	w := c.collectiveRecord(inst, consigned.engine, world.RecordBlocks, 3*4+senders*receivers*size)
	w.U32(uint32(consigned.from))
	w.U32(uint32(senders))
	w.U32(uint32(consigned.to))
	for i, in := range t.inputs[consigned.from-inst.comm.First:][:senders] {
		blocks := in[consigned.to*size:][:receivers*size]
		for at := i * size; len(blocks) > 0; at += senders * size {
			copy(w.Rest[at:], blocks[:size])
			blocks = blocks[size:]
		}
	}
	c.partition.Engine.Copied(senders * receivers * size)
}

// receivePiece reads a record of sendPiece.
func (c *Collectives) receivePiece(inst *instance, engine int, r world.Reader) {
	switch {
	case inst.goesByRounds():
		c.receiveDistant(inst, r)
		return
	case inst.uneven != nil:
		c.receiveUneven(inst, engine, r)
		return
	}
	b := inst.arrays
	from, senders, to := int(r.U32()), int(r.U32()), int(r.U32())
	size := int(inst.layout.Offset(1))
	b.traded.missing -= len(r.Rest) / size
	for ; len(r.Rest) > 0; to++ {
		blocks := r.Rest[:senders*size]
		if out := inst.local.outputs[to-inst.comm.First][from*size:]; b.traded.far {
			world.CopyPast(out, blocks)
		} else {
			copy(out, blocks)
		}
		r.Rest = r.Rest[len(blocks):]
	}
	if b.traded.far {
		world.Fence()
	}
	c.queueBlocks(inst, b)
}
