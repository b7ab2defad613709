package kernel

import "gigarank/mpivirt/internal/world"

// Persistent is a send or receive that an LP starts repeatedly with the same arguments (MPI 4.1,
// 3.9). It must not be copied between a start and the wait for that start.
type Persistent struct {
	Buffer     []byte // to send from, or to receive into
	Peer, Tag  int
	request    int32           // of the latest start, 0 before the first start
	generation uint32          // of request
	Procedure  world.Procedure // of the operation in its nonblocking form
}

// Starts sets the persistent request of a call of [world.Start] and returns the call.
func (q *Call) Starts(p *Persistent) *Call {
	q.persistent = p
	return q
}

// submitStart starts the operation of a persistent request. The completion contains the new
// request, which is active until the LP has waited for it.
func (k *Kernel) submitStart(lp int32, q *Call) bool {
	p := q.persistent
	if k.isActive(lp, p) {
		return k.messages.Raise(lp, q.Procedure, world.Errorf(world.ErrRequest, "the persistent request is active: wait for it before the next start"))
	}
	q.begins(p)
	p.request = 0
	k.Submit(lp, q)
	if b := &k.messages.Completion; b.Err == nil {
		p.request, p.generation = k.messages.OwnRequest(lp, b.Request, p.Procedure)
		b.Request = p.request
	}
	return true
}

// isActive reports whether the latest start of a persistent request has not been waited for.
func (k *Kernel) isActive(lp int32, p *Persistent) bool {
	return p.request != 0 && k.messages.HoldsRequest(lp, p.request, p.generation)
}

// begins makes a call of [world.Start] the call of the operation that starts.
func (q *Call) begins(p *Persistent) {
	if p.Procedure == world.Irecv {
		q.Receives(p.Buffer, int64(len(p.Buffer)), true, p.Peer, p.Tag)
	} else {
		q.Sends(p.Buffer, int64(len(p.Buffer)), p.Peer, p.Tag)
	}
	q.Procedure = p.Procedure
}

// refusesStart reports whether the arguments of a call of [world.Start] are in error.
func (k *Kernel) refusesStart(lp int32, q *Call) bool {
	started := *q
	started.begins(q.persistent)
	return k.isActive(lp, q.persistent) || k.refuses(lp, &started)
}
