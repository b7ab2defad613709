package kernel

import "gigarank/vtime"

// Matches on their way back to the processors of senders that wait for them.

// slack is how far the instant at which a processor begins something may lie behind, given
// the least that a message takes.
func slack(least vtime.Duration) vtime.Duration { return min(least/2, vtime.Nanosecond) }

func (k *Kernel) slack() vtime.Duration {
	n := k.tgt.Ranks()
	return slack(k.tgt.Lookahead(0, n, 0, n))
}

// awaitMatch notes that a message for a rank of another engine, which arrives at an
// instant, has a sender that waits for its match.
func (k *Kernel) awaitMatch(arrival vtime.Time) {
	if k.unanswered++; k.unanswered == 1 || arrival < k.answered {
		k.answered = arrival
		k.eng.Await(arrival.Add(vtime.Picosecond))
	}
}

// matchCame notes that a match that was awaited has come.
func (k *Kernel) matchCame() {
	if k.unanswered--; k.unanswered == 0 {
		k.eng.Await(vtime.Forever)
	}
}

// tellMatch tells the sender with an index on an engine, which waits for the match of
// its message, that a rank matched it at an instant: a request, or an agent, as the kind
// of the record says. Of matches that reach a processor at one instant, that by the lowest
// rank comes first, and those by one rank in its order.
func (k *Kernel) tellMatch(kind byte, engine, index int32, by int, matched vtime.Time) {
	at := max(k.now, matched).Add(vtime.Picosecond)
	matched = max(matched, at.Add(-k.slack()))
	if int(engine) == k.eng.Index() {
		k.reachMatch(kind, index, by, at, matched)
		return
	}
	w := writer{k.eng.Record(int(engine), 1+4+4+8+8)}
	w.u8(kind)
	w.u32(uint32(index))
	w.u32(uint32(by))
	w.u64(uint64(at))
	w.u64(uint64(matched))
}

// matchFrom takes in a match on another engine.
func (k *Kernel) matchFrom(kind byte, r reader) {
	index, by := int32(r.u32()), int(r.u32())
	at, matched := vtime.Time(r.u64()), vtime.Time(r.u64())
	k.eng.CheckArrival(by, k.lo, matched, at)
	k.matchCame()
	k.reachMatch(kind, index, by, at, matched)
}

// reachMatch lets the match of a send reach its LP.
func (k *Kernel) reachMatch(kind byte, index int32, by int, at, matched vtime.Time) {
	lp, c := int32(0), NoProcedure
	if kind == recordMatch {
		q := k.requests.at(index)
		lp, c = q.lp, q.call
	} else {
		a := k.agents.at(index)
		if a.ended {
			return
		}
		lp, c = a.lp, a.inst.call.Procedure
	}
	if at == vtime.Forever {
		k.pastEnd(int(k.Global(lp)), matched, c, "the match of a message by rank %d", by)
		return
	}
	p := &k.processors[lp]
	p.number++
	p.matches.push(arrival{at: at, released: matched, source: int32(by), number: p.number, index: index, round: kind == recordRoundMatch})
	k.nudge(lp)
}
