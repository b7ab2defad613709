package fit

import (
	"fmt"

	"gigarank/collectives"
)

// Kind is what a table of a benchmark holds.
type Kind uint8

// The kinds.
const (
	Latency     Kind = iota // half of a two-way time between two ranks
	Bandwidth               // windows of messages from one rank to another
	MessageRate             // the same between many pairs at a time
	Collective
)

// Layout is how many nodes a benchmark has and how many ranks on each.
type Layout struct{ Nodes, PerNode int }

// Ranks returns their product.
func (l Layout) Ranks() int { return l.Nodes * l.PerNode }

// String returns the form in which files are given a layout: 32x96.
func (l Layout) String() string { return fmt.Sprintf("%dx%d", l.Nodes, l.PerNode) }

// Series is a table that a benchmark has printed.
type Series struct {
	File      string
	Line      int    // of its heading
	Benchmark string // as it names itself: "osu Allreduce", "IMB PingPong"
	Kind      Kind
	Operation collectives.Operation // of a Collective
	Algorithm string                // that the library is known to have used; empty if unknown
	Layout    Layout                // of the ranks that take part
	Pairs     int                   // of MessageRate
	Window    int                   // messages of a window, of Bandwidth and MessageRate
	Statistic string                // of a Collective: a word that internal/measurements knows
	Samples   []Sample
}

// Sample is a row of a table.
type Sample struct {
	Line    int
	Bytes   int64   // as measurements has them: of a vector or of one block
	Seconds float64 // of Latency and Collective
	Rate    float64 // bytes a second, of Bandwidth and MessageRate
}

// near reports whether all ranks are on one node.
func (s *Series) near() bool { return s.Layout.Nodes == 1 }
