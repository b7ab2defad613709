//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	stdsync "sync"
	"testing"

	"gigarank/collectives"
	"gigarank/internal/tuning"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/network"
	"gigarank/sync"
)

// build builds a program from a file in testdata, or from a text that holds a line.
func build(t *testing.T, source string, flags ...string) (program string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join("testdata", source)
	if strings.Contains(source, "\n") {
		file = filepath.Join(dir, "program.c")
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "program")
	var printed bytes.Buffer
	arguments := append([]string{"-O2", "-g", "-Wall", "-Werror", file, "-o", program}, flags...)
	code, err := toolchain.Wrap(languages[filepath.Ext(file)].wrapper, arguments, nil, &printed, &printed)
	if err != nil || code != 0 {
		t.Fatalf("%v, exit code %d:\n%s", err, code, &printed)
	}
	return program
}

// buildWithLibrary builds a program from a text, with a shared library of its own next to it.
func buildWithLibrary(t *testing.T, name, text, library, libraryText string) (program string) {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{name: text, library: libraryText} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "program")
	for _, c := range []struct {
		file      string
		arguments []string
	}{
		{library, []string{"-shared", "-o", filepath.Join(dir, "libpart.so")}},
		{name, []string{"-o", program, "-L" + dir, "-lpart", "-Wl,-rpath,$ORIGIN"}},
	} {
		var printed bytes.Buffer
		arguments := append([]string{"-g", filepath.Join(dir, c.file)}, c.arguments...)
		if code, err := toolchain.Wrap(languages[filepath.Ext(c.file)].wrapper, arguments, nil, &printed, &printed); err != nil || code != 0 {
			t.Fatalf("%v, exit code %d:\n%s", err, code, &printed)
		}
	}
	return program
}

// hosting is how a program is simulated, which must not matter.
type hosting struct {
	engines     int
	protocol    sync.Protocol
	strict      bool
	collectives mpivirt.Interpreter
	library     string // as --library has it
	stacks      native.Stacks
	label       bool
	unposted    bool                              // each call switches to the engine
	ordered     bool                              // lines stay in the order in which they were printed
	places      bool                              // errors keep the places of calls
	sites       bool                              // calls are summed up by place, and times over the run
	strictly    bool                              // functions must not be used that native ranks do not have
	watchdog    float64                           // seconds
	bursts      func(first, n int) mpivirt.Bursts // nil if CPU times do not count
}

// machines is the library of a hosting that is the machine's own.
const machines = "of the machine"

