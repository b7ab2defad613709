//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native/toolchain"
)

// buildFortran builds a program in Fortran.
func buildFortran(t *testing.T, source string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	var printed bytes.Buffer
	code, err := toolchain.Wrap(toolchain.Fortran, []string{"-O1", "-Wall", "-Werror", source, "-o", program}, nil, &printed, &printed)
	if err != nil || code != 0 {
		t.Fatalf("%v, exit code %d:\n%s", err, code, &printed)
	}
	return program
}

func TestExampleInFortran(t *testing.T) {
	program := buildFortran(t, filepath.Join("..", "..", "examples", "fortran", "picalc.f90"))
	for _, engines := range []int{1, 2} {
		_, lines, err := run(t, program, "xt5", 5, hosting{engines: engines})
		if err != nil || !slices.Equal(lines, []string{"pi is about 3.141592654\n"}) {
			t.Errorf("%v, printed %q", err, lines)
		}
	}
}

// Units and random numbers belong to a rank, and STOP ends it with its code.
func TestFortranLibraryOfRanks(t *testing.T) {
	source := filepath.Join(t.TempDir(), "ranks.f90")
	text := `program ranks
  use mpi_f08
  implicit none
  integer :: rank, seed(8), i, n, read_back
  real :: x(3), y(3)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call random_seed(size=n)
  seed = rank
  call random_seed(put=seed(1:n))
  call random_number(x)
  open (unit=20, status='scratch')
  call random_seed(put=seed(1:n))
  do i = 1, 3
    write (20, *) 10 * rank + i
    write (*, '(a)', advance='no') 'part '
    call MPI_Barrier(MPI_COMM_WORLD)
    call random_number(y(i))
  end do
  print '(a, l1)', 'same ', all(x == y)
  rewind 20
  read (20, *) read_back
  if (read_back /= 10 * rank + 1) stop 4
  call MPI_Finalize()
  if (rank == 2) stop 7
end program
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program := buildFortran(t, source)
	for _, engines := range []int{1, 2} {
		_, lines, err := run(t, program, "xt5", 3, hosting{engines: engines})
		if err == nil || !strings.Contains(err.Error(), "rank 2") || !strings.Contains(err.Error(), "exit code 7") {
			t.Errorf("ended with %v, want exit code 7 of rank 2", err)
		}
		if len(lines) == 0 {
			t.Error("rank 2 has printed nothing")
		}
		for _, line := range lines {
			if line != "part part part same T\n" {
				t.Errorf("printed %q", line)
			}
		}
	}
}
