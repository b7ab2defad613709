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
	"gigarank/sync/mpi"
)

// testJob stands for MPI: its processes are in this one. The first call of Transport
// makes the transport of all.
type testJob struct {
	rank, size int
	taken      int // transports of this process
	lock       *stdsync.Mutex
	made       *[][]sync.Transport // shared by the processes
}

func (j *testJob) Rank() int    { return j.rank }
func (j *testJob) Size() int    { return j.size }
func (j *testJob) Close() error { return nil }

func (j *testJob) RollCall([]int, time.Duration) map[int]bool { return map[int]bool{j.rank: true} }

func (j *testJob) Transport() (sync.Transport, error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.taken == len(*j.made) {
		*j.made = append(*j.made, sync.NewInProcess(j.size))
	}
	j.taken++
	return (*j.made)[j.taken-1][j.rank], nil
}

// testHosts connects host processes as MPI would.
func testHosts(n int) []*hosts {
	all := make([]*hosts, n)
	var lock stdsync.Mutex
	var made [][]sync.Transport
	for i := range all {
		all[i], _ = joinHosts(&testJob{rank: i, size: n, lock: &lock, made: &made}, n)
	}
	return all
}

// Every host learns the worst exit code, the first host that has it, and the sum of the memory.
func TestHostsAgree(t *testing.T) {
	for n := 2; n <= 9; n++ {
		for guilty := range n {
			all := testHosts(n)
			var group stdsync.WaitGroup
			for i, h := range all {
				group.Go(func() {
					mine := report{peak: int64(1) << i}
					if i == guilty || i == guilty+2 {
						mine.code = exitProgram
					}
					got, err := h.agree(mine, time.Minute)
					if want := (report{code: exitProgram, from: guilty, peak: 1<<n - 1, deputy: 1}); err != nil || got != want {
						t.Errorf("host %d of %d agrees on %+v, %v, want %+v", i, n, got, err, want)
					}
				})
			}
			group.Wait()
		}
	}
}

// Messages of hosts between simulations, and messages that a simulation has left
// behind, do not disturb the next one.
func TestSimulationsFollowOneAnother(t *testing.T) {
	const n, simulations = 3, 4
	var group stdsync.WaitGroup
	for i, h := range testHosts(n) {
		group.Go(func() {
			for number := range simulations {
				transports, err := h.transports(1)
				if err != nil || len(transports) != 1 || transports[0].Size() != n || transports[0].Rank() != i {
					t.Errorf("host %d gets %v, %v", i, transports, err)
					return
				}
				exchange(t, transports[0], byte(number))
				if got, err := h.agree(report{code: number, peak: int64(i)}, time.Minute); err != nil || got != (report{code: number, peak: 3, deputy: 1}) {
					t.Errorf("host %d agrees on %+v, %v", i, got, err)
				}
			}
			if err := h.close(exitDone); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// exchange sends two messages to everyone and receives one of everyone.
func exchange(t *testing.T, transport sync.Transport, text byte) {
	for range 2 {
		for dst := range transport.Size() {
			message := transport.Alloc(1)
			message[0] = text
			if err := transport.Send(dst, message); err != nil {
				t.Error(err)
			}
		}
	}
	for received := 0; received < transport.Size(); {
		src, message, err := transport.Receive()
		if err == nil && message == nil {
			err = transport.Wait(time.Minute)
		}
		if err != nil {
			t.Error(err)
			return
		}
		if message != nil {
			received++
			if message[0] != text {
				t.Errorf("simulation %d receives %d from host %d", text, message[0], src)
			}
		}
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
			err := conclude(c, h, testSignals(t), testRequest(), outcome{err: errs[i], result: &mpivirt.Result{}}, newOutlet(c.stdout))
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

// A host is lost: the host that noticed says so, and none ends with 0.
func TestLostHost(t *testing.T) {
	h := testHosts(3)[1]
	h.talk = brokenTransport{h.talk}
	c, _, stderr := testConsole(nil)
	err := conclude(c, h, testSignals(t), testRequest(), outcome{err: &sync.Lost{Engine: 2, Host: "node9"}, result: &mpivirt.Result{}}, newOutlet(c.stdout))
	c.finish(err)
	if exitCode(err) != exitHost || !strings.Contains(stderr.String(), "node9") || !h.apart {
		t.Errorf("exit code %d, apart %t, %q", exitCode(err), h.apart, stderr)
	}
}

// A host is lost before a simulation begins: a host that waits for it says so.
func TestLostHostBefore(t *testing.T) {
	h := testHosts(3)[1]
	h.job = brokenJob{h.job}
	c, _, stderr := testConsole(nil)
	err := simulate(c, h, testSignals(t), testRequest())
	c.finish(err)
	if exitCode(err) != exitHost || !strings.Contains(stderr.String(), "broken") || !h.apart {
		t.Errorf("exit code %d, apart %t, %q", exitCode(err), h.apart, stderr)
	}
}

type brokenJob struct{ mpi.Job }

func (brokenJob) Transport() (sync.Transport, error) { return nil, errBroken }

// brokenTransport fails as MPI does after a process was lost.
type brokenTransport struct{ sync.Transport }

var errBroken = errors.New("broken")

func (brokenTransport) Send(int, []byte) error        { return errBroken }
func (brokenTransport) Receive() (int, []byte, error) { return 0, nil, errBroken }
