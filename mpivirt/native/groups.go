//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"sort"
	"unsafe"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// The predefined handles of groups. Other handles are numbers above the ABI's predefined handles, and are not
// given out twice.
const (
	groupNull  = 0x108
	groupEmpty = 0x109
	predefined = 4096
)

// groups are the groups of which the ranks of an engine have handles.
type groups struct {
	held map[uintptr]heldGroup
	last uintptr
}

type heldGroup struct {
	lp    int32
	group *world.Group
}

// add returns a rank's new handle of a group.
func (s *groups) add(lp int32, g *world.Group) C.uintptr_t {
	if g.Size() == 0 {
		return groupEmpty
	}
	if s.held == nil {
		s.held, s.last = map[uintptr]heldGroup{}, predefined
	}
	s.last++
	s.held[s.last] = heldGroup{lp, g}
	return C.uintptr_t(s.last)
}

// of returns the group of a rank's handle.
func (s *groups) of(lp int32, handle C.uintptr_t) (*world.Group, error) {
	switch h, has := s.held[uintptr(handle)]; {
	case handle == groupEmpty:
		return world.Strided(0, 1, 0), nil
	case handle == groupNull:
		return nil, world.Errorf(world.ErrGroup, "the group is MPI_GROUP_NULL")
	case !has || h.lp != lp:
		return nil, world.Errorf(world.ErrGroup, "the handle is no group of this rank, or it has been freed")
	default:
		return h.group, nil
	}
}

// free ends a rank's handle of a group.
func (s *groups) free(lp int32, handle C.uintptr_t) error {
	_, err := s.of(lp, handle)
	delete(s.held, uintptr(handle))
	return err
}

// numbers returns n numbers of C.
func numbers(p unsafe.Pointer, n C.int64_t) []C.int32_t {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*C.int32_t)(p), n)
}

// integers returns a copy of n numbers of C.
func integers(p unsafe.Pointer, n C.int64_t) []int {
	list := make([]int, n)
	for i, x := range numbers(p, n) {
		list[i] = int(x)
	}
	return list
}

// rangesOf returns ranges that are three numbers each.
func rangesOf(list []int) []world.Range {
	ranges := make([]world.Range, len(list)/3)
	for i := range ranges {
		ranges[i] = world.Range{First: list[3*i], Last: list[3*i+1], Stride: list[3*i+2]}
	}
	return ranges
}

// named puts the name of a function of C before the detail of an error.
func named(function *cChar, err error) error {
	if e, is := err.(*world.Error); is {
		return world.Errorf(e.Class, "%s: %s", stringOf(function), e.Detail)
	}
	return err
}

// askGroup answers a request of groups.
func (b *body) askGroup(lp int32, c *cCall) error {
	switch c.key {
	case C.GIGARANK_GROUP_OF:
		c.other = b.groups.add(lp, b.k.GroupOf(b.k.Communicator(int32(c.comm)), lp))
		return nil
	case C.GIGARANK_GROUP_OF_REMOTE:
		c.other = b.groups.add(lp, b.k.Communicator(int32(c.comm)).Remote.Group)
		return nil
	case C.GIGARANK_GROUP_FREE:
		return b.groups.free(lp, c.handle)
	}
	g, err := b.groups.of(lp, c.handle)
	if err != nil {
		return err
	}
	switch c.key {
	case C.GIGARANK_GROUP_SIZE:
		c.found = C.int32_t(g.Size())
		return nil
	case C.GIGARANK_GROUP_RANK:
		c.found = C.int32_t(g.Member(int(b.k.Global(lp))))
		return nil
	case C.GIGARANK_GROUP_COMPARE, C.GIGARANK_GROUP_TRANSLATE, C.GIGARANK_GROUP_UNION, C.GIGARANK_GROUP_INTERSECTION, C.GIGARANK_GROUP_DIFFERENCE:
		h, err := b.groups.of(lp, c.other)
		if err != nil {
			return err
		}
		return b.combineGroups(lp, c, g, h)
	}
	list, made := integers(c.input, c.given), (*world.Group)(nil)
	switch c.key {
	case C.GIGARANK_GROUP_INCL:
		made, err = g.Incl(list)
	case C.GIGARANK_GROUP_EXCL:
		made, err = g.Excl(list)
	case C.GIGARANK_GROUP_RANGE_INCL:
		made, err = g.RangeIncl(rangesOf(list))
	case C.GIGARANK_GROUP_RANGE_EXCL:
		made, err = g.RangeExcl(rangesOf(list))
	}
	if err == nil {
		c.other = b.groups.add(lp, made)
	}
	return err
}

// combineGroups answers a request of two groups.
func (b *body) combineGroups(lp int32, c *cCall, g, h *world.Group) error {
	switch c.key {
	case C.GIGARANK_GROUP_COMPARE:
		c.found = likeness(g.Compare(h))
	case C.GIGARANK_GROUP_TRANSLATE:
		translated, err := g.Translate(integers(c.input, c.given), h)
		if err != nil {
			return err
		}
		for i, member := range translated {
			numbers(c.output, c.room)[i] = C.int32_t(member)
		}
	case C.GIGARANK_GROUP_UNION:
		c.other = b.groups.add(lp, g.Union(h))
	case C.GIGARANK_GROUP_INTERSECTION:
		c.other = b.groups.add(lp, g.Intersection(h))
	case C.GIGARANK_GROUP_DIFFERENCE:
		c.other = b.groups.add(lp, g.Difference(h))
	}
	return nil
}

