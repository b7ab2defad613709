package world

import (
	"testing"

	"gigarank/vtime"
)

func TestUnchargedMatters(t *testing.T) {
	const ms = 1_000_000 // in nanoseconds
	for _, c := range []struct {
		why   string
		u     Uncharged
		ranks uint64
		mean  vtime.Duration
		want  bool
	}{
		{"nothing", Uncharged{}, 4, 0, false},
		{"no rank has finished", Uncharged{Code: 1000 * ms, Timeless: 4}, 0, 0, false},
		{"as long as a start", Uncharged{Code: 4 * 5 * ms}, 4, 0, false},
		{"long", Uncharged{Code: 4 * 50 * ms}, 4, vtime.Millisecond, true},
		{"long, but less than a tenth of virtual time", Uncharged{Code: 4 * 50 * ms}, 4, vtime.Second, false},
		{"long, and declared", Uncharged{Code: 4 * 50 * ms, Declared: true}, 4, vtime.Millisecond, false},
		{"one piece between two looks", Uncharged{Timeless: 1}, 4, vtime.Second, true},
		{"one piece among many ranks", Uncharged{Timeless: 1}, 1_000_000, vtime.Second, false},
		{"a piece of each of many ranks", Uncharged{Timeless: 1_000_000}, 1_000_000, vtime.Second, true},
	} {
		if got := c.u.Matters(c.ranks, c.mean); got != c.want {
			t.Errorf("%s: %t", c.why, got)
		}
	}
	a, b := Uncharged{Code: 3, Timeless: 2}, Uncharged{Code: 4, Declared: true}
	a.merge(&b)
	var read Uncharged
	if rest := read.read(append(a.append(nil), 9)); len(rest) != 1 || read != (Uncharged{Code: 7, Timeless: 2, Declared: true}) {
		t.Errorf("read %+v of %+v, and %v is left", read, a, rest)
	}
}
