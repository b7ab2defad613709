package coll

import (
	"cmp"
	"slices"

	"gigarank/internal/invariant"
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/world"
)

// GroupOf returns the group of a communicator for an LP that is a member.
func (c *Collectives) GroupOf(comm *Communicator, lp int32) *world.Group {
	if comm.Group == nil {
		return world.Strided(int(c.partition.Global(lp)), 1, 1)
	}
	return comm.Group
}

// addComm makes a communicator, with or without members on this engine.
func (c *Collectives) addComm(context uint64, g *world.Group) *Communicator {
	comm := c.Communicators.At(c.IndexOfContext(context))
	if comm.Size != 0 {
		invariant.Broken("two communicators have the context %x", context)
	}
	comm.Size, comm.Last, comm.Locals = 1, 1, 1
	if g != nil {
		comm.Group = c.partition.Groups.Intern(g)
		comm.Size = g.Size()
		comm.First, comm.Last, comm.Locals = c.partition.LocalMembers(comm.Group)
	}
	return comm
}

// IndexOfContext returns the index of the communicator with a context. If a member elsewhere was
// faster than the ranks of this engine, it makes a communicator with this context alone, to be
// completed later. Messages for such a communicator wait in mailboxes and round queues, as for any
// other.
func (c *Collectives) IndexOfContext(context uint64) int32 {
	index, known := c.partition.Contexts[context]
	if !known {
		index = c.enterComm(&Communicator{Comm: world.Comm{Context: context}})
		c.partition.Contexts[context] = index
	}
	return index
}

// enterComm adds a communicator to the tables and returns its index.
func (c *Collectives) enterComm(comm *Communicator) int32 {
	comm.Index = c.partition.Comms.Add(&comm.Comm)
	return c.Communicators.Add(comm)
}

// CheckColor returns the fault of a color, nil for none.
func (*Collectives) CheckColor(color int) error {
	if color < 0 && color != world.Undefined {
		return world.Errorf(world.ErrArgument, "color %d: use a color >= 0, or Undefined", color)
	}
	return nil
}

// makeAlone makes the communicator of a color from a communicator with a single member; nil if the
// color is Undefined.
func (c *Collectives) makeAlone(lp int32, comm *Communicator, color int) *Communicator {
	if color < 0 {
		return nil
	}
	number := &comm.Next
	if comm.Group == nil { // the ranks of the engine share SELF, and each frees it for itself
		if c.partition.SelfMade == nil {
			c.partition.SelfMade = map[int32]*uint32{}
		}
		if number = c.partition.SelfMade[lp]; number == nil {
			number = new(uint32)
			c.partition.SelfMade[lp] = number
		}
	}
	context := random.Uint64(comm.Context, uint64(c.partition.Global(lp)), uint64(*number))
	*number++
	return c.addComm(context, world.Strided(int(c.partition.Global(lp)), 1, 1))
}

// Free frees a communicator for an LP, once the operations that the LP started before have begun
// (MPI_Comm_free). It returns an error if the LP may not free the communicator.
func (c *Collectives) Free(lp int32, comm *Communicator) error {
	if comm.Index <= world.Self {
		return world.Errorf(world.ErrComm, "%s cannot be freed", comm)
	}
	member := comm.Group.Member(int(c.partition.Global(lp)))
	if member < 0 {
		return world.Errorf(world.ErrComm, "rank %d is no member of %s", c.partition.Global(lp), comm)
	}
	if comm.FreedBy(member) {
		return world.Errorf(world.ErrComm, "the rank has freed %s already", comm)
	}
	if comm.freers == nil {
		comm.freers = make([]uint64, (comm.Last-comm.First+63)/64)
	}
	setBits(comm.freers, member-comm.First, member-comm.First+1)
	c.Messages.After(lp, func() { c.free(comm) })
	return nil
}

// FreedBy reports whether a local member has freed a communicator. Any further use by that member
// is an error, although the communicator exists until all members have freed it.
func (c *Communicator) FreedBy(member int) bool {
	local := member - c.First
	return c.freers != nil && c.freers[local>>6]>>(local&63)&1 != 0
}

// free records that a local member has freed a communicator.
func (c *Collectives) free(comm *Communicator) {
	if comm.Freed++; comm.Freed == comm.Locals {
		c.freed = append(c.freed, comm)
	}
	c.forgetFreed()
}

// forgetFreed removes the communicators that all local members have freed, when no pending
// operation may refer to them.
func (c *Collectives) forgetFreed() {
	pending := c.Messages.Requests.InUse() - 2 // without CompletedSend and CompletedReceive
	for _, index := range c.Messages.Completion.Completed {
		if index != c.Messages.CompletedReceive {
			pending-- // complete, but not yet read
		}
	}
	if pending > 0 {
		return
	}
	for _, comm := range c.freed {
		if comm.Remote != nil {
			c.removeInter(comm)
			continue
		}
		c.removeComm(comm)
		if comm.exchanging != nil {
			c.removeComm(comm.exchanging)
		}
	}
	c.freed = c.freed[:0]
}

// removeComm removes a communicator from the tables.
func (c *Collectives) removeComm(comm *Communicator) {
	delete(c.partition.Contexts, comm.Context)
	c.partition.Comms.Remove(comm.Index)
	c.Communicators.Remove(comm.Index)
	c.partition.Groups.Release(comm.Group)
}

// creation holds a member's arguments of a call that makes communicators: color and key of a split,
// or the group, known to all its members.
type creation struct {
	color int
	key   int64
	group *world.Group // dup, create: the new group; nil for a member of no group
	told  []byte       // from the leader, for an intercommunicator; see Told
	split *splitState  // state of the split that the member has entered
}

// entry is a member's color and key in a split.
type entry struct {
	color  int
	member int32
	key    int64
}

// part is the group of the members of a split with one color.
type part struct {
	color int
	group *world.Group
}

// splitGroups returns the members of a parent divided by color, in the order of the colors. Within
// each part the members in first, if first is not nil, precede the other members.
func splitGroups(parent, first *world.Group, entries []entry) (parts []part) {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.color, b.color), cmp.Compare(a.key, b.key), cmp.Compare(a.member, b.member))
	})
	for i := 0; i < len(entries); {
		color := entries[i].color
		var ranks, others []int
		for ; i < len(entries) && entries[i].color == color; i++ {
			if rank := parent.WorldRank(int(entries[i].member)); first == nil || first.Member(rank) >= 0 {
				ranks = append(ranks, rank)
			} else {
				others = append(others, rank)
			}
		}
		if color >= 0 {
			parts = append(parts, part{color, world.NewGroup(append(ranks, others...))})
		}
	}
	return parts
}
