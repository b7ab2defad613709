package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"runtime"
	"slices"
	"sync"
)

// Check compares what the tasks of a trace say of each other, without a replay: the messages between each pair of members of a communicator with
// each tag, the collectives of each communicator, requests and communicators of each task. It returns the faults, at most so many as most, and their
// number. It takes time in proportion to the operations, and memory to the pairs that exchange messages. Several goroutines read a part of the tasks each; how
// many, makes no difference to the faults.
func Check(f *File, most int) (faults []string, count int, err error) {
	return checkParts(f, most, runtime.GOMAXPROCS(0))
}

// checkParts is Check in a number of parts.
func checkParts(f *File, most, n int) (faults []string, count int, err error) {
	tasks := f.Header.Tasks
	n = min(n, tasks)
	all, parts := newCheck(f, most), make([]*check, n)
	for i := range parts {
		parts[i] = newCheck(f, most)
		parts[i].lo, parts[i].hi = i*tasks/n, (i+1)*tasks/n
		if parts[i].blocks, err = NewBlocks(f, checkBytes/n); err != nil {
			return nil, 0, err
		}
	}
	all.blocks = parts[0].blocks
	if err := readParts(parts, func(x *check) func(o *Operation) { return x.makes }); err != nil {
		return nil, 0, err
	}
	for _, x := range parts {
		for of, list := range x.made {
			all.made[of] = append(all.made[of], list...)
		}
		maps.Copy(all.remote, x.remote)
		maps.Copy(all.member, x.member)
	}
	all.number()
	for _, x := range parts {
		x.second, x.made, x.joins, x.remote, x.member = true, nil, nil, all.remote, all.member
	}
	if err := readParts(parts, func(x *check) func(o *Operation) { return x.counts }); err != nil {
		return nil, 0, err
	}
	for _, x := range parts {
		all.take(x)
	}
	all.compareMessages()
	if err := all.compareLengths(parts); err != nil {
		return nil, 0, err
	}
	all.compareCalls()
	return all.faults, all.count, nil
}

// checkBytes is the most bytes of blocks that a check keeps.
const checkBytes = 16 << 20

func newCheck(f *File, most int) *check {
	return &check{file: f, most: most, made: map[maker][]joined{}, remote: map[commID]commID{}, joins: map[place]bool{}, member: map[place]int64{},
		messages: map[message]*balance{}, calls: map[commID]map[int]*course{}}
}

// readParts reads the tasks of all parts side by side. The error is that of the first part that has one.
func readParts(parts []*check, pass func(x *check) func(o *Operation)) error {
	failures := make([]error, len(parts))
	var group sync.WaitGroup
	for i, x := range parts {
		group.Go(func() {
			for task := x.lo; task < x.hi && failures[i] == nil; task++ {
				failures[i] = x.read(task, pass(x))
			}
		})
	}
	group.Wait()
	return cmp.Or(failures...)
}

// take adds what another part has counted. The sends of a message are of one task, and so are its receives.
func (x *check) take(part *check) {
	for m, b := range part.messages {
		all := x.of(m)
		all.sent, all.received, all.wild = all.sent+b.sent, all.received+b.received, all.wild+b.wild
		all.maySent, all.mayReceived, all.mayWild = all.maySent+b.maySent, all.mayReceived+b.mayReceived, all.mayWild+b.mayWild
		all.lastSend, all.lastReceive = all.lastSend+b.lastSend, all.lastReceive+b.lastReceive
		all.lengths.add(&b.lengths)
	}
	for id, courses := range part.calls {
		if x.calls[id] == nil {
			x.calls[id] = map[int]*course{}
		}
		maps.Copy(x.calls[id], courses)
	}
	x.faults, x.count = append(x.faults, part.faults[:min(len(part.faults), x.most-len(x.faults))]...), x.count+part.count
}

// commID identifies a communicator in all tasks: WORLD is 0, SELF of a task is its number below 0. Each side of an
// intercommunicator has one.
type commID int64

// maker is a call that makes communicators: the parent, and the number of the call on it.
type maker struct {
	parent commID
	number int64
}

// joined is what a task hands in to such a call.
type joined struct {
	task       int
	color, key int64
	id, parent commID
	function   Function
}

// Colors that no split has. They tell the communicators that are made by numbers of the program from those that calls have made.
const (
	ofDuplicate = -1 - iota
	ofMerge
)

// place is a member of a communicator.
type place struct {
	comm commID
	task int
}

// message is what tells the messages between two members apart. Of wildcards only the receiver is known.
type message struct {
	comm                     commID
	source, destination, tag int64
}

