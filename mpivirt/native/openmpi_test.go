//go:build mpi && cgo && linux && (amd64 || arm64)

package native_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The programs print the same under a real MPI.
func TestConformanceAgainstRealMPI(t *testing.T) {
	for _, source := range conformance(t) {
		t.Run(nameOf(source), func(t *testing.T) {
			t.Parallel()
			compareWithReal(t, source, buildConformance(t, source), 3)
		})
	}
}

// compareWithReal runs a program by mpirun and by gigarank, and compares their output.
func compareWithReal(t *testing.T, source, program string, ranks int, arguments ...string) {
	t.Helper()
	real := filepath.Join(t.TempDir(), "real")
	language := languages[filepath.Ext(source)]
	compiler := language.real
	if text, err := exec.Command(compiler, slices.Concat([]string{source, "-o", real, "-lm"}, flagsIn(source, filepath.Dir(real)), []string{"-Wno-error"})...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	text, err := exec.Command("mpirun", append([]string{"-n", strconv.Itoa(ranks), real}, arguments...)...).Output()
	if err != nil {
		t.Fatalf("mpirun: %v\n%s", err, text)
	}
	want := slices.Collect(strings.Lines(string(text)))
	slices.Sort(want)
	_, got, err := run(t, program, "xt5", ranks, hosting{engines: 2}, arguments...)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v; %d ranks print\n%s, under mpirun\n%s", err, ranks, strings.Join(got, ""), strings.Join(want, ""))
	}
}

// What a rank has of a process is what a process has.
func TestProcessAgainstRealMPI(t *testing.T) {
	for _, source := range []string{"process.c", "objects.cc"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			compareWithReal(t, filepath.Join("testdata", source), build(t, source), 3)
		})
	}
}

func TestExamplesAgainstRealMPI(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			compareWithReal(t, exampleSource(e.name), buildExample(t, e.name), 4, e.arguments...)
		})
	}
}

func TestExampleInCXXAgainstRealMPI(t *testing.T) {
	compareWithReal(t, exampleInCXX, build(t, filepath.Join("..", exampleInCXX)), 4)
}

func TestExampleInFortranAgainstRealMPI(t *testing.T) {
	source := filepath.Join("..", "..", "examples", "fortran", "picalc.f90")
	compareWithReal(t, source, buildFortran(t, source), 4)
}
