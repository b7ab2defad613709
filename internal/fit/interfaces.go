package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gigarank/internal/spelling"
)

// shared is what the interfaces and the memory of a node carry.
type shared struct {
	count      int
	perByte    float64 // seconds a byte of one interface; 0 for no limit
	perMessage float64 // seconds a message of one interface
	memory     float64 // bytes a second that the memory reads and writes; 0 for no limit
}

// Limits of the search for what interfaces carry.
const (
	// longMessage is how many times longer than the shortest message of a table a message must take, to tell the bandwidth.
	longMessage = 4
	// saturated is the share of so many times the figure of one pair below which pairs hold each other up.
	saturated = 0.9
	// interfaceTrials and goodTime bound the search by simulations.
	interfaceTrials = 6
	goodTime        = 0.002
)

const interfacesRemedy = "osu_mbw_mr of two full nodes"

// findInterfaces finds what a node's interfaces carry: first by the greatest rates of bytes and of messages, then by simulations.
func (f *fitter) findInterfaces() error {
	s := f.fullest()
	if s == nil {
		f.lacks("node", "long messages of a rank, and the ranks of a node, do not wait for each other", interfacesRemedy)
		return nil
	}
	first := s.Samples[0]
	fastest := slices.MaxFunc(s.Samples, func(a, b Sample) int { return cmp.Compare(a.Rate, b.Rate) })
	perMessage := func(p Sample) float64 { return float64(p.Bytes) / p.Rate } // of all pairs
	byBytes := perMessage(fastest) > longMessage*perMessage(first)
	byMessages := s.Pairs > 1
	n := shared{count: max(f.Interfaces, 1)}
	each := float64(n.count)
	if byBytes {
		n.perByte = each / fastest.Rate
	}
	if byMessages {
		n.perMessage = max(each*perMessage(first)-n.perByte*float64(first.Bytes), 0)
	}
	f.node = n
	for range 2 { // either shifts the other a little
		if byBytes {
			if err := f.adjust(s, fastest, &f.node.perByte, n.perByte); err != nil {
				return err
			}
		}
		if byMessages {
			if err := f.adjust(s, first, &f.node.perMessage, n.perMessage); err != nil {
				return err
			}
		}
	}
	if !byBytes && !byMessages {
		f.node = shared{}
	}
	f.tellInterfaces(s, first, fastest, byBytes, byMessages)
	return nil
}

// fullest returns the table between two nodes with the most pairs, nil if there is none.
func (f *fitter) fullest() (most *Series) {
	for i := range f.series {
		s := &f.series[i]
		if (s.Kind == MessageRate || s.Kind == Bandwidth) && !s.near() && len(s.Samples) > 0 && (most == nil || s.Pairs > most.Pairs) {
			most = s
		}
	}
	return most
}

// adjust changes a figure of the interfaces until the simulation of a row takes as long as measured. It stays between the half and twice
// what it was at first.
func (f *fitter) adjust(s *Series, p Sample, figure *float64, first float64) error {
	e := f.exchangeOf(s, p)
	want := e.measured(s, p)
	for range interfaceTrials {
		machine, _, err := f.write()
		if err != nil {
			return err
		}
		got, err := e.simulate(machine)
		if err != nil {
			return nil // the residual of the row says why
		}
		share := float64(e.messages(s)) * *figure / float64(f.node.count)
		if figure == &f.node.perByte {
			share *= float64(p.Bytes)
		}
		if max(got-want, want-got) < goodTime*want || share <= 0 {
			break
		}
		*figure = min(max(*figure*(1+(want-got)/share), first/2), first*2)
	}
	return nil
}

// tellInterfaces says what determines the interfaces.
func (f *fitter) tellInterfaces(s *Series, first, fastest Sample, byBytes, byMessages bool) {
	ranks := fmt.Sprintf("%s between two nodes", spelling.Count(s.Pairs, "pair"))
	tell := func(field, value string, p Sample, known bool) {
		doubt := ""
		switch {
		case s.Pairs < f.RanksPerNode:
			doubt = fmt.Sprintf("the nodes have %s, and full ones may carry more: give %s", spelling.Count(f.RanksPerNode, "rank"), interfacesRemedy)
		case s.Pairs > 1 && !known:
			doubt = "pairs do not hold each other up there, so it is a lower bound"
		}
		from := fmt.Sprintf("%s at %s, by simulation: %s", ranks, size(p.Bytes), s.row(p))
		if doubt != "" {
			f.estimate(field, value, from+"; "+doubt)
			return
		}
		f.fact(field, value, from)
	}
	if byBytes || byMessages {
		from := "given"
		if f.Interfaces == 0 {
			from = "all of a node count as one; --interfaces gives the number"
		}
		f.fact("node.interfaces", fmt.Sprint(f.node.count), from)
	}
	if byBytes {
		tell("node.bandwidth", fmt.Sprintf("%.4g GB/s", 1e-9/f.node.perByte), fastest, f.holdUp(s, fastest))
	} else {
		f.lacks("node.bandwidth", "no number of bytes fills the interfaces of a node", "osu_mbw_mr with messages to 1 MiB or more")
	}
	if byMessages {
		tell("node.message_gap", duration(f.node.perMessage).String(), first, f.holdUp(s, first))
	} else if f.RanksPerNode > 1 {
		f.lacks("node.message_gap", "the ranks of a node do not wait for each other's short messages", interfacesRemedy)
	}
}

// holdUp reports whether pairs get less than one pair alone does, by a table of one pair between nodes. Where there is none it is not
// known that they do.
func (f *fitter) holdUp(s *Series, p Sample) bool {
	return heldUp(s, p, f.windows(func(one *Series) bool { return !one.near() && one.Pairs == 1 }))
}

// heldUp reports whether pairs get less in a row than a pair alone does.
func heldUp(s *Series, p Sample, alone *Series) bool {
	if alone == nil {
		return false
	}
	at := slices.IndexFunc(alone.Samples, func(q Sample) bool { return q.Bytes == p.Bytes })
	return at >= 0 && p.Rate < saturated*float64(s.Pairs)*alone.Samples[at].Rate
}

// writeInterfaces writes section node of a machine file, if something is known of it.
func (f *fitter) writeInterfaces() string {
	if f.node == (shared{}) {
		return ""
	}
	fields := []string{fmt.Sprintf("interfaces: %d", max(f.node.count, 1))}
	if f.node.perByte > 0 {
		fields = append(fields, fmt.Sprintf("bandwidth: %.0fB/s", 1/f.node.perByte))
	}
	if f.node.perMessage > 0 {
		fields = append(fields, fmt.Sprintf("message_gap: %v", duration(f.node.perMessage)))
	}
	if f.node.memory > 0 {
		fields = append(fields, fmt.Sprintf("memory: %.0fB/s", f.node.memory))
	}
	return "node: {" + strings.Join(fields, ", ") + "}"
}
