package record

import (
	"slices"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/trace"
)

// EntersBarrier implements [kernel.Recorder]. It runs on the stack of a goroutine rank, which is small.
func (r *recorder) EntersBarrier(lp int32, c *kernel.Communicator) {
	n, comm := &r.ranks[lp], int32(trace.World)
	if c.Index != world.World {
		comm = n.commNumber(c.Index)
	}
	n.plain.function, n.plain.comm = trace.Barrier, comm
}

// plain is a send or receive of a message by its partner and tag, or a barrier that is entered in a short form: most calls. It is all that a rank keeps of a call that waits.
type plain struct {
	function  trace.Function // NoFunction for none
	unsized   bool
	comm      int32 // number of the communicator
	peer, tag int32
	bytes     int64 // of the message, or of the room for it
}

// entersPlain keeps a plain call that a rank enters. It returns false for another call.
func (r *recorder) entersPlain(lp int32, q *kernel.Call) bool {
	c := q.Procedure.Class()
	if c != world.ClassSend && c != world.ClassReceive || q.Started() != nil || q.Matched != 0 || q.On().Size == 0 {
		return false
	}
	n, comm := &r.ranks[lp], int32(trace.World)
	if index := q.On().Index; index != world.World {
		if comm = n.commNumber(index); comm < 0 {
			return false
		}
	}
	if c == world.ClassSend {
		dest, tag, bytes := q.Sending()
		n.plain = plain{function: functions[q.Procedure], comm: comm, peer: int32(dest), tag: int32(tag), bytes: bytes}
		return true
	}
	source, tag, bytes, sized := q.Receiving()
	n.plain = plain{function: functions[q.Procedure], unsized: !sized, comm: comm, peer: int32(source), tag: int32(tag), bytes: bytes}
	return true
}

// commNumber returns the number of a communicator in a rank, -1 for none.
func (n *rank) commNumber(index int32) int32 {
	if index == world.Self {
		return trace.Self
	}
	if at := slices.Index(n.comms, index); at >= 0 {
		return int32(at) + 2
	}
	return -1
}

// leavesPlain writes a plain call that a rank leaves.
func (r *recorder) leavesPlain(lp int32, b *kernel.Completion) {
	p := &r.ranks[lp].plain
	form, f := trace.Form(0), p.function
	if p.function = trace.NoFunction; r.failure != nil {
		return
	}
	if b.Err != nil {
		form = trace.Failed
	}
	switch {
	case f == trace.Barrier:
		r.passed(lp, form, p)
		return
	case f.Class() == trace.ClassSend:
		r.sent(lp, f, form, p, b)
		return
	}
	if p.unsized {
		form |= trace.Unsized
	}
	r.got(lp, f, form, p, b)
}

// passed writes a barrier that a rank has entered in a short form.
func (r *recorder) passed(lp int32, form trace.Form, p *plain) {
	if p.comm < 0 {
		r.refuse(lp, world.Barrier, "its communicator was made by a call that cannot be recorded yet")
		return
	}
	o, v := &r.barrier, r.k.Barrier()
	o.Function, o.Form, o.Comm, o.Root, o.Vector, o.Element, o.Datatype = trace.Barrier, form, int64(p.comm), int64(v.Root), v.Bytes, v.Element, int64(v.Type)
	r.over(lp, o)
}

// sent writes a plain send. b is nil for one that is over.
func (r *recorder) sent(lp int32, f trace.Function, form trace.Form, p *plain, b *kernel.Completion) {
	o := &r.send
	o.Function, o.Form, o.Comm, o.Peer, o.Tag, o.Bytes, o.Request = f, form, int64(p.comm), int64(p.peer), int64(p.tag), p.bytes, 0
	if b != nil && !blocks(f) {
		r.begun(lp, o, b)
	}
	r.over(lp, o)
}

// got writes a plain receive. b is nil for one without wildcards that is over.
func (r *recorder) got(lp int32, f trace.Function, form trace.Form, p *plain, b *kernel.Completion) {
	o := &r.receive
	o.Function, o.Form, o.Comm, o.Source, o.SourceTag, o.Room, o.Request = f, form, int64(p.comm), int64(p.peer), int64(p.tag), p.bytes, 0
	if form.Has(trace.Unsized) {
		o.Room = 0
	}
	switch o.GotSource, o.GotTag = o.Source, o.SourceTag; {
	case b == nil:
	case blocks(f):
		r.received(o, b)
	default:
		r.begun(lp, o, b)
	}
	r.over(lp, o)
}

// over writes an operation in scratch memory, which is no test that has found nothing.
func (r *recorder) over(lp int32, o *trace.Operation) {
	if r.ranks[lp].polls != nil {
		r.endPolls(lp)
	}
	r.add(lp, o)
}

// Sends implements [kernel.Recorder].
func (r *recorder) Sends(lp int32, bytes int64, dest, tag int) {
	r.sent(lp, trace.Send, 0, &plain{peer: int32(dest), tag: int32(tag), bytes: bytes}, nil)
}

// Receives implements [kernel.Recorder].
func (r *recorder) Receives(lp int32, source, tag int) {
	r.got(lp, trace.Recv, trace.Unsized, &plain{peer: int32(source), tag: int32(tag)}, nil)
}
