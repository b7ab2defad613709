//go:build !race

package main

import (
	"encoding/json"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/internal/result"
)

// A process with next to no ranks takes the memory that forecasts count for it, so that
// small runs are foreseen as well as large ones. The test's process holds the tests too.
func TestMemoryOfAProcess(t *testing.T) {
	output, err := command(t, "run", "barriertest", "--ranks", "2", "--engines", "1", "--lp", "event", "--json", "-", "--progress", "none").Output()
	if err != nil {
		t.Fatal(err)
	}
	var d result.Document
	if err := json.Unmarshal(output, &d); err != nil {
		t.Fatal(err)
	}
	if ratio := float64(d.PeakRSS) / host.ProcessMemory; ratio < 0.8 || ratio > 1.75 { // simulations that choose algorithms come on top, and pages of a program just written that the system maps ahead, up to 6 MB
		t.Errorf("a process takes %d bytes, and %d are foreseen", d.PeakRSS, host.ProcessMemory)
	}
}
