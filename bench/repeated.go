package bench

import (
	"math"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
)

// repeat returns a program of event ranks that take a step for each iteration, and one
// more that ends the rank. A rank stores only the number of steps that it has taken, in
// two bytes where they suffice.
func repeat(iterations int, step func(r *steps.Rank, iteration int) steps.Outcome) steps.Program {
	if iterations < math.MaxUint16 {
		return repeated[uint16](step)
	}
	return repeated[uint64](step)
}

func repeated[S uint16 | uint64](step func(r *steps.Rank, iteration int) steps.Outcome) steps.Program {
	return steps.New(func(r *steps.Rank, taken *S) steps.Outcome {
		*taken++
		return step(r, int(*taken-1))
	})
}

// repeatedStateBytes is the State of programs made by repeat.
func repeatedStateBytes(kind *mpivirt.Kind, o Options) float64 {
	switch {
	case kind != steps.Kind:
		return 0
	case o.Iterations < math.MaxUint16:
		return 2
	default:
		return 8
	}
}
