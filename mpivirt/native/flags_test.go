//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/mpivirt/native/toolchain"
)

// The counts of a program that is built for gcov are those of all its ranks, though the ranks of two engines end together.
func TestCoverage(t *testing.T) {
	const ranks = 200
	dir := t.TempDir()
	source := filepath.Join(dir, "counted.c")
	text := "#include <mpi.h>\nint main(int n, char **all) {\n\tMPI_Init(&n, &all);\n\tfor (int i = 0; i < 7; i++)\n\t\tn += i;\n\tMPI_Barrier(MPI_COMM_WORLD);\n\treturn MPI_Finalize();\n}\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "counted")
	t.Chdir(dir)
	var printed bytes.Buffer
	if code, err := toolchain.Wrap(toolchain.C, []string{"--coverage", "-o", program, source}, nil, &printed, &printed); err != nil || code != 0 {
		t.Fatalf("%v, exit code %d\n%s", err, code, &printed)
	}
	for i := range 5 {
		files, err := filepath.Glob("*.gcda")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := run(t, program, "xt5", ranks, hosting{engines: 2}); err != nil {
			t.Fatal(err)
		}
		files, err = filepath.Glob("*.gcda")
		if err != nil || len(files) != 1 {
			t.Fatalf("%v: the counts are in %q", err, files)
		}
		output, err := exec.Command("gcov", "--stdout", files[0]).Output()
		if want := fmt.Sprintf("%d:    5:", 7*ranks); err != nil || !strings.Contains(string(output), want) {
			t.Errorf("run %d: %v, want %s in\n%s", i, err, want, output)
		}
	}
}

// A program that does not go on after undefined behaviour names its rank.
func TestUndefinedBehaviour(t *testing.T) {
	program := build(t, prelude+`
#include <limits.h>
int main(int argc, char **argv) {
	begin(&argc, &argv);
	volatile int most = INT_MAX;
	if (rank == 1)
		most++;
	return MPI_Finalize();
}
`, "-fsanitize=undefined", "-fno-sanitize-recover=undefined")
	if _, _, err := run(t, program, "xt5", 2, hosting{engines: 2}); err == nil || !strings.HasPrefix(err.Error(), "rank 1 failed at virtual time 1ms: the rank has called abort (SIGABRT) in main (program.c:") {
		t.Errorf("%v", err)
	}
}

// Programs that ask for static libraries run as others do: files, streams and exceptions are those of the rank.
func TestStaticLibrariesRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"files.f90": `program files
  use mpi
  integer :: ierr, rank, n = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  open (10, status='scratch')
  write (10, *) rank + 1
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  rewind (10)
  read (10, *) n
  print '(a,i0,a,i0)', 'rank ', rank, ' has ', n
  call MPI_Finalize(ierr)
end program
`,
		"throws.cc": `#include <mpi.h>
#include <iostream>
#include <vector>
int main(int argc, char **argv) {
	int rank;
	std::vector<int> none;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	try {
		MPI_Barrier(MPI_COMM_WORLD);
		none.at(rank);
	} catch (const std::exception &) {
		std::cout << "rank " << rank << " has " << rank + 1 << std::endl;
	}
	return MPI_Finalize();
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range []string{"files.f90 -static-libgfortran", "files.f90 -static", "throws.cc -static-libstdc++ -static-libgcc", "throws.cc -static"} {
		words := strings.Fields(arguments)
		program := filepath.Join(dir, "program")
		var printed bytes.Buffer
		words[0] = filepath.Join(dir, words[0])
		code, err := toolchain.Wrap(languages[filepath.Ext(words[0])].wrapper, append(words, "-o", program), nil, &printed, &printed)
		if err != nil || code != 0 {
			t.Fatalf("%s: %v, exit code %d\n%s", arguments, err, code, &printed)
		}
		_, lines, err := run(t, program, "xt5", 3, hosting{engines: 2})
		if want := "rank 0 has 1\nrank 1 has 2\nrank 2 has 3\n"; err != nil || strings.Join(lines, "") != want {
			t.Errorf("%s: %v, prints\n%s", arguments, err, strings.Join(lines, ""))
		}
	}
}
