package sync

import (
	"testing"

	"gigarank/vtime"
)

// A record sent behind its sender's cut is not counted before the receiver's:
// otherwise it would make up for one that crosses the cut forwards (Mattern).
func TestCutIsColoured(t *testing.T) {
	transports := NewInProcess(3)
	e := NewEndpoint(transports[1], Config{Lookahead: func(int) vtime.Duration { return 1 }})
	contribution := func(round uint32) roundMessage {
		e.start(&roundMessage{round: round, purpose: purposeTime})
		e.observe(vtime.Forever)
		e.advanceRound(true)
		return e.round.sum
	}
	e.round.receive(0, 2) // sent before its sender's cut
	e.round.receive(1, 3) // sent behind it
	if c := contribution(1); c.received != 2 {
		t.Errorf("round 1 counts %d records; want 2", c.received)
	}
	e.round.receive(0, 1) // crosses the cut forwards
	e.round.receive(2, 7)
	if c := contribution(2); c.received != 6 {
		t.Errorf("round 2 counts %d records; want 6", c.received)
	}
	if c := contribution(3); c.received != 13 {
		t.Errorf("round 3 counts %d records; want 13", c.received)
	}
}

// Every engine except the root is the child of one, within log(engines) levels.
func TestTree(t *testing.T) {
	for _, size := range []int{1, 2, 5, 6, 100, 4097} {
		parent := make([]int, size)
		for rank := range size {
			var r roundState
			r.init(rank, size, &usualRoom{})
			if (r.parent < 0) != (rank == 0) {
				t.Fatalf("engine %d of %d has the parent %d", rank, size, r.parent)
			}
			for _, child := range r.children {
				if parent[child] != 0 && parent[child] != rank {
					t.Fatalf("engine %d of %d has two parents", child, size)
				}
				parent[child] = rank
				var c roundState
				if c.init(child, size, &usualRoom{}); c.parent != rank {
					t.Fatalf("engine %d of %d takes %d for its parent, not %d", child, size, c.parent, rank)
				}
			}
		}
		depth := 0
		for rank := size - 1; rank > 0; rank = parent[rank] {
			depth++
		}
		if depth > 7 {
			t.Errorf("the tree of %d engines has %d levels", size, depth)
		}
	}
}

// An engine that is not blocked contributes when its next event lets EIT reach the
// threshold. It does not contribute to a round for the end.
func TestContributesWhenUseful(t *testing.T) {
	e := NewEndpoint(NewInProcess(2)[1], Config{Lookahead: func(int) vtime.Duration { return 10 }})
	e.start(&roundMessage{round: 1, purpose: purposeEnd, time: vtime.Forever})
	e.Advance(vtime.Forever)
	if e.round.cut != 0 {
		t.Error("an engine that may be running contributes to the end")
	}
	e.start(&roundMessage{round: 1, purpose: purposeTime, time: 100})
	e.floor = 91
	e.bound()
	e.Advance(91) // it is about to block
	for _, next := range []vtime.Time{5, 89, 90} {
		if e.round.cut != 0 {
			t.Errorf("an engine contributes before %v to a round for 100", next)
		}
		e.Advance(next)
	}
	if e.round.cut != 1 {
		t.Error("an engine whose next event is at 90 does not contribute to a round for 100 with a lookahead of 10")
	}
}
