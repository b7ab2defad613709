//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Types and constants of C.
type (
	cChar   = C.char
	cInt64  = C.int64_t
	cInt32  = C.int32_t
	cDouble = C.double
)

const (
	calls          = C.GIGARANK_CALLS
	ended          = C.GIGARANK_ENDED
	ending         = C.GIGARANK_ENDED + 1 // operations that it has begun go on
	heldBack       = C.GIGARANK_HELD      // before the call that it makes begins
	byCall         = C.GIGARANK_BY_CALL
	bySignal       = C.GIGARANK_BY_SIGNAL
	byInterruption = C.GIGARANK_BY_INTERRUPTION

	sampleEnd = C.GIGARANK_SAMPLE_END
)

// procedureOf returns the procedure of a call, none for a call that is not of MPI.
func procedureOf(p int32) world.Procedure {
	if p >= C.GIGARANK_PROCEDURES {
		return world.NoProcedure
	}
	return world.Procedure(p)
}

// lastOf returns the procedure of a rank's latest call.
func lastOf(r *cRank) world.Procedure {
	form := C.int32_t(C.GIGARANK_PLAIN)
	if r.last&C.GIGARANK_OF_VARIANT != 0 {
		form = C.GIGARANK_VARIANT | C.GIGARANK_LATER
	}
	return variantOf(procedureOf(int32(r.last&^C.GIGARANK_OF_VARIANT)), form)
}

// Package world has the same numbers for types, and for no rank and no tag.
var (
	_ = [1]int{}[int(world.ComplexDouble)-C.GIGARANK_DOUBLE_COMPLEX]
	_ = [1]int{}[world.AnySource-C.GIGARANK_ANY_SOURCE]
	_ = [1]int{}[world.ProcNull-C.GIGARANK_PROC_NULL]
	_ = [1]int{}[world.AnyTag-C.GIGARANK_ANY_TAG]
	_ = [1]int{}[world.Undefined-C.GIGARANK_UNDEFINED]
	_ = [1]int{}[world.Root-C.GIGARANK_ROOT]
)

// memory returns C memory as bytes, nil for a null pointer.
func memory(p unsafe.Pointer, bytes C.int64_t) []byte {
	if p == nil || bytes == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), bytes)
}

// begin makes the call of a rank, and reports whether it is over.
func (b *body) begin(lp int32, c *cCall) bool {
	k, p := b.k, world.Procedure(c.procedure)
	b.named = namedCall{lp, c.nonblocking}
	if c.error != 0 {
		return k.Raise(lp, variantOf(procedureOf(int32(c.procedure)), c.nonblocking), errorOf(c.error, stringOf(c.detail)))
	}
	if p == world.Barrier && c.nonblocking&C.GIGARANK_FORM == 0 && k.EnterBarrier(lp, k.Communicator(int32(c.comm)), int(c.member)) {
		k.Activity(lp)
		return false
	}
	if p == world.Recv && c.comm == world.World && c.nonblocking&C.GIGARANK_FORM == 0 && c.message == 0 &&
		k.ReceiveOnWorld(lp, k.Communicator(world.World), memory(c.output, c.room), int64(c.room), int(c.source), int(c.tag)) {
		return k.Clocks()[lp] < vtime.Forever
	}
	class := p.Class()
	switch class {
	case world.ClassNone, world.ClassLocal:
		return b.answer(lp, c)
	case world.ClassCommunicator:
		if p == world.CommCreateGroup {
			return b.createGroup(lp, c)
		}
	case world.ClassTopology:
		return b.withTopology(lp, c)
	case world.ClassIntercommunicator:
		if p == world.IntercommCreate {
			return b.meet(lp, c)
		}
		return b.merge(lp, c)
	case world.ClassNeighborhood:
		return b.exchange(lp, c)
	case world.ClassRequest:
		k.RequestList = append(k.RequestList[:0], int32(*c.requests))
		return k.Submit(lp, k.Compose(world.Cancel, k.Communicator(int32(c.comm)), int32(c.member)).Waits(k.RequestList, nil))
	}
	made := variantOf(p, c.nonblocking)
	q := k.Compose(made, k.Communicator(int32(c.comm)), int32(c.member))
	switch class {
	case world.ClassSend:
		b.sends(q, c)
	case world.ClassReceive:
		b.receives(q, c)
		if c.message != 0 {
			q.Takes(int32(c.message))
		}
	case world.ClassSendReceive:
		b.sends(q, c)
		b.receives(q, c)
	case world.ClassWait, world.ClassTest:
		if !b.waits(lp, q, c) {
			k.NewCompletion(lp)
			c.outcount = C.GIGARANK_UNKNOWN
			return true
		}
	case world.ClassProbe:
		q.Receives(nil, 0, true, int(c.source), int(c.tag))
	default:
		if p != world.CommFree {
			b.enters(lp, q, c, made)
		}
	}
	over := k.Submit(lp, q)
	c.request = C.int32_t(k.Completion().Request)
	return over
}

