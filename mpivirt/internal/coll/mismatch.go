package coll

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// All members of a communicator call the same collectives in the same order, with
// arguments that match (MPI 4.1, 6.1). The engines detect a violation without extra
// messages:
//
//   - on one engine, by the call of the first member that entered;
//   - by every message and record of a collective, which has the sender's signature:
//     the receiver may wait for it, not have called yet, or have left;
//   - where all members wait and none sends, by the deadlock report.
//
// The consequences are the same on any number of engines and with any interpreter:
//
//   - If no member can leave any of the calls before all have entered, as in a barrier or
//     an allreduce, the collective fails as a whole: every member's call ends with the
//     error; see failure. Under a model with state at the receiver the run ends.
//   - Calls with the same root whose lengths, types or operations differ go through the
//     messages of the algorithm nonetheless, as in MPICH. The call of a member that gets a
//     message of another call, or a message that rests on such a message, ends with the
//     error; a member that needs no message, such as the root of a bcast, does not learn of
//     it.
//   - Otherwise the algorithms are incompatible, and some members may have left. The calls
//     of each family go on among themselves, by messages. The run ends with the error of the
//     first member, in the order of (virtual time, rank), whose call is of another family
//     than the call of the first entrant. An engine that learns of two families bounds the
//     run by an instant that is not before that entry. Which member it is follows from the
//     entrants of all engines, when nothing is left before the bound.

// callRun is a run of calls of one collective by the members of an engine: its instances from from
// to until-1.
type callRun struct {
	from, until uint32
	signature   signature
}

// maxCallRuns is the number of runs of calls stored for a communicator.
const maxCallRuns = 256

// remember stores the signature of the first local member's call in an instance.
func (inst *instance) remember() {
	c := inst.comm
	if c.Locals == c.Size {
		return
	}
	if n := len(c.callRuns); n > 0 && c.callRuns[n-1].signature == inst.signature && c.callRuns[n-1].until == inst.Number {
		c.callRuns[n-1].until = inst.Number + 1
		return
	}
	if len(c.callRuns) == maxCallRuns {
		c.callRuns = slices.Delete(c.callRuns, 0, maxCallRuns/2)
	}
	c.callRuns = append(c.callRuns, callRun{inst.Number, inst.Number + 1, inst.signature})
}

// calledAs returns the signature of an instance that local members have entered, zero if it is no
// longer stored.
func (c *Communicator) calledAs(number uint32) signature {
	for i := len(c.callRuns) - 1; i >= 0; i-- {
		if s := &c.callRuns[i]; s.from <= number && number < s.until {
			return s.signature
		}
	}
	return 0
}

// entrant returns the sender of a round message as an entrant, which has entered before the
// arrival.
func (m *roundMessage) entrant() entrant { return entrant{m.arrival, m.rank, m.signature} }

// fits reports whether a round message and an agent's call are of the same family.
func (c *Collectives) fits(a *agent, m *roundMessage) bool {
	own, theirs := a.signature(), m.signature
	return own == theirs || c.family(own) == c.family(theirs)
}

// agreement holds the differing calls of an instance's members.
type agreement struct {
	signature signature    // of the first local member's call
	entrant   entrant      // the first of the local members; any of them while no member can leave
	site      stats.Site   // of the entrant's call, if members can leave before all have entered
	rootSite  stats.Site   // likewise of the root's call, if all members need the root, and the root is here
	announced bool         // another engine knows the signature; see announce
	rival     *instance    // instance of the same number, for members here whose call is of another family
	odd       map[int]*odd // by member: its call, if that differs from the call of the first member here
}

// odd is a call that differs from the call of the first member on its engine.
type odd struct {
	call      Collective
	signature signature
}

// callOf returns the call of a local member, without its memory.
func (inst *instance) callOf(member int) *Collective {
	if o := inst.odd[member]; o != nil {
		return &o.call
	}
	return &inst.Call
}

// signatureOf returns the signature of a local member's call.
func (inst *instance) signatureOf(member int) signature {
	if o := inst.odd[member]; o != nil {
		return o.signature
	}
	return inst.signature
}

