package network

import "gigarank/vtime"

// Occupancy is the state of one rank's CPU and network interface under a model with
// state at the receiver. The zero value is ready for use.
type Occupancy struct {
	CPU     vtime.Time // when the CPU is free: nexto of LogGOPSim
	Send    vtime.Time // when the interface can start to send: nextgs
	Receive vtime.Time // when the interface can start to receive: nextgr
}

// ReceiverState reports whether the cost of a message to its receiver depends on the
// other messages that reach it and on what its CPU does. Under such a model each rank
// has an [Occupancy], which changes in the order of virtual time.
func (t *Target) ReceiverState() bool { return t.occupier != nil }

// CanSend returns the time at which a rank that is ready starts to send.
func (o *Occupancy) CanSend(ready vtime.Time) vtime.Time { return max(ready, o.CPU, o.Send) }

// CanReceive returns the time at which the CPU takes in a message that has arrived,
// unless it does something else first.
func (o *Occupancy) CanReceive(arrival vtime.Time) vtime.Time {
	return max(arrival, o.CPU, o.Receive)
}

// Depart starts to send a message at a time when the rank can. The message arrives
// after its Latency. In loggops the CPU is busy for o + (bytes−1)·O, the interface for
// g + (bytes−1)·G.
func (t *Target) Depart(o *Occupancy, bytes int64, at vtime.Time) {
	if t.loggops != nil {
		t.loggops.depart(o, bytes, at)
		return
	}
	t.occupier.depart(o, bytes, at)
}

// TakeIn takes in a message at a time when the rank can, whether or not a receive is
// posted. In loggops the CPU is busy for o + (bytes−1)·max(O, G), the interface for g +
// (bytes−1)·G.
func (t *Target) TakeIn(o *Occupancy, bytes int64, at vtime.Time) {
	if t.loggops != nil {
		t.loggops.takeIn(o, bytes, at)
		return
	}
	t.occupier.takeIn(o, bytes, at)
}
