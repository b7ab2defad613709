package coll

import (
	"cmp"
	"slices"

	"gigarank/invariant"
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/world"
	"gigarank/random"
)

// GroupOf returns the members of a communicator that an LP is a member of.
func (k *Collectives) GroupOf(c *Communicator, lp int32) *world.Group {
	if c.Group == nil {
		return world.Strided(int(k.Global(lp)), 1, 1)
	}
	return c.Group
}

// addComm enters a communicator of which members may be here.
func (k *Collectives) addComm(context uint64, g *world.Group) *Communicator {
	c := &Communicator{Comm: world.Comm{Index: int32(len(k.Comms)), Context: context, Size: 1, Last: 1, Locals: 1}}
	if g != nil {
		c.Group = k.Groups.Intern(g)
		c.Size = g.Size()
		c.First, c.Last, c.Locals = k.LocalMembers(c.Group)
	}
	if _, exists := k.Contexts[context]; exists {
		invariant.Broken("two communicators have the context %x", context)
	}
	k.enterComm(c)
	k.Contexts[context] = c.Index
	if len(k.Strays) > 0 {
		k.DeliverStrays(context)
	}
	return c
}

// enterComm enters a communicator into the tables.
func (k *Collectives) enterComm(c *Communicator) {
	k.Comms, k.Members = append(k.Comms, &c.Comm), append(k.Members, c)
}

// checkColor returns what is wrong with a color.
func checkColor(color int) error {
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

// Free has an LP give a communicator up once what it began before has begun (MPI_Comm_free).
// It returns an error if the LP cannot.
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
	if k.Processors != nil {
		k.Operate(lp, ptp.Operation{Kind: ptp.OpCall, Late: func() { k.free(c) }})
	} else {
		k.free(c)
	}
	return nil
}

// FreedBy reports whether a member of this engine has given a communicator up. What it
// does with it from then on is an error, though it is there as long as others have it.
func (c *Communicator) FreedBy(member int) bool {
	local := member - c.First
	return c.freers != nil && c.freers[local>>6]>>(local&63)&1 != 0
}

// free notes that a local member gives a communicator up.
func (k *Collectives) free(c *Communicator) {
	if c.Freed++; c.Freed == c.Locals {
		k.freed = append(k.freed, c)
	}
	k.forgetFreed()
}

// forgetFreed forgets the communicators that all local members have given up, when
// no operation is pending that may be on one of them.
func (k *Collectives) forgetFreed() {
	pending := k.Requests.InUse() - 2 // without done and nobody
	for _, index := range k.Completion.Over {
		if index != k.Nobody {
			pending-- // it waits to be read only
		}
	}
	if pending > 0 {
		return
	}
	for _, c := range k.freed {
		delete(k.Contexts, c.Context)
		k.Comms[c.Index], k.Members[c.Index] = nil, nil
	}
	k.freed = k.freed[:0]
}

// exchange is what the members of a communicator tell each other to make new
// ones: colors and keys for a split; nothing for the other ways, where the group
// is known to all that need it.
type exchange struct {
	color int
	key   int64
	group *world.Group          // dup, create: the new group; nil for who is in none
	made  map[int]*Communicator // by color, or by the first rank of the group
}

// entry is one member's part in a split.
type entry struct {
	color  int
	member int32
	key    int64
}

// part is what a split makes of the members of a color.
type part struct {
	color int
	group *world.Group
}

// splitGroups divides the members of a parent by color. The parts come in the order
// of their colors.
func splitGroups(parent *world.Group, entries []entry) (parts []part) {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.color, b.color), cmp.Compare(a.key, b.key), cmp.Compare(a.member, b.member))
	})
	for i := 0; i < len(entries); {
		color := entries[i].color
		var ranks []int
		for ; i < len(entries) && entries[i].color == color; i++ {
			ranks = append(ranks, parent.WorldRank(int(entries[i].member)))
		}
		if color >= 0 {
			parts = append(parts, part{color, world.NewGroup(ranks)})
		}
	}
	return parts
}
