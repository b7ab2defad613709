//go:build mpi

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/loggp"
)

// Processes of the real MPI make a machine file that can be read and simulated.
func TestCalibrateOverMPI(t *testing.T) {
	dir := t.TempDir()
	machine, measured := filepath.Join(dir, "here.yaml"), filepath.Join(dir, "here.json")
	const n = 3 // one of them is no partner of process 0
	if output, err := underMPI(t, n, "machine", "calibrate", "--runs", "1", "-o", machine, "--json", measured).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	m, err := readMeasurements(measured)
	if err != nil {
		t.Fatal(err)
	}
	if m.Processes != n || m.Nodes != 1 || m.RanksPerNode != n || m.Intra == nil || m.Inter != nil || len(m.Intra.Delays) != len(loggp.Sizes()) ||
		len(m.Collectives) != 11 || len(m.Near) != 6 || m.NearProcesses != n || !strings.Contains(m.Library, "MPI") {
		t.Errorf("the measurements are %+v", m)
	}
	if output, err := command(t, "machine", "check", machine).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	cmd := command(t, "validate", "mpiping", "--machine", machine, "--runs", "1", "--out", filepath.Join(dir, "out"))
	cmd.Env = append(cmd.Env, anyHost...)
	output, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "the simulation is off by") {
		t.Errorf("%v\n%s", err, output)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "report.html")); err != nil {
		t.Error(err)
	}
	cmd = underMPI(t, 2, "machine", "calibrate", "--runs", "0", "-o", "/nowhere/here.yaml")
	output, _ = cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitUsage || strings.Count(string(output), "--runs: 0 is too small") != 1 || !strings.Contains(string(output), "--out: /nowhere") {
		t.Errorf("exit code %d, want 2 and each fault once in\n%s", cmd.ProcessState.ExitCode(), output)
	}
}
