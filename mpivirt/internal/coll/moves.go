package coll

import (
	"encoding/binary"
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// An operation without combining copies bytes of members' inputs to other members, whatever the
// algorithm. Where one engine has all members and no member leaves before all have entered, the
// bytes are copied from input to output directly, and the rounds concern clocks only.

// Moves reports whether an operation copies bytes of inputs unchanged to other members.
func Moves(op collectives.Operation) bool {
	switch op {
	case collectives.Bcast, collectives.Gather, collectives.Scatter, collectives.Allgather, collectives.Allgatherv, collectives.Alltoall, collectives.Alltoallv:
		return true
	}
	return false
}

// movesDirectly reports whether the members' bytes are copied from input to output directly.
func (inst *instance) movesDirectly() bool {
	return inst.local != nil && Moves(inst.Call.Operation)
}

// move writes the outputs of all members.
func (c *Collectives) move(inst *instance) {
	if !inst.movesDirectly() {
		return
	}
	if inst.crossesEngines() {
		c.partition.Engine.Flush() // other engines do not wait for the copies
	}
	inputs, outputs, root := c.inputsToMove(inst), inst.local.outputs, inst.Call.Root
	switch inst.Call.Operation {
	case collectives.Bcast:
		spread(outputs, inputs[root])
	case collectives.Scatter:
		for member, out := range outputs {
			moveTo(out, inst.block(inputs[root], member))
		}
	case collectives.Gather:
		inst.concatenate(inst.output(root-inst.comm.First), 0, inputs)
	case collectives.Allgather, collectives.Allgatherv:
		// Copying one large piece is faster than copying many.
		if inst.comm.Locals == inst.comm.Size {
			inst.concatenate(outputs[0], 0, inputs)
		}
		spread(outputs[1:], outputs[0][:inst.layout.Offset(inst.comm.Size)])
	case collectives.Alltoall:
		exchangeBlocks(outputs, inputs, inst.comm.First, int(inst.layout.Offset(1)), inst.far())
	case collectives.Alltoallv:
		c.moveUneven(inst, inputs)
	}
	for member, in := range inputs {
		if unsafe.SliceData(in) != unsafe.SliceData(inst.local.inputs[member]) {
			c.partition.Buffers.Release(in)
		}
	}
}

// inputsToMove returns the inputs of the members here, separate from outputs.
func (c *Collectives) inputsToMove(inst *instance) [][]byte {
	if b := inst.arrays; b != nil && b.gathered != nil {
		return b.gathered.inputs
	} else if b != nil && b.traded != nil && b.traded.inputs != nil {
		return b.traded.inputs
	}
	return c.apart(inst)
}

// block returns the block of a member.
func (inst *instance) block(b []byte, member int) []byte {
	return b[inst.begin(member):inst.begin(member+1)]
}

// begin returns the byte at which the block of a member begins. A block may be several positions.
func (inst *instance) begin(member int) int64 {
	return inst.layout.Offset(member * (inst.width / inst.comm.Size))
}

// spread copies the same bytes to all outputs.
func spread(outputs [][]byte, bytes []byte) {
	for _, out := range outputs {
		moveTo(out, bytes)
	}
}

// concatenate copies the blocks of members, from first on, one after another.
func (inst *instance) concatenate(out []byte, first int, inputs [][]byte) {
	begin := inst.begin(first)
	for i, in := range inputs {
		at := inst.begin(first + i)
		moveTo(out[at-begin:], in[:inst.begin(first+i+1)-at])
	}
}

// strip is the number of receivers whose blocks from all senders are exchanged together. The next
// pages to be written are then few enough for the processor to find quickly.
const strip = 128

// farBytes is a number of bytes that exceeds the caches of a processor.
const farBytes = 32 << 20

// far reports whether the outputs of an alltoall exceed the caches. Outputs that share memory may
// stay in the cache.
func (inst *instance) far() bool {
	return areFar(inst.local.outputs, inst.comm.Size, int(inst.layout.Offset(1)))
}

// areFar is far for outputs with blocks of all members.
func areFar(outputs [][]byte, members, size int) bool {
	last := len(outputs) - 1
	return len(outputs)*members*size >= farBytes && (last == 0 || !world.Overlap(outputs[0], outputs[last]))
}

// exchangeBlocks gives each member here, from first on, its block of every input. It groups as many senders and
// receivers as have blocks in one page, so that a page is read, and written, in one go.
func exchangeBlocks(outputs, inputs [][]byte, first, size int, far bool) {
	members := len(inputs)
	group := min(strip, max(1, world.PageBytes/max(1, size)))
	for to := 0; to < members; to += strip {
		end := min(to+strip, members)
		for from := 0; from < members; from += group {
			senders := inputs[from:min(from+group, members)]
			for next := to; next < end; next += group {
				exchangeGroups(outputs[next:min(next+group, end)], senders, first+from, first+next, size, far)
			}
		}
	}
	world.Fence()
}

// exchangeGroups gives receivers, the first of which is member to, their blocks of senders, the
// first of which is member from. A call of copy takes longer than to copy a word.
func exchangeGroups(receivers, senders [][]byte, from, to, size int, far bool) {
	if size == 8 && !far {
		for i, in := range senders {
			at, blocks := (from+i)*8, in[8*to:][:8*len(receivers)]
			for k, out := range receivers {
				binary.NativeEndian.PutUint64(out[at:], binary.NativeEndian.Uint64(blocks[8*k:]))
			}
		}
		return
	}
	for i, in := range senders {
		at := (from + i) * size
		for k, out := range receivers {
			if block := in[(to+k)*size:][:size]; far {
				world.CopyPast(out[at:], block)
			} else {
				copy(out[at:], block)
			}
		}
	}
}

// apart returns the inputs of the members here. Inputs that outputs would overwrite are copied:
// inputs of members whose output shares memory with their input, unless the input is the member's own
// block of the result.
func (c *Collectives) apart(inst *instance) [][]byte {
	l := inst.local
	var inputs [][]byte
	for i, in := range l.inputs {
		out, member := inst.output(i), inst.comm.First+i
		if !world.Overlap(in, out) || inst.Call.Operation.Rooted() && member != inst.Call.Root {
			continue
		}
		switch inst.Call.Operation {
		case collectives.Bcast:
			continue
		case collectives.Scatter:
			if unsafe.SliceData(in[inst.begin(member):]) == unsafe.SliceData(out) {
				continue
			}
		case collectives.Gather, collectives.Allgather, collectives.Allgatherv:
			if unsafe.SliceData(in) == unsafe.SliceData(out[inst.begin(member):]) {
				continue
			}
		}
		if inputs == nil {
			inputs = append(inputs, l.inputs...)
		}
		inputs[i] = c.partition.Buffers.Take(len(in))
		copy(inputs[i], in)
	}
	if inputs == nil {
		return l.inputs
	}
	return inputs
}
