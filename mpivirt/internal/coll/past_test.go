package coll

import (
	"math"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// An engine stores the first entrants, and the signatures, of the latest calls that members on other engines may still be in. It forgets the
// oldest, and has at least half of as many as it stores at most.
func TestCallsThatAreStored(t *testing.T) {
	k := opened(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 4, 2, Auto) // ranks 2 and 3 are elsewhere
	comm := k.Communicators.At(world.World)
	for number := range uint32(3 * maxPast) {
		v := Collective{Procedure: world.Bcast, Operation: collectives.Bcast, Algorithm: collectives.Binomial, Bytes: 8 * int64(number%2), Element: 8}
		if number%7 == 0 { // two alike in a row
			v.Bytes = 8 * int64((number+1)%2)
		}
		inst := k.newInstance(comm, number, 0, &v)
		inst.signature = v.signature()
		comm.keepPast(inst)
		inst.remember()
		if n := len(comm.past); n > maxPast || n < min(int(number)+1, maxPast/2) {
			t.Fatalf("after %d calls %d are stored, at most %d", number+1, n, maxPast)
		}
		for i, e := range comm.past {
			if want := number + 1 - uint32(len(comm.past)-i); e.number != want {
				t.Fatalf("after %d calls entrant %d of %d is that of call %d, want %d", number+1, i, len(comm.past), e.number, want)
			}
		}
		if got := comm.calledAs(number); got != v.signature() {
			t.Fatalf("call %d is stored as %x, it was %x", number, got, v.signature())
		}
		if n := len(comm.callRuns); n > maxCallRuns || comm.calledAs(number+1) != 0 || number > maxCallRuns/2 && comm.calledAs(number-maxCallRuns/2+1) == 0 {
			t.Fatalf("after %d calls %d runs of them are stored, at most %d", number+1, n, maxCallRuns)
		}
	}
	if comm.calledAs(0) != 0 {
		t.Error("the oldest call is stored for ever")
	}
}

// The lengths of a member's blocks are one length, or a row if they differ. A row holds lengths below 2^31-1, and is worth while where few are 0.
func TestShapesOfCounts(t *testing.T) {
	for _, c := range []struct {
		counts  []int64
		each    int32
		longest int64
		dense   bool
	}{
		{[]int64{0, 0, 0}, 0, 0, false}, {[]int64{8, 8, 8}, 8, 8, true}, {[]int64{1}, 1, 1, true},
		{[]int64{math.MaxInt32 - 1, math.MaxInt32 - 1}, math.MaxInt32 - 1, math.MaxInt32 - 1, true},
		{[]int64{math.MaxInt32, math.MaxInt32}, math.MaxInt32, math.MaxInt32, false},
		{[]int64{math.MaxInt32 + 1, math.MaxInt32 + 1}, math.MaxInt32, math.MaxInt32 + 1, false},
		{[]int64{8, 16, 8}, inRow, 16, true}, {[]int64{16, 8, 8}, inRow, 16, true}, {[]int64{8, 0}, inRow, 8, true},
		{[]int64{8, math.MaxInt32 - 1}, inRow, math.MaxInt32 - 1, true}, {[]int64{8, math.MaxInt32}, inRow, math.MaxInt32, false},
		{append(make([]int64, denseFrom-1), 8), inRow, 8, true}, {append(make([]int64, denseFrom), 8), inRow, 8, false},
		{append(make([]int64, 2*denseFrom-2), 8, 8), inRow, 8, true}, {append(make([]int64, 2*denseFrom-1), 8, 8), inRow, 8, false},
	} {
		if each, longest, dense := shapeOf(c.counts); each != c.each || longest != c.longest || dense != c.dense {
			t.Errorf("%v: blocks of %d bytes, the longest of %d, worth a row %v; want %d, %d and %v", c.counts, each, longest, dense, c.each, c.longest, c.dense)
		}
	}
}
