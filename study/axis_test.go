package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/quantity"
)

var anyCount = bounded(quantity.ParseCount, 0, math.MaxInt64)

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int64
	}{
		{"4096", []int64{4096}},
		{"4K,1K", []int64{1000, 4000}},
		{"2^10..2^13", []int64{1024, 2048, 4096, 8192}},
		{"2^10..5000", []int64{1024, 2048, 4096}},
		{"2^10..2^16:x4", []int64{1024, 4096, 16384, 65536}},
		{"100..400:+100", []int64{100, 200, 300, 400}},
		{"0..20:+10", []int64{0, 10, 20}},
		{"1..4,3..3, 2", []int64{1, 2, 3, 4}},
	} {
		got, faults := parseAxis(c.text, "1..4", anyCount, func(string) {})
		if faults != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.text, got, faults, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", "a value is missing"},
		{"1,,2", "a value is missing"},
		{"8..1", "runs backwards"},
		{"8..", `the range "8.." lacks its first or last value: write one like 1..4`},
		{"..8:x4", `the range "..8:x4" lacks its first or last value`},
		{"0..8", "never leaves 0"},
		{"1..8:x1", "not a step"},
		{"1..8:4", "not a step"},
		{"1..8:+0", "not a step"},
		{"1..1G:+1", "more than 10000 values"},
		{"1..x", "is not a count"},
	} {
		if got, faults := parseAxis(c.text, "1..4", anyCount, func(string) {}); len(faults) != 1 || !strings.Contains(faults[0].Error(), c.want) {
			t.Errorf("%q: %v, %v, want %q", c.text, got, faults, c.want)
		}
	}
}

// All faults of an axis are named at once.
func TestFaultsOfAnAxis(t *testing.T) {
	_, faults := parseAxis("0,x,y..z:q,4,8..2", "1..4", bounded(quantity.ParseCount, 1, 100), func(string) {})
	want := []string{"0 is too small", `"x" is not a count`, `"y" is not a count`, `"z" is not a count`, "not a step", "runs backwards"}
	if len(faults) != len(want) {
		t.Fatalf("%v, want %d faults", faults, len(want))
	}
	for i, fault := range faults {
		if !strings.Contains(fault.Error(), want[i]) {
			t.Errorf("%v, want %q", fault, want[i])
		}
	}
}

// A range whose end no step meets says where it stops.
func TestRangesThatStopShort(t *testing.T) {
	for text, want := range map[string]string{
		"2^3..20":             `"2^3..20" stops at 16: no step ends at 20`,
		"4..16":               "",
		"1..10:+4":            `"1..10:+4" stops at 9: no step ends at 10`,
		"3":                   "",
		"9223372036854775807": "",
	} {
		told := ""
		if _, err := parseAxis(text, "1..4", anyCount, func(s string) { told += s }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(told, want) || want == "" && told != "" {
			t.Errorf("%s: %q, want %q", text, told, want)
		}
	}
}

// A range holds exactly the values first·factor^k (or first + k·step) up to the last,
// in order, also next to the largest number.
func TestRangeHoldsItsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(1, math.MaxInt64).Draw(t, "first")
		last := rapid.Int64Range(first, math.MaxInt64).Draw(t, "last")
		by := rapid.Int64Range(2, 1000).Draw(t, "by")
		got, err := parseAxis(fmt.Sprintf("%d..%d:x%d", first, last, by), "", anyCount, func(string) {})
		if err != nil || got[0] != first || got[len(got)-1] > last {
			t.Fatal(got, err)
		}
		for i := 1; i < len(got); i++ {
			if got[i] != got[i-1]*by || got[i]/by != got[i-1] {
				t.Fatalf("%d follows %d", got[i], got[i-1])
			}
		}
		if end := got[len(got)-1]; end <= last/by {
			t.Fatalf("%d·%d is missing", end, by)
		}
	})
}
