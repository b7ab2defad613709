//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// Makefiles and scripts that configure a program find the wrappers in PATH by the names that they have.
func TestMakefilesFindWrappers(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute([]string{"wrappers", bin}, c); code != terminal.ExitDone {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for name, text := range map[string]string{
		"ring.c":  "#include <mpi.h>\nint main(int n, char **all) { return MPI_Init(&n, &all) + MPI_Finalize(); }\n",
		"sum.cc":  "#include <mpi.h>\n#include <vector>\nint main(int n, char **all) { std::vector<int> v(1); return MPI_Init(&n, &all) + v[0] + MPI_Finalize(); }\n",
		"old.f":   "      program old\n      include 'mpif.h'\n      integer ierr\n      call MPI_INIT(ierr)\n      call MPI_FINALIZE(ierr)\n      end\n",
		"new.f90": "program new\n  use mpi_f08\n  call MPI_Init()\n  call MPI_Finalize()\nend program\n",
		"Makefile": `all: ring sum plus upper old new fort
ring: ring.c
	$(CC) $(CFLAGS) -o $@ $< -lm
sum: sum.cc
	mpicxx -c -o sum.o $<
	mpicxx -o $@ sum.o
plus: sum.cc
	mpic++ -o $@ $<
upper: sum.cc
	mpiCC -o $@ $<
old: old.f
	mpif77 -o $@ $<
new: new.f90
	mpif90 -o $@ $<
fort: new.f90
	mpifort -static-libgfortran -o $@ $<
`,
		// As Autoconf's AC_CHECK_PROGS and tests of a compiler, and FFTW's MPICC.
		"configure": `#!/bin/sh -e
for MPICC in "${MPICC:-mpicc}" cc; do command -v "$MPICC" && break; done
echo 'int main(void) { return 0; }' > conftest.c
$MPICC -o conftest conftest.c && ./conftest
echo 'char MPI_Init(); int main(void) { return MPI_Init == 0; }' > conftest.c
$MPICC -o conftest conftest.c -w && ./conftest
$MPICC -show | grep -q gigarank_mpi
$MPICC -showme:compile | grep -q -e -I
echo "MPICC=$MPICC" > made
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range [][]string{{"make", "CC=mpicc", "CFLAGS=-O1 -Wall -Werror"}, {"sh", "./configure"}, {"env", "MPICC=" + filepath.Join(bin, "mpicc"), "./configure"}} {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), beMain+"=1")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", words, err, text)
		}
	}
	for _, program := range strings.Fields("ring sum plus upper old new fort") {
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"run", filepath.Join(dir, program), "--ranks", "2"}, c); code != terminal.ExitDone {
			t.Errorf("%s: exit code %d\n%s%s", program, code, stdout, stderr)
		}
	}
}