// balance counts messages. Calls that failed in the record may have sent or received theirs, and a cancelled receive may have.
type balance struct {
	sent, received, wild, maySent, mayReceived, mayWild int64

	lastSend, lastReceive int64 // the operations of the latest ones in their tasks
	lengths               lengths
}

// course is the course of a member's collectives on a communicator.
type course struct {
	calls int64
	hash  uint64
}

// begun is a request that is under way: the message of a receive, and the operation that began it.
type begun struct {
	message   message
	operation int64
}

// check is the state of a check, or of the part of it that reads tasks lo to hi-1.
type check struct {
	lo, hi int
	file   *File
	blocks *Blocks
	most   int
	second bool // the pass in which members have numbers: remote and member are the same for all parts, and do not change
	faults []string
	count  int

	made     map[maker][]joined
	joins    map[place]bool    // the tasks in them
	remote   map[commID]commID // the other side, by the side of an intercommunicator
	member   map[place]int64
	messages map[message]*balance
	calls    map[commID]map[int]*course

	// Of the task that is read.
	cursor   Cursor
	comms    map[int64]commID
	numbers  map[commID]int64 // calls that have made communicators
	numbered []int64          // scratch
	requests map[int64]begun

	// The collectives on a communicator, if the check watches it.
	watches bool
	watched commID
	steps   []step

	looked map[message]*pairing // the messages whose lengths are compared one by one; nil until then
}

func (x *check) fault(format string, arguments ...any) {
	if x.count++; len(x.faults) < x.most {
		x.faults = append(x.faults, fmt.Sprintf(format, arguments...))
	}
}

// at reports a fault of the operation that was read last.
func (x *check) at(o *Operation, format string, arguments ...any) {
	if x.second {
		x.fault("%s", x.cursor.Fault(x.file, o.Function.String()+": "+fmt.Sprintf(format, arguments...)).Error())
	}
}

// read reads a task.
func (x *check) read(task int, each func(o *Operation)) (err error) {
	if x.cursor, err = x.file.Task(task); err != nil {
		return err
	}
	x.comms, x.numbers, x.requests = map[int64]commID{World: 0, Self: commID(-1 - task)}, map[commID]int64{}, map[int64]begun{}
	if !x.second {
		x.member[place{0, task}], x.member[place{commID(-1 - task), task}] = int64(task), 0
	}
	var o Operation
	for {
		more, err := x.cursor.Next(x.blocks, &o)
		if err != nil {
			return err
		}
		if !more {
			switch {
			case !x.second || o.Function == End:
			case x.cursor.Operation() < 0:
				x.fault("%s", x.cursor.Fault(x.file, "the task has no operations: its part of the trace is missing").Error())
			default:
				x.fault("%s", x.cursor.Fault(x.file, "the trace of the task is cut behind this operation").Error())
			}
			return nil
		}
		each(&o)
	}
}

// identity returns the identity of a communicator, the same in each check, since faults are told in the order of identities.
func identity(values ...int64) commID {
	h := fnv.New64a()
	var word [8]byte
	for _, v := range values {
		binary.LittleEndian.PutUint64(word[:], uint64(v))
		_, _ = h.Write(word[:])
	}
	return commID(h.Sum64() >> 1)
}

// fails reports whether a call failed in the record.
func (o *Operation) fails() bool { return o.Function.Class() > ClassEnd && o.Form.Has(Failed) }

// makes follows the communicators that a task makes.
func (x *check) makes(o *Operation) {
	if o.fails() {
		return
	}
	switch o.Function.Class() {
	case ClassCommunicator, ClassDuplicate, ClassGiven, ClassMeeting, ClassMerge:
		x.makesComm(o)
	case ClassFree:
		delete(x.comms, o.Comm)
	}
}

