//go:build mpi && cgo && linux && (amd64 || arm64)

package record_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gigarank/internal/seed"
	"gigarank/mpivirt"
	"gigarank/mpivirt/replay"
	"gigarank/sync"
	"gigarank/trace"
	"gigarank/trace/record"
)

// tasks compiles the program of these tests.
func tasks(t *testing.T, l library) string {
	t.Helper()
	program, err := build(t, l.mpicc, "testdata/tasks.c", "-lpthread")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// counts returns the calls of each function in the summary of a trace that is merged from a directory.
func counts(t *testing.T, dir string) (map[string]int64, *record.Merged) {
	t.Helper()
	f, m := merge(t, dir)
	return f.Summary.Functions, m
}

// A task that exits without MPI_Finalize leaves all that it has done; one that leaves by _exit leaves its full blocks. Both are told, and the trace is cut there.
func TestTasksThatLeave(t *testing.T) {
	program := tasks(t, openMPI)
	for _, c := range []struct{ how, problem string }{{"exit", "before MPI_Finalize"}, {"_exit", "killed or has left by _exit"}} {
		dir, _, _ := run(t, openMPI, 2, "", program, c.how, "20000")
		f, m := merge(t, dir)
		if len(m.Problems) != 2 || !strings.Contains(m.Problems[0], c.problem) || f.Summary.Ended != 0 {
			t.Errorf("%s: %q, %d tasks ended", c.how, m.Problems, f.Summary.Ended)
		}
		if n := f.Summary.Functions["MPI_Sendrecv"]; n < 20000 || n > 40000 || c.how == "exit" && n != 40000 {
			t.Errorf("%s: %d of 40000 calls", c.how, n)
		}
	}
}

// A file that cannot be written any more stops the recording, not the program. The trace has what was written before, and says so.
func TestFullDiskStopsRecording(t *testing.T) {
	program := tasks(t, openMPI)
	dir, text, err := run(t, openMPI, 2, "", "sh", "-c", "trap '' XFSZ; ulimit -f 200; exec "+program+" rounds 40000")
	if err != nil || !strings.Contains(text, "task 0: the recording stops after ") {
		t.Fatalf("%v\n%s", err, text)
	}
	f, m := merge(t, dir)
	if n := f.Summary.Functions["MPI_Sendrecv"]; n < 1000 || n >= 80000 || f.Summary.Ended != 0 || len(m.Problems) < 2 {
		t.Errorf("%d calls, %d tasks ended, %q", n, f.Summary.Ended, m.Problems)
	}
	files, err := record.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files { // what was written of a block is cut off
		if found := walk(t, name); found.Damages != 1 || found.Faults[0].Offset != found.Size {
			t.Errorf("%s: %v", name, found.Faults)
		}
	}
}

// walk reads the file of a task.
func walk(t *testing.T, name string) *trace.Found {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found, err := trace.Walk(name, bytes.NewReader(data), int64(len(data)), func(k *trace.Block, operations []byte) error {
		problem, err := k.Each(operations, func(int64, *trace.Operation) error { return nil })
		if problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		return err
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A process that is killed leaves a file that opens; its full blocks are kept, also by a repair. GIGARANK_KILLS is the number of runs.
func TestKilledTasks(t *testing.T) {
	kills := 3
	if text := os.Getenv("GIGARANK_KILLS"); text != "" {
		kills, _ = strconv.Atoi(text)
	}
	seed := seed.Next()
	draw := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	program := tasks(t, openMPI)
	pid := regexp.MustCompile(`pid (\d+)`)
	for range kills {
		after := time.Duration(draw.IntN(300)) * time.Millisecond
		dir := t.TempDir()
		told := filepath.Join(dir, "told")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = output(t, []string{}, openMPI.mpirun, "-n", "3", "env", "LD_PRELOAD="+recorder(t, openMPI).Path, "GIGATRACE=dir="+dir, "sh", "-c", "exec "+program+" pid 100000000 >> "+told)
		}()
		var victim int
		for begin := time.Now(); victim == 0 && time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
			text, _ := os.ReadFile(told)
			if m := pid.FindSubmatch(text); m != nil {
				victim, _ = strconv.Atoi(string(m[1]))
			}
		}
		if victim == 0 {
			t.Fatal("no process has told its number")
		}
		time.Sleep(after)
		if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-ended
		files, err := record.Files(dir)
		if err != nil || len(files) != 3 {
			t.Fatal(files, err)
		}
		var want int64
		for _, name := range files {
			found := walk(t, name)
			if found.Damages > 1 {
				t.Errorf("%v after %v: %v", name, after, found.Faults)
			}
			want += blocksOf(t, name)
		}
		f, m := merge(t, dir)
		if f.Summary.Operations != want || m.Count < 3 {
			t.Errorf("killed after %v: the trace has %d of %d operations, %q", after, f.Summary.Operations, want, m.Problems)
		}
	}
}

// blocksOf returns the operations in the blocks of the file of a task, and holds that a repair keeps them.
func blocksOf(t *testing.T, name string) (operations int64) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Walk(name, bytes.NewReader(data), int64(len(data)), func(k *trace.Block, _ []byte) error {
		operations += k.Count
		return nil
	}, nil); err != nil {
		t.Fatal(err)
	}
	if operations == 0 {
		return 0
	}
	var mended bytes.Buffer
	if _, _, err := trace.Repair(name, bytes.NewReader(data), int64(len(data)), &mended); err != nil {
		t.Fatal(err)
	}
	if f := openBytes(t, mended.Bytes()); f.Summary.Operations != operations {
		t.Errorf("%s: a repair keeps %d of %d operations", name, f.Summary.Operations, operations)
	}
	return operations
}

// Calls of another thread are not recorded. The first is said, and the trace is marked.
func TestOtherThreads(t *testing.T) {
	dir, text, err := run(t, openMPI, 1, "", tasks(t, openMPI), "thread")
	const want = "task 0: MPI_Send was called by a thread other than the thread of MPI_Init"
	if err != nil || !strings.Contains(text, want) {
		t.Fatalf("%v\n%s", err, text)
	}
	n, m := counts(t, dir)
	if n["MPI_Send"] != 0 || n["MPI_Recv"] != 1 || len(m.Problems) != 1 || !strings.Contains(m.Problems[0], want) {
		t.Errorf("%v, %q", n, m.Problems)
	}
}

// Functions that move data and are no operations are counted and named, and so are calls that fail.
func TestUnrecordedCallsAreNamed(t *testing.T) {
	for _, l := range libraries(t) {
		dir, text, err := run(t, l, 2, "", tasks(t, l), "put")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		n, m := counts(t, dir)
		want := map[string]int64{"MPI_Put": 2, "MPI_Win_fence": 4, "MPI_Win_allocate": 2, "MPI_Win_free": 2}
		if fmt.Sprint(m.Summary.Unrecorded) != fmt.Sprint(want) || n["MPI_Send"] != 0 {
			t.Errorf("%s: %v, %v", l.mpicc, m.Summary.Unrecorded, n)
		}
	}
}

// MPI_Pcontrol(0) switches the recording off, and other levels on, which begin phases; communicators are recorded all the time. Numbers of calls choose calls.
func TestRecordingIsSwitched(t *testing.T) {
	program := tasks(t, openMPI)
	dir, text, err := run(t, openMPI, 2, "", program, "control", "10")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, _ := merge(t, dir)
	want := []string{"MPI_Barrier", "MPI_Comm_dup Made=2", "mark begin MPI_Pcontrol(1)", "mark begin MPI_Pcontrol(5)", "MPI_Barrier Comm=2", "MPI_Comm_free Comm=2", "mark end", "end"}
	if got := course(t, f, 1); !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	checked(t, f)
	replayed(t, f)
	if dir, text, err = run(t, openMPI, 2, ",from=5,to=14", program, "rounds", "100"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if n, _ := counts(t, dir); n["MPI_Sendrecv"] != 20 {
		t.Errorf("calls 5 to 14 of 2 tasks: %v", n)
	}
}

// Whatever completes a receive with wildcards names the message that it took, so that a replay can take it again.
func TestWildcardsAreNamed(t *testing.T) {
	const ranks = 3
	for _, l := range libraries(t) {
		f, _ := recordRun(t, l, ranks, tasks(t, l), "wild")
		b, err := trace.NewBlocks(f, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for task := range ranks {
			at, err := f.Task(task)
			if err != nil {
				t.Fatal(err)
			}
			var o trace.Operation
			var got []int64
			for {
				more, err := at.Next(b, &o)
				if err != nil {
					t.Fatal(err)
				}
				if !more {
					break
				}
				switch o.Function.Class() {
				case trace.ClassWait, trace.ClassTest:
					for m := o.Matched; len(m) >= 3; m = m[3:] {
						got = append(got, m[1], m[2])
					}
				}
			}
			from := int64((task + ranks - 1) % ranks)
			if want := []int64{from, 10, from, 11, from, 12, from, 13, from, 14, from, 15}; !slices.Equal(got, want) {
				t.Errorf("%s: task %d takes %v, want %v", l.mpicc, task, got, want)
			}
		}
		simulate(t, mpivirt.Config{Target: target(t, ranks), Program: mpivirt.Program{Forms: []mpivirt.Form{replay.New(f, replay.Options{Recorded: true})}}, Transports: sync.NewInProcess(1), NoContents: true})
	}
}

// A burst has the time of the clock and the CPU time of the thread: a task that sleeps has the first alone.
func TestBurstsHaveBothTimes(t *testing.T) {
	dir, text, err := run(t, openMPI, 1, "", tasks(t, openMPI), "burst")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, _ := merge(t, dir)
	b, err := trace.NewBlocks(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Task(0)
	if err != nil {
		t.Fatal(err)
	}
	var long [][2]time.Duration
	var o trace.Operation
	for {
		more, err := c.Next(b, &o)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		if o.Function == trace.Burst && o.Wall > 20e9 {
			long = append(long, [2]time.Duration{time.Duration(o.CPU / 1000), time.Duration(o.Wall / 1000)})
		}
	}
	if len(long) != 2 {
		t.Fatalf("long bursts: %v", long)
	}
	computes, sleeps := long[0], long[1]
	if computes[1] < 49*time.Millisecond || computes[0] > computes[1] || computes[0] < 5*time.Millisecond {
		t.Errorf("a loop of 50 ms has CPU time and time %v", computes)
	}
	if sleeps[1] < 49*time.Millisecond || sleeps[0] > 5*time.Millisecond {
		t.Errorf("a sleep of 50 ms has CPU time and time %v", sleeps)
	}
}

// Recording MPI_Isend and MPI_Wait of a byte to oneself adds at most six readings of the monotonic clock to each of both calls.
func TestCostOfACall(t *testing.T) {
	program := tasks(t, openMPI)
	cost := regexp.MustCompile(`cost ([\d.]+) ([\d.]+)`)
	read := func(text string) (pair, reading float64) {
		m := cost.FindStringSubmatch(text)
		if m == nil {
			t.Fatal(text)
		}
		pair, _ = strconv.ParseFloat(m[1], 64)
		reading, _ = strconv.ParseFloat(m[2], 64)
		return pair, reading
	}
	without, with, reading := 1e9, 1e9, 1e9
	for range 3 {
		plain, err := output(t, nil, openMPI.mpirun, "-n", "1", program, "cost")
		if err != nil {
			t.Fatal(plain, err)
		}
		_, text, err := run(t, openMPI, 1, "", program, "cost")
		if err != nil {
			t.Fatal(text, err)
		}
		a, r := read(plain)
		b, _ := read(text)
		without, with, reading = min(without, a), min(with, b), min(reading, r)
	}
	t.Logf("isend and wait take %.0f ns, %.0f recorded: %.1f readings of %.0f ns more", without, with, (with-without)/reading, reading)
	if with-without > 12*reading {
		t.Errorf("isend and wait take %.0f ns, and %.0f recorded: %.1f readings of the clock of %.0f ns more, for two calls", without, with, (with-without)/reading, reading)
	}
}
