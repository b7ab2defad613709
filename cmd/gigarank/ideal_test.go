package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// On the ideal network messages of ranks to the next rank take a picosecond, on one engine and on several, whatever the machine and the collectives
// that its network carries out by itself.
func TestRunsOnAnIdealNetwork(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.yaml")
	text := "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 2us, bandwidth: 1GB/s, overhead: {send: 1us, receive: 1us}, barrier: {time: 3us}, allreduce: [{nodes: 8, delays: [{size: 24, delay: 3us}]}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, engines := range []string{"", " --engines 2"} {
		d := runDocument(t, "ring --ranks 4 --iterations 1 --compute 0 --machine "+file+" --ideal"+engines)
		if d.VirtualTime != 1 || d.Machine != "m, ideal network" || engines == "" && d.Engines != 1 {
			t.Errorf("%s: the run takes %d ps on %s with %d engines", engines, d.VirtualTime, d.Machine, d.Engines)
		}
	}
	for _, line := range []string{"barriertest --barrier given", "allreducetest --algorithm allreduce=offload"} {
		d := runDocument(t, line+" --ranks 4 --iterations 1 --compute 0 --stats --ideal --machine "+file)
		if d.VirtualTime > 10 || d.Statistics.Causes["processor"] != nil {
			t.Errorf("%s takes %d ps: %v", line, d.VirtualTime, d.Statistics.Causes)
		}
	}
	console, _, _ := terminaltest.Console(nil)
	f := runFlags{ranks: "4", machine: file, sync: "hybrid", collectives: "auto", progress: "none", watchdog: "off", noise: "none", seed: "1", ideal: true}
	if _, faults := readRequest(console, &host.Processes{Size: 2, Local: 2}, "ring", &f); !strings.Contains(faults.Error(), "--ideal: messages of an ideal network take no time") {
		t.Errorf("two processes: %v", faults)
	}
}

// Up to 1,024 ranks the document has the calls of each rank by function.
func TestCallsOfRanksByFunction(t *testing.T) {
	for _, c := range []struct {
		ranks string
		kept  bool
	}{{"1024", true}, {"1025", false}} {
		d := runDocument(t, "ring --iterations 1 --stats --machine frontier --lp event --engines 3 --ranks "+c.ranks)
		for _, task := range d.Statistics.Tasks {
			if kept := len(task.Functions) == 2 && task.Functions[0].Count == 1; kept != c.kept {
				t.Fatalf("rank %d of %s: %+v", task.Rank, c.ranks, task.Functions)
			}
		}
	}
}
