//go:build mpi

package bench_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/sync"
	"gigarank/sync/mpi"
	"gigarank/vtime"
)

// A deadlock across hosts is reported once, with all ranks, and the job ends with
// exit code 1.
func TestDeadlockOverMPI(t *testing.T) {
	for hosts := 2; hosts <= 3; hosts++ {
		out := filepath.Join(t.TempDir(), "out.json")
		began := time.Now()
		output, err := job(t.Context(), t, hosts, gigarank(t), "run", "deadlock", "--ranks", "9", "--json", out).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || time.Since(began) > jobLimit {
			t.Errorf("%d hosts: %v after %v, want exit code 1", hosts, err, time.Since(began))
		}
		for _, want := range []string{"deadlock: 8 ranks wait and none can go on", "rank 0 waits in Ssend", "rank 7 waits in Ssend"} {
			if n := bytes.Count(output, []byte(want)); n != 1 {
				t.Errorf("%d hosts: %q is %d times in\n%s", hosts, want, n, output)
			}
		}
		if d := readDocument(t, out); d.Complete || !strings.Contains(d.Reason, "deadlock") {
			t.Errorf("%d hosts: the document says %+v", hosts, d)
		}
	}
}

// failures are programs whose last rank fails while the others wait for it.
var failures = map[string]func(r *mpivirt.Rank) error{
	"error": func(*mpivirt.Rank) error { return errors.New("no convergence") },
	"panic": func(*mpivirt.Rank) error { panic("index out of the grid") },
	"abort": func(r *mpivirt.Rank) error { r.Abort(42); return nil },
	"block": func(*mpivirt.Rank) error { <-make(chan int); return nil },
}

// A rank that fails ends the simulation on all hosts. Its own host has the reason, the
// others learn that another host has stopped.
func TestFailureOverMPI(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string]string{
		"error": "rank 9 failed at virtual time 1us: no convergence",
		"panic": "rank 9 failed at virtual time 1us: panic: index out of the grid",
		"abort": "rank 9 failed at virtual time 1us: the program called Abort with code 42",
		"block": "rank 9 failed at virtual time 1us: the rank's code has been blocked outside MPI",
	} {
		began := time.Now()
		output, err := job(t.Context(), t, 3, self, "-worker", name).CombinedOutput()
		if err != nil || time.Since(began) > jobLimit {
			t.Errorf("%s: %v after %v\n%s", name, err, time.Since(began), output)
		}
		if n := bytes.Count(output, []byte("host 2: failed: "+words)); n != 1 {
			t.Errorf("%s: %q is %d times in\n%s", name, words, n, output)
		}
		for host := range 2 {
			if n := bytes.Count(output, fmt.Appendf(nil, "host %d: stopped: %s", host, words)); n != 1 {
				t.Errorf("%s: host %d does not say that it was stopped:\n%s", name, host, output)
			}
		}
	}
}

// workFailure simulates a failing program as one process of a job and prints how it
// ended.
func workFailure(job mpi.Job, fail func(*mpivirt.Rank) error) error {
	host := job.Rank()
	transport, err := job.Transport()
	if err != nil {
		return err
	}
	_, err = simulateOver(transport, func(r *mpivirt.Rank) error {
		if r.Rank() == r.Size()-1 {
			r.Compute(vtime.Microsecond)
			return fail(r)
		}
		return r.World().Barrier()
	})
	var failed *mpivirt.RankError
	var stopped *sync.Stopped
	switch {
	case errors.As(err, &failed):
		fmt.Printf("host %d: failed: %v\n", host, err)
	case errors.As(err, &stopped):
		fmt.Printf("host %d: stopped: %s\n", host, stopped.Reason)
	default:
		fmt.Printf("host %d: ended with %v\n", host, err)
	}
	return transport.Close()
}

func simulateOver(transport sync.Transport, main func(r *mpivirt.Rank) error) (*mpivirt.Result, error) {
	tgt, err := machine("xt5", 10)
	if err != nil {
		return nil, err
	}
	s, err := mpivirt.New(mpivirt.Config{
		Target: tgt, Kind: mpivirt.Goroutine, Transports: []sync.Transport{transport},
		Program: mpivirt.Program{Name: "failure", Forms: []mpivirt.Form{mpivirt.Main(main)}},
	})
	if err != nil {
		return nil, err
	}
	return s.Run()
}

// keeper is a shell that writes the process ids of the host processes to files. On host
// 1 it outlives the process, so that the launcher does not end the others before host 0
// has noticed.
const keeper = `
dir=$1; shift
host=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
note() { echo $1 >"$dir/new.$host"; mv "$dir/new.$host" "$dir/pid.$host"; }
if [ $host -ne 1 ]; then note $$; exec "$@"; fi
"$@" & note $!
wait $!; code=$?
while kill -0 $(cat "$dir/pid.0"); do sleep 0.1; done
exit $code
`

// When a host process is killed, host 0 names the lost one and ends the job with exit
// code 3. No process stays.
func TestKilledHostOverMPI(t *testing.T) {
	dir := t.TempDir()
	cmd := job(t.Context(), t, 3, "/bin/sh", "-c", keeper, "sh", dir, gigarank(t), "run", "barriertest", "--ranks", "300", "--iterations", "1G",
		"--json", filepath.Join(dir, "out.json"))
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for host := range 3 {
		pids = append(pids, awaitNumber(t, filepath.Join(dir, fmt.Sprint("pid.", host))))
	}
	awaitProgress(t, pids[0])
	killed := time.Now()
	if err := syscall.Kill(pids[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if took := time.Since(killed); took > jobLimit {
		t.Errorf("the job ended %v after the kill, want at most %v", took, jobLimit)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("the job ended with %v, want exit code 3\n%s", err, &output)
	}
	if d := readDocument(t, filepath.Join(dir, "out.json")); d.Complete || !strings.Contains(d.Reason, "engine 1 on ") {
		t.Errorf("the document says %+v, want the loss of engine 1", d)
	}
	for host, pid := range pids {
		if state, _ := processState(pid); state != "" && state != "Z" {
			t.Errorf("host %d is still there as process %d in state %s", host, pid, state)
		}
	}
}

// awaitProgress waits until a process has used some seconds of a processor, long
// after which a simulation is under way.
func awaitProgress(t *testing.T, pid int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < jobLimit; {
		if _, used := processState(pid); used > time.Second {
			return
		}
	}
	t.Fatalf("process %d does not get to work within %v", pid, jobLimit)
}

// processState returns the state of a process as one letter, and the processor time
// that it has used. Z is one that is over but has not been waited for. The state is
// empty if there is no such process.
func processState(pid int) (state string, used time.Duration) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const tick = 10 * time.Millisecond // the unit of /proc
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return "", 0
	}
	return fields[0], time.Duration(user) * tick
}

// awaitNumber reads a number from a file that another process writes soon.
func awaitNumber(t *testing.T, path string) int {
	t.Helper()
	for began := time.Now(); time.Since(began) < jobLimit; {
		if text, err := os.ReadFile(path); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				return n
			}
		}
	}
	t.Fatalf("no number in %s within %v", path, jobLimit)
	return 0
}
