package coll

import (
	"encoding/binary"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
)

// A blocking collective on an intercommunicator consists of successive parts: a collective in the
// local group, messages between the leaders of both groups or between a leader and the root, and a
// collective in the local group. The leader of a group is its first member. The collectives use a
// communicator of the group alone and the algorithms of their operations.

// InterCall is a member's blocking call of a collective on an intercommunicator, or of a call that
// makes an intercommunicator.
type InterCall struct {
	Comm   *Communicator // of the messages
	Group  *Communicator // of the collectives
	Member int
	Call   Collective
	Sizes  Lengths // of the member's input and output
	Err    error   // of the first part that failed

	next  int
	parts []func() InterPart
	held  [][]byte  // pooled buffers, held until the call is over
	told  *creation // for a call that makes an intercommunicator
}

// InterPart is a collective in the local group, or messages to and from remote members.
type InterPart struct {
	Collective      *Collective // nil for messages
	Receives, Sends []p2p.Part
}

// NewInterCall returns a member's call. The arguments have been checked.
func (c *Collectives) NewInterCall(comm *Communicator, member int, v *Collective, l Lengths) *InterCall {
	c.openLocal(comm)
	x := &InterCall{Comm: comm, Group: comm.local, Member: member, Call: *v, Sizes: l}
	x.plan(c)
	return x
}

// openLocal makes the communicator of the local group of an intercommunicator, unless it is there.
func (c *Collectives) openLocal(comm *Communicator) {
	if comm.local == nil {
		comm.local = c.companion(random.Uint64(comm.Context, localContext, 0), comm.Group)
	}
}

// OpenCompanions makes the communicators by which intercommunicators carry out collectives, as far as
// no member of this engine has made them: members of other engines may wait in them.
func (c *Collectives) OpenCompanions() {
	for _, comm := range slices.Clone(c.Communicators.All()[1:]) {
		if comm.Remote != nil && comm.Group != nil && comm.Locals > 0 {
			c.openLocal(comm)
			c.union(comm)
		}
	}
}

// GoesInParts reports whether a collective on an intercommunicator consists of parts. An alltoall
// does not, since each member has a different block for each remote member.
func (v *Collective) GoesInParts() bool {
	return v.Operation != collectives.Alltoall && v.Operation != collectives.Alltoallv
}

// NextPart returns the next part of a call, and false after the last part.
func (x *InterCall) NextPart() (part InterPart, more bool) {
	if x.next == len(x.parts) {
		return InterPart{}, false
	}
	x.next++
	return x.parts[x.next-1](), true
}

// EndParts ends a call after its last part. It returns the communicator that the call has made, nil
// for none.
func (c *Collectives) EndParts(x *InterCall) *Communicator {
	for _, buffer := range x.held {
		c.partition.Buffers.Release(buffer)
	}
	switch {
	case x.told == nil || x.Err != nil:
		return nil
	case x.told.split == nil: // the group has one member
		made, err := c.meeting(x.Group.Group, x.told.told)
		x.Err = err
		return made
	}
	x.Err = x.told.split.err
	return x.told.split.made[0]
}

// Procedure returns the procedure that the member has called.
func (x *InterCall) Procedure() world.Procedure {
	if x.told != nil {
		return world.IntercommCreate
	}
	return x.Call.Procedure
}

// leads reports whether the member is the leader of its group.
func (x *InterCall) leads() bool { return x.Member == 0 }

// take returns a buffer for the leader, nil if only sizes are simulated.
func (x *InterCall) take(k *Collectives, bytes int64) []byte {
	if !x.leads() || !x.Call.Moved() {
		return nil
	}
	buffer := k.partition.Buffers.Take(int(bytes))
	x.held = append(x.held, buffer)
	return buffer
}

// within adds a collective of the local group, whose root is the leader.
func (x *InterCall) within(k *Collectives, v Collective) {
	v.Procedure, v.Element, v.Within = world.ProcedureOf(v.Operation), max(v.Element, 1), x.Procedure()
	v.Phantom = v.Data && x.Call.Phantom
	x.parts = append(x.parts, func() InterPart { return InterPart{Collective: k.Prepare(v)} })
}

