//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// What the C library keeps for a process is each rank's own: thread-local variables, random
// numbers, options, environment, locale, working directory, handlers of signals, and what is
// called at the end.
func TestProcess(t *testing.T) {
	program := build(t, "process.c")
	for _, ranks := range []int{1, 4} {
		lines := everywhere(t, program, ranks)
		var want []string
		for rank := range ranks {
			want = append(want, fmt.Sprintf("rank %d: end 1\n", rank), fmt.Sprintf("rank %d: the destructor, 3\n", rank))
		}
		if len(lines) == 0 || !strings.HasSuffix(lines[0], fmt.Sprintf(" checks on %d ranks, 0 failed\n", ranks)) || !slices.Equal(lines[1:], want) {
			t.Errorf("%d ranks print\n%s", ranks, strings.Join(lines, ""))
		}
	}
}

// Objects of C++ are made and end in each rank, and so do exceptions.
func TestObjects(t *testing.T) {
	lines := everywhere(t, build(t, "objects.cc"), 3)
	want := []string{"objects: 0 faults on  3 ranks\n"}
	for rank := range 3 {
		for left, what := range []string{"a static object with a name of some length", "an object of a function", fmt.Sprintf("a thread-local object of %d", rank)} {
			want = append(want, fmt.Sprintf("rank %d: %s ends, %d left\n", rank, what, left))
		}
	}
	if slices.Sort(want); !slices.Equal(lines, want) {
		t.Errorf("printed\n%s", strings.Join(lines, ""))
	}
}

// Variables that are large are mapped, and take memory only where a rank has written them. Messages
// go there while other ranks run.
func TestLargeVariables(t *testing.T) {
	program := build(t, prelude+`
static double field[1 << 23], edges[2][1000];
static int table[100000] = {1, 2, 3};
static __thread int local;
int main(int argc, char **argv) {
	begin(&argc, &argv);
	int faults = field[1 << 22] != 0 || table[2] != 3 || table[99999] != 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int i = 0; i < 3; i++) {
		field[rank << 12] += rank + i, table[99999] += rank, local += rank;
		MPI_Request q;
		MPI_Irecv(&field[(1 << 22) + 1000], 1000, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &q);
		for (int k = 0; k < 1000; k++)
			edges[0][k] = 1000 * rank + k + i;
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Send(edges[0], 1000, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		for (int k = 0; k < 1000; k++)
			faults += field[(1 << 22) + 1000 + k] != 1000 * left + k + i;
		MPI_Allreduce(&field[rank << 12], &edges[1][i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	faults += table[99999] != 3 * rank || local != 3 * rank || edges[1][0] != size * (size - 1) / 2 || table[1] != 2;
	for (int other = 0; other < 64 && size <= 64; other++)
		faults += field[other << 12] != (other == rank ? 3 * rank + 3 : 0);
	if (faults)
		printf("rank %d has %d faults\n", rank, faults);
	return MPI_Finalize();
}
`)
	if lines := everywhere(t, program, 5); len(lines) != 0 {
		t.Error(strings.Join(lines, ""))
	}
	// Where CPU times count, few ranks have an image of the program each.
	var ways []hosting
	for _, h := range hostings(5) {
		h.bursts = func(int, int) mpivirt.Bursts { return metronome{vtime.Microsecond} }
		ways = append(ways, h)
	}
	if lines := alike(t, program, "xt5", 5, ways); len(lines) != 0 {
		t.Error(strings.Join(lines, ""))
	}
	// 300 ranks have 20 GB of variables, of which they write 10 MB.
	before := residentPeak(t)
	if _, lines, err := run(t, program, "xt5", 300, hosting{engines: 2}); err != nil || len(lines) != 0 {
		t.Errorf("%v\n%s", err, strings.Join(lines, ""))
	}
	if grown := residentPeak(t) - before; grown > 300<<20 {
		t.Errorf("300 ranks have taken %d bytes", grown)
	}
}

// A rank in a process of its own has its variables where they are. Where CPU times count, few ranks
// of an engine do not move theirs either: each is in a place of its own.
func TestVariablesStay(t *testing.T) {
	program := build(t, prelude+`
static double field[1 << 20];
int main(int argc, char **argv) {
	begin(&argc, &argv);
	field[rank] = rank;
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%p\n", (void *)field);
	return MPI_Finalize();
}
`)
	for _, c := range []struct {
		ranks  int
		bursts func(first, n int) mpivirt.Bursts
		places int
	}{{3, measured, 3}, {3, nil, 1}, {40, measured, 1}} {
		_, lines, err := run(t, program, "xt5", c.ranks, hosting{engines: 1, bursts: c.bursts})
		if places := len(slices.Compact(slices.Clone(lines))); err != nil || len(lines) != c.ranks || places != c.places {
			t.Errorf("%d ranks have their variables in %d places, want %d: %v, %v", c.ranks, places, c.places, lines, err)
		}
	}
}

// residentPeak returns the most memory that the process has had, in bytes.
func residentPeak(t *testing.T) int64 {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Maxrss << 10
}

const inputVariable = "GIGARANK_TEST_INPUT"

// Rank 0 reads the standard input, and the others find its end. The test runs in a process of
// its own, which has an input.
func TestInput(t *testing.T) {
	if program := os.Getenv(inputVariable); program != "" {
		for _, engines := range []int{1, 2} {
			if _, err := os.Stdin.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			if _, lines, err := run(t, program, "xt5", 3, hosting{engines: engines}, "input"); err != nil || !strings.HasSuffix(lines[0], " 0 failed\n") {
				t.Errorf("%v\n%s", err, strings.Join(lines, ""))
			}
		}
		return
	}
	input, err := os.Create(t.TempDir() + "/input")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = input.Close() }()
	if _, err := input.WriteString("the first line\n42 and more\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	again := exec.Command(os.Args[0], "-test.run=^TestInput$", "-test.count=1")
	again.Env, again.Stdin = append(os.Environ(), inputVariable+"="+build(t, "process.c")), input
	if text, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
