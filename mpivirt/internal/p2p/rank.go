package p2p

import (
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Compute advances the clock of an LP by d, lengthened by noise, in a call of a procedure. It returns an error, without
// effect, for a negative d, and for a phase that would end after the end of virtual time.
func (m *Messages) Compute(lp int32, d vtime.Duration, c world.Procedure) error {
	if d < 0 {
		return world.Errorf(world.ErrArgument, "a compute phase of %v: give a time of 0 or more", d)
	}
	if m.Processors != nil {
		m.Activity(lp)
		m.Processors.Operate(lp, resource.Operation{Need: resource.CPU, Kind: opCompute, Procedure: c, Length: d})
		return nil
	}
	end := m.Partition.Clock[lp].Add(m.lengthened(lp, m.Partition.Clock[lp], d))
	if end == vtime.Forever {
		return world.EndError("%v of computing", d)
	}
	if m.InCalls {
		m.computes(lp, m.Partition.Clock[lp], end)
	}
	if m.Partition.Activities != nil {
		m.Computed(vtime.Duration(end - m.Partition.Clock[lp]))
	}
	m.Partition.Clock[lp] = end
	m.Activity(lp)
	return nil
}

// lengthened returns the length, with noise, of a compute phase that an LP starts at t.
func (m *Messages) lengthened(lp int32, t vtime.Time, d vtime.Duration) vtime.Duration {
	if m.noise != nil {
		d = m.noise.Extend(int(m.Partition.Global(lp)), t, d)
	}
	return d
}

// Noise lengthens compute phases. It must be a pure function of its arguments.
type Noise interface {
	// Extend returns the length, with noise, of a compute phase of length d that a rank
	// starts at t.
	Extend(rank int, t vtime.Time, d vtime.Duration) vtime.Duration
}
