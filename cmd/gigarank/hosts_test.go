package main

import (
	"errors"
	"runtime"
	"strings"
	stdsync "sync"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/sync"
)

// testHosts connects host processes as MPI would.
func testHosts(n int) []*hosts {
	all := make([]*hosts, n)
	for i, t := range sync.NewInProcess(n) {
		all[i] = &hosts{index: i, size: n, local: n, over: &stashTransport{Transport: t}}
	}
	return all
}

// Every host learns the worst exit code and the sum of the memory.
func TestHostsAgree(t *testing.T) {
	for n := 2; n <= 9; n++ {
		for guilty := range n {
			all := testHosts(n)
			var group stdsync.WaitGroup
			for i, h := range all {
				group.Go(func() {
					mine := report{peak: int64(1) << i}
					if i == guilty {
						mine.code = exitProgram
					}
					got, err := h.agree(mine, time.Minute)
					if want := (report{exitProgram, 1<<n - 1}); err != nil || got != want {
						t.Errorf("host %d of %d agrees on %+v, %v, want %+v", i, n, got, err, want)
					}
				})
			}
			group.Wait()
		}
	}
}

// A message of an engine that comes while its host still waits for a report is
// not lost, and messages keep their order.
func TestMessagesOfEnginesAreKept(t *testing.T) {
	all := testHosts(2)
	for _, text := range []string{"first", "second"} {
		message := all[0].over.Alloc(len(text))
		copy(message, text)
		if err := all[0].over.Send(1, message); err != nil {
			t.Fatal(err)
		}
	}
	var group stdsync.WaitGroup
	for _, h := range all {
		group.Go(func() {
			if _, err := h.agree(report{}, time.Minute); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, want := range []string{"first", "second", ""} {
		_, message, err := all[1].over.Receive()
		if err != nil || string(message) != want {
			t.Errorf("received %q, %v, want %q", message, err, want)
		}
	}
}

// A report that comes while an engine still receives packets is kept for its
// host, and the engine does not see it.
func TestReportsAreKeptFromEngines(t *testing.T) {
	all := testHosts(2)
	if err := all[1].over.sendReport(0, report{code: exitHost, peak: 5}); err != nil {
		t.Fatal(err)
	}
	message := all[1].over.Alloc(5)
	copy(message, "after")
	if err := all[1].over.Send(0, message); err != nil {
		t.Fatal(err)
	}
	if _, got, err := all[0].over.Receive(); err != nil || string(got) != "after" {
		t.Errorf("the engine receives %q, %v", got, err)
	}
	if got, err := all[0].agree(report{peak: 2}, time.Minute); err != nil || got != (report{exitHost, 7}) {
		t.Errorf("host 0 agrees on %+v, %v", got, err)
	}
}

// A host that never answers does not hold the others for ever.
func TestSilentHost(t *testing.T) {
	h := testHosts(2)[0]
	if _, err := h.agree(report{}, time.Nanosecond); !errors.Is(err, errNoReport) {
		t.Errorf("without the other host: %v", err)
	}
	if !h.apart {
		t.Error("the hosts count as being together")
	}
}

func TestLocalProcesses(t *testing.T) {
	for _, c := range []struct {
		why         string
		environment map[string]string
		want        int
	}{
		{"Open MPI", map[string]string{"OMPI_COMM_WORLD_LOCAL_SIZE": "12"}, 12},
		{"MPICH", map[string]string{"MPI_LOCALNRANKS": "7"}, 7},
		{"Slurm, machines alike", map[string]string{"SLURM_STEP_TASKS_PER_NODE": "32(x2)"}, 32},
		{"Slurm, the first machine has most", map[string]string{"SLURM_STEP_TASKS_PER_NODE": "32,16"}, 32},
		{"unknown: one for each core", nil, runtime.NumCPU()},
		{"nonsense", map[string]string{"MPI_LOCALNRANKS": "-3"}, runtime.NumCPU()},
	} {
		if got := localProcesses(func(name string) string { return c.environment[name] }, 1<<20); got != c.want {
			t.Errorf("%s: %d processes, want %d", c.why, got, c.want)
		}
	}
}

// A rank fails on host 1: host 0 says so and both end with 1.
func TestFailureOnAnotherHost(t *testing.T) {
	all := testHosts(2)
	failed := &mpivirt.RankError{Rank: 7, Err: errors.New("out of cheese")}
	errs := []error{&sync.Stopped{From: 1, Reason: []byte(failed.Error())}, failed}
	texts := make([]string, 2)
	var group stdsync.WaitGroup
	for i, h := range all {
		group.Go(func() {
			c, stdout, stderr := testConsole(nil)
			err := conclude(c, h, testRequest(), outcome{err: errs[i], result: &mpivirt.Result{}})
			c.finish(err)
			texts[i] = stdout.String() + stderr.String()
			if code := exitCode(err); code != exitProgram {
				t.Errorf("host %d ends with %d, want 1", i, code)
			}
			if h.apart {
				t.Errorf("host %d counts the hosts as apart", i)
			}
		})
	}
	group.Wait()
	if !strings.Contains(texts[0], "INCOMPLETE") || !strings.Contains(texts[0], "out of cheese") {
		t.Errorf("host 0 does not tell what failed: %s", texts[0])
	}
	if texts[1] != "" {
		t.Errorf("host 1 repeats it: %s", texts[1])
	}
}

// A host is lost: who noticed says so, and nobody ends with 0.
func TestLostHost(t *testing.T) {
	h := testHosts(3)[1]
	h.over.Transport = brokenTransport{h.over.Transport}
	c, _, stderr := testConsole(nil)
	err := conclude(c, h, testRequest(), outcome{err: &sync.Lost{Engine: 2, Host: "node9"}, result: &mpivirt.Result{}})
	c.finish(err)
	if exitCode(err) != exitHost || !strings.Contains(stderr.String(), "node9") || !h.apart {
		t.Errorf("exit code %d, apart %t, %q", exitCode(err), h.apart, stderr)
	}
}

// brokenTransport fails as MPI does after a process was lost.
type brokenTransport struct{ sync.Transport }

var errBroken = errors.New("broken")

func (brokenTransport) Send(int, []byte) error        { return errBroken }
func (brokenTransport) Receive() (int, []byte, error) { return 0, nil, errBroken }
