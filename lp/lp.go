package lp

import (
	"iter"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"gigarank/internal/prefetch"
)

// Body holds the control flow of LPs 0 to n-1 of one partition.
type Body interface {
	// Resume runs LP i until it must wait. It reports whether the LP goes on:
	// false once it has finished.
	Resume(i int) bool
	// Stop unwinds the LPs that have not finished. No LP may be resumed after
	// it.
	Stop()
}

// Goroutines are LPs that run as coroutines. An LP takes a coroutine when it begins. One whose
// LP has ended goes to an LP that has not begun, with the stack that it has.
type Goroutines struct {
	lps     []coroutine
	main    func(i int, self Coroutine)
	enter   func(yield func(struct{}) bool) // the function of each coroutine
	begins  int                             // the LP that begins in the coroutine that is resumed; none: it ends
	unbegun int                             // LPs that have not begun
	ballast *strings.Builder                // see HoldCollector; nil if there is none
	spare   []func() (struct{}, bool)       // resume coroutines without an LP, no more than LPs that have not begun
}

// coroutine is what is kept of an LP. descriptor and pull say where what a switch to the
// LP touches lies; they are never followed.
type coroutine struct {
	next       func() (struct{}, bool)
	yield      func(struct{}) bool
	top        uintptr // stack address at which it last waited, stale once the runtime has moved the stack; unwinding, over, taken or asked
	descriptor uintptr // of its goroutine
	pull       uintptr // the state that iter.Pull keeps of it
}

// These stand in place of the stack address.
const (
	unwinding = 1 // of an LP that Stop ends
	over      = 2 // of an LP that has ended
	taken     = 3 // of an LP that has not waited yet, with a coroutine that other LPs had before
	asked     = 4 // of an LP that Visit resumes
)

// visits holds, by the LP that Visit resumes, the function that it calls.
var visits sync.Map

// none is the number of no LP.
const none = -1

// NewGoroutines makes n LPs. main(i, self) is the body of LP i and calls self.Wait to
// suspend itself. An LP begins to run when it is resumed for the first time.
//
// A panic in main comes out of Resume. A main that ends by [runtime.Goexit] would also
// end the goroutine that called Resume: a deferred call of main prevents that by a Wait
// that never returns.
//
// Inlined, it would give its function literal, which enters an LP, another name; see entry.
//
//go:noinline
func NewGoroutines(n int, main func(i int, self Coroutine)) *Goroutines {
	g := &Goroutines{lps: make([]coroutine, n), main: main, unbegun: n}
	g.enter = func(yield func(struct{}) bool) {
		for g.begins != none { // its frame lies beneath all of the LP's, so it holds little
			lp := g.entered(yield)
			g.main(g.begins, Coroutine{lp})
			if lp.top = over; len(g.spare) >= g.unbegun {
				return
			}
			yield(struct{}{})
		}
	}
	return g
}

// entered returns the LP that begins in the calling coroutine.
//
//go:noinline
func (g *Goroutines) entered(yield func(struct{}) bool) *coroutine {
	lp := &g.lps[g.begins]
	lp.yield, lp.descriptor = yield, descriptor()
	return lp
}

// address returns the address of the variables that a function value has captured.
func address[F func() (struct{}, bool) | func(struct{}) bool](f F) uintptr {
	return *(*uintptr)(unsafe.Pointer(&f))
}

// captured returns the first variable that a function value has captured, as a number.
func captured(f func() (struct{}, bool)) uintptr {
	return (**(**[2]uintptr)(unsafe.Pointer(&f)))[1]
}

// Coroutine suspends an LP that runs as a coroutine.
type Coroutine struct{ lp *coroutine }

// Wait suspends the LP until it is resumed. Only the LP itself may call it. When Stop
// unwinds the LP, Wait ends by [runtime.Goexit]: deferred calls run, and none can
// recover from it.
func (c Coroutine) Wait() {
	var here byte
	if c.lp.top != unwinding {
		c.lp.top = uintptr(unsafe.Pointer(&here))
		c.lp.yield(struct{}{})
	}
	if c.lp.top <= asked {
		c.resumedToEnd()
	}
}

// resumedToEnd calls the functions of visits, and waits again after each. When Stop unwinds the LP, it ends the LP.
func (c Coroutine) resumedToEnd() {
	for c.lp.top == asked {
		visit, _ := visits.LoadAndDelete(c.lp)
		visit.(func())()
		c.lp.yield(struct{}{})
	}
	if c.lp.top == unwinding {
		runtime.Goexit()
	}
}

// Taken reports whether the LP has the coroutine of an LP that has ended, and so a stack with room for
// what that called. It is for an LP that has not waited.
func (c Coroutine) Taken() bool { return c.lp.top == taken }

