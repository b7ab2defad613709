//go:build mpi && cgo && linux && (amd64 || arm64)

package toolchain_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gigarank/mpivirt/native/toolchain"
)

// CMake takes the wrappers for compilers of all languages, finds MPI by them, and builds programs
// with static and shared libraries.
func TestCMake(t *testing.T) {
	commands, dir := wrappers(t), t.TempDir()
	for name, text := range map[string]string{
		"CMakeLists.txt": `cmake_minimum_required(VERSION 3.16)
project(three C CXX Fortran)
find_package(MPI REQUIRED)
add_library(static STATIC static.c)
add_library(shared SHARED shared.c)
add_executable(in_c main.c)
target_link_libraries(in_c static shared MPI::MPI_C)
add_executable(in_cxx main.cc)
target_link_libraries(in_cxx MPI::MPI_CXX)
add_executable(in_fortran main.f90)
target_link_libraries(in_fortran MPI::MPI_Fortran)
`,
		"static.c": "#include <mpi.h>\nint members(void) { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); return n; }\n",
		"shared.c": "#include <mpi.h>\nint member(void) { int n; MPI_Comm_rank(MPI_COMM_WORLD, &n); return n; }\n",
		"main.c":   "#include <mpi.h>\nint member(void), members(void);\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); return member() >= members() || MPI_Finalize(); }\n",
		"main.cc":  "#include <mpi.h>\n#include <iostream>\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); std::cout << argc; return MPI_Finalize(); }\n",
		"main.f90": "program main\n  use mpi_f08\n  call MPI_Init()\n  call MPI_Finalize()\nend program\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", commands+":"+os.Getenv("PATH"))
	for _, names := range [][]string{
		{"-DCMAKE_C_COMPILER=" + filepath.Join(commands, "gigarank-cc"), "-DCMAKE_CXX_COMPILER=" + filepath.Join(commands, "gigarank-cxx"), "-DCMAKE_Fortran_COMPILER=" + filepath.Join(commands, "gigarank-fc")},
		{"-DCMAKE_C_COMPILER=mpicc", "-DCMAKE_CXX_COMPILER=mpicxx", "-DCMAKE_Fortran_COMPILER=mpifort"},
	} {
		build := t.TempDir()
		for _, arguments := range [][]string{append(names, "-S", dir, "-B", build), {"--build", build}} {
			if text, err := exec.Command("cmake", arguments...).CombinedOutput(); err != nil {
				t.Fatalf("cmake %q: %v\n%s", arguments, err, text)
			}
		}
		for _, program := range []string{"in_c", "in_cxx", "in_fortran"} {
			if err := toolchain.Check(filepath.Join(build, program)); err != nil {
				t.Error(err)
			}
		}
	}
}

// wrappers returns a directory with the wrappers as commands.
func wrappers(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	names := toolchain.UsualNames()
	for _, language := range toolchain.Languages() {
		names = append(names, "gigarank-"+language.String())
	}
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
