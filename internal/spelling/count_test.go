package spelling_test

import (
	"testing"

	"gigarank/internal/spelling"
)

// A number goes with its noun: one is singular, all others are plural.
func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 ranks": spelling.Count(0, "rank"), "1 rank": spelling.Count(int32(1), "rank"), "2 ranks": spelling.Count(int64(2), "rank"),
		"-1 bytes": spelling.Count(-1, "byte"), "11 elements": spelling.Count(uint64(11), "element"),
		"1 process": spelling.Count(1, "process"), "2 processes": spelling.Count(2, "process"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
