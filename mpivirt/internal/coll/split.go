package coll

import (
	"cmp"
	"slices"

	"gigarank/internal/random"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// splitState gathers colors and keys of the members of a communicator. No member leaves before the
// gathering is complete: the messages that model the collective's time do not carry colors. Runs of
// entries travel up a tree of the engines that have members. The root makes the groups, and sends
// down to each engine the groups with members on the engine or an engine below.
type splitState struct {
	own     []entry // entries of the members of this engine
	runs    []run   // entries of the engines below
	told    []byte  // bytes of Told from the leader whose group meets another, once they are here
	missing int     // children whose runs have not arrived, plus one for the engine itself
	done    bool
	exits   []heldExit
	hold    hold                  // from the first of exits on
	made    map[int]*Communicator // by color, or by the first rank of the group; 0 for an intercommunicator
	err     error                 // of making the communicators, the same for all members
}

// heldExit is a member's exit that waits for the groups.
type heldExit struct {
	lp, member int32
	t, over    vtime.Time // see exitFrom
}

// holdExit stores a member's exit until the groups arrive. They are on their way: the exit depends
// on the entries of all members, and each engine sends its entries once its last member has entered
// and the entries of the engines below have arrived. But the news of that entry may have come
// through other engines, with promises beyond the exit. These promises do not count until the hold
// ends.
func (c *Collectives) holdExit(s *splitState, h heldExit) {
	s.exits = append(s.exits, h)
	c.holdFrom(&s.hold, h.t)
}

// letGo carries out the held exits.
func (c *Collectives) letGo(inst *instance) {
	for _, h := range c.takeExits(inst.split) {
		c.exitFrom(inst, h.lp, int(h.member), h.t, h.over)
	}
}

// takeExits ends the hold of exits and returns them.
func (c *Collectives) takeExits(s *splitState) []heldExit {
	exits := s.exits
	s.exits = nil
	c.endHold(&s.hold)
	return exits
}

// enterSplit records a local member's color and key, or its new group.
func (c *Collectives) enterSplit(inst *instance, member int, x *creation) {
	s := inst.split
	x.split = s
	like := inst.Call.Procedure.Plain()
	if like == world.CommSplit || like == world.IntercommCreate {
		if x.told != nil {
			s.told = x.told
		}
		if like == world.CommSplit {
			s.own = append(s.own, entry{x.color, int32(member), x.key})
		}
		if inst.Count == inst.comm.Locals {
			s.runs = append(s.runs, runsOf(s.own)...)
			c.addRuns(inst, s)
		}
		return
	}
	if x.group != nil {
		color := 0
		if like == world.CommCreate {
			color = x.group.WorldRank(0)
		}
		if s.made == nil {
			s.made = map[int]*Communicator{}
		}
		if s.made[color] == nil {
			s.made[color] = c.addComm(inst.contextOf(color), x.group)
			s.made[color].Origin = inst.origin(color)
		}
	}
	s.done = true
}

// contextOf returns the context of a communicator that this instance makes, the same on all
// engines.
func (inst *instance) contextOf(color int) uint64 {
	return random.Uint64(inst.comm.Context, uint64(inst.Number), uint64(color))
}

// origin returns the origin of a communicator that this instance makes.
func (inst *instance) origin(color int) world.Origin {
	return world.Origin{Parent: &inst.comm.Comm, Procedure: inst.Call.Procedure, Number: inst.Number, Color: int32(color)}
}

// memberTree returns the neighbours of this engine among those that have members.
func (c *Collectives) memberTree(comm *Communicator) branches { return c.branchesOf(comm.Group.Next) }

// addRuns records that the entries of one child, or of the engine itself, are complete. After the
// last of them all entries go to the parent.
func (c *Collectives) addRuns(inst *instance, s *splitState) {
	tree := c.memberTree(inst.comm)
	if s.missing == 0 {
		s.missing = 1 + len(tree.children)
	}
	if s.missing--; s.missing > 0 {
		return
	}
	if tree.parent < 0 {
		var entries []entry
		for _, r := range s.runs {
			entries = r.appendTo(entries)
		}
		c.takeGroups(inst, splitGroups(inst.comm.Group, inst.comm.first, entries), tree.children)
		return
	}
	w := c.collectiveRecord(inst, tree.parent, world.RecordSplit, 4+len(s.told)+runBytes*len(s.runs))
	s.writeTold(&w)
	for _, r := range s.runs {
		r.write(&w)
	}
	s.own, s.runs = nil, nil
}

// receiveSplit reads colors and keys of the engines below this engine.
func (c *Collectives) receiveSplit(inst *instance, r world.Reader) {
	s := inst.split
	s.readTold(&r)
	for len(r.Rest) > 0 {
		s.runs = append(s.runs, readRun(&r))
	}
	c.addRuns(inst, s)
}

// receiveGroups reads the groups that have members on this engine or an engine below.
func (c *Collectives) receiveGroups(inst *instance, r world.Reader) {
	var parts []part
	inst.split.readTold(&r)
	for len(r.Rest) > 0 {
		color := int(r.U64())
		parts = append(parts, part{color, world.ReadGroup(&r)})
	}
	c.takeGroups(inst, parts, c.memberTree(inst.comm).children)
}

// takeGroups sends groups to the children and makes the communicators of this engine.
func (c *Collectives) takeGroups(inst *instance, parts []part, children []branch) {
	for _, child := range slices.Backward(children) {
		c.sendGroups(inst, parts, child)
	}
	s := inst.split
	s.made = make(map[int]*Communicator, min(len(parts), inst.comm.Locals))
	for _, p := range parts {
		switch {
		case !p.group.MeetsRange(c.partition.First, c.partition.First+c.partition.Ranks):
		case inst.comm.first != nil:
			s.made[p.color] = c.makeSides(inst.comm, inst.contextOf(p.color), p.group)
		default:
			s.made[p.color] = c.addComm(inst.contextOf(p.color), p.group)
			s.made[p.color].Origin = inst.origin(p.color)
		}
	}
	if s.told != nil {
		s.made[0], s.err = c.meeting(inst.comm.Group, s.told)
	}
	s.done, s.own, s.runs = true, nil, nil
	c.letGo(inst)
	c.flushRange(inst)
}

// sendGroups sends a child the groups that have members on it or an engine below it.
func (c *Collectives) sendGroups(inst *instance, parts []part, child branch) {
	lo, _ := c.partition.Engine.Partition().Range(child.engine)
	_, hi := c.partition.Engine.Partition().Range(child.end - 1)
	size := 4 + len(inst.split.told)
	for _, p := range parts {
		if p.group.MeetsRange(lo, hi) {
			size += 8 + p.group.Bytes()
		}
	}
	w := c.collectiveRecord(inst, child.engine, world.RecordGroups, size)
	inst.split.writeTold(&w)
	for _, p := range parts {
		if p.group.MeetsRange(lo, hi) {
			w.U64(uint64(p.color))
			p.group.Write(&w)
		}
	}
}

// writeTold writes the bytes of Told, if they are here.
func (s *splitState) writeTold(w *world.Writer) {
	w.U32(uint32(len(s.told)))
	w.Rest = w.Rest[copy(w.Rest, s.told):]
}

// readTold reads the bytes that writeTold has written.
func (s *splitState) readTold(r *world.Reader) {
	n := r.U32()
	if n > 0 {
		s.told = append([]byte(nil), r.Rest[:n]...)
	}
	r.Rest = r.Rest[n:]
}

// run is a sequence of entries of consecutive members whose colors and keys change by equal steps.
type run struct {
	first              entry
	count              int32
	colorStep, keyStep int64
}

// runsOf returns the entries of members as runs. It sorts the entries.
func runsOf(entries []entry) (runs []run) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.member, b.member) })
	for _, e := range entries {
		if last := len(runs) - 1; last < 0 || !runs[last].extend(e) {
			runs = append(runs, run{first: e, count: 1})
		}
	}
	return runs
}

