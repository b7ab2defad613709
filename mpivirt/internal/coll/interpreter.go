package coll

import (
	"math"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/network"
)

// Mode is the interpreter of one instance.
type Mode uint8

const (
	ByMessages  Mode = iota // agents send and receive every message
	ByArrays                // max-plus over arrays of clocks, on all engines
	Locally                 // round by round over the members of an engine
	InStep                  // round by round over the processors of all ranks, on the single engine that has them; by messages where their order is another
	AtFixedCost             // a fixed time after the last entry, without messages; see fixedcost.go
	mismatched              // not carried out: members have called different procedures; see failure
)

// choice contains the data on which the choice of an interpreter rests. Engines that share an
// instance have equal data, and so choose alike.
type choice struct {
	target      *network.Target
	wanted      Interpreter
	null        bool // engines synchronise by null messages alone
	call        *Collective
	schedule    collectives.Schedule
	layout      *collectives.Layout // as in instance
	members     int                 // of the communicator
	leaders     bool                // participants are the leaders of nodes, else all members
	ascending   bool                // participants are numbered in the order of their ranks
	alone       bool                // one engine has all members
	uniformFrom int                 // see uniformFrom
	layered     bool                // messages take the interfaces of nodes in layers
	accounted   bool                // participants keep accounts for statistics
}

// choiceFor returns the data of the choice for a new instance.
func (c *Collectives) choiceFor(inst *instance) choice {
	comm := inst.comm
	return choice{
		target: inst.target, wanted: c.interpreter, null: c.partition.Engine.Null(),
		call: &inst.Call, schedule: inst.schedule, layout: inst.layout,
		members: comm.Size, leaders: inst.leaders, alone: comm.Locals == comm.Size,
		ascending:   comm.Group.Ascending() && (!inst.leaders || comm.nodes.ascending),
		uniformFrom: c.uniformFrom(inst.leaders), layered: c.layering != nil && !inst.apart, accounted: c.explains,
	}
}

// mode returns the chosen interpreter.
func (c *choice) mode() Mode {
	switch {
	case c.call.Algorithm.HasFixedCost():
		return AtFixedCost
	case c.wanted == Message || c.call.Later || c.members == 1:
		return ByMessages
	case collectives.HasWindows(c.schedule) && (c.target.ReceiverState() || !c.windowsFit()):
		return ByMessages
	case c.accounted && !c.accountsFit():
		return ByMessages
	case c.target.ReceiverState():
		if c.inStepFits() {
			return InStep
		}
		return ByMessages
	case c.target.SharedState() || c.target.Contended() && !c.layered || c.target.HasJitter():
		return ByMessages
	case c.arraysFit():
		return ByArrays
	case !c.leaders && c.layout != nil && !c.accounted && !collectives.HasWindows(c.schedule) && (c.alone || c.layersFitBetween()):
		return Locally
	default:
		return ByMessages
	}
}

// LongRounds is more than the number of rounds of any algorithm whose rounds differ in kind: twice
// the logarithm of the number of members. Algorithms with more rounds have rounds of one kind, or
// of two successive kinds that are both regular or both not.
const LongRounds = 64

// arraysFit reports whether an instance can be carried out over arrays of clocks. The exit of each
// member must depend on the entries of all members, so that no member waits for a member that has
// left. Messages must not depend on earlier messages. Every round must be regular, with messages of
// one size. The data must be such that a tree of partial results carries them, or be copied
// unchanged from input to output. Where messages take interfaces in layers, an engine that has all members may combine the vectors round by
// round once the clocks are known: rounds in layers cost less over arrays than one by one.
func (c *choice) arraysFit() bool {
	switch {
	case !c.ascending:
		return false
	case c.call.Operation == collectives.Alltoallv:
		return c.unevenFits()
	case !synchronizing(c.call.Operation) || c.layout == nil:
		return false
	case c.null && !c.alone:
		// While engines exchange arrays their promises do not help; see
		// [engine.Engine.Cap].
		return false
	case c.call.Moved() && c.call.combinesInRounds() && !(c.layered && !c.leaders) || !c.evenChunks():
		return false
	}
	windows, rounds := collectives.HasWindows(c.schedule), min(c.schedule.MaxRounds(), LongRounds)
	switch {
	case windows && !c.windowsFit():
		return false
	case windows: // which may differ in kind
		rounds = c.schedule.MaxRounds()
	}
	for round := 0; round < rounds; round++ {
		if windows {
			if w, ok := collectives.WindowOf(c.schedule, round); ok {
				if !c.windowFits(&w) {
					return false
				}
				round = w.Last()
				continue
			}
		}
		if !c.roundFits(c.schedule.Pattern(round)) {
			return false
		}
	}
	return true
}

