package kernel

import (
	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/random"
	"gigarank/vtime"
)

// splitState gathers what the members of a communicator tell each other to make
// new ones. Nobody leaves before it is complete: the collective's time runs over
// messages that do not carry these data.
type splitState struct {
	own    []entry // of the members of this engine
	others []entry // of those elsewhere
	done   bool
	exits  []heldExit
	hold   hold // from the first of exits on
	made   map[int]*Communicator
}

// heldExit is a member's exit that waits for the data.
type heldExit struct {
	lp, member int32
	t          vtime.Time
}

// holdExit keeps a member's exit until the data are there. They are on their way: the exit
// rests on the entries of all members, and each engine sends its data when its last one
// enters. But what tells this engine of that entry may have come by way of others, and
// with it promises that go beyond the exit. They do not count until it is over.
func (k *Kernel) holdExit(s *splitState, h heldExit) {
	s.exits = append(s.exits, h)
	k.holdFrom(&s.hold, h.t)
}

// letGo lets those members go whose exits were held.
func (k *Kernel) letGo(inst *instance) {
	for _, h := range k.takeExits(inst.split) {
		k.exit(inst, h.lp, int(h.member), h.t)
	}
}

// takeExits ends the hold of exits and returns them.
func (k *Kernel) takeExits(s *splitState) []heldExit {
	exits := s.exits
	s.exits = nil
	k.endHold(&s.hold)
	return exits
}

// enterSplit enters a local member's color and key, or its new group.
func (k *Kernel) enterSplit(inst *instance, member int, x *exchange) {
	s := inst.split
	if s.made == nil {
		s.made = map[int]*Communicator{}
	}
	x.made = s.made
	if inst.call.Procedure == CommSplit {
		s.own = append(s.own, entry{x.color, int32(member), x.key})
		if inst.count == inst.comm.locals {
			k.sendSplit(inst)
			k.closeSplit(inst)
		}
		return
	}
	if x.group != nil {
		color := 0
		if inst.call.Procedure == CommCreate {
			color = x.group.WorldRank(0)
		}
		if s.made[color] == nil {
			s.made[color] = k.addComm(inst.contextOf(color), x.group)
		}
	}
	s.done = true
}

// contextOf names a communicator that this instance makes, alike on all engines.
func (inst *instance) contextOf(color int) uint64 {
	return random.Uint64(inst.comm.context, uint64(inst.number), uint64(color))
}

// sendSplit tells the other engines what this engine's members said.
func (k *Kernel) sendSplit(inst *instance) {
	own := inst.split.own
	for _, engine := range k.others(inst.comm) {
		w := k.collectiveRecord(inst, engine, recordSplit, 20*len(own))
		for _, e := range own {
			w.u64(uint64(e.color))
			w.u32(uint32(e.member))
			w.u64(uint64(e.key))
		}
	}
}

// receiveSplit takes in what another engine's members said.
func (k *Kernel) receiveSplit(inst *instance, r reader) {
	for len(r.b) > 0 {
		inst.split.others = append(inst.split.others, entry{int(r.u64()), int32(r.u32()), int64(r.u64())})
	}
	k.closeSplit(inst)
}

// closeSplit makes the communicators once all members have spoken.
func (k *Kernel) closeSplit(inst *instance) {
	s := inst.split
	if len(s.own)+len(s.others) < inst.comm.Size {
		return
	}
	for _, p := range splitGroups(inst.comm.Group, append(s.own, s.others...)) {
		if _, _, locals := k.localMembers(p.group); locals > 0 {
			s.made[p.color] = k.addComm(inst.contextOf(p.color), p.group)
		}
	}
	s.done, s.own, s.others = true, nil, nil
	k.letGo(inst)
	k.flushRange(inst)
}

// others returns the other engines that have members of a communicator.
func (k *Kernel) others(c *Communicator) []int {
	if c.others != nil || c.locals == c.Size {
		return c.others
	}
	partition := k.eng.Partition()
	seen := make([]bool, k.eng.Engines())
	if c.Group.ascending() {
		for engine := range seen {
			lo, hi := partition.Range(engine)
			seen[engine] = c.Group.lowerBound(lo) < c.Group.lowerBound(hi)
		}
	} else {
		for m := range c.Size {
			seen[partition.Owner(c.Group.WorldRank(m))] = true
		}
	}
	for engine, has := range seen {
		if has && engine != k.eng.Index() {
			c.others = append(c.others, engine)
		}
	}
	return c.others
}

// collectiveRecord begins a record about an instance for another engine, with
// room for n bytes. What the receiver needs to begin the instance itself is in
// the calls of its own members.
func (k *Kernel) collectiveRecord(inst *instance, engine int, kind byte, n int) writer {
	w := writer{k.eng.Record(engine, 2+8+4+entrantBytes+n)}
	w.u8(kind)
	w.u8(0)
	w.u64(inst.comm.context)
	w.u32(inst.number)
	w.entrant(inst.entrant)
	return w
}

// entrantBytes is the length of an entrant in a record.
const entrantBytes = 8 + 4 + 8

func (w *writer) entrant(e entrant) {
	w.u64(uint64(e.at))
	w.u32(uint32(e.rank))
	w.u64(uint64(e.signature))
}

func (r *reader) entrant() entrant {
	return entrant{vtime.Time(r.u64()), int32(r.u32()), signature(r.u64())}
}

