//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// A program in C is built with its skeleton, which is shown, compared with the program, and run.
func TestSkeletonOfAProgram(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program, plain, document := filepath.Join(dir, "stencil"), filepath.Join(dir, "plain"), filepath.Join(dir, "result.json")
	source := filepath.Join("..", "..", "mpivirt", "native", "skeleton", "ir", "testdata", "stencil.c")
	line := func(wanted int, arguments ...string) string {
		t.Helper()
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != wanted {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", arguments, code, wanted, stdout, stderr)
		}
		return stdout.String() + stderr.String()
	}
	line(terminal.ExitDone, "cc", "--skeleton", "-O2", source, "-o", program)
	line(terminal.ExitDone, "cc", "-O2", source, "-o", plain)
	fingerprint := regexp.MustCompile(`fingerprint +\w+`)
	want := fingerprint.FindString(line(terminal.ExitDone, "run", plain, "--ranks", "6"))
	if text := line(terminal.ExitDone, "run", program, "--ranks", "6"); fingerprint.FindString(text) != want {
		t.Errorf("the program says\n%swant %s", text, want)
	}
	text := line(terminal.ExitDone, "run", program, "--skeleton", "none", "--ranks", "6", "--json", document)
	if fingerprint.FindString(text) != want || !strings.Contains(text, "this is the skeleton of "+program+": what it has left out takes no time") {
		t.Errorf("the skeleton says\n%swant %s", text, want)
	}
	if d := readDocument(t, document); d.Skeleton != "none" || d.Program != program {
		t.Errorf("the result is of %s, skeleton %q", d.Program, d.Skeleton)
	}
	if text := line(terminal.ExitDone, "skeleton", "verify", program, "--ranks", "1, 2,3", "--", "7"); text != "1 ranks: the same\n2 ranks: the same\n3 ranks: the same\n" {
		t.Errorf("verify says %q", text)
	}
	if text := line(terminal.ExitDone, "skeleton", "report", program); !strings.Contains(text, "calloc at "+source+":43: left out\n") || !strings.Contains(text, "content of MPI_Reduce: left out\n") {
		t.Errorf("report says\n%s", text)
	}
	weights := filepath.Join(dir, "weights")
	if text := line(terminal.ExitDone, "skeleton", "weigh", program, "--ranks", "2,4", "-o", weights, "--", "200"); !strings.Contains(text, weights+": 2 tasks\n") || !strings.Contains(text, "stencil.c:20, 60 entries") {
		t.Errorf("weigh says\n%s", text)
	}
	text = line(terminal.ExitDone, "run", program, "--skeleton", weights, "--ranks", "6", "--json", document)
	if !strings.Contains(text, "what it has left out takes the time of its weights") || !regexp.MustCompile(`Tasks take \d+\.\d % of the ranks' time by the weights of .*; all their iterations are counted; no directives\n`).MatchString(text) {
		t.Errorf("the skeleton with weights says\n%s", text)
	}
	d := readDocument(t, document)
	if d.Skeleton != weights || d.TaskShare == nil || !(*d.TaskShare > 0 && *d.TaskShare <= 1) || d.Fingerprint == strings.Fields(want)[1] {
		t.Errorf("the result is %+v", d)
	}
	for _, engines := range []string{"1", "2", "3"} {
		if text := line(terminal.ExitDone, "run", program, "--skeleton", weights, "--ranks", "6", "--engines", engines); !strings.Contains(text, d.Fingerprint) {
			t.Errorf("with %s engines the skeleton says\n%s", engines, text)
		}
	}
	whole, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	line(terminal.ExitDone, "cc", "--skeleton", "-O2", "-Dsum=total", source, "-o", filepath.Join(dir, "same-tasks"))
	text = line(terminal.ExitDone, "run", filepath.Join(dir, "same-tasks"), "--skeleton", weights, "--ranks", "6", "--json", document)
	if got := readDocument(t, document); !strings.Contains(text, "by the weights of "+weights+", found with another program of the same tasks, "+program+"; all") || got.WeightsOf != program || got.Fingerprint != d.Fingerprint {
		t.Errorf("a program with the same tasks says\n%s", text)
	}
	whole, err = os.ReadFile(source)
	elsewhere := filepath.Join(dir, "other.c")
	if err := errors.Join(err, os.WriteFile(elsewhere, whole, 0o666)); err != nil {
		t.Fatal(err)
	}
	line(terminal.ExitDone, "cc", "--skeleton", "-O2", elsewhere, "-o", filepath.Join(dir, "other"))
	for _, c := range []struct {
		says      string
		arguments []string
	}{
		{"cut: no file of weights, or not all of it", []string{"run", program, "--skeleton", cut}},
		{"weights: the weights are those of another program, or of another build of this one, which has no task at " + elsewhere + ":", []string{"run", filepath.Join(dir, "other"), "--skeleton", weights}},
		{"--skeleton: open some: no such file", []string{"run", program, "--skeleton", "some"}},
		{"plain has no skeleton", []string{"skeleton", "weigh", plain}},
		{"--output: ", []string{"skeleton", "weigh", program, "-o", filepath.Join(dir, "none", "w")}},
		{`--ranks: "0" is no number of ranks`, []string{"skeleton", "weigh", program, "--ranks", "0"}},
		{"plain has no skeleton: build it by gigarank cc --skeleton", []string{"run", plain, "--skeleton", "none"}},
		{"plain has no skeleton", []string{"skeleton", "report", plain}},
		{"plain has no skeleton", []string{"skeleton", "verify", plain}},
		{`--ranks: "x" is no number of ranks`, []string{"skeleton", "verify", program, "--ranks", "2,x"}},
		{"--skeleton: barriertest is no native program", []string{"run", "barriertest", "--skeleton", "none"}},
		{"--skeleton: a skeleton has left out the computing whose CPU time is to count", []string{"run", program, "--skeleton", "none", "--cpu", "measured"}},
		{"gigarank skeleton needs a command: report, verify, weigh", []string{"skeleton"}},
	} {
		if text := line(terminal.ExitUsage, c.arguments...); !strings.Contains(text, c.says) {
			t.Errorf("%q: %q, want %q", c.arguments, text, c.says)
		}
	}
}

