//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/mpivirt/native"
)

// A program whose lines the test below knows: a ring that is called from two places, waits of each rank for a rank that computes, and short messages.
const sited = `#include <gigarank.h>
#include <mpi.h>
static __attribute__((noinline)) void shift(int rank, int size, int tag) {
	int in, out = rank;
	MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	__asm__ volatile("");
}
int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	shift(rank, size, 1);
	for (int i = 0; i < 3; i++) {
		gigarank_compute(rank == 1 ? 1e-3 : 0);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	shift(rank, size, 2);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Request ends[2];
	MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
	MPI_Recv(&size, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, &ends[0]);
	MPI_Irecv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &ends[1]);
	MPI_Waitall(2, ends, MPI_STATUSES_IGNORE);
	MPI_Finalize();
	return 0;
}
`

// Calls are summed up by the lines that make them, with any stacks and engines, and at the same virtual times as without.
func TestCallsHaveTheirLines(t *testing.T) {
	program := build(t, sited)
	plain, _, err := run(t, program, "xt5", 5, hosting{engines: 1})
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, h := range []hosting{{engines: 1, stacks: native.Own}, {engines: 1, stacks: native.Copied}, {engines: 3, stacks: native.Own}, {engines: 2, stacks: native.Copied, strict: true}} {
		h.places, h.sites = true, true
		result, _, err := run(t, program, "xt5", 5, h)
		if err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
		if result.Fingerprint != plain.Fingerprint {
			t.Errorf("%+v: the places of calls change virtual times", h)
		}
		var got []string
		for _, s := range result.Calls.Sites {
			got = append(got, fmt.Sprintf("%s from %s: %d calls, %d bytes", s.Procedure, s.Place, s.Count, s.Bytes))
		}
		want := []string{
			"Barrier from main (program.c:16): 15 calls, 0 bytes", "Barrier from main (program.c:19): 5 calls, 0 bytes",
			"Send from main (program.c:21): 5 calls, 20 bytes", "Recv from main (program.c:22): 5 calls, 20 bytes",
			"Isend from main (program.c:24): 5 calls, 20 bytes", "Irecv from main (program.c:25): 5 calls, 0 bytes", "Waitall from main (program.c:26): 5 calls, 0 bytes",
			"Sendrecv from shift (program.c:5): 10 calls, 80 bytes",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
		if text := fmt.Sprintf("%+v %v", result.Calls.Sites, result.Calls.Course); first == "" {
			first = text
		} else if text != first {
			t.Errorf("%+v: %s\nfirst: %s", h, text, first)
		}
	}
}
