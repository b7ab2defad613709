package main

import (
	"errors"
	"strings"
	stdsync "sync"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/host/hosttest"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt"
	"gigarank/sync"
	"gigarank/sync/mpi"
)

// A rank fails on host 1: host 0 says so and both end with 1.
func TestFailureOnAnotherHost(t *testing.T) {
	all := testHosts(2)
	failed := &mpivirt.RankError{Rank: 7, Err: errors.New("out of cheese")}
	errs := []error{&sync.Stopped{From: 1, Reason: []byte(failed.Error())}, failed}
	texts := make([]string, 2)
	var group stdsync.WaitGroup
	for i, h := range all {
		group.Go(func() {
			c, stdout, stderr := terminaltest.Console(nil)
			err := conclude(c, h, noSignals(), testRequest(), host.Outcome{Err: errs[i], Result: &mpivirt.Result{}}, terminal.NewOutlet(c.Stdout))
			c.Finish(err)
			texts[i] = stdout.String() + stderr.String()
			if code := terminal.ExitCode(err); code != terminal.ExitProgram {
				t.Errorf("host %d ends with %d, want 1", i, code)
			}
			if h.Apart {
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

// A host is lost: the host that noticed says so, and none ends with 0.
func TestLostHost(t *testing.T) {
	h, err := host.Join(silentJob{hosttest.New(3)[1]}, 3)
	if err != nil {
		t.Fatal(err)
	}
	c, _, stderr := terminaltest.Console(nil)
	err = conclude(c, h, noSignals(), testRequest(), host.Outcome{Err: &sync.Lost{Engine: 2, Host: "node9"}, Result: &mpivirt.Result{}}, terminal.NewOutlet(c.Stdout))
	c.Finish(err)
	if terminal.ExitCode(err) != terminal.ExitHost || !strings.Contains(stderr.String(), "node9") || !h.Apart {
		t.Errorf("exit code %d, apart %t, %q", terminal.ExitCode(err), h.Apart, stderr)
	}
}

// A host is lost before a simulation begins: a host that waits for it says so.
func TestLostHostBefore(t *testing.T) {
	h, err := host.Join(&brokenJob{Job: hosttest.New(3)[1]}, 3)
	if err != nil {
		t.Fatal(err)
	}
	c, _, stderr := terminaltest.Console(nil)
	err = simulate(c, h, noSignals(), testRequest())
	c.Finish(err)
	if terminal.ExitCode(err) != terminal.ExitHost || !strings.Contains(stderr.String(), "broken") || !h.Apart {
		t.Errorf("exit code %d, apart %t, %q", terminal.ExitCode(err), h.Apart, stderr)
	}
}

// silentJob has transports that fail.
type silentJob struct{ mpi.Job }

func (j silentJob) Transport() (sync.Transport, error) {
	transport, err := j.Job.Transport()
	return brokenTransport{transport}, err
}

// brokenJob has a transport for messages between hosts, and none for a simulation.
type brokenJob struct {
	mpi.Job
	asked bool
}

func (j *brokenJob) Transport() (sync.Transport, error) {
	if j.asked {
		return nil, errBroken
	}
	j.asked = true
	return j.Job.Transport()
}

// brokenTransport fails as MPI does after a process was lost.
type brokenTransport struct{ sync.Transport }

var errBroken = errors.New("broken")

func (brokenTransport) Send(int, []byte) error { return errBroken }

func (brokenTransport) Receive() (int, []byte, error) { return 0, nil, errBroken }

// noSignals are those of a run that no signal ends.
func noSignals() *host.Signals { return host.CatchSignals() }

// testHosts connects host processes as MPI would.
func testHosts(n int) []*host.Processes {
	all := make([]*host.Processes, n)
	for i, job := range hosttest.New(n) {
		all[i], _ = host.Join(job, n)
	}
	return all
}
