package vtime

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Duration
	}{
		{"15us", 15_000_000}, {"0.5us", 500_000}, {"0.6 us", 600_000}, {"1µs", 1_000_000},
		{"0", 0}, {"0s", 0}, {"1ps", 1}, {"1.5ps", 2}, {"2.5ps", 2}, {"1e3ns", 1_000_000},
		{"2min", 120 * Second}, {"1h", 3600 * Second}, {"-1ms", -Millisecond}, {" 1ms ", Millisecond},
	} {
		got, err := ParseDuration(c.in)
		if err != nil || got != c.want {
			t.Errorf("ParseDuration(%q) = %d, %v; want %d", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "15", "us", "1 parsec", "1e30s", "NaNs", "1.2.3us", "12us3"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %d; want an error", in, got)
		}
	}
}

// ParseDuration reads the output of String back, as long as a float64 holds it exactly.
func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "d"))
		got, err := ParseDuration(d.String())
		if err != nil || got != d {
			t.Fatalf("%d prints as %q, which reads as %d, %v", d, d.String(), got, err)
		}
	})
}

func TestSaturation(t *testing.T) {
	if got := Time(math.MaxInt64 - 1).Add(5); got != Forever {
		t.Errorf("a sum past the end is %d; want Forever", got)
	}
	if got := Forever.Add(1); got != Forever {
		t.Errorf("Forever + 1ps is %d; want Forever", got)
	}
	if got := Time(7).Add(-3); got != 4 {
		t.Errorf("7 - 3 = %d", got)
	}
	if got := Duration(7).Times(3); got != 21 {
		t.Errorf("3 times 7 is %d", got)
	}
	for _, n := range []int{3, 4, math.MaxInt64} { // past 63, 64 and 65 bits
		if got := Duration(1 << 62).Times(n); got != math.MaxInt64 {
			t.Errorf("%d times 2^62 is %d", n, got)
		}
	}
	if got := Duration(7).Plus(3); got != 10 {
		t.Errorf("7 + 3 = %d", got)
	}
	if got := Duration(-7).Plus(3); got != -4 {
		t.Errorf("-7 + 3 = %d", got)
	}
	if got := Duration(7).Plus(-3); got != 4 {
		t.Errorf("7 + -3 = %d", got)
	}
	if got := Endless.Plus(Endless); got != Endless {
		t.Errorf("a length past the end is %d; want Endless", got)
	}
	if got := Time(0).Add(Endless); got != Forever {
		t.Errorf("Endless from the start is %d; want Forever", got)
	}
	if got := FromSeconds(1e300); got != math.MaxInt64 {
		t.Errorf("FromSeconds(1e300) = %d", got)
	}
	if got := FromSeconds(1e-6); got != Microsecond {
		t.Errorf("FromSeconds(1e-6) = %d", got)
	}
}
