package stats

import (
	"slices"
	"strings"

	"gigarank/vtime"
)

// Iteration summarises one timed operation over all ranks that recorded it.
type Iteration struct {
	Index     int
	Operation string
	Min, Max  vtime.Duration
	Mean      vtime.Duration // rounded down
	Count     uint64
	Wall      float64 // seconds from the end of the previous iteration; 0 without a clock
}

// Distribution is the distribution of times over the ranks.
type Distribution struct {
	Min, Max  vtime.Duration
	Mean      vtime.Duration // rounded down
	Histogram Histogram
}

// OperationTimes is the distribution of the times of an operation over ranks and iterations.
type OperationTimes struct {
	Operation string
	Histogram Histogram
}

// SetUp returns the wall time in seconds from Start, or Since, to Begin, the longest of all engines.
func (t *Tally) SetUp() float64 { return t.setUp }

// Finishes returns the distribution of the finish times.
func (t *Tally) Finishes() Distribution {
	d := &t.finishes
	return Distribution{Min: d.min, Mean: d.mean(), Max: d.max, Histogram: d.histogram.result()}
}

// Operations returns the times of all operations, by name.
func (t *Tally) Operations() []OperationTimes {
	var all []OperationTimes
	for _, o := range t.operations {
		all = append(all, OperationTimes{o.name, o.times.result()})
	}
	slices.SortFunc(all, func(a, b OperationTimes) int { return strings.Compare(a.Operation, b.Operation) })
	return all
}

// Iterations returns all operations of all iterations, by index, then by name.
func (t *Tally) Iterations() []Iteration {
	all := make([]Iteration, 0, len(t.iterations))
	for i := range t.iterations {
		it := &t.iterations[i]
		all = append(all, Iteration{
			Index: it.index, Operation: it.operation.name, Min: it.min, Max: it.max, Mean: it.mean(), Count: it.count, Wall: it.wall,
		})
	}
	slices.SortStableFunc(all, func(a, b Iteration) int {
		if a.Index != b.Index {
			return a.Index - b.Index
		}
		return strings.Compare(a.Operation, b.Operation)
	})
	return all
}
