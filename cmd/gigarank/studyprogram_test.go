//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/study"
)

// executed runs a command, and returns what it prints.
func executed(t *testing.T, code int, arguments ...string) string {
	t.Helper()
	c, stdout, stderr := terminaltest.Console(nil)
	if got := execute(arguments, c); got != code {
		t.Fatalf("%q: exit code %d, want %d\n%s%s", arguments, got, code, stdout, stderr)
	}
	return stdout.String() + stderr.String()
}

// recordsOf returns the results of a study.
func recordsOf(t *testing.T, dir string) []study.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, study.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	var all []study.Record
	for line := range strings.Lines(string(text)) {
		var r study.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// A study of a program in a file gives at each point the results of a run with these arguments and this recording.
// It resumes, and a program that was built anew is another program.
func TestStudyOfAProgramInAFile(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "work.c"), filepath.Join(dir, "work")
	build := func(tag string) {
		text := `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, n = atoi(argv[1]);
  volatile double sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < n * 10000; i++) sum += i;
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("` + tag + ` %d of %s\n", n, argv[2]);
  MPI_Finalize();
}
`
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		executed(t, terminal.ExitDone, "cc", source, "-o", program)
	}
	build("first")
	want := map[string]int64{}
	recording := filepath.Join(dir, "cpu-{ranks}-{n}")
	for _, n := range []string{"1", "20"} {
		for _, ranks := range []string{"2", "4"} {
			file := strings.NewReplacer("{ranks}", ranks, "{n}", n).Replace(recording)
			executed(t, terminal.ExitDone, "run", program, "--ranks", ranks, "--cpu-record", file, "--", n, ranks+"/x")
			document := filepath.Join(dir, "run.json")
			executed(t, terminal.ExitDone, "run", program, "--ranks", ranks, "--cpu-replay", file, "--json", document, "--", n, ranks+"/x")
			want[n+" of "+ranks] = readDocument(t, document).VirtualTime
		}
	}
	out := filepath.Join(dir, "out")
	arguments := []string{"study", program, "--ranks", "2,4", "--arg", "n=1,20", "--cpu-replay", recording, "--out", out}
	program2 := []string{"--", "{n}", "{ranks}/x"}
	text := executed(t, terminal.ExitDone, append(arguments, program2...)...)
	if !strings.Contains(text, "n=20") || !strings.Contains(text, "strong scaling") {
		t.Errorf("the study says\n%s", text)
	}
	for _, r := range recordsOf(t, out) {
		n := strings.TrimPrefix(r.Point.Varied, "n=")
		ranks := strconv.FormatInt(r.Point.Ranks, 10)
		if r.Result.VirtualTime != want[n+" of "+ranks] || int64(r.Time) != r.Result.VirtualTime || r.Point.Arguments != n+" "+ranks+"/x" || r.Result.CPU != "replayed" {
			t.Errorf("%+v takes %v, want %d", r.Point, r.Time, want[n+" of "+ranks])
		}
	}
	printed, err := os.ReadFile(filepath.Join(out, outputFile))
	if err != nil || strings.Count(string(printed), "== ") != 4 || !strings.Contains(string(printed), "n=20\nfirst 20 of 4/x\n") {
		t.Errorf("the output is %q, %v", printed, err)
	}
	if text := executed(t, terminal.ExitDone, append(append(arguments, "--resume"), program2...)...); !strings.Contains(text, "4 points: 0 to simulate, 4 finished before") {
		t.Errorf("resumed, the study says\n%s", text)
	}
	one := strings.NewReplacer("{ranks}", "2", "{n}", "1").Replace(recording)
	// It does not want for memory, and so no flag leaves these points out.
	text = executed(t, terminal.ExitUsage, "study", program, "--ranks", "2,4,8", "--seed", "1,2", "--cpu-replay", one, "--out", filepath.Join(dir, "other"), "--skip-too-large", "--", "1", "2/x")
	for _, want := range []string{"4 ranks, xt5, seed 1, and 1 other point: --cpu-replay", "give --ranks 2 in place of 4", "8 ranks, xt5, seed 1, and 1 other point: ", "give --ranks 2 in place of 8"} {
		if !strings.Contains(text, want) {
			t.Errorf("with the recording of another number of ranks the study does not say %q, but\n%s", want, text)
		}
	}
	build("second")
	if text := executed(t, terminal.ExitUsage, append(append(arguments, "--resume"), program2...)...); !strings.Contains(text, "the file work as it was then, whose SHA-256 is another") {
		t.Errorf("of another program, the study says\n%s", text)
	}
	unrecorded := []string{"study", program, "--ranks", "2,4", "--arg", "n=1,20", "--out", out, "--resume"}
	if text := executed(t, terminal.ExitDone, append(unrecorded, program2...)...); !strings.Contains(text, "4 points: 4 to simulate, 0 finished before") || !strings.Contains(text, "4 other points besides") {
		t.Errorf("of another program, the study says\n%s", text)
	}
}

