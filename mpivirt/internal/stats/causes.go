package stats

import (
	"math/big"
	"math/bits"

	"gigarank/vtime"
)

// Cause is the reason for which a rank's time passes: the rank computes, waits for another rank, waits for the network,
// or has its processor work for MPI. The names of waiting are those of Scalasca.
type Cause uint8

// The causes. docs/statistics.md has the rules by which a call's time is divided among them.
const (
	Computing     Cause = iota // outside MPI
	LateSender                 // the sender has not begun the send yet
	LateReceiver               // the receiver has not posted the receive of a rendezvous or synchronous send yet
	WaitAtBarrier              // a member has not entered the barrier yet
	WaitAtNToN                 // a member has not entered another collective in which all members need all
	LateRoot                   // the root has not entered a collective in which all members need the root
	LateMember                 // another member has not entered such a collective, or a collective in which one member needs others
	Network                    // latency and transfer on an idle network, and the order of messages
	Interface                  // the interfaces of nodes are busy with other messages
	Bus                        // the busses that all nodes share are busy
	Link                       // links are busy, or bandwidth is shared
	Memory                     // the memory of the node is busy
	Processor                  // overheads, copies, combining
	NumberOfCauses

	NumberOfLate = LateMember - LateSender + 1 // causes of waiting for another rank, from LateSender on
)

func (c Cause) String() string {
	return [...]string{"computing", "late sender", "late receiver", "wait at barrier", "wait at n-to-n", "late root", "late member",
		"network", "interface", "bus", "link", "memory", "processor"}[c]
}

// Waits reports whether a rank waits in time of the cause: for another rank, or for the network.
func (c Cause) Waits() bool { return c != Computing && c != Processor }

// Causes are times by cause.
type Causes [NumberOfCauses]vtime.Duration

// Add adds other times.
func (c *Causes) Add(o *Causes) {
	for i, d := range o {
		c[i] += d
	}
}

// Total returns the sum of all causes.
func (c *Causes) Total() (all vtime.Duration) {
	for _, d := range c {
		all += d
	}
	return all
}

// Waiting returns the sum of the causes for which a rank waits.
func (c *Causes) Waiting() (all vtime.Duration) {
	for i, d := range c {
		if Cause(i).Waits() {
			all += d
		}
	}
	return all
}

// Ending describes the operation that ends a call: a message, or the rank's part of a collective. Instants are 0 if they do
// not matter.
type Ending struct {
	Known  bool           // else the call has not waited: its processor works all the time
	From   vtime.Time     // instant from which on the rank can wait; before that its processor works
	Root   vtime.Time     // entry of the root
	Other  vtime.Time     // entry of the rank for which the call waits: of a sender, of a receiver, the latest entry of members
	Left   vtime.Time     // instant at which the processor of the sender has let the message go
	Ready  vtime.Time     // instant at which the operation is complete; the processor works from then on
	Late   Cause          // of the time before Other
	Whom   Late           // the root if Root is set, else the rank whose instant is Other
	Last   int32          // the rank whose instant is Other, if Root is set
	Bus    bool           // Shared is time at busses
	Link   bool           // Shared is time at links
	Works  vtime.Duration // of the rank's processor in a collective, after Other
	Shared vtime.Duration // for which other messages between nodes have delayed the message
	Within vtime.Duration // for which other work in the memory of the node has delayed the message
	Chain  Chain          // by which the operation ends
}

// Split divides the time of a call among causes, and adds it to all. The sum is the time from began to ended.
func (e *Ending) Split(began, ended vtime.Time, all *Causes) {
	if !e.Known {
		all[Processor] += ended.Sub(began)
		return
	}
	at := all.until(began, min(e.From, ended), Processor)
	at = all.until(at, min(e.Root, ended), LateRoot)
	at = all.until(at, min(e.Other, e.Ready, ended), e.Late)
	at = all.until(at, min(e.Left, e.Ready, ended), Processor)
	if ready := min(e.Ready, ended); ready > at {
		rest := all.take(e.Works, ready.Sub(at), Processor)
		rest = all.take(e.Within, rest, Memory)
		rest = all.take(e.Shared, rest, e.Busy())
		all[Network] += rest
		at = ready
	}
	all.until(at, ended, Processor)
}

// Busy returns the cause of delays between nodes.
func (e *Ending) Busy() Cause {
	switch {
	case e.Bus:
		return Bus
	case e.Link:
		return Link
	}
	return Interface
}

// until adds the time from an instant to a later instant to a cause, and returns the later of both.
func (c *Causes) until(at, t vtime.Time, cause Cause) vtime.Time {
	if t <= at {
		return at
	}
	c[cause] += t.Sub(at)
	return t
}

// take adds a time of at most rest to a cause and returns what is left of rest.
func (c *Causes) take(d, rest vtime.Duration, cause Cause) (left vtime.Duration) {
	d = min(max(d, 0), rest)
	c[cause] += d
	return rest - d
}

// Total is a sum of times in picoseconds, with 128 bits.
type Total struct{ High, Low uint64 }

// Add adds a time, which is not negative.
func (t *Total) Add(d vtime.Duration) {
	var carry uint64
	t.Low, carry = bits.Add64(t.Low, uint64(d), 0)
	t.High += carry
}

// addSame adds a time, which is not negative, n times.
func (t *Total) addSame(d vtime.Duration, n int) {
	high, low := bits.Mul64(uint64(d), uint64(n))
	t.Merge(Total{high, low})
}

// Merge adds another sum.
func (t *Total) Merge(o Total) {
	var carry uint64
	t.Low, carry = bits.Add64(t.Low, o.Low, 0)
	t.High += o.High + carry
}

// Over returns the sum divided by a number, rounded down. The number is greater than High.
func (t Total) Over(n uint64) vtime.Duration {
	quotient, _ := bits.Div64(t.High, t.Low, n)
	return vtime.Duration(quotient)
}

// Big returns the sum as a number of any size.
func (t Total) Big() *big.Int {
	high := new(big.Int).Lsh(new(big.Int).SetUint64(t.High), 64)
	return high.Or(high, new(big.Int).SetUint64(t.Low))
}
