// Package quantity reads and writes numbers with units: bytes and counts, exact.
package quantity

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// number is a decimal with at most two digits of exponent, so that a short text cannot
// stand for gigabytes of digits.
var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?`)

var longExponent = regexp.MustCompile(`^[0-9.]+[eE][+-]?[0-9]{3}`)

// power is a power of two numbers. Few texts are one, and to compile it takes a twelfth of the time of a short command.
var power = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,9})\^([0-9]{1,2})$`) })

// Prefixes has the factors of units: k is 10^3 and Ki is 2^10.
var Prefixes = map[string]uint64{
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

// powerIn returns base and exponent of a power behind the text, nil for another text.
func powerIn(text string) []string {
	if !strings.Contains(text, "^") {
		return nil
	}
	return power().FindStringSubmatch(text)
}

func parseWhole(s, noun, unit, examples string) (int64, error) {
	text := strings.TrimSpace(s)
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is not %s: it is negative; write a number like %s", s, noun, examples)
	}
	if m := powerIn(text); m != nil {
		base, exponent := new(big.Int), new(big.Int)
		base.SetString(m[1], 10)
		exponent.SetString(m[2], 10)
		return whole(s, noun, new(big.Rat).SetInt(base.Exp(base, exponent, nil)))
	}
	value, suffix, ok := Split(text)
	if !ok {
		return 0, fmt.Errorf("%q is not %s: write a number like %s", s, noun, examples)
	}
	if longExponent.MatchString(text) {
		return 0, fmt.Errorf("%q is not %s: its exponent has more than two digits; write a number like %s", s, noun, examples)
	}
	scale, ok := Prefixes[strings.TrimSuffix(suffix, unit)]
	if !ok {
		return 0, fmt.Errorf("%q is not %s: unknown unit %q; write a number like %s", s, noun, suffix, examples)
	}
	return whole(s, noun, value.Mul(value, new(big.Rat).SetInt(new(big.Int).SetUint64(scale))))
}

// Split splits text into the decimal at its head and the unit behind it.
func Split(text string) (value *big.Rat, unit string, ok bool) {
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

// FormatSize returns a number of bytes exactly: in the largest binary unit that divides it, or else
// in decimal.
func FormatSize(bytes int64) string {
	names := []string{"PiB", "TiB", "GiB", "MiB", "KiB"}
	for i, name := range names {
		if unit := int64(1) << (10 * (len(names) - i)); bytes >= unit && bytes%unit == 0 {
			return strconv.FormatInt(bytes/unit, 10) + name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}
