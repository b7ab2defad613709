package mpivirt

import (
	"fmt"
	"slices"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/random"
	"gigarank/vtime"
)

// All members of a communicator call the same collectives in the same order, with
// arguments that match (MPI 4.1, 6.1). A program that does not do so is found out,
// without messages of its own for that:
//
//   - on one engine, by the call of the first member that entered;
//   - by every message and record of a collective, which has the sender's signature,
//     be it that the receiver waits for it, has not called yet, or has left;
//   - where everybody waits and nobody sends, by the report of the deadlock.
//
// The call in which it shows returns the error. Where none does, the run ends.

// signature stands for what all members must agree on: the call in its lowest byte,
// the root, the lengths and the operation. Zero stands for no call.
type signature uint64

// Where the parts of a signature begin.
const (
	signedRoot      = 8
	signedLengths   = 24
	signedOperation = 48
)

func (v *collective) signature() signature {
	if v.op == collectives.Barrier {
		return signature(v.name)
	}
	lengths := uint64(v.element)<<1 | map[bool]uint64{true: 1}[v.data]
	if !v.lengthsDiffer() {
		lengths = random.Mix(lengths ^ random.Mix(uint64(v.bytes)))
		for _, n := range v.counts {
			lengths = random.Mix(lengths + uint64(n))
		}
	}
	operation := uint64(0)
	for _, letter := range []byte(v.operator.name) {
		operation = random.Mix(operation + uint64(letter))
	}
	root := uint16(v.root) + uint16(v.root>>16)
	return signature(v.name) | signature(root)<<signedRoot | signature(random.Mix(lengths)&(1<<24-1))<<signedLengths |
		signature(uint16(operation))<<signedOperation
}

func (s signature) call() call { return call(s & 0xff) }

// describe names the call among so many members, with its root if that is in the
// signature whole.
func (s signature) describe(members int) string {
	name := "something else"
	if int(s.call()) < len(callNames) {
		name = s.call().String()
	}
	switch s.call() {
	case callBcast, callReduce, callGather, callGatherv, callScatter, callScatterv:
		if members <= 1<<16 {
			return fmt.Sprintf("%s with root %d", name, uint16(s>>signedRoot))
		}
	}
	return name
}

// mismatch returns what differs between the call of a member here and that of a rank
// elsewhere, nil if nothing does.
func (c *comm) mismatch(number uint32, own, theirs signature, rank int32) error {
	differ := own ^ theirs
	class, how := ErrOp, " and another operation"
	switch {
	case differ == 0:
		return nil
	case own.call() != theirs.call():
		class, how = ErrOther, ""
	case uint16(differ>>signedRoot) != 0:
		class, how = ErrRoot, ""
	case differ>>signedLengths&(1<<24-1) != 0:
		class, how = ErrCount, " and other lengths or types"
	}
	return mpiError(class, "%s, but rank %d calls %s%s as collective %d on %s",
		own.describe(c.size), rank, theirs.describe(c.size), how, number, c)
}

// agrees returns what differs between a member's call and that of the first
// member here.
func (inst *instance) agrees(v *collective) error {
	w := &inst.call
	if v.op == collectives.Barrier && w.op == collectives.Barrier {
		return nil
	}
	but := func(class ErrorClass, how string, own, theirs any) error {
		return mpiError(class, "%s %s%v, but rank %d called %s %s%v at %v as collective %d on %s",
			v.name, how, own, inst.caller, w.name, how, theirs, inst.called, inst.number, inst.comm)
	}
	switch {
	case v.name != w.name:
		return but(ErrOther, "", "", "")
	case v.root != w.root:
		return but(ErrRoot, "with root ", v.root, w.root)
	case v.bytes != w.bytes && !v.lengthsDiffer() || v.element != w.element || v.data != w.data:
		return but(ErrCount, "of bytes by element size ", [2]int64{v.bytes, v.element}, [2]int64{w.bytes, w.element})
	case !v.lengthsDiffer() && !slices.Equal(v.counts, w.counts):
		return but(ErrCount, "with counts in bytes ", v.counts, w.counts)
	case v.operator.name != w.operator.name:
		return but(ErrOp, "with operation ", v.operator.name, w.operator.name)
	}
	return nil
}

// lengthsDiffer reports whether members hand in blocks of different lengths of
// which only the root knows all.
func (v *collective) lengthsDiffer() bool {
	return v.op == collectives.Gatherv || v.op == collectives.Scatterv
}

// spell is a time in which the members of an engine called one and the same
// collective again and again: its instances from from to until-1.
type spell struct {
	from, until uint32
	signature   signature
	rank        int32 // that called first
	at          vtime.Time
}

