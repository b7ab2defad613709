package p2p

import (
	"testing"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// A call has ended by the instant at which the last message that it has completed had arrived; a probe by the arrival of the message
// that it has found, one of the null process by none.
func TestCallsEndByTheLastMessage(t *testing.T) {
	m := opened(t, 6)
	comes(m, world.World, 4, 5, 70)
	m.NewCompletion(0)
	b := &m.Completion
	m.Box(0).Wait.Subject = m.Box(0).unexpected.head
	b.Found, b.Status.Source = true, 4
	if e := m.EndedBy(0, world.Probe); e.At != 70 || e.Rank != 4 || e.Message != m.Box(0).unexpected.head {
		t.Errorf("a probe has ended by a message of rank %d at %v, not of rank 4 at 70 ps", e.Rank, e.At)
	}
	b.Status.Source = world.ProcNull
	if e := m.EndedBy(0, world.Probe); e.At != 0 || e.Rank != world.None || e.Message != 0 {
		t.Errorf("a probe of the null process has ended by a message of rank %d at %v", e.Rank, e.At)
	}
	b.Status.Source = 4
	for _, r := range []request{{Kind: ReceiveRequest, Time: 30, rank: 2}, {Kind: ReceiveRequest, Time: 50, rank: 3}, {Kind: ReceiveRequest, Time: 40, rank: 1}} {
		index := m.Requests.Take()
		*m.Requests.At(index) = r
		b.Completed = append(b.Completed, index)
	}
	if e := m.EndedBy(0, world.Waitall); e.At != vtime.Time(50) || e.Rank != 3 || e.Request != b.Completed[1] {
		t.Errorf("a wait has ended by a message of rank %d at %v, not of rank 3 at 50 ps", e.Rank, e.At)
	}
}
