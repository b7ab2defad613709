//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt/native/skeleton"
)

// A program in C is built with its skeleton, which is shown, compared with the program, and run.
func TestSkeletonOfAProgram(t *testing.T) {
	if err := skeleton.Missing(); err != nil {
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
	for _, c := range []struct {
		says      string
		arguments []string
	}{
		{"--skeleton: some: use none", []string{"run", program, "--skeleton", "some"}},
		{"plain has no skeleton: build it by gigarank cc --skeleton", []string{"run", plain, "--skeleton", "none"}},
		{"plain has no skeleton", []string{"skeleton", "report", plain}},
		{"plain has no skeleton", []string{"skeleton", "verify", plain}},
		{`--ranks: "x" is no number of ranks`, []string{"skeleton", "verify", program, "--ranks", "2,x"}},
		{"--skeleton: barriertest is no native program", []string{"run", "barriertest", "--skeleton", "none"}},
		{"--skeleton: a skeleton has left out the computing whose CPU time is to count", []string{"run", program, "--skeleton", "none", "--cpu", "measured"}},
		{"gigarank skeleton needs a command: report, verify", []string{"skeleton"}},
	} {
		if text := line(terminal.ExitUsage, c.arguments...); !strings.Contains(text, c.says) {
			t.Errorf("%q: %q, want %q", c.arguments, text, c.says)
		}
	}
}

// A skeleton that does other things than its program is found: here the files of two programs are made one.
func TestVerifyFindsDifferences(t *testing.T) {
	if err := skeleton.Missing(); err != nil {
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
