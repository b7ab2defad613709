//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"strconv"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
)

// cells has the bounds of its loops in memory, as the modules of Fortran have, and nests with several loops in a loop, and with one whose bound is a variable of the outer loop.
const cells = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long *size;
static double *a;

static void work(int cell) {
	for (long k = 0; k < size[3 * cell]; k++) {
		for (long j = 0; j < size[3 * cell + 1]; j++) {
			for (long i = 0; i < size[3 * cell + 2]; i++)
				a[(i + j) % 100] += a[k % 100] * 0.5;
			for (int m = 0; m < 3; m++)
				for (long i = 0; i < size[3 * cell + 2]; i++)
					a[(i + k) % 100] -= a[(i + m) % 100];
		}
		for (long j = 1; j < size[3 * cell + 1]; j++)
			for (long i = k; i < size[3 * cell + 2]; i++)
				a[(i + j) % 100] *= 1.5;
	}
}

int main(int argc, char **argv) {
	double all;
	MPI_Init(&argc, &argv);
	size = malloc(6 * sizeof *size);
	a = calloc(1000, sizeof *a);
	for (int n = 0; n < 6; n++)
		size[n] = atol(argv[1]);
	for (int cell = 0; cell < 2; cell++)
		work(cell);
	MPI_Allreduce(a, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	printf("%g\n", all);
	MPI_Finalize();
	return 0;
}
`

// TestNestsAreFormulas: a skeleton counts more iterations than any host makes. Their number is the polynomial of the third degree that few iterations give, which
// the timed form counts as it makes them.
func TestNestsAreFormulas(t *testing.T) {
	needLLVM(t)
	program, refusal := build(t, cells)
	if refusal != "" {
		t.Fatal(refusal)
	}
	verify(t, program, []int{1, 2}, "7")
	d, err := skeleton.Describe(program)
	if err != nil {
		t.Fatal(err)
	}
	bare := extract(t, program)
	count := func(n int64) (sum int64) {
		t.Helper()
		tasks := &native.Tasks{Weights: make([]native.Weight, len(d.Tasks)), ByRank: true}
		simulate(t, bare, 1, 1, native.Options{Stack: 256 << 10, Tasks: tasks}, strconv.FormatInt(n, 10))
		for _, c := range tasks.Counts()[0] {
			sum += c.Iterations
		}
		return sum
	}
	// Newton's polynomial through 1 to 4 iterations a loop.
	var differences [4]int64
	for n := range differences {
		differences[n] = count(int64(n) + 1)
	}
	for order := 1; order < len(differences); order++ {
		for n := len(differences) - 1; n >= order; n-- {
			differences[n] -= differences[n-1]
		}
	}
	if differences[3] == 0 {
		t.Fatalf("the iterations do not grow with the third power: %d", differences)
	}
	for _, n := range []int64{5, 30, 40000} {
		m := n - 1
		want := differences[0] + m*differences[1] + m*(m-1)/2*differences[2] + m*(m-1)*(m-2)/6*differences[3]
		if got := count(n); got != want {
			t.Errorf("%d iterations a loop: counted %d, the polynomial has %d", n, got, want)
		}
	}
}
