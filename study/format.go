package study

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale is a unit and its size.
type scale struct {
	unit string
	size float64
}

var (
	timeScales  = []scale{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}
	wallScales  = []scale{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}
	byteScales  = []scale{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}
	countScales = []scale{{"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}
)

// scaled prints v in the largest unit that it reaches, with three digits.
func scaled(v float64, scales []scale, space string) string {
	s := scales[0]
	for _, next := range scales[1:] {
		if v < next.size*0.9995 {
			break
		}
		s = next
	}
	if v == 0 {
		return "0" + space + s.unit
	}
	v /= s.size
	digits := max(0, 2-int(math.Floor(math.Log10(v)+0.0002)))
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + space + s.unit
}

// formatTime prints a virtual time, given in ps, with three digits: "86.1 us".
func formatTime(ps float64) string { return scaled(ps, timeScales, " ") }

// formatWall prints a wall time, given in s.
func formatWall(seconds float64) string { return scaled(seconds, wallScales, " ") }

// formatBytes prints a number of bytes in binary units.
func formatBytes(n float64) string { return scaled(n, byteScales, " ") }

// formatRanks prints a number of ranks. Multiples of a power of two are exact ("16Ki"),
// others have three digits ("221M").
func formatRanks(n int64) string {
	if n < 10_000 && (n < 1024 || n&(n-1) != 0) {
		return strconv.FormatInt(n, 10)
	}
	for _, s := range []struct {
		unit string
		bits int
	}{{"Gi", 30}, {"Mi", 20}, {"Ki", 10}} {
		if n >= 1<<s.bits && n%(1<<s.bits) == 0 && n>>s.bits < 1024 {
			return fmt.Sprintf("%d%s", n>>s.bits, s.unit)
		}
	}
	return scaled(float64(n), countScales, "")
}
