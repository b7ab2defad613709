package replay

import (
	"testing"
	"unsafe"
)

// A rank takes at most 512 bytes with eight requests under way and two communicators of its own.
func TestRanksAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(rank{}) + 8*unsafe.Sizeof(int32(0)) + 2*unsafe.Sizeof(int32(0)); size > 512 {
		t.Errorf("a rank takes %d bytes", size)
	} else {
		t.Logf("%d bytes", size)
	}
}
