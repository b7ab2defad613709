package tuning

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gigarank/collectives"
	"gigarank/internal/quantity"
)

// Most is the loss up to which neighbouring sizes share an algorithm.
const Most = 1.25

// rows are those of an operation in a layout, for calls whose operation may commute or for the others.
type rows struct {
	op      collectives.Operation
	layout  layout
	ordered bool // only algorithms that keep the rank order
}

// orders returns the rows of an operation by the rank order, in the order in which a table has them.
func orders(op collectives.Operation) []bool {
	if slices.ContainsFunc(collectives.Algorithms(op), func(a collectives.Algorithm) bool { return !collectives.Ordered(op, a) }) {
		return []bool{true, false}
	}
	return []bool{false}
}

// choice is the algorithm from a size on.
type choice struct {
	size int // index in Grid.Sizes
	a    collectives.Algorithm
	loss float64 // the greatest up to the next choice
}

// choices returns the algorithms of rows on a number of ranks, by size: as few as possible with losses up to
// Most, or up to the least loss of a cell where that is more.
func (d *Measured) choices(of rows, ranks int) []choice {
	row := cell{op: of.op, layout: of.layout, ranks: ranks}
	var all []choice
	sizes := len(d.grid.Sizes)
	if row.op == collectives.Barrier {
		sizes = 1
	}
	for row.size = 0; row.size < sizes; {
		if d.times[row] == nil {
			row.size++
			continue
		}
		longest := d.longest(row, sizes, of.ordered)
		if len(all) == 0 {
			longest.size = 0
		} else {
			longest.size = row.size
		}
		next := row.size + 1
		for at := row; next < sizes; next++ {
			at.size = next
			if loss, ok := d.fits(at, longest.a, of.ordered); !ok {
				break
			} else if d.times[at] != nil {
				longest.loss = max(longest.loss, loss)
			}
		}
		all = append(all, longest)
		row.size = next
	}
	return all
}

// longest returns the algorithm that fits the most sizes from a cell on.
func (d *Measured) longest(from cell, sizes int, ordered bool) choice {
	all, losses := d.times[from].algorithms(from.op, ordered)
	best, reach := choice{}, -1
	for _, a := range all {
		if _, ok := d.fits(from, a, ordered); !ok {
			continue
		}
		n := 0
		for at := from; at.size < sizes; at.size++ {
			if _, ok := d.fits(at, a, ordered); !ok {
				break
			}
			n++
		}
		if n > reach {
			best, reach = choice{a: a, loss: losses[a]}, n
		}
	}
	return best
}

// fits reports whether an algorithm may serve a cell. Cells without times fit.
func (d *Measured) fits(at cell, a collectives.Algorithm, ordered bool) (loss float64, ok bool) {
	of := d.times[at]
	if of == nil {
		return 0, true
	}
	all, losses := of.algorithms(at.op, ordered)
	if len(all) == 0 {
		return 0, true
	}
	loss, known := losses[a]
	return loss, known && loss <= max(Most, losses[all[0]]*1.001)
}

// Loss is a point at which a table is slower than the fastest algorithm.
type Loss struct {
	Operation collectives.Operation
	Ranks     int
	Bytes     int64
	Layout    string
	Chosen    collectives.Algorithm
	Loss      float64 // time over that of the fastest, on the machine where it is greatest
}

var layoutNames = [layouts]string{"one node", "one rank a node", "full nodes"}

// conditions are those of the rows of a layout.
var conditions = [layouts]string{"nodes: ..1, per_node: 2..", "per_node: ..1", ""}

