//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"fmt"
	gort "runtime"
	"time"
	"unsafe"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/vtime"
)

// Available returns why this build or machine has no native ranks, nil if it has.
func Available() error { return loadRuntime() }

// form is a program in the form for native ranks.
type form struct {
	path    string
	argc    int
	argv    **cChar
	options Options
	stack   int64
	bound   bool // its code must stay in one thread
	threads toolchain.Threads
	cancels bool // its ranks may cancel receives
	sites   sites
}

// Open returns a program for native ranks that is run with arguments. The error names the reasons
// that keep it from running.
func Open(path string, list []string, o Options) (kernel.Form, error) {
	check := toolchain.CheckBuild
	if o.StrictFunctions {
		check = toolchain.Check
	}
	if err := check(path); err != nil {
		return nil, err
	}
	if err := loadRuntime(); err != nil {
		return nil, err
	}
	threads, err := threadsOf(path)
	if err != nil {
		return nil, err
	}
	one, err := take(path)
	if err != nil {
		return nil, err
	}
	giveBack([]*image{one})
	f := &form{path: path, options: o, stack: o.stack(), threads: threads, cancels: toolchain.Uses(path, "Cancel")}
	f.bound = threads.Starts || toolchain.BoundToThread(path)
	f.argc, f.argv = arguments(path, list)
	return f, nil
}

// Kind implements [kernel.Form].
func (*form) Kind() *kernel.Kind { return Kind }

// Body implements [kernel.Form]. A body that cannot be made fails its engine.
func (f *form) Body(k *kernel.Kernel, n int) kernel.Body {
	b := &body{k: k, form: f, operators: map[operation]world.Operator{}}
	if err := b.open(n); err != nil {
		k.FailHost(fmt.Errorf("%s: %w", f.path, err))
	}
	return b
}

// batch is the number of ranks that one call of C resumes. The memory that they touch fits into the
// second cache.
const batch = 128

// body is the native ranks of an engine.
type body struct {
	k          *kernel.Kernel
	form       *form
	images     []*image // one image for all ranks, or an image for each rank
	engine     *cEngine
	ranks      []cRank // in C memory
	list       []int32 // likewise: the ranks to resume
	left       int     // ranks that have not ended
	leavers    []int32 // ranks whose end the kernel has not heard of
	operators  map[operation]world.Operator
	errors     map[int32]returned       // the latest that ranks have heard of
	bursts     []cBurst                 // in C memory; nil if CPU times do not count
	samples    map[int32]*kernel.Sample // that ranks are in
	bound      bool                     // the engine's goroutine to its thread
	spoiled    bool                     // threads of a rank may have written to variables of other ranks: no rank is resumed
	turn       time.Time                // when the goroutine last gave way
	rest       vtime.Duration           // for each call of a skeleton
	groups     groups
	topologies topologies
	outgoing   blockCounts // of the latest alltoallv
	incoming   blockCounts
	named      namedCall // the call that a rank makes, or has made, for its errors
	posted     uintptr   // bytes of the posted calls that have been taken
}

// open makes the ranks.
func (b *body) open(n int) (err error) {
	if library := b.form.threads.OpenMP; library != "" && n > 1 {
		return fmt.Errorf("the ranks of an engine would share the settings and teams of %s: build with GCC, whose library of OpenMP they do not share, "+
			"or use an engine for each rank", library)
	}
	if b.images, err = b.takeImages(n); err != nil {
		return err
	}
	copied := b.form.options.copies(n, b.form.threads.Starts)
	b.engine, err = openEngine(b.images, n, b.k.First(), b.k.Target().Ranks(), b.form.stack, copied, b.form.argc, b.form.argv)
	if err != nil && !copied && b.form.options.Stacks == Automatic { // there is no room for as many, or nothing to guard them
		b.engine, err = openEngine(b.images, n, b.k.First(), b.k.Target().Ranks(), b.form.stack, true, b.form.argc, b.form.argv)
	}
	if err != nil {
		giveBack(b.images)
		return err
	}
	b.ranks, b.list, b.left = unsafe.Slice(b.engine.ranks, n), unsafe.Slice((*int32)(unsafe.Pointer(b.engine.list)), n), n
	if b.k.ClocksOnly() {
		b.engine.lazy = 1
	}
	b.k.Adopt(kernel.Customs{InRows: ofProgram, Lender: b, Names: world.Procedure.NameInC, Call: b.nameOf, HasLeft: b.hasLeft})
	b.engine.poll = cInt64(b.k.Target().PollTime())
	for lp := range int32(n) {
		if b.form.cancels {
			b.k.SetMayCancel(lp, true)
		}
	}
	if b.form.options.Label {
		b.engine.label = 1
	}
	if b.form.bound {
		b.engine.bound = 1
	}
	if b.form.threads.Ordered {
		b.engine.ordered = 1
	}
	b.engine.posts = -1
	if b.posts() {
		b.engine.posts = cInt64(min(longestPost, b.k.Target().EagerLimit()))
		b.engine.bare_posts = cInt64(b.k.Target().EagerLimit())
	}
	if b.k.Bursting() {
		err = b.measure()
	}
	if b.k.Sited() && err == nil {
		err = openSites(b.engine)
	}
	if t := b.form.options.Tasks; t != nil && err == nil {
		err = b.weigh(t)
	}
	gort.AddCleanup(b, func(own owned) { own.close() }, owned{b.engine, b.images})
	return err
}

