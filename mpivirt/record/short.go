package record

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/trace"
)

// EntersBarrier implements [kernel.Recorder].
func (r *recorder) EntersBarrier(lp int32, c *kernel.Communicator) {
	n, v := &r.ranks[lp], r.k.Barrier()
	o := &r.barrier // ranks that are in a barrier of WORLD have the same operation
	if c.Index != world.World {
		o = r.take()
	}
	o.Function, o.Root, o.Vector, o.Element, o.Datatype = trace.Barrier, int64(v.Root), v.Bytes, v.Element, int64(v.Type)
	n.call, n.on = o, c.Index
	r.nameComm(lp, world.Barrier, o, c)
}

// Sends implements [kernel.Recorder].
func (r *recorder) Sends(lp int32, bytes int64, dest, tag int) {
	r.endPolls(lp)
	o := &r.send
	o.Function, o.Peer, o.Tag, o.Bytes, o.Comm = trace.Send, int64(dest), int64(tag), bytes, trace.World
	r.add(lp, o)
}

// Receives implements [kernel.Recorder].
func (r *recorder) Receives(lp int32, source, tag int) {
	r.endPolls(lp)
	o := &r.receive
	o.Function, o.Form, o.Source, o.SourceTag, o.Comm = trace.Recv, trace.Unsized, int64(source), int64(tag), trace.World
	o.GotSource, o.GotTag = o.Source, o.SourceTag
	r.add(lp, o)
}
