package network

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "17": 17, "17B": 17, "64KiB": 65536, "64kiB": 65536, "64Ki": 65536, "1k": 1000, "1K": 1000, "1kB": 1000,
		"1M": 1e6, "1MB": 1e6, "1Mi": 1 << 20, "1.5M": 1500000, "2.5Ki": 2560, "1e6": 1e6, "1E6": 1e6, "1.5e3k": 1500000,
		"2^20": 1 << 20, "10^9": 1e9, "0^0": 1, "3G": 3e9, "1Ti": 1 << 40, "4P": 4e15, "8000Pi": 8000 << 50, " 12 MB ": 12e6,
		"9223372036854775807": math.MaxInt64, "007": 7,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
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
		if got, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSize(%q) = %d, %v; want an error with %q", text, got, err, want)
		}
	}
	if got, err := ParseCount("64KiB"); err == nil {
		t.Errorf("ParseCount takes bytes: %d", got)
	}
	if got, err := ParseCount("64Ki"); err != nil || got != 65536 {
		t.Errorf("ParseCount(64Ki) = %d, %v", got, err)
	}
}

func TestParseBandwidth(t *testing.T) {
	for text, want := range map[string]bandwidth{
		"2GB/s": 2e9, "2GiB/s": 2 << 30, "1Gbit/s": 125e6, "1Gb/s": 125e6, "1Gibit/s": 1 << 27, "4.16 GB/s": 4.16e9,
		"6.38GB/s": 6.38e9, "100kB/s": 1e5, "8bit/s": 1, "1B/s": 1, "1e9B/s": 1e9, "infinite": 0, "1TB/s": 1e12, "9bit/s": 1,
	} {
		if got, err := parseBandwidth(text); err != nil || got != want {
			t.Errorf("parseBandwidth(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"2GB": "not per second", "2": "not per second", "2G/s": "neither B nor bit", "2mB/s": "unknown unit", "0GB/s": "at least 1B/s",
		"1bit/s": "at least 1B/s", "1e30B/s": "at most 9EB/s", "-2GB/s": "negative", "fast": "not a bandwidth", "2 G B/s": "unknown unit",
		"9.3e18B/s": "at most 9EB/s",
	} {
		if got, err := parseBandwidth(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseBandwidth(%q) = %d, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestPrintedFiguresReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := bandwidth(rapid.Uint64Range(0, 9e18).Draw(t, "bandwidth"))
		if got, err := parseBandwidth(b.String()); err != nil || got != b {
			t.Fatalf("%d prints as %s, which reads as %d, %v", b, b, got, err)
		}
		size := rapid.Int64Range(0, math.MaxInt64).Draw(t, "size") >> rapid.IntRange(0, 60).Draw(t, "right") << rapid.IntRange(0, 20).Draw(t, "left") & math.MaxInt64
		if got, err := ParseSize(formatSize(size)); err != nil || got != size {
			t.Fatalf("%d prints as %s, which reads as %d, %v", size, formatSize(size), got, err)
		}
	})
}