// layersFit reports whether the rounds of an instance whose positions differ in size are those of arraysFit but for that: messages may take
// the interfaces of nodes in layers.
func (c *choice) layersFit() bool {
	if !synchronizing(c.call.Operation) || c.layout == nil || c.leaders || c.longest() > c.target.EagerLimit() {
		return false
	}
	for round := range min(c.schedule.MaxRounds(), LongRounds) {
		if p := c.schedule.Pattern(round); p.Kind == collectives.Irregular || p.Kind == collectives.Paired || c.target.HasPorts() && !c.hidesGap(p) {
			return false
		}
	}
	return true
}

// layersFitBetween reports whether several engines can carry out an instance round by round: messages take the interfaces of nodes in layers, and
// positions differ in size.
func (c *choice) layersFitBetween() bool {
	return c.layered && c.ascending && !c.null && !Moves(c.call.Operation) && c.layersFit()
}

// longest returns a number of bytes that no message exceeds: in each round all of the positions of the greatest message may be the longest.
func (c *choice) longest() (most int64) {
	w := c.schedule.Positions()
	all := c.layout.Offset(w)
	if all <= c.target.EagerLimit() {
		return all
	}
	for i := range w {
		most = max(most, c.layout.Offset(i+1)-c.layout.Offset(i))
	}
	sent := 0
	for round := range min(c.schedule.MaxRounds(), LongRounds) {
		if p := c.schedule.Pattern(round); p.Sent == collectives.Varies {
			return all
		} else {
			sent = max(sent, p.Sent)
		}
	}
	return min(all, most*int64(sent))
}

// accountsFit reports whether participants can keep accounts beside an array of clocks: messages that do not wait for their match.
func (c *choice) accountsFit() bool {
	if c.target.ReceiverState() || c.layout == nil || c.target.Energy() != nil {
		return false
	}
	for round := range min(c.schedule.MaxRounds(), LongRounds) {
		if p := c.schedule.Pattern(round); blockBytes(c.layout, c.schedule)*int64(p.Sent) > c.target.EagerLimit() {
			return false
		}
	}
	return true
}

// unevenFits reports whether an alltoallv can be carried out over arrays of clocks: each round is a shift, so that no member
// leaves before all have entered. The sizes of its messages are known only later; see uneven.go.
func (c *choice) unevenFits() bool {
	if c.null && !c.alone || c.layered {
		return false
	}
	for round := range min(c.schedule.MaxRounds(), LongRounds) {
		if p := c.schedule.Pattern(round); p.Kind != collectives.Shift || c.target.HasPorts() && !c.hidesGap(p) {
			return false
		}
	}
	return true
}

// synchronizing reports whether no member can leave the operation before every
// member has entered it.
func synchronizing(op collectives.Operation) bool {
	switch op {
	case collectives.Barrier, collectives.Allreduce, collectives.Allgather, collectives.Alltoall, collectives.ReduceScatter:
		return true
	}
	return false
}

// roundFits reports whether a round can be carried out over arrays of clocks.
func (c *choice) roundFits(p collectives.Pattern) bool {
	switch {
	case p.Kind == collectives.Irregular || p.Kind == collectives.Paired || p.Sent == collectives.Varies || p.Combined == collectives.Varies:
		return false
	case p.Kind == collectives.Strided && p.Count < 2 && c.schedule.MaxRounds() > LongRounds:
		return false // one message a round: bulk has no advantage
	case c.target.HasPorts() && !c.hidesGap(p):
		return false
	case blockBytes(c.layout, c.schedule)*int64(p.Sent) > c.target.EagerLimit():
		return c.layered || c.rendezvousFits(p)
	}
	return true
}

// rendezvousFits reports whether a round of messages above the eager limit can be carried out over
// arrays of clocks. Its senders wait for their receivers. Arrays have the arithmetic of exchanges and
// shifts, and of a participant that folds: it has no work until the result comes back, long after
// its own data have left.
func (c *choice) rendezvousFits(p collectives.Pattern) bool {
	return maxplus.UniformDelay(c.uniformFrom, c.schedule.Members(), p) && (p.Kind != collectives.Strided || c.folds(p))
}

