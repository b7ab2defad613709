package bench

import (
	"gigarank/collectives"
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
			Main:  func(r *mpivirt.Rank) error { return barrierMain(r, o) },
			Event: func() mpivirt.EventProgram { return repeat(o.Iterations, barrierStep(o)) },
		}, nil
	},
	Collectives: []collectives.Operation{collectives.Barrier},
	State:       repeatedStateBytes,
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

// barrierStep is barrierMain for one iteration.
func barrierStep(o Options) func(r *mpivirt.EventRank, iteration int) mpivirt.Outcome {
	return func(r *mpivirt.EventRank, iteration int) mpivirt.Outcome {
		if iteration == o.Iterations {
			return r.Finish()
		}
		r.Compute(o.Compute)
		return r.Timed(iteration, "barrier").Barrier()
	}
}
