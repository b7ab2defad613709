package maxplus

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// Accounts where messages share interfaces. The delay of a message by others is the time of its way less that of its way on an idle
// machine. So a receiver needs to know, beside the beginning of a message, when the message has left its sender's processor.

// Told is what the clocks of another array bring for accounts, by element.
type Told struct {
	Knows []vtime.Time // the latest entries of which the elements know
	Left  []vtime.Time // the instants at which their messages have left; nil where messages share no interfaces
}

// From returns what the elements from a number of elements on tell.
func (t Told) From(n int) Told {
	if t.Knows != nil {
		t.Knows = t.Knows[n:]
	}
	if t.Left != nil {
		t.Left = t.Left[n:]
	}
	return t
}

// sharing is the state of an array with accounts whose messages share interfaces, in a round.
type sharing struct {
	gone []vtime.Time // by element: instant at which its message has left its processor
	told Told         // by element: of the message for it from another array; empty if there is no other
}

// keepLeaving stores when the messages of the current round leave their processors, and makes memory for what other arrays tell.
func (a *Array) keepLeaving() {
	n, overhead := len(a.work), a.Evaluation().target.Overhead().Send
	if cap(a.gone) < n {
		a.gone = a.Memory.Reserve(n)
	}
	a.gone = a.gone[:n]
	for i, t := range a.work {
		a.gone[i] = t.Add(overhead)
	}
	if a.whole() {
		return
	}
	if cap(a.told.Left) < n {
		a.told = Told{a.Memory.Reserve(n), a.Memory.Reserve(n)}
	}
	a.told = Told{a.told.Knows[:n], a.told.Left[:n]}
}

// Left returns the instant at which the message of an element of the array has left its processor in the current round.
func (a *Array) Left(element int) vtime.Time {
	return a.gone[element-collectives.Survivors(a.folded, a.Low)]
}

// accountAt adds a message that an element receives of another, and that arrives at an instant, to the receiver's account. The clock of the
// receiver is still that before the message; lo is the first element of the array.
func (a *Array) accountAt(c *crossing, from, to, lo int, arrival vtime.Time) {
	left, knows := vtime.Time(0), vtime.Time(0)
	if participant := a.Participant(from); participant < a.Low || participant >= a.High {
		left, knows = a.told.Left[to-lo], a.told.Knows[to-lo]
	} else {
		left, knows = a.gone[from-lo], a.knew[from-lo]
	}
	e, i := &a.current, a.Interfaces
	way, shared, within := arrival.Sub(left), vtime.Duration(0), vtime.Duration(0)
	switch {
	case c.alike:
		shared = way - c.asks.Plus(c.bytes)
	case i.nodeOf(a.Participant(from)) == i.nodeOf(a.Participant(to)):
		latency, transfer := e.target.LatencyAndTransfer(e.rank(from), e.rank(to), e.bytes)
		within = way - latency.Plus(max(transfer, c.memory))
	default:
		shared = way - c.untilAsked(a, e.rank(from), e.rank(to)).Plus(c.bytes)
	}
	combine := e.combine
	if c.occupies > 0 {
		combine = 0 // see combine
	}
	receive := c.receive - combine
	before := a.work[to-lo].Add(c.send)
	account, latest := &a.accounts.of[to-lo], &a.latest.of[to-lo]
	account.Sent += c.send
	account.Works += c.send
	if knows > *latest {
		*latest = knows
		if knows >= before {
			account.Works, account.Shared, account.Within = 0, 0, 0
		}
	}
	waited := max(arrival.Sub(max(before, *latest)), 0)
	within = min(within, waited)
	account.Within += within
	account.Shared += min(shared, waited-within)
	if arrival <= before {
		account.Received += receive
	}
	account.Works += receive + combine
	account.Combined += combine
	a.Meter.Rounded(1, e.bytes, way, combine)
}

// accountWork adds the work of an element in the memory of its node to its account. It takes from one instant to another, and a time where
// no other work delays it.
func (a *Array) accountWork(i int, from, to vtime.Time, alone vtime.Duration) {
	account, took := &a.accounts.of[i], to.Sub(from)
	account.Works += alone
	account.Combined += alone
	account.Within += took - alone
	a.Meter.Computed(took)
}
