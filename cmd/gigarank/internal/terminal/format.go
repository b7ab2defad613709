package terminal

import (
	"fmt"
	"math"
	"strings"
)

// Bytes prints a number of bytes in binary units with three digits:
// "1.25 GiB".
func Bytes(n int64) string {
	if n == math.MaxInt64 {
		return "unlimited"
	}
	return MeanBytes(float64(n))
}

// MeanBytes is Bytes for a mean: "13.1 B".
func MeanBytes(n float64) string {
	return scaled(n, 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"})
}

// Count prints a number with three digits and a decimal suffix: "1.25M".
func Count(n float64) string {
	return strings.ReplaceAll(scaled(n, 1000, []string{"", "k", "M", "G", "T", "P", "E"}), " ", "")
}

// scaled prints v, in the largest unit that it reaches, with three digits.
func scaled(v, step float64, units []string) string {
	i := 0
	for ; v >= step && i+1 < len(units); i++ {
		v /= step
	}
	digits := 0
	if i > 0 || v != math.Trunc(v) {
		switch {
		case v < 10:
			digits = 2
		case v < 100:
			digits = 1
		}
	}
	return fmt.Sprintf("%.*f %s", digits, v, units[i])
}

// Seconds prints a wall time with its significant digits: "27.8 us", "0.412 s",
// "3.1 min".
func Seconds(s float64) string {
	switch {
	case s > 0 && s < 0.9995e-3: // a time that rounds to less than a millisecond
		return fmt.Sprintf("%.3g us", s*1e6)
	case s < 60:
		return fmt.Sprintf("%.3g s", s)
	case s < 3600:
		return fmt.Sprintf("%.1f min", s/60)
	default:
		return fmt.Sprintf("%.1f h", s/3600)
	}
}
