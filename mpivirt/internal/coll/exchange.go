package coll

import (
	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
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
func (k *Collectives) holdExit(s *splitState, h heldExit) {
	s.exits = append(s.exits, h)
	k.holdFrom(&s.hold, h.t)
}

// letGo lets those members go whose exits were held.
func (k *Collectives) letGo(inst *instance) {
	for _, h := range k.takeExits(inst.split) {
		k.exit(inst, h.lp, int(h.member), h.t)
	}
}

// takeExits ends the hold of exits and returns them.
func (k *Collectives) takeExits(s *splitState) []heldExit {
	exits := s.exits
	s.exits = nil
	k.endHold(&s.hold)
	return exits
}

// enterSplit enters a local member's color and key, or its new group.
func (k *Collectives) enterSplit(inst *instance, member int, x *exchange) {
	s := inst.split
	if s.made == nil {
		s.made = map[int]*Communicator{}
	}
	x.made = s.made
	if inst.Call.Procedure == world.CommSplit {
		s.own = append(s.own, entry{x.color, int32(member), x.key})
		if inst.Count == inst.comm.Locals {
			k.sendSplit(inst)
			k.closeSplit(inst)
		}
		return
	}
	if x.group != nil {
		color := 0
		if inst.Call.Procedure == world.CommCreate {
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
	return random.Uint64(inst.comm.Context, uint64(inst.Number), uint64(color))
}

// sendSplit tells the other engines what this engine's members said.
func (k *Collectives) sendSplit(inst *instance) {
	own := inst.split.own
	for _, engine := range k.others(inst.comm) {
		w := k.collectiveRecord(inst, engine, world.RecordSplit, 20*len(own))
		for _, e := range own {
			w.U64(uint64(e.color))
			w.U32(uint32(e.member))
			w.U64(uint64(e.key))
		}
	}
}

// receiveSplit takes in what another engine's members said.
func (k *Collectives) receiveSplit(inst *instance, r world.Reader) {
	for len(r.Rest) > 0 {
		inst.split.others = append(inst.split.others, entry{int(r.U64()), int32(r.U32()), int64(r.U64())})
	}
	k.closeSplit(inst)
}

// closeSplit makes the communicators once all members have spoken.
func (k *Collectives) closeSplit(inst *instance) {
	s := inst.split
	if len(s.own)+len(s.others) < inst.comm.Size {
		return
	}
	for _, p := range splitGroups(inst.comm.Group, append(s.own, s.others...)) {
		if _, _, locals := k.LocalMembers(p.group); locals > 0 {
			s.made[p.color] = k.addComm(inst.contextOf(p.color), p.group)
		}
	}
	s.done, s.own, s.others = true, nil, nil
	k.letGo(inst)
	k.flushRange(inst)
}

// others returns the other engines that have members of a communicator.
func (k *Collectives) others(c *Communicator) []int {
	if c.others != nil || c.Locals == c.Size {
		return c.others
	}
	partition := k.Engine.Partition()
	seen := make([]bool, k.Engine.Engines())
	if c.Group.Ascending() {
		for engine := range seen {
			lo, hi := partition.Range(engine)
			seen[engine] = c.Group.LowerBound(lo) < c.Group.LowerBound(hi)
		}
	} else {
		for m := range c.Size {
			seen[partition.Owner(c.Group.WorldRank(m))] = true
		}
	}
	for engine, has := range seen {
		if has && engine != k.Engine.Index() {
			c.others = append(c.others, engine)
		}
	}
	return c.others
}

// collectiveRecord begins a record about an instance for another engine, with
// room for n bytes. What the receiver needs to begin the instance itself is in
// the calls of its own members.
func (k *Collectives) collectiveRecord(inst *instance, engine int, kind byte, n int) world.Writer {
	w := world.Writer{Rest: k.Engine.Record(engine, 2+8+4+entrantBytes+n)}
	w.U8(kind)
	w.U8(0)
	w.U64(inst.comm.Context)
	w.U32(inst.Number)
	writeEntrant(&w, inst.entrant)
	return w
}

// entrantBytes is the length of an entrant in a record.
const entrantBytes = 8 + 4 + 8

func writeEntrant(w *world.Writer, e entrant) {
	w.U64(uint64(e.at))
	w.U32(uint32(e.rank))
	w.U64(uint64(e.signature))
}

func readEntrant(r *world.Reader) entrant {
	return entrant{vtime.Time(r.U64()), int32(r.U32()), signature(r.U64())}
}

// DeliverCollective takes in a record about an instance. One that no local member
// has entered yet waits for that. It reports false if the record was put off
// whole.
func (k *Collectives) DeliverCollective(src int, record []byte, r world.Reader) bool {
	r.U8()
	index, known := k.Contexts[r.U64()]
	if !known {
		k.Stray(src, record)
		return false
	}
	c := k.Members[index]
	number := r.U32()
	inst := c.numbered(number)
	if inst == nil && number < c.Next {
		k.checkRecord(c, number, record[0], readEntrant(&r))
		return true
	}
	if inst == nil {
		if c.pending == nil {
			c.pending = map[uint32][]pendingRecord{}
		}
		c.pending[number] = append(c.pending[number], pendingRecord{origin{src, 0}, record[0], append([]byte(nil), r.Rest...)})
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
func (k *Collectives) adopt(inst *instance) {
	for _, p := range inst.comm.pending[inst.Number] {
		k.takeRecord(inst, p.from, p.kind, world.Reader{Rest: p.body})
	}
	delete(inst.comm.pending, inst.Number)
}

// takeRecord takes in a record about an instance. It reports false if the record will
// be consumed later; one that has been already is of no size.
func (k *Collectives) takeRecord(inst *instance, from origin, kind byte, r world.Reader) bool {
	theirs := readEntrant(&r)
	own := k.ofFamily(inst, k.family(theirs.signature))
	switch {
	case own == nil:
		k.bound(inst.comm, inst.Number, inst.entrant, theirs)
		return true
	case kind == world.RecordFailed:
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
	case world.RecordJoin:
		k.receiveJoin(inst, r)
	case world.RecordRelease:
		p, t := int(r.U64()), vtime.Time(r.U64())
		if len(r.Rest) > 0 && inst.result == nil {
			inst.result = append([]byte(nil), r.Rest...)
		}
		k.releaseHere(inst, p, t)
	case world.RecordArray:
		return k.receiveStretch(inst, from, r)
	case world.RecordTree:
		k.receiveTree(inst, r)
	case world.RecordSplit:
		k.receiveSplit(inst, r)
	case world.RecordSignature:
		k.announce(inst)
	default:
		invariant.Broken("a record of kind %d", kind)
	}
	return true
}

// sendJoin tells the engine of a node's leader that all local members of the node
// have joined.
func (k *Collectives) sendJoin(inst *instance, p int) {
	node := p - inst.comm.nodes.here
	var early []contribution
	if inst.join.sums != nil {
		_, early = inst.join.sums.take(p)
	}
	size := 8 + 8 + 4
	for _, e := range early {
		size += 4 + 8 + len(e.data)
	}
	owner := k.Engine.Partition().Owner(inst.comm.RankOf(inst.comm.nodes.leader(p), 0))
	w := k.collectiveRecord(inst, owner, world.RecordJoin, size)
	w.U64(uint64(p))
	w.U64(uint64(inst.join.last[node]))
	w.U32(uint32(inst.comm.nodes.locals(k, p)))
	for _, e := range early {
		w.U32(uint32(e.index))
		w.U64(uint64(len(e.data)))
		w.Rest = w.Rest[copy(w.Rest, e.data):]
		k.Buffers.Release(e.data)
	}
}

// receiveJoin takes in what another engine's members of a node did.
func (k *Collectives) receiveJoin(inst *instance, r world.Reader) {
	p := int(r.U64())
	last, count := vtime.Time(r.U64()), int32(r.U32())
	missing := inst.enterOthers(p-inst.comm.nodes.here, last, count)
	for len(r.Rest) > 0 {
		index, n := int(r.U32()), r.U64()
		k.contribute(inst, p, inst.comm.nodes.member(p, index), r.Rest[:n])
		r.Rest = r.Rest[n:]
	}
	if missing == 0 {
		k.joinedHere(inst, p)
	}
}

// sendRelease tells another engine when the leader of a node leaves that it has
// members of.
func (k *Collectives) sendRelease(inst *instance, p int, t vtime.Time, engine int) {
	w := k.collectiveRecord(inst, engine, world.RecordRelease, 16+len(inst.result))
	w.U64(uint64(p))
	w.U64(uint64(t))
	copy(w.Rest, inst.result)
}

// sendTree gives the other engines this engine's part of the tree: the vectors
// that its participants came to.
func (k *Collectives) sendTree(inst *instance, b *arrayRun) {
	for _, engine := range k.others(inst.comm) {
		for n, value := range b.tree.Values() {
			w := k.collectiveRecord(inst, engine, world.RecordTree, 16+len(value))
			w.U64(uint64(n.Level))
			w.U64(uint64(n.Index))
			copy(w.Rest, value)
		}
	}
	for _, e := range b.early {
		b.tree.Add(e.node, e.value)
	}
	b.early = nil
}

// receiveTree takes in a part of another engine's tree.
func (k *Collectives) receiveTree(inst *instance, r world.Reader) {
	b := k.arraysOf(inst)
	n := collectives.TreeNode{Level: int(r.U64()), Index: int(r.U64())}
	value := k.Buffers.Take(len(r.Rest))
	copy(value, r.Rest)
	if !b.begun {
		b.early = append(b.early, treePart{n, value})
		return
	}
	b.tree.Add(n, value)
	if _, complete := b.tree.Result(); complete && b.Over() {
		k.queue(inst)
	}
}

// treePart is a part of another engine's tree that came before this engine had
// sent its own: its own must not contain it.
type treePart struct {
	node  collectives.TreeNode
	value []byte
}
