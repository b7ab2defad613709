//go:build invariants

package sync

import (
	"strings"
	"testing"

	"gigarank/invariant"
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
	if text := violation(t, func() { send(9) }); !strings.Contains(text, "promises engine 0 14ps after 15ps") {
		t.Error(text)
	}
	liar.peers.of(0).promised = 0
	send(8)
	if text := violation(t, poll); !strings.Contains(text, "hears the promise 13ps of engine 1 after 15ps") {
		t.Error(text)
	}
}

// violation runs f, which must break an invariant, and returns the text of the
// violation.
func violation(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		t.Helper()
		v, ok := recover().(*invariant.Violation)
		if !ok {
			t.Fatal("no broken invariant is found")
		}
		text = v.Text
	}()
	f()
	return ""
}
