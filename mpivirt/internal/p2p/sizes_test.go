package p2p

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
		{"mailbox and its number", unsafe.Sizeof(Mailbox{}) + 4, 156},
		{"request", unsafe.Sizeof(request{}), 96},
		{"message", unsafe.Sizeof(message{}), 88},
	} {
		if c.got != c.want {
			t.Errorf("a %s takes %d bytes, the document says %d", c.what, c.got, c.want)
		}
	}
}
