package input

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is an error in an input file.
type Fault struct {
	File   string // name of the file or preset
	Line   int    // counted from 1
	Field  string // path of the field, such as "network.intra.latency"; empty for the file as a whole
	What   string // what is wrong
	Remedy string // what to write instead
}

// Error returns "file:line: field: what: remedy".
func (f Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: ", f.File, f.Line)
	if f.Field != "" {
		b.WriteString(f.Field + ": ")
	}
	b.WriteString(f.What)
	if f.Remedy != "" {
		b.WriteString(": " + f.Remedy)
	}
	return b.String()
}

// Faults are all faults of one file, by line.
type Faults []Fault

// Error returns one fault per line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults, for errors.As.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

// Sort puts the faults in the order of their lines.
func (fs Faults) Sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
}
