package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/study"
)

// readScaling returns the records of a study of the simulator.
func readScaling(t *testing.T, dir string) (records []study.ScalingRecord) {
	text, err := os.ReadFile(filepath.Join(dir, study.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r study.ScalingRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		records = append(records, r)
	}
	return records
}

// checkScaling compares the records of barriers of 16 and 32 ranks for each of 1 and 2
// hosts with each other and with a run of as many ranks.
func checkScaling(t *testing.T, dir string, hosts func(point study.ScalingPoint) int) {
	records := readScaling(t, dir)
	if len(records) != 4 {
		t.Fatalf("%d records, want 4", len(records))
	}
	single := filepath.Join(t.TempDir(), "single.json")
	if output, err := command(t, "run", "barriertest", "--ranks", "32", "--iterations", "3", "--lp", "goroutine", "--engines", "1", "--json", single).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	want := readDocument(t, single)
	alike := 0
	for _, r := range records {
		d := r.Result
		if r.Error != "" || r.Wall <= 0 || int64(d.Engines) != r.Point.Hosts || d.Hosts != hosts(r.Point) || d.Lambda != float64(r.Point.Lambda) || d.Ranks != r.Point.Ranks {
			t.Errorf("%+v: error %q, %v s, %d engines on %d hosts, λ %v, %d ranks", r.Point, r.Error, r.Wall, d.Engines, d.Hosts, d.Lambda, d.Ranks)
		}
		if (r.Remote > 0) != (r.Point.Hosts > 1) {
			t.Errorf("%d hosts have %v remote events", r.Point.Hosts, r.Remote)
		}
		if r.Point.Ranks == want.Ranks {
			if alike++; d.Fingerprint != want.Fingerprint {
				t.Errorf("%+v has fingerprint %s, a run of its own %s", r.Point, d.Fingerprint, want.Fingerprint)
			}
		}
	}
	if alike != 2 {
		t.Errorf("%d records of 32 ranks, want 2", alike)
	}
}

// The points are runs of λ ranks on each host, with the virtual results of any other run
// of as many ranks.
func TestScalingRunsOnEngines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scaling")
	args := []string{"study", "scaling", "barrier", "--hosts", "1,2", "--lambda", "16,32", "--iterations", "3", "--launcher", "none", "--out", dir}
	output, err := command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	checkScaling(t, dir, func(study.ScalingPoint) int { return 1 })
	table, err := os.ReadFile(filepath.Join(dir, study.TableFile))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(table))).ReadAll()
	if err != nil || len(rows) != 5 || !slices.Contains(rows[0], "lambda") {
		t.Errorf("%v: the table has %d rows, the first %q", err, len(rows), rows[0])
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	cmd := command(t, args...)
	output, _ = cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != terminal.ExitUsage || !strings.Contains(string(output), "holds results: go on with them by --resume") {
		t.Errorf("a directory with results: exit code %d\n%s", cmd.ProcessState.ExitCode(), output)
	}
}

// A run that does not fit the memory is named, and the others go on.
func TestScalingGoesOnAfterAFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scaling")
	cmd := command(t, "study", "scaling", "barrier", "--hosts", "1", "--lambda", "16,1M", "--launcher", "none", "--out", dir)
	cmd.Env = append(cmd.Env, "GOMEMLIMIT=24MiB")
	output, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != terminal.ExitHost || !strings.Contains(string(output), "1 run of 2 failed") {
		t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), output)
	}
	records := readScaling(t, dir)
	if len(records) != 2 || records[0].Error != "" || !strings.Contains(records[1].Error, "the run needs about") {
		t.Errorf("the records are %+v", records)
	}
}

// A signal ends the run under way and the study, whose report has what is finished.
func TestSignalEndsScaling(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scaling")
	cmd := command(t, "study", "scaling", "barrier", "--hosts", "1", "--lambda", "16,32", "--iterations", "1G", "--launcher", "none", "--out", dir)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stderr, "2 runs, host processes by engines")
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, took := endIn(cmd); code != terminal.ExitHost {
		t.Errorf("the study ends with %d after %v, want %d", code, took, terminal.ExitHost)
	}
	if page, err := os.ReadFile(filepath.Join(dir, study.ReportFile)); err != nil || !strings.Contains(string(page), "2 of 2 runs were not made") {
		t.Errorf("the report: %v\n%s", err, page)
	}
}

// Everything that is wrong is named at once.
func TestScalingNamesAllFaults(t *testing.T) {
	c, _, stderr := terminaltest.Console(nil)
	code := execute([]string{"study", "scaling", "bcast", "--hosts", "0", "--lambda", "x", "--launcher", "/no/such -n"}, c)
	for _, want := range []string{"OPERATION: unknown operation", "--hosts: 0 is too small", "--lambda: ", "--launcher: ", "--out: name the directory"} {
		if code != terminal.ExitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("exit code %d, want %d and %q in\n%s", code, terminal.ExitUsage, want, stderr)
		}
	}
	c, _, stderr = terminaltest.Console(map[string]string{"OMPI_COMM_WORLD_SIZE": "2"})
	if code := execute([]string{"study", "scaling", "barrier", "--out", t.TempDir()}, c); code != terminal.ExitUsage || !strings.Contains(stderr.String(), "starts the host processes of each run itself") {
		t.Errorf("under a launcher: exit code %d: %s", code, fmt.Sprint(stderr))
	}
}

// A study of the simulator that was interrupted goes on: runs that are in its results are not
// made again, and it ends with the same runs as one at a time.
func TestScalingGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	args := []string{"study", "scaling", "barrier", "--hosts", "1,2", "--lambda", "16,32", "--iterations", "3", "--launcher", "none", "--out", dir}
	if output, err := command(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	path := filepath.Join(dir, study.ResultsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	torn := lines[0] + lines[1] + lines[2][:len(lines[2])/2] // as a power cut leaves it
	if err := os.WriteFile(path, []byte(torn), 0o666); err != nil {
		t.Fatal(err)
	}
	if output, err := command(t, args...).CombinedOutput(); err == nil || !strings.Contains(string(output), "--resume") {
		t.Errorf("without --resume: %v in\n%s", err, output)
	}
	if output, err := command(t, append(args, "--resume")...).CombinedOutput(); err != nil || !strings.Contains(string(output), "2 of them are finished") {
		t.Fatalf("%v\n%s", err, output)
	}
	again, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(again), lines[0]+lines[1]) {
		t.Error("finished runs were made again")
	}
	checkScaling(t, dir, func(study.ScalingPoint) int { return 1 })
	if output, err := command(t, append(args, "--resume")...).CombinedOutput(); err != nil || !strings.Contains(string(output), "4 of them are finished") {
		t.Errorf("%v\n%s", err, output)
	}
	last, err := os.ReadFile(path)
	if err != nil || string(last) != string(again) {
		t.Errorf("a study that is finished changes its results (%v)", err)
	}
}