// deliverCollective takes in a record about an instance. One that no local member
// has entered yet waits for that. It reports false if the record was put off
// whole.
func (k *Kernel) deliverCollective(src int, record []byte, r reader) bool {
	r.u8()
	index, known := k.contexts[r.u64()]
	if !known {
		k.stray(src, record)
		return false
	}
	c := k.comms[index]
	number := r.u32()
	inst := c.numbered(number)
	if inst == nil && number < c.next {
		k.checkRecord(c, number, record[0], r.entrant())
		return true
	}
	if inst == nil {
		if c.pending == nil {
			c.pending = map[uint32][]pendingRecord{}
		}
		c.pending[number] = append(c.pending[number], pendingRecord{origin{src, 0}, record[0], append([]byte(nil), r.b...)})
		return true
	}
	return k.takeRecord(inst, origin{src, len(record)}, record[0], r)
}

// origin is where a record came from, and its length in bytes.
type origin struct{ engine, size int }

// pendingRecord is a record about an instance that has not begun here.
type pendingRecord struct {
	from origin // of no size: it has been consumed
	kind byte
	body []byte
}

// adopt delivers what came for an instance before it began.
func (k *Kernel) adopt(inst *instance) {
	for _, p := range inst.comm.pending[inst.number] {
		k.takeRecord(inst, p.from, p.kind, reader{p.body})
	}
	delete(inst.comm.pending, inst.number)
}

// takeRecord takes in a record about an instance. It reports false if the record will
// be consumed later; one that has been already is of no size.
func (k *Kernel) takeRecord(inst *instance, from origin, kind byte, r reader) bool {
	theirs := r.entrant()
	own := k.ofFamily(inst, k.family(theirs.signature))
	switch {
	case own == nil:
		k.bound(inst.comm, inst.number, inst.entrant, theirs)
		return true
	case kind == recordFailed:
		k.receiveFailed(own, r)
		return true
	case own.failed != nil:
		return true
	case theirs.signature != own.signature:
		k.contradiction(own)
		return true
	}
	inst = own
	switch kind {
	case recordJoin:
		k.receiveJoin(inst, r)
	case recordRelease:
		p, t := int(r.u64()), vtime.Time(r.u64())
		if len(r.b) > 0 && inst.result == nil {
			inst.result = append([]byte(nil), r.b...)
		}
		k.releaseHere(inst, p, t)
	case recordArray:
		return k.receiveStretch(inst, from, r)
	case recordTree:
		k.receiveTree(inst, r)
	case recordSplit:
		k.receiveSplit(inst, r)
	case recordSignature:
		k.announce(inst)
	default:
		invariant.Broken("a record of kind %d", kind)
	}
	return true
}

// sendJoin tells the engine of a node's leader that all local members of the node
// have joined.
func (k *Kernel) sendJoin(inst *instance, p int) {
	node := p - inst.comm.nodes.here
	var early []contribution
	if inst.join.sums != nil {
		_, early = inst.join.sums.take(p)
	}
	size := 8 + 8 + 4
	for _, e := range early {
		size += 4 + 8 + len(e.data)
	}
	owner := k.eng.Partition().Owner(inst.comm.rankOf(inst.comm.nodes.leader(p), 0))
	w := k.collectiveRecord(inst, owner, recordJoin, size)
	w.u64(uint64(p))
	w.u64(uint64(inst.join.last[node]))
	w.u32(uint32(inst.comm.nodes.locals(k, p)))
	for _, e := range early {
		w.u32(uint32(e.index))
		w.u64(uint64(len(e.data)))
		w.b = w.b[copy(w.b, e.data):]
		k.buffers.release(e.data)
	}
}

// receiveJoin takes in what another engine's members of a node did.
func (k *Kernel) receiveJoin(inst *instance, r reader) {
	p := int(r.u64())
	last, count := vtime.Time(r.u64()), int32(r.u32())
	missing := inst.enterOthers(p-inst.comm.nodes.here, last, count)
	for len(r.b) > 0 {
		index, n := int(r.u32()), r.u64()
		k.contribute(inst, p, inst.comm.nodes.member(p, index), r.b[:n])
		r.b = r.b[n:]
	}
	if missing == 0 {
		k.joinedHere(inst, p)
	}
}

// sendRelease tells another engine when the leader of a node leaves that it has
// members of.
func (k *Kernel) sendRelease(inst *instance, p int, t vtime.Time, engine int) {
	w := k.collectiveRecord(inst, engine, recordRelease, 16+len(inst.result))
	w.u64(uint64(p))
	w.u64(uint64(t))
	copy(w.b, inst.result)
}

// sendTree gives the other engines this engine's part of the tree: the vectors
// that its participants came to.
func (k *Kernel) sendTree(inst *instance, b *arrayRun) {
	for _, engine := range k.others(inst.comm) {
		for n, value := range b.tree.Values() {
			w := k.collectiveRecord(inst, engine, recordTree, 16+len(value))
			w.u64(uint64(n.Level))
			w.u64(uint64(n.Index))
			copy(w.b, value)
		}
	}
	for _, e := range b.early {
		b.tree.Add(e.node, e.value)
	}
	b.early = nil
}

// receiveTree takes in a part of another engine's tree.
func (k *Kernel) receiveTree(inst *instance, r reader) {
	b := k.arraysOf(inst)
	n := collectives.TreeNode{Level: int(r.u64()), Index: int(r.u64())}
	value := k.buffers.take(len(r.b))
	copy(value, r.b)
	if !b.begun {
		b.early = append(b.early, treePart{n, value})
		return
	}
	b.tree.Add(n, value)
	if _, complete := b.tree.Result(); complete && b.round == inst.schedule.MaxRounds() {
		k.queue(inst)
	}
}

// treePart is a part of another engine's tree that came before this engine had
// sent its own: its own must not contain it.
type treePart struct {
	node  collectives.TreeNode
	value []byte
}
