package mpivirt

import (
	"testing"
	"unsafe"
)

// What Footprint counts for a processor is its size.
func TestFootprintOfProcessors(t *testing.T) {
	if size := unsafe.Sizeof(processor{}); size != processorBytes {
		t.Errorf("a processor takes %d bytes, Footprint counts %d", size, processorBytes)
	}
}
