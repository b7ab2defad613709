package p2p

import (
	"math"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Late events. A rank decides by timing where a poll finds nothing, where a receive or probe from
// any source takes the least of the messages that have come, and where a wait for any of several
// requests ends with the first. A rank decides at an instant only when all events up to this
// instant are known. But when virtual time begins anew for ranks in long loops of polls, such a
// rank may send a message that arrives before an instant at which another rank has decided. If the
// message might have changed the decision, the message is late, and the run reports it.
//
// Which events are late does not depend on engines. All engines begin anew in the same state, so
// the decisions made by then are the same for any number of engines. Afterwards a rank again
// decides at an instant only when all events up to this instant are known.

// decision is the latest decision of an LP about messages of a pattern. Messages that come before
// (at, rank), in the order of messages, might have changed the decision.
type decision struct {
	pattern
	at   vtime.Time
	rank int32
	next int32 // next decision of the same LP, 0 for none
}

// patternsKept is the number of patterns about which the decisions of an LP are stored apart.
const patternsKept = 4

// inVain is the rank of a decision that any message up to its instant might have changed.
const inVain = math.MaxInt32

// Patterns that match no message.
var (
	otherPatterns  = pattern{comm: -1} // stands for all patterns beyond those stored apart
	waitSetPattern = pattern{comm: -2} // stands for requests in a wait set
)

// lateness is the state by which a partition finds late events.
type lateness struct {
	decisionsOf []int32 // by LP: its latest decisions, 0 if none; nil before the first
	decisions   world.Slab[decision]
	firstLong   vtime.Time // no loop of polls is long before this instant
	anew        bool       // virtual time has begun anew
}

// decides records that an LP has decided about messages of a pattern. No decision is premature
// before the first loop can be long.
func (m *Messages) decides(lp int32, p pattern, at vtime.Time, rank int32) {
	if at < m.firstLong || m.Processors != nil {
		return
	}
	if m.decisionsOf == nil {
		m.decisionsOf = make([]int32, m.Partition.Ranks)
	}
	found, patterns := (*decision)(nil), 0
	for index := m.decisionsOf[lp]; index != 0; patterns++ {
		d := m.decisions.At(index)
		if d.pattern == p {
			found = d
			break
		}
		if d.pattern == otherPatterns {
			found = d
		}
		index = d.next
	}
	if found == nil {
		if patterns == patternsKept-1 {
			p = otherPatterns
		}
		index := m.decisions.Take()
		*m.decisions.At(index) = decision{p, at, rank, m.decisionsOf[lp]}
		m.decisionsOf[lp] = index
		return
	}
	if at > found.at || at == found.at && rank > found.rank {
		found.at, found.rank = at, rank
	}
}

// latestDecision returns the instant of the latest decision of an LP that an event at an instant
// might have changed, 0 for none. concerns selects the patterns that matter.
func (m *Messages) latestDecision(lp int32, at vtime.Time, rank int32, concerns func(p pattern) bool) (decided vtime.Time) {
	if m.decisionsOf == nil {
		return 0
	}
	for index := m.decisionsOf[lp]; index != 0; {
		d := m.decisions.At(index)
		if (at < d.at || at == d.at && rank < d.rank) && (d.pattern == otherPatterns || concerns(d.pattern)) {
			decided = max(decided, d.at)
		}
		index = d.next
	}
	return decided
}

// checkArrival counts a message that reaches an LP if it is late.
func (m *Messages) checkArrival(lp int32, msg *message) {
	decided := m.latestDecision(lp, msg.arrival, msg.rank, func(p pattern) bool { return p.matches(msg) })
	if decided > 0 {
		m.Partition.Summary.Late.Add(m.Partition.Global(lp), msg.rank, msg.arrival, decided)
	}
}

// checkCompletion counts the completion of a request at t as late if the LP has tested the request
// at t or later, when the completion was not known.
func (m *Messages) checkCompletion(r *request, t vtime.Time) {
	decided := vtime.Time(0)
	if t <= r.Time {
		decided = r.Time
	}
	decided = max(decided, m.latestDecision(r.LP, t, world.None, func(p pattern) bool { return p == waitSetPattern }))
	if decided > 0 {
		m.Partition.Summary.Late.Add(m.Partition.Global(r.LP), world.None, t, decided)
	}
}

// looked records that an LP has tested the requests of a wait at an instant and gone on. The time
// of an incomplete request is the instant of its latest test.
func (m *Messages) looked(lp int32, kind WaitKind, requests []int32, at vtime.Time) {
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		if r := m.Requests.At(ri); !r.Complete {
			r.Time = at
		}
	}
	if len(requests) == 0 && kind != TestAll {
		m.decides(lp, waitSetPattern, at, inVain)
	}
}
