//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// The critical path of a native program, and that of a replay of its trace on the same machine.
func TestCriticalPathOfNativeProgramAndReplay(t *testing.T) {
	program := buildAllSends(t)
	trace := filepath.Join(t.TempDir(), "t.grt")
	first := runDocument(t, program+" --ranks 7 --critical-path --engines 1 --trace "+trace)
	want := pathIn(t, "native", &first)
	d := runDocument(t, program+" --ranks 7 --critical-path --engines 3")
	if diff := cmp.Diff(want, pathIn(t, "native", &d)); diff != "" {
		t.Errorf("3 engines (-one engine +there):\n%s", diff)
	}
	out := filepath.Join(t.TempDir(), "r.json")
	c, _, stderr := terminaltest.Console(nil)
	if code := execute([]string{"replay", trace, "--critical-path", "--progress", "none", "--json", out}, c); code != terminal.ExitDone {
		t.Fatalf("replay: exit code %d\n%s", code, stderr)
	}
	d = readDocument(t, out)
	if p := pathIn(t, "replay", &d); p.Time != want.Time || p.Rank != want.Rank {
		t.Errorf("the replay ends on rank %d after %d ps, the run on rank %d after %d", p.Rank, p.Time, want.Rank, want.Time)
	}
}
