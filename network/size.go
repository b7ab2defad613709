package network

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// bandwidth is in bytes per second; 0 stands for infinite.
type bandwidth uint64

// number is a decimal with at most two digits of exponent, so that a short text cannot
// stand for gigabytes of digits.
var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?`)

var longExponent = regexp.MustCompile(`^[0-9.]+[eE][+-]?[0-9]{3}`)

var power = regexp.MustCompile(`^([0-9]{1,9})\^([0-9]{1,2})$`)

// prefixes of units: k is 10^3 and Ki is 2^10.
var prefixes = map[string]uint64{
	"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
	"ki": 1 << 10, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50,
}

// ParseSize reads a number of bytes: "64KiB", "1MB", "1M" (10^6), "1Mi" (2^20),
// "1.5k", "2^20", "1e6". The unit B may be left out. The value must be a whole
// number from 0 to 2^63-1.
func ParseSize(s string) (int64, error) {
	return parseWhole(s, "a size", "B", "64KiB, 1M or 2^20")
}

// ParseCount reads a count, for example of ranks: like ParseSize, without a unit.
func ParseCount(s string) (int64, error) {
	return parseWhole(s, "a count", "", "1000, 1M, 1Mi or 2^20")
}

func parseWhole(s, noun, unit, examples string) (int64, error) {
	text := strings.TrimSpace(s)
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is not %s: it is negative; write a number like %s", s, noun, examples)
	}
	if m := power.FindStringSubmatch(text); m != nil {
		base, exponent := new(big.Int), new(big.Int)
		base.SetString(m[1], 10)
		exponent.SetString(m[2], 10)
		return whole(s, noun, new(big.Rat).SetInt(base.Exp(base, exponent, nil)))
	}
	value, suffix, ok := splitNumber(text)
	if !ok {
		return 0, fmt.Errorf("%q is not %s: write a number like %s", s, noun, examples)
	}
	if longExponent.MatchString(text) {
		return 0, fmt.Errorf("%q is not %s: its exponent has more than two digits; write a number like %s", s, noun, examples)
	}
	scale, ok := prefixes[strings.TrimSuffix(suffix, unit)]
	if !ok {
		return 0, fmt.Errorf("%q is not %s: unknown unit %q; write a number like %s", s, noun, suffix, examples)
	}
	return whole(s, noun, value.Mul(value, new(big.Rat).SetInt(new(big.Int).SetUint64(scale))))
}

// splitNumber splits text into the decimal at its head and the unit behind it.
func splitNumber(text string) (value *big.Rat, unit string, ok bool) {
	digits := number.FindString(text)
	if digits == "" || len(digits) > 40 {
		return nil, "", false
	}
	value, ok = new(big.Rat).SetString(digits)
	return value, strings.TrimSpace(text[len(digits):]), ok
}

func whole(s, noun string, value *big.Rat) (int64, error) {
	if !value.IsInt() {
		return 0, fmt.Errorf("%q is not %s: it is not a whole number", s, noun)
	}
	if !value.Num().IsInt64() {
		return 0, fmt.Errorf("%q is not %s: it is larger than 2^63-1", s, noun)
	}
	return value.Num().Int64(), nil
}

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
	value, unit, ok := splitNumber(text)
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
	scale, ok := prefixes[prefix]
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

// formatSize returns a number of bytes exactly: in the largest binary unit that divides it, or else
// in decimal.
func formatSize(bytes int64) string {
	names := []string{"PiB", "TiB", "GiB", "MiB", "KiB"}
	for i, name := range names {
		if unit := int64(1) << (10 * (len(names) - i)); bytes >= unit && bytes%unit == 0 {
			return strconv.FormatInt(bytes/unit, 10) + name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
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
