package resource

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Matches on their way back to the processors of waiting senders.

// Slack returns the greatest time by which an operation may begin before the instant of the current
// event. least is the least time of a message.
func Slack(least vtime.Duration) vtime.Duration { return min(least/2, vtime.Nanosecond) }

// SlackOn returns the greatest time by which a rank on a machine may go on before the instant of the current event.
func SlackOn(target *network.Target) vtime.Duration {
	if !target.ReceiverState() {
		return 0
	}
	n := target.Ranks()
	return Slack(target.Lookahead(0, n, 0, n))
}

// LatestMatch is the greatest time after the arrival of a message at which its sender takes the match of a receiver that has
// waited for it.
const LatestMatch = vtime.Nanosecond

// AwaitMatch counts a message whose sender waits for the match, which is no earlier than the arrival. The match of a message to
// another engine bounds the engine's EIT.
func (x *Processors) AwaitMatch(arrival vtime.Time, local bool) {
	if x.unmatched++; local {
		return
	}
	if x.awaitedMatches++; x.awaitedMatches == 1 || arrival < x.leastAwaited {
		x.leastAwaited = arrival
		x.partition.Engine.Await(arrival.Add(vtime.Picosecond))
	}
}

// matchCame counts the match that a sender waits for, and removes the bound after the last one.
func (x *Processors) matchCame() {
	if x.awaitedMatches--; x.awaitedMatches == 0 {
		x.partition.Engine.Await(vtime.Forever)
	}
}

// TellMatch sends the match of a message, by a rank at an instant, to the waiting sender on an
// engine. index is the request or agent of the sender, depending on the owner. A processor takes
// matches of one instant by rank, and matches of one rank in their order.
func (x *Processors) TellMatch(owner Owner, engine, index int32, by int, matched vtime.Time) {
	at := max(x.turns.now, matched).Add(vtime.Picosecond)
	matched = max(matched, at.Add(-x.turns.slack))
	if int(engine) == x.partition.Engine.Index() {
		x.reachMatch(owner, index, by, at, matched)
		return
	}
	w := world.Writer{Rest: x.partition.Engine.Record(int(engine), 1+4+4+8+8)}
	w.U8(matchRecords[owner])
	w.U32(uint32(index))
	w.U32(uint32(by))
	w.U64(uint64(at))
	w.U64(uint64(matched))
}

// MatchFrom handles a match from another engine.
func (x *Processors) MatchFrom(owner Owner, r world.Reader) {
	index, by := int32(r.U32()), int(r.U32())
	at, matched := vtime.Time(r.U64()), vtime.Time(r.U64())
	x.partition.Engine.CheckArrival(by, x.partition.First, matched, at)
	x.matchCame()
	x.reachMatch(owner, index, by, at, matched)
}

// matchRecords are the kinds of the records of matches, by owner.
var matchRecords = [...]byte{OfProgram: world.RecordMatch, OfAgents: world.RecordRoundMatch}

// reachMatch adds the match of a send to the sender's processor.
func (x *Processors) reachMatch(owner Owner, index int32, by int, at, matched vtime.Time) {
	k := x.partition
	x.unmatched--
	lp, c, live := x.works[owner].Sender(index)
	if !live {
		return
	}
	if at == vtime.Forever {
		k.PastEnd(int(k.Global(lp)), matched, c, "the match of a message by rank %d", by)
		return
	}
	p := &x.all[lp]
	if p.held {
		x.disturbed()
	}
	p.number++
	a := Arrival{At: at, Released: matched, Source: int32(by), number: p.number, Index: index, Owner: owner}
	x.turns.reaches(lp, &p.Turn, a.Source, a.At)
	p.matches.push(a)
	x.turns.after(lp, &p.Turn)
}
