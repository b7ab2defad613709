package kernel

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// submitSummed is Submit where the statistics alone observe, for calls that are over at once: it tells the statistics of the call, without a
// description. It returns false, with nothing changed, if the call takes the general way.
func (k *Kernel) submitSummed(lp int32, q *Call) (heard, complete bool) {
	switch q.Procedure {
	case world.Send, world.Isend:
		if q.Outgoing.Bytes <= k.partition.EagerLimit && q.Outgoing.Dest != world.ProcNull && k.checkSend(lp, q) == nil {
			k.sendSummed(lp, q)
			return true, true
		}
	case world.Recv:
		v := &q.Incoming
		if q.Matched != 0 || v.Source < 0 || q.Comm.CheckReceive(v.Source, v.Tag, v.Bytes) != nil {
			return false, false
		}
		k.begunSummed(q)
		heard = k.messages.TakeAtOnce(lp, q.Procedure, q.Comm, v)
		return heard, heard && k.partition.Clock[lp] < vtime.Forever
	case world.Irecv:
		v := &q.Incoming
		if q.Matched == 0 && q.Comm.CheckReceive(v.Source, v.Tag, v.Bytes) == nil {
			k.begunSummed(q)
			k.messages.Completion.Request = k.postReceive(lp, q)
			k.messages.SumPost(lp, q.Procedure, q.Comm.Context)
			return true, true
		}
	}
	return false, false
}

// begunSummed begins a call on a communicator.
func (k *Kernel) begunSummed(q *Call) {
	k.messages.Completion.Err = nil
	if k.config.NoContents && !q.own {
		q.dropContents()
	}
	k.hearing.sums.about(q.Comm.Context)
}

// sendSummed sends a message up to the eager limit in standard mode, whose arguments have been checked.
func (k *Kernel) sendSummed(lp int32, q *Call) {
	k.begunSummed(q)
	o, began := &q.Outgoing, k.partition.Clock[lp]
	request := k.startSend(lp, q)
	if q.Procedure == world.Isend {
		k.messages.Completion.Request = request
	}
	dest := q.Comm.Peers().RankOf(o.Dest, k.partition.Global(lp))
	k.messages.SumSend(lp, q.Procedure, q.Comm.Context, dest, o.Bytes, began)
}
