package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is a line of the table.
type row struct {
	name      string
	value     float64
	unit      string
	reference float64 // to which value is compared
	source    string  // of the reference
	// bound is the ratio value/reference to reach or, if less is better, not to exceed;
	// 0 for a comparison only.
	bound float64
	less  bool
}

// missed reports whether the bound is missed. NaN misses every bound.
func (r row) missed() bool {
	kept := r.ratio() >= r.bound
	if r.less {
		kept = r.ratio() <= r.bound
	}
	return r.bound != 0 && !kept
}

func (r row) ratio() float64 {
	if r.reference == 0 {
		return r.value
	}
	return r.value / r.reference
}

// exitCode returns 1 if a measurement has failed or a floor is missed.
func exitCode(rows []row, err error) int {
	if err != nil || slices.ContainsFunc(rows, row.missed) {
		return 1
	}
	return 0
}

// table returns the rows as Markdown in columns.
func table(rows []row) string {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	line := func(name, value, reference, ratio string) {
		_, _ = fmt.Fprintf(columns, "| %s\t| %s\t| %s\t| %s\t|\n", name, value, reference, ratio)
	}
	line("measurement", "gigarank", "floor or reference", "ratio")
	line("---", "---", "---", "---")
	for _, r := range rows {
		note := ""
		if r.missed() {
			note = " MISSED"
		}
		line(r.name, quantity(r.value, r.unit), quantity(r.reference, r.unit)+" "+r.source, fmt.Sprintf("%.3g%s", r.ratio(), note))
	}
	_ = columns.Flush()
	return text.String()
}

// quantity prints a value in its unit with a suffix for thousands.
func quantity(v float64, unit string) string {
	for _, s := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= 0.9995*s.size { // three digits round up to it
			return fmt.Sprintf("%.3g%s %s", v/s.size, s.name, unit)
		}
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
