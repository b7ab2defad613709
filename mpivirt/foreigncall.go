package mpivirt

import (
	"runtime"
	"strings"

	"gigarank/mpivirt/internal/world"
)

// endForeignCall ends the code that makes an MPI call in the place of r, which does not run. If it
// is another rank's code, that rank fails. If it is a goroutine that belongs to no rank, r
// fails.
func (r *Rank) endForeignCall(c world.Procedure) {
	if r.k.Closed() {
		runtime.Goexit() // in a deferred call of a rank that is unwound
	}
	stack := make([]byte, 1<<16)
	if strings.Contains(string(stack[:runtime.Stack(stack, false)]), "mpivirt.newGoroutines.func1(") {
		world.Throw(world.Errorf(ErrComm, "the rank has used a communicator, a request or the like of rank %d%s: "+
			"a rank uses its own only (docs/programs.md)", r.Rank(), c.In()))
	}
	r.k.Foreign(r.lp, c)
	runtime.Goexit()
}
