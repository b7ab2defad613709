//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A wait for any of a long list finds the same request, at the same time, as in a list of the active
// requests alone, of which the simulator keeps nothing from one call to the next. The list changes
// from call to call.
func TestLongLists(t *testing.T) {
	program := buildConformance(t, filepath.Join("testdata", "conformance", "lists.c"))
	for _, machine := range []string{"xt5", "loggops-default"} {
		_, want, err := run(t, program, machine, 2, hosting{engines: 1}, "log", "brief")
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range ways(2)[1:] {
			_, got, err := run(t, program, machine, 2, h, "log")
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("%s, %+v: %d lines, of which %q is to be %q", machine, h, len(got), got[min(i, len(got)-1)], want[i])
				}
			}
		}
	}
}

// oneByOne waits in one of three ways until all of n receives are done.
const oneByOne = `#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	int n = atoi(argv[1]), how = atoi(argv[2]), rank, byte = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Request *all = malloc(n * sizeof *all);
	int *places = malloc(n * sizeof *places);
	for (int i = 0; i < n; i++)
		if (rank == 1)
			MPI_Send(&byte, 1, MPI_BYTE, 0, n - 1 - i, MPI_COMM_WORLD);
		else
			MPI_Irecv(&byte, 1, MPI_BYTE, 1, i, MPI_COMM_WORLD, &all[i]);
	for (int left = rank ? 0 : n, found = 1; left > 0; left -= found)
		if (how == 0)
			MPI_Waitany(n, all, places, MPI_STATUS_IGNORE);
		else if (how == 1)
			MPI_Testany(n, all, places, &found, MPI_STATUS_IGNORE);
		else
			MPI_Waitsome(n, all, &found, places, MPI_STATUSES_IGNORE);
	MPI_Finalize();
}
`

// cpuTime returns the CPU time of the process so far.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A wait for any of a long list does not take a look at all of it: with eight times as many
// requests, all waits take about eight times the CPU time, where looks would take 64 times.
func TestCostOfAWaitStaysConstant(t *testing.T) {
	const n, more, most = 4000, 8, 24
	program := build(t, oneByOne)
	for how := range 3 {
		one := func(n int) time.Duration {
			before := cpuTime(t)
			if _, _, err := run(t, program, "xt5", 2, hosting{engines: 1}, fmt.Sprint(n), fmt.Sprint(how)); err != nil {
				t.Fatal(err)
			}
			return cpuTime(t) - before
		}
		few, many := one(n), one(more*n)
		for try := 0; try < 3 && many > most*few; try++ { // other work of the process counts too
			few, many = one(n), one(more*n)
		}
		if many > most*few {
			t.Errorf("way %d: %d requests take %v of CPU time, %d take %v", how, n, few, more*n, many)
		}
	}
}
