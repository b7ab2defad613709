package bench

import (
	"fmt"
	"strings"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// The programs that time one collective operation each, besides barriertest and
// allreducetest: all ranks repeat {compute; operation}. Only the size of the data is
// simulated, and the root is rank 0. Nothing but the operation itself keeps the ranks
// together. They enter the first one all at once, and each later one as the one before
// has released them, as in a code that repeats the operation. A tree then works like a
// pipeline: a rank that gets a message late finds it waiting the next time. So one
// repetition is the default.
var (
	bcasttest         = collectiveTest(collectives.Bcast, vectorBytes, "rank 0 broadcasts a vector; the payload is its size")
	reducetest        = collectiveTest(collectives.Reduce, vectorBytes, "vectors are summed at rank 0; the payload is the size of each")
	gathertest        = collectiveTest(collectives.Gather, blockBytes, "rank 0 gathers a block from every rank; the payload is the size of a block")
	scattertest       = collectiveTest(collectives.Scatter, blockBytes, "rank 0 gives every rank a block; the payload is the size of a block")
	allgathertest     = collectiveTest(collectives.Allgather, blockBytes, "every rank gathers a block from every rank; the payload is the size of a block")
	alltoalltest      = collectiveTest(collectives.Alltoall, blockBytes, "every rank gives every rank a block; the payload is the size of a block")
	reducescattertest = collectiveTest(collectives.ReduceScatter, blockBytes, "vectors of a block for every rank are summed, each rank gets its block; the payload is the size of a block")
	scantest          = collectiveTest(collectives.Scan, vectorBytes, "every rank gets the sum of the vectors up to its own; the payload is the size of each")
	exscantest        = collectiveTest(collectives.Exscan, vectorBytes, "every rank gets the sum of the vectors below its own; the payload is the size of each")
)

// Default payloads: 1024 doubles where ranks contribute a vector, one where they
// contribute a block for every rank.
const (
	vectorBytes = 1024 * 8
	blockBytes  = 8
)

// TimedBy returns the name of the program that times an operation: reducescattertest
// for reduce_scatter. Some operations have none.
func TimedBy(op collectives.Operation) string {
	return strings.ReplaceAll(op.String(), "_", "") + "test"
}

// collectiveTest returns the program of an operation. action describes the operation in
// the summary.
func collectiveTest(op collectives.Operation, payload int64, action string) Entry {
	return Entry{
		Name:     TimedBy(op),
		Summary:  fmt.Sprintf("all ranks compute, then %s; times the %s", action, op),
		Defaults: Options{Iterations: 1, Compute: vtime.Millisecond, Payload: payload},
		Forms:    []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
		Vectors:  true,
		Build: func(o Options) (mpivirt.Program, error) {
			return mpivirt.Program{
				Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return collectiveMain(r, op, o) }),
					steps.Main(func() steps.Program { return repeat(o.Iterations, collectiveStep(op, o)) })},
			}, o.checkElements()
		},
		Collectives: func(o Options) []mpivirt.Use {
			return []mpivirt.Use{{Operation: op, Bytes: o.Payload, Element: o.Datatype.Bytes(), Times: o.Iterations, Alone: true, Compute: o.evenly()}}
		},
		State: repeatedStateBytes,
	}
}

func collectiveMain(r *mpivirt.Rank, op collectives.Operation, o Options) error {
	world, name, element := r.World(), op.String(), max(o.Datatype.Bytes(), 1)
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		if err := world.CollectiveSizeOf(op, o.Payload, element, 0); err != nil {
			return err
		}
		r.Record(i, name, r.Now().Sub(start))
	}
	return nil
}

// collectiveStep is collectiveMain for one iteration.
func collectiveStep(op collectives.Operation, o Options) func(r *steps.Rank, iteration int) steps.Outcome {
	name, element := op.String(), max(o.Datatype.Bytes(), 1)
	return func(r *steps.Rank, iteration int) steps.Outcome {
		if iteration == o.Iterations {
			return r.Finish()
		}
		r.Compute(o.Compute)
		return r.Timed(iteration, name).CollectiveSizeOf(op, o.Payload, element, 0)
	}
}
