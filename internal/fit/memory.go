package fit

import (
	"cmp"
	"fmt"
	"slices"

	"gigarank/internal/spelling"
)

const memoryRemedy = "osu_mbw_mr of a full node, with messages to 1 MiB or more"

// findMemory finds what the memory of a node reads and writes per second: twice the greatest rate of
// bytes of the pairs within a node, since each byte is read and written.
func (f *fitter) findMemory() {
	if f.RanksPerNode < 4 {
		return // there are no two pairs
	}
	var s *Series
	for i := range f.series {
		if o := &f.series[i]; o.Kind == MessageRate && o.near() && o.Pairs > 1 && len(o.Samples) > 0 && (s == nil || o.Pairs > s.Pairs) {
			s = o
		}
	}
	if s == nil {
		f.lacks("node.memory", "long messages within a node do not wait for each other", memoryRemedy)
		return
	}
	fastest := slices.MaxFunc(s.Samples, func(a, b Sample) int { return cmp.Compare(a.Rate, b.Rate) })
	f.node.memory = 2 * fastest.Rate
	value := fmt.Sprintf("%.4g GB/s", 1e-9*f.node.memory)
	from := fmt.Sprintf("%s within a node at %s, each byte read and written: %s", spelling.Count(s.Pairs, "pair"), size(fastest.Bytes), s.row(fastest))
	alone := f.windows(func(one *Series) bool { return one.near() && one.Pairs == 1 })
	switch {
	case 2*s.Pairs < f.RanksPerNode:
		f.estimate("node.memory", value, fmt.Sprintf("%s; the nodes have %s, and full ones may read and write more: give %s", from, spelling.Count(f.RanksPerNode, "rank"), memoryRemedy))
	case !heldUp(s, fastest, alone):
		f.estimate("node.memory", value, from+"; pairs do not hold each other up there, so it is a lower bound")
	default:
		f.fact("node.memory", value, from)
	}
}