// maxSpells is how far back an engine knows what its members called.
const maxSpells = 256

// remember notes what the first member here calls in an instance.
func (inst *instance) remember(rank int32, at vtime.Time) {
	inst.caller, inst.called = rank, at
	c := inst.comm
	if c.locals == c.size {
		return
	}
	if n := len(c.spells); n > 0 && c.spells[n-1].signature == inst.signature {
		c.spells[n-1].until = inst.number + 1
		return
	}
	if len(c.spells) == maxSpells {
		c.spells = slices.Delete(c.spells, 0, maxSpells/2)
	}
	c.spells = append(c.spells, spell{inst.number, inst.number + 1, inst.signature, rank, at})
}

// calledAs returns the signature of an instance that members here have entered; zero
// if that is forgotten.
func (c *comm) calledAs(number uint32) signature {
	for i := len(c.spells) - 1; i >= 0; i-- {
		if s := &c.spells[i]; s.from <= number && number < s.until {
			return s.signature
		}
	}
	return 0
}

// signature is that of the sender of a collective's message.
func (m *message) signature() signature {
	return signature(uint32(m.source)) | signature(m.arguments)<<32
}

// contradicted returns what differs between the call of an LP that is about to enter
// an instance and those of the ranks elsewhere that have sent to it already.
func (k *kernel) contradicted(inst *instance, lp int32) error {
	if k.slots == nil || k.slots[lp] == 0 {
		return nil
	}
	for index := k.box(lp).early.head; index != 0; index = k.messages.at(index).next {
		m := k.messages.at(index)
		if m.comm == inst.comm.index && m.number == inst.number {
			if err := inst.comm.mismatch(inst.number, inst.signature, m.signature(), m.rank); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEarly is told of a message from another engine for which no agent waits. If
// the LP takes no more messages in that instance, the sender is in another call: in
// one of which each message is waited for, none is left over.
func (k *kernel) checkEarly(lp int32, m *message) {
	c := k.comms[m.comm]
	if m.number >= c.next || c.failed {
		return
	}
	if inst := c.numbered(m.number); inst != nil && !k.takesNoMore(inst, lp) {
		return
	}
	own := c.calledAs(m.number)
	err := c.mismatch(m.number, own, m.signature(), m.rank)
	if err == nil && invariant.Enabled {
		invariant.Broken("rank %d gets a message of %s number %d of %s, which takes none from it", k.global(lp), own.call(), m.number, c)
	}
	if err != nil {
		c.failed = true
		k.fail(lp, own.call(), err)
	}
}

// checkLeftOver looks for messages that came for an agent which has ended.
func (k *kernel) checkLeftOver(inst *instance, lp int32) {
	for index := k.box(lp).early.head; index != 0; index = k.messages.at(index).next {
		if m := k.messages.at(index); m.comm == inst.comm.index && m.number == inst.number {
			k.checkEarly(lp, m)
			return
		}
	}
}

// checkRecord is told of a record about an instance that all local members have left:
// nobody leaves before its engine has all that it needs, so the sender is in another
// call.
func (k *kernel) checkRecord(c *comm, number uint32, theirs signature, rank int32) {
	own := c.calledAs(number)
	err := c.mismatch(number, own, theirs, rank)
	switch {
	case c.failed:
	case err != nil:
		c.failed = true
		lp, _ := k.local(c.rankOf(k.firstLocal(c), 0))
		k.fail(lp, own.call(), err)
	case invariant.Enabled:
		invariant.Broken("a record about %s number %d of %s, which has ended", own.call(), number, c)
	}
}

// firstLocal returns the first member of this engine.
func (k *kernel) firstLocal(c *comm) int {
	for member := c.first; member < c.last; member++ {
		if _, here := k.local(c.rankOf(member, 0)); here {
			return member
		}
	}
	invariant.Broken("%s has no member on engine %d", c, k.eng.Index())
	return 0
}

// takesNoMore reports whether an LP that has no agent in an instance has entered and
// will have none.
func (k *kernel) takesNoMore(inst *instance, lp int32) bool {
	member := inst.comm.group.Member(int(k.global(lp)))
	switch {
	case !inst.has(member - inst.comm.first):
		return false
	case inst.mode != byMessages:
		return true
	case !inst.leaders:
		return k.agentOf(inst, lp) == 0
	}
	nodes := inst.comm.nodes
	p := nodes.at(member)
	return !nodes.ledBy(p, member) || inst.awaited[p-nodes.here] == 0 && k.agentOf(inst, lp) == 0
}

// agentOf returns the agent of an LP in an instance, 0 if it has none.
func (k *kernel) agentOf(inst *instance, lp int32) int32 {
	index := k.box(lp).agents
	for index != 0 && k.agents.at(index).inst != inst {
		index = k.agents.at(index).next
	}
	return index
}

// blame gives a member's call an error to end with.
func (inst *instance) blame(member int, err error) {
	if inst.errors == nil {
		inst.errors = map[int]error{}
	}
	if inst.errors[member] == nil {
		inst.errors[member] = err
	}
}

// failAgent ends the part of a participant whose agent meets with another call: its
// own and, under node-leader, those of all members of its node that are here.
func (k *kernel) failAgent(index int32, err error) {
	a := k.stopAgent(index)
	inst, p := a.inst, int(a.member)
	inst.comm.failed = true
	if !inst.leaders {
		k.failMember(inst, p, a.clock, err)
	} else {
		for i := range inst.comm.nodes.size(p) {
			k.failMember(inst, inst.comm.nodes.member(p, i), a.clock, err)
		}
	}
	k.flushRange(inst)
}

// stopAgent takes an agent off its LP. It keeps its number: the kernel may have it
// in its queue, and another LP may acknowledge its message.
func (k *kernel) stopAgent(index int32) agent {
	a := k.unlinkAgent(index)
	if a.message != 0 {
		k.dispose(a.message)
	}
	k.buffers.release(a.working)
	*k.agents.at(index) = agent{ended: true}
	return a
}

// failMember ends the part of a member with an error at instant t, if it is here.
func (k *kernel) failMember(inst *instance, member int, t vtime.Time, err error) {
	if lp, here := k.local(inst.comm.rankOf(member, 0)); here {
		inst.blame(member, err)
		k.exit(inst, lp, member, max(t, inst.entryOf(k, lp, member)))
	}
}

// failInstance ends the parts of all local members with an error that concerns all
// of them; those who come later get it at once.
func (k *kernel) failInstance(inst *instance, err error) {
	c := inst.comm
	inst.failed, c.failed = err, true
	if c.open == inst {
		c.open = nil
	}
	if inst.bulk != nil {
		k.releaseBulk(inst.bulk)
	}
	if inst.gone > 0 && (inst.leaders || inst.mode != byMessages) {
		k.fail(inst.caller-int32(k.lo), inst.call.name, err) // some have left and cannot be told
		return
	}
	for member := c.first; member < c.last; member++ {
		lp, here := k.local(c.rankOf(member, 0))
		if !here || !inst.has(member-c.first) {
			continue
		}
		if inst.mode == byMessages {
			index := k.agentOf(inst, lp)
			if index != 0 {
				k.stopAgent(index)
			} else if !inst.leaders {
				continue // it has left
			}
		}
		k.failMember(inst, member, 0, err)
	}
	k.flushRange(inst)
}

// refuse enters a member into an instance that has failed, and lets it leave.
func (k *kernel) refuse(inst *instance, local int) error {
	inst.entered[local>>6] |= 1 << (local & 63)
	inst.count++
	k.left(inst, 1)
	return inst.failed
}

// called is a spell on a communicator, for the report of a deadlock.
type called struct {
	context uint64
	members uint64
	spell
}

// calls lists what members here have called on communicators that have members
// elsewhere.
func (k *kernel) calls() (all []called) {
	for _, c := range k.comms {
		if c == nil {
			continue
		}
		for _, s := range c.spells {
			all = append(all, called{c.context, uint64(c.size), s})
		}
	}
	return all
}

// unlike returns those of calls that are not among the others, whoever made them.
func unlike(calls, others []called) (rest []called) {
	type where struct {
		context     uint64
		from, until uint32
		signature   signature
	}
	key := func(c called) where { return where{c.context, c.from, c.until, c.signature} }
	known := map[where]bool{}
	for _, c := range others {
		known[key(c)] = true
	}
	for _, c := range calls {
		if !known[key(c)] {
			rest = append(rest, c)
		}
	}
	return rest
}

// disagreement returns the error of ranks of two engines that made different calls
// in the same place, nil if there are none.
func disagreement(a, b []called) *RankError {
	for _, x := range a {
		for _, y := range b {
			number := max(x.from, y.from)
			if x.context != y.context || x.signature == y.signature || number >= min(x.until, y.until) {
				continue
			}
			c := &comm{context: x.context, size: int(x.members)}
			return &RankError{Rank: int(x.rank), Time: x.at, Call: x.signature.call().String(),
				Err: c.mismatch(number, x.signature, y.signature, y.rank)}
		}
	}
	return nil
}
