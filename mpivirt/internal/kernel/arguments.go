package kernel

import (
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
)

// The arguments of a call, for a [Recorder].

// On returns the communicator of a call.
func (q *Call) On() *Communicator { return q.communicator }

// Named returns the requests that a wait, test or cancel names, and whether it names them in a list. A wait for the LP's wait set
// names none; see [Kernel.WaitSet].
func (q *Call) Named() (requests []int32, listed bool) { return q.requests, !q.waitSet }

// WaitSet returns the requests in the wait set of an LP, 0 for inactive ones.
func (k *Kernel) WaitSet(lp int32) []int32 { return k.messages.WaitSet(lp) }

// Started returns the persistent request that a call of [world.Start] starts, nil for other calls.
func (q *Call) Started() *Persistent {
	if q.Procedure != world.Start {
		return nil
	}
	return q.persistent
}

// Arguments returns what the rank hands in to a collective, nil if it hands in nothing.
func (q *Call) Arguments() *coll.Collective { return q.collective }

// Lengths returns the lengths of the vectors that the rank hands in to a collective and gets.
func (q *Call) Lengths() (input, output int64) { return q.lengths.Input, q.lengths.Output }

// Meets returns the tokens of both groups and the remote group, which the leader hands in to the call that makes an
// intercommunicator.
func (q *Call) Meets() (token, remoteToken uint64, remote *world.Group) {
	if q.collective == nil || len(q.collective.Input) == 0 {
		return 0, 0, nil
	}
	r := world.Reader{Rest: q.collective.Input}
	token, remoteToken = r.U64(), r.U64()
	return token, remoteToken, world.ReadGroup(&r)
}

// IsNonblocking reports whether a collective is called in its nonblocking form.
func (q *Call) IsNonblocking() bool { return q.nonblocking }

// Messages returns the messages of an exchange.
func (q *Call) Messages() (receives, sends []Part) { return q.exchange.Receives, q.exchange.Sends }

// Refused returns the error that the typed call has found in the arguments, nil for none.
func (q *Call) Refused() error { return q.err }

// Sending returns the message that a call sends.
func (q *Call) Sending() (dest, tag int, bytes int64) {
	return q.Outgoing.Dest, q.Outgoing.Tag, q.Outgoing.Bytes
}

// Receiving returns the message that a call receives or probes for; without a size it takes a message of any length.
func (q *Call) Receiving() (source, tag int, bytes int64, sized bool) {
	return q.Incoming.Source, q.Incoming.Tag, q.Incoming.Bytes, q.Incoming.Sized
}
