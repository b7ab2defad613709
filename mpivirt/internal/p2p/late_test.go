package p2p

import (
	"testing"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Decisions of a rank about messages are late where a message that comes before them might have changed them: a message of the
// pattern, before the instant, or at it from a lesser rank.
func TestMessagesAreLateForDecisions(t *testing.T) {
	for _, c := range []struct {
		source, tag, rank int32
		arrival           vtime.Time
		late              uint64
	}{
		{2, 5, 2, 99, 1}, {2, 5, 2, 100, 1}, {4, 5, 4, 100, 0}, {2, 5, 2, 101, 0}, {2, 6, 2, 99, 0},
	} {
		m := opened(t, 6)
		m.firstLong = 50
		m.decides(0, pattern{1, world.AnySource, 5}, 100, 3)
		m.checkArrival(0, &message{comm: 1, source: c.source, rank: c.rank, tag: c.tag, arrival: c.arrival})
		if got := m.Partition.Summary.Late.Events; got != c.late {
			t.Errorf("%+v: %d late events", c, got)
		}
	}
	m := opened(t, 6)
	m.firstLong = 101 // no loop is long by then
	m.decides(0, pattern{1, world.AnySource, 5}, 100, 3)
	if m.decisionsOf != nil {
		t.Error("a decision before the first loop can be long is kept")
	}
}

// Settling a mailbox decides between messages for a receive from any source. A receive that names its source decides nothing.
func TestWildcardsDecide(t *testing.T) {
	for _, source := range []int32{world.AnySource, 1} {
		m := opened(t, 4)
		m.firstLong = 0
		q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: world.World, Size: 4}}
		q.Incoming.Source, q.Incoming.Tag = int(source), 5
		m.Receive(0, q)
		comes(m, world.World, 1, 5, 100)
		m.settle(0, m.Box(0), 200)
		if decides := m.decisionsOf != nil && m.decisionsOf[0] != 0; decides != (source == world.AnySource) {
			t.Errorf("a receive from %d decides: %t", source, decides)
		}
	}
}

// A probe that has waited for a message from any source decides between messages. One that names its source decides nothing.
func TestProbesDecide(t *testing.T) {
	for _, source := range []int32{world.AnySource, 1} {
		m := opened(t, 4)
		m.firstLong = 0
		comes(m, world.World, 1, 5, 100)
		box := m.Box(0)
		w := &box.Wait
		w.Kind, w.Comm, w.Peer, w.Tag, w.at = WaitProbe, world.World, source, 5, 100
		w.Subject = m.probed(box, 100)
		if early := m.probed(box, 99); early != 0 || w.Subject == 0 {
			t.Fatalf("a probe finds message %d before message %d has arrived", early, w.Subject)
		}
		m.NewCompletion(0)
		m.Finish(0, box)
		if decides := m.decisionsOf != nil && m.decisionsOf[0] != 0; decides != (source == world.AnySource) {
			t.Errorf("a probe of %d decides: %t", source, decides)
		}
	}
}

// A request that is complete by an instant at which its rank has acted as if it were not is late. One whose rank has not decided by then is in time.
func TestCompletionsAreLateForDecisions(t *testing.T) {
	for _, c := range []struct {
		why     string
		decided vtime.Time // a poll of the requests has failed then, 0 for none
		looked  vtime.Time // the request itself was looked at then
		at      vtime.Time
		late    uint64
	}{
		{"nobody has looked", 0, 0, 90, 0}, {"after the latest look", 80, 0, 90, 0}, {"before the latest look", 100, 0, 90, 1}, {"at the latest look", 100, 0, 100, 1},
		{"a look at the request itself", 0, 95, 90, 1}, {"at that look", 0, 90, 90, 1}, {"after that look", 0, 85, 90, 0},
	} {
		m := opened(t, 4)
		m.firstLong = 50
		r := m.Requests.At(m.NewRequest(0, ReceiveRequest, world.Irecv))
		if c.decided > 0 {
			m.decides(0, waitSetPattern, c.decided, inVain)
		}
		r.Time = c.looked
		m.checkCompletion(r, c.at)
		if got := m.Partition.Summary.Late.Events; got != c.late {
			t.Errorf("%s: %d late events, want %d", c.why, got, c.late)
		}
		if c.late > 0 && m.Partition.Summary.Late.Decided != max(c.decided, c.looked) {
			t.Errorf("%s: decided to %v", c.why, m.Partition.Summary.Late.Decided)
		}
	}
	m := opened(t, 4)
	if m.checkArrival(0, &message{comm: 1, source: 2, rank: 2, tag: 5, arrival: 1}); m.Partition.Summary.Late.Events != 0 {
		t.Error("a message is late for a rank that has decided nothing")
	}
}

// A test of requests looks at those that are there: at one that is not complete the rank has decided then, also of several, and in a wait set by its pattern.
func TestTestsDecide(t *testing.T) {
	m := opened(t, 4)
	m.firstLong = 50
	var all []int32
	for range 2 {
		all = append(all, m.NewRequest(0, ReceiveRequest, world.Irecv), 0)
	}
	complete := m.NewRequest(0, ReceiveRequest, world.Irecv)
	m.Requests.At(complete).Complete, m.Requests.At(complete).Time = true, 7
	m.looked(0, TestAll, append(all, complete), 100)
	if a, b, c := m.Requests.At(all[0]).Time, m.Requests.At(all[2]).Time, m.Requests.At(complete).Time; a != 100 || b != 100 || c != 7 {
		t.Errorf("requests that are looked at at 100ps have the times %v and %v, one that is complete %v", a, b, c)
	}
	if m.looked(0, TestAll, nil, 100); m.decisionsOf != nil {
		t.Error("a test of no requests decides")
	}
	if m.looked(0, TestAny, nil, 100); m.decisionsOf == nil || m.decisionsOf[0] == 0 {
		t.Error("a test of a wait set decides nothing")
	}
}