// enters has a call enter its rank into a collective. made is the variant of the collective that the rank has called.
func (b *body) enters(lp int32, q *kernel.Call, c *cCall, made world.Procedure) {
	p := world.Procedure(c.procedure)
	v, err := b.collective(lp, p, c)
	if err == nil && v.Moved() && c.key == C.GIGARANK_WITHOUT_CONTENT {
		v.DropContents()
	}
	if made != p && err == nil {
		v.Procedure = made
	}
	q.Enters(v, err)
	if c.nonblocking&C.GIGARANK_FORM != 0 {
		q.Nonblocking()
	}
}

func (b *body) sends(q *kernel.Call, c *cCall) {
	q.Sends(memory(c.input, c.bytes), int64(c.bytes), int(c.dest), int(c.sendtag))
}

func (b *body) receives(q *kernel.Call, c *cCall) {
	q.Receives(memory(c.output, c.room), int64(c.room), true, int(c.source), int(c.tag))
}

// answer answers a call that takes no call of the virtual MPI. It reports whether it has.
func (b *body) answer(lp int32, c *cCall) bool {
	k := b.k
	k.NewCompletion(lp)
	switch c.procedure {
	case C.GIGARANK_COMPUTE:
		if err := k.Compute(lp, vtime.Duration(c.bytes)); err != nil {
			k.Fail(lp, world.Compute, err)
		}
	case C.GIGARANK_ERRORS_RETURN:
		k.SetErrorsReturn(lp, c.key != 0)
	case C.GIGARANK_ATTACH:
		c.room = C.int64_t(k.Attach(lp, int64(c.bytes)))
	case C.GIGARANK_NODE:
		b.placeOnMachine(lp, c)
	case C.GIGARANK_COMPARE:
		c.found = b.compareComms(lp, int32(c.comm), int32(c.key))
	case C.GIGARANK_GROUP:
		if err := b.askGroup(lp, c); err != nil {
			k.Raise(lp, world.NoProcedure, named(c.detail, err))
		}
	case C.GIGARANK_LOCAL_DUPLICATE:
		made := b.duplicateLocally(lp, k.Communicator(int32(c.comm)), int32(c.key))
		b.copyTopology(lp, int32(c.comm), made.Index)
		b.madeWithTopology(lp, c, made)
	case C.GIGARANK_PARTITIONED: // duplicates for the program itself have positive numbers
		of := k.Communicator(int32(c.comm))
		made := b.duplicateLocally(lp, of, -1-int32(c.key))
		made.Of, c.made = &of.Comm, C.int32_t(made.Index)
	case C.GIGARANK_INTRODUCTION:
		b.introduce(lp, c)
	case C.GIGARANK_TOPOLOGY:
		if err := b.askTopology(lp, c); err != nil {
			k.Raise(lp, world.NoProcedure, named(c.detail, err))
		}
	case C.GIGARANK_ON_ONE_NODE:
		if c.found = 0; b.onOneNode(lp, k.Communicator(int32(c.comm))) {
			c.found = 1
		}
	case C.GIGARANK_RECORD:
		k.Record(int(c.key), stringOf(c.detail), vtime.Duration(c.bytes))
	case C.GIGARANK_PHASE:
		k.BeginPhase(lp, stringOf(c.detail))
	case C.GIGARANK_CLOCK_POLL, C.GIGARANK_SAMPLE_END: // the burst is charged
	case C.GIGARANK_SAMPLE_BEGIN:
		c.found = b.sample(lp, stringOf(c.detail), int(c.key))
	case C.GIGARANK_RAISE:
		b.raise(lp, c)
	case C.GIGARANK_ABORT:
		k.Fail(lp, lastOf(&b.ranks[lp]), fmt.Errorf("%w%s", world.Aborted(int(c.key)), b.place()))
	}
	return true
}