// YAML returns the table of a library with a name and a source, and the losses above Most, the greatest
// first.
func (d *Measured) YAML(name, source, base string) ([]byte, []Loss) {
	var w bytes.Buffer
	var losses []Loss
	fmt.Fprintf(&w, "name: %s\nsource: %q\n", name, source)
	if base != "" {
		fmt.Fprintf(&w, "base: %s\n", base)
	}
	for _, op := range collectives.Operations() {
		tuned := slices.Contains(d.grid.Operations, op)
		if !tuned && base != "" {
			continue
		}
		fmt.Fprintf(&w, "\n%s:\n  rows:\n", op)
		if !tuned {
			writeDefault(&w, op)
			continue
		}
		for _, ordered := range orders(op) {
			for l := range layouts {
				losses = append(losses, d.writeRows(&w, rows{op, l, ordered})...)
			}
		}
	}
	slices.SortFunc(losses, func(a, b Loss) int { return cmp.Compare(b.Loss, a.Loss) })
	return w.Bytes(), losses
}

// writeDefault writes the rows of an operation that is not measured: its default, after an algorithm that keeps the order of
// ranks where the default does not.
func writeDefault(w *bytes.Buffer, op collectives.Operation) {
	usually := collectives.Default(op)
	if len(orders(op)) > 1 && !collectives.Ordered(op, usually) {
		fmt.Fprintf(w, "    - {commutative: false, algorithm: %s}\n", quoted(usual(rows{op: op, ordered: true})))
	}
	fmt.Fprintf(w, "    - {algorithm: %s}\n", quoted(usually))
}

// writeRows writes the rows of an operation in a layout. The row of the most ranks stands for more ranks,
// too, and in the last layout for all calls.
func (d *Measured) writeRows(w *bytes.Buffer, of rows) (losses []Loss) {
	op, l := of.op, of.layout
	type band struct {
		text string
		most int // ranks; 0 for all
	}
	var bands []band
	for r := range d.grid.Ranks {
		all := d.choices(of, r)
		if len(all) == 0 {
			continue
		}
		for _, c := range all {
			if c.loss > Most {
				bytes := int64(0)
				if op != collectives.Barrier {
					bytes = d.grid.Sizes[c.size]
				}
				losses = append(losses, Loss{op, d.grid.Ranks[r], bytes, layoutNames[l], c.a, c.loss})
			}
		}
		text := d.sizes(op, all)
		most := 0
		if r+1 < len(d.grid.Ranks) {
			most = d.grid.Ranks[r+1] - 1
		}
		if n := len(bands); n > 0 && bands[n-1].text == text {
			bands[n-1].most = most
			continue
		}
		bands = append(bands, band{text, most})
	}
	if len(bands) == 0 && l == fullNodes { // calls that no row above fits
		bands = append(bands, band{text: "algorithm: " + quoted(usual(of))})
	}
	for i, b := range bands {
		var parts []string
		if of.ordered {
			parts = append(parts, "commutative: false")
		}
		if b.most > 0 && i < len(bands)-1 {
			parts = append(parts, fmt.Sprintf("ranks: ..%d", b.most))
		}
		if conditions[l] != "" {
			parts = append(parts, conditions[l])
		}
		fmt.Fprintf(w, "    - {%s}\n", strings.Join(append(parts, b.text), ", "))
	}
	return losses
}

// sizes returns the field of a row with its choices.
func (d *Measured) sizes(op collectives.Operation, all []choice) string {
	if len(all) == 1 {
		return "algorithm: " + quoted(all[0].a)
	}
	parts := make([]string, len(all))
	for i, c := range all {
		size := "0"
		if i > 0 {
			size = quantity.FormatSize(d.grid.Sizes[c.size])
		}
		parts[i] = size + ": " + quoted(c.a)
	}
	return "sizes: {" + strings.Join(parts, ", ") + "}"
}

// quoted returns the name of an algorithm in YAML, which reads a colon as a field's.
func quoted(a collectives.Algorithm) string {
	if text := a.String(); strings.Contains(text, ":") {
		return `"` + text + `"`
	}
	return a.String()
}

// usual returns the algorithm of rows without any time: the first that keeps the order, if they need it.
func usual(of rows) collectives.Algorithm {
	for _, a := range collectives.Algorithms(of.op) {
		if !of.ordered || collectives.Ordered(of.op, a) {
			return a
		}
	}
	return collectives.Default(of.op)
}
