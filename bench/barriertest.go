package bench

import (
	"gigarank/lp"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// barriertest times the barrier of all ranks.
var barriertest = Entry{
	Name:     "barriertest",
	Summary:  "all ranks compute, then meet in a barrier; times the barrier",
	Defaults: Options{Iterations: 10, Compute: vtime.Millisecond},
	Forms:    []lp.Kind{lp.Goroutine, lp.Event},
	Build: func(o Options) (mpivirt.Program, error) {
		return mpivirt.Program{
			Main: func(r *mpivirt.Rank) error { return barrierMain(r, o) },
			Event: func() mpivirt.EventProgram {
				p := &barrierSteps{o}
				return mpivirt.Steps(p.step)
			},
		}, nil
	},
	State: timedStateBytes,
}

func barrierMain(r *mpivirt.Rank, o Options) error {
	world := r.World()
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		if err := world.Barrier(); err != nil {
			return err
		}
		r.Record(i, "barrier", r.Now().Sub(start))
	}
	return nil
}

// timedState is the state of an event rank that repeats a timed operation: how
// often it has begun it, and when last. Two words of 32 bits hold the instant, so
// that the struct has no padding.
type timedState struct {
	begun, startLow, startHigh uint32
}

const timedStateSize = 12

func timedStateBytes(kind lp.Kind, _ Options) int64 {
	if kind == lp.Event {
		return timedStateSize
	}
	return 0
}

// start notes that an operation begins at t.
func (s *timedState) start(t vtime.Time) {
	s.begun++
	s.startLow, s.startHigh = uint32(t), uint32(t>>32)
}

// end returns the number of the operation that was begun last, from 0, and how
// long it took until t.
func (s *timedState) end(t vtime.Time) (index int, d vtime.Duration) {
	return int(s.begun) - 1, t.Sub(vtime.Time(s.startHigh)<<32 | vtime.Time(s.startLow))
}

// barrierSteps is barrierMain as steps.
type barrierSteps struct{ Options }

func (p *barrierSteps) step(r *mpivirt.EventRank, s *timedState) mpivirt.Outcome {
	if s.begun > 0 {
		index, d := s.end(r.Now())
		r.Record(index, "barrier", d)
		if int(s.begun) == p.Iterations {
			return r.Finish()
		}
	}
	r.Compute(p.Compute)
	s.start(r.Now())
	return r.Barrier()
}