// owned is the C memory and the images that a body gives back when nothing refers to it.
type owned struct {
	engine *cEngine
	images []*image
}

func (o owned) close() {
	if closeEngine(o.engine) {
		giveBack(o.images)
	}
}

// Resume implements [kernel.Body].
func (b *body) Resume(i int) bool {
	lp := int32(i)
	if b.k.HasFailed(lp) || !b.goesOn(lp) {
		return true
	}
	b.list[0] = lp
	b.run(1)
	goesOn := true
	for _, other := range b.leavers {
		if other == lp {
			goesOn = false
		} else {
			b.k.End(other)
		}
	}
	b.leavers = b.leavers[:0]
	return goesOn
}

// ResumeRange implements [kernel.RangeResumer]. A batch is run whole, also if a rank of it fails:
// the calls of the other ranks are made already.
func (b *body) ResumeRange(lo, hi int32) {
	k := b.k
	for stops := false; lo < hi && !k.Limited() && !stops; {
		n := 0
		for ; lo < hi && n < batch; lo++ {
			if b.goesOn(lo) {
				b.list[n] = lo
				n++
			}
		}
		k.Flush() // the ranks of other engines need not wait until these have computed
		stops = b.run(n)
		for _, lp := range b.leavers {
			k.End(lp)
		}
		b.leavers = b.leavers[:0]
	}
	k.SetRunning(world.None)
	k.Yield(lo, hi)
}

// takeReady appends ranks that are ready, whose places in the list come after the first n, and returns the number of all. They run together: a call of C
// takes as long as the messages of a rank. Their times on the host count by themselves.
func (b *body) takeReady(n int) int {
	for b.bursts == nil && n < min(batch, len(b.ranks)) {
		lp := b.k.NextReady()
		if lp == world.None {
			break
		}
		b.k.SetRunning(lp)
		if !b.k.HasFailed(lp) && b.goesOn(lp) {
			b.list[n] = lp
			n++
		}
	}
	return n
}

// run runs the ranks in the list until each waits or has ended. It reports whether a rank failed or was
// interrupted: the ranks that could go on are then ready, and the engine takes messages before they do.
func (b *body) run(n int) (stops bool) {
	k := b.k
	if b.form.bound {
		b.stayInThread()
	}
	for n > 0 {
		if b.bursts != nil || b.engine.lengthy != 0 {
			k.Flush() // other engines need not wait until these ranks have computed
		}
		for _, lp := range b.list[:n] {
			r := &b.ranks[lp]
			r.clock = cInt64(k.Clocks()[lp])
		}
		k.SetRunning(world.None)
		if b.bursts != nil {
			b.giveWay()
		}
		ran := resumeRanks(b.engine, n)
		b.posted = 0
		if b.engine.threads != 0 {
			b.stayInThread()
		}
		if b.engine.text_length > 0 {
			b.print()
		}
		again := 0
		if b.engine.stops != 0 {
			stops = true
			k.LookAround()
		}
		for i := range ran {
			lp := b.list[i]
			k.SetRunning(lp)
			if !b.takeCall(lp) || !b.goesOn(lp) {
				continue
			}
			if k.Limited() || stops {
				k.Yield(lp, lp+1)
				continue
			}
			b.list[again] = lp
			again++
		}
		if b.engine.by_thread.there != 0 {
			b.failForThread()
		}
		for _, lp := range b.list[ran:n] { // after a rank that stops
			k.Yield(lp, lp+1)
		}
		if n = again; !stops {
			n = b.takeReady(n)
		}
	}
	return stops
}

// turnLength is less than the 10 ms after which Go's monitor takes a goroutine that has not given way for a goroutine
// that computes for ever: it then takes the place of each burst that it finds in C, and looks for the next burst every
// 100 us, in place of every 10 ms.
const turnLength = 5 * time.Millisecond

// giveWay lets other goroutines run if the engine's has not for a while.
func (b *body) giveWay() {
	if now := time.Now(); now.Sub(b.turn) > turnLength {
		gort.Gosched()
		b.turn = now
	}
}

// stayInThread has the engine's goroutine stay in its thread until it ends.
func (b *body) stayInThread() {
	if !b.bound {
		gort.LockOSThread()
		b.bound = true
	}
}

// print hands on the output of ranks.
func (b *body) print() {
	text := textOf(b.engine)
	b.engine.text_length = 0
	b.k.Print("%s", []any{text})
}

