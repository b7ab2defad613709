package study

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gigarank/network"
)

// jobShapes are those of the jobs on Fugaku, by nodes. Ranks of the job of 32x256 nodes go along the first dimension first.
var jobShapes = map[int]string{64: "4x4x4", 512: "8x8x8", 8192: "256x32"}

// The presets of machines whose collectives were measured, one rank a node. Their parameters come
// from at most 8 nodes of Fugaku and LUMI and 32 of Leonardo; the points are of larger jobs. Two of them, rings of 8,191 rounds over
// 8,192 nodes, take as long as all others: they run with GIGARANK_MEASURED=all, as scripts/search does.
func TestPresetsAgainstMeasurements(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations one after another have nothing for the race detector")
	}
	text, err := os.ReadFile("testdata/measured")
	if err != nil {
		t.Fatal(err)
	}
	// On 8,192 nodes of Fugaku an allgather of 16 bytes took 695 us, and of 128 bytes 570 us: something besides the messages took
	// the time of the shorter one.
	disturbed := func(machine, operation string, nodes, bytes int) bool {
		return machine == "fugaku" && operation == "allgather" && nodes == 8192 && bytes == 16
	}
	all := os.Getenv("GIGARANK_MEASURED") == "all"
	var off []float64
	within := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var machine, operation, algorithm string
		var nodes, bytes int
		var measured float64
		if _, err := fmt.Sscan(line, &machine, &nodes, &operation, &algorithm, &bytes, &measured); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if nodes > 2048 && algorithm == "ring" && !all {
			continue
		}
		if operation == "allreduce" || operation == "reduce" {
			bytes = max(bytes, 8) // the programs sum doubles
		}
		axes := Axes{Operation: operation, Ranks: fmt.Sprint(nodes), RanksPerNode: "1", Algorithms: algorithm, Payload: fmt.Sprint(bytes),
			Machines: allocated(t, machine, jobShapes[nodes]), Compute: "0", Iterations: "1", NoContents: operation != "barrier"}
		simulated := runAll(t, testPlan(t, axes))[0].Time.Seconds() * 1e6
		ratio := simulated / measured
		off = append(off, math.Abs(ratio-1))
		apart := max(ratio, 1/ratio)
		if apart <= 1.5 {
			within++
		}
		if apart > 2.5 && !disturbed(machine, operation, nodes, bytes) {
			t.Errorf("%s simulated %.1f us, ×%.2f", strings.TrimSpace(line), simulated, ratio)
		}
	}
	slices.Sort(off)
	median := off[len(off)/2]
	t.Logf("%d points: median error %.1f %%, %d within ×1.5", len(off), 100*median, within)
	if len(off) < 50 || median > 0.15 || within*10 < 9*len(off) {
		t.Errorf("%d points: median error %.1f %%, %d within ×1.5; want at most 15 %%, and nine of ten", len(off), 100*median, within)
	}
}

// allocated returns a preset on the allocation, as a list of machines takes it.
func allocated(t testing.TB, preset, allocation string) string {
	if preset != "fugaku" {
		return preset
	}
	m, err := network.Load(preset, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.WithAllocation(allocation, nil); err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/" + allocation + ".yaml"
	if err := os.WriteFile(path, m.YAML(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