// folds reports whether a round folds members before exchanges, or sends them the result after
// exchanges.
func (c *choice) folds(p collectives.Pattern) bool {
	return p.Kind == collectives.Strided && c.schedule.MaxRounds() > 1 && c.schedule.Pattern(1).Folded > 0
}

// hidesGap reports whether participants never wait for their ports in a round. A participant that
// sends and receives in each round is busy for both overheads between two messages, in either
// direction; a participant that folds sends once and receives once.
func (c *choice) hidesGap(p collectives.Pattern) bool {
	o := c.target.Overhead()
	if p.Kind == collectives.Strided && collectives.HasWindows(c.schedule) { // a participant sends, or receives, several times in turn
		return c.target.Gap() <= min(o.Send, o.Receive)
	}
	return (p.Kind != collectives.Strided || c.folds(p)) && c.target.Gap() <= o.Send+o.Receive
}

// uniformFrom returns a distance such that the delay between any two participants whose numbers
// differ by at least that distance depends on the size of the message alone. Members ascend, so
// their ranks differ by at least as much as their numbers.
func (c *Collectives) uniformFrom(leaders bool) int {
	switch {
	case !leaders:
		return c.partition.Target.UniformFrom()
	case c.leadersUniform:
		return 0
	}
	return math.MaxInt
}

// treeShaped reports whether the result is that of the fixed tree over the participants in order.
func (v *Collective) treeShaped() bool {
	return v.Operation == collectives.Allreduce && (v.Algorithm == collectives.NodeLeader || v.Algorithm == collectives.RecursiveDoubling)
}

// combinesInRounds reports whether the rounds of the algorithm say how bytes are combined: a tree does not give the same result, and bytes
// are not copied unchanged.
func (v *Collective) combinesInRounds() bool { return !v.treeShaped() && !Moves(v.Operation) }

// evenChunks reports whether all positions have the same number of bytes.
func (c *choice) evenChunks() bool {
	w := c.schedule.Positions()
	if w < 2 {
		return true
	}
	total, first := c.layout.Offset(w), c.layout.Offset(1)
	if first*int64(w) != total {
		return false
	}
	if c.call.Counts == nil {
		return true
	}
	return !slices.ContainsFunc(c.call.Counts, func(n int64) bool { return n != first })
}

// blockBytes returns the bytes of each position of the schedule: 0 where members' blocks differ in size.
func (inst *instance) blockBytes() int64 {
	if inst.layout == nil {
		return 0
	}
	return blockBytes(inst.layout, inst.schedule)
}

// blockBytes returns the bytes of each position of a schedule whose positions have equal size.
func blockBytes(l *collectives.Layout, s collectives.Schedule) int64 {
	w := s.Positions()
	return l.Offset(w) / int64(max(w, 1))
}

// ScheduleOf returns the schedule of a collective among its participants: the members, or the node
// leaders. It is nil for algorithms of fixed cost.
func ScheduleOf(op collectives.Operation, a collectives.Algorithm, participants collectives.Size) (collectives.Schedule, error) {
	switch {
	case a == collectives.NodeLeader:
		return collectives.LeaderSchedule(op, participants.Members)
	case a.HasFixedCost():
		return nil, nil
	}
	return collectives.For(op, a, participants)
}

// ledByNodes reports whether the participants of an algorithm are the leaders of nodes, whose
// members join.
func ledByNodes(t *network.Target, a collectives.Algorithm) bool {
	return a == collectives.NodeLeader || a == collectives.Offload && !t.OffloadsRanks()
}

// sized returns the size of the schedule of a call, among participants that lie so many on a node.
func (v *Collective) sized(participants, perNode int) collectives.Size {
	return collectives.Size{Members: participants, Root: v.Root, PerNode: perNode, Bytes: v.asked()}
}

// schedule is ScheduleOf for a call whose arguments have been checked.
func (v *Collective) schedule(participants, perNode int) collectives.Schedule {
	s, err := ScheduleOf(v.Operation, v.Algorithm, v.sized(participants, perNode))
	if err != nil {
		invariant.Broken("a collective whose arguments were checked: %v", err)
	}
	return s
}

// Interpreter selects how collectives are carried out. The results are the same.
type Interpreter uint8

// The interpreters of collectives.
const (
	Auto    Interpreter = iota // bulk where the collective allows it, else message
	Message                    // every message of the algorithm is an event
	Bulk                       // max-plus algebra over arrays of clocks
)
