package record

import (
	"fmt"
	"slices"
	"sync"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/trace"
	"gigarank/vtime"
)

// Recording records the ranks of all engines of a process. Its method Recorder is a Config.Recorder.
type Recording struct {
	w         *trace.Writer
	mutex     sync.Mutex
	recorders []*recorder
}

// New returns a recording into a file.
func New(w *trace.Writer) *Recording { return &Recording{w: w} }

// Recorder returns the recorder of an engine with n ranks from first on.
func (r *Recording) Recorder(first, n int) kernel.Recorder {
	o := &recorder{w: r.w, first: first, ranks: make([]rank, n), computed: trace.Operation{Function: trace.Burst}}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.recorders = append(r.recorders, o)
	return o
}

// Close writes what is left, and ends the file. The run is over. note is for the summary.
func (r *Recording) Close(note string) error {
	s, err := r.Finish()
	if err != nil {
		return err
	}
	s.Note = note
	return r.w.Close(*s)
}

// Finish writes what is left, in the order of the ranks, and returns the summary of these ranks. The run is over.
func (r *Recording) Finish() (*trace.Summary, error) {
	s := &trace.Summary{Functions: map[string]int64{}}
	slices.SortFunc(r.recorders, func(a, b *recorder) int { return a.first - b.first })
	for _, o := range r.recorders {
		for lp := range o.ranks {
			o.endPolls(int32(lp))
			o.endBurst(int32(lp))
		}
		if o.flush(0); o.failure != nil {
			return nil, o.failure
		}
		for f, n := range o.calls {
			if o := (trace.Operation{Function: trace.Function(f)}); n > 0 && o.Calls() > 0 {
				s.Functions[o.Function.String()] += n
			}
		}
		s.Operations, s.Ended = s.Operations+o.operations, s.Ended+o.ended
	}
	return s, nil
}

// heldBytes is the most bytes that the streams of an engine hold before they are written.
const heldBytes = 256 << 20

// recorder records the ranks of an engine. It implements [kernel.Recorder].
type recorder struct {
	w          *trace.Writer
	k          *kernel.Kernel
	first      int
	ranks      []rank
	requests   []int32         // by index in the kernel: number of the request in its task, plus 1; 0 for none
	wild       map[int32]bool  // by index in the kernel: receives with wildcards
	messages   map[int32]int64 // by index in the kernel: number of the probed message in its task
	spare      []*trace.Operation
	burst      trace.Operation // scratch
	computed   trace.Operation // likewise, for bursts
	send       trace.Operation // likewise, for plain calls
	receive    trace.Operation
	barrier    trace.Operation
	grouped    *world.Group // the group of runs
	runs       []int64
	held       int // bytes in all streams
	calls      [1 << 8]int64
	operations int64
	ended      int64
	failure    error // of the recording; nil if there is none
}

var _ kernel.Recorder = (*recorder)(nil)

// rank is the state of a rank. What each call touches is in front.
type rank struct {
	plain    plain          // the call that the rank is in, if it is plain; else without a function
	burst    vtime.Duration // computing that is not written yet, if computes
	computes bool
	on       int32            // the communicator of call, by index in the kernel
	call     *trace.Operation // that the rank is in; nil for none, and for a plain one
	polls    *trace.Operation // a run of tests that have found nothing and is not written yet; nil for none, and for a rank that computes
	stream   trace.Stream
	requests numbers
	comms    []int32 // by number, from 2 on: index in the kernel; world.Freed for a free number
	probed   numbers
}

// Records implements [kernel.Recorder].
func (r *recorder) Records(k *kernel.Kernel) { r.k = k }

// Prefetch implements [kernel.Recorder].
func (r *recorder) Prefetch(lp int32) { world.Prefetch(&r.ranks[lp]) }

// fail ends the run with an error of the recording.
func (r *recorder) fail(err error) {
	if r.failure == nil && err != nil {
		r.failure = err
		r.k.FailHost(err)
	}
}

