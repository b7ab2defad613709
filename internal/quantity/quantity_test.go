package quantity_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/quantity"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "17": 17, "17B": 17, "64KiB": 65536, "64kiB": 65536, "64Ki": 65536, "1k": 1000, "1K": 1000, "1kB": 1000,
		"1M": 1e6, "1MB": 1e6, "1Mi": 1 << 20, "1.5M": 1500000, "2.5Ki": 2560, "1e6": 1e6, "1E6": 1e6, "1.5e3k": 1500000,
		"2^20": 1 << 20, "10^9": 1e9, "0^0": 1, "3G": 3e9, "1Ti": 1 << 40, "4P": 4e15, "8000Pi": 8000 << 50, " 12 MB ": 12e6,
		"9223372036854775807": math.MaxInt64, "007": 7,
	} {
		if got, err := quantity.ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseSizeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "write a number", "B": "write a number", "x": "write a number", "-1": "negative", "1.5": "not a whole number",
		"1m": "unknown unit", "1KIB": "unknown unit", "1 b": "unknown unit", "1Ei": "unknown unit", "0x10": "unknown unit", "1_000": "unknown unit",
		"9223372036854775808": "larger than 2^63-1", "2^63": "larger than 2^63-1", "1e99": "larger than 2^63-1", "1e-1": "not a whole number",
		"2^": "unknown unit", "2^1000": "unknown unit", "1/2": "unknown unit", "1e999": "two digits",
		strings.Repeat("9", 41): "write a number", "inf": "write a number", "NaN": "write a number",
	} {
		if got, err := quantity.ParseSize(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSize(%q) = %d, %v; want an error with %q", text, got, err, want)
		}
	}
	if got, err := quantity.ParseCount("64KiB"); err == nil {
		t.Errorf("ParseCount takes bytes: %d", got)
	}
	if got, err := quantity.ParseCount("64Ki"); err != nil || got != 65536 {
		t.Errorf("ParseCount(64Ki) = %d, %v", got, err)
	}
}

func TestPrintedSizesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(0, math.MaxInt64).Draw(t, "size") >> rapid.IntRange(0, 60).Draw(t, "right") << rapid.IntRange(0, 20).Draw(t, "left") & math.MaxInt64
		if got, err := quantity.ParseSize(quantity.FormatSize(size)); err != nil || got != size {
			t.Fatalf("%d prints as %s, which reads as %d, %v", size, quantity.FormatSize(size), got, err)
		}
	})
}
