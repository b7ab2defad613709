//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/vtime"
)

// Each rank computes for as many milliseconds as its number and one, times the number of the iteration.
const phased = `#include <mpi.h>
#include <gigarank.h>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	gigarank_compute(0.5);
	MPI_Pcontrol(0);
	for (int i = 0; i < 3; i++) {
		gigarank_phase("step");
		gigarank_compute(1e-3 * (rank + 1) * (i + 1));
		if (i == 1) {
			MPI_Pcontrol(2);
			gigarank_compute(7e-3);
			MPI_Pcontrol(0);
			gigarank_compute(0.25);
		}
	}
	if (rank == 0)
		gigarank_phase(0);
	MPI_Finalize();
	gigarank_compute(1);
	return 0;
}
`

// A phase lasts to the next, to its end, or to MPI_Finalize, and each has iterations of its own.
func TestPhasesAreTimed(t *testing.T) {
	program := build(t, phased)
	want := []string{"step 0: 1ms 1.5ms 2ms of 2", "step 1: 2ms 3ms 4ms of 2", "MPI_Pcontrol(2) 0: 7ms 7ms 7ms of 2", "step 2: 3ms 4.5ms 6ms of 2"}
	slices.Sort(want)
	for _, stacks := range []native.Stacks{native.Own, native.Copied} {
		for engines := 1; engines <= 2; engines++ {
			r, _, err := run(t, program, "xt5", 2, hosting{engines: engines, stacks: stacks})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, it := range r.Iterations {
				got = append(got, describeIteration(it))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%v, %d engines: %q, want %q", stacks, engines, got, want)
			}
		}
	}
}

func describeIteration(it mpivirt.Iteration) string {
	ms := func(d vtime.Duration) string { return fmt.Sprintf("%gms", d.Seconds()*1e3) }
	return fmt.Sprintf("%s %d: %s %s %s of %d", it.Operation, it.Index, ms(it.Min), ms(it.Mean), ms(it.Max), it.Count)
}
