package mpivirt

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// With [Config].Bursts the CPU time that a rank's code takes between MPI calls counts as
// computing. The methods here say which code counts. Without Bursts they have no effect on
// virtual time.

// burstState is a set of states of a rank's burst.
type burstState uint8

const (
	unpaid   burstState = 1 << iota // CPU time is not charged; see ChargeCPU
	sampling                        // the rank is within Sample
	ended                           // the burst has been charged already, for the call that is being made
)

// endBurst charges the rank's burst, which ends with a call. Such a call cannot be part of a
// sample.
func (r *Rank) endBurst(c world.Procedure) {
	switch {
	case r.burst&ended != 0:
		r.burst &^= ended
		return
	case r.burst&sampling != 0:
		r.burst &^= sampling
		r.die(c, world.Errorf(world.ErrOther, "an MPI call within Sample: let the sampled function only compute"))
	case r.burst&unpaid != 0:
		return
	}
	d, err := r.k.StopBurst(r.lp)
	r.charge(c, d, err)
}

// charge advances the rank's clock by a burst, or ends the program with the error of its
// source.
func (r *Rank) charge(c world.Procedure, d vtime.Duration, err error) {
	if err == nil {
		err = r.k.ChargeBurst(r.lp, d)
	}
	if err != nil {
		r.die(c, err)
	}
}

// ChargeCPU says whether the CPU time of the rank's code from here on counts as computing.
// At the start it does. It has an effect only in a simulation that charges CPU times.
func (r *Rank) ChargeCPU(on bool) {
	r.own()
	if !r.k.Bursting() || on == (r.burst&unpaid == 0) {
		return
	}
	if on {
		r.burst &^= unpaid
	} else {
		r.endBurst(r.lastCall)
		r.burst |= unpaid
	}
	r.k.StartBurst()
}

// Sample runs a function that only computes, as SMPI's SMPI_SAMPLE_LOCAL does. In a
// simulation that charges CPU times, each rank runs the function of a name n times and is
// charged the time that it takes. From then on the function is not run: the rank is charged
// the mean. Otherwise Sample always runs it. An MPI call in the function is an error. An n
// below 1 counts as 1.
func (r *Rank) Sample(name string, n int, f func()) {
	r.own()
	if !r.k.Bursting() || r.burst&unpaid != 0 {
		f()
		return
	}
	r.endBurst(r.lastCall)
	s := r.k.SampleOf(r.lp, name)
	if s.Times < max(n, 1) {
		r.burst |= sampling
		r.k.StartBurst()
		f()
		r.burst &^= sampling
		d, err := r.k.StopBurst(r.lp)
		s.Add(d)
		r.charge(r.lastCall, d, err)
	} else {
		d, err := r.k.GiveBurst(r.lp, s.Mean())
		r.charge(r.lastCall, d, err)
	}
	r.k.StartBurst()
}
