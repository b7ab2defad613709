package bench

import (
	"fmt"
	"math"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// picalc integrates 4/(1+x²) from 0 to 1 by the midpoint rule. Its error with n
// intervals is 1/(12n²) and smaller terms.
var picalc = Entry{
	Name:     "picalc",
	Summary:  "integrates 4/(1+x²) on all ranks: broadcast, computing, reduction; prints pi and its error",
	Defaults: Options{Iterations: 1},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine},
	Build: func(o Options) (mpivirt.Program, error) {
		return mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return piMain(r, o) })}}, nil
	},
	Reads: "ranks compute for as many intervals as a broadcast tells them, and the result is pi",
	Collectives: func(Options) []mpivirt.Use {
		return []mpivirt.Use{{Operation: collectives.Bcast, Bytes: 8, Data: true}, {Operation: collectives.Reduce, Bytes: 8, Data: true}}
	},
}

const (
	piIntervals    = 100_000
	piIntervalTime = 5 * vtime.Nanosecond // of a rank, for each interval: a division
)

func piMain(r *mpivirt.Rank, o Options) error {
	world := r.World()
	n, own, pi, add := []int64{0}, []float64{0}, []float64{0}, mpivirt.Sum[float64]()
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		if r.Rank() == 0 {
			n[0] = piIntervals
		}
		if err := mpivirt.Bcast(world, n, 0); err != nil {
			return err
		}
		share, intervals := piShare(r.Rank(), r.Size(), int(n[0]))
		r.Compute(vtime.Duration(intervals) * piIntervalTime)
		own[0] = share
		if err := mpivirt.Reduce(world, own, pi, add, 0); err != nil {
			return err
		}
		r.Record(i, "pi", r.Now().Sub(start))
		if r.Rank() == 0 {
			if err := checkPi(pi[0], n[0]); err != nil {
				return err
			}
			r.Printf("pi is %.16f with %d intervals, error %.2e\n", pi[0], n[0], pi[0]-math.Pi)
		}
	}
	return nil
}

// piShare returns the integral over the intervals rank, rank+size, … of n, and their
// number.
func piShare(rank, size, n int) (share float64, intervals int) {
	h := 1 / float64(n)
	for i := rank; i < n; i += size {
		x := h * (float64(i) + 0.5)
		// The conversion keeps a compiler from fusing the product with the sum, which
		// would make the bits depend on the host.
		share += 4 / (1 + float64(x*x))
		intervals++
	}
	return share * h, intervals
}

// checkPi compares the result with the bound of the rule's error, max|f″|/(24n²) =
// 1/(3n²), and that of rounding.
func checkPi(pi float64, n int64) error {
	bound := 1/(3*float64(n)*float64(n)) + 1e-12
	if err := math.Abs(pi - math.Pi); !(err <= bound) {
		return fmt.Errorf("pi is %v with %d intervals: the error is %.2e, at most %.2e is right", pi, n, err, bound)
	}
	return nil
}
