package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/result"
)

// pathIn returns the critical path of a document, which takes as long as the run to the picosecond.
func pathIn(t *testing.T, what string, d *document) *result.CriticalPath {
	t.Helper()
	p := d.CriticalPath
	if p == nil {
		t.Fatalf("%s: no critical path", what)
	}
	sum := func(causes map[string]int64) (all int64) {
		for _, d := range causes {
			all += d
		}
		return all
	}
	functions, ranks := int64(0), int64(0)
	for _, f := range p.Functions {
		functions += f.Time
	}
	for _, r := range p.Ranks {
		ranks += r.Time
	}
	if p.Time != d.VirtualTime || sum(p.Causes) != p.Time || functions != p.Time || ranks != p.Time {
		t.Errorf("%s: the run takes %d ps, its critical path %d, by cause %d, by function %d, by rank %d", what, d.VirtualTime, p.Time, sum(p.Causes), functions, ranks)
	}
	return p
}

// pathRuns are runs whose critical paths are followed.
var pathRuns = []string{
	"stencil --ranks 27 --iterations 3 --machine frontier", "stencil --ranks 16 --machine loggops-default", "ddptraining --ranks 8 --iterations 1 --machine dgx-h100",
	"allreducetest --ranks 40 --iterations 2 --machine tianhe-1a",
}

// The critical path of a program takes as long as its run and is the same for each kind of rank, engine and protocol.
func TestCriticalPathOfPrograms(t *testing.T) {
	for _, run := range pathRuns {
		plain := runDocument(t, run)
		first := runDocument(t, run+" --critical-path --engines 1")
		if first.Fingerprint != plain.Fingerprint || plain.CriticalPath != nil {
			t.Errorf("%s: the fingerprint is %s, without --critical-path %s; critical path without: %v", run, first.Fingerprint, plain.Fingerprint, plain.CriticalPath)
		}
		want := pathIn(t, run, &first)
		for _, how := range []string{"--lp event --engines 1", "--engines 2", "--engines 3 --sync null", "--engines 2 --sync conditional --strict"} {
			d := runDocument(t, run+" --critical-path "+how)
			if diff := cmp.Diff(want, pathIn(t, run, &d)); diff != "" {
				t.Errorf("%s %s (-one engine +there):\n%s", run, how, diff)
			}
		}
	}
}

// The text has the path with its shares, and names the greatest first.
func TestCriticalPathText(t *testing.T) {
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("run stencil --ranks 27 --iterations 1 --critical-path --progress none"), c); code != terminal.ExitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	d := runDocument(t, "stencil --ranks 27 --iterations 1 --critical-path")
	for _, line := range []string{fmt.Sprintf("ends on rank %d", d.CriticalPath.Rank), "time on the path", "100.0 %", "where time goes"} {
		if !strings.Contains(stdout.String(), line) {
			t.Errorf("no %q in\n%s", line, stdout)
		}
	}
}
