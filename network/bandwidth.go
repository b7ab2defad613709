package network

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"gigarank/internal/quantity"
)

// bandwidth is in bytes per second; 0 stands for infinite.
type bandwidth uint64

// parseBandwidth reads "2GB/s" (2·10^9 bytes), "2GiB/s" (2·2^30 bytes),
// "1Gbit/s" or "1Gb/s" (10^9 bits), "infinite", to the nearest byte per second.
func parseBandwidth(s string) (bandwidth, error) {
	const examples = "write one like 2GB/s, 2GiB/s or 1Gbit/s, or infinite"
	text := strings.TrimSpace(s)
	if text == "infinite" {
		return 0, nil
	}
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is not a bandwidth: it is negative; %s", s, examples)
	}
	value, unit, ok := quantity.Split(text)
	if !ok {
		return 0, fmt.Errorf("%q is not a bandwidth: %s", s, examples)
	}
	per, ok := strings.CutSuffix(unit, "/s")
	if !ok {
		return 0, fmt.Errorf("%q is not a bandwidth: the unit %q is not per second; %s", s, unit, examples)
	}
	share := big.NewRat(1, 1)
	prefix, isByte := strings.CutSuffix(per, "B")
	if !isByte {
		var isBit bool
		if prefix, isBit = strings.CutSuffix(per, "bit"); !isBit {
			prefix, isBit = strings.CutSuffix(per, "b")
		}
		if !isBit {
			return 0, fmt.Errorf("%q is not a bandwidth: the unit %q has neither B nor bit; %s", s, unit, examples)
		}
		share = big.NewRat(1, 8)
	}
	scale, ok := quantity.Prefixes[prefix]
	if !ok {
		return 0, fmt.Errorf("%q is not a bandwidth: unknown unit %q; %s", s, unit, examples)
	}
	value.Mul(value, share)
	value.Mul(value, new(big.Rat).SetInt(new(big.Int).SetUint64(scale)))
	nearest, err := strconv.ParseUint(value.FloatString(0), 10, 64)
	switch {
	case err != nil || nearest > 9e18:
		return 0, fmt.Errorf("%q is not a bandwidth: it must be at most 9EB/s (9·10^18); leave it out, or write infinite, where bytes take no time", s)
	case nearest == 0:
		return 0, fmt.Errorf("%q is not a bandwidth: it must be at least 1B/s; leave it out, or write infinite, where bytes take no time", s)
	}
	return bandwidth(nearest), nil
}

// String returns b exactly, in the largest decimal unit that it reaches.
func (b bandwidth) String() string {
	if b == 0 {
		return "infinite"
	}
	return decimal(uint64(b), 1000) + "B/s"
}

// decimal returns v with the largest prefix that is not above it, and all digits.
func decimal(v, step uint64) string {
	names := []string{"", "k", "M", "G", "T", "P"}
	scale, i := uint64(1), 0
	for i+1 < len(names) && v/scale >= step {
		scale *= step
		i++
	}
	text := new(big.Rat).SetFrac(new(big.Int).SetUint64(v), new(big.Int).SetUint64(scale)).FloatString(3 * i)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + names[i]
}