// run runs a program and returns what it prints, in the order of its lines.
func run(t *testing.T, program, machine string, ranks int, h hosting, arguments ...string) (*mpivirt.Result, []string, error) {
	t.Helper()
	form, err := native.Open(program, arguments, native.Options{Stack: 256 << 10, Stacks: h.stacks, Label: h.label, Unposted: h.unposted, StrictFunctions: h.strictly})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := network.Load(machine, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	target, err := loaded.Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	var library collectives.Library
	if h.library != "" {
		if library, err = tuning.Library(strings.TrimPrefix(h.library, machines), loaded, nil); err != nil {
			t.Fatal(err)
		}
	}
	var lock stdsync.Mutex
	var printed strings.Builder
	s, err := mpivirt.New(mpivirt.Config{
		Target: target, Library: library, Program: mpivirt.Program{Name: program, Forms: []mpivirt.Form{form}},
		Transports: sync.NewInProcess(h.engines), Protocol: h.protocol, Strict: h.strict, Collectives: h.collectives, Bursts: h.bursts, Watchdog: h.watchdog,
		Activities: h.sites, Sites: h.sites, Course: h.sites,
		Output: func(text string) {
			lock.Lock()
			defer lock.Unlock()
			printed.WriteString(text)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.Run()
	if err != nil && !h.places {
		err = placeless{err}
	}
	lines := slices.Collect(strings.Lines(printed.String()))
	if !h.ordered {
		slices.Sort(lines)
	}
	return result, lines, err
}

// placeless is an error without the places of calls in its text. Most programs of the tests have no lines to name.
type placeless struct{ error }

var places = regexp.MustCompile(`, called in [^()\n]+ \([^()\n]*\),?`)

func (e placeless) Error() string { return places.ReplaceAllString(e.error.Error(), "") }

func (e placeless) Unwrap() error { return e.error }

// hostings are all ways to simulate a program with a number of ranks.
func hostings(ranks int) (all []hosting) {
	for _, engines := range []int{1, 2, 3} {
		for _, protocol := range []sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null} {
			if engines <= ranks {
				all = append(all, hosting{engines: engines, protocol: protocol, strict: engines == 3 && protocol == sync.Hybrid})
			}
		}
	}
	return append(all, hosting{engines: min(2, ranks), collectives: mpivirt.Message},
		hosting{engines: 1, strict: true}, hosting{engines: 1, stacks: native.Copied},
		hosting{engines: min(2, ranks), stacks: native.Copied, strict: true})
}

// everywhere runs a program in all ways. All give the same result and print the same lines,
// which it returns.
func everywhere(t *testing.T, program string, ranks int, arguments ...string) (lines []string) {
	t.Helper()
	for _, machine := range []string{"xt5", "loggops-default"} {
		printed := alike(t, program, machine, ranks, hostings(ranks), arguments...)
		if lines == nil {
			lines = printed
		}
		if !slices.Equal(printed, lines) {
			t.Errorf("%d ranks print\n%s on %s, want\n%s", ranks, strings.Join(printed, ""), machine, strings.Join(lines, ""))
		}
	}
	return lines
}

// alike runs a program on a machine in some ways. All give the same result and print the same
// lines, which it returns.
func alike(t *testing.T, program, machine string, ranks int, ways []hosting, arguments ...string) (lines []string) {
	t.Helper()
	var plain *mpivirt.Result
	for _, h := range ways {
		result, printed, err := run(t, program, machine, ranks, h, arguments...)
		if err != nil {
			t.Fatalf("%d ranks on %s, %+v: %v\n%s", ranks, machine, h, err, strings.Join(printed, ""))
		}
		if plain == nil {
			plain, lines = result, printed
		}
		if result.Fingerprint != plain.Fingerprint || result.VirtualTime != plain.VirtualTime {
			t.Errorf("%d ranks on %s, %+v: %v and fingerprint %s, plainly %v and %s", ranks, machine, h,
				result.VirtualTime, result.Fingerprint, plain.VirtualTime, plain.Fingerprint)
		}
		if !slices.Equal(printed, lines) {
			t.Errorf("%d ranks on %s, %+v print\n%s, want\n%s", ranks, machine, h, strings.Join(printed, ""), strings.Join(lines, ""))
		}
	}
	return lines
}

// Ranks that wait in barriers keep the contents of their stacks, whatever other ranks have there.
func TestStacksInBarriers(t *testing.T) {
	program := build(t, "barriers.c")
	for _, ranks := range []int{1, 7, 300} {
		ways := []hosting{{engines: 1}, {engines: 1, stacks: native.Copied}, {engines: min(3, ranks), stacks: native.Copied}}
		sum := 0
		for rank := range ranks { // own[0] of each level is 1000 rank + 10 level, or level
			for words := 0; words <= 24; words += 3 {
				for _, c := range []struct{ level, words int }{{words % 4, words}, {5 + words%2*40, 1 - rank%2 + rank%2*words}} {
					for level := range c.level + 1 {
						if c.words > 0 {
							sum += 1000*rank + 10*level
						} else {
							sum += level
						}
					}
				}
			}
		}
		if lines, want := alike(t, program, "xt5", ranks, ways), fmt.Sprintf("sum %d\n", sum); !slices.Equal(lines, []string{want}) {
			t.Errorf("%d ranks print %q, want %q", ranks, lines, want)
		}
	}
}

// So do ranks that wait in collectives whose buffers lie on their stacks or elsewhere.
func TestStacksInCollectives(t *testing.T) {
	program := build(t, "buffers.c")
	for _, ranks := range []int{2, 7, 100} {
		ways := []hosting{{engines: 1}, {engines: 1, stacks: native.Copied}, {engines: 2, stacks: native.Copied}, {engines: 1, stacks: native.Copied, collectives: mpivirt.Message}}
		if lines := alike(t, program, "xt5", ranks, ways); !slices.Equal(lines, []string{"sum 1\n"}) {
			t.Errorf("%d ranks print %q", ranks, lines)
		}
	}
}

// An engine of few ranks gives each a stack of its own, where the addresses of their variables differ. Many ranks run on one stack, but
// for ranks that may leave threads behind, which need their stacks for longer.
func TestRanksShareAStackWhereTheyAreMany(t *testing.T) {
	const compares = prelude + `
static void *nothing(void *p) { return p; }
int main(int argc, char **argv) {
	long here = nothing(NULL) != NULL, there = 0;
	pthread_t t = 0;
	begin(&argc, &argv);
	here = argc > 9 ? pthread_create(&t, NULL, nothing, NULL) : (long)&here;
	if (rank == 1)
		MPI_Send(&here, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Recv(&there, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		puts(here == there ? "shared" : "own");
	}
	return MPI_Finalize();
}
`
	threaded, plain := build(t, compares), build(t, strings.Replace(compares, "pthread_create(&t, NULL, nothing, NULL)", "(long)t", 1))
	for _, c := range []struct {
		program        string
		ranks, engines int
		want           string
	}{
		{plain, 4096, 1, "own"}, {plain, 4097, 1, "shared"}, {plain, 8192, 2, "own"}, {plain, 10_000, 2, "shared"}, {threaded, 4097, 1, "own"}, {threaded, 16_385, 1, "shared"},
	} {
		if _, lines, err := run(t, c.program, "xt5", c.ranks, hosting{engines: c.engines}); err != nil || strings.Join(lines, "") != c.want+"\n" {
			t.Errorf("%d ranks on %d engines: %q and %v, want %s", c.ranks, c.engines, lines, err, c.want)
		}
	}
}

func TestRing(t *testing.T) {
	program := build(t, "ring.c")
	for _, ranks := range []int{2, 5, 29} {
		want := fmt.Sprintf("%d hops with 2 arguments; the last from %d with tag 7\n", ranks, ranks-1)
		if lines := everywhere(t, program, ranks, "a", "-b"); !slices.Equal(lines, []string{want}) {
			t.Errorf("%d ranks print %q, want %q", ranks, lines, want)
		}
	}
}

// Registers of floating point numbers and their rounding are a rank's own. A third is
// 0x1.5555555555555p-2, or 0x1.5555555555556p-2 where it is rounded up (IEEE 754).
func TestRegisters(t *testing.T) {
	program := build(t, "registers.c", "-frounding-math", "-lm")
	var want []string
	for rank := range 9 {
		third := []string{"0.33333333333333331", "0.33333333333333338", "0.33333333333333331", "0.33333333333333331"}[rank%4]
		want = append(want, fmt.Sprintf("%d: to nearest, its own, %s, kept\n", rank, third))
	}
	if lines := everywhere(t, program, 9); !slices.Equal(lines, want) {
		t.Errorf("printed %q, want %q", lines, want)
	}
}

// Arguments are a rank's own, also where copied stacks have the same ends.
func TestArguments(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 3; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank % 2 && i == 1)
			sprintf(argv[1], "%d", rank), argv[2] = argv[1];
		MPI_Barrier(MPI_COMM_WORLD);
		if (i == 2)
			MPI_Sendrecv(argv[1], 2, MPI_CHAR, rank ^ 1, 0, argv[3], 2, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("%d: %s %s %s\n", rank, argv[1], argv[2], argv[3]);
	return MPI_Finalize();
}
`)
	want := []string{"0: a bb 1\n", "1: 1 1 a\n", "2: a bb 3\n", "3: 3 3 a\n"}
	if lines := everywhere(t, program, 4, "a", "bb", "cc"); !slices.Equal(lines, want) {
		t.Errorf("printed %q, want %q", lines, want)
	}
}

// A program runs again and again in one process, from the same state.
func TestAgain(t *testing.T) {
	program := build(t, "ring.c")
	first, _, err := run(t, program, "xt5", 10, hosting{engines: 2})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, _, err := run(t, program, "xt5", 10, hosting{engines: 2})
		if err != nil || again.Fingerprint != first.Fingerprint {
			t.Errorf("%v, fingerprint %s, the first time %s", err, again.Fingerprint, first.Fingerprint)
		}
	}
}

// More engines than ranks run a program with variables.
func TestEnginesWithoutRanks(t *testing.T) {
	program := build(t, `#include <mpi.h>
int runs;
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	return MPI_Finalize() || ++runs > 1;
}
`)
	if _, _, err := run(t, program, "xt5", 1, hosting{engines: 3}); err != nil {
		t.Error(err)
	}
}

// Ranks that wait for ever are reported by rank and call.
func TestDeadlock(t *testing.T) {
	program := build(t, `#include <mpi.h>
int main(int argc, char **argv) {
	int rank, data = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Ssend(&data, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD);
	MPI_Recv(&data, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return MPI_Finalize();
}
`)
	_, _, err := run(t, program, "xt5", 4, hosting{engines: 2})
	var report *mpivirt.DeadlockError
	if !errors.As(err, &report) || report.Waiting != 4 || report.Blocked[1].Call != "Ssend" {
		t.Errorf("ended with %v, want 4 ranks that wait in Ssend", err)
	}
}
