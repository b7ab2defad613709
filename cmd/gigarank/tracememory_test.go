//go:build linux

package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"gigarank/trace"
)

var (
	manyTasks      = flag.Int("trace-tasks", 4000, "tasks of the recorded run whose files are merged")
	manyOperations = flag.Int("trace-operations", 150, "operations of each task")
)

var greatestMemory = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// recordedTasks writes the files of the tasks of a recorded run: bursts, and messages round a ring.
func recordedTasks(t *testing.T, dir string, tasks, operations int) {
	t.Helper()
	draw := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	failed := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for task := range tasks {
		b.Reset()
		w, err := trace.NewWriter(&b, trace.Header{Origin: "real", Tasks: tasks, Program: "ring", Library: "MPI 1"}, trace.None)
		failed(err)
		failed(w.WriteNote(&trace.Note{Task: task, Host: "h", Begins: true}))
		var s trace.Stream
		for i := range operations - 1 {
			o := trace.Operation{Function: trace.Burst, CPU: 1000 * draw.Int64N(1e6)}
			switch o.Wall = o.CPU; i % 3 {
			case 1:
				o = trace.Operation{Function: trace.Send, Peer: int64((task + 1) % tasks), Bytes: int64(i), Took: 1000 * draw.Int64N(1e5)}
			case 2:
				o = trace.Operation{Function: trace.Recv, Source: int64((task + tasks - 1) % tasks), Room: int64(i - 1), Took: 1000 * draw.Int64N(1e5)}
			}
			failed(s.Append(w, task, &o))
		}
		failed(s.Append(w, task, &trace.Operation{Function: trace.End}))
		failed(s.Flush(w, task))
		failed(w.WriteNote(&trace.Note{Task: task, Mode: "trace", Took: 1e9, Functions: map[string]trace.Use{"MPI_Send": {Calls: int64(operations / 3)}}}))
		failed(os.WriteFile(filepath.Join(dir, fmt.Sprintf("task-%07d.grt", task)), b.Bytes(), 0o600))
	}
}

// peak runs a command line as a process of its own, and returns the most memory and the most files that it had, and the CPU time that it took.
// The process tells its greatest memory itself: the system's figure of an ended process counts that of the process which has started it.
func peak(t *testing.T, args ...string) (memory int64, files int, took time.Duration) {
	t.Helper()
	cmd, told := command(t, args...), filepath.Join(t.TempDir(), "status")
	cmd.Env = append(cmd.Env, tellStatus+"="+told)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %v\n%s", args, err, &output)
			}
			status, err := os.ReadFile(told)
			if err != nil {
				t.Fatal(err)
			}
			m := greatestMemory.FindSubmatch(status)
			if m == nil {
				t.Fatalf("%v tells no memory:\n%s", args, status)
			}
			kib, err := strconv.ParseInt(string(m[1]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10, files, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		case <-tick.C:
			if list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid)); err == nil {
				files = max(files, len(list))
			}
		}
	}
}

// The merge of the files of many tasks, and what trace info tells of the trace, take at most 16 MiB and 768 bytes a task more than those of two
// tasks, 64 MiB for 65,536 tasks, and 64 files at a time.
// scripts/trace-memory takes 65,536 tasks of 1,000 operations.
func TestMemoryOfManyTasks(t *testing.T) {
	dir := t.TempDir()
	var least [2]int64
	for _, tasks := range []int{2, *manyTasks} {
		in := filepath.Join(dir, fmt.Sprint(tasks))
		if err := os.Mkdir(in, 0o777); err != nil {
			t.Fatal(err)
		}
		recordedTasks(t, in, tasks, *manyOperations)
		for i, args := range [][]string{{"trace", "merge", in, "-o", in + ".grt"}, {"trace", "info", in + ".grt"}} {
			memory, files, took := peak(t, args...)
			if tasks == 2 {
				least[i] = memory
			}
			t.Logf("%s of %d tasks: %.1f MiB over the %.1f MiB of two tasks, %d files, %.1f s of CPU", args[1], tasks, float64(memory-least[i])/(1<<20), float64(least[i])/(1<<20), files, took.Seconds())
			if memory-least[i] > 16<<20+768*int64(tasks) || files > 64 {
				t.Errorf("%s of %d tasks takes %d MiB over that of two tasks, and %d files", args[1], tasks, (memory-least[i])>>20, files)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(dir, fmt.Sprint(*manyTasks)+".grt")); err == nil {
		t.Logf("the trace has %.1f MiB, %.2f bytes an operation", float64(info.Size())/(1<<20), float64(info.Size())/float64(*manyTasks)/float64(*manyOperations))
	}
}
