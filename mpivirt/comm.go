package mpivirt

import (
	"cmp"
	"fmt"
	"gigarank/invariant"
	"slices"

	"gigarank/random"
)

// Comm is a communicator as one rank holds it (MPI_Comm). It must be used only by
// that rank.
type Comm struct {
	r      *Rank
	c      *comm
	member int32
}

// comm is a communicator as all ranks of an engine share it.
type comm struct {
	index   int32
	context uint64 // equal on all engines
	group   *Group // nil for SELF, where it is the rank alone
	size    int
	first   int // least member of this engine; members first to last-1 contain all of them
	last    int
	locals  int // members of this engine
	freed   int
	next    uint32      // number of the next instance of a collective
	live    []*instance // that not all local members have left, by number
	nodes   *nodeTable  // made when it is first needed
	others  []int       // other engines that have members, once asked for
	result  []byte      // common result of the collective that a member left last
	spare   spare
	open    *instance     // a plain barrier that members are joining, all in blocking form, while no other instance lacks members
	made    map[int]*comm // communicators that the members made last
	pending map[uint32][]pendingRecord
	spells  []spell         // what members of this engine have called, if there are others
	past    []entrance      // likewise: the first entrants of instances that all members of this engine have left
	broken  map[uint32]bool // instances that have failed because members called different things
}

func (c *comm) String() string {
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

// rankOf returns the rank in WORLD of a member; self is the rank that asks.
func (c *comm) rankOf(member int, self int32) int {
	if c.group == nil {
		return int(self)
	}
	return c.group.WorldRank(member)
}

// addComm enters a communicator of which members may be here.
func (k *kernel) addComm(context uint64, g *Group) *comm {
	c := &comm{index: int32(len(k.comms)), context: context, size: 1, last: 1, locals: 1}
	if g != nil {
		c.group = k.groups.intern(g)
		c.size = g.Size()
		c.first, c.last, c.locals = k.localMembers(c.group)
	}
	if _, exists := k.contexts[context]; exists {
		invariant.Broken("two communicators have the context %x", context)
	}
	k.comms = append(k.comms, c)
	k.contexts[context] = c.index
	if len(k.strays) > 0 {
		k.deliverStrays(context)
	}
	return c
}

// localMembers returns the range of members that contains all those of this
// engine, and their number.
func (k *kernel) localMembers(g *Group) (first, last, count int) {
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

// Rank returns the member that the rank is (MPI_Comm_rank).
func (c *Comm) Rank() int {
	if c == nil {
		panic(fatal{noComm(callCommRank)})
	}
	return int(c.member)
}

// Size returns the number of members (MPI_Comm_size).
func (c *Comm) Size() int {
	if c == nil {
		panic(fatal{noComm(callCommSize)})
	}
	return c.c.size
}

// Group returns the members (MPI_Comm_group). It is shared by all ranks of the
// engine.
func (c *Comm) Group() *Group {
	if c == nil {
		panic(fatal{noComm(callCommGroup)})
	}
	if c.c.group == nil {
		return strided(c.r.Rank(), 1, 1)
	}
	return c.c.group
}

// Split divides the communicator by color: the members that give the same color
// form a new one, ordered by key, then by their order here (MPI_Comm_split). Every
// member calls it. Any color from 0 on will do; Undefined (MPI_UNDEFINED) joins none
// and gets nil. It takes the time of an allgather of 8 bytes from each member. Errors:
// ErrArgument for negative colors.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if c == nil {
		return nil, noComm(callCommSplit)
	}
	return c.create(&exchange{color: color, key: int64(key)}, callCommSplit, checkColor(color))
}

// checkColor returns what is wrong with a color.
func checkColor(color int) error {
	if color < 0 && color != Undefined {
		return mpiError(ErrArgument, "color %d: use a color >= 0, or Undefined", color)
	}
	return nil
}

