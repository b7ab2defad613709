//go:build mpi

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/loggp"
)

// undisturbed runs a command that measures, and returns what it prints. Other tests work beside it: as long as the command refuses its measurement for that, it is
// made again, ten times at most.
func undisturbed(made func() *exec.Cmd) (output []byte, err error) {
	for range 10 {
		if output, err = made().CombinedOutput(); err == nil || !strings.Contains(string(output), "measure again when the machine is quieter") {
			break
		}
	}
	return output, err
}

// Processes of the real MPI make a machine file that can be read and simulated.
func TestCalibrateOverMPI(t *testing.T) {
	dir := t.TempDir()
	machine, figures := filepath.Join(dir, "here.yaml"), filepath.Join(dir, "here.json")
	const n = 3 // one of them is no partner of process 0
	if output, err := undisturbed(func() *exec.Cmd {
		return underMPI(t, n, "machine", "calibrate", "--runs", "1", "-o", machine, "--json", figures)
	}); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	m, err := readMeasurements(figures, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	if m.Processes != n || m.Nodes != 1 || m.RanksPerNode != n || m.Intra == nil || m.Inter != nil || len(m.Intra.Delays) != len(loggp.DelaySizes()) ||
		len(m.Collectives) != 11 || len(m.Near) != 6 || m.NearProcesses != n || !strings.Contains(m.Library, "MPI") {
		t.Errorf("the measurements are %+v", m)
	}
	if output, err := command(t, "machine", "check", machine).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	output, err := undisturbed(func() *exec.Cmd {
		cmd := command(t, "validate", "mpiping", "--machine", machine, "--cold", "--jobs", "1", "--runs", "1", "--out", filepath.Join(dir, "out"))
		cmd.Env = append(cmd.Env, anyHost...)
		return cmd
	})
	if err != nil || !strings.Contains(string(output), "the simulation is off by") {
		t.Errorf("%v\n%s", err, output)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "report.html")); err != nil {
		t.Error(err)
	}
	cmd := underMPI(t, 2, "machine", "calibrate", "--runs", "0", "--jobs", "3", "-o", "/nowhere/here.yaml")
	output, _ = cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != terminal.ExitUsage || strings.Count(string(output), "--runs: 0 is too small") != 1 || !strings.Contains(string(output), "--out: /nowhere") ||
		!strings.Contains(string(output), "--jobs: an MPI launcher") {
		t.Errorf("exit code %d, want 2 and each fault once in\n%s", cmd.ProcessState.ExitCode(), output)
	}
}

// Without a launcher, calibrate starts several jobs, however much they differ here, and says so
// in the machine file.
func TestCalibrateStartsJobs(t *testing.T) {
	machine := filepath.Join(t.TempDir(), "here.yaml")
	if output, err := undisturbed(func() *exec.Cmd {
		cmd := command(t, "machine", "calibrate", "--jobs", "3", "--runs", "1", "--disturbed", "1e9", "-o", machine)
		cmd.Env = append(cmd.Env, anyHost...)
		return cmd
	}); err != nil || !strings.Contains(string(output), "job 3 of 3") {
		t.Fatalf("%v\n%s", err, output)
	}
	text, err := os.ReadFile(machine)
	if err != nil || !strings.Contains(string(text), "# Medians of 3 jobs") {
		t.Errorf("%v, no word of three jobs in\n%s", err, text)
	}
	cmd := command(t, "machine", "calibrate", "--jobs", "0", "--runs", "x", "--disturbed", "1", "--hosts", "1", "--launcher", "nosuch -n", "-o", "/nowhere/here.yaml")
	output, _ := cmd.CombinedOutput()
	for _, flag := range []string{"--jobs", "--runs", "--disturbed", "--hosts", "--launcher", "--out"} {
		if strings.Count(string(output), flag+": ") != 1 {
			t.Errorf("%s is not named once in\n%s", flag, output)
		}
	}
}
