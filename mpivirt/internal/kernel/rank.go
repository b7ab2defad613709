package kernel

import (
	"fmt"

	"gigarank/vtime"
)

// Compute has an LP compute for d, lengthened by noise. It returns an error, and does
// nothing, if d is negative or the phase would end after the end of virtual time.
func (k *Kernel) Compute(lp int32, d vtime.Duration) error {
	if d < 0 {
		return Errorf(ErrArgument, "a compute phase of %v: no time can be negative", d)
	}
	if k.processors != nil {
		k.Activity(lp)
		k.operate(lp, operation{kind: opCompute, length: d})
		return nil
	}
	end := k.Clock[lp].Add(k.lengthened(lp, k.Clock[lp], d))
	if end == vtime.Forever {
		return endError("%v of computing", d)
	}
	k.Clock[lp] = end
	k.Activity(lp)
	return nil
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
