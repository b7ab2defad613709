package main

import (
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/sync/mpi"
)

// needsNoMPI leaves a test to builds without MPI.
func needsNoMPI(t *testing.T) {
	t.Helper()
	if mpi.Available() {
		t.Skip("this build has MPI")
	}
}

// A build without MPI refuses to run if a launcher has started several processes, and
// says how to build with it. It would run the same simulation in each.
func TestRefusesLauncherWithoutMPI(t *testing.T) {
	needsNoMPI(t)
	for _, c := range []struct {
		launcher    string
		environment map[string]string
	}{
		{"Open MPI", map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}},
		{"MPICH", map[string]string{"PMI_SIZE": "2", "PMI_RANK": "1"}},
	} {
		console, stdout, stderr := terminaltest.Console(c.environment)
		code := execute(strings.Fields("run barriertest --ranks 16"), console)
		if code != terminal.ExitUsage || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d and the output %q, want 2 and none", c.launcher, code, stdout)
		}
		if !strings.Contains(stderr.String(), "go build -tags mpi ./cmd/gigarank") {
			t.Errorf("%s: %q does not say how to build with MPI", c.launcher, stderr)
		}
	}
}

// A single process of a launcher runs as without one.
func TestRunsAloneUnderLauncher(t *testing.T) {
	needsNoMPI(t)
	console, _, stderr := terminaltest.Console(map[string]string{"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"})
	if code := execute(strings.Fields("run barriertest --ranks 16 --iterations 1"), console); code != terminal.ExitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
