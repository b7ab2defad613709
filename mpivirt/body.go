package mpivirt

import (
	"gigarank/lp"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// Goroutine is the kind of ranks that are ordinary Go code.
var Goroutine = kernel.RegisterKind(Kind{
	Name: "goroutine", Summary: "a rank is ordinary Go code on a stack of its own",
	Growth: 2048, // a stack doubles
	Stack:  2840, // the stack, and what the runtime keeps of the goroutine and its coroutine
	Bytes:  3000, // a stack of 2 KB, the coroutine, and what a rank holds of WORLD
	Engine: 11 << 10,
	Time:   400, // two switches; measured by scripts/forecast

	Prepare: lp.TouchPages,

	Measurable: true, Sited: true,
})

// Main returns the form of a program for goroutine ranks, from the body of every rank. An
// error of the body ends the simulation.
func Main(body func(r *Rank) error) Form { return mainForm(body) }

type mainForm func(r *Rank) error

// Kind implements [Form].
func (f mainForm) Kind() *Kind { return Goroutine }

// Body implements [Form].
func (f mainForm) Body(k *kernel.Kernel, n int) kernel.Body {
	return newGoroutines(k, n, f)
}

// goroutines are ranks that run as coroutines.
type goroutines struct {
	*lp.Goroutines
	k      *kernel.Kernel
	main   func(r *Rank) error
	ranks  []Rank // side by side, since they are resumed in turn
	handed int32  // LP whose call the engine submits while the LP waits; None else
}

// newGoroutines makes the n ranks of a partition.
func newGoroutines(k *kernel.Kernel, n int, main func(r *Rank) error) *goroutines {
	g := &goroutines{k: k, main: main, ranks: kernel.Reserve[Rank](k, n), handed: world.None}
	// The body of an LP. Its frame lies beneath all of the rank's: what needs room is called and
	// not inlined, since stacks are small. A method would lie beneath a frame of its value, too.
	g.Goroutines = lp.NewGoroutines(n, func(i int, self lp.Coroutine) {
		r := g.open(i, self)
		defer r.left()
		r.end(g.main(r))
	})
	if k.Alone() { // Prepare has collected otherwise, and its memory is for stacks
		g.HoldCollector()
	}
	return g
}

// ahead is the number of resumptions by which an LP's stack is prefetched. It covers the
// latency of memory, and the stacks fit into the L1 cache.
const ahead = 4

// PrefetchAhead prefetches the memory that Prefetch and a resumption read first of LP i.
func (g *goroutines) PrefetchAhead(i int) {
	world.Prefetch(&g.ranks[i])
	g.Goroutines.PrefetchAhead(i)
}

// Resume implements [lp.Body].
func (g *goroutines) Resume(i int) bool {
	more := g.resume(int32(i))
	if k := g.k; more && k.HasFailed(int32(i)) {
		k.Swallowed(int32(i))
	}
	return more
}

// resume runs a rank until it waits for something other than the submission of a call. It returns
// false once the rank has ended, with all that it has begun.
func (g *goroutines) resume(i int32) bool {
	r := &g.ranks[i]
	for g.Goroutines.Resume(int(i)) {
		if !r.submits {
			return true
		}
		r.submits, g.handed = false, i
		r.waits = !g.k.Submit(i, g.k.Composed())
		if g.handed = world.None; r.waits {
			return true
		}
	}
	return !g.k.HasFailed(i) && g.k.PostponeEnd(i)
}

// ResumeRange implements [kernel.RangeResumer].
func (g *goroutines) ResumeRange(lo, hi int32) {
	k := g.k
	for i := lo; i < hi; i++ {
		if next := i + ahead; next < hi {
			g.Prefetch(int(next))
		}
		k.SetRunning(i)
		if !g.resume(i) {
			k.End(i)
		} else if k.HasFailed(i) {
			k.Swallowed(i)
		}
		if k.Limited() {
			k.Yield(i+1, hi)
			return
		}
	}
}

// Interrupted implements [kernel.Body]. No panic leaves a coroutine.
func (g *goroutines) Interrupted(any) bool { return false }

// Ended implements [kernel.Body].
func (g *goroutines) Ended(i int32) bool { return g.Goroutines.Ended(int(i)) && !g.k.Behind(i) }

// LastCall implements [kernel.Body].
//
//go:norace
func (g *goroutines) LastCall(i int32) world.Procedure { return g.ranks[i].lastCall }
