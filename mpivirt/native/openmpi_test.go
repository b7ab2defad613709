//go:build mpi && cgo && linux && (amd64 || arm64)

package native_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gigarank/mpivirt/native"
)

// The programs print the same under a real MPI.
func TestConformanceAgainstRealMPI(t *testing.T) {
	for _, source := range conformance(t) {
		t.Run(labelOf(source), func(t *testing.T) {
			t.Parallel()
			compareWithReal(t, source, buildConformance(t, source), []int{2, 5})
		})
	}
}

// compareWithReal runs a program by mpirun, and by gigarank on one engine and two, and compares their
// output.
func compareWithReal(t *testing.T, source, program string, counts []int, arguments ...string) {
	t.Helper()
	reality := buildReal(t, source)
	for _, ranks := range counts {
		want := runReal(t, reality, ranks, arguments...)
		for engines := range 2 {
			_, got, err := run(t, program, "xt5", ranks, hosting{engines: engines + 1}, arguments...)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v; %d ranks on %d engines print\n%s, under mpirun\n%s", err, ranks, engines+1, strings.Join(got, ""), strings.Join(want, ""))
			}
		}
	}
}

// buildReal builds a program for the real MPI.
func buildReal(t *testing.T, source string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "real")
	compiler := languages[languageOf(source)].real
	file, _ := fileOf(source)
	if text, err := exec.Command(compiler, slices.Concat([]string{file, "-o", program, "-lm"}, flagsIn(source, filepath.Dir(program)), []string{"-Wno-error"})...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	return program
}

// patience is how long a program may take under mpirun. The longest takes some seconds beside other tests.
const patience = 2 * time.Minute

// runReal runs a program by mpirun and returns what it prints, in the order of its lines.
func runReal(t *testing.T, program string, ranks int, arguments ...string) []string {
	t.Helper()
	text, err := outputWithin(t, patience, "mpirun", append([]string{"-n", strconv.Itoa(ranks), program}, arguments...)...)
	if err != nil {
		t.Fatalf("mpirun -n %d %s %s: %v\n%s", ranks, program, strings.Join(arguments, " "), err, text)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	slices.Sort(lines)
	return lines
}

// anyHost lets Open MPI start more processes than cores, and as root, as is usual where tests run.
var anyHost = []string{
	"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none",
	"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
}

// outputWithin runs a command and returns the standard output. Its error has the standard error. After a time the command is told to end, and
// killed ten seconds later.
func outputWithin(t *testing.T, limit time.Duration, name string, arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = append(os.Environ(), anyHost...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // mpirun ends its processes
	command.WaitDelay = 10 * time.Second
	text, err := command.Output()
	if ended, _ := errors.AsType[*exec.ExitError](err); ended != nil {
		err = fmt.Errorf("%w\n%s", err, ended.Stderr)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("not over after %v: %w", limit, ctx.Err())
	}
	return text, err
}

// A program that hangs under mpirun ends.
func TestRealRunsEnd(t *testing.T) {
	begin := time.Now()
	if text, err := outputWithin(t, time.Second, "mpirun", "-n", "2", "sleep", "100"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 30*time.Second {
		t.Errorf("after %v: %v, %q", time.Since(begin), err, text)
	}
}

// The state of a process that a rank has is the state that a real process has.
func TestProcessAgainstRealMPI(t *testing.T) {
	for _, source := range []string{"process.c", "objects.cc"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			compareWithReal(t, filepath.Join("testdata", source), build(t, source), []int{3})
		})
	}
}

func TestExamplesAgainstRealMPI(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			compareWithReal(t, exampleSource(e.name), buildExample(t, e.name), []int{4}, e.arguments...)
		})
	}
}

func TestExampleInCXXAgainstRealMPI(t *testing.T) {
	compareWithReal(t, exampleInCXX, build(t, filepath.Join("..", exampleInCXX)), []int{4})
}

func TestExampleInFortranAgainstRealMPI(t *testing.T) {
	source := filepath.Join("..", "..", "examples", "fortran", "picalc.f90")
	compareWithReal(t, source, buildFortran(t, source), []int{4})
}

var (
	randomSeed     = flag.Int("random.seed", 0, "the first seed of TestRandomCollectivesAgainstRealMPI; 0 for one from the clock")
	randomPrograms = flag.Int("random.programs", 6, "the number of seeds of TestRandomCollectivesAgainstRealMPI")
)

// Random datatypes and collectives do the same under a real MPI. A failure names the flag that has
// its seed again.
func TestRandomCollectivesAgainstRealMPI(t *testing.T) {
	const rounds = 100
	source := filepath.Join("testdata", "random.c")
	program, real := build(t, "random.c"), buildReal(t, source)
	first := *randomSeed
	if first == 0 {
		first = int(time.Now().Unix() % 1e6)
	}
	for seed := first; seed < first+*randomPrograms; seed++ {
		ranks := 2 + seed%4
		arguments := []string{strconv.Itoa(seed), strconv.Itoa(rounds)}
		want := runReal(t, real, ranks, arguments...)
		for _, h := range []hosting{{engines: 1, stacks: native.Copied}, {engines: 2}} {
			_, got, err := run(t, program, "xt5", ranks, h, arguments...)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("-random.seed=%d -random.programs=1, %d ranks, %d engines: %v%s", seed, ranks, h.engines, err, firstDifference(got, want))
			}
		}
	}
	t.Logf("seeds %d to %d", first, first+*randomPrograms-1)
}
