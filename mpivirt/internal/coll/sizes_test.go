package coll

import (
	"testing"
	"unsafe"
)

// What docs/event-ranks.md says that a rank costs.
func TestSizesAsDocumented(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"message of a round", unsafe.Sizeof(roundMessage{}), 88},
		{"agent", unsafe.Sizeof(agent{}), 104},
		{"agent with data", unsafe.Sizeof(agent{}) + unsafe.Sizeof(memory{}), 216},
		{"collective that waits for earlier operations", unsafe.Sizeof(postponed{}), 248}, // in the allocator's class of 256
		{"round queue and its number", unsafe.Sizeof(roundQueue{}) + 4, 20},
	} {
		if c.got != c.want {
			t.Errorf("a %s takes %d bytes, the document says %d", c.what, c.got, c.want)
		}
	}
}
