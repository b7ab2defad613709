//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gigarank/mpivirt/native"
)

const lacks = "rank 1 failed at virtual time 1ms: MPI_ERR_UNSUPPORTED_OPERATION: native ranks do not have %s: "

// A program that can use functions that native ranks do not have is run, and a call is an error of MPI (MPI 4.1, 9.3): it
// ends the run, unless the program has asked to hear of it.
func TestCallsOfUnsupportedFunctions(t *testing.T) {
	program := build(t, prelude+`
static int heard;
static void listen(MPI_Comm *comm, int *code, ...) { heard += *comm == MPI_COMM_WORLD && *code == MPI_ERR_UNSUPPORTED_OPERATION; }
static int is(int code) { return code == MPI_ERR_UNSUPPORTED_OPERATION; }
int main(int argc, char **argv) {
	MPI_File f = MPI_FILE_NULL;
	MPI_Win w = MPI_WIN_NULL;
	MPI_Comm own;
	MPI_Errhandler handler;
	int data = 0;
	char way = argc > 1 && argv[1][0] ? argv[1][0] : ' ';
	begin(&argc, &argv);
	if (rank != 1)
		return MPI_Finalize();
	switch (way) {
	case 'f': MPI_File_open(MPI_COMM_SELF, "data", MPI_MODE_RDWR, MPI_INFO_NULL, &f); break;
	case 'w': PMPI_Win_create(&data, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); break;
	case 'p': MPI_Put(&data, 1, MPI_INT, 0, 0, 1, MPI_INT, w); break;
	case 't': MPI_T_init_thread(MPI_THREAD_SINGLE, &data); break;
	case 'r': /* of the whole program */
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		assert(is(MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_RDWR, MPI_INFO_NULL, &f)) && is(MPI_File_close(&f)));
		assert(is(MPI_Win_create(&data, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w)) && is(MPI_Win_fence(0, w)));
		assert(is(PMPI_Put(&data, 1, MPI_INT, 0, 0, 1, MPI_INT, w)) && is(MPI_T_init_thread(MPI_THREAD_SINGLE, &data)));
		break;
	case 'c': /* of a communicator alone */
		MPI_Comm_dup(MPI_COMM_SELF, &own);
		MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
		assert(is(MPI_Win_allocate(4, 4, MPI_INFO_NULL, own, &data, &w)) && is(MPI_File_open(own, "data", MPI_MODE_RDWR, MPI_INFO_NULL, &f)));
		MPI_Comm_free(&own);
		MPI_Win_create(&data, 4, 4, MPI_INFO_NULL, MPI_COMM_SELF, &w);
		break;
	case 'F': /* of files alone */
		MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
		assert(is(MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_RDWR, MPI_INFO_NULL, &f)) && is(PMPI_File_delete("data", MPI_INFO_NULL)));
		MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
		MPI_File_delete("data", MPI_INFO_NULL);
		break;
	case 'h':
		MPI_Comm_create_errhandler(listen, &handler);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
		assert(is(MPI_Win_create(&data, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w)) && is(MPI_Win_free(&w)) && heard == 2);
		break;
	case 'n': /* the communicator is checked first */
		MPI_Win_create(&data, 4, 4, MPI_INFO_NULL, MPI_COMM_NULL, &w);
		break;
	}
	return MPI_Finalize();
}
`)
	for way, want := range map[string]string{
		"": "", "f": fmt.Sprintf(lacks, "MPI_File_open"), "w": fmt.Sprintf(lacks, "MPI_Win_create"), "p": fmt.Sprintf(lacks, "MPI_Put"), "t": fmt.Sprintf(lacks, "MPI_T_init_thread"),
		"r": "", "c": fmt.Sprintf(lacks, "MPI_Win_create"), "F": fmt.Sprintf(lacks, "MPI_File_delete"), "h": "",
		"n": "rank 1 failed at virtual time 1ms: MPI_ERR_COMM: MPI_Win_create: the communicator is MPI_COMM_NULL",
	} {
		for _, h := range []hosting{{engines: 1}, {engines: 2}, {engines: 1, stacks: native.Copied}} {
			if _, _, err := run(t, program, "xt5", 3, h, way); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%+v, way %q: %v, want %q", h, way, err, want)
			}
		}
	}
	if _, err := native.Open(program, nil, native.Options{StrictFunctions: true}); err == nil || !strings.Contains(err.Error(), "MPI_File_close, MPI_File_delete, MPI_File_open, MPI_Put, MPI_T_init_thread, MPI_Win_allocate") {
		t.Errorf("strictly: %v", err)
	}
}

