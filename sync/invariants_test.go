//go:build invariants || lint

package sync

import (
	"strings"
	"testing"

	"gigarank/internal/invariant/invarianttest"
	"gigarank/vtime"
)

// A promise that falls, made or heard, is found.
func TestFallingPromiseIsFound(t *testing.T) {
	ends := NewInProcess(2)
	lookahead := func(int) vtime.Duration { return 5 }
	liar := NewEndpoint(ends[1], Config{Lookahead: lookahead})
	e := NewEndpoint(ends[0], Config{Lookahead: lookahead})
	send := func(base vtime.Time) {
		liar.base = base
		liar.begin(liar.peers.of(0))
		if err := liar.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	poll := func() {
		if _, err := e.Poll(func(int, []byte) {}); err != nil {
			t.Fatal(err)
		}
	}
	send(10)
	poll()
	if e.EIT() != 15 {
		t.Fatalf("EIT is %v after a promise of 15ps", e.EIT())
	}
	if text := invarianttest.Violation(t, func() { send(9) }); !strings.Contains(text, "promises engine 0 14ps after 15ps") {
		t.Error(text)
	}
	liar.peers.of(0).promised = 0
	send(8)
	if text := invarianttest.Violation(t, poll); !strings.Contains(text, "hears the promise 13ps of engine 1 after 15ps") {
		t.Error(text)
	}
}
