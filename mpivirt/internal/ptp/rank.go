package ptp

import (
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Compute advances the clock of an LP by d, lengthened by noise. It returns an error, without
// effect, if d is negative or the phase would end after the end of virtual time.
func (k *Messages) Compute(lp int32, d vtime.Duration) error {
	if d < 0 {
		return world.Errorf(world.ErrArgument, "a compute phase of %v: give a time of 0 or more", d)
	}
	if k.Processors != nil {
		k.Activity(lp)
		k.Processors.Operate(lp, resource.Operation{Need: resource.CPU, Kind: opCompute, Length: d})
		return nil
	}
	end := k.Clock[lp].Add(k.lengthened(lp, k.Clock[lp], d))
	if end == vtime.Forever {
		return world.EndError("%v of computing", d)
	}
	if k.InCalls {
		k.computes(lp, k.Clock[lp], end)
	}
	if k.Activities != nil {
		k.Computed(vtime.Duration(end - k.Clock[lp]))
	}
	k.Clock[lp] = end
	k.Activity(lp)
	return nil
}

// lengthened returns the length, with noise, of a compute phase that an LP starts at t.
func (k *Messages) lengthened(lp int32, t vtime.Time, d vtime.Duration) vtime.Duration {
	if k.noise != nil {
		d = k.noise.Extend(int(k.Global(lp)), t, d)
	}
	return d
}

// Noise lengthens compute phases. It must be a pure function of its arguments.
type Noise interface {
	// Extend returns the length, with noise, of a compute phase of length d that a rank
	// starts at t.
	Extend(rank int, t vtime.Time, d vtime.Duration) vtime.Duration
}
