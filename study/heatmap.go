package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gigarank/internal/result"
)

// heatMap is a drawing of the bytes between ranks: a row for each sender, a column for each receiver.
type heatMap struct {
	Title  string
	About  string
	Text   string
	Side   float64 // of the square
	XTicks []tick
	YTicks []tick
	Levels []heatLevel
}

// heatLevel are the cells of a range of bytes, as an outline.
type heatLevel struct {
	Opacity float64
	Name    string
	Path    string
}

const (
	mostCells  = 128 // in a row
	heatLevels = 6
	heatSide   = plotRight - plotLeft
	mostPairs  = 10 // of ranks that a table lists
)

// matrixOfRun has the bytes between ranks.
func matrixOfRun(d *result.Document) (s section) {
	if d.Statistics == nil || d.Statistics.Matrix == nil {
		return s
	}
	m := coarser(d.Statistics.Matrix)
	drawn := newHeatMap(m)
	if drawn == nil {
		return s
	}
	s = section{Name: "matrix", Title: "Bytes between ranks", Maps: []*heatMap{drawn}}
	type pair struct {
		from, to int
		bytes    uint64
	}
	var pairs []pair
	for from, row := range m.Bytes {
		for to, bytes := range row {
			if bytes > 0 {
				pairs = append(pairs, pair{from, to, bytes})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.bytes, a.bytes) })
	t := tableOf{Columns: []string{"most bytes: from", "to", "bytes"}}
	for _, p := range pairs[:min(len(pairs), mostPairs)] {
		t.Rows = append(t.Rows, []string{blockText(p.from, m.Block, d.Ranks), blockText(p.to, m.Block, d.Ranks), formatBytes(float64(p.bytes))})
	}
	s.Tables = []tableOf{t}
	return s
}

// blockText returns the ranks of a block.
func blockText(index, block int, ranks int64) string {
	if block == 1 {
		return fmt.Sprintf("rank %d", index)
	}
	return fmt.Sprintf("ranks %d to %d", index*block, min(int64((index+1)*block), ranks)-1)
}

// coarser returns a matrix of at most mostCells rows, each a block of ranks.
func coarser(m *result.Matrix) *result.Matrix {
	by := (len(m.Bytes) + mostCells - 1) / mostCells
	if by <= 1 {
		return m
	}
	n := (len(m.Bytes) + by - 1) / by
	c := &result.Matrix{Block: m.Block * by, Bytes: make([][]uint64, n)}
	for i := range c.Bytes {
		c.Bytes[i] = make([]uint64, n)
	}
	for from, row := range m.Bytes {
		for to, bytes := range row {
			c.Bytes[from/by][to/by] += bytes
		}
	}
	return c
}

// newHeatMap draws a matrix in levels of a logarithmic scale, nil if it has no bytes.
func newHeatMap(m *result.Matrix) *heatMap {
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, row := range m.Bytes {
		for _, bytes := range row {
			if bytes > 0 {
				low, high = min(low, bytes), max(high, bytes)
			}
		}
	}
	if high == 0 {
		return nil
	}
	level := func(bytes uint64) int {
		if low == high {
			return heatLevels - 1
		}
		share := math.Log(float64(bytes)/float64(low)) / math.Log(float64(high)/float64(low))
		return min(int(share*heatLevels), heatLevels-1)
	}
	n := len(m.Bytes)
	cell := heatSide / float64(n)
	h := &heatMap{Title: "Bytes from each rank (row) to each rank (column)", About: "Heat map of the bytes between ranks", Side: heatSide}
	if m.Block > 1 {
		h.Text = fmt.Sprintf("A row or column stands for %d consecutive ranks.", m.Block)
	}
	var paths [heatLevels]strings.Builder
	var least, most [heatLevels]uint64
	for from, row := range m.Bytes {
		for to := 0; to < n; {
			if row[to] == 0 {
				to++
				continue
			}
			l, begin := level(row[to]), to
			for ; to < n && row[to] > 0 && level(row[to]) == l; to++ {
				if least[l] == 0 || row[to] < least[l] {
					least[l] = row[to]
				}
				most[l] = max(most[l], row[to])
			}
			_, _ = fmt.Fprintf(&paths[l], "M%.2f %.2fh%.2fv%.2fh%.2fz", plotLeft+cell*float64(begin), plotTop+cell*float64(from), cell*float64(to-begin), cell, -cell*float64(to-begin))
		}
	}
	for l := range paths {
		if paths[l].Len() > 0 {
			name := formatBytes(float64(least[l]))
			if to := formatBytes(float64(most[l])); to != name {
				name += " to " + to
			}
			h.Levels = append(h.Levels, heatLevel{float64(l+1) / heatLevels, name, paths[l].String()})
		}
	}
	for _, v := range linearSteps(0, float64(n-1), 5) {
		if v == float64(int(v)) {
			label := fmt.Sprint(int(v) * m.Block)
			h.XTicks = append(h.XTicks, tick{plotLeft + cell*(v+0.5), label})
			h.YTicks = append(h.YTicks, tick{plotTop + cell*(v+0.5), label})
		}
	}
	return h
}