// collective returns the arguments that a rank hands in to a collective.
func (b *body) collective(lp int32, p world.Procedure, c *cCall) (*kernel.Collective, error) {
	k := b.k
	switch p {
	case world.Barrier:
		if c.nonblocking&C.GIGARANK_VARIANT != 0 {
			own := *k.Barrier() // all calls of MPI_Barrier share the kernel's arguments
			return &own, nil
		}
		return k.Barrier(), nil
	case world.CommDup:
		return k.Dup(k.GroupOf(k.Communicator(int32(c.comm)), lp)), nil
	case world.CommSplit:
		return k.Split(int(c.root), int(c.key))
	case world.CommCreate:
		return b.createComm(lp, c)
	}
	v := kernel.Collective{
		Procedure: p, Operation: p.Operation(), Root: int(c.root), Data: true,
		Bytes: int64(c.bytes), Element: int64(c.element), Type: typeOf(c._type),
		Input: memory(c.input, c.given), Output: memory(c.output, c.room),
	}
	members := c.size // members whose blocks are counted
	if c.remote > 0 && p != world.ReduceScatter {
		members = c.remote
	}
	switch p {
	case world.Reduce, world.Allreduce, world.Scan, world.Exscan, world.ReduceScatter:
		v.Operator = b.operator(c)
	case world.Alltoallv:
		v.Bytes = 0
		if c.remote > 0 { // between groups, each block has a count
			v.InCounts, v.OutCounts = countsOf(c.incounts, members), countsOf(c.counts, members)
			return k.Prepare(v), nil
		}
		v.InCounts, v.OutCounts = b.outgoing.spread(c.incounts, c.outcount, members), b.incoming.spread(c.counts, c.n, members)
		return k.Prepare(v), nil
	case world.Allgatherv:
		v.Bytes = int64(c.room)
	}
	if c.counts != nil {
		v.Counts = countsOf(c.counts, members)
	}
	return k.Prepare(v), nil
}

// blockCounts are bytes by member, of the latest call.
type blockCounts struct {
	bytes []int64
	some  []int32 // the members whose bytes are not 0, unless all have the same
	alike int64   // bytes of all members in the list; 0 if they differ
}

// spread returns bytes by member from a list of n blocks of an alltoallv, valid until the next call.
func (b *blockCounts) spread(list *C.int64_t, n, members C.int32_t) []int64 {
	blocks := (*C.struct_gigarank_block)(unsafe.Pointer(list))
	if n == C.GIGARANK_ALIKE && b.alike == int64(blocks.bytes) && len(b.bytes) >= int(members) {
		return b.bytes[:members]
	}
	if b.alike != 0 {
		clear(b.bytes)
	}
	for _, member := range b.some {
		b.bytes[member] = 0
	}
	b.some, b.alike = b.some[:0], 0
	if len(b.bytes) < int(members) {
		b.bytes = make([]int64, members)
	}
	if n == C.GIGARANK_ALIKE {
		b.alike = int64(blocks.bytes)
		for i := range b.bytes {
			b.bytes[i] = b.alike
		}
		return b.bytes[:members]
	}
	for _, block := range unsafe.Slice(blocks, n) {
		b.bytes[block.member] = int64(block.bytes)
		b.some = append(b.some, int32(block.member))
	}
	return b.bytes[:members]
}