// accept compares the call of a member with an instance that the member is about to enter. It
// returns the instance of the call's family.
func (c *Collectives) accept(inst *instance, lp int32, member int, v *Collective) *instance {
	if inst.agrees(v) {
		c.contradicted(inst, lp)
		return inst
	}
	o := &odd{*v, v.signature()}
	if c.family(inst.signature) != c.family(o.signature) {
		return c.acceptRival(inst, lp, member, v, o.signature)
	}
	o.call.Input, o.call.Output, o.call.InCounts, o.call.OutCounts = nil, nil, nil, nil
	if o.signature == inst.signature { // by coincidence
		o.signature ^= 1 << signedLengths
	}
	if inst.odd == nil {
		inst.odd = map[int]*odd{}
	}
	inst.odd[member] = o
	c.contradiction(inst)
	if inst.canDemote() {
		c.demote(inst)
	}
	return inst
}

// acceptRival returns the instance for a member whose call is of another family.
func (c *Collectives) acceptRival(inst *instance, lp int32, member int, v *Collective, own signature) *instance {
	if inst.canDemote() {
		c.demote(inst)
	}
	c.bound(inst.comm, inst.Number, inst.entrant, entrant{c.partition.Clock[lp], c.partition.Global(lp), own})
	if inst.rival == nil {
		inst.rival = c.newInstance(inst.comm, inst.Number, lp, v)
		inst.comm.open = nil
	}
	return c.accept(inst.rival, lp, member, v)
}

// ofFamily returns the instance of a family among the instances with one number, nil if it is not
// here.
func (c *Collectives) ofFamily(inst *instance, f signature) *instance {
	for inst != nil && c.family(inst.signature) != f {
		inst = inst.rival
	}
	return inst
}

// entrant is a member that has entered a collective, and its call. Entrants are ordered by (virtual
// time, rank).
type entrant struct {
	at        vtime.Time // of its entry, or an instant after it
	rank      int32
	signature signature
}

// noteSites stores where the program has made the call of a member that enters, if the member may have left it when a mismatch is found, and is the
// first entrant or the root: reports of mismatches name the places of both.
func (c *Collectives) noteSites(inst *instance, lp int32, member int) {
	if c.SiteOf == nil || inst.signature.synchronizing() {
		return
	}
	first, root := inst.entrant.rank == c.partition.Global(lp), inst.Call.toRoot() && member == inst.Call.Root
	if !first && !root {
		return
	}
	site := stats.Site(0)
	if c.Submits == lp {
		site = c.SiteOf(lp)
	}
	if first {
		inst.site = site
	}
	if root {
		inst.rootSite = site
	}
}

// SiteOfRoot returns where a rank of this engine has made its call in an instance with a number on a communicator, as its root; 0 if it has not, or the
// place is not known.
func (c *Collectives) SiteOfRoot(context uint64, number uint32, rank int32) stats.Site {
	for _, comm := range c.Communicators.All() {
		if comm.Context != context {
			continue
		}
		for i := range comm.past {
			if site := comm.past[i].siteAsRoot(number, rank); site != 0 {
				return site
			}
		}
		for inst := comm.numbered(number); inst != nil; inst = inst.rival {
			e := comm.entranceOf(inst)
			if site := e.siteAsRoot(number, rank); site != 0 {
				return site
			}
		}
	}
	return 0
}

// siteAsRoot returns where a rank has made its call, if it is the root of the instance with a number; 0 if it is not, or the place is not known.
func (e *entrance) siteAsRoot(number uint32, rank int32) stats.Site {
	if e.number != number || e.root != rank {
		return 0
	}
	return e.rooted
}

// placed stores the places of the two calls of a mismatch in its error, 0 for a place that is not known.
func placed(err error, own, theirs stats.Site) {
	if of := (*world.Error)(nil); errors.As(err, &of) {
		of.CalledFrom(uint64(own), uint64(theirs))
	}
}

