//go:build !race && cgo && linux && (amd64 || arm64)

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"gigarank/result"
)

// A native rank in a barrier takes mostly 240 to 330 bytes where stacks are copied: its record, the
// call, and what its stack has unlike others. A copy of its whole stack would make it 450.
func TestMemoryOfNativeRanks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "barriers")
	if output, err := command(t, "cc", "-O2", filepath.Join("..", "..", "bench", "npb", "programs", "barriers.c"), "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	peak := func(ranks string) int64 {
		output, err := command(t, "run", program, "--ranks", ranks, "--engines", "1", "--stacks", "copied", "--json", "-", "--progress", "none", "--", "3").Output()
		if err != nil {
			t.Fatal(err)
		}
		var d result.Document
		if err := json.Unmarshal(output, &d); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		return d.PeakRSS
	}
	few, many := peak("100000"), peak("500000")
	if bytes := float64(many-few) / 400_000; bytes > 400 {
		t.Errorf("a rank takes %.0f bytes", bytes)
	} else {
		t.Logf("a rank takes %.0f bytes", bytes)
	}
}
