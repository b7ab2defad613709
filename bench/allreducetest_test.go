package bench_test

import (
	"testing"

	"gigarank/collectives"
	"gigarank/lp"
)

// Both forms sum a vector that the algorithm cuts into a block for each rank, by
// messages between engines too; the program checks the sum.
func TestAllreduceOfSeveralBlocks(t *testing.T) {
	for _, a := range collectives.Algorithms(collectives.Allreduce) {
		for _, engines := range []int{1, 2} {
			c := options(2, 8*48)
			c.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}
			want := run(t, "allreducetest", "xt5", 20, engines, c)
			c.LP = lp.Event
			got := run(t, "allreducetest", "xt5", 20, engines, c)
			if err := sameOutcome(got, want); err != nil {
				t.Errorf("%s on %d engines: event ranks: %v", a, engines, err)
			}
		}
	}
}