// extend adds an entry that continues a run to the run, and reports whether the entry does.
func (r *run) extend(e entry) bool {
	if r.count == 1 {
		r.colorStep, r.keyStep = int64(e.color)-int64(r.first.color), e.key-r.first.key
	}
	if r.at(r.count) != e {
		return false
	}
	r.count++
	return true
}

// at returns entry i of a run.
func (r *run) at(i int32) entry {
	return entry{r.first.color + int(r.colorStep)*int(i), r.first.member + i, r.first.key + r.keyStep*int64(i)}
}

// appendTo appends the entries of a run.
func (r *run) appendTo(entries []entry) []entry {
	for i := range r.count {
		entries = append(entries, r.at(i))
	}
	return entries
}

// runBytes is the length in bytes of a run in a record.
const runBytes = 4 + 4 + 4*8

func (r *run) write(w *world.Writer) {
	w.U32(uint32(r.first.member))
	w.U32(uint32(r.count))
	w.U64(uint64(r.first.color))
	w.U64(uint64(r.first.key))
	w.U64(uint64(r.colorStep))
	w.U64(uint64(r.keyStep))
}

func readRun(r *world.Reader) (n run) {
	n.first.member, n.count = int32(r.U32()), int32(r.U32())
	n.first.color, n.first.key = int(r.U64()), int64(r.U64())
	n.colorStep, n.keyStep = int64(r.U64()), int64(r.U64())
	return n
}