// makesComm gives the communicator that an operation makes its identity, and notes the task as a member.
func (x *check) makesComm(o *Operation) {
	parent, known := x.comms[o.Comm]
	color, alone := o.Color, false
	switch o.Function {
	case CommCreateGroup, CommGiven:
		parent, known, alone = 0, true, true
	case CommDup, GraphCreate, DistGraphCreate, DistGraphCreateAdjacent, LocalDuplicate, IntercommCreate:
		color = 0
	}
	if !known {
		x.at(o, "the task has no communicator %d here", o.Comm)
		return
	}
	remote, between := x.remote[parent]
	if o.Function == LocalMerge && !between {
		x.at(o, "communicator %d has no remote group", o.Comm)
		return
	}
	of, key := maker{parent, x.numbers[parent]}, o.Key
	switch {
	case alone:
		group := identity(append([]int64{-1, o.Context}, o.Group...)...)
		of = maker{group, x.numbers[group]}
		x.numbers[group]++
	case o.Function == LocalDuplicate:
		of, color = maker{parent, o.Key}, ofDuplicate
	case o.Function == LocalMerge: // the members of both sides
		of, color, key = maker{min(parent, remote), o.Key}, ofMerge, 1-o.Color
	default:
		x.numbers[parent]++
	}
	if o.Made < 0 {
		return
	}
	id := identity(int64(of.parent), of.number, color)
	if o.Function == IntercommCreate {
		id = identity(o.Token, o.RemoteToken)
	}
	x.comms[o.Made] = id
	if x.second || x.joins[place{id, x.cursor.Task()}] { // a local duplicate is the same each time
		return
	}
	switch {
	case o.Function == IntercommCreate:
		x.remote[id] = identity(o.RemoteToken, o.Token)
	case between && o.Function != LocalMerge:
		x.remote[id] = identity(int64(remote), of.number, color)
	}
	x.joins[place{id, x.cursor.Task()}] = true
	j := joined{task: x.cursor.Task(), color: color, key: key, id: id, parent: parent, function: o.Function}
	switch o.Function {
	case CommSplit, CommSplitType, CartSub, LocalMerge:
	case IntercommCreate:
		j.key = 0
	default: // members of a group are in its order
		if j.key = 0; len(o.Group) > 0 {
			j.key = positionIn(o.Group, int64(j.task))
		}
	}
	x.made[of] = append(x.made[of], j)
}

// positionIn returns the place of a rank in runs, -1 for none.
func positionIn(runs []int64, rank int64) (at int64) {
	for ; len(runs) >= 3; runs = runs[3:] {
		first, distance, n := runs[0], runs[1], runs[2]
		d := rank - first
		if d == 0 {
			return at
		}
		if distance != 0 && d%distance == 0 && d/distance > 0 && d/distance < n {
			return at + d/distance
		}
		at += n
	}
	return -1
}

// number numbers the members of all communicators, from parents to children.
func (x *check) number() {
	for waiting := slices.Collect(maps.Keys(x.made)); len(waiting) > 0; {
		left := waiting[:0]
		for _, of := range waiting {
			list := x.made[of]
			alone := len(list) > 0 && (list[0].function == CommCreateGroup || list[0].function == CommGiven)
			inParent := func(j joined) int64 { return x.member[place{j.parent, j.task}] }
			ready := alone || !slices.ContainsFunc(list, func(j joined) bool { _, known := x.member[place{j.parent, j.task}]; return !known })
			if !ready {
				left = append(left, of)
				continue
			}
			slices.SortFunc(list, func(a, b joined) int {
				order := cmp.Or(cmp.Compare(a.color, b.color), cmp.Compare(a.key, b.key))
				if order == 0 && !alone {
					order = cmp.Compare(inParent(a), inParent(b))
				}
				return order
			})
			next := int64(0)
			for i, j := range list {
				if next++; i == 0 || list[i-1].color != j.color {
					next = 0
				}
				x.member[place{j.id, j.task}] = next
			}
		}
		if len(left) == len(waiting) {
			return // their parents are not known: the operations on them are faults
		}
		waiting = left
	}
	x.made, x.joins = map[maker][]joined{}, map[place]bool{}
}

// counts counts messages and collectives, and follows requests.
func (x *check) counts(o *Operation) {
	switch o.Function.Class() {
	case ClassSend:
		x.sends(o)
		x.begins(o, o.Function != Send && o.Function != Ssend && o.Function != Bsend && o.Function != Rsend, message{})
	case ClassReceive:
		m := x.receives(o)
		x.begins(o, o.Function != Recv, m)
	case ClassSendReceive:
		x.sends(o)
		m := x.receives(o)
		x.begins(o, o.Function != Sendrecv, m)
	case ClassWait, ClassTest:
		x.waits(o)
	case ClassCancel:
		for _, number := range o.Requests {
			x.cancels(x.requests[number].message)
		}
	case ClassCollective, ClassNeighborhood:
		x.enters(o)
		x.begins(o, o.Form.Has(Nonblocking), message{})
	case ClassCommunicator:
		if o.Function != CommCreateGroup {
			x.enters(o)
		}
		x.makes(o)
	case ClassMeeting:
		x.enters(o)
		x.makes(o)
	case ClassDuplicate, ClassGiven, ClassFree, ClassMerge:
		x.makes(o)
	case ClassProbe:
		if o.Message > 0 { // the receive that takes the message does not name it
			x.receives(&Operation{Function: o.Function, Comm: o.Comm, Source: o.GotSource, SourceTag: o.GotTag, Form: Unsized})
		}
	}
}

// comm returns the communicator of an operation, and the task's number in it.
func (x *check) comm(o *Operation) (id commID, member int64, known bool) {
	id, known = x.comms[o.Comm]
	if !known {
		x.at(o, "the task has no communicator %d here", o.Comm)
		return 0, 0, false
	}
	member, known = x.member[place{id, x.cursor.Task()}]
	return id, member, known
}

