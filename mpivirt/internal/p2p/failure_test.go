package p2p

import (
	"errors"
	"os"
	"strings"
	"testing"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
)

// A rank that dies does not go on in its own code, and has the error.
func TestDyingUnwinds(t *testing.T) {
	k := opened(t, 2)
	defer func() {
		if fatal, is := recover().(world.Fatal); !is || !errors.Is(fatal.Err, os.ErrInvalid) {
			t.Errorf("the rank is unwound with %v", fatal.Err)
		}
		if !k.Partition.HasFailed(1) || k.Partition.HasFailed(0) {
			t.Error("the rank has not failed, or another one has")
		}
	}()
	k.Die(1, world.Send, os.ErrInvalid)
	t.Error("the rank goes on")
}

// A rank whose code has panicked fails with the value of the panic, or with the error that it has died of, once. A broken invariant is not
// the rank's.
func TestPanicsOfRanks(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, world.ErrGoexit.Error()}, {world.Fatal{Err: os.ErrInvalid}, os.ErrInvalid.Error()}, {"index out of range", "panic: index out of range\n"},
	} {
		k := opened(t, 2)
		k.Unwound(1, world.Recv, c.value)
		own := k.Partition.Failing.Own.Load()
		if own == nil || own.Rank != 1 || own.Call != "Recv" || !strings.HasPrefix(own.Err.Error(), c.want) || !k.Partition.HasFailed(1) {
			t.Fatalf("a panic with %v: %v", c.value, own)
		}
		k.Partition.Failing.Own.Store(nil)
		if k.Fail(1, world.Send, os.ErrClosed); k.Partition.Failing.Own.Load() != nil {
			t.Errorf("a rank that has failed with %v fails again", c.value)
		}
		if k.Fail(0, world.Send, os.ErrClosed); k.Partition.Failing.Own.Load() == nil {
			t.Error("another rank does not fail")
		}
	}
	k, broken := opened(t, 2), &invariant.Violation{}
	defer func() {
		if value := recover(); value != broken || k.Partition.HasFailed(0) {
			t.Errorf("a broken invariant unwinds the engine with %v, and the rank has failed %v", value, k.Partition.HasFailed(0))
		}
	}()
	k.Unwound(0, world.Send, broken)
}
