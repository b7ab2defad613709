//go:build mpi

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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
	// More processes than cores, and root, are usual where tests run.
	cmd.Env = append(cmd.Env,
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
		"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe")
	return cmd
}

// The virtual results are the same on any number of host processes.
func TestHostsGiveTheSameResult(t *testing.T) {
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

// Faults are named by one host, and all end with 2, also when only host 0 can see
// that something is wrong.
func TestHostsRefuseTogether(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--engines 2", "over MPI each process has exactly one"},
		{"--json /nowhere/out.json", "cannot be written"},
	} {
		cmd := underMPI(t, 2, append([]string{"run", "barriertest"}, strings.Fields(c.args)...)...)
		output, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitUsage || bytes.Count(output, []byte(c.want)) != 1 {
			t.Errorf("%s: %v, want exit code 2 and %q once in\n%s", c.args, err, c.want, output)
		}
	}
}

// The launcher passes SIGTERM on to all hosts, and host 0 still reports.
func TestTerminateHosts(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	cmd := underMPI(t, 2, "run", "barriertest", "--ranks", "500", "--iterations", "1G", "--json", out, "-v")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stderr, "running")
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, _ := endIn(cmd); code == exitDone {
		t.Error("the launcher ends with 0")
	}
	if d := readDocument(t, out); d.Complete || d.Reason != "interrupted by SIGTERM" || d.Hosts != 2 {
		t.Errorf("complete %t, reason %q, %d hosts", d.Complete, d.Reason, d.Hosts)
	}
}
