//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"os"
	"path/filepath"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
)

// rows multiplies a matrix by a vector whose 6,000 rows have elements by a list: (3 + i mod 5) · 60 / size in row i of each rank, 1,800,000 / size in all.
const rows = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int rank, size;
	double sum = 0, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int n = 6000 / size;
	int *begin = malloc((n + 1) * sizeof *begin);
	double *a = malloc(600 * sizeof *a);
	for (int k = 0; k < 600; k++)
		a[k] = k;
	begin[0] = 0;
	for (int i = 0; i < n; i++)
		begin[i + 1] = begin[i] + (3 + i % 5) * 60 / size;
	for (int i = 0; i < n; i++)
		for (int k = begin[i]; k < begin[i + 1]; k++)
			sum += a[(k + rank) % 600] * sum;
	MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	printf("%g\n", all);
	free(a);
	free(begin);
	MPI_Finalize();
	return 0;
}
`

// TestIterationsAreTold: the timed form tells the iterations that its skeleton cannot count, which the source has by formula, and the skeleton counts the others.
func TestIterationsAreTold(t *testing.T) {
	needLLVM(t)
	program, refusal := build(t, rows)
	if refusal != "" {
		t.Fatal(refusal)
	}
	verify(t, program, []int{1, 4})
	d, err := skeleton.Describe(program)
	if err != nil {
		t.Fatal(err)
	}
	matrix := -1
	for n, task := range d.Tasks {
		if task.Told != (len(task.Unknown) > 0) {
			t.Errorf("task %+v: only loops are not counted", task)
		}
		if task.Told {
			matrix = n
		}
	}
	if matrix < 0 {
		t.Fatalf("the iterations of all tasks are counted: %+v", d.Tasks)
	}
	timed, err := skeleton.ExtractTimed(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(timed)) })
	told := func(form string, ranks int) float64 {
		t.Helper()
		tasks := &native.Tasks{Weights: make([]native.Weight, len(d.Tasks))}
		simulate(t, form, ranks, 1, native.Options{Stack: 256 << 10, Tasks: tasks})
		return tasks.Sums()[matrix].Uncounted
	}
	whole := told(timed, 1)
	if instructions := whole / 1800000; instructions < 2 || instructions != float64(int(instructions)) {
		t.Errorf("1 rank: %g iterations are told, no multiple of 1,800,000", whole)
	}
	for _, ranks := range []int{2, 3, 4} {
		if got := told(timed, ranks); got*float64(ranks) != whole {
			t.Errorf("%d ranks: %g iterations are told, 1 rank told %g", ranks, got, whole)
		}
	}
	if got := told(extract(t, program), 2); got != 0 {
		t.Errorf("the skeleton tells %g iterations", got)
	}
}