// A skeleton that does other things than its program is found: here the files of two programs are made one.
func TestVerifyFindsDifferences(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	build := func(name, text string) string {
		t.Helper()
		source := filepath.Join(dir, name+".c")
		whole := "#include <gigarank.h>\n#include <mpi.h>\nint main(int n, char **all) { double x[9] = {0}; MPI_Init(&n, &all); " + text + " return MPI_Finalize(); }\n"
		if err := os.WriteFile(source, []byte(whole), 0o666); err != nil {
			t.Fatal(err)
		}
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"cc", "--skeleton", source, "-o", filepath.Join(dir, name)}, c); code != terminal.ExitDone {
			t.Fatalf("%s%s", stdout, stderr)
		}
		return filepath.Join(dir, name)
	}
	one := build("one", "MPI_Bcast(x, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD); gigarank_compute(1);")
	for name, c := range map[string]struct{ text, says string }{
		"size": {"MPI_Bcast(x, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); gigarank_compute(1);", "3 ranks: the program makes the calls of collectives"},
		"time": {"MPI_Bcast(x, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD); gigarank_compute(2);", "3 ranks: the program has the fingerprint"},
		"end":  {"MPI_Bcast(x, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD); return 4;", "3 ranks: the program ends with"},
	} {
		mixed := mix(t, one, build(name, c.text))
		console, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"skeleton", "verify", mixed, "--ranks", "3"}, console); code != terminal.ExitProgram || !strings.Contains(stdout.String(), c.says) || !strings.Contains(stderr.String(), "differs from the program at 3 ranks") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, stdout, stderr)
		}
	}
}

