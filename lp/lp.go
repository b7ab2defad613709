package lp

import (
	"iter"
	"runtime"
	"strings"
	"unsafe"
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

// reportEvery is the number of LPs made between two reports.
const reportEvery = 1 << 16

// Goroutines are LPs that run as coroutines.
type Goroutines struct {
	next []func() (struct{}, bool)
	stop []func()
	// stack address at which an LP last waited; stale once the runtime has moved the
	// stack
	top []uintptr
}

// NewGoroutines makes n LPs. main(i, self) is the body of LP i and calls self.Wait to
// suspend itself. An LP begins to run when it is resumed for the first time.
//
// A panic in main comes out of Resume. A main that ends by [runtime.Goexit] would also
// end the goroutine that called Resume: a deferred call of main prevents that by a Wait
// that never returns. NewGoroutines calls made now and then with the number of LPs made
// so far.
func NewGoroutines(n int, main func(i int, self Coroutine), made func(n int)) *Goroutines {
	g := &Goroutines{next: make([]func() (struct{}, bool), n), stop: make([]func(), n), top: make([]uintptr, n)}
	for i := range n {
		g.next[i], g.stop[i] = iter.Pull(func(yield func(struct{}) bool) { main(i, Coroutine{yield, &g.top[i]}) })
		if i%reportEvery == reportEvery-1 {
			made(i + 1)
		}
	}
	return g
}

// Coroutine suspends an LP that runs as a coroutine.
type Coroutine struct {
	yield func(struct{}) bool
	top   *uintptr
}

// Wait suspends the LP until it is resumed. Only the LP itself may call it. When Stop
// unwinds the LP, Wait ends by [runtime.Goexit]: deferred calls run, and none can
// recover from it.
func (c Coroutine) Wait() {
	var here byte
	*c.top = uintptr(unsafe.Pointer(&here))
	if !c.yield(struct{}{}) {
		runtime.Goexit()
	}
}

// Astray reports whether the caller runs on a goroutine that is not an LP's. A
// goroutine that LP code has started must not suspend the LP. Astray walks the stack
// only if the caller's frame is far from that of the LP's last Wait. Before the first
// Wait it returns false.
func (c Coroutine) Astray() bool {
	var here byte
	at := *c.top
	return at != 0 && uintptr(unsafe.Pointer(&here))-at+near > 2*near && !onCoroutine()
}

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
	_, alive := g.next[i]()
	if !alive {
		// The coroutine's stack is free from here on; so is what it closed over.
		g.next[i], g.stop[i] = nil, nil
	}
	return alive
}

// Ended reports whether LP i has come to its end.
func (g *Goroutines) Ended(i int) bool { return g.next[i] == nil }

// Expect prefetches the stack of LP i, which will be resumed soon. The stack of an LP
// that has waited long is in no cache. Without the prefetch, the way back from its wait
// misses the cache line by line.
func (g *Goroutines) Expect(i int) { prefetch(g.top[i]) }

// Stop implements Body.
func (g *Goroutines) Stop() {
	for i, stop := range g.stop {
		if stop != nil {
			unwind(stop)
			g.next[i], g.stop[i] = nil, nil
		}
	}
}

// unwind ends a suspended LP on a goroutine of its own, since the LP's Goexit ends that
// too. It passes on a panic.
func unwind(stop func()) {
	unwound := make(chan any)
	go func() {
		defer func() { unwound <- recover() }()
		stop()
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
