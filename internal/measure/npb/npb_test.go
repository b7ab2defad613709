package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gigarank/trace"
)

func TestCounts(t *testing.T) {
	for _, c := range []struct{ benchmark, class, want string }{
		{"BT", "S", "[1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256]"},
		{"SP", "A", "[1 4 9 16]"},
		{"CG", "W", "[1 2 4 8 16 32 64]"},
		{"LU", "A", "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]"},
		{"DT", "S", "[]"},
		{"EP", "B", "[]"},
		{"EP", "S", "[1 2 4 8 16 32 64 128 256 512 1024]"},
	} {
		if got := fmt.Sprint(counts(c.benchmark, c.class)); got != c.want {
			t.Errorf("%s.%s runs on %s, want %s", c.benchmark, c.class, got, c.want)
		}
	}
	if got := numbers([]int{1, 2, 4, 5, 6, 9}); got != "1, 2, 4–6, 9" {
		t.Errorf("numbers are %q", got)
	}
}

// The benchmarks say in several ways that they have verified, and that they cannot run.
func TestWhatBenchmarksSay(t *testing.T) {
	for _, c := range []struct {
		output, refused string
		verified        bool
		seconds         float64
	}{
		{output: " Time in seconds =                     0.25\n Verification    =               SUCCESSFUL\n", verified: true, seconds: 0.25},
		{output: " VERIFICATION SUCCESSFUL\n", verified: true},
		{output: " Verification    =             UNSUCCESSFUL\n"},
		{output: "\n Error: Cell size too small. Min size is 3\n", refused: "Error: Cell size too small. Min size is 3"},
		{output: " *** ERROR determining processor topology for 3 processes\n", refused: "*** ERROR determining processor topology for 3 processes"},
		{output: "     SUBDOMAIN SIZE IS TOO SMALL - \n", refused: "SUBDOMAIN SIZE IS TOO SMALL -"},
		{output: "\n\n Too many nodes:1024 256\n", refused: "Too many nodes:1024 256"},
		{output: "\n ERROR: number of processes 256 not within range 1-128\n Exiting program!\n", refused: "ERROR: number of processes 256 not within range 1-128"},
	} {
		o := outcome{output: c.output}
		if o.verified() != c.verified || o.refused() != c.refused || o.seconds() != c.seconds {
			t.Errorf("%q: verified %v, refused %q, %v s", c.output, o.verified(), o.refused(), o.seconds())
		}
	}
}

// A run that takes too long is ended with all that it has started.
func TestRunsEnd(t *testing.T) {
	o := new(settings).run(200*time.Millisecond, "sh", "-c", "sleep 60 & sleep 60; echo done")
	if o.err == nil || !strings.Contains(o.err.Error(), "not at its end after 200ms") || o.wall > 30 {
		t.Errorf("%v after %v s", o.err, o.wall)
	}
	if o := new(settings).run(time.Minute, "sh", "-c", "echo 'Verification Successful'"); !o.verified() || o.memory < 100<<10 {
		t.Errorf("%+v", o)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		says      string
	}{
		{[]string{"tree"}, "give the directory"},
		{[]string{"tree", "other"}, "give the directory"},
		{[]string{"-ranks", "2,x", "tree", "verify"}, `"x" is no number of ranks`},
		{[]string{"-gigarank", "true", "-benchmarks", "CG", "-ranks", "2", t.TempDir(), "verify"}, "is no NPB3.4-MPI"},
	} {
		if err := execute(c.arguments, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.arguments, err, c.says)
		}
	}
}

