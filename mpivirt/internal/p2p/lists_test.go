package p2p

import (
	"testing"

	"gigarank/mpivirt/internal/world"
)

// An unexpected message counts as buffered with its bytes, and some more for itself.
func TestUnexpectedMessagesAreBuffered(t *testing.T) {
	none, hundred := (&message{}).bufferedBytes(), (&message{payload: make([]byte, 100)}).bufferedBytes()
	if hundred-none != 100 || none <= 0 {
		t.Errorf("messages of 0 and 100 bytes count as %d and %d bytes", none, hundred)
	}
}

// A search that has read more than longSearch elements moves the lists of its mailbox into bins, whichever kind of search it is; a shorter search
// leaves them as they are.
func TestLongSearchesMakeBins(t *testing.T) {
	receive := func(m *Messages, source, tag int) {
		q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: world.World, Size: 4}}
		q.Incoming.Source, q.Incoming.Tag = source, tag
		m.Receive(0, q)
	}
	for _, n := range []int{longSearch, longSearch + 1} {
		for name, search := range map[string]func(m *Messages){
			"a message that no receive takes": func(m *Messages) {
				for i := range n {
					receive(m, 1, i)
				}
				comes(m, world.World, 1, 1000, 5)
			},
			"a probe": func(m *Messages) {
				for i := range n {
					comes(m, world.World, 1, int32(i), 5)
				}
				m.leastMessage(m.Box(0), pattern{world.World, 1, 1000})
			},
			"a receive that finds nothing": func(m *Messages) {
				for i := range n {
					comes(m, world.World, 1, int32(i), 5)
				}
				receive(m, 1, 1000)
			},
			"the search for a contested message": func(m *Messages) {
				for range n {
					comes(m, world.World, 1, 5, 5)
				}
				m.leastContested(m.Box(0))
			},
		} {
			m := opened(t, 4)
			search(m)
			if got, want := m.Box(0).binned(), n > longSearch; got != want {
				t.Errorf("%s, with %d elements to read: bins %v, want %v", name, n, got, want)
			}
		}
	}
}