// takeCall takes the call that a rank has made, or its end. It reports whether the rank may
// go on.
func (b *body) takeCall(lp int32) bool {
	k, r := b.k, &b.ranks[lp]
	posted := b.takePosts(lp)
	if posted && b.failsOrSettles(lp, r) {
		return !k.HasFailed(lp) && !(k.MayPause() && k.Pause(lp))
	}
	if r.polls != 0 {
		k.PolledInVain(lp, int(r.polls))
		r.polls = 0
	}
	if r.returned_by == byInterruption {
		b.stayInThread() // the rank's registers may hold addresses that belong to it
		k.SetAside(lp)
		return false
	}
	if r.polled_clock != 0 {
		k.Activity(lp)
	}
	if b.bursts != nil && !b.charge(lp, r) {
		return false
	}
	if b.rest > 0 && r.returned_by == byCall {
		b.payRest(lp, r)
	}
	if r.computed != 0 {
		d := vtime.Duration(r.computed)
		r.computed = 0
		if err := k.Compute(lp, d); err != nil {
			k.Fail(lp, world.Compute, err)
			return false
		}
	}
	if by := &b.engine.by_thread; by.there != 0 && int32(by.lp) == lp {
		b.failForThread()
	}
	if r.returned_by != byCall {
		b.leave(lp, r)
		return false
	}
	r.state = calls
	if b.form.options.Journal != nil {
		b.record(lp, r.call)
	}
	if posted && k.MayPause() && k.Pause(lp) {
		r.state = heldBack
		return false
	}
	return !k.HasFailed(lp) && b.begin(lp, r.call) && !(k.MayPause() && k.Pause(lp))
}

// leave ends a rank whose code has come to its end.
func (b *body) leave(lp int32, r *cRank) {
	k := b.k
	r.state = ended
	b.leavers = append(b.leavers, lp)
	flushLine(b.engine, lp)
	if b.engine.text_length > 0 {
		b.print()
	}
	switch b.left--; {
	case r.returned_by == bySignal:
		k.Fail(lp, world.NoProcedure, b.crash("the rank", "the rank's code", int(r.code)))
	case r.code != 0 && r.left == 0:
		k.Fail(lp, world.NoProcedure, exitCode(r))
	case r.initialized != 0 && r.left == 0:
		k.Fail(lp, world.NoProcedure, fmt.Errorf("the program ended without MPI_Finalize"))
	default:
		if r.code != 0 {
			k.EndsWith(lp, world.NoProcedure, exitCode(r))
		}
		if k.PostponeEnd(lp) {
			r.state = ending
			b.leavers = b.leavers[:len(b.leavers)-1]
		}
	}
	if b.left == 0 {
		releaseStacks(b.engine)
	}
}

func exitCode(r *cRank) error { return fmt.Errorf("the program ended with exit code %d", r.code) }

// hasLeft reports whether a rank has left MPI. Another goroutine may call it.
//
//go:norace
func (b *body) hasLeft(lp int32) bool { return lp != world.None && b.ranks[lp].left != 0 }

// Interrupted implements [kernel.Body]: no panic comes from C.
func (b *body) Interrupted(any) bool { return false }

// Ended implements [kernel.Body].
func (b *body) Ended(lp int32) bool { return b.ranks[lp].state >= ended && !b.k.HasFailed(lp) }

// LastCall implements [kernel.Body].
//
//go:norace
func (b *body) LastCall(lp int32) world.Procedure { return lastOf(&b.ranks[lp]) }

// Outside implements [kernel.Outsider].
//
//go:norace
func (b *body) Outside() (lp int32, where string) {
	if b.engine == nil {
		return world.None, ""
	}
	running := b.engine.running
	if running == nil {
		return world.None, ""
	}
	lp = int32((uintptr(unsafe.Pointer(running)) - uintptr(unsafe.Pointer(b.engine.ranks))) / unsafe.Sizeof(cRank{}))
	return lp, b.sleeps(int(b.engine.thread))
}

// Interrupt implements [kernel.Outsider]. A rank in a function of a library of the system's is asked again
// a little later.
//
//go:norace
func (b *body) Interrupt() bool {
	const (
		requests = 50
		between  = time.Millisecond
	)
	before := b.engine.interruptions
	for range requests {
		if b.engine.running == nil || !runs(int(b.engine.thread)) {
			return false
		}
		interruptRank(b.engine)
		time.Sleep(between)
		if b.engine.interruptions != before {
			return true
		}
	}
	return false
}

// Flush implements [kernel.Outsider].
func (b *body) Flush() { flushFiles() }

// Uncharged implements [kernel.Outsider].
func (b *body) Uncharged() world.Uncharged {
	const long = 50e3 // nanoseconds
	e := b.engine
	if e == nil {
		return world.Uncharged{}
	}
	return world.Uncharged{Code: int64(float64(e.ran) / float64(e.long_ticks) * long), Timeless: int64(e.timeless), Declared: e.declares != 0 || e.task_time > 0}
}

// Lend implements [p2p.Lender]. Only variables change places while their rank waits.
func (b *body) Lend(lp int32, memory []byte) { lendVariables(b.engine, lp, memory) }

// Stop implements [kernel.Body]. The stacks are given back without a look at their contents,
// as at the end of a process. After a failure another process may still read from the memory of a
// rank: then all memory stays until the transport lets go of the body.
func (b *body) Stop() {
	if b.engine != nil && !b.k.HoldsTails() {
		releaseStacks(b.engine)
	}
}
