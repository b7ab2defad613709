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
	Forms:    []lp.Kind{lp.Goroutine},
	Build: func(o Options) (mpivirt.Program, error) {
		return mpivirt.Program{Main: func(r *mpivirt.Rank) error { return barrierMain(r, o) }}, nil
	},
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
