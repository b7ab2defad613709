package main

import (
	"path/filepath"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
)

// The first stack of a goroutine is 2 KB, and the runtime doubles it for a call that does
// not fit in. Ranks that wait in a collective keep their first stack: with the descriptor of
// the goroutine and what MPI needs for them they take less than two stacks.
func TestRanksInCollectivesKeepTheirFirstStack(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes memory of its own for each rank")
	}
	for _, run := range [][]string{
		{"barriertest", "--barrier", "binomial", "--collectives", "message"},
		{"bcasttest", "--payload", "8"},
		{"allreducetest", "--payload", "8", "--allreduce", "binomial", "--collectives", "message"},
		{"scantest", "--payload", "8"},
	} {
		path := filepath.Join(t.TempDir(), "result.json")
		args := append([]string{"run"}, run...)
		args = append(args, "--ranks", "20k", "--engines", "1", "--iterations", "1", "--progress", "none", "--json", path)
		if out, err := command(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", run, err, out)
		}
		if d := readDocument(t, path); d.BytesPerRank > 2*2048+host.ProcessMemory/20e3 {
			t.Errorf("%v: a rank takes %.0f bytes", run, d.BytesPerRank)
		}
	}
}