func (c entrant) compare(o entrant) int {
	return cmp.Or(cmp.Compare(c.at, o.at), cmp.Compare(c.rank, o.rank))
}

// bound bounds the run by the later of two entrants of different families.
func (c *Collectives) bound(comm *Communicator, number uint32, a, b entrant) {
	if a.compare(b) > 0 {
		a, b = b, a
	}
	c.partition.FailedIn(int(b.rank), b.at, c.partition.NameOf(b.signature.call()), comm.mismatch(number, b.signature, a.signature, a.rank, c.partition.NameOf))
}

// contradiction handles a call of an instance's family that differs from the other calls.
func (c *Collectives) contradiction(inst *instance) {
	if inst.failed == nil && inst.signature.synchronizing() {
		c.failTogether(inst, c.partition.Engine.Index())
	}
}

// announce sends another engine the call of the members here in an instance in which all members
// wait for all. Each engine sends it to the next engine with members, and the last to the first, so
// that some engine learns of a call other than its own, if there is one. Most messages show the call of their sender,
// but an algorithm may wait where no member sends. An engine starts if one of its ranks handles
// errors itself or has made a nonblocking call, and an engine that is told goes on. Without such
// ranks it is enough to find the mismatch when all wait.
func (c *Collectives) announce(inst *instance) {
	if inst.announced || inst.comm.Locals == inst.comm.Size || !inst.signature.synchronizing() || !c.FailsTogether() {
		return
	}
	inst.announced = true
	c.collectiveRecord(inst, c.successor(inst.comm), world.RecordSignature, 0)
}

// noteFailed records that an instance has failed. Later messages for it are dropped, except
// messages of calls of the same number that are of another family.
func (c *Communicator) noteFailed(number uint32) {
	if c.failed == nil {
		c.failed = map[uint32]bool{}
	}
	c.failed[number] = true
}

// contradicted compares the call of an LP that enters an instance with the calls of the ranks whose
// messages the LP already has. It reports whether the instance has failed.
func (c *Collectives) contradicted(inst *instance, lp int32) bool {
	q := c.roundQueue(lp)
	if q == nil {
		return inst.failed != nil
	}
	for index := q.early.head; index != 0 && inst.failed == nil; {
		m := c.rounds.At(index)
		index = m.next
		if m.comm != inst.comm.Index || m.number != inst.Number || m.signature == inst.signature {
			continue
		}
		if theirs := m.entrant(); c.family(theirs.signature) == c.family(inst.signature) {
			c.contradiction(inst)
		} else {
			c.bound(inst.comm, inst.Number, inst.entrant, theirs)
		}
	}
	return inst.failed != nil
}

// checkEarly compares a message from another engine, for which no agent waits, with the LP's calls.
// running says that the LP has an agent in an instance of the message's number. If the LP receives
// no more messages in that instance, the sender is in another call: matching calls leave no message
// over.
func (c *Collectives) checkEarly(lp int32, m *roundMessage, running bool) {
	comm, number, theirs := c.Communicators.At(m.comm), m.number, m.entrant()
	inst := comm.numbered(number)
	if inst != nil {
		own := c.ofFamily(inst, c.family(theirs.signature))
		if own == nil {
			c.bound(comm, number, inst.entrant, theirs)
			return
		}
		inst = own
		if theirs.signature != inst.signature {
			c.contradiction(inst)
		}
	}
	if running || number >= comm.Next || comm.failed[number] || inst != nil && !c.takesNoMore(inst, lp) {
		return
	}
	own := entrant{c.partition.Clock[lp], c.partition.Global(lp), comm.calledAs(number)}
	if inst != nil {
		own.signature = inst.signatureOf(inst.comm.Group.Member(int(own.rank)))
	}
	if theirs.signature.sparse() && (own.signature == theirs.signature || inst == nil && comm.Locals == comm.Size) {
		c.unexpected(lp, m)
		return
	}
	if own.signature == theirs.signature {
		if invariant.Enabled {
			invariant.Broken("rank %d gets a message of %s number %d of %s, which takes none from it", own.rank, own.signature.call(), number, comm)
		}
		return
	}
	c.bound(comm, number, own, theirs)
}