// refuse ends the run: a call cannot be recorded.
func (r *recorder) refuse(lp int32, p world.Procedure, why string) {
	r.fail(fmt.Errorf("rank %d, MPI_%s: %s: run the program without --trace, or leave the call out", r.first+int(lp), p.NameInC(), why))
}

// add appends an operation to a rank's stream, behind the rank's computing.
func (r *recorder) add(lp int32, o *trace.Operation) {
	n := &r.ranks[lp]
	if n.computes {
		r.endBurst(lp)
	}
	s := &n.stream
	before := s.Len()
	if r.failure == nil {
		if err := s.Append(r.w, r.first+int(lp), o); err != nil {
			r.fail(err)
		}
	}
	r.held += s.Len() - before
	r.operations++
	if o.Form.Has(trace.Missed) {
		r.calls[o.Function] += o.Calls()
	} else {
		r.calls[o.Function]++ // Close leaves out what is no call
	}
	if r.held > heldBytes {
		r.flush(r.held / len(r.ranks))
	}
}

// flush writes the streams that hold at least a number of bytes.
func (r *recorder) flush(least int) {
	for lp := range r.ranks {
		s := &r.ranks[lp].stream
		if n := s.Len(); n >= least && r.failure == nil {
			if err := s.Flush(r.w, r.first+lp); err != nil {
				r.failure = err
			}
			r.held += s.Len() - n
		}
	}
}

// Computes implements [kernel.Recorder]. The time is written with the operation that follows: the stack of a goroutine rank, on which it
// computes, has no room for that.
func (r *recorder) Computes(lp int32, d vtime.Duration) {
	n := &r.ranks[lp]
	if n.polls != nil {
		r.endPolls(lp)
	}
	if n.computes {
		r.endBurst(lp)
	}
	n.computes, n.burst = true, d
}

// endBurst writes the computing of a rank, if any.
func (r *recorder) endBurst(lp int32) {
	if n := &r.ranks[lp]; n.computes {
		n.computes = false
		r.computed.CPU, r.computed.Wall = int64(n.burst), int64(n.burst)
		r.add(lp, &r.computed)
	}
}

// BeginsPhase implements [kernel.Recorder].
func (r *recorder) BeginsPhase(lp int32, name string) {
	r.endPolls(lp)
	r.burst = trace.Operation{Function: trace.MarkBegin, Name: []byte(name)}
	if name == "" {
		r.burst = trace.Operation{Function: trace.MarkEnd}
	}
	r.add(lp, &r.burst)
}

// Finishes implements [kernel.Recorder].
func (r *recorder) Finishes(lp int32) {
	r.endPolls(lp)
	r.burst = trace.Operation{Function: trace.End}
	r.add(lp, &r.burst)
	r.ended++
}

// take returns an empty operation.
func (r *recorder) take() *trace.Operation {
	if n := len(r.spare); n > 0 {
		o := r.spare[n-1]
		r.spare = r.spare[:n-1]
		requests, completed, matched := o.Requests[:0], o.Completed[:0], o.Matched[:0]
		*o = trace.Operation{Requests: requests, Completed: completed, Matched: matched}
		return o
	}
	return &trace.Operation{}
}

// endPolls writes the run of tests that a rank has made, if any.
func (r *recorder) endPolls(lp int32) {
	if o := r.ranks[lp].polls; o != nil {
		r.ranks[lp].polls = nil
		r.add(lp, o)
		r.spare = append(r.spare, o)
	}
}

// finish writes an operation that is over, or adds it to the run of equal tests before it.
func (r *recorder) finish(lp int32, o *trace.Operation) {
	n := &r.ranks[lp]
	if !o.Form.Has(trace.Missed) {
		r.endPolls(lp)
		r.add(lp, o)
		r.spare = append(r.spare, o)
		return
	}
	if before := n.polls; before != nil && samePoll(before, o) {
		before.Times++
		r.spare = append(r.spare, o)
		return
	}
	r.endPolls(lp)
	r.endBurst(lp)
	n.polls = o
}
