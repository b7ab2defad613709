//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
)

// Each rank computes for a millisecond after the rank before has done so, the last rank for three: of four ranks the greatest computing time is
// 3 ms, the mean 1.5 ms, and without a network the run takes 6 ms.
const chained = `#include <mpi.h>
#include <gigarank.h>
int main(int argc, char **argv) {
  int rank, size, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  gigarank_compute(rank + 1 < size ? 1e-3 : 3e-3);
  if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
`

// The efficiencies are those of POP's definitions, worked out by hand: on a machine whose messages take a millisecond the run takes 9 ms.
func TestEfficiencies(t *testing.T) {
	dir := t.TempDir()
	source, program, machine, out := filepath.Join(dir, "chain.c"), filepath.Join(dir, "chain"), filepath.Join(dir, "slow.yaml"), filepath.Join(dir, "out.json")
	for name, text := range map[string]string{source: chained, machine: "name: slow\nnetwork: {model: flat, latency: 1ms}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	executed(t, terminal.ExitDone, "cc", source, "-o", program)
	printed := executed(t, terminal.ExitDone, "efficiency", program, "--ranks", "2,4", "--machine", machine, "--json", out)
	if !strings.Contains(printed, "serialisation") || strings.Count(printed, "\n") != 3 {
		t.Errorf("it prints\n%s", printed)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var all []efficiency
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	e := all[1]
	for name, c := range map[string]struct{ got, want float64 }{
		"load balance": {e.LoadBalance, 1.5 / 3}, "serialisation": {e.Serialisation, 3. / 6}, "transfer": {e.Transfer, 6. / 9}, "communication": {e.Communication, 3. / 9},
		"parallel": {e.Parallel, 1.5 / 9}, "computation": {e.Computation, 4. / 6}, "global": {e.Global, 1.5 / 9 * 4 / 6},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
	weak := executed(t, terminal.ExitDone, "efficiency", program, "--ranks", "2,4", "--machine", machine, "--scaling", "weak")
	if fields := strings.Fields(weak); fields[len(fields)-2] != "1.333" { // 2 ms of each of two ranks, 1.5 ms of each of four
		t.Errorf("with weak scaling it prints\n%s", weak)
	}
}

// A trace has the efficiencies of the run that it is of.
func TestEfficienciesOfATrace(t *testing.T) {
	dir := t.TempDir()
	source, program, recorded, machine := filepath.Join(dir, "chain.c"), filepath.Join(dir, "chain"), filepath.Join(dir, "chain.grt"), filepath.Join(dir, "slow.yaml")
	for name, text := range map[string]string{source: chained, machine: "name: slow\nnetwork: {model: flat, latency: 1ms}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	executed(t, terminal.ExitDone, "cc", source, "-o", program)
	executed(t, terminal.ExitDone, "run", program, "--ranks", "4", "--trace", recorded)
	want := executed(t, terminal.ExitDone, "efficiency", program, "--ranks", "4", "--machine", machine)
	if got := executed(t, terminal.ExitDone, "efficiency", recorded, "--machine", machine); got != want {
		t.Errorf("the trace has\n%s, the program\n%s", got, want)
	}
	if text := executed(t, terminal.ExitUsage, "efficiency", recorded, "--ranks", "8", "--cpu", "measured"); strings.Count(text, "is a trace, and has its own") != 2 {
		t.Errorf("it says %s", text)
	}
}

// A program that computes for no time has no efficiencies, and faults of flags come before any run.
func TestEfficienciesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		code      int
		says      string
		arguments []string
	}{
		{terminal.ExitProgram, "computes for no time on 4 ranks", []string{"barriertest", "--compute", "0", "--ranks", "4"}},
		{terminal.ExitProgram, "deadlock", []string{"deadlock", "--ranks", "4"}},
		{terminal.ExitUsage, "unknown scaling \"foo\"", []string{"stencil", "--ranks", "4", "--scaling", "foo"}},
		{terminal.ExitUsage, "unknown program", []string{"stencl"}},
		{terminal.ExitUsage, "is not a count", []string{"stencil", "--ranks", "4,x"}},
	} {
		if text := executed(t, c.code, append([]string{"efficiency"}, c.arguments...)...); !strings.Contains(text, c.says) {
			t.Errorf("%q says %q, want %q", c.arguments, text, c.says)
		}
	}
}
