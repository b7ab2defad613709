package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	stdsync "sync"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/result"
	"gigarank/study"
)

// studyOf prepares the barriers of 8 and 16 ranks, and each host's standard error.
func studyOf(t *testing.T, all []*host.Processes) (conductors []*conductor, stderr []*bytes.Buffer) {
	dir := filepath.Join(t.TempDir(), "study")
	conductors, stderr = make([]*conductor, len(all)), make([]*bytes.Buffer, len(all))
	var group stdsync.WaitGroup
	for i, h := range all {
		var c *terminal.Console
		c, _, stderr[i] = terminaltest.Console(nil)
		if i != 0 {
			c.Mute()
		}
		f := &studyFlags{axes: study.Axes{Ranks: "8,16", Algorithms: "linear"}, out: dir}
		f.hosting.sync, f.hosting.collectives, f.hosting.progress, f.hosting.lostAfter = "hybrid", "auto", "none", "7s"
		s := &conductor{console: c, hosts: h, flags: f, words: []string{"barrier"}, signals: host.CatchSignals(unix.SIGUSR1)}
		t.Cleanup(s.signals.Release)
		conductors[i] = s
		group.Go(func() {
			if err := s.prepare(); err != nil {
				t.Errorf("host %d: %v", i, err)
			}
		})
	}
	group.Wait()
	t.Cleanup(func() { _ = conductors[0].journal.Close() })
	if t.Failed() {
		t.FailNow()
	}
	return conductors, stderr
}

// tightMachine has memory for a simulation, but not while this process still holds the
// memory of an earlier one.
type tightMachine struct{}

func (tightMachine) Open(name string) (fs.File, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	available := int64(256<<20) - int64(m.HeapSys-m.HeapReleased)
	return fstest.MapFS{"proc/meminfo": {Data: fmt.Appendf(nil, "MemAvailable: %d kB\n", max(available, 0)>>10)}}.Open(name)
}

// The memory that a point has left behind does not count against the next.
func TestPointsShareTheMemory(t *testing.T) {
	conductors, _ := studyOf(t, []*host.Processes{{Size: 1, Local: 1}})
	s := conductors[0]
	s.console.Root = tightMachine{}
	runtime.KeepAlive(make([]byte, 512<<20))
	if err := s.run(); err != nil {
		t.Error(err)
	}
}

// If one host no longer has the memory for a point, the study ends on all of them, and
// that host says why.
func TestHostWithoutMemoryEndsTheStudy(t *testing.T) {
	const poor = 1
	all := testHosts(3)
	conductors, stderr := studyOf(t, all)
	conductors[poor].console.Root = fstest.MapFS{"proc/meminfo": {Data: []byte("MemAvailable: 1 kB\n")}}
	var group stdsync.WaitGroup
	for i, s := range conductors {
		group.Go(func() {
			err := s.run()
			s.console.Finish(err)
			if terminal.ExitCode(err) != terminal.ExitHost || all[i].Apart {
				t.Errorf("host %d: %v, apart %t", i, err, all[i].Apart)
			}
		})
	}
	group.Wait()
	for i, want := range []string{"another host process has failed; see its messages; 0 of 2 points are finished", "1.00 KiB are available", ""} {
		if got := stderr[i].String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("host %d says %q, want %q", i, got, want)
		}
	}
}

// A result that cannot be kept ends the study on all hosts, before the next point.
func TestLostResultEndsTheStudy(t *testing.T) {
	all := testHosts(2)
	conductors, stderr := studyOf(t, all)
	// A directory that holds another file stays when the journal is closed.
	if err := os.WriteFile(filepath.Join(conductors[0].flags.out, "note"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := conductors[0].journal.Close(); err != nil {
		t.Fatal(err)
	}
	var group stdsync.WaitGroup
	for i, s := range conductors {
		group.Go(func() {
			if err := s.conduct(s.todo[0], 0); err != nil {
				t.Errorf("host %d: %v", i, err)
			}
			err := s.conduct(s.todo[1], 1)
			if s.console.Finish(err); terminal.ExitCode(err) != terminal.ExitHost || errors.Is(err, fs.ErrClosed) != (i == 0) || all[i].Apart {
				t.Errorf("host %d: %v, apart %t", i, err, all[i].Apart)
			}
		})
	}
	group.Wait()
	if !strings.Contains(stderr[0].String(), "the result was not written") {
		t.Errorf("host 0 says %q", stderr[0])
	}
}

// A study that has left out points too large for the memory is complete without them.
func TestReportOfAStudyWithoutLargePoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	c, _, stderr := terminaltest.Console(nil)
	code := execute(strings.Fields("study barrier --ranks 8,64Mi --lp goroutine --algorithms node-leader --skip-too-large --out "+dir), c)
	page, err := os.ReadFile(filepath.Join(dir, study.ReportFile))
	if code != terminal.ExitDone || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if bytes.Contains(page, []byte("Incomplete")) || !bytes.Contains(page, []byte("Left out, too large for the memory: node-leader from 64Mi ranks on.")) {
		t.Errorf("the report is\n%s", page)
	}
}

// A failed point is simulated again on a resume: it does not count as finished.
func TestFailedPointsAreNotFinished(t *testing.T) {
	conductors, _ := studyOf(t, []*host.Processes{{Size: 1, Local: 1}})
	s := conductors[0]
	if err := s.journal.Append(s.plan.NewRecord(s.build, s.todo[0], result.Document{Schema: result.Schema, Reason: "deadlock"})); err != nil {
		t.Fatal(err)
	}
	s.signals.Caught <- unix.SIGUSR1
	const want = "interrupted by SIGUSR1; 0 of 2 points are finished; the same command with --resume goes on"
	if err := s.run(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
