package kernel

import "gigarank/mpivirt/internal/world"

// listed is a program in which each rank makes the same calls, one after the other. A call
// reports whether it is over.
type listed []func(k *Kernel, lp int32) bool

var listedKind = &Kind{Name: "listed"}

// Kind implements [Form].
func (p listed) Kind() *Kind { return listedKind }

// Body implements [Form].
func (p listed) Body(k *Kernel, n int) Body {
	return &listedRanks{k: k, program: p, made: make([]int, n)}
}

// listedRanks is the body of a partition.
type listedRanks struct {
	k       *Kernel
	program listed
	made    []int // by LP: the calls that it has made
}

// Resume implements body.
func (r *listedRanks) Resume(i int) bool {
	for r.made[i] < len(r.program) {
		r.made[i]++
		if !r.program[r.made[i]-1](r.k, int32(i)) {
			return true
		}
	}
	return false
}

// Interrupted implements body.
func (r *listedRanks) Interrupted(any) bool { return false }

// Ended implements body.
func (r *listedRanks) Ended(lp int32) bool { return r.made[lp] == len(r.program) && !r.k.IsBlocked(lp) }

// LastCall implements body.
func (r *listedRanks) LastCall(int32) world.Procedure { return world.NoProcedure }

// Stop implements body.
func (r *listedRanks) Stop() {}

// enterBarrier is a call of the barrier of WORLD.
func enterBarrier(k *Kernel, lp int32) bool {
	return k.Submit(lp, k.Compose(world.Barrier, k.collectives.Communicators.At(world.World), k.partition.Global(lp)).Enters(&k.collectives.Barrier, nil))
}
