package p2p

import (
	"testing"
)

// The completion of a call belongs to its LP: that of another LP is empty, and one that is parked comes back.
func TestCompletionsBelongToTheirLPs(t *testing.T) {
	m := opened(t, 3)
	m.NewCompletion(1)
	m.Completion.Found, m.Completion.Status.Tag = true, 7
	m.park(1)
	if b := m.CompletionOf(0); b.LP != 0 || b.Found || b.Status.Tag == 7 {
		t.Errorf("LP 0, which has made no call, has the completion %+v", *b)
	}
	m.Completion.Found = true
	if b := m.CompletionOf(2); b.LP != 2 || b.Found {
		t.Errorf("LP 2, which has made no call, has the completion %+v", *b)
	}
	m.Unpark(1)
	if b := m.CompletionOf(1); !b.Found || b.Status.Tag != 7 {
		t.Errorf("LP 1 has the completion %+v again, without what it had found", *b)
	}
	if len(m.Parked) > 0 {
		t.Errorf("%d completions stay parked", len(m.Parked))
	}
}
