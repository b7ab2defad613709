package main

import (
	"os"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/network"
)

// fitOutputs writes outputs of osu_latency, osu_allreduce and a file that has none, in a directory of its own.
func fitOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"latency.txt":   "# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1                       2.00\n1024                    2.50\n1048576                90.00\n",
		"allreduce.txt": "+ srun -N 4 -n 4 ./osu_allreduce\n# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n8                       4.40\n",
		"bad.txt":       "# OSU MPI Latency Test v7.3\n# Size       Avg Latency(us)\n1  fast\n",
		"get.txt":       "# OSU MPI_Get latency Test v5.7.1\n# Size          Latency (us)\n1 3.00\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The machine of two outputs runs, and the report says what is determined and what is not. 2 rounds of recursive doubling
// take 4.00 us of the measured 4.40.
func TestMachineFit(t *testing.T) {
	fitOutputs(t)
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("machine fit -o my.yaml latency.txt@2x1 allreduce.txt get.txt --algorithm allreduce=recursive-doubling"), c); code != terminal.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, part := range []string{"machine my\n", "delays between nodes", "Not determined", "osu_allreduce  4x1            8        4.4us     4.0", "recursive-doubling  allreduce.txt:4", "osu_latency: 3 points, median of the error 0.0 %"} {
		if !strings.Contains(stdout.String(), part) {
			t.Errorf("no %q in\n%s", part, stdout)
		}
	}
	if !strings.Contains(stderr.String(), "get.txt:1: OSU latency is not used") {
		t.Errorf("nothing is said of a benchmark that has no use: %s", stderr)
	}
	m, err := network.Load("my.yaml", os.ReadFile)
	if err != nil || m.Name() != "my" {
		t.Fatalf("got %v, %v", m, err)
	}
	alone, onStdout, _ := terminaltest.Console(nil)
	if code := execute(strings.Fields("machine fit latency.txt@2x1"), alone); code != terminal.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	if m, err := network.Parse("out", onStdout.Bytes(), nil); err != nil || m.Name() != "fitted" {
		t.Errorf("standard output is no machine file: %v", err)
	}
}

// The library that ran the benchmarks chooses their algorithms, as Open MPI takes recursive doubling for 8 bytes on 4 nodes, and stands
// in the machine file.
func TestMachineFitHasTheLibrary(t *testing.T) {
	fitOutputs(t)
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("machine fit -o my.yaml latency.txt@2x1 allreduce.txt --library openmpi-4.1"), c); code != terminal.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if want := "recursive-doubling  allreduce.txt:4"; !strings.Contains(stdout.String(), want) {
		t.Errorf("no %q in\n%s", want, stdout)
	}
	if m, err := network.Load("my.yaml", os.ReadFile); err != nil || m.Library() != "openmpi-4.1" {
		t.Errorf("the machine file has not the library: %v", err)
	}
}

func TestMachineFitFaults(t *testing.T) {
	fitOutputs(t)
	for _, c := range []struct{ args, want string }{
		{"", "takes the files with the output"},
		{"bad.txt@2x1 none.txt --algorithm allreduce=magic --nodes 3", `bad.txt:3: "fast" is no time|OUTPUT: |--algorithm: |--nodes: give --ranks-per-node`},
		{"latency.txt", "latency.txt:1: Latency: nothing says on how many nodes it ran"},
		{"latency.txt@0x1", "latency.txt@0x1: "},
		{"latency.txt@2x1/leaf", `latency.txt@2x1/leaf: "leaf" is no level`},
		{"latency.txt@2x1/ --interfaces 0", `latency.txt@2x1/: "" is no level|--interfaces: `},
		{"allreduce.txt@4x1/leaf:2", "allreduce.txt:2: osu_allreduce has no level"},
		{"latency.txt@2x1/leaf:2 latency.txt@2x1/leaf:4", "latency.txt:1: level leaf has another size"},
		{"latency.txt@2x1 --library openmpi-9", "--library: "},
		{"allreduce.txt", "nothing gives the delay of a message"},
		{"latency.txt@2x1 -o none/my.yaml", "--out: "},
	} {
		console, _, stderr := terminaltest.Console(nil)
		if code := execute(append([]string{"machine", "fit"}, strings.Fields(c.args)...), console); code != terminal.ExitUsage {
			t.Errorf("%s: exit code %d, want %d: %s", c.args, code, terminal.ExitUsage, stderr)
		}
		for _, want := range strings.Split(c.want, "|") {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, stderr)
			}
		}
	}
}
