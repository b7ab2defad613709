package kernel

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// sums is the observer of Config.Activities: it adds up the statistics of `run --stats`, in the summary of the
// engine's ranks.
type sums struct {
	*world.Summary
	kernel    *Kernel
	partition *world.Partition
	context   uint64 // of the communicator of the latest call that has one
}

// TasksKept is the number of ranks up to which the sums of each rank are kept.
const TasksKept = 1 << 16

// newSums returns the observer of Config.Activities.
func (k *Kernel) newSums() *sums {
	p := k.partition
	ranks := p.Target.Ranks()
	p.Summary.Calls.Open(p.First, p.Ranks, ranks, ranks <= TasksKept)
	if k.config.Matrix {
		p.Summary.Calls.Matrix().Open(ranks)
	}
	if k.config.Course {
		p.Summary.Calls.Course().Open()
	}
	if k.Sited() {
		p.Summary.Calls.OpenSites()
	}
	return &sums{Summary: &p.Summary, kernel: k, partition: p}
}

// name stores the name of a communicator, which the program is about to use.
func (s *sums) name(context uint64) {
	index, known := s.partition.Contexts[context]
	if context == world.NoContext || !known {
		return
	}
	if s.context = context; !s.Calls.Names(context) {
		s.Calls.Name(context, s.kernel.madeText(s.partition.Comms.At(index)))
	}
}

// about names the communicator of a call.
func (s *sums) about(context uint64) {
	if context != s.context {
		s.name(context)
	}
}

// Begins counts the message that a call sends, and the bytes that a rank hands to a collective.
func (s *sums) Begins(b *CallBegin) {
	s.about(b.Context)
	if b.Refused {
		return
	}
	if b.Sent.Present && b.Sent.Member != world.ProcNull {
		s.Sent.Note(b.Sent.Bytes)
		if m := s.Calls.Matrix(); m.Counts() {
			m.Note(b.Rank, b.Dest, b.Sent.Bytes)
		}
	}
	switch b.Procedure.Class() {
	case world.ClassCollective, world.ClassNeighborhood:
		s.Handed.Note(b.Handed)
	}
}

// Ends counts a call, or computing.
func (s *sums) Ends(e *CallEnd) {
	lp := int32(e.Rank - s.partition.First)
	if e.Ended > e.Began {
		s.Calls.Phases().Note(&e.Phases)
	}
	if e.Procedure == world.Compute {
		s.Calls.Compute(lp, e.Began, e.Ended.Sub(e.Began))
		return
	}
	if e.Idle && e.Ended == e.Began {
		return
	}
	if course := s.Calls.Course(); course.Counts() {
		lead, tail := e.ends()
		course.Call(e.Began, &e.Causes, lead, tail)
	}
	s.Calls.NoteSite(e.site, e.sender, uint8(e.Procedure), e.Bytes, &e.Causes)
	s.Calls.Blame(&e.Blames)
	s.Calls.Note(lp, stats.CallKey{Procedure: uint8(e.Procedure), Context: e.Context}, e.Bytes, &e.Causes)
}

func (s *sums) Note(a Activity, d vtime.Duration) { s.Activities.Note(a, d) }

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
