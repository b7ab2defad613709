package bench

import (
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// barriertest times the barrier of all ranks.
var barriertest = Entry{
	Name:     "barriertest",
	Summary:  "all ranks compute, then meet in a barrier; times the barrier",
	Defaults: Options{Iterations: 10, Compute: vtime.Millisecond},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
	Build: func(o Options) (mpivirt.Program, error) {
		return mpivirt.Program{
			Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return barrierMain(r, o) }),
				steps.Main(func() steps.Program { return repeat(o.Iterations, barrierStep(o)) })},
		}, nil
	},
	Collectives: func(o Options) []mpivirt.Use {
		return []mpivirt.Use{{Operation: collectives.Barrier, Times: o.Iterations, Alone: true, Compute: o.evenly()}}
	},
	State: repeatedStateBytes,
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
func barrierStep(o Options) func(r *steps.Rank, iteration int) steps.Outcome {
	return func(r *steps.Rank, iteration int) steps.Outcome {
		if iteration == o.Iterations {
			return r.Finish()
		}
		r.Compute(o.Compute)
		return r.Timed(iteration, "barrier").Barrier()
	}
}
