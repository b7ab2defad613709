package engine

import (
	"testing"

	"gigarank/sync"
)

// resting is a kernel whose only item has the engine rest.
type resting struct {
	prefetching
	look func() bool
	seen [3]bool // before, during and after the rest
}

func (k *resting) Run(int32) {
	k.seen[0] = k.look()
	k.e.AtRest(func() { k.seen[1] = k.look() })
	k.seen[2] = k.look()
	k.e.Finished(1)
}

// The watchdog takes an engine for at work while it runs, and not while it is at rest.
func TestAnEngineAtRestIsNotAtWork(t *testing.T) {
	e := New(Config{Partition: Partition{LPs: 1, Engines: 1}, Transport: sync.NewInProcess(1)[0]})
	w := &watched{e: e}
	k := &resting{prefetching: prefetching{e: e, prefetched: map[int32]bool{}}, look: func() bool {
		_, atWork := w.Progress()
		return atWork
	}}
	e.Ready(0)
	if err := e.Run(k); err != nil {
		t.Fatal(err)
	}
	if k.seen != [3]bool{true, false, true} {
		t.Errorf("at work before, during and after the rest: %v", k.seen)
	}
}
