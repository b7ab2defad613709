package kernel

import (
	"cmp"
	"fmt"
	"slices"

	"gigarank/invariant"
	"gigarank/random"
)

// Communicator is a communicator as all ranks of an engine share it.
type Communicator struct {
	Index   int32
	context uint64 // equal on all engines
	Group   *Group // nil for SELF, where it is the rank alone
	Size    int
	first   int // least member of this engine; members first to last-1 contain all of them
	last    int
	locals  int         // members of this engine
	freed   int         // members of this engine that have given it up
	freers  []uint64    // set of them, counted from first; nil if there is none
	next    uint32      // number of the next instance of a collective
	live    []*instance // that not all local members have left, by number
	nodes   *nodeTable  // made when it is first needed
	others  []int       // other engines that have members, once asked for
	result  []byte      // common result of the collective that a member left last
	spare   spare
	open    *instance             // a plain barrier that members are joining, all in blocking form, while no other instance lacks members
	made    map[int]*Communicator // communicators that the members made last
	pending map[uint32][]pendingRecord
	spells  []spell         // what members of this engine have called, if there are others
	past    []entrance      // likewise: the first entrants of instances that all members of this engine have left
	broken  map[uint32]bool // instances that have failed because members called different things
}

func (c *Communicator) String() string {
	switch c.context {
	case worldContext:
		return "WORLD"
	case selfContext:
		return "SELF"
	case noContext:
		return "a communicator that the rank has freed"
	}
	return fmt.Sprintf("communicator %x", c.context)
}

// GroupOf returns the members of a communicator that an LP is a member of.
func (k *Kernel) GroupOf(c *Communicator, lp int32) *Group {
	if c.Group == nil {
		return strided(int(k.Global(lp)), 1, 1)
	}
	return c.Group
}

// rankOf returns the rank in WORLD of a member; self is the rank that asks.
func (c *Communicator) rankOf(member int, self int32) int {
	if c.Group == nil {
		return int(self)
	}
	return c.Group.WorldRank(member)
}

// addComm enters a communicator of which members may be here.
func (k *Kernel) addComm(context uint64, g *Group) *Communicator {
	c := &Communicator{Index: int32(len(k.comms)), context: context, Size: 1, last: 1, locals: 1}
	if g != nil {
		c.Group = k.groups.intern(g)
		c.Size = g.Size()
		c.first, c.last, c.locals = k.localMembers(c.Group)
	}
	if _, exists := k.contexts[context]; exists {
		invariant.Broken("two communicators have the context %x", context)
	}
	k.comms = append(k.comms, c)
	k.contexts[context] = c.Index
	if len(k.strays) > 0 {
		k.deliverStrays(context)
	}
	return c
}

// localMembers returns the range of members that contains all those of this
// engine, and their number.
func (k *Kernel) localMembers(g *Group) (first, last, count int) {
	if g.ascending() {
		first, last = g.lowerBound(k.lo), g.lowerBound(k.lo+k.n)
		return first, last, last - first
	}
	first = g.Size()
	for m := range g.Size() {
		if _, local := k.local(g.WorldRank(m)); local {
			first, last, count = min(first, m), m+1, count+1
		}
	}
	return min(first, last), last, count
}

// checkColor returns what is wrong with a color.
func checkColor(color int) error {
	if color < 0 && color != Undefined {
		return Errorf(ErrArgument, "color %d: use a color >= 0, or Undefined", color)
	}
	return nil
}

// makeAlone makes the communicator of a color out of one with a single member; nil if
// the color is Undefined.
func (k *Kernel) makeAlone(lp int32, c *Communicator, color int) *Communicator {
	if color < 0 {
		return nil
	}
	number := &c.next
	if c.Group == nil { // the ranks of the engine share SELF, and each counts for itself
		if k.selfMade == nil {
			k.selfMade = map[int32]*uint32{}
		}
		if number = k.selfMade[lp]; number == nil {
			number = new(uint32)
			k.selfMade[lp] = number
		}
	}
	context := random.Uint64(c.context, uint64(k.Global(lp)), uint64(*number))
	*number++
	return k.addComm(context, strided(int(k.Global(lp)), 1, 1))
}

// contains returns an error if a rank of a subgroup is not in the group.
func (g *Group) contains(subgroup *Group) error {
	if g.spans(subgroup) {
		return nil
	}
	for m := range subgroup.Size() {
		if rank := subgroup.WorldRank(m); g.Member(rank) < 0 {
			return Errorf(ErrGroup, "rank %d of the group is not in the communicator", rank)
		}
	}
	return nil
}

// submitFree has an LP give a communicator up once what it began before has begun.
func (k *Kernel) submitFree(lp int32, q *Call) bool {
	c := q.comm
	if c.Index <= Self {
		return k.raise(lp, CommFree, Errorf(ErrComm, "%s cannot be freed", c))
	}
	member := c.Group.Member(int(k.Global(lp)))
	if member < 0 {
		return k.raise(lp, CommFree, Errorf(ErrComm, "rank %d is no member of %s", k.Global(lp), c))
	}
	if c.FreedBy(member) {
		return k.raise(lp, CommFree, Errorf(ErrComm, "the rank has freed %s already", c))
	}
	if c.freers == nil {
		c.freers = make([]uint64, (c.last-c.first+63)/64)
	}
	setBits(c.freers, member-c.first, member-c.first+1)
	if k.processors != nil {
		k.operate(lp, operation{kind: opFree, comm: c})
	} else {
		k.free(c)
	}
	return true
}

// FreedBy reports whether a member of this engine has given a communicator up. What it
// does with it from then on is an error, though it is there as long as others have it.
func (c *Communicator) FreedBy(member int) bool {
	local := member - c.first
	return c.freers != nil && c.freers[local>>6]>>(local&63)&1 != 0
}

// free notes that a local member gives a communicator up.
func (k *Kernel) free(c *Communicator) {
	if c.freed++; c.freed == c.locals {
		k.freed = append(k.freed, c)
	}
	k.forgetFreed()
}

// forgetFreed forgets the communicators that all local members have given up, when
// no operation is pending that may be on one of them.
func (k *Kernel) forgetFreed() {
	pending := k.requests.inUse() - 2 // without done and nobody
	for _, index := range k.Completion.over {
		if index != k.nobody {
			pending-- // it waits to be read only
		}
	}
	if pending > 0 {
		return
	}
	for _, c := range k.freed {
		delete(k.contexts, c.context)
		k.comms[c.Index] = nil
	}
	k.freed = k.freed[:0]
}

// exchange is what the members of a communicator tell each other to make new
// ones: colors and keys for a split; nothing for the other ways, where the group
// is known to all that need it.
type exchange struct {
	color int
	key   int64
	group *Group                // dup, create: the new group; nil for who is in none
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
	group *Group
}

// splitGroups divides the members of a parent by color. The parts come in the order
// of their colors.
func splitGroups(parent *Group, entries []entry) (parts []part) {
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
			parts = append(parts, part{color, newGroup(ranks)})
		}
	}
	return parts
}
