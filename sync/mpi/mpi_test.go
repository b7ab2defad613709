//go:build mpi

package mpi

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"gigarank/sync"
	"gigarank/sync/transporttest"
)

var worker = flag.Bool("worker", false, "run as one process of several, started by the launcher")

// underMPI runs one test of this binary in n processes.
func underMPI(t *testing.T, n int, test string) {
	t.Helper()
	launcher, err := exec.LookPath("mpirun")
	if err != nil {
		launcher, err = exec.LookPath("mpiexec")
	}
	if err != nil {
		t.Fatalf("the tests with the tag mpi need mpirun or mpiexec on the PATH: %v", err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), launcher, "-n", strconv.Itoa(n), binary, "-test.run=^"+test+"$", "-test.timeout=2m", "-worker")
	// More processes than cores, and root, are usual where tests run.
	command.Env = append(os.Environ(),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
		"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe")
	output, err := command.CombinedOutput()
	if err != nil || strings.Count(string(output), "PASS") != n {
		t.Errorf("%s in %d processes: %v\n%s", test, n, err, output)
	}
}

func TestTransport(t *testing.T) {
	if *worker {
		e, err := open(beatPeriod, beatLimit)
		if err != nil {
			t.Fatal(err)
		}
		transporttest.Test(t, func(k int) []sync.Transport {
			if k != e.Size() {
				return nil
			}
			return []sync.Transport{e}
		})
		return
	}
	for n := 1; n <= 4; n++ {
		underMPI(t, n, "TestTransport")
	}
}

// A process that keeps silent is lost to its neighbours, which name it and its
// host; one whose engine is busy for long is not.
func TestLost(t *testing.T) {
	if !*worker {
		underMPI(t, 2, "TestLost")
		return
	}
	const limit = 1500 * time.Millisecond
	e, err := open(limit/20, limit)
	if err != nil {
		t.Fatal(err)
	}
	// Both engines are busy for longer than the limit, without a call.
	busy(limit * 4 / 3)
	if e.lost.Load() != nil {
		t.Fatal("a busy engine counts as lost")
	}
	if e.rank == 1 {
		muted.Store(true)
		stay(t, e, 2*limit)
		muted.Store(false)
		stay(t, e, limit/3) // for the other to hear of it
		if err := e.Send(0, e.Alloc(1)); err != nil {
			t.Error(err)
		}
	} else {
		checkLoss(t, e, limit)
		reconcile(t, e)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// busy computes.
func busy(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// stay waits for a message that does not come.
func stay(t *testing.T, e *end, d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
		if err := e.Wait(d - time.Since(start)); err != nil {
			t.Error(err)
			return
		}
	}
}

// checkLoss waits for the loss of engine 1.
func checkLoss(t *testing.T, e *end, limit time.Duration) {
	err := awaitLoss(e)
	var lost *sync.Lost
	if host, _ := os.Hostname(); !errors.As(err, &lost) || lost.Engine != 1 || lost.Host != host || lost.Silent < limit {
		t.Errorf("the loss of engine 1 on %s gives %v", host, err)
	}
	if _, _, err := e.Receive(); err == nil {
		t.Error("the loss is forgotten by Receive")
	}
	if err := e.Send(1, e.Alloc(1)); err == nil {
		t.Error("a message is sent in spite of the loss")
	}
}

// reconcile forgets the loss as soon as engine 1 is back, so that both can close.
func reconcile(t *testing.T, e *end) {
	for start := time.Now(); time.Since(start) < time.Minute; {
		e.lost.Store(nil)
		if _, message, _ := e.Receive(); message != nil {
			e.Free(message)
			return
		}
	}
	t.Error("engine 1 does not come back within a minute")
}

func awaitLoss(e *end) error {
	for start := time.Now(); time.Since(start) < time.Minute; {
		if err := e.Wait(time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("no loss within a minute")
}

func TestVersion(t *testing.T) {
	if !Available() || Version() == "" {
		t.Errorf("Available() = %v, Version() = %q", Available(), Version())
	}
}

// MPI can be initialised once in a process.
func TestOpenTwice(t *testing.T) {
	if !*worker {
		underMPI(t, 1, "TestOpenTwice")
		return
	}
	first, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Open(); err == nil {
		t.Errorf("MPI opens twice: %v", second)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
}