// countsOf returns a copy of counts by member.
func countsOf(counts *C.int64_t, n C.int32_t) []int64 {
	all := make([]int64, n)
	for i, count := range unsafe.Slice(counts, n) {
		all[i] = int64(count)
	}
	return all
}

// typeOf returns the type of elements as package world knows it.
func typeOf(t C.int32_t) world.ElementType {
	if t > C.GIGARANK_DOUBLE_COMPLEX {
		return world.Untyped
	}
	return world.ElementType(t)
}

// operation is a reduction operation on a type.
type operation struct {
	handle      uintptr
	operand     uintptr // the type that it is told
	commutative bool
}

// operator returns the operator of a reduction.
func (b *body) operator(c *cCall) world.Operator {
	o := operation{uintptr(c.handle), uintptr(c.operand), c.commutative != 0}
	made, known := b.operators[o]
	if !known {
		ended := func(signal int) {
			if signal != 0 || b.engine.by_operation.there != 0 {
				b.operationFailed(o, signal)
			}
		}
		made = world.Operator{Name: operatorName(o.handle), Commutative: o.commutative, Apply: func(into, left, right []byte) {
			lp, n := b.k.Combining()
			own := b.asKnownTo(lp, o)
			if n > 0 {
				ended(combineRow(b.engine, lp, own.handle, own.operand, into, len(into)/n))
			} else {
				ended(combine(b.engine, lp, own.handle, own.operand, into, left, right))
			}
		}}
		b.operators[o] = made
	}
	return made
}

// asKnownTo returns an operation as a rank has handed it in, if the rank is in a reduction. Ranks with
// images of their own have functions of their own.
func (b *body) asKnownTo(lp int32, o operation) operation {
	if len(b.images) == 1 || lp == world.None || b.ranks[lp].state != calls {
		return o
	}
	c := b.ranks[lp].call
	if procedureOf(int32(c.procedure)).Reduces() {
		return operation{uintptr(c.handle), uintptr(c.operand), o.commutative}
	}
	return o
}

// operatorNames are the names of the predefined operations, by handle.
var operatorNames = map[uintptr]string{
	0x21: "sum", 0x22: "min", 0x23: "max", 0x24: "prod", 0x28: "band", 0x29: "bor", 0x2a: "bxor",
	0x30: "land", 0x31: "lor", 0x32: "lxor", 0x38: "minloc", 0x39: "maxloc",
}

// ofProgram is the name of operations of the program's own.
const ofProgram = "user"

func operatorName(handle uintptr) string {
	if name, known := operatorNames[handle]; known {
		return name
	}
	return ofProgram
}

// goesOn stores the results of a rank's call that is over, if the rank is in a call. It reports false
// if the call fails the rank.
func (b *body) goesOn(lp int32) bool {
	r := &b.ranks[lp]
	if b.spoiled {
		return false
	}
	k := b.k
	if r.state == heldBack {
		r.state = calls
		k.SetRunning(lp)
		if !b.begin(lp, r.call) || k.Pause(lp) {
			return false
		}
	}
	if r.state != calls {
		return r.state < ended
	}
	if k.InParts(lp) && !k.HasFailed(lp) && !k.Submit(lp, k.Composed()) {
		return false
	}
	r.state = C.GIGARANK_RUNS
	if k.HasFailed(lp) {
		return false
	}
	if r.last == C.GIGARANK_BARRIER && k.Completion().Err == nil {
		return true // without a look at the rank's stack
	}
	c := r.call
	p := world.Procedure(c.procedure)
	completion := k.CompletionOf(lp)
	c.error = 0
	if err := completion.Err; err != nil {
		b.named = namedCall{lp, c.nonblocking}
		if completion.Fatal {
			k.Fail(lp, completion.Procedure, err)
			return false
		}
		c.error = numberOf(err)
		b.heard(lp, completion.Procedure, err)
	}
	b.results(lp, p, c, completion)
	return true
}

