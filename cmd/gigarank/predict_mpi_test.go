//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A program is run for real and simulated, on one host and on two. What it prints in place of
// a time is the same everywhere, so that the error is 0.
func TestPredict(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join("..", "..", "examples", "c", "picalc.c")
	program, real, out := filepath.Join(dir, "picalc"), filepath.Join(dir, "real"), filepath.Join(dir, "out")
	if text, err := command(t, "cc", "-O2", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if text, err := exec.Command("mpicc", "-O2", source, "-o", real, "-lm").CombinedOutput(); err != nil {
		t.Fatalf("mpicc: %v\n%s", err, text)
	}
	predict := func(arguments ...string) (string, int) {
		cmd := command(t, append([]string{"study", "predict", program, "--real", real, "--machine", "xt5", "--ranks", "1,2", "--runs", "1"}, arguments...)...)
		cmd.Env = append(cmd.Env, anyHost...)
		text, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(text), cmd.ProcessState.ExitCode()
	}
	text, code := predict("--hosts", "1,2", "--time-from", `pi is ([0-9.]+)`, "--out", out)
	if code != exitDone || !strings.Contains(text, "relative error RE(n, N)") || !strings.Contains(text, "3.1") {
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
		if row[0] != strconv.Itoa(1+i/2) || row[1] != strconv.Itoa(1+i%2) || row[5] != "0" {
			t.Errorf("row %q, want n = %d, N = %d and no error", row, 1+i/2, 1+i%2)
		}
		if slowdown, err := strconv.ParseFloat(row[6], 64); err != nil || slowdown <= 0 {
			t.Errorf("row %q: slowdown %v, %v", row, slowdown, err)
		}
	}
	if text, code := predict("--hosts", "1"); code != exitUsage || !strings.Contains(text, "--time-from") {
		t.Errorf("a program that prints no time: exit code %d\n%s", code, text)
	}
}
