package network

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
	})
}
