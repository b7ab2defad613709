package kernel

import "gigarank/mpivirt/internal/world"

// record attaches a recorder to the engine's ranks. Computing is heard: no kind of rank advances the clock by itself.
func (k *Kernel) record(r Recorder) {
	k.hearing.recorder, k.hearing.hears = r, true
	k.partition.ClocksOnly = false
	r.Records(k)
}

// submitRecorded is Submit for a recorder alone.
func (k *Kernel) submitRecorded(lp int32, q *Call) (complete bool) {
	h := &k.hearing
	if !k.InParts(lp) { // else the call has begun before
		h.recorder.Enters(lp, q)
	}
	begins, name := q.beginsRequest(), q.Procedure
	h.inCall = true
	complete = k.Submit(lp, q)
	h.inCall = false
	if complete {
		b := &k.messages.Completion
		if begins && b.Err == nil {
			b.Request, _ = k.messages.OwnRequest(lp, b.Request, name)
		}
		h.recorder.Leaves(lp, b)
	}
	return complete
}

// recordsAhead is the number of LPs by which the recorder prefetches those that leave a collective together. It covers the latency of memory.
const recordsAhead = 6

// leaveTogether reports that LPs lo to hi-1 have left their collective without an error, if they were in one.
func (k *Kernel) leaveTogether(lo, hi int32) {
	for lp := lo; lp < hi; lp++ {
		if next := lp + recordsAhead; next < hi {
			k.hearing.recorder.Prefetch(next)
		}
		if !k.InParts(lp) {
			k.hearing.recorder.Leaves(lp, &k.messages.Completion)
		}
	}
}

// joinersEnter reports the barrier that joiners are about to enter.
func (k *Kernel) joinersEnter() {
	all := k.Communicator(world.World)
	for lp := k.Joiners().Lo; lp < k.Joiners().Hi; lp++ {
		k.hearing.recorder.EntersBarrier(lp, all)
	}
}
