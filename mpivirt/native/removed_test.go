//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"slices"
	"testing"
)

// Functions and types of MPI-1 that MPI 3.0 has removed do what MPI 1.1 says, with its examples 3.26 and 3.29.
func TestRemovedFunctions(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <stdio.h>
#include <stddef.h>
struct particle { char class; double at[3]; int n; };
static int heard;
static void listen(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; heard++; }
int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	/* {(lb, -3), (int, 0), (ub, 6)}, and two of them */
	MPI_Datatype marked, twice, particle, column;
	MPI_Aint at[3] = {-3, 0, 6}, low, high, extent, bytes[2] = {0, 64};
	MPI_Type_struct(3, (int[]){1, 1, 1}, at, (MPI_Datatype[]){MPI_LB, MPI_INT, MPI_UB}, &marked);
	MPI_Type_lb(marked, &low), MPI_Type_ub(marked, &high), MPI_Type_extent(marked, &extent);
	int right = low == -3 && high == 6 && extent == 9;
	MPI_Type_contiguous(2, marked, &twice);
	MPI_Type_lb(twice, &low), MPI_Type_ub(twice, &high);
	right += low == -3 && high == 15;
	/* particles with gaps, whose extent a mark gives */
	struct particle mine[2] = {{'a', {rank, 1, 2}, 3}, {'b', {4, rank, 6}, 7}}, theirs[2] = {{0}};
	MPI_Aint base, places[4];
	MPI_Address(mine, &base), MPI_Address(&mine[0].at, &places[1]), MPI_Address(&mine[0].n, &places[2]), MPI_Address(&mine[1], &places[3]);
	places[0] = 0, places[1] -= base, places[2] -= base, places[3] -= base;
	MPI_Type_struct(4, (int[]){1, 3, 1, 1}, places, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_UB}, &particle);
	MPI_Type_commit(&particle);
	MPI_Type_extent(particle, &extent);
	int left = (rank + size - 1) % size;
	MPI_Sendrecv(mine, 2, particle, (rank + 1) % size, 0, theirs, 2, particle, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	right += extent == sizeof *mine && theirs[0].at[0] == left && theirs[0].n == 3 && theirs[1].class == 'b' && theirs[1].at[1] == left && theirs[1].n == 7;
	MPI_Type_hvector(4, 1, 32, MPI_INT, &column);
	MPI_Type_extent(column, &extent);
	right += extent == 3 * 32 + 4;
	MPI_Type_free(&column);
	MPI_Type_hindexed(2, (int[]){1, 2}, bytes, MPI_INT, &column);
	MPI_Type_extent(column, &extent);
	right += extent == 72;
	MPI_Errhandler handler, got;
	MPI_Errhandler_create(listen, &handler);
	MPI_Errhandler_set(MPI_COMM_WORLD, handler);
	MPI_Errhandler_get(MPI_COMM_WORLD, &got);
	MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
	right += got == handler && heard == 1;
	char name[MPI_MAX_OBJECT_NAME];
	int length;
	MPI_Type_get_name(MPI_UB, name, &length);
	if (rank == 0)
		printf("%d, %s\n", right, name);
	return MPI_Finalize();
}
`)
	for _, h := range []hosting{{engines: 1}, {engines: 2}} {
		_, lines, err := run(t, program, "xt5", 3, h)
		if err != nil || !slices.Equal(lines, []string{"6, MPI_UB\n"}) {
			t.Errorf("%+v: %v, printed %q", h, err, lines)
		}
	}
}
