//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Buffers that MPI provides (MPI 4.1, 3.6), and Fortran's types of unusual sizes. Open MPI 4.1 has neither.
func TestAutomaticBuffers(t *testing.T) {
	inC := build(t, `#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
	int rank, size, bytes = -1, right = 0;
	double sent[1000], got[1000];
	void *address = &rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 1000; i++)
		sent[i] = rank + i;
	MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
	for (int i = 0; i < 3; i++)
		MPI_Bsend(sent, 1000, MPI_DOUBLE, (rank + 1) % size, i, MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++) {
		MPI_Recv(got, 1000, MPI_DOUBLE, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		right += got[999] == (rank + size - 1) % size + 999;
	}
	MPI_Buffer_detach(&address, &bytes);
	right += address == MPI_BUFFER_AUTOMATIC && bytes == 0;
	char half[48], back[48] = "", canonical[48];
	MPI_Datatype types[] = {MPI_REAL2, MPI_COMPLEX4, MPI_LOGICAL16};
	MPI_Aint at;
	for (int i = 0; i < 3; i++) {
		MPI_Type_size(types[i], &bytes);
		right += bytes == (int[]){2, 4, 16}[i];
		memset(half, rank + i, sizeof half), half[0] = 1;
		MPI_Sendrecv(half, 3, types[i], (rank + 1) % size, 0, back, 3, types[i], (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		right += back[1] == (rank + size - 1) % size + i;
		at = 0, MPI_Pack_external("external32", half, 1, types[i], canonical, sizeof canonical, &at);
		right += at == bytes && canonical[types[i] == MPI_LOGICAL16 ? 15 : 1] == 1;
	}
	if (rank == 0)
		printf("%d\n", right);
	return MPI_Finalize();
}
`)
	source := filepath.Join(t.TempDir(), "program.f90")
	if err := os.WriteFile(source, []byte(`program automatic
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer :: rank, size, got, bytes, right
  type(c_ptr) :: address
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0)
  call MPI_Bsend(rank, 1, MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD)
  call MPI_Recv(got, 1, MPI_INTEGER, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Buffer_detach(address, bytes)
  right = merge(1, 0, got == mod(rank + size - 1, size)) + merge(1, 0, bytes == 0)
  call MPI_Type_size(MPI_LOGICAL16, bytes)
  right = right + merge(11, 0, bytes == 16)
  if (rank == 0) print '(i0)', right
  call MPI_Finalize()
end program
`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{inC, buildFortran(t, source)} {
		for _, h := range []hosting{{engines: 1}, {engines: 2}} {
			_, lines, err := run(t, program, "xt5", 3, h)
			if err != nil || !slices.Equal(lines, []string{"13\n"}) {
				t.Errorf("%+v: %v, printed %q", h, err, lines)
			}
		}
	}
}

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
