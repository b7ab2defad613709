package world

import (
	"testing"
	"unsafe"
)

// With a fifth word the frames of reductions grow, and the stacks of goroutine ranks double.
func TestOperatorHasFourWords(t *testing.T) {
	if size := unsafe.Sizeof(Operator{}); size != 4*unsafe.Sizeof(uintptr(0)) {
		t.Errorf("an Operator has %d bytes", size)
	}
}
