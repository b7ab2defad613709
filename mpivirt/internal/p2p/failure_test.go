package p2p

import (
	"errors"
	"os"
	"testing"

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
