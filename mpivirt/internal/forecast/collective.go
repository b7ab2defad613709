package forecast

import (
	"math"
	"math/bits"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Memory of a rank, in bytes: measured by scripts/forecast.
const (
	clockBytes   = 8
	releaseBytes = 110 // of a node that is released by itself
)

// costModel computes the cost of one collective of WORLD.
type costModel struct {
	*hosting
	use   Use
	call  *coll.Collective
	ranks int
	coll.Plan
	traffic
	passing float64 // bytes of a participant's messages that delay each other, when these are most
	waiting float64 // share of the participants that are in the collective by messages at the same time
}

func newCostModel(h *hosting, a collectives.Algorithm, use Use) *costModel {
	o := &costModel{hosting: h, use: use, ranks: h.target.Ranks()}
	o.call = h.callOf(a, use)
	o.use.Data = o.call.Moved()
	plan, err := h.planOf(o.call, use)
	o.Plan = plan
	if err != nil || plan.Schedule == nil { // the run reports an error
		return o
	}
	o.traffic = meanTraffic(plan.Schedule, o.within)
	return o
}

// traffic is what a participant sends: messages, the positions in them, and the messages that stay within the node; and the messages
// whose content it combines.
type traffic struct{ messages, positions, inside, combined float64 }

// plus returns the sum of t and a multiple of u.
func (t traffic) plus(u traffic, times float64) traffic {
	return traffic{t.messages + times*u.messages, t.positions + times*u.positions, t.inside + times*u.inside, t.combined + times*u.combined}
}

// meanTraffic estimates the mean traffic of a participant from a sample of participants. inside reports whether two participants are
// on one node; nil stands for never.
func meanTraffic(s collectives.Schedule, inside func(a, b int) bool) traffic {
	const sampled = 64
	if s.Members() == 1 {
		return traffic{}
	}
	root, n := trafficOf(s, 0, inside), float64(s.Members())
	others := min(s.Members()-1, sampled)
	var sum traffic
	for i := range others {
		sum = sum.plus(trafficOf(s, 1+int(random.Mix(uint64(i))%uint64(s.Members()-1)), inside), 1)
	}
	return traffic{}.plus(root, 1/n).plus(sum, (n-1)/(n*float64(others)))
}

// trafficOf returns the traffic of a member. Of many rounds it examines a sample: one of each of equal stretches of rounds, since the phases of an
// algorithm differ, and so do the rounds of a window.
func trafficOf(s collectives.Schedule, member int, inside func(a, b int) bool) (t traffic) {
	const most = 1 << 10
	add := func(round int) {
		step := s.Step(member, round)
		if step.From != collectives.None && step.Combine != collectives.Store {
			t.combined++
		}
		if step.To == collectives.None {
			return
		}
		t.messages++
		t.positions += float64(step.Send.Count)
		if inside != nil && inside(member, step.To) {
			t.inside++
		}
	}
	rounds := s.Rounds(member)
	looked := 0
	for round := s.Next(member, 0); round < rounds && looked <= most; round = s.Next(member, round+1) {
		add(round)
		looked++
	}
	if looked <= most {
		return t
	}
	t = traffic{}
	for i := range most {
		first, behind := int(int64(i)*int64(rounds)/most), int(int64(i+1)*int64(rounds)/most)
		if round := first + int(random.Mix(uint64(member)<<20|uint64(i))%uint64(behind-first)); s.Next(member, round) == round {
			add(round)
		}
	}
	return traffic{}.plus(t, float64(rounds)/most)
}

// within reports whether two participants are on one node.
func (o *costModel) within(a, b int) bool {
	return !o.Leaders && o.target.Node(a) == o.target.Node(b)
}

// cost returns the cost of the collective, without the cost of the ranks.
func (o *costModel) cost() Cost {
	const entered = 1. / 8
	bytes := entered
	switch {
	case o.Mode == coll.AtFixedCost:
		return Cost{Time: o.time(), BytesPerRank: bytes}
	case o.Schedule == nil: // the call cannot be carried out
		return Cost{Time: math.Inf(1)}
	}
	share := float64(o.Participants) / float64(o.ranks) // participants for each rank
	if o.Leaders {
		bytes += share * 12 // the counter and the instant of each node; the instants are the array
		if o.Mode == coll.ByMessages && !o.target.ReceiverState() {
			bytes += share * releaseBytes
		}
	}
	shared := 0.
	switch {
	case o.crossesEngines() && o.use.Operation == collectives.Allgather:
		shared = float64(o.use.Bytes) * float64(o.ranks) // the result under way
	case !o.use.Data || o.direct():
	case o.Mode == coll.ByMessages:
		shared = float64(o.use.Bytes) // the result; combined vectors belong to the agents
	default:
		// The result, and the vectors combined on the way to it.
		shared = float64(o.use.Bytes) * float64(2+levels(o.Participants))
	}
	if o.target.ReceiverState() {
		bytes += postponedBytes()
	}
	if o.use.Unordered && o.Leaders && o.use.Data && o.use.Operation == collectives.Allreduce {
		bytes += o.contributedBytes()
	}
	switch o.Mode {
	case coll.ByArrays:
		bytes += share * (o.arrayBytes() + o.piecesUnderWay())
		if o.Combines {
			bytes += share * o.localBytes()
		} else {
			bytes += share * o.heldBytes()
		}
	case coll.Locally:
		bytes += share * o.localBytes()
	default:
		bytes += share * o.messageBytes()
	}
	bytes += o.interfaceBytes()
	if o.counted {
		bytes += o.countedBytes(share)
	}
	waiting := 1.
	if o.Mode == coll.ByMessages && !o.Leaders {
		waiting = o.waiting
	}
	return Cost{Time: o.time(), BytesPerRank: bytes, BytesPerEngine: shared, PassageBytes: share * o.passing, Waiting: waiting, ByMessages: o.Mode == coll.ByMessages}
}

// interfaceBytes returns the memory of the interfaces that messages between nodes share, and of the memory of nodes, for a rank. Over
// arrays there is none where interfaces delay no message.
func (o *costModel) interfaceBytes() float64 {
	bulk := o.Mode != coll.ByMessages
	if !o.target.Contended() || o.target.Contention().Model != "" || o.messages == 0 || o.Hidden && (bulk || !o.Layered) {
		return 0
	}
	bytes := float64(resource.NodeBytes(o.target, int64(o.messageLength()), o.Layered && !bulk))
	if o.Layered && !bulk {
		bytes += o.turnBytes()
	}
	return float64(o.target.Nodes()) / float64(o.ranks) * bytes
}

// turnBytes returns the memory of the messages that wait at a node for their turn, behind messages of earlier layers, in lists that double. Where
// ranks exchange, those whose partners are near are rounds ahead of the others of their node: a message to each rank waits where it comes in,
// and another one of the next call; one of each rank waits where it leaves, unless all ranks of a node send to other nodes in the same rounds, and
// one of each within the node, where these delay each other. Where ranks pass messages on in a circle none is ahead.
func (o *costModel) turnBytes() float64 {
	if o.Leaders || !o.exchanges() {
		return 0
	}
	each, shared, _ := o.target.Interfaces()
	if shared || o.target.Striped() {
		each = 1
	}
	node := o.target.Nodes() / 2
	ranks := o.target.NodeSize(node)
	lists := func(number, messages int) float64 {
		return float64(number) * doubled(resource.PassageBytes, float64(messages)/float64(number))
	}
	bytes := lists(each, ranks*min(max(o.use.Times, 1), 2))
	if !o.leaveTogether(node) {
		bytes += lists(each, ranks)
	}
	if o.target.ContendedWithin() {
		bytes += lists(1, ranks)
	}
	return bytes
}

// exchanges reports whether ranks exchange messages with partners in some round.
func (o *costModel) exchanges() bool {
	for round := range min(o.Schedule.MaxRounds(), coll.LongRounds) {
		if k := o.Schedule.Pattern(round).Kind; k == collectives.Exchange || k == collectives.Paired {
			return true
		}
	}
	return false
}

// leaveTogether reports whether in each round all ranks of a node send to other nodes, or none does.
func (o *costModel) leaveTogether(node int) bool {
	ranks := o.target.NodeSize(node)
	for round := range min(o.Schedule.MaxRounds(), coll.LongRounds) {
		leave := 0
		for k := range ranks {
			member := o.target.NodeMember(node, k)
			if to := o.Schedule.Step(member, round).To; to != collectives.None && !o.within(member, to) {
				leave++
			}
		}
		if leave > 0 && leave < ranks {
			return false
		}
	}
	return true
}

// contributedBytes returns the memory of a vector of a rank that waits for the vectors of lower ranks of its node, and of its place in a
// list that doubles. Nodes that are through a call are in the next one of its row, which has lists of its own.
func (o *costModel) contributedBytes() float64 {
	size := float64(o.target.NodeSize(0))
	return world.BufferBytes(float64(o.use.Bytes)) + float64(max(o.use.Row, 1))*doubled(coll.ContributionBytes, size)/size
}

// countedBytes returns the memory of statistics of a rank. Calls over arrays are summed up when members leave. share is the number of participants
// a rank.
func (o *costModel) countedBytes(share float64) (bytes float64) {
	if o.Mode == coll.ByArrays {
		bytes += share * accountArrays * float64(coll.ArrayAccountBytes)
	} else {
		bytes += float64(coll.EndingBytes)
	}
	if o.Mode == coll.ByArrays && o.Layered {
		arrays := 2. // the latest entry that the sender of a message knows of, and when it has left
		if o.engines > 1 {
			arrays *= 2 // likewise, of messages from other engines
		}
		bytes += share * arrays * clockBytes
	}
	if o.Leaders {
		bytes += share * float64(coll.RestBytes)
	}
	if o.Mode != coll.ByArrays || o.use.Operation != collectives.Barrier {
		bytes += float64(kernel.CallBytes)
	}
	return bytes
}

// accountArrays is the number of accounts of a participant: its own, and that of a survivor of pairs folded together.
const accountArrays = 2

// levels returns the number of levels of a binary tree over n leaves.
func levels(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// arrayBytes returns the memory of a participant of a collective over arrays.
func (o *costModel) arrayBytes() float64 {
	s := o.Schedule
	arrays := 1.
	if o.Leaders {
		arrays = 0
	}
	if o.Layered && !o.Hidden {
		arrays++ // instants at which messages begin
		if o.engines > 1 {
			arrays++ // likewise, of messages from other engines
		}
		if !o.Leaders {
			arrays++ // the order of a node's messages, at either end
		}
	}
	if w := float64(windowOf(s)); w > 1 { // clocks, or instants, of each message, and the clocks afterwards
		if o.Layered && !o.Hidden {
			arrays += w
		}
		if o.engines > 1 {
			arrays += w
		}
		return 8*arrays + 8 + o.underWay(3)
	}
	for round := range s.MaxRounds() {
		switch p := s.Pattern(round); p.Kind {
		case collectives.Shift:
			if o.engines == 1 {
				return 8*arrays + 8*maxplus.KeptAside(s)
			}
			return 8*arrays + 8 + o.underWay(3)
		case collectives.Exchange:
			if p.Folded > 0 {
				arrays += float64(o.Participants-p.Folded) / float64(o.Participants)
			}
			return 8*arrays + o.underWay(3)
		}
	}
	return 8 * arrays
}

// localBytes returns the memory of a member of a local collective, or of one whose vectors are combined beside an array of clocks.
func (o *costModel) localBytes() float64 {
	r := o.dryRun(1, 1)
	u := r.locally()
	const next = 4 // bytes of a member's place in a list
	payload := 0.
	if o.use.Data && !o.direct() {
		payload = float64(coll.PayloadBytes)
	}
	if o.Layered && !o.Combines {
		payload += float64(coll.LocalTurnBytes)
	}
	return float64(coll.AgentBytes(o.target)) + float64(coll.LocalMessageBytes) + payload + next + float64(coll.MemberListBytes)*float64(o.Schedule.MaxRounds())/float64(o.Participants) +
		u.buffers + o.heldBytes()
}

// direct reports whether the members' bytes are copied from input to output directly.
func (o *costModel) direct() bool {
	return o.use.Data && coll.Moves(o.use.Operation) && (o.Mode == coll.Locally || o.Mode == coll.ByArrays)
}

// crossesEngines reports whether blocks travel between engines unchanged.
func (o *costModel) crossesEngines() bool {
	return o.direct() && o.Mode == coll.ByArrays && o.engines > 1
}

// piecesUnderWay returns the memory of a rank's blocks of an alltoall between engines, as long as
// the blocks fit the windows.
func (o *costModel) piecesUnderWay() float64 {
	if !o.crossesEngines() || o.use.Operation != collectives.Alltoall {
		return 0
	}
	others := float64(o.engines - 1)
	perEngine := float64(o.ranks) / float64(o.engines)
	return min(float64(o.use.Bytes)*perEngine*others, o.window()*others/perEngine)
}

// heldBytes returns the memory of a member's data that is held until all members have entered.
func (o *costModel) heldBytes() float64 {
	if !o.use.Data || o.Mode == coll.ByArrays && !o.direct() && !o.Combines {
		return 0
	}
	const slice = 24
	bytes := 2. * slice
	if !o.direct() {
		bytes += float64(coll.AgentDataBytes)
	}
	switch {
	case !o.transient || o.use.Operation == collectives.Bcast || o.use.Operation == collectives.Scatter:
	case o.use.Operation == collectives.Alltoall:
		bytes += world.BufferBytes(float64(o.use.Bytes * int64(o.ranks)))
	default:
		bytes += world.BufferBytes(float64(o.use.Bytes))
	}
	return bytes
}

// messageBytes returns the memory of a participant of a collective by messages. Where ranks go on
// before other ranks have finished, messages accumulate with the number of calls.
func (o *costModel) messageBytes() float64 {
	const growth = 1.05
	dryRuns, times := 3, max(o.use.Times, 1)
	if o.target.Contended() && o.call.FromRoot() { // its messages wait for virtual time, for which the root waits once it is so far ahead
		times = min(times, o.call.RootAhead(o.Participants/o.engines))
	}
	if o.target.ReceiverState() && o.messages <= coll.LongRounds { // the maximum over all calls counts
		dryRuns = 10
	}
	bytes := o.messageBytesOf(min(times, dryRuns))
	if times > dryRuns {
		if before := o.messageBytesOf(dryRuns - 1); bytes > growth*before {
			bytes += (bytes - before) * float64(times-dryRuns)
		}
	}
	return bytes
}

// messageBytesOf returns messageBytes for a number of calls of the collective.
func (o *costModel) messageBytesOf(times int) float64 {
	const slot, link = 4, 4 // bytes of an LP's slot, and of an index in a free list or queue
	const late = 0.6        // share of the calls by which other engines lag behind the engine of a root; measured
	r := o.dryRun(times, 1)
	var u usage
	if o.target.ReceiverState() {
		u = r.inVirtualTime()
	} else {
		u = r.byMessages()
	}
	o.passing, o.waiting = u.passingBytes(o.Participants), min(1, u.agents)
	if w := windowOf(o.Schedule); w > windowOf(r.schedule) {
		return slot + u.agents*float64(coll.AgentBytes(o.target)) + u.queues*float64(coll.RoundQueueBytes) + float64(w)*o.windowBytesOf(w) + u.buffers
	}
	agent, round := float64(coll.AgentBytes(o.target)), float64(coll.RoundMessageBytes)
	if o.counted {
		agent += float64(coll.AccountBytes)
		round += float64(coll.CarriedBytes)
	}
	if o.use.Data {
		agent += float64(coll.AgentDataBytes)
	}
	if o.call.FromRoot() && times > 1 && o.use.Bytes <= o.target.EagerLimit() {
		others := late * float64(o.engines-1) / float64(o.engines)
		u.rounds += others
		if o.use.Data && o.use.Operation == collectives.Scatter {
			u.buffers += others * world.BufferBytes(float64(o.use.Bytes))
		}
	}
	return slot + u.agents*agent + u.queues*float64(coll.RoundQueueBytes) + u.rounds*round + u.contents*float64(coll.ContentBytes) +
		link*(u.agents+u.queues+u.rounds+u.contents) + 2*2*link*u.ready + u.early*earlyBytes + u.buffers + u.processors + o.onWire(u.wire, times) +
		o.passing + u.shakes*float64(coll.RoundShakeBytes+link)
}

// windowOf returns the greatest number of messages that a participant sends in a window of rounds.
func windowOf(s collectives.Schedule) (most int) {
	member := min(1, s.Members()-1)
	for round := s.Next(member, 0); collectives.HasWindows(s) && round < s.Rounds(member); {
		left := s.Step(member, round).Left
		most = max(most, (left+2)/2)
		round = s.Next(member, round+left+1)
	}
	return most
}

// windowBytesOf returns the memory of each message of a window of so many messages from each participant. Nearly all of them have
// come before the first participant receives. Those that delay each other have all asked for an interface by then, or for the memory of a node.
func (o *costModel) windowBytesOf(window int) float64 {
	const link = 4
	bytes := float64(coll.RoundMessageBytes+link) + earlyBytes
	if o.target.Charges() {
		bytes += float64(coll.LandingBytes)
	}
	if o.target.Contended() {
		all := float64(window * o.Participants)
		asks := float64(resource.PassageBytes+link) + doubled(resource.PlaceBytes, all)/all
		inside := o.inside / max(o.messages, 1)
		if o.target.ContendedWithin() {
			bytes += inside * asks
		}
		length := int64(o.messageLength())
		bytes += (1 - inside) * (asks + o.behind(length, inside)*float64(resource.PassageBytes+link))
	}
	if o.use.Data {
		bytes += float64(coll.ContentBytes + link)
		if o.use.Bytes > coll.SmallContent {
			bytes += world.BufferBytes(float64(o.use.Bytes))
		}
	}
	return bytes
}

// onWire returns the memory of messages between engines that run side by side, with a number of
// bytes for each participant, all sent in one round. An engine sends no more than a window, unless
// the other engine waits and gives credit: so the excess is held by one of two engines at a time,
// while that engine's own messages find receivers that wait. Leaders of several ranks begin one
// after the other, as their nodes have joined: only their first messages wait. With state at the
// receiver engines wait for each other's clocks, and most messages are there at the same time. With
// long records, one of two engines has a window full on the way before the other engine receives
// them, where cores are fewer than engines or busy. A single root receives or sends other messages
// all the time, and little is held beside the windows; next to nothing if no member sends
// meanwhile, as in an allreduce that is called once. The shares are measured.
func (o *costModel) onWire(bytes float64, times int) float64 {
	const most, credited = 0.75, 3 // windows for which a root has given credit
	const packet = 32 << 10        // bytes; a longer record has its own buffer, up to twice as long
	windows := float64(o.engines-1) * o.window() / float64(o.Participants)
	switch once := times == 1; {
	case o.target.ReceiverState() && o.use.Bytes > packet: // received early, and on the way
		return bytes + min(bytes, float64(o.engines)/2*o.window()/float64(o.Participants))
	case o.target.ReceiverState():
		return most * bytes
	case o.oneRoot() && once && o.use.Operation == collectives.Allreduce:
		return min(most*bytes, windows/4)
	case o.oneRoot() && o.use.Operation == collectives.Allreduce: // results of one call and contributions to the next
		return min(0.9*bytes, (1+credited)*windows)
	case o.oneRoot():
		return min(most*bytes, (1+credited)*windows)
	case o.Participants < o.ranks && once:
		return min(most*bytes, windows)
	}
	return min(most*bytes, windows+bytes/2)
}

// behind returns the share of a window's messages between nodes that have asked at their sender's node before its interfaces are through with those before:
// where ranks send faster than the interfaces that they share. inside is the share of messages within nodes.
func (o *costModel) behind(length int64, inside float64) float64 {
	each, _, gap := o.target.Interfaces()
	ranks := float64(min(o.target.NodeSize(0), o.ranks)) * (1 - inside) / float64(max(each, 1))
	busy := float64(o.target.RailTime(length).Plus(gap)) * ranks
	if sends := float64(max(o.target.SendTime(length), o.target.Gap())); busy > sends {
		return 1 - sends/busy
	}
	return 0
}

// oneRoot reports whether one member sends or receives every message.
func (o *costModel) oneRoot() bool {
	switch o.call.Algorithm.Base() {
	case collectives.Linear, collectives.LinearSync, collectives.LinearNonblocking, collectives.Spread:
		return true
	}
	return false
}

// postponedBytes returns the memory of an entry that waits for its rank's processor: the entry, its
// function and its place in the list of unused entries. A copy of the input is released before the
// agent needs memory.
func postponedBytes() float64 {
	const closure, pointer = 2 * 8, 8
	return float64(coll.PostponedBytes + closure + pointer)
}

// earlyBytes is the memory of an early message in the hash table: its share of the table, which is
// up to half empty, and of the shorter tables before.
const earlyBytes = 12

// dryRun returns the dry run of the collective. Its number of participants is that of the
// collective, halved until it is small, so that the same share of participants folds. A divisor
// makes it smaller still.
func (o *costModel) dryRun(times, divisor int) *dryRun {
	few := 1 << 9
	if o.messages > coll.LongRounds {
		few = 1 << 6
	}
	if o.target.ReceiverState() && few > 1<<8 {
		few = 1 << 8
	}
	few /= divisor
	n := o.Participants
	for n > 2*few {
		n /= 2
	}
	s := o.fewRounds(n)
	r := &dryRun{schedule: s, eager: o.target.EagerLimit(), data: o.use.Data && !o.direct(), engines: min(o.engines, 8, n), times: times}
	if o.call.FromRoot() {
		r.ahead = o.call.RootAhead(o.Participants / o.engines)
	}
	r.batch = int32(max(1, engine.Batch*n/o.ranks))
	if o.target.ReceiverState() {
		r.target, r.compute, r.oneRoot = o.target, o.scaledCompute(s), o.oneRoot()
		r.own = collectives.CopiedFirst(o.call.Operation, o.call.Algorithm, o.Participants, o.use.Bytes, maxplus.CopiesOf(o.target)).Plus(o.target.LaunchTime())
		total := o.use.Bytes * int64(o.Participants)
		b, vector := collectives.BuffersOf(o.call.Operation, o.call.Algorithm), o.use.Bytes
		if op := o.call.Operation; op == collectives.Allgather || op == collectives.Alltoall || op == collectives.ReduceScatter {
			vector = total
		}
		r.own = r.own.Plus(o.target.BufferTime(1, vector, b.Allocated, b.Copied))
		r.packing = func(round int) vtime.Duration {
			return collectives.Packing(s, round, total/int64(n), total, maxplus.CopiesOf(o.target))
		}
	}
	r.crossings = o.crossingsOf()
	r.bytes = o.scaledBytes(s)
	r.bufferOf = func(member int) int64 { return o.bufferOf(s, member) }
	return r
}

// fewRounds returns the schedule of a number of participants. With more rounds than a dry run plays, as of many segments, the vector is
// shorter.
func (o *costModel) fewRounds(n int) collectives.Schedule {
	const most = 1 << 12
	for bytes := o.call.Bytes; ; bytes /= 2 {
		s, err := coll.ScheduleOf(o.call.Operation, o.call.Algorithm, collectives.Size{Members: n, PerNode: coll.PerNodeOf(o.target), Bytes: bytes})
		switch {
		case err != nil:
			return o.Schedule
		case s == nil || s.MaxRounds() <= most || o.call.Algorithm.Segment() == 0 || bytes == 0:
			return s
		}
	}
}

// scaledCompute returns the compute times before the calls of a dry run, scaled so that they have
// the same ratio to the time of all rounds as in the collective.
func (o *costModel) scaledCompute(s collectives.Schedule) func(rank, time int) vtime.Duration {
	compute, few, all := o.use.Compute, max(s.MaxRounds(), 1), max(o.Schedule.MaxRounds(), 1)
	if compute == nil || few >= all {
		return compute
	}
	return func(rank, time int) vtime.Duration {
		return vtime.Duration(float64(compute(rank, time)) * float64(few) / float64(all))
	}
}

// bufferOf returns the bytes of a member's memory that are neither its input nor its output.
func (o *costModel) bufferOf(s collectives.Schedule, member int) int64 {
	op := o.call.Operation
	bytes := int64(s.Extent(member).Count) * o.use.Bytes
	if vectorOf(op) && !collectives.KeepsVectors(s) {
		bytes = o.use.Bytes
	}
	if o.Leaders {
		return bytes
	}
	output := op != collectives.Allreduce && op != collectives.Reduce || op == collectives.Allreduce && !o.transient || op == collectives.Reduce && member == 0
	switch o.call.PlaceOf(s, member, output, true) {
	case coll.InOutput:
		return 0
	case coll.InInputFirst:
		if output || !receives(s, member) {
			return 0
		}
	case coll.InInput, coll.InBoth:
		if !o.copies() {
			return 0
		}
	}
	return bytes
}

// copies reports whether the inputs of members are copied for their agents. Where all members enter
// before the first goes on, copies are already held then.
func (o *costModel) copies() bool { return o.transient && o.Mode == coll.ByMessages }

// receives reports whether a member receives in any round.
func receives(s collectives.Schedule, member int) bool {
	for round := s.Next(member, 0); round < s.Rounds(member); round = s.Next(member, round+1) {
		if s.Step(member, round).From != collectives.None {
			return true
		}
	}
	return false
}

// scaledBytes returns the bytes of a message of the collective, as a function of the blocks of the
// dry run: all blocks stand for all blocks, and one block stands for one block.
func (o *costModel) scaledBytes(s collectives.Schedule) func(b collectives.Blocks) int64 {
	layout := o.call.CommonLayout(s)
	w, pieces := s.Positions(), o.Schedule.Positions()
	exponent := 1.
	if w > 1 && pieces > w {
		exponent = math.Log(float64(pieces)) / math.Log(float64(w))
	}
	return func(b collectives.Blocks) int64 {
		switch {
		case layout == nil || !vectorOf(o.call.Operation):
			return int64(min(math.Pow(float64(b.Count), exponent)*float64(o.use.Bytes), mostBytes))
		case pieces > w && o.messages > coll.LongRounds:
			return int64(b.Count) * max(o.use.Bytes/int64(pieces), 1)
		}
		return layout.Bytes(b, w)
	}
}

// vectorOf reports whether the payload of an operation is a single vector, not a block for each
// member.
func vectorOf(op collectives.Operation) bool {
	switch op {
	case collectives.Bcast, collectives.Reduce, collectives.Allreduce:
		return true
	}
	return false
}

// underWay returns the memory of a rank's clock while engines exchange clocks, a number of copies
// at a time, as long as the clocks fit the windows.
func (o *costModel) underWay(copies int) float64 {
	if o.engines == 1 {
		return 0
	}
	return float64(copies) * min(clockBytes, o.window()*float64(o.engines)/float64(o.ranks))
}

// window returns the greatest number of bytes under way from one engine to another.
func (o *costModel) window() float64 {
	if o.windowBytes <= 0 {
		return engine.DefaultWindow
	}
	return float64(o.windowBytes)
}