// messages adds messages to and from remote members.
func (x *InterCall) messages(receives, sends []p2p.Part) {
	ofCall(x.Procedure(), receives, sends)
	x.parts = append(x.parts, func() InterPart { return InterPart{Receives: receives, Sends: sends} })
}

// swap adds the exchange of a message between the leaders.
func (x *InterCall) swap(in []byte, inBytes int64, out []byte, outBytes int64) {
	if x.leads() {
		x.messages([]p2p.Part{{Bytes: inBytes, Buffer: in}}, []p2p.Part{{Bytes: outBytes, Buffer: out}})
	}
}

// reduce adds the reduction of the members' vectors into the leader's buffer.
func (x *InterCall) reduce(k *Collectives, into []byte, bytes int64) {
	v := &x.Call
	x.within(k, Collective{
		Operation: collectives.Reduce, Bytes: bytes, Element: v.Element, Type: v.Type, Operator: v.Operator,
		Data: v.Data, Transient: v.Transient, Input: v.Input, Output: into,
	})
}

// spread adds the broadcast of the leader's bytes.
func (x *InterCall) spread(k *Collectives, buffer []byte, bytes int64, data bool) {
	v := Collective{Operation: collectives.Bcast, Bytes: bytes, Data: data, Output: buffer}
	if x.leads() {
		v.Input = buffer
	}
	x.within(k, v)
}

// plan sets the parts of a call. Allgatherv sends messages from each member to the remote leader,
// since a leader does not know the lengths of its own group's blocks.
func (x *InterCall) plan(k *Collectives) {
	v, p := &x.Call, x.Comm.partsOf(&x.Call, x.Sizes)
	locals := int64(x.Group.Size)
	in, out := p.in, p.out
	switch {
	case v.Procedure == world.IntercommMerge: // the leaders agree on which group comes first
		x.swap(v.Output, out, v.Input, in)
		x.spread(k, v.Output, out, v.Data)
	case v.Operation == collectives.Barrier: // an allreduce of one integer
		x.within(k, Collective{Operation: collectives.Reduce, Bytes: barrierBytes, Element: barrierBytes})
		x.swap(nil, barrierBytes, nil, barrierBytes)
		x.spread(k, nil, barrierBytes, false)
	case v.Operation.Rooted():
		x.planRooted(k, p, in, out)
	case v.Operation == collectives.Allgather:
		all, result := x.gather(k, in), out
		if !v.Data {
			result *= int64(p.remote)
		}
		x.swap(v.Output, result, all, in*locals)
		x.spread(k, v.Output, result, v.Data)
	case v.Operation == collectives.Allgatherv:
		receives, result := []p2p.Part(nil), int64(0)
		for _, n := range v.Counts {
			result += n
		}
		if x.leads() {
			receives = p.blocks(v.Output, v.Counts, 0)
		}
		x.messages(receives, []p2p.Part{p.part(0, v.Input, 0, in)})
		x.spread(k, v.Output[:min(result, int64(len(v.Output)))], result, v.Data)
	case v.Operation == collectives.Allreduce:
		sum := x.take(k, in)
		x.reduce(k, sum, in)
		x.swap(v.Output, out, sum, in)
		x.spread(k, v.Output, out, v.Data)
	case v.Operation == collectives.ReduceScatter:
		if !v.Data {
			in *= locals
		}
		sum, theirs := x.take(k, in), x.take(k, in)
		x.reduce(k, sum, in)
		x.swap(theirs, in, sum, in)
		share := Collective{Operation: collectives.Scatter, Bytes: out, Data: v.Data, Input: theirs, Output: v.Output}
		if v.Counts != nil {
			share.Operation, share.Counts = collectives.Scatterv, v.Counts
		}
		x.within(k, share)
	}
}

