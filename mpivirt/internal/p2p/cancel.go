package p2p

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Cancelling follows MPI 4.1, 3.8.4. A call cancels a receive if no message that matches the
// receive has arrived by the instant of the call. To know these messages, the call waits as a test
// does, until all arrivals up to its instant are known. A receive from a named source must not take
// its message before: so a receive that may be cancelled is undecided until then, as a receive from
// any source is. Sends are never cancelled: the standard allows that, and Open MPI does the same.

// SetMayCancel stores whether an LP may cancel the receives that it posts from now on.
func (m *Messages) SetMayCancel(lp int32, on bool) {
	if m.mayCancel == nil {
		m.mayCancel = make([]bool, m.Partition.Ranks)
	}
	m.mayCancel[lp] = on
}

// cancellable reports whether a receive that an LP posts in a call may be cancelled.
func (m *Messages) cancellable(lp int32, c world.Procedure) bool {
	return m.mayCancel != nil && m.mayCancel[lp] && c != world.Recv && c != world.Sendrecv && c != world.Isendrecv
}

// CheckCancel returns the error of cancelling a request that cannot be cancelled.
func (m *Messages) CheckCancel(index int32) error {
	switch r := m.Requests.At(index); {
	case r.Kind == CollectiveRequest || r.Kind == exchangeRequest:
		return world.Errorf(world.ErrRequest, "a collective cannot be cancelled")
	case r.Kind == ReceiveRequest && !r.cancellable:
		return world.Errorf(world.ErrRequest, "the receive was begun before the rank said that it may cancel receives: call MayCancel(true) before")
	}
	return nil
}

// Cancel starts to cancel a request of an LP. It reports whether the call is over at once; see
// beginWait.
func (m *Messages) Cancel(lp, index int32) bool {
	if m.Requests.At(index).Kind != ReceiveRequest {
		m.NewCompletion(lp).Found = true
		return true
	}
	box := m.Box(lp)
	box.polls, box.Wait.Subject = 0, index
	return m.beginWait(lp, box, TestCancel, world.Cancel)
}

// finishCancel cancels the receive that an LP's call names, unless the receive has its message.
func (m *Messages) finishCancel(lp int32, box *Mailbox, now vtime.Time) {
	index := box.Wait.Subject
	r := m.Requests.At(index)
	if !r.undecided {
		return
	}
	m.decides(lp, r.pattern(), now, inVain)
	m.removePosted(box, index)
	m.CompleteRequest(index, now)
	r.Kind, r.Buffer = cancelledRequest, nil
	if m.Processors != nil {
		return
	}
	if settled, next := m.settle(lp, box, now); settled && next != vtime.Forever {
		m.settleAt(lp, box, next) // other receives waited for the cancelled one
	}
}
