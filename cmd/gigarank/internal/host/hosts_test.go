package host

import (
	"errors"
	"runtime"
	stdsync "sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/host/hosttest"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt"
	"gigarank/sync"
)

// Every host learns the worst exit code, the first host that has it, and the sum of the memory.
func TestHostsAgree(t *testing.T) {
	for n := 2; n <= 9; n++ {
		for guilty := range n {
			all := connected(n)
			var group stdsync.WaitGroup
			for i, h := range all {
				group.Go(func() {
					mine := Report{Peak: int64(1) << i}
					if i == guilty || i == guilty+2 {
						mine.Code = terminal.ExitProgram
					}
					got, err := h.Agree(mine, time.Minute)
					if want := (Report{Code: terminal.ExitProgram, From: guilty, Peak: 1<<n - 1, deputy: 1}); err != nil || got != want {
						t.Errorf("host %d of %d agrees on %+v, %v, want %+v", i, n, got, err, want)
					}
				})
			}
			group.Wait()
		}
	}
}

// A signal comes to one host before it comes to the others, between two points of a study or when the simulation is over
// on some hosts. Those name it, too, and not a failure of another host.
func TestHostsNameTheSignalOfAnother(t *testing.T) {
	const n = 3
	for struck := range n {
		var group stdsync.WaitGroup
		for i, h := range connected(n) {
			group.Go(func() {
				signals := testSignals(t)
				var mine error
				if i == struck {
					mine = signals.StopBy(unix.SIGUSR1)
				}
				all, err := h.Agree(ReportOn(mine), time.Minute)
				if cause := signals.Cause(mine, all); err != nil || all.Code != terminal.ExitHost || !errors.Is(cause, terminal.InterruptedBy(unix.SIGUSR1)) {
					t.Errorf("host %d, struck is %d: %+v, %v, %v", i, struck, all, cause, err)
				}
				o := Outcome{Result: &mpivirt.Result{Complete: true}, Err: mine}
				if _, err := Settle(h, &o); !errors.Is(err, terminal.InterruptedBy(unix.SIGUSR1)) || terminal.ExitCode(err) != terminal.ExitHost {
					t.Errorf("host %d, struck is %d: settled with %v", i, struck, err)
				}
			})
		}
		group.Wait()
	}
}

// The signal that a launcher passes on to a host after another is not left to kill it: it is taken before it has its usual effect.
func TestSignalOfAnotherHostIsAwaited(t *testing.T) {
	signals := testSignals(t)
	signals.Caught <- unix.SIGTERM
	if cause := signals.Cause(nil, Report{Code: terminal.ExitHost, Signal: unix.SIGINT}); !errors.Is(cause, terminal.InterruptedBy(unix.SIGTERM)) {
		t.Errorf("the cause is %v, want the host's own signal", cause)
	}
}

// Messages of hosts between simulations, and messages that a simulation has left
// behind, do not disturb the next one.
func TestSimulationsFollowOneAnother(t *testing.T) {
	const n, simulations = 3, 4
	var group stdsync.WaitGroup
	for i, h := range connected(n) {
		group.Go(func() {
			for number := range simulations {
				transports, err := h.Transports(1)
				if err != nil || len(transports) != 1 || transports[0].Size() != n || transports[0].Rank() != i {
					t.Errorf("host %d gets %v, %v", i, transports, err)
					return
				}
				exchange(t, transports[0], byte(number))
				if got, err := h.Agree(Report{Code: number, Peak: int64(i)}, time.Minute); err != nil || got != (Report{Code: number, Peak: 3, deputy: 1}) {
					t.Errorf("host %d agrees on %+v, %v", i, got, err)
				}
			}
			if err := h.Close(terminal.ExitDone); err != nil {
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
	h := connected(2)[0]
	if _, err := h.Agree(Report{}, time.Nanosecond); !errors.Is(err, ErrNoReport) {
		t.Errorf("without the other host: %v", err)
	}
	if !h.Apart {
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

// connected connects host processes as MPI would.
func connected(n int) []*Processes {
	all := make([]*Processes, n)
	for i, job := range hosttest.New(n) {
		all[i], _ = Join(job, n)
	}
	return all
}
