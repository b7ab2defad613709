package network

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"go.yaml.in/yaml/v3"

	"gigarank/vtime"
)

// Contention describes the resources that all messages between nodes share, as given by section
// contention of a machine file. Model is empty without such a section.
type Contention struct {
	Model                               string
	Busses, Out, In                     int   // greatest numbers of simultaneous transfers: on the machine, out of and into a node; 0 for any number
	OutBandwidth, InBandwidth, Backbone int64 // fair: bytes per second out of and into a node and on the machine; 0 for any number
	Topology                            bool  // fair: transfers also take the links of the topology
	Link                                int64 // fair: bytes per second of such a link

	text [4]bandwidth // texts of the bandwidths
}

// The models of contention.
const (
	ModelLinks = "links" // transfers wait for a bus, a link out and a link in (Dimemas, PSINS)
	ModelPMaC  = "pmac"  // the bandwidth is scaled by the number of outstanding messages (PSINS)
	ModelFair  = "fair"  // max-min fair shares
)

const contentionRemedy = "write contention: {model: links, busses: 16, out: 2, in: 1}"

// parseContention reads section contention. The delay model and section node have been read before.
func (m *Machine) parseContention(top *object) {
	if !top.has("contention") {
		top.skip("contention")
		return
	}
	o := top.object("contention", true, contentionRemedy)
	if o == nil {
		return
	}
	c := &m.contention
	c.Model = pick(o, "model", []string{ModelLinks, ModelPMaC, ModelFair}, func(s string) string { return s })
	counted, shared := []string{"busses", "out", "in"}, []string{"out", "in", "backbone", "link", "topology"}
	switch c.Model {
	case ModelLinks, ModelPMaC:
		for i, n := range []*int{&c.Busses, &c.Out, &c.In} {
			if o.has(counted[i]) {
				*n = o.count(counted[i], true, 1, math.MaxInt32)
			} else {
				o.skip(counted[i])
			}
		}
	case ModelFair:
		m.parseFair(o, c)
	default:
		o.closeAny(map[string][]string{"": append(counted, shared...)})
		return
	}
	o.close("model", map[string][]string{ModelLinks: counted, ModelPMaC: counted, ModelFair: shared})
	if m.interfaces.count > 0 {
		top.fault("contention", "does not go with node: messages would wait twice", "remove one of the two")
	}
	if _, occupies := m.model.(occupier); occupies {
		top.fault("contention", "does not go with model "+m.Model()+", in which each rank has an interface of its own", "remove it, or take another model")
	}
}

// sharedBandwidths are the fields of model fair that have a bandwidth, in the order of Contention.text.
var sharedBandwidths = []string{"out", "in", "backbone", "link"}

// parseFair reads the fields of model fair. The topology is known already.
func (m *Machine) parseFair(o *object, c *Contention) {
	for i, n := range []*int64{&c.OutBandwidth, &c.InBandwidth, &c.Backbone, &c.Link} {
		c.text[i] = o.bandwidth(sharedBandwidths[i], false)
		*n = int64(c.text[i])
	}
	if text, given := o.scalar("topology", false, "write topology: true"); given {
		switch text {
		case "true":
			c.Topology = true
		case "false":
		default:
			o.fault("topology", fmt.Sprintf("%q is neither true nor false", text), "write topology: true to share the links of section topology")
		}
	}
	switch {
	case !c.Topology && c.Link != 0:
		o.fault("link", "makes no difference without topology: true", "add topology: true, or remove it")
	case c.Topology && c.Link == 0:
		c.text[3] = max(c.text[0], c.text[1])
		if c.Link = int64(c.text[3]); c.Link == 0 {
			o.fault("topology", "limits nothing: neither link nor out or in gives the bandwidth of a link", "write the bandwidth of a link, such as link: 25GB/s")
		}
	}
}

// parseTaper reads field taper. The topology and the contention are known already.
func (m *Machine) parseTaper(top *object) {
	if !top.has("taper") {
		top.skip("taper")
		return
	}
	m.taper = top.ratio("taper", true)
	const remedy = "write contention: {model: fair, link: 25GB/s, topology: true} with a fat tree, a dragonfly or a hierarchy, or remove it"
	switch {
	case len(top.doc.Faults) > 0: // what it rests on may not be known
	case m.taper.share().rat().Cmp(big.NewRat(1, 1)) > 0:
		top.fault("taper", m.taper.text+" is more than full bisection", "write a share from 0 to 1, such as 0.5")
	case !m.contention.Topology:
		top.fault("taper", "makes no difference: nothing shares the links of the topology", remedy)
	case !m.topology.build(max(m.nodes, 1)).(routing).tapers():
		top.fault("taper", "does not go with topology "+m.Topology()+", which has no links between levels", remedy)
	}
}

// limited reports whether messages may delay each other.
func (c *Contention) limited() bool {
	return c.Busses != 0 || c.Out != 0 || c.In != 0 || c.OutBandwidth != 0 || c.InBandwidth != 0 || c.Backbone != 0 || c.Topology
}

// writeContention writes section contention, in the form that parseContention reads.
func (m *Machine) writeContention(top *objectWriter) {
	c := &m.contention
	if c.Model == "" {
		return
	}
	o := top.writer.object("contention")
	o.text("model", c.Model)
	for i, name := range []string{"busses", "out", "in"} {
		if n := [...]int{c.Busses, c.Out, c.In}[i]; n != 0 {
			o.number(name, n)
		}
	}
	for i, name := range sharedBandwidths {
		if c.text[i] != 0 {
			o.text(name, c.text[i].String())
		}
	}
	if c.Topology {
		o.put("topology", &yaml.Node{Kind: yaml.ScalarNode, Value: "true"})
	}
	top.put("contention", o.node)
}

// Contention returns the resources that all messages between nodes share. Its Model is empty where
// messages share no resource, or only the interfaces of each node.
func (t *Target) Contention() Contention {
	if !t.sharesBetween || !t.machine.sharesNetwork() {
		return Contention{}
	}
	return t.machine.contention
}

// sharesNetwork reports whether section contention, or the links of a type of nodes, limit anything.
func (m *Machine) sharesNetwork() bool {
	return m.contention.limited() || m.contention.Model != "" && slices.ContainsFunc(m.typed, func(t typedNodes) bool {
		return t.of.links != [2]int{} || t.of.bandwidths != [2]bandwidth{}
	})
}

// LeastBetweenNodes returns a lower bound on the latency between two ranks of [lo,hi) on different nodes.
func (t *Target) LeastBetweenNodes(lo, hi int) vtime.Duration {
	p := &t.paths
	if t.typed != nil {
		if all, known := t.typed.model.(*paths); known {
			p = all
		}
	}
	least := p.inter.least
	switch p.scope {
	case byModel:
		least = t.delays.lookahead(lo, hi, lo, hi)
	case byHops:
		least = min(p.leastOf(1), p.leastOf(p.leastHops(lo, hi, lo, hi)))
	case byLevel:
		least = math.MaxInt64
		hops := 0
		if p.perHop != 0 {
			hops = p.leastHops(lo, hi, lo, hi)
		}
		for _, t := range p.tiers[p.nodeTier+1:] {
			least = min(least, t.path.latency.Plus(times(int64(hops), p.perHop)))
		}
	}
	return max(least, vtime.Picosecond)
}
