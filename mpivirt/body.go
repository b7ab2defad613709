package mpivirt

import "gigarank/lp"

// body runs the ranks of a partition, all of one kind. It is used by the goroutine that
// runs the engine.
type body interface {
	// Resume runs an LP, whose wait is over, until it waits again. It reports whether the LP
	// goes on: false once it has ended. Stop unwinds the LPs that have not.
	lp.Body
	// ResumeRange runs LPs lo to hi-1, which leave a collective or begin, and ends those that
	// come to their end. When one fails, the rest is made ready instead.
	ResumeRange(lo, hi int32)
	// Ended reports, when the run is over, whether an LP has come to its end.
	Ended(lp int32) bool
	// LastCall returns the MPI call that an LP has made last. Another goroutine may ask while
	// the engine's stands still.
	LastCall(lp int32) call
}

// goroutines are ranks that run as coroutines.
type goroutines struct {
	*lp.Goroutines
	k     *kernel
	ranks []Rank // side by side, since they are resumed in turn
}

// newGoroutines makes the ranks of a partition. made is told now and then how many there
// are.
func newGoroutines(k *kernel, made func(n int)) *goroutines {
	g := &goroutines{k: k, ranks: reserve[Rank](k, k.n)}
	g.Goroutines = lp.NewGoroutines(k.n, g.run, made)
	return g
}

// ahead is how many resumptions before its own an LP's stack is fetched: enough for
// memory to answer, few enough to stay in the L1 cache.
const ahead = 4

// Resume implements body.
func (g *goroutines) Resume(i int) bool {
	more := g.Goroutines.Resume(i)
	if k := g.k; k.limited() && k.failing.failed[int32(i)] && more {
		k.swallowed(int32(i)) // it has gone on after its own failure
	}
	return more
}

// ResumeRange implements body.
func (g *goroutines) ResumeRange(lo, hi int32) {
	k := g.k
	for i := lo; i < hi; i++ {
		if next := i + ahead; next < hi {
			g.Expect(int(next))
		}
		k.running = i
		if !g.Goroutines.Resume(int(i)) {
			k.end(i)
		} else if k.limited() && k.failing.failed[i] {
			k.swallowed(i)
		}
		if k.limited() {
			k.eng.ReadyRange(int(i+1), int(hi))
			return
		}
	}
}

// Ended implements body.
func (g *goroutines) Ended(i int32) bool { return g.Goroutines.Ended(int(i)) }

// LastCall implements body.
//
//go:norace
func (g *goroutines) LastCall(i int32) call { return g.ranks[i].call }
