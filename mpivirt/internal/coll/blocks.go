package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
)

// Blocks of an allgather or alltoall over arrays, which members get as they are, go between
// engines many at a time, beside the clocks. Those of an allgather go up and down the tree of
// the engines that have members, like the vectors of an allreduce. Those of an alltoall go from
// each engine to each other one, in pieces, once the same tree has told that all members have
// entered: from then on their outputs may be written. So a piece is never kept.

// assembling is what an engine keeps of the blocks of an allgather. Each engine sends its
// parent the blocks of the engines below it and its own. The engine at the root has the
// result, which takes the way back. It lies in the output of the first member here.
type assembling struct {
	inputs  [][]byte // of the members here, once all have entered
	parts   [][]byte // by child: the blocks of the engines below it, in buffers
	missing int      // children whose blocks have not come, and the engine itself
	done    bool     // the result is there, and children have been sent it
}

// trading is what an engine keeps of the blocks of an alltoall.
type trading struct {
	inputs  [][]byte // of the members here, once all have entered
	absent  int      // children below which not all members have entered, and the engine itself
	unsent  int      // engines that have not been sent all blocks
	missing int      // blocks of other engines' members that have not come
	far     bool     // caches do not hold the outputs
}

// consignment is what an engine sends another one of the blocks of an alltoall: of each
// member here the blocks for the members there.
type consignment struct {
	engine   int
	low, end int // members there
	from, to int // what the members before from send has been sent, and of the next ones what those before to get
}

// crossesEngines reports whether blocks of an instance over arrays go between engines.
func (inst *instance) crossesEngines() bool {
	return inst.Call.Data && Moves(inst.Call.Operation) && inst.comm.Locals < inst.comm.Size
}

// beginBlocks makes the state of the blocks that go between engines.
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
	if inst.layout.Offset(1) > 0 {
		n, here := len(c.engineTree(inst).children), inst.comm.Locals
		*b.traded = trading{absent: 1 + n, unsent: len(c.others(inst.comm)), missing: here * (inst.comm.Size - here)}
	}
}

// enterBlocks begins to send blocks, since all members here have entered.
func (c *Collectives) enterBlocks(inst *instance, b *arrayRun) {
	if g := b.gathered; g != nil {
		g.inputs = c.apart(inst)
		c.addBlocks(inst, g)
	}
	if t := b.traded; t != nil && t.absent > 0 {
		c.holdArrays(b) // from the entries on: others may leave with these blocks before the clocks after some rounds
		t.inputs, t.far = c.apart(inst), inst.far()
		c.enterTrade(inst, t)
	}
}

// blocksOver reports whether all blocks that go between engines have been sent and have come.
func (b *arrayRun) blocksOver() bool {
	g, t := b.gathered, b.traded
	return (g == nil || g.done) && (t == nil || t.unsent == 0 && t.missing == 0)
}

// queueBlocks has an instance go on that lacked nothing but blocks, if they are all there.
func (c *Collectives) queueBlocks(inst *instance, b *arrayRun) {
	if b.begun && b.Over() && b.blocksOver() {
		c.queue(inst)
	}
}

// addBlocks notes that the blocks of one child, or the engine's own, are there. After the last
// ones they go to the parent.
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
	var all []byte // of the engines here and below, from member First on
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

// handOutBlocks sends the result, which is in the first output, to the children, those above
// most engines first.
func (c *Collectives) handOutBlocks(inst *instance, g *assembling, tree branches) {
	g.done = true
	result := inst.local.outputs[0][:inst.layout.Offset(inst.comm.Size)]
	for _, child := range slices.Backward(tree.children) {
		w := c.collectiveRecord(inst, child.engine, world.RecordResult, len(result))
		copy(w.Rest, result)
	}
	if len(tree.children) > 0 {
		c.partition.Engine.Flush() // the copies to the other members take long
	}
}

// receiveBlocks takes in the blocks of the engines below this one.
func (c *Collectives) receiveBlocks(inst *instance, b *arrayRun, from int, r world.Reader) {
	g := b.gathered
	i := slices.IndexFunc(c.engineTree(inst).children, func(child branch) bool { return child.engine == from })
	g.parts[i] = c.partition.Buffers.Take(len(r.Rest))
	copy(g.parts[i], r.Rest)
	c.addBlocks(inst, g)
	c.queueBlocks(inst, b)
}

// receiveAllBlocks takes in the result of an allgather.
func (c *Collectives) receiveAllBlocks(inst *instance, b *arrayRun, r world.Reader) {
	copy(inst.local.outputs[0], r.Rest)
	c.handOutBlocks(inst, b.gathered, c.engineTree(inst))
	c.queueBlocks(inst, b)
}

// enterTrade notes that all members below one child, or here, have entered an alltoall. After the last
// of them the parent is told.
func (c *Collectives) enterTrade(inst *instance, t *trading) {
	if t.absent--; t.absent > 0 {
		return
	}
	if tree := c.engineTree(inst); tree.parent >= 0 {
		c.collectiveRecord(inst, tree.parent, world.RecordTree, 0)
	} else {
		c.trade(inst, tree)
	}
}

// trade begins to send other engines their blocks, since all members have entered, and tells the children.
// An engine begins with the one after it, so that not all send to the first one.
func (c *Collectives) trade(inst *instance, tree branches) {
	for _, child := range slices.Backward(tree.children) {
		c.collectiveRecord(inst, child.engine, world.RecordResult, 0)
	}
	c.partition.Engine.Flush()
	others := c.others(inst.comm)
	next, _ := slices.BinarySearch(others, c.partition.Engine.Index())
	for i := range others {
		engine := others[(next+i)%len(others)]
		low, end := c.participants(inst, engine)
		c.partition.Engine.Ready(c.item(task{instance: inst, blocks: &consignment{engine: engine, low: low, end: end, from: inst.comm.First, to: low}}))
	}
}

// pieceBytes bounds a record of several blocks. With its headers it has less than 64 KiB, a
// class of buffers.
const pieceBytes = 1<<16 - 1<<8

// turnBytes are the bytes of pieces that are sent one after the other, before something else
// that is ready has a turn.
const turnBytes = 8 * pieceBytes

// sendBlocks sends an engine blocks of an alltoall, as far as there is room. As many senders as have
// blocks in one page of an output go together.
func (c *Collectives) sendBlocks(inst *instance, consigned *consignment) {
	b := inst.arrays
	if inst.failed != nil {
		return
	}
	t, size := b.traded, int(inst.layout.Offset(1))
	group := max(1, world.PageBytes/size)
	for sent := 0; consigned.from < inst.comm.Last; {
		if !c.partition.Engine.Room(consigned.engine) {
			if invariant.Enabled {
				c.checkHeld(inst)
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

// sendPiece sends the blocks of some senders for some receivers: by receivers, and for each of them by
// senders.
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

// receivePiece takes in a record of sendPiece.
func (c *Collectives) receivePiece(inst *instance, r world.Reader) {
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
