package coll

import (
	"cmp"
	"slices"

	"gigarank/internal/invariant"
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/world"
)

// GroupOf returns the members of a communicator that an LP is a member of.
func (k *Collectives) GroupOf(c *Communicator, lp int32) *world.Group {
	if c.Group == nil {
		return world.Strided(int(k.Global(lp)), 1, 1)
	}
	return c.Group
}

// addComm makes a communicator, which may have members on this engine.
func (k *Collectives) addComm(context uint64, g *world.Group) *Communicator {
	c := k.Communicators.At(k.Expect(context))
	if c.Size != 0 {
		invariant.Broken("two communicators have the context %x", context)
	}
	c.Size, c.Last, c.Locals = 1, 1, 1
	if g != nil {
		c.Group = k.Groups.Intern(g)
		c.Size = g.Size()
		c.First, c.Last, c.Locals = k.LocalMembers(c.Group)
	}
	return c
}

// Expect returns the index of the communicator with a context. If the ranks of this engine
// have not made it yet, since a member elsewhere was faster, only its context is known until
// they do. What comes for it waits in mailboxes and queues meanwhile, as in any other.
func (k *Collectives) Expect(context uint64) int32 {
	index, known := k.Contexts[context]
	if !known {
		index = k.enterComm(&Communicator{Comm: world.Comm{Context: context}})
		k.Contexts[context] = index
	}
	return index
}

// enterComm enters a communicator into the tables and returns its index.
func (k *Collectives) enterComm(c *Communicator) int32 {
	c.Index = k.Comms.Add(&c.Comm)
	return k.Communicators.Add(c)
}

// CheckColor returns the fault of a color, nil if it has none.
func (*Collectives) CheckColor(color int) error {
	if color < 0 && color != world.Undefined {
		return world.Errorf(world.ErrArgument, "color %d: use a color >= 0, or Undefined", color)
	}
	return nil
}

// makeAlone makes the communicator of a color out of one with a single member; nil if
// the color is Undefined.
func (k *Collectives) makeAlone(lp int32, c *Communicator, color int) *Communicator {
	if color < 0 {
		return nil
	}
	number := &c.Next
	if c.Group == nil { // the ranks of the engine share SELF, and each counts for itself
		if k.SelfMade == nil {
			k.SelfMade = map[int32]*uint32{}
		}
		if number = k.SelfMade[lp]; number == nil {
			number = new(uint32)
			k.SelfMade[lp] = number
		}
	}
	context := random.Uint64(c.Context, uint64(k.Global(lp)), uint64(*number))
	*number++
	return k.addComm(context, world.Strided(int(k.Global(lp)), 1, 1))
}

// Free frees a communicator for an LP, after the operations that it started before have
// begun (MPI_Comm_free). It returns an error if the LP may not free it.
func (k *Collectives) Free(lp int32, c *Communicator) error {
	if c.Index <= world.Self {
		return world.Errorf(world.ErrComm, "%s cannot be freed", c)
	}
	member := c.Group.Member(int(k.Global(lp)))
	if member < 0 {
		return world.Errorf(world.ErrComm, "rank %d is no member of %s", k.Global(lp), c)
	}
	if c.FreedBy(member) {
		return world.Errorf(world.ErrComm, "the rank has freed %s already", c)
	}
	if c.freers == nil {
		c.freers = make([]uint64, (c.Last-c.First+63)/64)
	}
	setBits(c.freers, member-c.First, member-c.First+1)
	k.After(lp, func() { k.free(c) })
	return nil
}

// FreedBy reports whether a local member has freed a communicator. Any use of it by that
// member is an error, though it exists until all members have freed it.
func (c *Communicator) FreedBy(member int) bool {
	local := member - c.First
	return c.freers != nil && c.freers[local>>6]>>(local&63)&1 != 0
}

// free counts a local member that has freed a communicator.
func (k *Collectives) free(c *Communicator) {
	if c.Freed++; c.Freed == c.Locals {
		k.freed = append(k.freed, c)
	}
	k.forgetFreed()
}

// forgetFreed removes the communicators that all local members have freed, when no
// operation is pending that may be on one of them.
func (k *Collectives) forgetFreed() {
	pending := k.Requests.InUse() - 2 // without CompletedSend and CompletedReceive
	for _, index := range k.Completion.Completed {
		if index != k.CompletedReceive {
			pending-- // complete, but not read yet
		}
	}
	if pending > 0 {
		return
	}
	for _, c := range k.freed {
		if c.Remote != nil {
			k.removeInter(c)
			continue
		}
		k.removeComm(c)
		if c.exchanging != nil {
			k.removeComm(c.exchanging)
		}
	}
	k.freed = k.freed[:0]
}

// removeComm removes a communicator from the tables.
func (k *Collectives) removeComm(c *Communicator) {
	delete(k.Contexts, c.Context)
	k.Comms.Remove(c.Index)
	k.Communicators.Remove(c.Index)
	k.Groups.Release(c.Group)
}

// creation holds a member's arguments of a call that makes communicators: color and key
// of a split, or the group, which all its members know.
type creation struct {
	color int
	key   int64
	group *world.Group          // dup, create: the new group; nil for a member of none
	told  []byte                // of the leader, for an intercommunicator; see Told
	made  map[int]*Communicator // by color, or by the first rank of the group; 0 for an intercommunicator
	split *splitState           // that the member has entered
}

// entry is one member's part in a split.
type entry struct {
	color  int
	member int32
	key    int64
}

// part holds the group of a split's members of one color.
type part struct {
	color int
	group *world.Group
}

// splitGroups divides the members of a parent by color. The parts come in the order
// of their colors. In each, the members that are in first, if that is not nil, come before the others.
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
