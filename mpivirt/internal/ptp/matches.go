package ptp

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Matches on their way back to the processors of senders that wait for them.

// Slack returns by how much an instant at which a processor begins something may lie behind
// the current one. least is the least time of a message.
func Slack(least vtime.Duration) vtime.Duration { return min(least/2, vtime.Nanosecond) }

func (k *Messages) slack() vtime.Duration {
	n := k.Target.Ranks()
	return Slack(k.Target.Lookahead(0, n, 0, n))
}

// AwaitMatch bounds the engine's EIT by the match of a message to another engine. The sender
// waits for the match, which is no earlier than the arrival.
func (k *Messages) AwaitMatch(arrival vtime.Time) {
	if k.awaitedMatches++; k.awaitedMatches == 1 || arrival < k.leastAwaited {
		k.leastAwaited = arrival
		k.Engine.Await(arrival.Add(vtime.Picosecond))
	}
}

// matchCame counts an awaited match that has come, and removes the bound after the last.
func (k *Messages) matchCame() {
	if k.awaitedMatches--; k.awaitedMatches == 0 {
		k.Engine.Await(vtime.Forever)
	}
}

// TellMatch sends the match of a message, by a rank at an instant, to the waiting sender on
// an engine. The kind of the record says whether index is a request or an agent. A processor
// takes matches of one instant by rank, and those of one rank in their order.
func (k *Messages) TellMatch(kind byte, engine, index int32, by int, matched vtime.Time) {
	at := max(k.Now, matched).Add(vtime.Picosecond)
	matched = max(matched, at.Add(-k.slack()))
	if int(engine) == k.Engine.Index() {
		k.reachMatch(kind, index, by, at, matched)
		return
	}
	w := world.Writer{Rest: k.Engine.Record(int(engine), 1+4+4+8+8)}
	w.U8(kind)
	w.U32(uint32(index))
	w.U32(uint32(by))
	w.U64(uint64(at))
	w.U64(uint64(matched))
}

// MatchFrom handles a match from another engine.
func (k *Messages) MatchFrom(kind byte, r world.Reader) {
	index, by := int32(r.U32()), int(r.U32())
	at, matched := vtime.Time(r.U64()), vtime.Time(r.U64())
	k.Engine.CheckArrival(by, k.First, matched, at)
	k.matchCame()
	k.reachMatch(kind, index, by, at, matched)
}

// reachMatch enters the match of a send at the sender's processor.
func (k *Messages) reachMatch(kind byte, index int32, by int, at, matched vtime.Time) {
	lp, c := int32(0), world.NoProcedure
	if kind == world.RecordMatch {
		q := k.Requests.At(index)
		lp, c = q.LP, q.Procedure
	} else {
		live := false
		if lp, c, _, live = k.above.AgentCall(index); !live {
			return
		}
	}
	if at == vtime.Forever {
		k.PastEnd(int(k.Global(lp)), matched, c, "the match of a message by rank %d", by)
		return
	}
	p := &k.Processors[lp]
	p.number++
	a := Arrival{At: at, Released: matched, Source: int32(by), number: p.number, Index: index, Round: kind == world.RecordRoundMatch}
	k.checkReach(lp, p, &a)
	p.matches.push(a)
	k.nudge(lp)
}
