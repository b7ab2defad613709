package kernel

import (
	"fmt"

	"gigarank/vtime"
)

func (k *Kernel) Compute(lp int32, d vtime.Duration) {
	if d < 0 {
		k.Die(lp, Compute, Errorf(ErrArgument, "a compute phase of %v: no time can be negative", d))
	}
	if k.processors != nil {
		k.Activity(lp)
		k.operate(lp, operation{kind: opCompute, length: d})
		return
	}
	end := k.Clock[lp].Add(k.lengthened(lp, k.Clock[lp], d))
	if end == vtime.Forever {
		k.Die(lp, Compute, endError("%v of computing", d))
	}
	k.Clock[lp] = end
	k.Activity(lp)
}

// lengthened returns how long a compute phase that an LP begins at t takes.
func (k *Kernel) lengthened(lp int32, t vtime.Time, d vtime.Duration) vtime.Duration {
	if k.noise != nil {
		d = k.noise.Extend(int(k.Global(lp)), t, d)
	}
	return d
}

// Print gives text to the output of the simulation, which may wait for its reader as
// long as it likes.
func (k *Kernel) Print(format string, arguments []any) {
	if k.config.Output != nil {
		text := fmt.Sprintf(format, arguments...)
		k.printing.Store(true)
		defer k.printing.Store(false)
		k.config.Output(text)
	}
}
