package world

import (
	"fmt"

	"gigarank/internal/spelling"
)

// Comm is the membership of a communicator. All ranks of an engine share it.
type Comm struct {
	Index   int32
	Context uint64 // equal on all engines
	Group   *Group // nil for SELF, whose only member is the rank itself
	Size    int
	First   int // least member of this engine
	Last    int // its greatest member, plus one
	Locals  int // number of members of this engine
	Freed   int // number of these members that have freed it

	// Remote is the communicator of the remote group of an intercommunicator, nil of other
	// communicators. A message travels on the communicator of its receiver.
	Remote *Comm

	Origin Origin

	// Of is the communicator whose partitioned messages, or exchanges, have this one for their context, nil of other communicators.
	Of *Comm
}

// Origin is the collective that has made a communicator: the number of the call on the parent, from 0 on, and the color of a
// split. Parent is nil if a communicator was there from the beginning, or was made otherwise.
type Origin struct {
	Parent    *Comm
	Procedure Procedure
	Number    uint32
	Color     int32
}

// Known returns the context by which the program knows the communicator.
func (c *Comm) Known() uint64 {
	if c.Of != nil {
		return c.Of.Context
	}
	return c.Context
}

// Peers returns the communicator whose members are the partners of messages.
func (c *Comm) Peers() *Comm {
	if c.Remote != nil {
		return c.Remote
	}
	return c
}

func (c *Comm) String() string {
	if c.Of != nil {
		return c.Of.String()
	}
	switch c.Context {
	case WorldContext:
		return "WORLD"
	case SelfContext:
		return "SELF"
	case NoContext:
		return "a communicator that the rank has freed"
	}
	return fmt.Sprintf("communicator %x", c.Context)
}

// MadeText describes a communicator by the collective that has made it. NameOf returns the name of a procedure in programs.
func (c *Comm) MadeText(nameOf func(Procedure) string) string {
	if c.Of != nil {
		c = c.Of
	}
	if made := c.MadeBy(nameOf); made != "" {
		return "communicator" + made
	}
	return c.String()
}

// MadeBy describes the collective that has made a communicator, "" for one that was there from the beginning, or was made
// otherwise.
func (c *Comm) MadeBy(nameOf func(Procedure) string) (made string) {
	if o := &c.Origin; o.Parent != nil {
		by, on := nameOf(o.Procedure), "another communicator"
		if o.Procedure.Plain() == CommSplit {
			by += fmt.Sprintf(" with color %d", o.Color)
		}
		if o.Parent.Context == WorldContext || o.Parent.Context == SelfContext {
			on = o.Parent.String()
		}
		made = fmt.Sprintf(" (%s, collective %d on %s)", by, o.Number, on)
	}
	return made
}

// RankOf returns the rank in WORLD of a member; self is the rank of the caller.
func (c *Comm) RankOf(member int, self int32) int {
	if c.Group == nil {
		return int(self)
	}
	return c.Group.WorldRank(member)
}

// LocalMembers returns the range of members that contains all members of this engine, and the
// number of members of this engine.
func (p *Partition) LocalMembers(g *Group) (first, last, count int) {
	if g.Ascending() {
		first, last = g.LowerBound(p.First), g.LowerBound(p.First+p.Ranks)
		return first, last, last - first
	}
	first = g.Size()
	for m := range g.Size() {
		if _, local := p.Local(g.WorldRank(m)); local {
			first, last, count = min(first, m), m+1, count+1
		}
	}
	return min(first, last), last, count
}

// Contains returns an error if a rank of a subgroup is not in the group.
func (g *Group) Contains(subgroup *Group) error {
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

// TagUB is the largest tag (MPI_TAG_UB).
const TagUB = 1<<31 - 1

// Names reports whether a member and a tag are in their ranges. Wildcards and ProcNull are not in
// range.
func (c *Comm) Names(member, tag int) bool { return uint(member) < uint(c.Size) && uint(tag) <= TagUB }

// CheckSend returns the error in the arguments of a send, nil for none.
func (c *Comm) CheckSend(dest, tag int, bytes int64) error {
	if c.Size > 0 && c.Peers().Names(dest, tag) && bytes >= 0 {
		return nil
	}
	n := c.Peers().Size
	switch {
	case c.Size == 0:
		return Errorf(ErrComm, "%s", c)
	case dest != ProcNull && (dest < 0 || dest >= n):
		return Errorf(ErrRank, "destination %d in a communicator of %s", dest, spelling.Count(n, "rank"))
	case tag < 0 || tag > TagUB:
		return Errorf(ErrTag, "tag %d: tags of messages are 0 to %d", tag, TagUB)
	case bytes < 0:
		return Errorf(ErrCount, "a message of %s", spelling.Count(bytes, "byte"))
	}
	return nil
}

// CheckReceive returns the error in the arguments of a receive or probe, nil for none.
func (c *Comm) CheckReceive(source, tag int, bytes int64) error {
	if c.Size > 0 && c.Peers().Names(source, tag) && bytes >= 0 {
		return nil
	}
	n := c.Peers().Size
	switch {
	case c.Size == 0:
		return Errorf(ErrComm, "%s", c)
	case source != ProcNull && source != AnySource && (source < 0 || source >= n):
		return Errorf(ErrRank, "source %d in a communicator of %s", source, spelling.Count(n, "rank"))
	case tag != AnyTag && (tag < 0 || tag > TagUB):
		return Errorf(ErrTag, "tag %d: tags are 0 to %d, or AnyTag", tag, TagUB)
	case bytes < 0:
		return Errorf(ErrCount, "room for %s", spelling.Count(bytes, "byte"))
	}
	return nil
}
