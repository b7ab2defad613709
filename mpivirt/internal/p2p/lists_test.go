package p2p

import (
	"testing"
)

// An unexpected message counts as buffered with its bytes, and some more for itself.
func TestUnexpectedMessagesAreBuffered(t *testing.T) {
	none, hundred := (&message{}).bufferedBytes(), (&message{payload: make([]byte, 100)}).bufferedBytes()
	if hundred-none != 100 || none <= 0 {
		t.Errorf("messages of 0 and 100 bytes count as %d and %d bytes", none, hundred)
	}
}
