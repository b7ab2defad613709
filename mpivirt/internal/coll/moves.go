package coll

import (
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// An operation that combines nothing gives each member bytes of the others' inputs, whatever
// the algorithm. Where one engine has all members and lets none go before all have entered,
// those bytes go from input to output directly, and the rounds have to do with clocks only.

// moves reports whether an operation gives members bytes of one another's inputs as they are.
func moves(op collectives.Operation) bool {
	switch op {
	case collectives.Bcast, collectives.Gather, collectives.Scatter, collectives.Allgather, collectives.Allgatherv, collectives.Alltoall:
		return true
	}
	return false
}

// movesDirectly reports whether the members' bytes go from input to output directly.
func (inst *instance) movesDirectly() bool {
	return inst.local != nil && moves(inst.Call.Operation)
}

// move writes the outputs of all members.
func (k *Collectives) move(inst *instance) {
	if !inst.movesDirectly() {
		return
	}
	inputs := k.apart(inst)
	block := func(b []byte, i int) []byte { return b[inst.layout.Offset(i):inst.layout.Offset(i+1)] }
	root := inst.Call.Root
	for member, out := range inst.local.outputs {
		switch inst.Call.Operation {
		case collectives.Bcast:
			moveTo(out, inputs[root])
		case collectives.Scatter:
			moveTo(out, block(inputs[root], member))
		case collectives.Gather:
			if member == root {
				k.concatenate(inst, out, inputs)
			}
		case collectives.Allgather, collectives.Allgatherv:
			k.concatenate(inst, out, inputs)
		case collectives.Alltoall:
			for from := range inputs {
				copy(block(out, from), block(inputs[from], member))
			}
		}
	}
	for member, in := range inputs {
		if unsafe.SliceData(in) != unsafe.SliceData(inst.local.inputs[member]) {
			k.Buffers.Release(in)
		}
	}
}

// concatenate writes the blocks of all members one after another.
func (k *Collectives) concatenate(inst *instance, out []byte, inputs [][]byte) {
	for from, in := range inputs {
		at := inst.layout.Offset(from)
		moveTo(out[at:], in[:inst.layout.Offset(from+1)-at])
	}
}

// apart returns the inputs of all members. Those that outputs would overwrite are copies: of
// members whose output has memory of their input, at another place than the block of the
// result that the input is.
func (k *Collectives) apart(inst *instance) [][]byte {
	l := inst.local
	var inputs [][]byte
	for member, in := range l.inputs {
		out := l.outputs[member]
		if !world.Overlap(in, out) || inst.Call.Operation.Rooted() && member != inst.Call.Root {
			continue
		}
		at := inst.layout.Offset(member)
		switch inst.Call.Operation {
		case collectives.Bcast:
			continue
		case collectives.Scatter:
			if unsafe.SliceData(in[at:]) == unsafe.SliceData(out) {
				continue
			}
		case collectives.Gather, collectives.Allgather, collectives.Allgatherv:
			if unsafe.SliceData(in) == unsafe.SliceData(out[at:]) {
				continue
			}
		}
		if inputs == nil {
			inputs = append(inputs, l.inputs...)
		}
		inputs[member] = k.Buffers.Take(len(in))
		copy(inputs[member], in)
	}
	if inputs == nil {
		return l.inputs
	}
	return inputs
}