// mix returns a program with the skeleton of another one.
func mix(t *testing.T, program, other string) string {
	t.Helper()
	part, err := skeleton.Extract(other)
	if err != nil {
		t.Fatal(err)
	}
	mixed := other + "-mixed"
	if text, err := exec.Command("llvm-objcopy-19", "--update-section=.gigarank.skeleton="+part, program, mixed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return mixed
}

// A run of a skeleton takes the times of its weights: here a nest of 9 entries and 36 iterations of its inner loop.
func TestWeightsTakeTime(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, program, weights := filepath.Join(dir, "nest.c"), filepath.Join(dir, "nest"), filepath.Join(dir, "weights")
	text := `#include <mpi.h>
static double u[64];
int main(int n, char **all) {
	MPI_Init(&n, &all);
	for (int k = 0; k < 9; k++) {
		for (int i = 0; i < k; i++) u[i] = u[i] * 0.5 + k;
		MPI_Bcast(u, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	line := func(arguments ...string) string {
		t.Helper()
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != terminal.ExitDone {
			t.Fatalf("%q: exit code %d\n%s%s", arguments, code, stdout, stderr)
		}
		return stdout.String() + stderr.String()
	}
	line("cc", "--skeleton", "-O2", source, "-o", program)
	line("skeleton", "weigh", program, "--ranks", "1", "-o", weights)
	made, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	given := func(entry, iteration, rest float64) string {
		text := regexp.MustCompile(`"rest": [^,]*`).ReplaceAllString(string(made), `"rest": `+strconv.FormatFloat(rest, 'g', -1, 64))
		text = regexp.MustCompile(`"iteration": [^,]*`).ReplaceAllString(text, `"iteration": `+strconv.FormatFloat(iteration, 'g', -1, 64))
		return regexp.MustCompile(`"entry": [^,]*`).ReplaceAllString(text, `"entry": `+strconv.FormatFloat(entry, 'g', -1, 64))
	}
	run := func(text, machine string, flags ...string) int64 {
		t.Helper()
		if err := os.WriteFile(weights, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		document := filepath.Join(dir, "result.json")
		line(append([]string{"run", program, "--ranks", "1", "--skeleton", weights, "--machine", machine, "--json", document}, flags...)...)
		return readDocument(t, document).VirtualTime
	}
	finish := func(entry, iteration float64, machine string) int64 {
		t.Helper()
		return run(given(entry, iteration, 0), machine)
	}
	none, entries, iterations := finish(0, 0, "xt5"), finish(1, 0, "xt5"), finish(0, 1, "xt5")
	const second = 1e12
	// The body's instructions are the unit of iterations: all 36 iterations have as many.
	if of := iterations - none; entries-none != 9*second || of%(36*second) != 0 || of <= 0 {
		t.Errorf("9 entries of 1 s take %d ps, 36 iterations of 1 s %d ps", entries-none, of)
	}
	// What lies before each of 9 bcasts takes its weight once, whether or not the time of each task is heard by itself.
	for _, flags := range [][]string{nil, {"--stats"}, {"--noise", "periodic:1000s,1ps"}} {
		if got := run(given(1, 0, 0.001), "xt5", flags...) - entries; got != 9*second/1000 {
			t.Errorf("with %q 9 calls of 1 ms take %d ps", flags, got)
		}
	}
	machine, err := os.ReadFile(filepath.Join("..", "..", "network", "presets", "xt5.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	slow := filepath.Join(dir, "slow.yaml")
	if err := os.WriteFile(slow, append(machine, []byte("\ncpu_ratio: 2.5\n")...), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := finish(1, 0, slow) - finish(0, 0, slow); got != 22.5*second {
		t.Errorf("on cores that take 2.5 times as long 9 entries of 1 s take %d ps", got)
	}
}

// verify names the first task that a skeleton comes to otherwise than the timed form, and the first call that differs, by rank.
func TestVerifyNamesTasksAndCalls(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	build := func(name, loop, call string) string {
		t.Helper()
		source := filepath.Join(dir, name+".c")
		text := "#include <mpi.h>\nstatic double u[900];\nint main(int n, char **all) {\nMPI_Init(&n, &all); int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n" +
			"for (int i = 0; i < " + loop + "; i++) u[i] += i;\n" + call + "\nreturn MPI_Finalize(); }\n"
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"cc", "--skeleton", "-O2", source, "-o", filepath.Join(dir, name)}, c); code != terminal.ExitDone {
			t.Fatalf("%s%s", stdout, stderr)
		}
		return filepath.Join(dir, name)
	}
	one := build("one", "90 + rank", "MPI_Bcast(u, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);")
	for _, c := range []struct{ name, loop, call, says string }{
		{"count", "90 + 2 * rank", "MPI_Bcast(u, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);", `rank 1, task at .*one\.c:5: the program has 1 entries and (\d+) iterations, its skeleton 1 and `},
		{"call", "90 + rank", "MPI_Bcast(u, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);",
			`rank 0, call \d+: the program makes MPI_Bcast on communicator 1, 72 bytes, root 0 in main \(one\.c:6\), its skeleton MPI_Bcast on communicator 1, 64 bytes, root 0 in main \(call\.c:6\)`},
	} {
		mixed := mix(t, one, build(c.name, c.loop, c.call))
		console, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"skeleton", "verify", mixed, "--ranks", "2"}, console); code != terminal.ExitProgram || !regexp.MustCompile(c.says).MatchString(stdout.String()) {
			t.Errorf("%s: exit code %d\n%s%s", c.name, code, stdout, stderr)
		}
	}
}

// A program that stops at once where it has too little room ends with exit code 0, and its skeleton leaves out what it prints: a warning says so.
func TestRunsThatStopAtOnce(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, program, weights := filepath.Join(dir, "room.c"), filepath.Join(dir, "room"), filepath.Join(dir, "weights")
	const text = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
	int size, n = atoi(argv[1]);
	double *a = calloc(1000, sizeof *a), sum = 0, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > 4) {
		printf("room for 4 ranks\n");
		MPI_Finalize();
		return 0;
	}
	for (int k = 0; k < n; k++)
		for (int i = 0; i < 1000; i++)
			a[i] = a[i] * 0.5 + k;
	for (int i = 0; i < 1000; i++)
		sum += a[i];
	MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	printf("%g\n", all);
	MPI_Finalize();
	return 0;
}
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	says := func(arguments ...string) string {
		t.Helper()
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != terminal.ExitDone {
			t.Fatalf("%q: exit code %d\n%s%s", arguments, code, stdout, stderr)
		}
		return stderr.String()
	}
	says("cc", "--skeleton", "-O2", source, "-o", program)
	says("skeleton", "weigh", program, "--ranks", "2", "-o", weights, "--", "3000")
	for ranks, stops := range map[string]bool{"1": false, "4": false, "5": true} {
		said := says("run", program, "--skeleton", weights, "--ranks", ranks, "--", "3000")
		if got := strings.Contains(said, "the run has not come to tasks that took ") && strings.Contains(said, "room.c:15"); got != stops {
			t.Errorf("%s ranks: the warning is %t, want %t:\n%s", ranks, got, stops, said)
		}
	}
}