// checkLeftOver looks for messages that came for an agent that has ended.
func (c *Collectives) checkLeftOver(inst *instance, lp int32) {
	q := c.roundQueue(lp)
	for index := q.early.head; index != 0; index = c.rounds.At(index).next {
		if m := c.rounds.At(index); m.comm == inst.comm.Index && m.number == inst.Number {
			c.checkEarly(lp, m, false)
			return
		}
	}
	for round := int32(0); inst.sparse && q.ahead > 0 && c.earlyMessages.used > 0 && int(round) < inst.schedule.MaxRounds(); round++ {
		if index := c.earlyMessages.find(&c.rounds, earlyKey{lp, inst.comm.Index, inst.Number, round}); index != 0 {
			c.checkEarly(lp, c.rounds.At(index), false)
			return
		}
	}
}

// checkRecord handles a record about an instance that all local members have left. No member leaves
// before its engine has all data that it needs, so the sender is in another call. Only signatures
// may come late.
func (c *Collectives) checkRecord(comm *Communicator, number uint32, kind byte, theirs entrant) {
	own, late := comm.calledAs(number), kind == world.RecordSignature
	switch {
	case comm.failed[number] || own == 0 && late:
	case own != theirs.signature:
		lp, _ := c.partition.Local(comm.RankOf(c.firstLocal(comm), 0))
		c.bound(comm, number, entrant{c.partition.Clock[lp], c.partition.Global(lp), own}, theirs)
	case invariant.Enabled && !late:
		invariant.Broken("a record about %s number %d of %s, which has ended", own.call(), number, comm)
	}
}

// firstLocal returns the first member of this engine.
func (c *Collectives) firstLocal(comm *Communicator) int {
	for member := comm.First; member < comm.Last; member++ {
		if _, here := c.partition.Local(comm.RankOf(member, 0)); here {
			return member
		}
	}
	invariant.Broken("%s has no member on engine %d", comm, c.partition.Engine.Index())
	return 0
}

// takesNoMore reports whether an LP without an agent in an instance has entered the instance and
// will have none.
func (c *Collectives) takesNoMore(inst *instance, lp int32) bool {
	member := inst.comm.Group.Member(int(c.partition.Global(lp)))
	switch {
	case !inst.Has(member - inst.comm.First):
		return false
	case inst.mode != ByMessages:
		return true
	case !inst.leaders:
		return c.agentOf(inst, lp) == 0
	}
	nodes := inst.comm.nodes
	p := nodes.at(member)
	return !nodes.ledBy(p, member) || inst.join.awaited[p-nodes.here] == 0 && c.agentOf(inst, lp) == 0
}

// agentOf returns the agent of an LP in an instance, 0 for none.
func (c *Collectives) agentOf(inst *instance, lp int32) int32 {
	q := c.roundQueue(lp)
	if q == nil {
		return 0
	}
	index := q.agents
	for index != 0 && c.agents.At(index).inst != inst {
		index = c.agents.At(index).next
	}
	return index
}

// blame stores the error of a member's call, unless the call already has an error.
func (inst *instance) blame(member int, err error) {
	if inst.errors == nil {
		inst.errors = map[int]error{}
	}
	if inst.errors[member] == nil {
		inst.errors[member] = err
	}
}

// learn stores the error of an agent whose message is of another call than its own, or rests on
// such a message. All later messages of the agent carry the fault.
func (c *Collectives) learn(a *agent, own signature, m *roundMessage) {
	inst := a.inst
	err := inst.comm.mismatch(inst.Number, own, m.signature, m.rank, c.partition.NameOf)
	if inst.rootSite != 0 && inst.comm.RankOf(inst.Call.Root, 0) == int(m.rank) {
		placed(err, 0, inst.rootSite)
	}
	if err == nil {
		err = world.Errorf(m.fault, "%s, but rank %d has heard of a call that does not match as collective %d on %s",
			own.describe(inst.comm.Size, c.partition.NameOf), m.rank, inst.Number, inst.comm.MadeText(c.partition.NameOf))
	}
	errors.As(err, &a.fault)
	inst.blame(int(a.member), err)
}

