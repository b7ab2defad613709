package coll

import (
	"sort"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Intercommunicators (MPI 4.1, 7.6). Each group has a communicator of its own, the side of the
// group, whose Remote is the side of the other group; a message travels on the side of its
// receiver. A blocking collective consists of parts (interparts.go). A nonblocking collective, and
// every alltoall, is one exchange: members with data for other members send each of them the data,
// and members that combine contributions do so when all have arrived, in the order of the senders.

// tokenSeed separates tokens from other random numbers. duplicateContext and splitContext, with the
// context of a group's side, give the context of the side of a duplicate or part. localContext
// gives the context of the communicator of a group alone, unionContext that of both groups.
const (
	tokenSeed        = 0x696e746572636f6d
	duplicateContext = 1<<32 + 1
	splitContext     = 1<<32 + 2
	localContext     = 1<<32 + 3
	unionContext     = 1<<32 + 4
)

// Inter returns a group's side of the intercommunicator with a remote group, from the contexts
// of both sides.
func (c *Collectives) Inter(context uint64, g *world.Group, remoteContext uint64, remote *world.Group) *Communicator {
	comm, r := c.companion(context, g), c.companion(remoteContext, remote)
	comm.Remote, r.Remote = &r.Comm, &comm.Comm
	return comm
}

// meeting returns a group's side of the intercommunicator with the remote group in the bytes of
// Told.
func (c *Collectives) meeting(g *world.Group, told []byte) (*Communicator, error) {
	r := world.Reader{Rest: told}
	token, remoteToken := r.U64(), r.U64()
	remote := world.ReadGroup(&r)
	if remote.Size() == 0 {
		return nil, world.Errorf(world.ErrComm, "the remote leader tells of no group: give no other message between the leaders the tag")
	}
	if common := g.Intersection(remote).Size(); common > 0 {
		return nil, world.Errorf(world.ErrComm, "both groups have %s in common: give groups without a common rank", spelling.Count(common, "rank"))
	}
	least, greatest := min(token, remoteToken), max(token, remoteToken)
	context := func(side uint64) uint64 { return random.Uint64(least, greatest, side) }
	made := c.Inter(context(token), g, context(remoteToken), remote)
	made.Tokens = [2]uint64{token, remoteToken}
	return made, nil
}

// Told returns the bytes that a leader broadcasts in its group: the tokens of both leaders and the
// remote group.
func Told(token, remoteToken uint64, remote *world.Group) []byte {
	told := make([]byte, 16+remote.Bytes())
	w := world.Writer{Rest: told}
	w.U64(token)
	w.U64(remoteToken)
	remote.Write(&w)
	return told
}

// Token returns a number that no rank has had before, for the contexts of an intercommunicator.
func (c *Collectives) Token(lp int32) uint64 {
	if c.tokens == nil {
		c.tokens = map[int32]uint64{}
	}
	c.tokens[lp]++
	return random.Uint64(tokenSeed, uint64(c.partition.Global(lp)), c.tokens[lp])
}

// DupInter returns the duplicate of an intercommunicator that has a number. All members make equal
// duplicates, without a message.
func (c *Collectives) DupInter(comm *Communicator, number int32) *Communicator {
	return c.Inter(random.Uint64(comm.Context, duplicateContext, uint64(number)), comm.Group,
		random.Uint64(comm.Remote.Context, duplicateContext, uint64(number)), comm.Remote.Group)
}

// LocalDuplicate returns the local duplicate of a communicator that has a number. All members make equal
// duplicates, without a message.
func (c *Collectives) LocalDuplicate(lp int32, comm *Communicator, number int32) *Communicator {
	if comm.Group == nil {
		rank := int(c.partition.Global(lp))
		return c.companion(random.Uint64(random.Uint64(comm.Context, duplicateContext, uint64(rank)), 0, uint64(number)), world.Strided(rank, 1, 1))
	}
	return c.companion(random.Uint64(comm.Context, duplicateContext, uint64(number)), comm.Group)
}

// union returns the communicator of both groups of an intercommunicator, on which its members split
// the intercommunicator. The members are in the order of their ranks.
func (c *Collectives) union(comm *Communicator) *Communicator {
	if comm.union != nil {
		return comm.union
	}
	first, second := &comm.Comm, comm.Remote
	if first.Context > second.Context {
		first, second = second, first
	}
	context := random.Uint64(first.Context, second.Context, unionContext)
	comm.union = c.companionOf(context, func() *world.Group { return first.Group.Union(second.Group).Sorted() })
	comm.union.first = first.Group
	return comm.union
}

// OfBoth returns the communicator of both groups of an intercommunicator, and the member number of
// an LP in it.
func (c *Collectives) OfBoth(comm *Communicator, lp int32) (*Communicator, int32) {
	u := c.union(comm)
	return u, int32(u.Group.Member(int(c.partition.Global(lp))))
}

// makeSides makes the intercommunicator of a color, from a group of members of the communicator of
// both groups, and returns the side of the first group; nil if all members are of one group.
func (c *Collectives) makeSides(union *Communicator, context uint64, g *world.Group) *Communicator {
	first := sort.Search(g.Size(), func(m int) bool { return union.first.Member(g.WorldRank(m)) < 0 })
	if first == 0 || first == g.Size() {
		return nil
	}
	return c.Inter(random.Uint64(context, splitContext, 0), g.First(first), random.Uint64(context, splitContext, 1), g.From(first))
}

// sideOf returns the side of an intercommunicator that an LP is a member of.
func (c *Collectives) sideOf(comm *Communicator, lp int32) *Communicator {
	if comm.Group.Member(int(c.partition.Global(lp))) >= 0 {
		return comm
	}
	return c.Communicators.At(comm.Remote.Index)
}

// Merge returns the communicator of both groups of an intercommunicator that has a number.
// localFirst puts the local group first. All members make equal communicators, without a message.
func (c *Collectives) Merge(comm *Communicator, number int32, localFirst bool) *Communicator {
	least, greatest := min(comm.Context, comm.Remote.Context), max(comm.Context, comm.Remote.Context)
	first, second := comm.Group, comm.Remote.Group
	if !localFirst {
		first, second = second, first
	}
	return c.companionOf(random.Uint64(least, greatest, uint64(number)), func() *world.Group { return first.Union(second) })
}

// removeInter removes both sides of an intercommunicator once all members of this engine have
// freed them.
func (c *Collectives) removeInter(comm *Communicator) {
	remote := c.Communicators.At(comm.Remote.Index)
	if remote == nil || remote.Freed < remote.Locals {
		return // removed with the other side, or still used to send to members of this side elsewhere
	}
	for _, side := range []*Communicator{comm, remote} {
		for _, hidden := range []*Communicator{side.local, side.union} {
			if hidden != nil && c.Communicators.At(hidden.Index) == hidden {
				c.removeComm(hidden)
			}
		}
		if side.exchanging != nil {
			for _, e := range []int32{side.exchanging.Index, side.exchanging.Remote.Index} {
				if hidden := c.Communicators.At(e); hidden != nil {
					c.removeComm(hidden)
				}
			}
		}
		c.removeComm(side)
	}
}

// checkInter is Check on an intercommunicator.
func (c *Communicator) checkInter(v *Collective) error {
	n, counts := c.Remote.Size, c.Remote.Size
	if v.Operation == collectives.ReduceScatter {
		counts = c.Size
	}
	switch {
	case v.Operation.Rooted() && v.Root != world.Root && v.Root != world.ProcNull && (v.Root < 0 || v.Root >= n):
		return world.Errorf(world.ErrRoot, "root %d of a remote group of %s: give it in the one group, and Root or ProcNull in the other", v.Root, spelling.Count(n, "rank"))
	case v.Bytes < 0 || negative(v.Counts) || negative(v.InCounts) || negative(v.OutCounts):
		return world.Errorf(world.ErrCount, "a negative count")
	case v.Counts != nil && len(v.Counts) != counts:
		return world.Errorf(world.ErrCount, "%s for %s", spelling.Count(len(v.Counts), "count"), spelling.Count(counts, "rank"))
	case v.InCounts != nil && (len(v.InCounts) != n || len(v.OutCounts) != n):
		return world.Errorf(world.ErrCount, "%d and %s for %s", len(v.InCounts), spelling.Count(len(v.OutCounts), "count"), spelling.Count(n, "rank"))
	case v.Operation == collectives.Scan || v.Operation == collectives.Exscan:
		return world.Errorf(world.ErrComm, "called on an intercommunicator: it is for one group, as a merge makes it")
	case v.Creation != nil && v.Procedure.Plain() != world.CommSplit:
		return world.Errorf(world.ErrComm, "called on an intercommunicator: divide the local groups, and make a new intercommunicator of them")
	}
	return nil
}

// parts builds the messages of a member in a collective on an intercommunicator.
type parts struct {
	remote            int // size of the remote group
	lp                int32
	moved             bool
	in, out           int64 // lengths of the input and the output; without vectors, the bytes of the call
	inBlock, outBlock int64 // lengths of a block in them, where blocks have equal length
	receives, sends   []p2p.Part
}

// partsOf returns no messages yet, of a member's call with an input and an output of some lengths.
func (c *Communicator) partsOf(v *Collective, l Lengths) *parts {
	p := &parts{remote: c.Remote.Size, moved: v.Moved(), in: l.Input, out: l.Output, inBlock: l.Input, outBlock: l.Output}
	if v.Data {
		p.inBlock, p.outBlock = p.in/int64(p.remote), p.out/int64(p.remote)
	}
	return p
}

// part returns a message of some bytes from a place in a buffer, without a buffer if only sizes are
// simulated.
func (p *parts) part(peer int, buffer []byte, at, bytes int64) p2p.Part {
	m := p2p.Part{Peer: peer, Bytes: bytes}
	if p.moved && bytes > 0 {
		m.Buffer = buffer[at : at+bytes]
	}
	return m
}

// blocks returns a message for each remote member, of consecutive blocks with lengths counts, or of
// equal length.
func (p *parts) blocks(buffer []byte, counts []int64, bytes int64) (all []p2p.Part) {
	at := int64(0)
	for i := range p.remote {
		n := bytes
		if counts != nil {
			n = counts[i]
		}
		all = append(all, p.part(i, buffer, at, n))
		at += n
	}
	return all
}

// same returns a message for each remote member, all of the same memory.
func (p *parts) same(buffer []byte, bytes int64) (all []p2p.Part) {
	for i := range p.remote {
		all = append(all, p.part(i, buffer, 0, bytes))
	}
	return all
}

// InterMessages returns the messages of a member in a collective on an intercommunicator, and the
// function to call when all have arrived. The arguments have been checked.
func (c *Collectives) InterMessages(comm *Communicator, member int, v *Collective, l Lengths) (receives, sends []p2p.Part, end func() vtime.Duration) {
	p := comm.partsOf(v, l)
	p.lp, _ = c.partition.Local(comm.RankOf(member, 0))
	input := v.Input
	if p.moved && world.Overlap(v.Input, v.Output) {
		input = append([]byte(nil), v.Input...) // a receive may be over before the last send begins
	}
	root := v.Root == world.Root
	away := !root && v.Root != world.ProcNull // the root is in the remote group
	switch v.Operation {
	case collectives.Barrier:
		p.receives, p.sends = p.same(nil, 0), p.same(nil, 0)
	case collectives.Bcast, collectives.Scatter, collectives.Scatterv:
		if root && v.Operation == collectives.Bcast {
			p.sends = p.same(input, p.in)
		} else if root {
			p.sends = p.blocks(input, v.Counts, p.inBlock)
		} else if away {
			p.receives = append(p.receives, p.part(v.Root, v.Output, 0, p.out))
		}
	case collectives.Gather, collectives.Gatherv:
		if root {
			p.receives = p.blocks(v.Output, v.Counts, p.outBlock)
		} else if away {
			p.sends = append(p.sends, p.part(v.Root, input, 0, p.in))
		}
	case collectives.Allgather, collectives.Allgatherv:
		p.sends = p.same(input, p.in)
		p.receives = p.blocks(v.Output, v.Counts, p.outBlock)
	case collectives.Alltoall, collectives.Alltoallv:
		p.sends = p.blocks(input, v.InCounts, p.inBlock)
		p.receives = p.blocks(v.Output, v.OutCounts, p.outBlock)
	case collectives.Reduce:
		if root {
			end = c.combineRemote(p, v, p.out, 0)
		} else if away {
			p.sends = append(p.sends, p.part(v.Root, input, 0, p.in))
		}
	case collectives.Allreduce:
		p.sends = p.same(input, p.in)
		end = c.combineRemote(p, v, p.out, 0)
	case collectives.ReduceScatter:
		bytes, at := v.Bytes*int64(comm.Size), int64(0)
		for i, n := range v.Counts {
			if i < member {
				at += n
			}
		}
		if v.Data {
			bytes = p.in
		}
		p.sends = p.same(input, bytes)
		end = c.combineRemote(p, v, bytes, at)
	}
	ofCall(v.Procedure, p.receives, p.sends)
	return p.receives, p.sends, end
}

// ofCall gives messages the tag of a call, so that messages of other calls do not match them:
// members that call different collectives then wait for each other.
func ofCall(p world.Procedure, messages ...[]p2p.Part) {
	for _, list := range messages {
		for i := range list {
			list[i].Tag = int(p)
		}
	}
}

// combineRemote adds receives of vectors from all remote members. It returns a function that
// combines the vectors, in the order of the members, and stores the result at a place of the
// output.
func (c *Collectives) combineRemote(p *parts, v *Collective, bytes, at int64) func() vtime.Duration {
	operator, output := v.Operator, v.Output
	var vectors []byte
	if p.moved {
		vectors = c.partition.Buffers.Take(int(bytes) * p.remote)
	}
	p.receives = p.blocks(vectors, nil, bytes)
	remote, moved := p.remote, p.moved && bytes > 0
	return func() vtime.Duration {
		c.Combining = p.lp
		if moved {
			sum := vectors[:bytes]
			for i := 1; i < remote; i++ {
				operator.Apply(sum, sum, vectors[int64(i)*bytes:int64(i+1)*bytes])
			}
			copy(output, sum[at:])
		}
		c.partition.Buffers.Release(vectors)
		return c.partition.Target.ReduceTime(bytes * int64(remote-1))
	}
}
