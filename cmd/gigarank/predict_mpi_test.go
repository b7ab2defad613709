//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/network"
	"gigarank/study"
)

// buildPredicted builds picalc for gigarank and for the MPI of this machine.
func buildPredicted(t *testing.T) (program, real string) {
	return buildBoth(t, filepath.Join("..", "..", "examples", "c", "picalc.c"))
}

// buildBoth builds a source for gigarank and for the MPI of this machine.
func buildBoth(t *testing.T, source string) (program, real string) {
	dir := t.TempDir()
	program, real = filepath.Join(dir, "program"), filepath.Join(dir, "real")
	if text, err := command(t, "cc", "-O2", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if text, err := exec.Command("mpicc", "-O2", source, "-o", real, "-lm").CombinedOutput(); err != nil {
		t.Fatalf("mpicc: %v\n%s", err, text)
	}
	return program, real
}

// startPredict starts a comparison of what picalc prints in place of a time, in which all turns count, and
// returns its output and exit code.
func startPredict(t *testing.T, program, real string, arguments ...string) (string, int) {
	cmd := command(t, append([]string{"study", "predict", program, "--real", real, "--disturbed", "inf"}, arguments...)...)
	cmd.Env = append(cmd.Env, anyHost...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// Where no machine file is named, each turn measures the machine. It
// has the file of its own, on which its simulated runs ran, and a study that has lost its last turn
// makes that turn again and no other.
func TestPredictCalibrates(t *testing.T) {
	program, real := buildPredicted(t)
	out := filepath.Join(t.TempDir(), "out")
	arguments := []string{"--ranks", "2", "--hosts", "1,2", "--runs", "2", "--time-from", `pi is ([0-9.]+)`, "--out", out}
	text, code := startPredict(t, program, real, arguments...)
	if code != terminal.ExitDone || !strings.Contains(text, "No turn is set aside") {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	path := filepath.Join(out, study.ResultsFile)
	lines := func() []string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	first := lines()
	if len(first) != 2 {
		t.Fatalf("%d turns, want 2", len(first))
	}
	files := map[string]bool{}
	var last study.PredictedRun
	for i, line := range first {
		var turn study.PredictedTurn
		if err := json.Unmarshal([]byte(line), &turn); err != nil {
			t.Fatal(err)
		}
		m, err := network.Parse("turn", []byte(turn.MachineFile), nil)
		if err != nil || m.RanksPerNode() != 2 {
			t.Errorf("the machine of turn %d: %v in\n%s", turn.Turn, err, turn.MachineFile)
		}
		if !strings.Contains(turn.MachineFile, "to and from memory that caches did not hold") {
			t.Errorf("long messages of turn %d are not cold in\n%s", turn.Turn, turn.MachineFile)
		}
		if len(turn.Real) != 3 {
			t.Fatalf("turn %d has %d real runs, want one more than simulated ones", turn.Turn, len(turn.Real))
		}
		for _, r := range turn.Real {
			if r.Processors < 1 || r.Others < 0 || r.Hosts != 0 {
				t.Errorf("turn %d: others took %v s of %d processors by the side of a real run", turn.Turn, r.Others, r.Processors)
			}
		}
		if len(turn.Simulated) != 2 || turn.Simulated[0].Hosts != 1 || turn.Simulated[1].Hosts != 2 {
			t.Errorf("turn %d has runs %+v", turn.Turn, turn.Simulated)
		}
		if i > 0 && turn.Real[0] != last {
			t.Errorf("turn %d does not begin with the last real run of the turn before", turn.Turn)
		}
		last = turn.Real[2]
		files[turn.MachineFile] = true
	}
	if len(files) != 2 {
		t.Error("two turns have the same measurements")
	}
	if err := os.WriteFile(path, []byte(first[0]+first[1][:100]), 0o666); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if text, code := startPredict(t, program, real, arguments...); code != terminal.ExitUsage || !strings.Contains(text, "--resume") {
		t.Errorf("results that are there: exit code %d\n%s", code, text)
	}
	arguments = append(arguments, "--resume")
	if text, code := startPredict(t, program, real, append(arguments, "--calibrate", "warm")...); code != terminal.ExitUsage || !strings.Contains(text, "calibrated, cold") {
		t.Errorf("results of other measurements: exit code %d\n%s", code, text)
	}
	text, code = startPredict(t, program, real, arguments...)
	if again := lines(); code != terminal.ExitDone || len(again) != 2 || again[0] != first[0] || again[1] == first[1] {
		t.Errorf("exit code %d, %d turns\n%s", code, len(again), text)
	}
	if strings.Contains(text, "turn 1, 2 ranks real") || !strings.Contains(text, "turn 2, 2 ranks real") {
		t.Errorf("not only the turn that is missing is made:\n%s", text)
	}
}

// A program is run for real and simulated, on one host and on two. What it prints in place of
// a time is the same everywhere, so that the error is 0.
func TestPredict(t *testing.T) {
	program, real := buildPredicted(t)
	out := filepath.Join(t.TempDir(), "out")
	predict := func(arguments ...string) (string, int) {
		return startPredict(t, program, real, append([]string{"--machine", "xt5", "--ranks", "1,2", "--runs", "1"}, arguments...)...)
	}
	text, code := predict("--hosts", "1,2", "--time-from", `pi is ([0-9.]+)`, "--out", out)
	if code != terminal.ExitDone || !strings.Contains(text, "relative error RE(n, N)") || !strings.Contains(text, "3.1") {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	table, err := os.ReadFile(filepath.Join(out, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil || len(rows) != 1+2*2 {
		t.Fatalf("%v, the table is\n%s", err, table)
	}
	for i, row := range rows[1:] {
		if row[0] != strconv.Itoa(1+i/2) || row[1] != strconv.Itoa(1+i%2) || row[7] != "0" {
			t.Errorf("row %q, want n = %d, N = %d and no error", row, 1+i/2, 1+i%2)
		}
		if slowdown, err := strconv.ParseFloat(row[10], 64); err != nil || slowdown <= 0 {
			t.Errorf("row %q: slowdown %v, %v", row, slowdown, err)
		}
	}
	goOn := func(wanted int, says, expression string) {
		t.Helper()
		if text, code := predict("--hosts", "1,2", "--time-from", expression, "--out", out, "--resume"); code != wanted || !strings.Contains(text, says) {
			t.Errorf("going on with %q: exit code %d\n%s\nwant %d and %q", expression, code, text, wanted, says)
		}
	}
	goOn(terminal.ExitDone, "2 turns finished already", `pi is ([0-9.]+)`)
	goOn(terminal.ExitUsage, "--time-from", `pi is [0-9]+.([0-9]+)`)
	for _, file := range []struct{ path, says string }{{program, "SHA-256 of PROGRAM"}, {real, "SHA-256 of the program of --real"}} {
		text, err := os.ReadFile(file.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, write := range []struct {
			text   []byte
			wanted int
			says   string
		}{{append(bytes.Clone(text), 0), terminal.ExitUsage, file.says}, {text, terminal.ExitDone, "2 turns finished already"}} {
			if err := os.WriteFile(file.path, write.text, 0o777); err != nil { // a zero behind its end is no part of the program
				t.Fatal(err)
			}
			goOn(write.wanted, write.says, `pi is ([0-9.]+)`)
		}
	}
	if text, code := predict("--hosts", "1"); code != terminal.ExitUsage || !strings.Contains(text, "--time-from") {
		t.Errorf("a program that prints no time: exit code %d\n%s", code, text)
	}
}

// A program that can use files, and does not, is run, with a warning. --strict-functions refuses it.
func TestPredictWarnsOfMissingFunctions(t *testing.T) {
	source := filepath.Join(t.TempDir(), "files.c")
	if err := os.WriteFile(source, []byte(`#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	int rank;
	MPI_File file;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1)
		MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
	if (rank == 0)
		printf("pi is 3.5\n");
	return MPI_Finalize();
}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	program, real := buildBoth(t, source)
	arguments := []string{"--machine", "xt5", "--runs", "1", "--hosts", "1,2", "--time-from", `pi is ([0-9.]+)`}
	if text, code := startPredict(t, program, real, append(arguments, "--strict-functions")...); code != terminal.ExitUsage || !strings.Contains(text, "MPI_File_open") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	if text, code := startPredict(t, program, real, arguments...); code != terminal.ExitDone || !strings.Contains(text, "3.5 s") || strings.Count(text, "MPI_File_open") != 1 {
		t.Errorf("exit code %d\n%s", code, text)
	}
}
