//go:build invariants || lint

package engine

import (
	"strings"
	"testing"

	"gigarank/internal/invariant/invarianttest"
	"gigarank/vtime"
)

// The next pop finds an event in the heap that lies above one that comes before it.
func TestBrokenHeapIsFound(t *testing.T) {
	l := &eventList{}
	for i := range 21 {
		l.push(Event{Time: vtime.Time(i)})
	}
	l.heap[1].Time = 100 // above 5, 6, 7 and 8
	if text := invarianttest.Violation(t, func() { l.pop(); l.pop() }); !strings.Contains(text, "comes before it") {
		t.Error(text)
	}
}

// A timed event is handled below EIT only, the least one first, and only for an LP
// of the engine.
func TestBrokenHandlingIsFound(t *testing.T) {
	partition := Partition{LPs: 4, Engines: 2}
	e := New(Config{Partition: partition, Transport: NewInProcess(2)[0], Lookahead: func(int) vtime.Duration { return 5 }})
	e.timed.push(Event{Time: 0, Source: 1})
	for _, c := range []struct {
		ev   Event
		want string
	}{
		{Event{Time: e.EIT()}, "at or above its EIT"},
		{Event{Time: 0, Source: 2}, "while"},
		{Event{Time: 0, Source: 0, LP: 2}, "of LPs 0 to 1"},
	} {
		if text := invarianttest.Violation(t, func() { e.checkHandled(c.ev) }); !strings.Contains(text, c.want) {
			t.Errorf("%+v: %s", c.ev, text)
		}
	}
	e.checkHandled(Event{Time: 0, Source: 0, LP: 1})
}

// LPs do not end twice, and nothing leaves a buffer that did not enter it.
func TestBrokenCountsAreFound(t *testing.T) {
	e := New(Config{Partition: Partition{LPs: 2, Engines: 1}, Transport: NewInProcess(1)[0]})
	e.Finished(2)
	if text := invarianttest.Violation(t, func() { e.Finished(1) }); !strings.Contains(text, "1 LPs more") {
		t.Error(text)
	}
	e.Buffer(10)
	if text := invarianttest.Violation(t, func() { e.Buffer(-11) }); !strings.Contains(text, "-1 bytes") {
		t.Error(text)
	}
}

// Each LP belongs to one engine, for any number of LPs, engines and unit; the check
// panics otherwise.
func TestPartitionsHold(*testing.T) {
	for lps := range 40 {
		for engines := 1; engines < 9; engines++ {
			for unit := range 5 {
				Partition{lps, engines, unit}.check()
			}
		}
	}
}