// A study of a program of gigarank list gives at each point the result of a run with these arguments. A program that needs contents has them.
func TestStudyOfAProgramWithArguments(t *testing.T) {
	dir := t.TempDir()
	out, one := filepath.Join(dir, "study"), filepath.Join(dir, "run.json")
	executed(t, terminal.ExitDone, "study", "ddptraining", "batch={n}", "flops=312T", "--arg", "n=8,64", "--ranks", "2,16", "--machine", "dgx-h100", "--out", out)
	records := recordsOf(t, out)
	if len(records) != 4 {
		t.Fatalf("%d points", len(records))
	}
	for _, r := range records {
		executed(t, terminal.ExitDone, append(append([]string{"run", "ddptraining"}, strings.Fields(r.Point.Arguments)...),
			"--ranks", strconv.FormatInt(r.Point.Ranks, 10), "--machine", "dgx-h100", "--json", one)...)
		text, err := os.ReadFile(one)
		if err != nil {
			t.Fatal(err)
		}
		var d document
		if err := json.Unmarshal(text, &d); err != nil || d.Fingerprint != r.Result.Fingerprint || len(d.Figures) == 0 {
			t.Errorf("%v of %d ranks: fingerprint %s, a run has %s with %v (%v)", r.Point.Arguments, r.Point.Ranks, r.Result.Fingerprint, d.Fingerprint, d.Figures, err)
		}
	}
	executed(t, terminal.ExitDone, "study", "picalc", "--ranks", "8", "--out", filepath.Join(dir, "picalc"))
}

// The causes of a point's time are those of the run.
func TestStudiesSayWhereTheTimeGoes(t *testing.T) {
	dir := t.TempDir()
	out, one := filepath.Join(dir, "study"), filepath.Join(dir, "run.json")
	text := executed(t, terminal.ExitDone, "study", "stencil", "--ranks", "4,16", "--stats", "--out", out)
	if !strings.Contains(text, "time of all ranks by cause") {
		t.Errorf("the study says\n%s", text)
	}
	for _, r := range recordsOf(t, out) {
		executed(t, terminal.ExitDone, "run", "stencil", "--ranks", strconv.FormatInt(r.Point.Ranks, 10), "--stats", "--json", one)
		want := readDocument(t, one).Statistics
		if got := r.Result.Statistics; got == nil || got.Time.Cmp(want.Time) != 0 || len(got.Causes) != len(want.Causes) || len(got.Tasks) != 0 {
			t.Errorf("%d ranks: %+v, a run has %+v", r.Point.Ranks, got, want)
		}
	}
}

// A study of a program refuses faulty flags before anything runs, all at once.
func TestFaultsOfStudiesOfPrograms(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		says      []string
		arguments []string
	}{
		{[]string{`unknown operation or program "stencl": did you mean stencil?`}, []string{"study", "stencl"}},
		{[]string{"there is no file ./nothing"}, []string{"study", "./nothing"}},
		{[]string{"--cpu: ", "--stack: "}, []string{"study", "barrier", "--cpu", "measured", "--stack", "1MiB"}},
		{[]string{"ARGUMENT: barrier takes flags alone"}, []string{"study", "barrier", "3"}},
		{[]string{"--stack: stencil runs on no C stack", `--scaling: unknown scaling "stron": did you mean strong?`}, []string{"study", "stencil", "--stack", "1MiB", "--scaling", "stron"}},
		{[]string{"--cpu-replay: there is neither none-8 nor none-8.0"}, []string{"study", "stencil", "--ranks", "8", "--cpu-replay", "none-{ranks}"}},
		{[]string{"stencil takes flags alone: leave out 3"}, []string{"study", "stencil", "3"}},
		{[]string{`program ddptraining has no argument "modle": did you mean model?`}, []string{"study", "ddptraining", "--arg", "m=bert-large", "modle={m}"}},
		{[]string{"PROGRAM: batch: "}, []string{"study", "ddptraining", "batch=x"}},
		{[]string{"ARGUMENT: model: there is neither a model nor a file \"gpt3\""}, []string{"study", "ddptraining", "model={m}", "--arg", "m=resnet-50,gpt3"}},
		{[]string{"stencil takes flags alone"}, []string{"study", "stencil", "n=3"}},
		{[]string{`unknown mode "fast"`}, []string{"study", "stencil", "--ranks", "8", "--cpu", "fast"}},
	} {
		text := executed(t, terminal.ExitUsage, append(c.arguments, "--out", out)...)
		for _, says := range c.says {
			if !strings.Contains(text, says) {
				t.Errorf("%q says %q, want %q", c.arguments, text, says)
			}
		}
	}
}
