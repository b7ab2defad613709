package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/profile"
)

// A run compared with itself has no error; with twice the computing, the run has the error and time in MPI has none.
func TestCompareRuns(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for name, compute := range map[string]string{"a.json": "1ms", "b.json": "2ms"} {
		c, _, stderr := terminaltest.Console(nil)
		c.ReadFile = os.ReadFile
		if code := execute([]string{"run", "barriertest", "--ranks", "8", "--iterations", "1", "--compute", compute, "--stats", "--json", file(name)}, c); code != terminal.ExitDone {
			t.Fatal(stderr.String())
		}
	}
	c, stdout, stderr := terminaltest.Console(nil)
	c.ReadFile = os.ReadFile
	if code := execute([]string{"compare", file("a.json"), file("b.json"), "-o", file("page"), "--json", "-"}, c); code != terminal.ExitDone {
		t.Fatal(stderr.String())
	}
	var compared profile.Comparison
	if err := json.Unmarshal(stdout.Bytes(), &compared); err != nil {
		t.Fatal(err)
	}
	added := compared.Run.B - compared.Run.A
	if added < 0.000999999 || added > 0.001000001 || *compared.InMPI.Error != 0 || *compared.MeanTaskError != 0 || len(compared.ByTask) != 8 || compared.Functions[0].Function != "Barrier" {
		t.Errorf("%s", stdout)
	}
	page, err := os.ReadFile(file("page/report.html"))
	if err != nil || !strings.Contains(string(page), "Time in MPI by task") {
		t.Errorf("the page has %d bytes: %v", len(page), err)
	}
	c, stdout, _ = terminaltest.Console(nil)
	c.ReadFile = os.ReadFile
	if code := execute([]string{"compare", "../../internal/profile/testdata/small.mpiP", "../../internal/profile/testdata/small.ipm.txt"}, c); code != terminal.ExitDone ||
		!strings.Contains(strings.Join(strings.Fields(stdout.String()), " "), "Waitall 500 ms 500 ms +0.0 % 80 % 80 % 60 60") {
		t.Errorf("%d: %s", code, stdout)
	}
}

// All faults of both files are told, and nothing is written.
func TestCompareRunsRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("nothing\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, _, stderr := terminaltest.Console(nil)
	c.ReadFile = os.ReadFile
	code := execute([]string{"compare", bad, filepath.Join(dir, "missing"), "-o", filepath.Join(dir, "page")}, c)
	if text := stderr.String(); code != terminal.ExitUsage || !strings.Contains(text, bad+":1: no known format") || !strings.Contains(text, "missing") {
		t.Errorf("%d: %s", code, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "page")); err == nil {
		t.Error("a page is written")
	}
}