// results stores the results of a call.
func (b *body) results(lp int32, p world.Procedure, c *cCall, done *kernel.Completion) {
	k, class := b.k, p.Class()
	switch {
	case p == world.Recv || p == world.Sendrecv:
		c.status = statusOf(k.StatusOf(done))
	case class == world.ClassWait || class == world.ClassTest:
		if b.completed(p, c, done); p == world.Test && !done.Found {
			b.foresees(lp, c)
		}
	case class == world.ClassProbe:
		if done.Found {
			c.found, c.message, c.status = 1, C.int32_t(done.Message), statusOf(done.Status)
		} else if p == world.Iprobe {
			b.foresees(lp, c)
		}
	case p == world.Allreduce && c.error == 0 && c.nonblocking&C.GIGARANK_FORM == 0 && c.remote == 0:
		copy(memory(c.output, c.room), k.SharedResult(lp, k.Communicator(int32(c.comm))))
	case (class == world.ClassCommunicator && p != world.CommFree || class == world.ClassTopology) && c.error == 0:
		b.made(lp, p, c)
	case p == world.IntercommMerge && c.error == 0:
		b.merged(lp, c)
	case p == world.IntercommCreate && c.error == 0:
		b.madeComm(lp, c, k.Communicator(done.NewComm))
		c.topology = C.struct_gigarank_topology{}
	case p == world.CommFree && c.error == 0:
		delete(b.topologies.of, place{lp, int32(c.comm)})
	}
}

// foresees stores the number of further polls of a rank that fail, after a poll that has failed. Where CPU times count, time
// passes between polls.
func (b *body) foresees(lp int32, c *cCall) {
	if c.key = 0; c.error == 0 && b.bursts == nil {
		c.key = C.int32_t(b.k.FailingPolls(lp))
	}
}

// completed stores the statuses and places of the requests that a wait or test has completed.
func (b *body) completed(p world.Procedure, c *cCall, done *kernel.Completion) {
	if !done.Found {
		return
	}
	c.found = 1
	list := requestsOf(c)
	at := func(i, place int) int32 {
		if list == nil {
			return done.Completed[i]
		}
		return list[place]
	}
	n := C.int32_t(0)
	add := func(i int) {
		status := world.EmptyStatus
		if index := at(int(n), i); index != 0 {
			status = b.k.RequestStatus(index)
		}
		*slot(c.statuses, int32(n)), *slot(c.indices, int32(n)) = statusOf(status), C.int32_t(i)
		n++
	}
	switch p {
	case world.Wait, world.Test, world.Waitall, world.Testall:
		for i := range list {
			add(i)
		}
	default:
		for _, i := range done.Indices {
			add(i)
		}
	}
	c.outcount = n
	for _, f := range done.Failures {
		for i := range int32(n) {
			if s := slot(c.statuses, i); at(int(i), int(*slot(c.indices, i))) == f.Request {
				s.error = numberOf(f.Err)
			}
		}
	}
	switch p {
	case world.Waitall, world.Waitsome, world.Testall, world.Testsome:
		if c.error != 0 {
			c.error = errInStatus
		}
	}
}

func statusOf(s world.Status) cStatus {
	status := cStatus{source: C.int32_t(s.Source), tag: C.int32_t(s.Tag), bytes: C.int64_t(s.Bytes)}
	if s.Cancelled {
		status.cancelled = 1
	}
	return status
}
