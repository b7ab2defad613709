package replay

import (
	"fmt"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/trace"
	"gigarank/vtime"
)

// Kind is the kind of ranks that are cursors in a trace.
var Kind = kernel.RegisterKind(kernel.Kind{
	Name: "replay", Summary: "a rank is a cursor in a trace; see gigarank replay",
	Bytes: 560, Time: 200, Movable: true,
})

// Options are the options of a replay.
type Options struct {
	// Burst returns the virtual time of a burst of a rank; nil for the recorded CPU time.
	Burst func(rank int, cpu, wall vtime.Duration) vtime.Duration
	// Recorded has receives and probes with wildcards take the message that they took in the record.
	Recorded bool
	// Window is a part of the tasks whose length is recorded; nil for none.
	Window *Window
	// BlockBytes is the memory of each engine for blocks that are read, 0 for 256 MiB.
	BlockBytes int
}

// Form is a trace as a program.
type Form struct {
	file    *trace.File
	options Options
}

// New returns the form of a trace, whose index has been verified. The number of ranks is that of its tasks.
func New(f *trace.File, o Options) *Form {
	if o.Burst == nil {
		o.Burst = func(_ int, cpu, _ vtime.Duration) vtime.Duration { return cpu }
	}
	if o.BlockBytes == 0 {
		o.BlockBytes = 256 << 20
	}
	return &Form{file: f, options: o}
}

// Kind implements [mpivirt.Form].
func (f *Form) Kind() *kernel.Kind { return Kind }

// Body implements [mpivirt.Form].
func (f *Form) Body(k *kernel.Kernel, n int) kernel.Body {
	b := &body{k: k, file: f.file, window: f.options.Window, recorded: f.options.Recorded, burst: f.options.Burst, ranks: kernel.Reserve[rank](k, n)}
	var err error
	if b.blocks, err = trace.NewBlocks(f.file, f.options.BlockBytes); err != nil {
		k.FailHost(err)
	}
	if b.window != nil {
		b.windows = make([]passage, n)
	}
	cancels := f.file.Summary.Functions[trace.Cancel.String()] > 0
	for lp := range b.ranks {
		r := &b.ranks[lp]
		if r.at, err = f.file.Task(int(k.Global(int32(lp)))); err != nil {
			k.FailHost(err)
		}
		k.SetErrorsReturn(int32(lp), true)
		k.Attach(int32(lp), 1<<62)
		if cancels {
			k.SetMayCancel(int32(lp), true)
		}
	}
	return b
}

// CheckRanks returns the error of a number of ranks that is not that of the tasks.
func (f *Form) CheckRanks(ranks int) error {
	if n := f.file.Header.Tasks; n != ranks {
		return fmt.Errorf("the trace has %d tasks, and cannot be replayed on %d ranks", n, ranks)
	}
	return nil
}

// body runs the ranks of an engine.
type body struct {
	k      *kernel.Kernel
	file   *trace.File
	burst  func(rank int, cpu, wall vtime.Duration) vtime.Duration
	blocks *trace.Blocks
	ranks  []rank
	o      trace.Operation // scratch: the operation that begins
	list   []int32         // scratch
	named  []int64         // scratch
	groups groups

	recorded bool                 // receives with wildcards take the recorded messages
	ahead    trace.Operation      // scratch: an operation behind the one that begins
	aheads   map[int32]*lookahead // by LP
	looked   uint64               // operations that look-aheads have read

	window  *Window   // nil for none
	windows []passage // by LP, if there is a window

	passed map[slot]passing     // requests that a Waitany or the like has passed over
	asked  map[int32]vtime.Time // by LP: when such a call was made
}

// rank is a rank of a trace.
type rank struct {
	at       trace.Cursor
	slots    []int32         // by number: request in the kernel; 0 for none
	comms    []int32         // by number, from 2 on: communicator in the kernel; world.Freed for none
	messages []int32         // by number: probed message in the kernel
	times    int64           // calls of the operation that follow this one: tests that found nothing
	message  int32           // number of the message that the probe finds, plus 1
	made     int32           // number of the communicator that the call makes; -1 for none
	color    int32           // of that communicator
	on       int32           // communicator of the call, in the kernel
	function trace.Function  // of the operation
	last     world.Procedure // latest call of MPI
	state    state
	failed   bool // the call failed in the record
	ended    bool
	compares bool // the outcome of the call is compared with that in the record
}

// state is the state of a rank in an operation.
type state uint8

const (
	between state = iota
	calling       // in a call that is over when the rank is resumed
	trying        // in a test that found something in the record
	missing       // in a test that found nothing
)

// Resume implements [kernel.Body].
func (b *body) Resume(i int) bool {
	lp := int32(i)
	r := &b.ranks[i]
	for !b.k.HasFailed(lp) {
		over := true
		switch r.state {
		case between:
			more := false
			if more, over = b.begin(lp, r); !more {
				return false
			}
		default:
			if b.k.InParts(lp) && !b.k.Submit(lp, b.k.Composed()) {
				return true // the next part of the call is under way
			}
			over = b.end(lp, r)
		}
		if !over || b.k.Pause(lp) {
			return true
		}
	}
	return true
}

// Interrupted implements [kernel.Body]: an operation has no code of its own that could panic.
func (b *body) Interrupted(any) bool { return false }

// Ended implements [kernel.Body].
func (b *body) Ended(lp int32) bool { return b.ranks[lp].ended }

// LastCall implements [kernel.Body].
//
//go:norace
func (b *body) LastCall(lp int32) world.Procedure { return b.ranks[lp].last }

// Stop implements [kernel.Body].
func (b *body) Stop() {}

// Place implements [kernel.Locator]: the place of a call is that of its operation.
func (b *body) Place(lp int32) string {
	x := b.ranks[lp].at.Fault(b.file, "")
	if x.Offset < 0 {
		return fmt.Sprintf("operation %d of task %d of %s", x.Operation, x.Task, x.File)
	}
	return fmt.Sprintf("operation %d of task %d, byte %d of block %d at byte %d of %s", x.Operation, x.Task, x.Within, x.Block, x.Offset, x.File)
}

// CommName implements [kernel.Locator].
func (b *body) CommName(lp, comm int32) string {
	for i, index := range b.ranks[lp].comms {
		if index == comm && comm != world.Freed {
			return fmt.Sprintf("communicator %d of the task", 2+i)
		}
	}
	return ""
}

// fails ends a rank: its trace does not fit.
func (b *body) fails(lp int32, p world.Procedure, format string, arguments ...any) {
	r := &b.ranks[lp]
	b.k.Fail(lp, p, r.at.Fault(b.file, r.function.String()+": "+fmt.Sprintf(format, arguments...)))
}
