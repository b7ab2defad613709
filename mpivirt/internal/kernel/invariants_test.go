//go:build invariants || lint

package kernel

import (
	"errors"
	"strings"
	"testing"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// backwards is noise that breaks the rule that a compute phase ends after it began.
type backwards struct{}

func (backwards) Extend(_ int, _ vtime.Time, d vtime.Duration) vtime.Duration { return -d }

// A clock that goes back ends the run, as a bug of gigarank and not of the rank.
func TestClockThatGoesBackIsFound(t *testing.T) {
	s, err := New(Config{
		Target: flatTarget(t, 2), Transports: engine.NewInProcess(1), Noise: backwards{},
		Program: Program{Name: "backwards", Forms: []Form{listed{enterBarrier, func(k *Kernel, lp int32) bool {
			if err := k.messages.Compute(lp, 1000, world.Compute); err != nil {
				t.Error(err)
			}
			return true
		}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Run()
	fault, is := errors.AsType[*Fault](err)
	if !is || !strings.Contains(err.Error(), "gigarank itself failed") || !strings.Contains(err.Error(), "the clock of rank 0 goes back") {
		t.Errorf("got %v", err)
	}
	if again := failedItself(fault, nil); again != error(fault) {
		t.Errorf("a fault of a simulation within another is %v", again)
	}
}

func flatTarget(t *testing.T, ranks int64) *network.Target {
	t.Helper()
	m, err := network.Parse("flat", []byte("name: flat\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tgt, err := m.Target(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return tgt
}
