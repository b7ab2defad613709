package network

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing wrong with a machine file or another file of input.
type Fault struct {
	File   string // name of the file or preset
	Line   int    // counted from 1
	Field  string // path of the field, such as "network.intra.latency"; empty for the file as a whole
	What   string // what is wrong
	Remedy string // what to write instead
}

// Error gives "file:line: field: what: remedy".
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

// Faults are all the things wrong with one file, by line.
type Faults []Fault

// Error gives one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults to errors.As.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

func (fs Faults) sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
}

// nearest returns the candidate closest to word, if one is near enough to be
// meant by it: at most half of its letters differ, though one always may.
func nearest(word string, candidates []string) (string, bool) {
	best, least := "", max(1, len(word)/2)+1
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(word), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best, best != ""
}

// editDistance is that of Levenshtein, over bytes. Words longer than 64 bytes
// are as far apart as can be.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// suggest puts the name that word may stand for before the remedy.
func suggest(word string, names []string, remedy string) string {
	if meant, near := nearest(word, names); near {
		return fmt.Sprintf("did you mean %s? %s", meant, remedy)
	}
	return remedy
}