// stopAgent removes an agent from its LP. Its index stays in use: the ready queue may hold the
// agent, and another LP may acknowledge its message.
func (c *Collectives) stopAgent(index int32) {
	a := c.unlinkAgent(index)
	if a.message != 0 {
		c.disposeRound(a.message)
	}
	if a.memory != nil {
		if a.memory.viewed {
			c.keep(c.rounds.At(a.memory.message), nil, 0)
		}
		c.forget(a)
	}
	*a = agent{fate: ended}
}

// entrance is the first entrant of an instance on one engine. Where no member can have left, it is
// the first entrant of its signature, with a summary of the entrants with that signature.
type entrance struct {
	context uint64
	members uint64
	number  uint32
	entrant
	count  uint64         // number of entrants with that signature
	lowest int32          // lowest rank among them
	latest vtime.Time     // latest entry among them
	span   vtime.Duration // of a failure, from the last entry on: the greatest of all engines counts
	made   string         // describes the communicator
	site   stats.Site     // of the entrant's call, as the entrant's engine numbers it
	root   int32          // rank of a root whose call has a site; None for none
	rooted stats.Site     // of that root's call
}

// maxPast is the number of ended instances whose first entrants an engine stores.
const maxPast = 1024

// keepPast stores the first entrant of an instance that all local members have left. Members on
// other engines may be in another call.
func (c *Communicator) keepPast(inst *instance) {
	if c.Locals == c.Size || inst.signature.synchronizing() {
		return
	}
	if len(c.past) == maxPast {
		c.past = slices.Delete(c.past, 0, maxPast/2)
	}
	c.past = append(c.past, c.entranceOf(inst))
}

// entranceOf returns the first entrant of an instance on this engine.
func (c *Communicator) entranceOf(inst *instance) entrance {
	one := entrance{context: c.Context, members: uint64(c.Size), number: inst.Number, entrant: inst.entrant, site: inst.site, root: world.None, rooted: inst.rootSite}
	if one.rooted != 0 {
		one.root = int32(c.RankOf(inst.Call.Root, 0))
	}
	return one
}

// calls returns the first entrants of all instances in which a member may be in another call.
func (c *Collectives) calls() (all []entrance) {
	for _, comm := range c.Communicators.All() {
		from := len(all)
		all = append(all, comm.past...)
		span := vtime.Duration(0) // used only where no member can go on; see disagreement
		if len(comm.Live) > 0 && !c.partition.Limited() {
			span = c.thereAndBack(comm)
		}
		for _, inst := range comm.Live {
			for ; inst != nil; inst = inst.rival {
				all = append(all, c.entrances(inst, span)...)
			}
		}
		for i := from; i < len(all); i++ {
			all[i].made = comm.MadeText(c.partition.NameOf)
		}
	}
	return all
}

// entrances returns the first entrants of an instance, with a span.
func (c *Collectives) entrances(inst *instance, span vtime.Duration) (all []entrance) {
	comm := inst.comm
	one := comm.entranceOf(inst)
	one.span = span
	if !inst.signature.synchronizing() {
		return []entrance{one}
	}
	bySignature := map[signature]entrance{}
	for member := comm.First; member < comm.Last; member++ {
		rank := comm.RankOf(member, 0)
		lp, here := c.partition.Local(rank)
		if !here || !inst.Has(member-comm.First) {
			continue
		}
		next := entrant{inst.entryOf(c, lp, member), int32(rank), inst.signatureOf(member)}
		known, exists := bySignature[next.signature]
		if !exists {
			known = one
			known.entrant, known.lowest = next, next.rank
		}
		if next.compare(known.entrant) < 0 {
			known.entrant = next
		}
		known.count, known.lowest, known.latest = known.count+1, min(known.lowest, next.rank), max(known.latest, next.at)
		bySignature[next.signature] = known
	}
	return slices.Collect(maps.Values(bySignature))
}