// planRooted is plan for an operation with a root, whose input and output have in and out bytes.
// The root and the remote leader exchange a message; in Gatherv and Scatterv the root and each
// remote member do. The members of the root's group have no part.
func (x *InterCall) planRooted(k *Collectives, p *parts, in, out int64) {
	v, locals := &x.Call, int64(x.Group.Size)
	root := v.Root == world.Root
	if !root && v.Root == world.ProcNull {
		return
	}
	remote := func(buffer []byte, bytes int64) []p2p.Part { return []p2p.Part{p.part(0, buffer, 0, bytes)} }
	ofRoot := func(buffer []byte, bytes int64) []p2p.Part { return []p2p.Part{p.part(v.Root, buffer, 0, bytes)} }
	switch {
	case v.Operation == collectives.Bcast && root:
		x.messages(nil, remote(v.Input, in))
	case v.Operation == collectives.Bcast:
		if x.leads() {
			x.messages(ofRoot(v.Output, out), nil)
		}
		x.spread(k, v.Output, out, v.Data)
	case v.Operation == collectives.Scatter && root:
		x.messages(nil, remote(v.Input, p.inBlock*int64(p.remote)))
	case v.Operation == collectives.Scatter:
		all := x.take(k, out*locals)
		if x.leads() {
			x.messages(ofRoot(all, out*locals), nil)
		}
		x.within(k, Collective{Operation: collectives.Scatter, Bytes: out, Data: v.Data, Input: all, Output: v.Output})
	case v.Operation == collectives.Gather && root:
		x.messages(remote(v.Output, p.outBlock*int64(p.remote)), nil)
	case v.Operation == collectives.Gather:
		all := x.gather(k, in)
		if x.leads() {
			x.messages(nil, ofRoot(all, in*locals))
		}
	case v.Operation == collectives.Reduce && root:
		x.messages(remote(v.Output, out), nil)
	case v.Operation == collectives.Reduce:
		sum := x.take(k, in)
		x.reduce(k, sum, in)
		if x.leads() {
			x.messages(nil, ofRoot(sum, in))
		}
	default: // Gatherv, Scatterv
		receives, sends, _ := k.InterMessages(x.Comm, x.Member, v, x.Sizes)
		x.messages(receives, sends)
	}
}

// barrierBytes is the length in bytes of the integer that a barrier combines.
const barrierBytes = 4

// gather adds the gathering of the members' blocks of some bytes, and returns the leader's buffer
// for the blocks.
func (x *InterCall) gather(k *Collectives, bytes int64) []byte {
	all := x.take(k, bytes*int64(x.Group.Size))
	x.within(k, Collective{Operation: collectives.Gather, Bytes: bytes, Data: x.Call.Data, Transient: x.Call.Transient, Input: x.Call.Input, Output: all})
	return all
}

// NewMeeting returns a member's call that makes an intercommunicator with the remote group. leader
// is a member of the local group; told holds the bytes of Told at the leader, and is nil at other
// members.
func (c *Collectives) NewMeeting(comm *Communicator, member, leader int, told []byte) *InterCall {
	x := &InterCall{Comm: comm, Group: comm, Member: member, told: &creation{told: told}}
	length := make([]byte, 8)
	input := []byte(nil)
	if member == leader {
		r := world.Reader{Rest: told[16:]}
		binary.LittleEndian.PutUint64(length, uint64(16+8*world.ReadGroup(&r).Size()))
		input = length
	}
	if comm.Size == 1 {
		return x
	}
	x.within(c, Collective{Operation: collectives.Bcast, Root: leader, Bytes: 8, Data: true, Input: input, Output: length})
	x.parts = append(x.parts, func() InterPart {
		return InterPart{Collective: c.Prepare(Collective{
			Procedure: world.Bcast, Operation: collectives.Bcast, Root: leader, Bytes: int64(binary.LittleEndian.Uint64(length)), Element: 1, Within: x.Procedure(),
		})}
	}, func() InterPart {
		return InterPart{Collective: c.prepareCreation(world.IntercommCreate, x.told)}
	})
	return x
}