// On a stand-in for gigarank, verify goes through numbers and ways, keeps what it has run, goes
// on from there, and tells of another fingerprint.
func TestVerifyInPieces(t *testing.T) {
	work := t.TempDir()
	gigarank, calls, results := filepath.Join(work, "gigarank"), filepath.Join(work, "calls"), filepath.Join(work, "results")
	write(t, gigarank, 0o777, `#!/bin/sh
echo "$@" >> `+calls+`
case "$*" in *"--ranks 4 "*) echo "Error: Cell size too small. Min size is 3"; exit 1;; esac
echo "Verification Successful"
echo "fingerprint $PRINT"
`)
	t.Setenv("PRINT", "f00")
	if err := os.Mkdir(filepath.Join(work, "gigarank-bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(work, "gigarank-bin", "cg.S.x"), 0o777, "")
	arguments := []string{"-gigarank", gigarank, "-work", work, "-results", results, "-benchmarks", "CG", "-classes", "S", "-ranks", "1,2,4,8,16", work, "verify"}
	lines := func(name string) []string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	t.Chdir(filepath.Dir(work))
	arguments[1], arguments[3] = filepath.Join(filepath.Base(work), "gigarank"), filepath.Base(work) // and relative paths
	if err := execute(append([]string{"-for", "1ns"}, arguments...), nil); err == nil || !strings.Contains(err.Error(), "are left") {
		t.Fatalf("without time: %v", err)
	}
	if err := execute(arguments, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range lines(calls) {
		got = append(got, strings.Join(strings.Fields(c)[3:], " "))
	}
	want := []string{
		"1 --progress none --engines 1 --stacks own", "2 --progress none --engines 2 --stacks own",
		"4 --progress none --engines 1 --stacks copied", "8 --progress none --engines 1 --stacks copied",
		"16 --progress none --engines 2 --stacks copied", "16 --progress none --engines 1 --stacks own",
		"16 --progress none --engines 2 --stacks own", "16 --progress none --engines 1 --stacks copied",
	}
	if !slices.Equal(got, want) {
		t.Errorf("runs are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := execute(arguments, nil); err != nil || len(lines(calls)) != len(want) || len(lines(results)) != len(want) {
		t.Errorf("once more: %v, %d runs", err, len(lines(calls)))
	}
	// Without the last run, which then has another fingerprint.
	write(t, results, 0o666, strings.Join(lines(results)[:len(want)-1], "\n")+"\n")
	t.Setenv("PRINT", "ba5")
	if err := execute(arguments, nil); err == nil || !strings.Contains(err.Error(), "fingerprint ba5, but f00") {
		t.Errorf("with another fingerprint: %v", err)
	}
	write(t, results, 0o666, "{\n")
	if err := execute(arguments, nil); err == nil || !strings.Contains(err.Error(), "results:1:") {
		t.Errorf("with a broken line: %v", err)
	}
}

func write(t *testing.T, name string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// A signal ends what runs, with all that it has started.
func TestASignalEndsAll(t *testing.T) {
	tree, started := t.TempDir(), filepath.Join(t.TempDir(), "started")
	for name, text := range map[string]string{
		"sys/setparams.c": "", "config/make.def.template": "",
		"EP/Makefile": "clean:\n\tsleep 1000 & echo $$! >" + started + ".new; mv " + started + ".new " + started + "; sleep 1000\n",
	} {
		if err := os.MkdirAll(filepath.Join(tree, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	signals, over := make(chan os.Signal), make(chan error)
	go func() {
		over <- execute([]string{"-gigarank", "/bin/sh", "-benchmarks", "EP", "-classes", "S", tree, "verify"}, signals)
	}()
	await := func(what string, is func() bool) {
		t.Helper()
		for start := time.Now(); !is(); time.Sleep(time.Millisecond) {
			if time.Since(start) > 30*time.Second {
				t.Fatal("not so within 30 s: " + what)
			}
		}
	}
	await("make has started a process", func() bool { _, err := os.Stat(started); return err == nil })
	text, err := os.ReadFile(started)
	if err != nil {
		t.Fatal(err)
	}
	process, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	signals <- syscall.SIGTERM
	if err := <-over; err == nil || !strings.Contains(err.Error(), "ended by signal: terminated") {
		t.Errorf("the command says %v", err)
	}
	await("the process has ended", func() bool { return !lives(process) })
}

// lives reports whether a process is there, and not only its entry in the table.
func lives(process int) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return err == nil && !strings.Contains(string(state), ") Z ")
}

// Only more processes than there are cores are told so.
func TestProcessesOfMPI(t *testing.T) {
	s := &settings{launcher: []string{"mpirun"}}
	if got := fmt.Sprint(s.byMPI(1, "prog", "x")); got != "[mpirun -n 1 prog x]" {
		t.Errorf("one process: %s", got)
	}
	most := runtime.NumCPU() + 1
	if got, want := fmt.Sprint(s.byMPI(most, "prog")), fmt.Sprintf("[mpirun -n %d --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 prog]", most); got != want {
		t.Errorf("%d processes: %s, want %s", most, got, want)
	}
}

// A line of the table of traces has ratios of medians, the spread of runs and predictions, and bytes by operation.
func TestLinesOfTraces(t *testing.T) {
	r := recordings{
		program: "CG.W", ranks: 2, plain: []float64{2, 1, 4}, recorded: []float64{2.2, 3, 1}, again: []float64{1.9, 2.1, 2}, plainCPU: []float64{4, 4, 4}, cpu: []float64{4.4, 4, 5},
		replay: []float64{0.1, 0.1, 0.2}, runErrors: []float64{-0.1, 0.1, 0}, taskErrors: []float64{0.2, 0.3, 0.1}, functionErrors: []float64{0.5}, operations: 100, plainBytes: 400, zstdBytes: 50,
	}
	const want = "| CG.W | 2 | 2.00 s, 1.00 s to 4.00 s | 1.100 | 1.100 | 1.000 | 1.00, 0.90 to 1.10 | 20 % | 50 % | 1/44 | 100 | 4.00, 0.50 |"
	if got := r.line(); got != want {
		t.Errorf("the line is\n%s, want\n%s", got, want)
	}
	if e := mean(absolutes(r.runErrors)); e < 0.0666 || e > 0.0667 {
		t.Errorf("a mean error of %v", e)
	}
}

// The virtual time of a result is in seconds, and a document without one is a fault.
func TestVirtualTimeOfResult(t *testing.T) {
	if got, err := virtualTime([]byte(`{"virtual_time_ps": 1612594828000}`)); err != nil || got < 1.612594827 || got > 1.612594829 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{`{}`, `{"virtual_time_ps": 0}`, `{"virtual_time_ps": 1`} {
		if got, err := virtualTime([]byte(text)); err == nil {
			t.Errorf("%s is %v s", text, got)
		}
	}
}

// BT and SP run on squares of processes, and DT has processes of its own.
func TestProcessesOfBenchmarks(t *testing.T) {
	for _, c := range []struct {
		benchmark string
		two, four bool
	}{{"BT", false, true}, {"SP", false, true}, {"DT", false, false}, {"CG", true, true}} {
		if runsInMPI(c.benchmark, 2) != c.two || runsInMPI(c.benchmark, 4) != c.four {
			t.Errorf("%s on 2: %v, on 4: %v", c.benchmark, runsInMPI(c.benchmark, 2), runsInMPI(c.benchmark, 4))
		}
	}
}

// Operations have the bytes of records of Dimemas, and of fields of 4 and 8 bytes, which are counted by hand.
func TestSizesOfOperations(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sizes.grt")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.NewWriter(file, trace.Header{Origin: "real", Tasks: 1}, trace.None)
	if err != nil {
		t.Fatal(err)
	}
	var s trace.Stream
	for _, o := range []trace.Operation{
		{Function: trace.Burst, CPU: 5_000_000, Wall: 7_000_000},                   // 1:0:0:0.000005000
		{Function: trace.Irecv, Source: 0, SourceTag: 5, Room: 1000, Request: 2},   // 3:0:0:0:-1:1000:5:0:1
		{Function: trace.Isend, Peer: 0, Tag: 5, Bytes: 1000, Request: 3},          // 2:0:0:0:0:1000:5:0:2
		{Function: trace.Waitall, Requests: []int64{2, 3}},                         // 3:0:0:0:-1:1000:5:0:2
		{Function: trace.Allreduce, Vector: 8, Element: 8, Traits: trace.Operator}, // 10:0:0:13:0:0:0:8:8:1
		{Function: trace.End},
	} {
		if err := s.Append(w, 0, &o); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{s.Flush(w, 0), w.Close(trace.Summary{}), file.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const fixed = 20 + 36 + 36 + 24 + 28 + 4
	got, err := sizesOf(name)
	if got.plain <= 0 || got.packed <= 0 || got.plain > 1000 {
		t.Errorf("%+v", got)
	}
	if err != nil || got.text != 18+22+21+22+22 || got.fixed != fixed || math.Abs(got.stopped-2e-6) > 1e-12 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Processes that share processors take the time of their bursts as many times.
func TestSharesOfProcessors(t *testing.T) {
	for _, c := range []struct {
		processes, processors int
		want                  string
	}{{2, 2, "1"}, {4, 2, "2"}, {3, 2, "1.5"}, {2, 8, "1"}} {
		if got := share(c.processes, c.processors); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