func (x *check) of(m message) *balance {
	b := x.messages[m]
	if b == nil {
		b = &balance{}
		x.messages[m] = b
	}
	return b
}

func (x *check) sends(o *Operation) {
	id, member, known := x.commOf(o)
	if !known || o.Peer == ProcNull {
		return
	}
	if remote, between := x.remote[id]; between { // a message belongs to the side of its receiver
		id = remote
	}
	m := message{id, member, o.Peer, o.Tag}
	b := x.of(m)
	b.lengths.sends(o)
	if x.looked != nil {
		x.looked[m].notes(o.Bytes, x.cursor.Operation(), true)
	}
	if b.lastSend = x.cursor.Operation(); o.fails() {
		b.maySent++
	} else {
		b.sent++
	}
}

// receives counts a receive, and returns what it counts by: with wildcards only the receiver.
func (x *check) receives(o *Operation) message {
	id, member, known := x.commOf(o)
	if !known || o.Source == ProcNull || o.Message != 0 {
		return message{}
	}
	m := message{id, o.Source, member, o.SourceTag}
	wild := o.Source == AnySource || o.SourceTag == AnyTag
	if wild {
		m = message{comm: id, source: AnySource, destination: member}
	}
	b := x.of(m)
	b.lengths.receives(o)
	if x.looked != nil {
		x.looked[m].notes(o.roomOf(), x.cursor.Operation(), false)
	}
	b.lastReceive = x.cursor.Operation()
	switch {
	case wild && o.fails():
		b.mayWild++
	case wild:
		b.wild++
	case o.fails():
		b.mayReceived++
	default:
		b.received++
	}
	return m
}

// cancels counts a receive as one that may not have got its message.
func (x *check) cancels(m message) {
	switch b := x.messages[m]; {
	case b == nil:
	case m.source == AnySource:
		b.wild, b.mayWild = b.wild-1, b.mayWild+1
	default:
		b.received, b.mayReceived = b.received-1, b.mayReceived+1
	}
}

// commOf is comm without a fault for a call that failed in the record.
func (x *check) commOf(o *Operation) (commID, int64, bool) {
	if _, known := x.comms[o.Comm]; !known && o.fails() {
		return 0, 0, false
	}
	return x.comm(o)
}

// begins follows the request that an operation begins, with the message of a receive.
func (x *check) begins(o *Operation, request bool, m message) {
	if !request || o.Form.Has(Freed) || o.fails() && o.Request < 0 {
		return
	}
	if _, under := x.requests[o.Request]; under {
		x.at(o, "request %d begins, but has not been waited for since it began before", o.Request)
	}
	x.requests[o.Request] = begun{m, x.cursor.Operation()}
}

// waits follows the requests that a wait or test has completed.
func (x *check) waits(o *Operation) {
	x.numbered = o.Named(x.numbered[:0])
	for _, number := range x.numbered {
		if number < 0 {
			continue
		}
		if r, under := x.requests[number]; under && o.fails() {
			if b := x.messages[r.message]; b != nil {
				b.lengths.failed = true
			}
		} else if !under && !o.fails() {
			x.at(o, "no operation has begun request %d, or a wait for it is over%s", number, x.nearestRequest(number))
		}
		if !o.Form.Has(Missed) {
			delete(x.requests, number)
		}
	}
}

// enters follows the collectives of a communicator.
func (x *check) enters(o *Operation) {
	id, _, known := x.commOf(o)
	if !known || id < 0 || o.fails() || o.Function.Class() == ClassNeighborhood {
		return
	}
	remote, between := x.remote[id]
	if between {
		id = min(id, remote)
	}
	if x.calls[id] == nil {
		x.calls[id] = map[int]*course{}
	}
	c := x.calls[id][x.cursor.Task()]
	if c == nil {
		c = &course{}
		x.calls[id][x.cursor.Task()] = c
	}
	c.calls++
	c.takes(uint64(o.Function))
	switch {
	case between: // roots and lengths of the groups differ
	case o.Function.Class() == ClassCollective:
		c.takes(uint64(o.Root))
		switch o.Function {
		case Gatherv, Scatterv, Alltoallv, Alltoallw: // each member has lengths of its own
		default:
			c.takes(uint64(o.Vector))
			c.takes(uint64(o.Element))
		}
	}
	if x.watches && id == x.watched {
		x.steps = append(x.steps, step{c.hash, x.cursor.Operation()})
	}
}

// takes adds a value to the hash of a course.
func (c *course) takes(v uint64) { c.hash = c.hash*0x9e3779b97f4a7c15 + v }
