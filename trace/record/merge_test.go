package record_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"gigarank/internal/seed"
	"gigarank/trace"
	"gigarank/trace/record"
)

// taskFile returns the file of a task as the recorder writes it, without summary, index and end: a ring of n messages.
func taskFile(t testing.TB, task, tasks, n int, note trace.Note) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, trace.Header{Origin: "real", Tasks: tasks, Program: "ring", Library: "MPI 1"}, trace.None)
	if err != nil {
		t.Fatal(err)
	}
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	add(w.WriteNote(&trace.Note{Task: task, Host: "h", Begins: true}))
	var s trace.Stream
	for i := range n {
		add(s.Append(w, task, &trace.Operation{Function: trace.Send, Peer: int64((task + 1) % tasks), Bytes: int64(i % 1000)}))
		add(s.Append(w, task, &trace.Operation{Function: trace.Recv, Source: int64((task + tasks - 1) % tasks), Room: 1000}))
	}
	add(s.Append(w, task, &trace.Operation{Function: trace.End}))
	add(s.Flush(w, task))
	note.Task = task
	add(w.WriteNote(&note))
	return b.Bytes()
}

// write writes files of tasks, and returns their directory.
func write(t testing.TB, files ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	for i, data := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("task-%07d.grt", i)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mergeAll(dir string) (*record.Merged, []byte, error) {
	files, err := record.Files(dir)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	m, err := record.Merge(files, &b, trace.Zstd)
	return m, b.Bytes(), err
}

func TestMerge(t *testing.T) {
	unrecorded := trace.Note{Functions: map[string]trace.Use{"MPI_Put": {Calls: 3, Unrecorded: 2}}, Problems: []string{"a thread"}}
	first, second := taskFile(t, 0, 2, 10, unrecorded), taskFile(t, 1, 2, 10, unrecorded)
	long := taskFile(t, 1, 2, 40_000, trace.Note{})
	var kept int64 // operations of all blocks but the last
	if _, err := trace.Walk("long", bytes.NewReader(long), int64(len(long)), func(k *trace.Block, _ []byte) error {
		kept = k.First
		return nil
	}, nil); err != nil || kept == 0 {
		t.Fatal(kept, err)
	}
	for _, c := range []struct {
		name, problems, err string
		files               [][]byte
		operations          int64
	}{
		{name: "whole", files: [][]byte{first, second}, operations: 42, problems: "task 0: a thread|task 1: a thread"},
		{name: "in another order", files: [][]byte{second, first}, operations: 42, problems: "task 1: a thread|task 0: a thread"},
		{name: "missing", files: [][]byte{second}, operations: 21, problems: "task 1: a thread|task 0 has no file"},
		{name: "torn", files: [][]byte{first, second[:len(second)-200]}, operations: 21, problems: "task 0: a thread|task-0000001.grt has no note of its task|task 1 has no file"},
		{name: "torn in a block", files: [][]byte{first, long[:len(long)-1000]}, operations: 21 + kept, problems: "goes beyond the end of the file: the file is torn|task 1 was killed"},
		{name: "torn in a note", files: [][]byte{first, second[:len(second)-20]}, operations: 42, problems: "task 0: a thread|the file is torn"},
		{name: "empty", files: [][]byte{first, nil}, operations: 21, problems: "task 0: a thread|it does not begin as one|task 1 has no file"},
		{name: "twice", files: [][]byte{first, first}, err: "are both of task 0"},
		{name: "of another run", files: [][]byte{first, taskFile(t, 1, 3, 10, trace.Note{})}, err: "files of several runs"},
		{name: "nothing", files: [][]byte{first[:20]}, err: "nothing was recorded"},
	} {
		m, b, err := mergeAll(write(t, c.files...))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f, err := trace.Open("merged", bytes.NewReader(b), int64(len(b)))
		if err == nil {
			err = f.Verify()
		}
		if err != nil || f.Summary.Operations != c.operations || fmt.Sprint(f.Summary.Problems) != fmt.Sprint(m.Problems) {
			t.Errorf("%s: %v, %+v", c.name, err, f.Summary)
		}
		all := strings.Join(m.Problems, "\n")
		for part := range strings.SplitSeq(c.problems, "|") {
			if !strings.Contains(all, part) {
				t.Errorf("%s: no %q in %s", c.name, part, all)
			}
		}
	}
}

// A merge of many tasks takes memory in proportion to their number, and a file at a time.
func TestMergeOfManyTasks(t *testing.T) {
	const tasks = 2000
	dir := t.TempDir()
	for task := range tasks {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("task-%07d.grt", task)), taskFile(t, task, tasks, 100, trace.Note{}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := record.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "merged"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := record.Merge(files, out, trace.Zstd)
	if err != nil || m.Count > 0 || m.Summary.Operations != tasks*201 {
		t.Fatalf("%v, %+v", err, m)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
		t.Errorf("a merge of %d tasks takes %d MiB", tasks, grown>>20)
	}
}

// Files of tasks that are damaged anyhow are merged as far as they are sound, or refused, in 64 MiB of memory and 20 times their size. GIGARANK_DRAWS is their number.
func TestMergeOfDamagedFiles(t *testing.T) {
	seed := seed.Next()
	files := 300
	if text := os.Getenv("GIGARANK_DRAWS"); text != "" {
		files, _ = strconv.Atoi(text)
	}
	t.Logf("seed %d, %d files", seed, files)
	draw := rand.New(rand.NewPCG(seed, 1))
	whole := taskFile(t, 0, 1, 50, trace.Note{})
	dir := t.TempDir()
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // what is held counts, not what waits for the collector
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range files {
		data := bytes.Clone(whole)
		for range 1 + draw.IntN(4) {
			data[draw.IntN(len(data))] ^= byte(1 << draw.IntN(8))
		}
		data = data[:len(data)-draw.IntN(len(data))*draw.IntN(2)]
		if err := os.WriteFile(filepath.Join(dir, "task-0000000.grt"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, b, err := mergeAll(dir)
		if err != nil {
			continue
		}
		f, err := trace.Open("merged", bytes.NewReader(b), int64(len(b)))
		if err != nil || f.Summary.Operations != m.Summary.Operations || f.Summary.Operations > 101 || f.Summary.Operations < 101 && m.Count == 0 {
			t.Fatalf("%v, %+v", err, m)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys - before.Sys); grown > 64<<20+20*int64(len(whole)) {
		t.Errorf("%d files of at most %d bytes took %d MiB", files, len(whole), grown>>20)
	} else {
		t.Logf("%d MiB more for files of at most %d bytes", grown>>20, len(whole))
	}
}
