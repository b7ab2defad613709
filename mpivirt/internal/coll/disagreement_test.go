package coll

import (
	"strings"
	"testing"
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The calls of all engines say whose error ends a run: where no rank can go on and no call is of another family, the error of the rank with
// the first call that differs, and if all members have entered that of the lowest rank, which is told a while after the last entry. Of
// several instances the first error counts. Calls that are alike are no error, nor calls that differ while ranks go on.
func TestWhoseCallDoesNotMatch(t *testing.T) {
	sign := func(op collectives.Operation, bytes int64, root int) signature {
		v := Collective{Procedure: world.ProcedureOf(op), Operation: op, Bytes: bytes, Element: 8, Root: root}
		return v.signature()
	}
	short, long := sign(collectives.Allreduce, 16, 0), sign(collectives.Allreduce, 24, 0)
	bcast, reduce := sign(collectives.Bcast, 16, 0), sign(collectives.Reduce, 16, 0)
	one := func(number uint32, at vtime.Time, rank int32, s signature, count uint64, lowest int32, latest vtime.Time) entrance {
		site := stats.Site(0)
		if !s.synchronizing() {
			site = stats.Site(10 + rank)
		}
		return entrance{7, 4, number, entrant{at, rank, s}, count, lowest, latest, 100, "communicator of the test", site, world.None, 0}
	}
	for _, c := range []struct {
		why             string
		calls           []entrance
		stuck, together bool
		rank            int // -1 for no error
		at              vtime.Time
		with            int32 // the rank whose call the error names
	}{
		{"none", nil, true, true, -1, 0, 0},
		{"alike", []entrance{one(0, 5, 1, short, 2, 0, 9), one(0, 6, 2, short, 2, 2, 8)}, true, true, -1, 0, 0},
		{"some have entered", []entrance{one(0, 5, 1, short, 1, 1, 5), one(0, 6, 2, long, 2, 2, 8)}, true, true, 2, 6, 1},
		{"some have entered, the later first", []entrance{one(0, 6, 2, long, 2, 2, 8), one(0, 5, 1, short, 1, 1, 5)}, true, true, 2, 6, 1},
		{"at one instant", []entrance{one(0, 5, 3, long, 1, 3, 5), one(0, 5, 1, short, 1, 1, 5)}, true, true, 3, 5, 1},
		{"all have entered, the lowest as the first", []entrance{one(0, 5, 1, short, 2, 0, 9), one(0, 6, 2, long, 2, 2, 8)}, true, true, 0, 109, 2},
		{"all have entered, the lowest in the other call", []entrance{one(0, 5, 1, short, 2, 1, 9), one(0, 6, 0, long, 2, 0, 18)}, true, true, 0, 118, 1},
		{"all have entered on three engines", []entrance{one(0, 5, 1, short, 1, 1, 5), one(0, 6, 0, long, 1, 0, 18), one(0, 4, 3, short, 2, 2, 30)}, true, true, 0, 130, 3},
		{"ranks go on", []entrance{one(0, 5, 1, short, 2, 0, 9), one(0, 6, 2, long, 2, 2, 8)}, false, true, -1, 0, 0},
		{"they do not fail together", []entrance{one(0, 5, 1, short, 1, 1, 5), one(0, 6, 2, long, 1, 2, 8)}, false, false, 2, 6, 1},
		{"calls of two families", []entrance{one(0, 5, 1, bcast, 1, 1, 5), one(0, 6, 2, reduce, 1, 2, 8)}, false, true, 2, 6, 1},
		{"calls that all enter and calls of another family", []entrance{one(0, 5, 1, short, 3, 1, 5), one(0, 4, 0, bcast, 1, 0, 8)}, true, true, 1, 5, 0},
		{"the first of two instances", []entrance{one(0, 50, 1, bcast, 1, 1, 50), one(0, 60, 2, reduce, 1, 2, 60), one(1, 5, 1, bcast, 1, 1, 5), one(1, 7, 3, reduce, 1, 3, 8)}, false, true, 3, 7, 1},
		{"instances of two numbers", []entrance{one(0, 5, 1, bcast, 1, 1, 5), one(1, 6, 2, reduce, 1, 2, 8)}, false, true, -1, 0, 0},
	} {
		var payloads [][]byte
		for i := range c.calls { // each from an engine of its own
			payloads = append(payloads, encodeCalls(c.calls[i:i+1]))
		}
		got := FirstMisfit(payloads, c.stuck, c.together, world.Procedure.String)
		switch {
		case (got == nil) != (c.rank < 0):
			t.Errorf("%s: %v", c.why, got)
		case got != nil && (got.Rank != c.rank || got.Time != c.at):
			t.Errorf("%s: rank %d fails at %v, want rank %d at %v", c.why, got.Rank, got.Time, c.rank, c.at)
		case got != nil && !strings.Contains(got.Err.Error(), "rank "+string(rune('0'+c.with))+" calls") || got != nil && !strings.HasSuffix(got.Err.Error(), " on communicator of the test"):
			t.Errorf("%s: %v, want the call of rank %d", c.why, got, c.with)
		}
		if strings.HasPrefix(c.why, "calls of two families") || strings.HasPrefix(c.why, "the first of two") {
			if o := got.Against(); o.Own != uint64(10+c.rank) || o.Site != uint64(10+c.with) {
				t.Errorf("%s: the calls come from places %d and %d", c.why, o.Own, o.Site)
			}
		}
	}
	other := one(0, 6, 2, reduce, 1, 2, 8)
	other.context = 8
	if got := FirstMisfit([][]byte{encodeCalls([]entrance{one(0, 5, 1, bcast, 1, 1, 5), other})}, false, true, world.Procedure.String); got != nil {
		t.Errorf("calls on two communicators: %v", got)
	}
}

// An agent on a machine with gaps has the state of an interface besides its own.
func TestMemoryOfAgents(t *testing.T) {
	for fields, want := range map[string]uintptr{"": unsafe.Sizeof(agent{}), ", overhead: {send: 1us, receive: 1us}, gap: 2us": unsafe.Sizeof(agent{}) + unsafe.Sizeof(network.Port{})} {
		k := opened(t, "name: m\nnetwork: {model: flat, latency: 1us"+fields+"}\n", 4, 1, Auto)
		if got := AgentBytes(k.partition.Target); got != int(want) {
			t.Errorf("%q: an agent has %d bytes, want %d", fields, got, want)
		}
	}
}