// likeness returns 2 for the same members in the same order, 1 in another order, and 0 for other members.
func likeness(c world.Comparison) C.int32_t {
	switch c {
	case world.Ident:
		return 2
	case world.Similar:
		return 1
	}
	return 0
}

// compareComms compares the members of two communicators.
func (b *body) compareComms(lp, one, other int32) C.int32_t {
	k := b.k
	c, d := k.Communicator(one), k.Communicator(other)
	if (c.Remote == nil) != (d.Remote == nil) {
		return 0
	}
	found := likeness(k.GroupOf(c, lp).Compare(k.GroupOf(d, lp)))
	if c.Remote != nil {
		found = min(found, likeness(c.Remote.Group.Compare(d.Remote.Group)))
	}
	return found
}

// onOneNode reports whether all members of a communicator are on one node.
func (b *body) onOneNode(lp int32, c *kernel.Communicator) bool {
	g, node := b.k.GroupOf(c, lp), b.k.Target().Node(int(b.k.Global(lp)))
	for m := range g.Size() {
		if b.k.Target().Node(g.WorldRank(m)) != node {
			return false
		}
	}
	return true
}

// placeOnMachine stores the node of a rank, its number among the ranks there, and how many these are.
func (b *body) placeOnMachine(lp int32, c *cCall) {
	rank, t := int(b.k.Global(lp)), b.k.Target()
	node := t.Node(rank)
	size := t.NodeSize(node)
	c.found, c.made_size = C.int32_t(node), C.int32_t(size)
	c.made_member = C.int32_t(sort.Search(size, func(m int) bool { return t.NodeMember(node, m) >= rank }))
}

// madeComm stores a communicator that a rank has made.
func (b *body) madeComm(lp int32, c *cCall, made *kernel.Communicator) {
	c.made, c.made_size, c.made_member = C.int32_t(made.Index), C.int32_t(made.Size), C.int32_t(b.k.GroupOf(made, lp).Member(int(b.k.Global(lp))))
	c.made_remote = 0
	if made.Remote != nil {
		c.made_remote = C.int32_t(made.Remote.Size)
	}
}

// duplicateLocally returns the local duplicate of a communicator that has a number. All members make the same duplicate, without a
// message.
func (b *body) duplicateLocally(lp int32, c *kernel.Communicator, number int32) *kernel.Communicator {
	if c.Remote != nil {
		return b.k.DupInter(lp, c, number)
	}
	return b.k.LocalDuplicate(lp, c, number)
}

// createComm returns the collective that makes communicators of subgroups, of which the rank
// gives the handle of its own.
func (b *body) createComm(lp int32, c *cCall) (*kernel.Collective, error) {
	parent := b.k.GroupOf(b.k.Communicator(int32(c.comm)), lp)
	g, err := b.groups.of(lp, c.handle)
	if err != nil {
		return b.k.Prepare(kernel.Collective{Procedure: world.CommCreate}), err
	}
	v, err := b.k.Create(parent, g, int(b.k.Global(lp)))
	c.root = C.int32_t(v.Color())
	return v, err
}

// createGroup makes a communicator of a group among its members alone. It reports whether the
// call is over.
func (b *body) createGroup(lp int32, c *cCall) bool {
	k, comm := b.k, b.k.Communicator(int32(c.comm))
	rank := int(k.Global(lp))
	g, err := b.groups.of(lp, c.handle)
	if err != nil {
		return k.Raise(lp, world.CommCreateGroup, err)
	}
	c.made = 0
	if g.Member(rank) < 0 {
		c.comm = 0
		k.NewCompletion(lp)
		return true
	}
	on, v, err := k.CreateGroup(comm, g, int(c.sendtag), lp)
	if err != nil {
		return k.Raise(lp, world.CommCreateGroup, err)
	}
	c.comm, c.root = C.int32_t(on.Index), 0
	return k.Submit(lp, k.Compose(world.CommCreateGroup, on, int32(on.Group.Member(rank))).Enters(v, nil))
}

// made stores the communicator that the call of a rank has made.
func (b *body) made(lp int32, p world.Procedure, c *cCall) {
	if p == world.CommDup {
		c.root = 0
	}
	made := (*kernel.Communicator)(nil)
	if c.comm != 0 && c.root >= 0 {
		made = b.k.NewComm(lp, b.k.Communicator(int32(c.comm)), int(c.root))
	}
	switch {
	case p == world.CommDup:
		b.copyTopology(lp, int32(c.comm), made.Index)
	case p.Class() == world.ClassTopology:
		b.topologies.settle(lp, made)
	}
	if made != nil {
		b.madeWithTopology(lp, c, made)
	}
}
