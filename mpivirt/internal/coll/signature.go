package coll

import (
	"errors"
	"fmt"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/world"
)

// signature encodes the parts of a call on which all members must agree: the procedure in its
// lowest byte, the root, the lengths, the operation and the type. Zero stands for no call.
type signature uint64

// The first bits of the parts of a signature.
const (
	signedLater     = 1 << 7 // a bit: the nonblocking form, where the two do not match (MPI 4.1, 6.12)
	signedRoot      = 8
	signedSparse    = 8 // in place of the root: of an alltoallv, see Collective.sparse
	signedLengths   = 24
	signedBare      = 46 // a part of the lengths: the vectors have no content
	signedTogether  = 47 // a part of the lengths: a rooted call that the network carries out, which nobody leaves before all have entered
	signedOperation = 48 // or the call on an intercommunicator whose part signedPart is
	signedPart      = 59
	signedKind      = 60
)

func (v *Collective) signature() signature {
	called := signature(v.Procedure)
	if v.Later {
		called |= signedLater
	}
	if v.Operation == collectives.Barrier {
		return called
	}
	lengths := uint64(v.Element)<<1 | map[bool]uint64{true: 1}[v.Data]
	if !v.lengthsDiffer() {
		lengths = random.Mix(lengths ^ random.Mix(uint64(v.Bytes)))
		for _, n := range v.Counts {
			lengths = random.Mix(lengths + uint64(n))
		}
	}
	operation := uint64(0)
	for _, letter := range []byte(v.Operator.Name) {
		operation = random.Mix(operation + uint64(letter))
	}
	part := signature(0)
	if v.Within != world.NoProcedure {
		part, operation = 1<<signedPart, random.Mix(operation+uint64(v.Within))
	}
	root := uint16(v.Root) + uint16(v.Root>>16)
	if v.offloadsRooted() {
		called |= 1 << signedTogether
	}
	if v.sparse() {
		called |= 1 << signedSparse
	}
	if v.Phantom {
		called |= 1 << signedBare
	}
	return called | signature(root)<<signedRoot | signature(random.Mix(lengths)&(1<<22-1))<<signedLengths |
		signature(operation&(1<<11-1))<<signedOperation | part | signature(v.Type)<<signedKind
}

func (s signature) call() world.Procedure { return world.Procedure(s & (signedLater - 1)) }

// namer returns the name of a procedure in programs.
type namer func(world.Procedure) string

// describe returns a description of the call among a number of members, with its root if the
// signature holds the whole root.
func (s signature) describe(members int, nameOf namer) string {
	name := "something else"
	if s.call().Known() {
		name = nameOf(s.call())
	}
	switch s.call() {
	case world.Bcast, world.Reduce, world.Gather, world.Gatherv, world.Scatter, world.Scatterv:
		if members <= 1<<16 {
			return fmt.Sprintf("%s with root %d", name, uint16(s>>signedRoot))
		}
	}
	return name
}

// ofType returns the MPI name of the type of a call's elements, to follow the name of the call.
func (s signature) ofType() string { return " of " + world.ElementType(s>>signedKind).MPIName() }

// mismatch returns the difference between the call of a member here and that of another rank, nil
// for none.
func (c *Communicator) mismatch(number uint32, own, theirs signature, rank int32, nameOf namer) error {
	err := mismatchOn(c.MadeText(nameOf), c.Size, number, own, theirs, rank, nameOf)
	if of := (*world.Error)(nil); errors.As(err, &of) {
		of.InCollective(c.Context, number)
	}
	return err
}

// mismatchOn is mismatch on a communicator with a description and a size.
func mismatchOn(comm string, size int, number uint32, own, theirs signature, rank int32, nameOf namer) error {
	differ := own ^ theirs
	class, how, mine, others := world.ErrOp, " by another operation", "", ""
	switch {
	case differ == 0:
		return nil
	case own.call() != theirs.call():
		class, how = world.ErrOther, ""
	case differ&signedLater != 0:
		class, how = world.ErrOther, ", one of the two in its nonblocking form, which does not match the other on a machine with progress in calls,"
	case uint16(differ>>signedRoot) != 0:
		class, how = world.ErrRoot, ""
	case differ>>signedBare&1 != 0:
		class, how = world.ErrOther, ", one of the two with the content of its buffers and the other with their sizes alone,"
	case differ>>signedLengths&(1<<24-1) != 0:
		class, how = world.ErrCount, " of other lengths"
		if differ>>signedKind != 0 {
			mine, others, how = own.ofType(), theirs.ofType(), ""
		}
	case own&theirs>>signedPart&1 != 0:
		class, how = world.ErrOther, " for another call, or by another operation, on the intercommunicator"
	case differ>>signedKind != 0:
		class, how, mine, others = world.ErrType, "", own.ofType(), theirs.ofType()
	}
	return world.Errorf(class, "%s%s, but rank %d calls %s%s%s as collective %d on %s",
		own.describe(size, nameOf), mine, rank, theirs.describe(size, nameOf), others, how, number, comm).
		Against(world.OtherCall{Rank: rank, Call: theirs.call(), Waits: theirs.synchronizing() && !own.synchronizing()})
}

// agrees reports whether a member's call agrees with the call of the first member here.
func (inst *instance) agrees(v *Collective) bool {
	w := &inst.Call
	if v.Operation == collectives.Barrier && w.Operation == collectives.Barrier {
		return v.Procedure == w.Procedure && v.Later == w.Later
	}
	lengths := v.Element == w.Element && v.Data == w.Data && v.Phantom == w.Phantom &&
		(v.lengthsDiffer() || v.Bytes == w.Bytes && slices.Equal(v.Counts, w.Counts))
	return v.Procedure == w.Procedure && v.Later == w.Later && v.Root == w.Root && lengths && v.Type == w.Type && v.Within == w.Within && v.Operator.Name == w.Operator.Name
}

// lengthsDiffer reports whether members pass blocks of different lengths, of which only the root
// knows all.
func (v *Collective) lengthsDiffer() bool {
	return v.Operation == collectives.Gatherv || v.Operation == collectives.Scatterv
}

// synchronizing reports whether no member can leave a call before all have entered it.
func (s signature) synchronizing() bool {
	if s>>signedTogether&1 != 0 {
		return true
	}
	return Synchronizes(s.call()) && !s.sparse()
}

// Synchronizes reports whether no member can leave any call of a procedure before all have entered it.
func Synchronizes(p world.Procedure) bool {
	switch p.Plain() {
	case world.Barrier, world.Allreduce, world.Allgather, world.Allgatherv, world.Alltoall, world.Alltoallv, world.ReduceScatter,
		world.CommDup, world.CommSplit, world.CommCreate, world.CommCreateGroup, world.IntercommCreate:
		return true
	}
	return false
}

// family returns a value that stands for a family of compatible calls: calls of the same procedure
// and root, so that each waits for messages of the other. With together set, all calls that no
// member can leave before all have entered are one family, since they fail together; else only
// equal calls of that kind are.
func (s signature) family(together bool) signature {
	switch {
	case !s.synchronizing():
		return s & (1<<signedLengths - 1)
	case together:
		return signature(world.NoProcedure)
	}
	return s
}

// family returns the family of a call on the kernel's machine.
func (c *Collectives) family(s signature) signature { return s.family(c.FailsTogether()) }

// FailsTogether reports whether a collective can fail as a whole. It cannot where a message
// occupies its receiver's processor even if no member waits for it: the effects of messages before
// the failure would depend on the hosting.
func (c *Collectives) FailsTogether() bool { return c.Messages.Processors == nil }
