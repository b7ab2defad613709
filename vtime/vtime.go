package vtime

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Time is an instant of virtual time, in picoseconds since the start of the
// simulated program. It is never negative.
type Time int64

// Duration is a length of virtual time, in picoseconds.
type Duration int64

// Forever is later than every instant that a simulation reaches.
const Forever Time = math.MaxInt64

// Endless is the longest duration. Any instant plus Endless is Forever.
const Endless Duration = math.MaxInt64

// Units of virtual time.
const (
	Picosecond  Duration = 1
	Nanosecond           = 1000 * Picosecond
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)

// Add returns t + d, or Forever where the sum would pass it.
func (t Time) Add(d Duration) Time {
	s := t + Time(d)
	if d > 0 && s < t {
		return Forever
	}
	return s
}

// Plus returns d + e, or Endless where the sum would pass it.
func (d Duration) Plus(e Duration) Duration {
	s := d + e
	if e > 0 && s < d {
		return Endless
	}
	return s
}

// Times returns n·d for n, d >= 0, or Endless where the product would pass it.
func (d Duration) Times(n int) Duration {
	if hi, lo := bits.Mul64(uint64(n), uint64(d)); hi == 0 && lo <= math.MaxInt64 {
		return Duration(lo)
	}
	return Endless
}

// Sub returns the length from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Compare orders instants: -1 if t is before u, 0 if equal, +1 if after.
func (t Time) Compare(u Time) int { return cmp.Compare(t, u) }

// Seconds returns t as seconds, rounded to a float64.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Seconds returns d as seconds, rounded to a float64.
func (d Duration) Seconds() float64 { return float64(d) / float64(Second) }

// FromSeconds returns the duration nearest to s seconds. It saturates at the
// ends of the range and maps NaN to zero.
func FromSeconds(s float64) Duration {
	switch ps := s * float64(Second); {
	case math.IsNaN(ps):
		return 0
	case ps >= math.MaxInt64:
		return math.MaxInt64
	case ps <= math.MinInt64:
		return math.MinInt64
	default:
		return Duration(math.RoundToEven(ps))
	}
}

// units are in descending order of size: the first that fits is the largest.
var units = []struct {
	name string
	size Duration
}{
	{"h", Hour}, {"min", Minute}, {"s", Second}, {"ms", Millisecond},
	{"us", Microsecond}, {"ns", Nanosecond}, {"ps", Picosecond},
}

// ParseDuration reads a number with a unit: "15us", "0.5 ns", "1e3ps", "2min".
// The units are ps, ns, us (or µs), ms, s, min and h. A plain zero needs none.
// The value is rounded to the nearest picosecond; a value that the type cannot
// hold is an error.
func ParseDuration(s string) (Duration, error) {
	text := strings.TrimSpace(s)
	if text == "0" {
		return 0, nil
	}
	text = strings.Replace(text, "µs", "us", 1)
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit := text[len(number):]
	number = strings.TrimSpace(number)
	for _, u := range units {
		if u.name != unit {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(v) {
			return 0, fmt.Errorf("%q is not a duration: %q is not a number", s, number)
		}
		ps := v * float64(u.size)
		if math.Abs(ps) >= math.MaxInt64 {
			return 0, fmt.Errorf("%q is too long: the longest duration is %s", s, Duration(math.MaxInt64))
		}
		return Duration(math.RoundToEven(ps)), nil
	}
	return 0, fmt.Errorf("%q is not a duration: write a number and one of ps, ns, us, ms, s, min, h, like 15us", s)
}

// String prints d exactly, in the largest unit that is not longer than d:
// "1.5ms", "0s".
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	magnitude, sign := uint64(d), ""
	if d < 0 {
		magnitude, sign = -magnitude, "-"
	}
	for _, u := range units {
		if u.size > Second {
			continue
		}
		size := uint64(u.size)
		if magnitude < size {
			continue
		}
		whole, rest := magnitude/size, magnitude%size
		if rest == 0 {
			return fmt.Sprintf("%s%d%s", sign, whole, u.name)
		}
		digits := len(strconv.FormatUint(size, 10)) - 1
		fraction := strings.TrimRight(fmt.Sprintf("%0*d", digits, rest), "0")
		return fmt.Sprintf("%s%d.%s%s", sign, whole, fraction, u.name)
	}
	panic("vtime: a duration shorter than a picosecond")
}

// String prints t like a Duration since the start, or "forever".
func (t Time) String() string {
	if t == Forever {
		return "forever"
	}
	return Duration(t).String()
}
