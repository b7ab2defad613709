//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/toolchain"
)

// profiler is a library that counts calls and bytes of sends and reductions, as profilers of MPI
// do: it has the names of MPI, and calls the functions by their second names. Fortran programs have
// names of their own.
const profiler = `#include <mpi.h>
#include <stdio.h>
static int calls;
static long bytes;
static void count(int n, MPI_Datatype type) {
	int size;
	PMPI_Type_size(type, &size);
	calls++, bytes += (long)n * size;
}
int MPI_Send(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
	count(n, type);
	return PMPI_Send(buf, n, type, dest, tag, comm);
}
int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
	count(n, type);
	return PMPI_Allreduce(in, out, n, type, op, comm);
}
static void report(const char *from) {
	int rank;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("%s: rank %d has %d calls with %ld bytes\n", from, rank, calls, bytes);
}
int MPI_Finalize(void) {
	report("C");
	return PMPI_Finalize();
}
#define FORTRAN(suffix) \
	void pmpi_send##suffix(const void *, const int *, const int *, const int *, const int *, const int *, int *); \
	void mpi_send##suffix(const void *buf, const int *n, const int *type, const int *dest, const int *tag, const int *comm, int *ierror) { \
		count(*n, PMPI_Type_f2c(*type)); \
		pmpi_send##suffix(buf, n, type, dest, tag, comm, ierror); \
	} \
	void pmpi_finalize##suffix(int *); \
	void mpi_finalize##suffix(int *ierror) { \
		report("Fortran"); \
		pmpi_finalize##suffix(ierror); \
	}
FORTRAN(_)
FORTRAN(_f08_)
`

// profiled are programs by file name. Each rank sends twice 4 bytes to itself and, in C, reduces 8.
var profiled = map[string]string{
	"c.c": `#include <mpi.h>
int main(int argc, char **argv) {
	int in = 1, out;
	double x = 1, y;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 2; i++) {
		MPI_Send(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
		MPI_Recv(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return MPI_Finalize();
}
`,
	"with_mpi.f90": fmt.Sprintf(sendsTwice, "mpi"),
	"with_f08.f90": fmt.Sprintf(sendsTwice, "mpi_f08"),
}

const sendsTwice = `program sends
  use %s
  implicit none
  integer :: i, out, ierror
  call MPI_Init(ierror)
  do i = 1, 2
    call MPI_Send(i, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call MPI_Recv(out, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
  end do
  call MPI_Finalize(ierror)
end program
`

// A profiler sees the calls of a program in C and Fortran, as an object and as a shared library,
// whose variables are each rank's.
func TestProfiling(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	wrap := func(language toolchain.Language, arguments ...string) {
		t.Helper()
		var printed bytes.Buffer
		if code, err := toolchain.Wrap(language, append(arguments, "-O1", "-g"), nil, &printed, &printed); err != nil || code != 0 {
			t.Fatalf("%q: %v, exit code %d:\n%s", arguments, err, code, &printed)
		}
	}
	source, object := write("profiler.c", profiler), filepath.Join(dir, "profiler.o")
	wrap(toolchain.C, "-c", source, "-o", object)
	wrap(toolchain.C, "-shared", source, "-o", filepath.Join(dir, "libprofiler.so"))
	ways := map[string][]string{"object": {object}, "library": {"-L" + dir, "-lprofiler", "-Wl,-rpath," + dir}}
	for name, text := range profiled {
		file := write(name, text)
		for way, flags := range ways {
			program := filepath.Join(dir, name+"."+way)
			wrap(languages[filepath.Ext(name)].wrapper, append([]string{file, "-o", program}, flags...)...)
			says := "Fortran: rank %d has 2 calls with 8 bytes\n"
			if name == "c.c" {
				says = "C: rank %d has 3 calls with 16 bytes\n"
			}
			for _, engines := range []int{1, 2, 3} {
				_, lines, err := run(t, program, "xt5", 3, hosting{engines: engines})
				if want := []string{fmt.Sprintf(says, 0), fmt.Sprintf(says, 1), fmt.Sprintf(says, 2)}; err != nil || !slices.Equal(lines, want) {
					t.Errorf("%s with the profiler as %s, %d engines: %v, printed %q, want %q", name, way, engines, err, lines, want)
				}
			}
		}
	}
}

// A profiler in LD_PRELOAD, which would take the place of functions that the simulator itself calls, is refused.
func TestPreloadedProfiler(t *testing.T) {
	if os.Getenv("LD_PRELOAD") != "" {
		if err := native.Available(); err == nil || !strings.Contains(err.Error(), "LD_PRELOAD: link a profiler with the program") {
			t.Errorf("with LD_PRELOAD: %v", err)
		}
		return
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "profiler.c"), filepath.Join(dir, "libprofiler.so")
	if err := os.WriteFile(source, []byte(profiler), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, err := toolchain.Wrap(toolchain.C, []string{"-shared", source, "-o", library}, nil, os.Stderr, os.Stderr); err != nil || code != 0 {
		t.Fatalf("%v, exit code %d", err, code)
	}
	again := exec.Command(os.Args[0], "-test.run=^TestPreloadedProfiler$")
	again.Env = append(os.Environ(), "LD_PRELOAD="+library)
	if text, err := again.CombinedOutput(); err != nil || !strings.Contains(string(text), "PASS") {
		t.Errorf("%v\n%s", err, text)
	}
}
