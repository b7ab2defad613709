package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gigarank/bench"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

func testRequest() *request {
	r := &request{entry: bench.Entry{Name: "barriertest"}, machine: "m", ranks: 8, engines: 2}
	r.config.Kind, r.config.Protocol, r.config.Seed = steps.Kind, sync.Null, 5
	return r
}

func testOutcome() outcome {
	return outcome{wall: time.Second, result: &mpivirt.Result{
		Complete: true, VirtualTime: 7, Finished: 8, Fingerprint: "ab",
		Iterations: []mpivirt.Iteration{
			{Index: 0, Operation: "barrier", Min: 1, Mean: 2, Max: 3, Count: 8, Wall: 0.5},
			{Index: 1, Operation: "barrier", Min: 4, Mean: 5, Max: 6, Count: 3, Wall: 0.25},
		},
	}}
}

// keys lists the fields of a JSON object in the order of the text.
func keys(t *testing.T, text []byte) []string {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// Schema 1 has these fields; other programs read them.
func TestSchema(t *testing.T) {
	d := newDocument(testRequest(), &hosts{size: 1}, testOutcome(), 1000)
	text := d.encode()
	want := []string{
		"schema", "program", "ranks", "hosts", "engines", "lp", "sync", "strict", "machine", "seed",
		"complete", "finished_ranks", "virtual_time_ps", "fingerprint",
		"wall_s", "setup_s", "events", "messages", "remote_messages", "sync_messages",
		"transport_messages", "switches", "peak_rss_bytes", "bytes_per_rank", "iterations", "finish", "operations",
	}
	if diff := cmp.Diff(want, keys(t, text)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	var iterations struct{ Iterations []json.RawMessage }
	if err := json.Unmarshal(text, &iterations); err != nil {
		t.Fatal(err)
	}
	want = []string{"index", "operation", "min_ps", "mean_ps", "max_ps", "wall_s"}
	if diff := cmp.Diff(want, keys(t, iterations.Iterations[0])); diff != "" {
		t.Errorf("fields of an iteration (-want +got):\n%s", diff)
	}
	var back document
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*d, back); diff != "" {
		t.Errorf("read back (-written +read):\n%s", diff)
	}
}

// 2^63-1 ps must be written as a whole number. Floating point would lose it.
func TestTimesAreWholeNumbers(t *testing.T) {
	o := testOutcome()
	o.result.VirtualTime = vtime.Forever
	text := newDocument(testRequest(), &hosts{size: 1}, o, 0).encode()
	if !bytes.Contains(text, []byte(`"virtual_time_ps": 9223372036854775807`)) {
		t.Errorf("the document does not hold 2^63-1 as it is:\n%s", text)
	}
}

// A run that was stopped says so and why, and gives only the finished part.
func TestIncompleteDocument(t *testing.T) {
	o := testOutcome()
	o.result.Complete, o.result.Finished, o.err = false, 0, interrupted{"interrupted by SIGTERM"}
	d := newDocument(testRequest(), &hosts{size: 1}, o, 0)
	if d.Complete || d.Reason != "interrupted by SIGTERM" {
		t.Errorf("complete %t, reason %q", d.Complete, d.Reason)
	}
	if len(d.Iterations) != 1 || d.Iterations[0].Index != 0 {
		t.Errorf("iterations %+v, want only the one that all ranks have recorded", d.Iterations)
	}

	o.result = nil
	if d := newDocument(testRequest(), &hosts{size: 1}, o, 0); d.Complete || d.Iterations == nil {
		t.Errorf("without a result: complete %t, iterations %v; want false and an empty list", d.Complete, d.Iterations)
	}
}

// A program that records on one rank only has no iteration to hide but the first, which
// is not known to be over.
func TestFinishedIterations(t *testing.T) {
	record := func(counts ...uint64) *mpivirt.Result {
		r := &mpivirt.Result{}
		for i, n := range counts {
			r.Iterations = append(r.Iterations, mpivirt.Iteration{Index: i, Operation: "x", Count: n})
		}
		return r
	}
	for _, c := range []struct {
		why    string
		counts []uint64
		want   int
	}{
		{"all by all", []uint64{8, 8}, 2},
		{"the last by some", []uint64{8, 8, 3}, 2},
		{"the only one by some", []uint64{3}, 0},
		{"each by one rank", []uint64{1, 1, 1}, 3},
		{"none", nil, 0},
	} {
		if got := finishedIterations(record(c.counts...), false, 8); len(got) != c.want {
			t.Errorf("%s: %d iterations, want %d", c.why, len(got), c.want)
		}
	}
}

func TestWriteReplacesAsAWhole(t *testing.T) {
	c, _, _ := testConsole(nil)
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	link := filepath.Join(dir, "link.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	d := newDocument(testRequest(), &hosts{size: 1}, testOutcome(), 0)
	if err := errors.Join(checkWritable(link), d.write(c, link)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(text, d.encode()) {
		t.Errorf("the file behind the link holds %q, %v", text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("%d files are left in the directory, want 2", len(entries))
	}
}

// A file that cannot be replaced is named, and nothing is left behind.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := checkWritable(dir); err == nil {
		t.Error("a directory is taken for a file")
	}
	if err := checkWritable(filepath.Join(dir, "no", "out.json")); err == nil {
		t.Error("a file in a directory that does not exist is taken for writable")
	}
	if err := replaceFile(filepath.Join(dir, "no", "out.json"), nil); err == nil {
		t.Error("a file in a directory that does not exist is written")
	}
	target := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(target, "inside"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(target, []byte("x")); err == nil {
		t.Error("a directory is replaced by a file")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left in the directory, want 1", len(entries))
	}
}

// A device is written to, never replaced.
func TestWriteToDevice(t *testing.T) {
	c, _, _ := testConsole(nil)
	d := newDocument(testRequest(), &hosts{size: 1}, testOutcome(), 0)
	if err := errors.Join(checkWritable(os.DevNull), d.write(c, os.DevNull)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Errorf("%s is no device any more: %v, %v", os.DevNull, info.Mode(), err)
	}
}
