package study

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"gigarank/internal/spelling"
)

// ReadResults returns the last record of each point in the results of a directory, in the
// order of the file. It changes nothing there, and a study may be going on: a torn line at the
// end is left out.
func ReadResults(dir string) ([]Record, error) {
	path := filepath.Join(dir, ResultsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: name the directory of a study", err)
	}
	j := &Journal{lines: lines[Record]{dir: dir}}
	if err := j.parse(path, text); err != nil {
		return nil, err
	}
	last := map[Point]int{}
	for i, r := range j.records {
		last[r.Point] = i
	}
	var records []Record
	for i, r := range j.records {
		if last[r.Point] == i && r.Error == "" {
			records = append(records, r)
		}
	}
	return records, nil
}

// Pair is a point of two studies.
type Pair struct{ A, B Record }

// ratio returns the time of B over that of A.
func (p Pair) ratio() float64 { return float64(p.B.Time) / float64(p.A.Time) }

// SideBySide holds the points that two studies have in common.
type SideBySide struct {
	Pairs        []Pair // pairs of an algorithm together, with fewer ranks first
	OnlyA, OnlyB int    // points of one study alone
	// AcrossMachines: no point is in both, and pairs differ in their machines.
	AcrossMachines bool
}

// Compare pairs the points of two studies: equal points, or if there is none, points that
// differ only in their machine, mapping and ranks per node.
func Compare(a, b []Record) SideBySide {
	c := pairs(a, b, func(p Point) Point { return p })
	if len(c.Pairs) == 0 {
		c = pairs(a, b, func(p Point) Point {
			p.Machine, p.MachineDigest, p.Mapping, p.RanksPerNode = "", "", "", 0
			return p
		})
		c.AcrossMachines = len(c.Pairs) > 0
	}
	return c
}

// pairs pairs the records whose points have the same key, each with the first such one.
func pairs(a, b []Record, key func(Point) Point) (c SideBySide) {
	of := map[Point]Record{}
	for _, r := range b {
		if _, known := of[key(r.Point)]; !known {
			of[key(r.Point)] = r
		}
	}
	for _, r := range a {
		if other, known := of[key(r.Point)]; known {
			c.Pairs = append(c.Pairs, Pair{r, other})
			delete(of, key(r.Point))
		}
	}
	c.OnlyA, c.OnlyB = len(a)-len(c.Pairs), len(b)-len(c.Pairs)
	slices.SortStableFunc(c.Pairs, func(p, q Pair) int { return inTable(p.A.Point, q.A.Point) })
	return c
}

// inTable orders points as a table lists them. A study runs them in the order of growing cost.
func inTable(p, q Point) int {
	return cmp.Or(cmp.Compare(p.Subject(), q.Subject()), cmp.Compare(p.Machine, q.Machine), cmp.Compare(p.Noise, q.Noise),
		cmp.Compare(p.Varied, q.Varied), cmp.Compare(p.Choice(), q.Choice()), cmp.Compare(p.Payload, q.Payload), cmp.Compare(p.Ranks, q.Ranks))
}

// Differing returns the pairs whose virtual times differ.
func (c SideBySide) Differing() []Pair {
	var some []Pair
	for _, p := range c.Pairs {
		if p.A.Time != p.B.Time {
			some = append(some, p)
		}
	}
	return some
}

// WriteText writes a line for each pair and sums them up. nameA and nameB stand for the
// studies.
func (c SideBySide) WriteText(w io.Writer, nameA, nameB string) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	columns := []column[Pair]{
		{"operation", func(p Pair) string { return p.A.Point.Subject() }},
		{"algorithm", func(p Pair) string { return p.A.Point.Choice() }},
		{"ranks", func(p Pair) string { return formatRanks(p.A.Point.Ranks) }},
		{"payload", func(p Pair) string { return formatBytes(float64(p.A.Point.Payload)) }},
		{"noise", func(p Pair) string { return p.A.Point.Noise }},
		{"machine A", func(p Pair) string { return p.A.Point.Machine }},
		{"machine B", func(p Pair) string { return p.B.Point.Machine }},
		{"time A", func(p Pair) string { return formatTime(float64(p.A.Time)) }},
		{"time B", func(p Pair) string { return formatTime(float64(p.B.Time)) }},
		{"B/A", func(p Pair) string { return fmt.Sprintf("%.4g", p.ratio()) }},
		{"wall A", func(p Pair) string { return formatWall(p.A.Result.Wall) }},
		{"wall B", func(p Pair) string { return formatWall(p.B.Result.Wall) }},
	}
	var header []string
	for _, col := range columns {
		header = append(header, col.name)
	}
	_, _ = fmt.Fprintln(table, strings.Join(header, "\t")+"\t")
	for _, p := range c.Pairs {
		for _, col := range columns {
			_, _ = fmt.Fprint(table, col.value(p), "\t")
		}
		_, _ = fmt.Fprintln(table)
	}
	if len(c.Pairs) > 0 {
		_ = table.Flush()
		_, _ = fmt.Fprintln(w)
	}
	_, _ = fmt.Fprintf(w, "A is %s, B is %s. %s\n", nameA, nameB, c.summary())
}

// summary returns sentences on all pairs.
func (c SideBySide) summary() string {
	if len(c.Pairs) == 0 {
		return "They have no point in common."
	}
	text := fmt.Sprintf("%s in common, %d only in A, %d only in B.", spelling.Count(len(c.Pairs), "point"), c.OnlyA, c.OnlyB)
	if c.AcrossMachines {
		text += " The machines differ."
	}
	differing := c.Differing()
	if len(differing) == 0 {
		return text + " All virtual times are equal."
	}
	least, most := differing[0], differing[0]
	for _, p := range differing {
		if p.ratio() < least.ratio() {
			least = p
		}
		if p.ratio() > most.ratio() {
			most = p
		}
	}
	at := func(p Pair) string {
		return fmt.Sprintf("%.4g times that of A with %s at %s ranks", p.ratio(), p.A.Point.Choice(), formatRanks(p.A.Point.Ranks))
	}
	return text + fmt.Sprintf(" %s in their virtual time: that of B is from %s to %s.", differ(len(differing)), at(least), at(most))
}

func differ(n int) string {
	if n == 1 {
		return "1 differs"
	}
	return fmt.Sprintf("%d differ", n)
}