// Astray reports whether the caller runs on a goroutine that is not an LP's. A
// goroutine that LP code has started must not suspend the LP. Astray walks the stack
// only if the caller's frame is far from that of the LP's last Wait. Before the first
// Wait it returns false, and also for a goroutine on the stack that the LP has outgrown
// since.
func (c Coroutine) Astray() bool {
	var here byte
	return uintptr(unsafe.Pointer(&here))-c.lp.top+near > 2*near && c.outside()
}

// outside reports whether the LP has waited before and the caller runs on another goroutine. It is
// not inlined, so that Astray is.
//
//go:noinline
func (c Coroutine) outside() bool { return c.lp.top > asked && !onCoroutine() }

// Foreign is Astray without the shortcut: it always walks the stack.
func (c Coroutine) Foreign() bool { return !onCoroutine() }

// near is the usual distance, in bytes, between the frames on an LP's stack that
// suspend it. A larger distance, as after the runtime has moved the stack, makes Astray
// walk the stack.
const near = 1 << 10

// onCoroutine reports whether the caller runs beneath the entry of an LP. For a stack
// of 64 frames or more it returns true without a look.
func onCoroutine() bool {
	var callers [64]uintptr
	n := runtime.Callers(1, callers[:])
	if n == len(callers) {
		return true
	}
	for _, pc := range callers[max(n-8, 0):n] {
		if f := runtime.FuncForPC(pc - 1); f != nil && strings.HasPrefix(f.Name(), entry) {
			return true
		}
	}
	return false
}

// entry is the beginning of the name of the function that enters an LP.
const entry = "gigarank/lp.NewGoroutines"

// Resume implements Body.
func (g *Goroutines) Resume(i int) bool {
	lp := &g.lps[i]
	if lp.next == nil {
		g.begin(i)
	}
	_, alive := lp.next()
	if lp.top != over {
		return true
	}
	if alive {
		g.spare = append(g.spare, lp.next)
	}
	*lp = coroutine{top: over} // the variables that the LP closed over are free from here on
	return false
}

// Visit calls a function on the stack of LP i, which waits: beneath it are the calls by which the LP has come to its Wait. The LP
// waits on.
func (g *Goroutines) Visit(i int, f func()) {
	if lp := &g.lps[i]; lp.next != nil && lp.top != over {
		top := lp.top
		visits.Store(lp, f)
		lp.top = asked
		lp.next()
		lp.top = top
	}
}

// begin gives LP i a coroutine, which enters it.
//
//go:noinline
func (g *Goroutines) begin(i int) {
	lp := &g.lps[i]
	if last := len(g.spare) - 1; last >= 0 {
		lp.next, g.spare[last] = g.spare[last], nil
		g.spare, lp.top = g.spare[:last], taken
	} else {
		lp.next, _ = iter.Pull(g.enter)
	}
	lp.pull = captured(lp.next)
	if g.unbegun--; g.unbegun == 0 {
		g.ballast = nil
	}
	g.endSpare(g.unbegun)
	g.begins = i
}

// endSpare ends the coroutines without an LP but for so many.
func (g *Goroutines) endSpare(left int) {
	for g.begins = none; len(g.spare) > left; {
		last := len(g.spare) - 1
		g.spare[last]()
		g.spare[last] = nil
		g.spare = g.spare[:last]
	}
}

// Ended reports whether LP i has come to its end.
func (g *Goroutines) Ended(i int) bool { return g.lps[i].top == over }

// Prefetch prefetches the memory that a switch to LP i touches. The call is of use some hundred
// nanoseconds before Resume: the memory of an LP that has waited long is in no cache,
// and the way into it and back from its wait would miss the cache line by line.
func (g *Goroutines) Prefetch(i int) {
	lp := &g.lps[i]
	prefetch.Coroutine(lp.top, lp.descriptor, lp.pull, address(lp.next), address(lp.yield))
}

// PrefetchAhead prefetches the memory that Prefetch reads of LP i.
func (g *Goroutines) PrefetchAhead(i int) {
	lp := &g.lps[i]
	prefetch.Ends(uintptr(unsafe.Pointer(lp)), unsafe.Sizeof(*lp)-1)
}

// Stop implements Body.
func (g *Goroutines) Stop() {
	g.unbegun, g.ballast = 0, nil
	g.endSpare(0)
	for i := range g.lps {
		if lp := &g.lps[i]; lp.next != nil {
			lp.top = unwinding
			unwind(lp.next)
			*lp = coroutine{top: over}
		}
	}
}

// unwind resumes an LP that ends, on a goroutine of its own, since the LP's Goexit ends that
// too. It passes on a panic.
func unwind(next func() (struct{}, bool)) {
	unwound := make(chan any)
	go func() {
		defer func() { unwound <- recover() }()
		next()
	}()
	if r := <-unwound; r != nil {
		panic(r)
	}
}

// Steps are LPs without a stack: Steps(i) runs LP i until it must wait and
// reports whether it goes on.
type Steps func(i int) bool

// Resume implements Body.
func (s Steps) Resume(i int) bool { return s(i) }

// Stop implements Body. Nothing has to be unwound.
func (s Steps) Stop() {}
