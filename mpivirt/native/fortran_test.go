//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/toolchain"
)

// buildFortran builds a program in Fortran.
func buildFortran(t *testing.T, source string, flags ...string) (program string) {
	t.Helper()
	dir := t.TempDir() // of its modules, too
	program = filepath.Join(dir, "program")
	var printed bytes.Buffer
	code, err := toolchain.Wrap(toolchain.Fortran, append([]string{"-O1", "-Wall", "-Werror", source, "-o", program, "-J", dir}, flags...), nil, &printed, &printed)
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

// Statuses of mpi_f08 become statuses of module mpi and back. Open MPI 4.1 declares the procedures, and
// does not have them.
func TestStatusesOfBothModules(t *testing.T) {
	source := filepath.Join(t.TempDir(), "statuses.f90")
	text := `program statuses
  use mpi_f08
  implicit none
  integer :: got, n, ierr, old(MPI_STATUS_SIZE)
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Sendrecv(5, 1, MPI_INTEGER, 0, 77, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, status)
  call MPI_Status_f082f(status, old)
  print '(5i3)', got, old(MPI_SOURCE), old(MPI_TAG)
  old(MPI_TAG) = 78
  call PMPI_Status_f2f08(old, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, n)
  print '(4i3)', status%MPI_SOURCE, status%MPI_TAG, n, ierr
  call MPI_Finalize()
end program
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	_, lines, err := run(t, buildFortran(t, source), "xt5", 1, hosting{engines: 1})
	if want := []string{"  0 78  1  0\n", "  5  0 77\n"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v, printed %q, want %q", err, lines, want)
	}
}

// Both modules have the pairs of MPI 4, which Open MPI 4.1 has not.
func TestPairsInFortran(t *testing.T) {
	program := `subroutine old(next, last, n)
  use mpi
  implicit none
  integer :: next, last, n, request, status(MPI_STATUS_SIZE), ierr
  call MPI_Isendrecv_replace(n, 1, MPI_INTEGER, next, 4, last, 4, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, status, ierr)
  if (status(MPI_SOURCE) /= last) stop 3
end subroutine

program pairs
  use mpi_f08
  implicit none
  integer, asynchronous :: n
  integer :: rank, size, next, last
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)
  call MPI_Isendrecv(rank, 1, MPI_INTEGER, next, 9, n, 1, MPI_INTEGER, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, request)
  call MPI_Wait(request, status)
  if (n /= last .or. status%MPI_SOURCE /= last) stop 1
  n = rank
  call old(next, last, n)
  if (n /= last) stop 2
  call MPI_Finalize()
end program
`
	source := filepath.Join(t.TempDir(), "pairs.f90")
	if err := os.WriteFile(source, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, engines := range []int{1, 2} {
		if _, lines, err := run(t, buildFortran(t, source), "xt5", 3, hosting{engines: engines}); err != nil || len(lines) > 0 {
			t.Errorf("%d engines: %v, printed %q", engines, err, lines)
		}
	}
}

// Numbers of sixteen bytes are reduced. Open MPI 4.1 takes them for numbers of type long double.
func TestReductionsOfSixteenBytes(t *testing.T) {
	source := filepath.Join(t.TempDir(), "quad.f90")
	text := `program quad
  use mpi
  implicit none
  integer :: rank, size, ierr
  real(16) :: x(3), sums(3), most(3)
  complex(16) :: turn, turned
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  x = [1 + 2.0_16**(-100), real(rank, 16), -1.0_16]
  call MPI_Allreduce(x, sums, 3, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(x, most, 3, MPI_REAL16, MPI_MAX, MPI_COMM_WORLD, ierr)
  turn = (0, 1)
  call MPI_Allreduce(turn, turned, 1, MPI_COMPLEX32, MPI_PROD, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(3l2)', all(sums == [size * x(1), size * (size - 1) / 2.0_16, -real(size, 16)]), &
    all(most == [x(1), real(size - 1, 16), -1.0_16]), turned == turn**size
  call MPI_Finalize(ierr)
end program
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program := buildFortran(t, source)
	for _, engines := range []int{1, 2} {
		_, lines, err := run(t, program, "xt5", 5, hosting{engines: engines})
		if err != nil || !slices.Equal(lines, []string{" T T T\n"}) {
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

// A library of the program's own in Fortran has units and random numbers that are the rank's, and is
// found next to the program, whatever the language of the program is.
func TestLibraryInFortran(t *testing.T) {
	for name, text := range map[string]string{
		"program.c": `#include <mpi.h>
void part_(int *rank, int *step, int *got);
int main(int argc, char **argv) {
	int rank, first, second, last;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	part_(&rank, &(int){0}, &first);
	MPI_Barrier(MPI_COMM_WORLD);
	part_(&rank, &(int){1}, &second);
	MPI_Barrier(MPI_COMM_WORLD);
	part_(&rank, &(int){2}, &last);
	MPI_Finalize();
	return 10 * (first != second) + (last != rank);
}
`,
		"program.f90": `program main
  use mpi
  implicit none
  integer :: rank, step, got(0:2), ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  open (unit=20, status='scratch')
  do step = 0, 2
    call part(rank, step, got(step))
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
  if (got(0) /= got(1)) stop 10
  if (got(2) /= rank) stop 1
end program
`} {
		program := buildWithLibrary(t, name, text, "part.f90", `subroutine part(rank, step, got)
  integer :: rank, step, got, seed(8)
  real :: x
  seed = rank
  if (step == 0) then
    call random_seed(put=seed)
    open (unit=21, status='scratch')
    write (21, *) rank
  end if
  if (step < 2) then
    call random_number(x)
    call random_seed(put=seed)
    got = int(x * 1e6)
  else
    rewind 21
    read (21, *) got
  end if
end subroutine
`)
		for _, h := range hostings(3) {
			if _, _, err := run(t, program, "xt5", 3, h); err != nil {
				t.Errorf("%s, %+v: %v", name, h, err)
			}
		}
	}
}

// Procedures inside a program, whose addresses lead to code on its stack, are called by MPI and
// use the program's variables. On a stack that is copied, the simulator cannot call an operation.
func TestNestedProcedures(t *testing.T) {
	source := filepath.Join(t.TempDir(), "nested.f90")
	text := `program nested
  use mpi_f08
  implicit none
  integer :: rank, size, largest, told, ierr
  character(len=8) :: operation
  type(MPI_Op) :: op
  type(MPI_Errhandler) :: handler
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  told = rank
  call MPI_Comm_create_errhandler(heard, handler)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
  call MPI_Send(rank, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  call MPI_Barrier(MPI_COMM_WORLD)
  call get_command_argument(1, operation)
  largest = told
  if (operation == 'with') then
    call MPI_Op_create(larger, .true., op)
    call MPI_Allreduce(told, largest, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  end if
  print '(i0,a,i0)', told, ' of ', largest
  call MPI_Finalize()
contains
  subroutine heard(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    if (comm == MPI_COMM_WORLD .and. code /= MPI_SUCCESS) told = 10 * told + size
  end subroutine
  subroutine larger(in, inout, n, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [n])
    call c_f_pointer(inout, b, [n])
    if (type == MPI_INTEGER .and. size > 0) b = max(a, b)
  end subroutine
end program
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program := buildFortran(t, source, "-Wl,-z,execstack")
	for _, engines := range []int{1, 2} {
		for _, stacks := range []native.Stacks{native.Own, native.Copied} {
			_, lines, err := run(t, program, "xt5", 3, hosting{engines: engines, stacks: stacks}, "without")
			if err != nil || !slices.Equal(lines, []string{"13 of 13\n", "23 of 23\n", "3 of 3\n"}) {
				t.Errorf("%d engines, %v, printed %q", engines, err, lines)
			}
		}
		_, lines, err := run(t, program, "xt5", 3, hosting{engines: engines, stacks: native.Own}, "with")
		if err != nil || !slices.Equal(lines, []string{"13 of 23\n", "23 of 23\n", "3 of 23\n"}) {
			t.Errorf("%d engines, %v, printed %q", engines, err, lines)
		}
		_, _, err = run(t, program, "xt5", 3, hosting{engines: engines, stacks: native.Copied}, "with")
		if err == nil || !strings.Contains(err.Error(), "MPI_ERR_OP") || !strings.Contains(err.Error(), "--stacks own") {
			t.Errorf("an operation on a copied stack ends with %v", err)
		}
	}
}

// The output of ranks is there, however the run ends: the library puts out each record.
func TestFortranOutputBeforeTheEnd(t *testing.T) {
	source := filepath.Join(t.TempDir(), "ends.f90")
	text := `program ends
  use mpi_f08
  implicit none
  integer :: rank
  integer, pointer :: nothing => null()
  character(len=8) :: how
  call get_command_argument(1, how)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  print '(a,i0)', 'rank ', rank
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 1) then
    print '(a)', 'the last'
    select case (how)
    case ('abort')
      call MPI_Abort(MPI_COMM_WORLD, 3)
    case ('stop')
      error stop 4
    case ('crash')
      nothing = rank
    case default
      call MPI_Send(rank, 1, MPI_INTEGER, 99, 0, MPI_COMM_WORLD)
    end select
  end if
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program := buildFortran(t, source)
	for how, says := range map[string]string{"abort": "Abort with code 3", "stop": "exit code 4", "crash": "SIGSEGV", "error": "MPI_ERR_RANK"} {
		for _, engines := range []int{1, 2} {
			_, lines, err := run(t, program, "xt5", 3, hosting{engines: engines}, how)
			if err == nil || !strings.Contains(err.Error(), says) || !slices.Equal(lines, []string{"rank 0\n", "rank 1\n", "rank 2\n", "the last\n"}) {
				t.Errorf("%s: %v, printed %q", how, err, lines)
			}
		}
	}
}

// A rank in Fortran starts in little more time than a rank in C: the constructors of its library do the same for all ranks but
// for its units. With stacks of their own a rank in C takes a page of memory, a rank in Fortran some 1.8 times the time of that.
func TestStartOfFortran(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "empty.f90")
	if err := os.WriteFile(source, []byte("program p\nuse mpi\ninteger :: e\ncall MPI_Init(e)\ncall MPI_Finalize(e)\nend program\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	programs := []string{build(t, "#include <mpi.h>\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); MPI_Finalize(); return 0; }\n"), buildFortran(t, source)}
	const ranks, limit = 4096, 6
	least := []time.Duration{time.Hour, time.Hour}
	for attempt := range 20 {
		for i, program := range programs {
			before := processorTime(t)
			if _, _, err := run(t, program, "xt5", ranks, hosting{engines: 1, stacks: native.Own}); err != nil {
				t.Fatal(err)
			}
			least[i] = min(least[i], processorTime(t)-before)
		}
		if attempt >= 4 && least[1] <= limit*least[0] {
			return
		}
	}
	t.Errorf("%d empty ranks take %v of the processor in C, %v in Fortran: more than %d times as much", ranks, least[0], least[1], limit)
}

// processorTime returns the processor time that the process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
