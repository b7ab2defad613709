package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/result"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

func testRequest() *request {
	r := &request{entry: bench.Entry{Name: "barriertest"}, machine: "m", ranks: 8, engines: 2}
	machine, err := network.Load("xt5", os.ReadFile)
	if err != nil {
		panic(err)
	}
	if r.config.Target, err = machine.Target(r.ranks); err != nil {
		panic(err)
	}
	r.config.Kind, r.config.Protocol, r.config.Seed = steps.Kind, sync.Null, 5
	r.cpu = &cpuTimes{}
	return r
}

func testOutcome() host.Outcome {
	return host.Outcome{Wall: time.Second, Result: &mpivirt.Result{
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
	d := newDocument(testRequest(), &host.Processes{Size: 1}, testOutcome(), 1000)
	text := d.encode()
	want := []string{
		"schema", "program", "ranks", "hosts", "engines", "lambda", "lp", "sync", "strict", "collectives",
		"machine", "machine_digest", "ranks_per_node", "mapping", "algorithms", "noise", "cpu",
		"compute_ps", "payload_bytes", "timed_iterations", "seed", "complete", "finished_ranks", "virtual_time_ps", "fingerprint",
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

// A result names everything that it depends on, defaults included, and a command that gives
// it again.
func TestResultSaysWhatWasRun(t *testing.T) {
	run := func(line string) (d document) {
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(strings.Fields(line), c); code != terminal.ExitDone {
			t.Fatalf("%s: exit code %d\n%s", line, code, stderr)
		}
		if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := run("run allreducetest --ranks 24 --lp event --payload 64 --iterations 3 --noise periodic:1ms,10us --algorithm bcast=ring --collectives bulk --json -")
	got := result.Document{Collectives: d.Collectives, RanksPerNode: d.RanksPerNode, Mapping: d.Mapping, Algorithms: d.Algorithms,
		Noise: d.Noise, Compute: d.Compute, Payload: d.Payload, TimedIterations: d.TimedIterations}
	want := result.Document{Collectives: "bulk", RanksPerNode: 12, Mapping: "block",
		Algorithms: map[string]string{"allreduce": "node-leader", "bcast": "ring"},
		Noise:      "periodic:1ms,10us", Compute: int64(vtime.Millisecond), Payload: 64, TimedIterations: 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(d.MachineDigest) != 16 || d.Version == "" {
		t.Errorf("machine digest %q, version %q", d.MachineDigest, d.Version)
	}
	if again := run(strings.TrimPrefix(d.Command, "gigarank ")); again.Fingerprint != d.Fingerprint {
		t.Errorf("%s gives %s, and gave %s", d.Command, again.Fingerprint, d.Fingerprint)
	}
}

// 2^63-1 ps must be written as a whole number. Floating point would lose it.
func TestTimesAreWholeNumbers(t *testing.T) {
	o := testOutcome()
	o.Result.VirtualTime = vtime.Forever
	text := newDocument(testRequest(), &host.Processes{Size: 1}, o, 0).encode()
	if !bytes.Contains(text, []byte(`"virtual_time_ps": 9223372036854775807`)) {
		t.Errorf("the document does not hold 2^63-1 as it is:\n%s", text)
	}
}

// A run that was stopped says so and why, and gives only the finished part.
func TestIncompleteDocument(t *testing.T) {
	o := testOutcome()
	o.Result.Complete, o.Result.Finished, o.Err = false, 0, terminal.Interrupted{Reason: "interrupted by SIGTERM"}
	d := newDocument(testRequest(), &host.Processes{Size: 1}, o, 0)
	if d.Complete || d.Reason != "interrupted by SIGTERM" {
		t.Errorf("complete %t, reason %q", d.Complete, d.Reason)
	}
	if len(d.Iterations) != 1 || d.Iterations[0].Index != 0 {
		t.Errorf("iterations %+v, want only the one that all ranks have recorded", d.Iterations)
	}

	o.Result = nil
	if d := newDocument(testRequest(), &host.Processes{Size: 1}, o, 0); d.Complete || d.Iterations == nil {
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

// A file is replaced as a whole and keeps its mode. A link is replaced, and what it leads to
// stays.
func TestWriteReplacesAsAWhole(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	link := filepath.Join(dir, "link.json")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	d := newDocument(testRequest(), &host.Processes{Size: 1}, testOutcome(), 0)
	write := func(name string) {
		t.Helper()
		if err := errors.Join(terminal.CheckWritable(name), d.write(c, name, func() { t.Errorf("%s waits for a reader", name) })); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(name string, mode fs.FileMode, want string) {
		t.Helper()
		info, err := os.Lstat(name)
		if err != nil || info.Mode() != mode {
			t.Errorf("%s has the mode %v, want %v; %v", name, info.Mode(), mode, err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	write(path)
	holds(path, 0o640, string(d.encode()))
	if err := errors.Join(os.WriteFile(path, []byte("kept"), 0), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	write(link)
	holds(path, 0o640, "kept")
	usual := filepath.Join(dir, "usual.json")
	write(usual)
	info, err := os.Stat(usual)
	if err != nil {
		t.Fatal(err)
	}
	holds(link, info.Mode(), string(d.encode()))
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("%d files are left in the directory, want 3", len(entries))
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := terminal.CheckWritable(path); err == nil {
		t.Error("a file that is protected against writing is taken for writable")
	}
}

// A device is written to, never replaced.
func TestWriteToDevice(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	d := newDocument(testRequest(), &host.Processes{Size: 1}, testOutcome(), 0)
	link := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{os.DevNull, link} {
		if err := errors.Join(terminal.CheckWritable(name), d.write(c, name, func() {})); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link to a device was replaced: %v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Errorf("%s is no device any more: %v, %v", os.DevNull, info.Mode(), err)
	}
}

// The result that docs/guide/results.md shows has the fields of a result, in their order.
func TestGuideShowsTheFields(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(text), "```json\n")
	shown, _, _ = strings.Cut(shown, "```")
	fields := func(document string) (names []string) {
		for _, m := range regexp.MustCompile(`(?m)^  "(\w+)":`).FindAllStringSubmatch(document, -1) {
			names = append(names, m[1])
		}
		return names
	}
	is := fields(printed(t, "run", "barriertest", "--ranks", "16", "--lp", "event", "--iterations", "1", "--json", "-"))
	if has := fields(shown); !slices.Equal(has, is) || len(is) == 0 {
		t.Errorf("docs/guide/results.md has %v, a result %v", has, is)
	}
}

// The first run that README.md shows has the fingerprint of that run. Step functions give it in less time.
func TestReadmeShowsTheFingerprint(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`go run ./cmd/gigarank (run .*)`).FindStringSubmatch(string(text))
	fingerprint := regexp.MustCompile(`fingerprint +[0-9a-f]{32}`)
	shown := fingerprint.FindString(string(text))
	if command == nil || shown == "" {
		t.Fatal("README.md has no run with its fingerprint")
	}
	if is := fingerprint.FindString(printed(t, append(strings.Fields(command[1]), "--lp", "event")...)); is != shown {
		t.Errorf("README.md shows %s, the run has %s", shown, is)
	}
}

// Results of ranks that poll depend on how many polls make a rank wait.
func TestDocumentKeepsPolls(t *testing.T) {
	r := testRequest()
	r.config.Polls = 4000
	var back document
	if err := json.Unmarshal(newDocument(r, &host.Processes{Size: 1}, testOutcome(), 1000).encode(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Polls != 4000 {
		t.Errorf("%d polls in the document, want 4000", back.Polls)
	}
}
