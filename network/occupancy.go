package network

import "gigarank/vtime"

// Occupancy is the state of one rank's CPU and network interface under a model with
// state at the receiver. The zero value is ready for use.
type Occupancy struct {
	CPU     vtime.Time // instant from which on the CPU is free: nexto of LogGOPSim
	Send    vtime.Time // instant from which on the interface can send: nextgs
	Receive vtime.Time // instant from which on the interface can receive: nextgr
}

// ReceiverState reports whether the cost of a message to its receiver depends on the other messages
// for the receiver and on the other work of its CPU. Under such a model each rank has an
// [Occupancy], which changes in the order of virtual time.
func (t *Target) ReceiverState() bool { return t.occupier != nil }

// CanSend returns the instant at which a rank that is ready starts to send.
func (o *Occupancy) CanSend(ready vtime.Time) vtime.Time { return max(ready, o.CPU, o.Send) }

// CanReceive returns the instant at which the CPU takes in a message that has arrived, unless it
// does other work first.
func (o *Occupancy) CanReceive(arrival vtime.Time) vtime.Time {
	return max(arrival, o.CPU, o.Receive)
}

// Depart starts to send a message at an instant at which the rank can send. The message arrives
// after its Latency. In loggops the CPU is busy for o + (bytes−1)·O, the interface for g +
// (bytes−1)·G.
func (t *Target) Depart(o *Occupancy, bytes int64, at vtime.Time) {
	if t.loggops != nil {
		t.loggops.depart(o, bytes, at)
		return
	}
	t.occupier.depart(o, bytes, at)
}

// TakeIn takes in a message at an instant at which the rank can receive, whether or not a receive
// is posted. In loggops the CPU is busy for o + (bytes−1)·max(O, G), the interface for g +
// (bytes−1)·G.
func (t *Target) TakeIn(o *Occupancy, bytes int64, at vtime.Time) {
	if t.loggops != nil {
		t.loggops.takeIn(o, bytes, at)
		return
	}
	t.occupier.takeIn(o, bytes, at)
}