// disagreement returns the error of the first rank that entered a call of another family than the
// first entrant, nil for none. stuck says that no rank can go on: ranks with different calls of one
// family have not been told. If all members have entered, the error is that of the first rank that
// is told.
func disagreement(calls []entrance, stuck, together bool, nameOf namer) (least *world.RankError) {
	slices.SortFunc(calls, func(a, b entrance) int {
		return cmp.Or(cmp.Compare(a.context, b.context), cmp.Compare(a.number, b.number), a.compare(b.entrant))
	})
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && calls[n].context == calls[0].context && calls[n].number == calls[0].number {
			n++
		}
		if e := disagreementOf(calls[:n], stuck, together, nameOf); e != nil && (least == nil || e.Before(least)) {
			least = e
		}
		calls = calls[n:]
	}
	return least
}

// disagreementOf is disagreement for one instance, whose entrants are in order.
func disagreementOf(calls []entrance, stuck, together bool, nameOf namer) *world.RankError {
	first := calls[0]
	odd := slices.IndexFunc(calls, func(c entrance) bool { return c.signature.family(together) != first.signature.family(together) })
	told := odd < 0 && stuck && first.signature.synchronizing()
	if told {
		odd = slices.IndexFunc(calls, func(c entrance) bool { return c.signature != first.signature })
	}
	if odd < 0 {
		return nil
	}
	x, theirs, site := calls[odd], first.entrant, first.site
	entered, latest, span, lowest := uint64(0), vtime.Time(0), vtime.Duration(0), first
	for _, c := range calls {
		entered, latest, span = entered+c.count, max(latest, c.latest), max(span, c.span)
		if c.lowest < lowest.lowest {
			lowest = c
		}
	}
	if told && entered == first.members {
		x, x.rank, x.at = lowest, lowest.lowest, latest.Add(span)
		if x.signature == first.signature {
			theirs = calls[odd].entrant // in a call that none can leave, which has no site
		}
	}
	err := mismatchOn(x.made, int(x.members), x.number, x.signature, theirs.signature, theirs.rank, nameOf)
	placed(err, x.site, site)
	return &world.RankError{Rank: int(x.rank), Time: x.at, Call: nameOf(x.signature.call()), Err: err}
}

// encodeCalls encodes entrances for engine 0.
func encodeCalls(calls []entrance) (b []byte) {
	for _, c := range calls {
		b = world.AppendWords(b, c.context, c.members, uint64(c.number), uint64(c.at), uint64(c.rank), uint64(c.signature),
			c.count, uint64(c.lowest), uint64(c.latest), uint64(c.span), uint64(c.site), uint64(len(c.made)))
		b = append(b, c.made...)
	}
	return b
}

// decodeCalls decodes the entrances of all engines; it returns none on engines other than engine 0.
func decodeCalls(payloads [][]byte) (all []entrance) {
	for _, payload := range payloads {
		for r := (world.Reader{Rest: payload}); len(r.Rest) > 0; {
			one := entrance{r.U64(), r.U64(), uint32(r.U64()), entrant{vtime.Time(r.U64()), int32(r.U64()), signature(r.U64())},
				r.U64(), int32(r.U64()), vtime.Time(r.U64()), vtime.Duration(r.U64()), "", stats.Site(r.U64()), world.None, 0}
			n := r.U64()
			one.made, r.Rest = string(r.Rest[:n]), r.Rest[n:]
			all = append(all, one)
		}
	}
	return all
}

// Called returns the calls of this engine's members, encoded for engine 0; see [FirstMisfit].
func (c *Collectives) Called() []byte { return encodeCalls(c.calls()) }

// FirstMisfit returns the error of the first rank whose call does not match the calls of other
// ranks, from the payloads of all engines and the names of procedures; nil for none.
func FirstMisfit(payloads [][]byte, deadlocked, together bool, nameOf func(world.Procedure) string) *world.RankError {
	return disagreement(decodeCalls(payloads), deadlocked, together, nameOf)
}
