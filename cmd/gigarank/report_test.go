package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// A report is a page and the document of the run; a deadlock has both, too.
func TestReportOfARun(t *testing.T) {
	for _, c := range []struct {
		program string
		code    int
		want    string
	}{{"stencil", terminal.ExitDone, "Time of ranks by cause"}, {"deadlock", terminal.ExitProgram, "rank 0 waits in Ssend"}} {
		dir := filepath.Join(t.TempDir(), "new", "report")
		console, _, stderr := terminaltest.Console(nil)
		if code := execute([]string{"run", c.program, "--ranks", "8", "--report", dir}, console); code != c.code {
			t.Fatalf("%s: exit code %d: %s", c.program, code, stderr)
		}
		page, err := os.ReadFile(filepath.Join(dir, "report.html"))
		if err != nil || !strings.Contains(string(page), c.want) || !strings.Contains(string(page), "Bytes between ranks") {
			t.Errorf("%s: the page has %d bytes without %q: %v", c.program, len(page), c.want, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "result.json"))
		var d document
		if err != nil || json.Unmarshal(text, &d) != nil || d.Statistics == nil || len(d.Statistics.Matrix.Bytes) != 8 {
			t.Errorf("%s: the document is %.200s: %v", c.program, text, err)
		}
	}
}

// What cannot be counted or written is said before anything runs.
func TestReportIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "phold", "--report", t.TempDir()}, "--report: phold makes no calls of MPI"},
		{[]string{"run", "stencil", "--ranks", "4", "--report", filepath.Join(file, "dir")}, "--report: " + file},
	} {
		console, _, stderr := terminaltest.Console(nil)
		if code := execute(c.args, console); code != terminal.ExitUsage || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: exit code %d: %s", c.args, code, stderr)
		}
	}
}
