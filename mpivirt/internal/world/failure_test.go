package world

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/network"
	"gigarank/vtime"
)

// opened returns the partition of one of some engines.
func opened(t interface{ Fatal(...any) }, ranks, engines, index int, reserve func([]byte)) *Partition {
	m, err := network.Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{
		Partition: engine.Partition{LPs: ranks, Engines: engines}, Transport: engine.NewInProcess(engines)[index],
		Lookahead: func(int) vtime.Duration { return vtime.Second },
	})
	k := &Partition{}
	k.Init(Settings{Engine: e, Target: target, Reserve: reserve})
	return k
}

// Ranks and LPs of the engines' partitions are one to one, and each clock begins at 0 in memory that is announced.
func TestPartitionsCoverTheRanks(t *testing.T) {
	owner := map[int32]int{}
	for index := range 3 {
		announced := 0
		k := opened(t, 10, 3, index, func(memory []byte) { announced += len(memory) })
		for lp := range int32(k.Ranks) {
			rank := k.Global(lp)
			if back, local := k.Local(int(rank)); back != lp || !local || k.Clock[lp] != 0 {
				t.Errorf("LP %d of engine %d is rank %d, which is LP %d (%t)", lp, index, rank, back, local)
			}
			owner[rank]++
		}
		for _, rank := range []int{k.First - 1, k.First + k.Ranks} {
			if _, local := k.Local(rank); local {
				t.Errorf("rank %d is on engine %d", rank, index)
			}
		}
		if announced < 8*k.Ranks {
			t.Errorf("%d bytes are announced for %d clocks", announced, k.Ranks)
		}
	}
	if len(owner) != 10 {
		t.Errorf("%d ranks of 10 have an engine", len(owner))
	}
}

// The failure that counts is the least in the order of (virtual time, rank) of those that are not late, whatever the
// order in which the engine hears of them; ranks at or behind it are not resumed, ranks before it are.
func TestTheLeastFailureCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 6
		k := opened(t, ranks, 1, 0, nil)
		left := rapid.Int32Range(-1, ranks-1).Draw(t, "has left MPI")
		k.Failing.HasLeft = func(lp int32) bool { return lp == left }
		var least *RankError
		for _, rank := range rapid.SliceOfN(rapid.IntRange(0, ranks-1), 1, 5).Draw(t, "failing") {
			e := &RankError{Rank: rank, Time: vtime.Time(rapid.IntRange(1, 3).Draw(t, "at")), Late: int32(rank) == left, Err: io.EOF}
			k.FailedAt(e.Rank, e.Time, Recv, e.Err)
			if least == nil || !e.Late && least.Late || e.Late == least.Late && (e.Time < least.Time || e.Time == least.Time && e.Rank < least.Rank) {
				least = e
			}
		}
		own := k.Failing.Own.Load()
		if own.Rank != least.Rank || own.Time != least.Time || own.Late != least.Late || own.Call != "Recv" || !errors.Is(own, io.EOF) {
			t.Fatalf("%+v counts, want %+v", own, least)
		}
		known := k.Engine.Failure()
		if known == nil || int(known.LP) != least.Rank || known.Time != least.Time || string(known.Reason) != own.Error() {
			t.Fatalf("the engine knows of %+v, want %+v", known, least)
		}
		k.Limit(known)
		if !k.Fails() || k.Limited() == least.Late {
			t.Fatalf("fails %t, limited %t by %+v", k.Fails(), k.Limited(), least)
		}
		for lp := range int32(ranks) {
			k.Clock[lp] = vtime.Time(rapid.IntRange(0, 4).Draw(t, "clock"))
			behind := !least.Late && (k.Clock[lp] > least.Time || k.Clock[lp] == least.Time && int(lp) > least.Rank)
			if k.Limited() && k.Dropped(lp) != behind {
				t.Fatalf("rank %d at %v is dropped: %t; the failure is that of rank %d at %v", lp, k.Clock[lp], !behind, least.Rank, least.Time)
			}
		}
	})
}

// A sentence about a failure has the rank, the time, the call by the name that the program has for it, and the error.
func TestFailuresAreTold(t *testing.T) {
	k := opened(t, 4, 1, 0, nil)
	if k.Fails() || k.Limited() || k.HasFailed(0) {
		t.Error("a failure before any")
	}
	k.Names = func(c Procedure) string { return "MPI_" + c.NameInC() }
	k.FailedAt(2, 3_000_000, CommSplit, Errorf(ErrArgument, "color %d", -3))
	const want = "rank 2 failed at virtual time 3us in MPI_Comm_split: MPI_ERR_ARG: color -3"
	if own := k.Failing.Own.Load(); own.Error() != want || !errors.Is(own, ErrArgument) || errors.Is(own, ErrRank) {
		t.Errorf("%v, want %s", own, want)
	}
	k.Failing.Name = func(rank int, c Procedure) string { return k.NameOf(c) + " or its variant" }
	k.FailedAt(1, 3_000_000, CommSplit, Aborted(7))
	const earlier = "rank 1 failed at virtual time 3us in MPI_Comm_split or its variant: the program called Abort with code 7"
	if own := k.Failing.Own.Load(); own.Error() != earlier {
		t.Errorf("%v, want %s", own, earlier)
	}
	k.FailedIn(0, 3_000_000, "", io.EOF)
	if own := k.Failing.Own.Load(); own.Error() != "rank 0 failed at virtual time 3us: EOF" {
		t.Errorf("%v", own)
	}

	// A program that recovers from the panic is told of it, once, and so that the cause is still found.
	k.Swallowed(3)
	if own := k.Failing.Own.Load(); own.Err != io.EOF {
		t.Errorf("a recovery of another rank: %v", own)
	}
	k.Swallowed(0)
	once := k.Failing.Own.Load().Error()
	k.Swallowed(0)
	if own := k.Failing.Own.Load(); own.Error() != once || !errors.Is(own, io.EOF) || once == "rank 0 failed at virtual time 3us: EOF" {
		t.Errorf("%v, after %s", own, once)
	}

	// What lies past the end of virtual time ends the run; after that, no clock is looked at.
	k = opened(t, 4, 1, 0, nil)
	k.PastEnd(1, vtime.Forever, Compute, "an hour")
	if k.Failing.Own.Load() != nil {
		t.Error("a second end of virtual time is a failure")
	}
	if k.PastEnd(1, 5, Compute, "computing for %d hours", 9000); k.Failing.Own.Load() == nil {
		t.Error("the end of virtual time is no failure")
	}
}

// MPI 4.1, 9.3: error handlers are attached per process; MPI_ERRORS_ARE_FATAL is the first of each.
func TestErrorHandlersAgainstASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &Partition{Ranks: rapid.IntRange(1, 200).Draw(t, "ranks")}
		returns, ever := map[int32]bool{}, false
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			lp, on := int32(rapid.IntRange(0, k.Ranks-1).Draw(t, "lp")), rapid.Bool().Draw(t, "on")
			k.SetErrorsReturn(lp, on)
			returns[lp] = on
			ever = ever || on
		}
		for lp := range int32(k.Ranks) {
			if k.ErrorsAreFatal(lp) == returns[lp] {
				t.Fatalf("errors of LP %d return: %t", lp, !returns[lp])
			}
		}
		if k.ErrorsReturn != ever {
			t.Fatalf("some have returned: %t", k.ErrorsReturn)
		}
	})
}
