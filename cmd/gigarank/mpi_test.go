//go:build mpi

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
)

// underMPI makes the command line a job of n host processes on this machine.
func underMPI(t *testing.T, n int, args ...string) *exec.Cmd {
	launcher, err := exec.LookPath("mpirun")
	if err != nil {
		t.Fatalf("the tests with the tag mpi need mpirun on the PATH: %v", err)
	}
	cmd := command(t, args...)
	cmd.Args = append([]string{launcher, "-n", fmt.Sprint(n), cmd.Path}, args...)
	cmd.Path = launcher
	cmd.Env = append(cmd.Env, anyHost...)
	return cmd
}

// anyHost lets Open MPI start more processes than cores, and as root, as is usual where
// tests run.
var anyHost = []string{
	"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
	"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
}

// Standard output has what ranks of all hosts print: the only rank here is one of host 1. The log is on
// standard error.
func TestOutputOfOtherHosts(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	cmd := underMPI(t, 2, "run", "picalc", "--ranks", "1", "--progress", "none", "-v")
	var log strings.Builder
	cmd.Stderr = &log
	output, err := cmd.Output()
	if text := string(output); err != nil || strings.Count(text, "pi is 3.14159") != 1 || strings.Count(text, "fingerprint") != 1 || strings.Contains(text, "INFO") {
		t.Errorf("%v: printed\n%s", err, text)
	}
	if strings.Count(log.String(), "INFO  statistics") != 1 {
		t.Errorf("the log is\n%s", &log)
	}
}

// The virtual results are the same on any number of host processes.
func TestHostsGiveTheSameResult(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	dir := t.TempDir()
	args := []string{"run", "barriertest", "--ranks", "500", "--iterations", "3", "--noise", "exponential:100us,10us", "--json"}
	var want document
	for n := range 4 { // 0 is a process without a launcher
		path := filepath.Join(dir, fmt.Sprint(n))
		cmd := command(t, append(args, path)...)
		if n > 0 {
			cmd = underMPI(t, n, append(args, path)...)
		}
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%d host processes: %v\n%s", n, err, output)
		}
		got := readDocument(t, path)
		if got.Hosts != max(n, 1) || n > 1 && got.Engines != n || !got.Complete {
			t.Errorf("%d host processes: %d hosts, %d engines, complete %t", n, got.Hosts, got.Engines, got.Complete)
		}
		if n == 0 {
			want = got
		}
		if got.Fingerprint != want.Fingerprint || got.VirtualTime != want.VirtualTime || got.FinishedRanks != want.FinishedRanks ||
			got.Messages != want.Messages || len(got.Iterations) != len(want.Iterations) {
			t.Errorf("%d host processes give %+v, one alone %+v", n, got, want)
		}
		for i := range min(len(got.Iterations), len(want.Iterations)) {
			a, b := got.Iterations[i], want.Iterations[i]
			if a.Wall, b.Wall = 0, 0; a != b {
				t.Errorf("%d host processes: iteration %+v, one alone %+v", n, a, b)
			}
		}
	}
}

// One host names the faults, and all end with 2, even if only host 0 can see a fault.
func TestHostsRefuseTogether(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	for _, c := range []struct{ args, want string }{
		{"--engines 2", "over MPI each process has exactly one"},
		{"--json /nowhere/out.json", "cannot be written"},
	} {
		cmd := underMPI(t, 2, append([]string{"run", "barriertest"}, strings.Fields(c.args)...)...)
		output, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != terminal.ExitUsage || bytes.Count(output, []byte(c.want)) != 1 {
			t.Errorf("%s: %v, want exit code 2 and %q once in\n%s", c.args, err, c.want, output)
		}
	}
}

// Ctrl-C and SIGTERM to the launcher end a run on all hosts within seconds, and host 0
// still reports the finished part. Open MPI passes both on as SIGTERM.
func TestTerminateHosts(t *testing.T) {
	for _, c := range []struct {
		signal     unix.Signal
		args       string
		until      string // output at which the signal is sent
		iterations int    // finished by then
	}{
		{unix.SIGTERM, "barriertest --lp event", "running", 0},
		{unix.SIGINT, "barriertest --lp event", "running", 0},
		{unix.SIGTERM, "picalc", `(?s)(pi is .*){3}`, 2},
		{unix.SIGINT, "picalc", `(?s)(pi is .*){3}`, 2},
	} {
		if fault := terminate(t, c.signal, c.args, c.until, c.iterations); fault != nil {
			t.Errorf("%v: %v", c, fault)
		}
	}
}

// terminate sends a run a signal and reports faults of its end.
func terminate(t *testing.T, signal unix.Signal, args, until string, iterations int) error {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.json")
	cmd := underMPI(t, 2, append([]string{"run"}, strings.Fields(args+" --iterations 1G -v --json "+out)...)...)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, output, until)
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if code, took := endIn(cmd); code == terminal.ExitDone || took > within(t, 10*time.Second) {
		return fmt.Errorf("the launcher ends with %d after %v", code, took)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	// Whichever host is the first to get the signal stops the others.
	if d.Complete || !strings.Contains(d.Reason, "interrupted by SIG") || d.Hosts != 2 || len(d.Iterations) < iterations {
		return fmt.Errorf("complete %t, reason %q, %d hosts, %d iterations", d.Complete, d.Reason, d.Hosts, len(d.Iterations))
	}
	return nil
}