// makeAlone makes the communicator of a color out of one with a single member; nil if
// the color is Undefined.
func (k *kernel) makeAlone(lp int32, c *comm, color int) *comm {
	if color < 0 {
		return nil
	}
	number := &c.next
	if c.group == nil { // the ranks of the engine share SELF, and each counts for itself
		if k.selfMade == nil {
			k.selfMade = map[int32]*uint32{}
		}
		if number = k.selfMade[lp]; number == nil {
			number = new(uint32)
			k.selfMade[lp] = number
		}
	}
	context := random.Uint64(c.context, uint64(k.global(lp)), uint64(*number))
	*number++
	return k.addComm(context, strided(int(k.global(lp)), 1, 1))
}

// Dup makes a communicator with the same members and messages of its own
// (MPI_Comm_dup). Every member calls it. It takes the time of an allreduce of 8
// bytes.
func (c *Comm) Dup() (*Comm, error) {
	if c == nil {
		return nil, noComm(callCommDup)
	}
	return c.create(&exchange{group: c.c.group}, callCommDup, nil)
}

// Create makes a communicator of a subgroup (MPI_Comm_create). Every member of c
// calls it; those in the group give the same group and get the communicator, the
// others get nil and may give any other group, disjoint ones make several
// communicators at once. It takes the time of an allreduce of 8 bytes. Errors:
// ErrGroup if a member of the group is none of c.
func (c *Comm) Create(g *Group) (*Comm, error) {
	if c == nil {
		return nil, noComm(callCommCreate)
	}
	x, err := creationOf(c.Group(), g, c.r.Rank())
	return c.create(x, callCommCreate, err)
}

// creationOf returns what a rank tells the other members when they make a communicator of
// a subgroup of them.
func creationOf(parent, g *Group, rank int) (*exchange, error) {
	if g == nil {
		g = strided(0, 1, 0)
	}
	x := &exchange{color: Undefined}
	if g.Member(rank) >= 0 {
		x.color, x.group = g.WorldRank(0), g
	}
	return x, parent.contains(g)
}

// handle returns the rank's handle of a communicator that it is a member of.
func (c *Comm) handle(made *comm) *Comm {
	return &Comm{r: c.r, c: made, member: int32(made.group.Member(c.r.Rank()))}
}

// Free gives the communicator up (MPI_Comm_free): the rank begins nothing more on
// it, else it gets ErrComm. What it has begun is completed as ever.
func (c *Comm) Free() error {
	if c == nil {
		return noComm(callCommFree)
	}
	if c.c.index <= selfComm {
		return c.r.raise(callCommFree, mpiError(ErrComm, "%s cannot be freed", c.c))
	}
	k, given := c.r.k, c.c
	c.c = k.comms[freedComm]
	k.giveUp(c.r.lp, given)
	return nil
}

// contains returns an error if a rank of a subgroup is not in the group.
func (g *Group) contains(subgroup *Group) error {
	if g.spans(subgroup) {
		return nil
	}
	for m := range subgroup.Size() {
		if rank := subgroup.WorldRank(m); g.Member(rank) < 0 {
			return mpiError(ErrGroup, "rank %d of the group is not in the communicator", rank)
		}
	}
	return nil
}

// giveUp has an LP give a communicator up once what it began before has begun.
func (k *kernel) giveUp(lp int32, c *comm) {
	if k.processors != nil {
		k.operate(lp, operation{kind: opFree, comm: c})
		return
	}
	k.free(c)
}

// free notes that a local member gives a communicator up.
func (k *kernel) free(c *comm) {
	if c.freed++; c.freed == c.locals {
		k.freed = append(k.freed, c)
	}
	k.forgetFreed()
}

// forgetFreed forgets the communicators that all local members have given up, when
// no operation is pending that may be on one of them.
func (k *kernel) forgetFreed() {
	pending := k.requests.inUse() - 2 // without done and nobody
	for _, index := range k.completion.over {
		if index != k.nobody {
			pending-- // it waits to be read only
		}
	}
	if pending > 0 {
		return
	}
	for _, c := range k.freed {
		delete(k.contexts, c.context)
		k.comms[c.index] = nil
	}
	k.freed = k.freed[:0]
}

// exchange is what the members of a communicator tell each other to make new
// ones: colors and keys for a split; nothing for the other ways, where the group
// is known to all that need it.
type exchange struct {
	color int
	key   int64
	group *Group        // dup, create: the new group; nil for who is in none
	made  map[int]*comm // by color, or by the first rank of the group
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
