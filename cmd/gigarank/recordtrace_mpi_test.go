//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/trace"
)

// operationsOf returns the operations of all tasks of a trace.
func operationsOf(t *testing.T, name string) (*trace.File, [][]trace.Operation) {
	t.Helper()
	f, err := openTrace(name)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := trace.NewBlocks(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]trace.Operation, f.Header.Tasks)
	for task := range all {
		cursor, err := f.Task(task)
		if err != nil {
			t.Fatal(err)
		}
		for {
			var o trace.Operation
			more, err := cursor.Next(blocks, &o)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			all[task] = append(all[task], o)
		}
	}
	return f, all
}

// A run on several host processes leaves one trace, with the operations of a run in one process, whatever the kind of rank, also of a run that fails. Where no
// task fills a block the files are the same, byte for byte. A replay has the times of the run, on several host processes, too.
func TestRecordingOnHosts(t *testing.T) {
	native := buildAllSends(t)
	for i, c := range []struct {
		run  string
		code int
		same bool // the files
	}{
		{"stencil --ranks 12 --iterations 3 --compute 20us --machine frontier", terminal.ExitDone, true},
		{"stencil --ranks 5 --iterations 5000 --lp event --compress none", terminal.ExitDone, false}, // three blocks a task
		{"ring --ranks 11 --iterations 3 --lp event --machine loggops-default --compress none", terminal.ExitDone, true},
		{native + " --ranks 7 --machine xt5", terminal.ExitDone, true},
		{"deadlock --ranks 6", terminal.ExitProgram, true},
	} {
		t.Run(filepath.Base(c.run), func(t *testing.T) {
			t.Parallel() // its processes wait for each other most of the time
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			hosts := 2 + i%2
			line := strings.Fields("run " + c.run + " --progress none")
			executed(t, c.code, append(line, "--engines", "1", "--trace", in("one.grt"), "--json", in("one.json"))...)
			output, err := underMPI(t, hosts, append(line, "--trace", in("there.grt"))...).CombinedOutput()
			if (err == nil) != (c.code == terminal.ExitDone) {
				t.Fatalf("%d host processes: %v\n%s", hosts, err, output)
			}
			if left, err := filepath.Glob(in("*.grt*")); err != nil || len(left) != 2 {
				t.Errorf("%d host processes leave %v, %v", hosts, left, err)
			}
			one, want := operationsOf(t, in("one.grt"))
			there, got := operationsOf(t, in("there.grt"))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d host processes record other operations than one:\n%v\n%v", hosts, got, want)
			}
			one.Summary.Blocks, there.Summary.Blocks = 0, 0
			if !reflect.DeepEqual(there.Summary, one.Summary) || !reflect.DeepEqual(there.Header, one.Header) {
				t.Errorf("%d host processes: %+v, %+v; one: %+v, %+v", hosts, there.Header, there.Summary, one.Header, one.Summary)
			}
			a, errA := os.ReadFile(in("one.grt"))
			b, errB := os.ReadFile(in("there.grt"))
			if c.same && (errA != nil || errB != nil || string(a) != string(b)) {
				t.Errorf("%d host processes: %d bytes, one: %d, %v, %v", hosts, len(b), len(a), errA, errB)
			}
			if c.code != terminal.ExitDone {
				return
			}
			machine := []string{}
			if at := strings.Index(c.run, "--machine"); at >= 0 {
				machine = strings.Fields(c.run[at:])[:2]
			}
			line = append([]string{"replay", in("there.grt"), "--progress", "none", "--json", in("replay.json")}, machine...)
			if output, err := underMPI(t, hosts, line...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			if run, again := readDocument(t, in("one.json")), readDocument(t, in("replay.json")); run.Fingerprint != again.Fingerprint || again.VirtualTime != run.VirtualTime {
				t.Errorf("the run takes %v, %s, its replay on %d host processes %v, %s", run.VirtualTime, run.Fingerprint, hosts, again.VirtualTime, again.Fingerprint)
			}
		})
	}
}

// A host process that cannot write its ranks ends the run of all, and no file is left.
func TestRecordingThatAHostCannotWrite(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "r.grt.1.part"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := underMPI(t, 2, "run", "ring", "--ranks", "4", "--progress", "none", "--trace", filepath.Join(dir, "r.grt"))
	text, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != terminal.ExitUsage || strings.Count(string(text), "r.grt.1.part") != 1 {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