// Each function that native ranks do not have returns its class under MPI_ERRORS_RETURN, by both names.
func TestUnsupportedFunctionsReturn(t *testing.T) {
	header, err := os.ReadFile(filepath.Join("toolchain", "runtime", "include", "mpi_unsupported.h"))
	if err != nil {
		t.Fatal(err)
	}
	var calls strings.Builder
	declared := regexp.MustCompile(`(?m)^GIGARANK_UNSUPPORTED\w*\(int, MPI_(\w+), \((.*)\)\)$`).FindAllStringSubmatch(string(header), -1)
	for _, m := range declared {
		var given []string
		for parameter := range strings.SplitSeq(m[2], ", ") {
			switch {
			case parameter == "MPI_Comm comm":
				given = append(given, "MPI_COMM_WORLD")
			case parameter != "void":
				given = append(given, "0")
			}
		}
		for _, prefix := range []string{"MPI_", "PMPI_"} {
			_, _ = fmt.Fprintf(&calls, "\tif (%s%s(%s) != MPI_ERR_UNSUPPORTED_OPERATION)\n\t\tprintf(\"%[1]s%[2]s\\n\");\n", prefix, m[1], strings.Join(given, ", "))
		}
	}
	if len(declared) < 200 {
		t.Fatalf("only %d functions are declared", len(declared))
	}
	program := build(t, prelude+"int main(int argc, char **argv) {\n\tbegin(&argc, &argv);\n\tMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);\n"+calls.String()+"\treturn MPI_Finalize();\n}\n")
	if _, lines, err := run(t, program, "xt5", 2, hosting{engines: 2}); err != nil || len(lines) > 0 {
		t.Errorf("%v; these return something else:\n%s", err, strings.Join(lines, ""))
	}
}

// In Fortran the calls compile with mpif.h and with both modules, by both names, and are the same errors.
func TestCallsOfUnsupportedFunctionsInFortran(t *testing.T) {
	const text = `program unsupported
%s
  integer :: ierr, rank, n, codes(1)
  integer(MPI_ADDRESS_KIND) :: bytes, place
  integer(MPI_OFFSET_KIND) :: at
  real :: data(4)
  logical :: flag
  character(len=10) :: way
%s
  call get_command_argument(1, way)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call gigarank_compute(1d-3)
  bytes = 16
  place = 0
  at = 0
  if (rank == 1 .and. way == 'fails') &
    call MPI_File_open(MPI_COMM_WORLD, 'data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierr)
  if (rank == 1 .and. way == 'pfails') call PMPI_Win_create(data, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
  if (way == 'returns') then
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_File_open(MPI_COMM_WORLD, 'data', MPI_MODE_RDONLY, MPI_INFO_NULL, f, ierr)
    call check(1)
    call MPI_File_write_at_all(f, at, data, 4, MPI_REAL, MPI_STATUS_IGNORE, ierr)
    call check(2)
    call PMPI_File_set_view(f, at, MPI_REAL, MPI_REAL, 'native', MPI_INFO_NULL, ierr)
    call check(3)
    call MPI_Win_create(data, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
    call check(4)
    call MPI_Win_get_attr(w, MPI_WIN_BASE, place, flag, ierr)
    call check(5)
    call MPI_Accumulate(data, 1, MPI_REAL, 0, place, 1, MPI_REAL, MPI_SUM, w, ierr)
    call check(6)
    call MPI_Comm_spawn('other', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, c, codes, ierr)
    call check(7)
    call PMPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, w, ierr)
    call check(8)
    call MPI_File_close(f%s)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, n, place, ierr)
    call check(9)
  end if
  call MPI_Finalize(ierr)
contains
  subroutine check(step)
    integer, intent(in) :: step
    if (ierr /= MPI_ERR_UNSUPPORTED_OPERATION) print '(a,i0,a,i0)', 'step ', step, ' has given ', ierr
    ierr = -1
  end subroutine
end program
`
	const handles = "  integer :: f = MPI_FILE_NULL, w = MPI_WIN_NULL, c = MPI_COMM_NULL"
	for name, parts := range map[string][3]string{
		"mpif":    {"  implicit none\n  include 'mpif.h'", handles, ", ierr"},
		"mpi":     {"  use mpi\n  implicit none", handles, ", ierr"},
		"mpi_f08": {"  use mpi_f08\n  implicit none", "  type(MPI_File) :: f = MPI_FILE_NULL\n  type(MPI_Win) :: w = MPI_WIN_NULL\n  type(MPI_Comm) :: c = MPI_COMM_NULL", ""}, // ierror is optional
	} {
		source := filepath.Join(t.TempDir(), name+".f90")
		if err := os.WriteFile(source, fmt.Appendf(nil, text, parts[0], parts[1], parts[2]), 0o666); err != nil {
			t.Fatal(err)
		}
		program := buildFortran(t, source, "-Wno-error", "-w")
		for way, want := range map[string]string{"": "", "returns": "", "fails": fmt.Sprintf(lacks, "MPI_File_open"), "pfails": fmt.Sprintf(lacks, "MPI_Win_create")} {
			_, lines, err := run(t, program, "xt5", 2, hosting{engines: 2}, way)
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) || len(lines) > 0 {
				t.Errorf("%s, %q: %v, want %q; it prints %q", name, way, err, want, lines)
			}
		}
	}
}
