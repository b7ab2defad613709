package network

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"gigarank/vtime"
)

// ratio is a positive decimal number of a machine file, as the fraction num/den: of CPU times, of
// the links of a taper, a factor. The zero value stands for 1.
type ratio struct {
	text string
	rate rate
}

// nodeRatio is the ratio of nodes from to to, by their places in the topology.
type nodeRatio struct {
	from, to int
	ratio    ratio
}

// Limits of a ratio. With them any burst fits 64 bits.
var leastRatio, mostRatio = big.NewRat(1, 1_000_000), big.NewRat(1_000_000, 1)

const ratioRemedy = "write a decimal number from 0.000001 to 1000000, such as 0.8"

// ratio reads a ratio; zero for a missing field.
func (o *object) ratio(key string, required bool) ratio {
	s, ok := o.scalar(key, required, ratioRemedy)
	if !ok {
		return ratio{}
	}
	r, ok := new(big.Rat).SetString(s)
	switch {
	case !ok || len(s) > 30:
		o.fault(key, fmt.Sprintf("%q is no number", s), ratioRemedy)
	case r.Cmp(leastRatio) < 0 || r.Cmp(mostRatio) > 0:
		o.fault(key, s+" is out of range", ratioRemedy)
	case r.Num().BitLen() > 63 || r.Denom().BitLen() > 63:
		o.fault(key, s+" has too many digits", ratioRemedy)
	default:
		return ratio{s, rate{r.Num().Uint64(), r.Denom().Uint64()}}
	}
	return ratio{}
}

// parseCPURatios reads the ratio of all nodes and the ratios of nodes that differ.
func (m *Machine) parseCPURatios(top *object) {
	m.cpuRatio = top.ratio("cpu_ratio", false)
	if !top.has("cpu_ratios") {
		top.skip("cpu_ratios")
		return
	}
	for _, o := range top.objects("cpu_ratios", "write a list such as [{from: 0, to: 511, ratio: 0.5}]") {
		n := nodeRatio{
			from: o.count("from", o != nil, 0, maxRanks), to: o.count("to", o != nil, 0, maxRanks), ratio: o.ratio("ratio", o != nil),
		}
		o.close("", nil)
		if o != nil && n.to < n.from {
			o.fault("to", fmt.Sprintf("%d is before %d, the first node", n.to, n.from), "write the first node as from, the last one as to")
			continue
		}
		m.cpuRatios = append(m.cpuRatios, n)
	}
	slices.SortStableFunc(m.cpuRatios, func(a, b nodeRatio) int { return cmp.Compare(a.from, b.from) })
	for i := range m.cpuRatios[min(1, len(m.cpuRatios)):] {
		if a, b := m.cpuRatios[i], m.cpuRatios[i+1]; b.from <= a.to {
			top.fault("cpu_ratios", fmt.Sprintf("nodes %d to %d and %d to %d overlap", a.from, a.to, b.from, b.to), "give each node one ratio")
		}
	}
}

// writeCPURatios writes the ratios, in the form that parseCPURatios reads.
func (m *Machine) writeCPURatios(top *objectWriter) {
	if m.cpuRatio.text != "" {
		top.put("cpu_ratio", m.cpuRatio.node())
	}
	if len(m.cpuRatios) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i, n := range m.cpuRatios {
		o := top.writer.object(top.within("cpu_ratios") + "[" + strconv.Itoa(i) + "]")
		o.node.Style = yaml.FlowStyle
		o.number("from", n.from)
		o.number("to", n.to)
		o.put("ratio", n.ratio.node())
		list.Content = append(list.Content, o.node)
	}
	top.put("cpu_ratios", list)
}

// node returns the ratio as a number in YAML.
func (r ratio) node() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: r.text} }

// CPUTime returns the time on a rank's core of a computation that takes d on the host.
func (t *Target) CPUTime(rank int, d vtime.Duration) vtime.Duration {
	m := t.machine
	ratio := m.cpuRatio.rate
	if len(m.cpuRatios) > 0 {
		node := t.paths.place(t.Node(rank))
		at, found := slices.BinarySearchFunc(m.cpuRatios, node, func(n nodeRatio, node int) int {
			switch {
			case n.to < node:
				return -1
			case n.from > node:
				return 1
			}
			return 0
		})
		if found {
			ratio = m.cpuRatios[at].ratio.rate
		}
	}
	if len(m.typed) > 0 {
		if of := t.typeOfNode(t.Node(rank)); of != nil && of.ratio.text != "" {
			ratio = of.ratio.rate
		}
	}
	if ratio.num == 0 {
		return d
	}
	return ratio.time(int64(d))
}
