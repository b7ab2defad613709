package fit

import (
	"fmt"

	"gigarank/collectives"
)

// Kind is the kind of figures in a table of a benchmark.
type Kind uint8

// The kinds.
const (
	Latency     Kind = iota // half of a two-way time between two ranks
	Bandwidth               // windows of messages from one rank to another
	MessageRate             // windows of messages between many pairs at a time
	Collective
)

// Layout is the number of nodes of a benchmark and the number of ranks on each node.
type Layout struct{ Nodes, PerNode int }

// Ranks returns the number of ranks.
func (l Layout) Ranks() int { return l.Nodes * l.PerNode }

// String returns the layout in the form of options: 32x96.
func (l Layout) String() string { return fmt.Sprintf("%dx%d", l.Nodes, l.PerNode) }

// Series is a table that a benchmark has printed.
type Series struct {
	File      string
	Line      int    // of its heading
	Benchmark string // as it names itself: "osu Allreduce", "IMB PingPong"
	Kind      Kind
	Operation collectives.Operation // of a Collective
	Algorithm string                // of the library, if known; else empty
	Layout    Layout                // of the participating ranks
	Level     Level                 // of a Latency: the unit that its two ranks share
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
