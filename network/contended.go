package network

import (
	"math"

	"gigarank/vtime"
)

// Contention describes the resources that all messages between nodes share, as given by section
// contention of a machine file. Model is empty without such a section.
type Contention struct {
	Model                               string
	Busses, Out, In                     int   // greatest numbers of simultaneous transfers: on the machine, out of and into a node; 0 for any number
	OutBandwidth, InBandwidth, Backbone int64 // fair: bytes per second out of and into a node and on the machine; 0 for any number

	text [3]bandwidth // texts of the bandwidths
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
	counted, shared := []string{"busses", "out", "in"}, []string{"out", "in", "backbone"}
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
		for i, n := range []*int64{&c.OutBandwidth, &c.InBandwidth, &c.Backbone} {
			c.text[i] = o.bandwidth(shared[i], false)
			*n = int64(c.text[i])
		}
		if o.has("topology") {
			o.fault("topology", "is not simulated: routes over the links of a topology", "remove it")
			o.skip("topology")
		}
	default:
		o.closeAny(map[string][]string{"": append(counted, shared...)})
		return
	}
	o.close("model", map[string][]string{ModelLinks: counted, ModelPMaC: counted, ModelFair: shared})
	if m.interfaces.count > 0 {
		top.fault("contention", "does not go with node: messages would wait twice", "remove one of the two")
	}
	if _, occupies := m.model.(occupier); occupies {
		top.fault("contention", "does not go with model "+m.Model()+", which charges the bytes of each message to a rank's own interface", "remove it, or take another model")
	}
}

// limited reports whether messages may delay each other.
func (c *Contention) limited() bool {
	return c.Busses != 0 || c.Out != 0 || c.In != 0 || c.OutBandwidth != 0 || c.InBandwidth != 0 || c.Backbone != 0
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
	for i, name := range []string{"out", "in", "backbone"} {
		if c.text[i] != 0 {
			o.text(name, c.text[i].String())
		}
	}
	top.put("contention", o.node)
}

// Contention returns the resources that all messages between nodes share. Its Model is empty where
// messages share no resource, or only the interfaces of each node.
func (t *Target) Contention() Contention {
	if !t.contended || !t.machine.contention.limited() {
		return Contention{}
	}
	return t.machine.contention
}

// LeastBetweenNodes returns a lower bound on the latency between two ranks of [lo,hi) on different nodes.
func (t *Target) LeastBetweenNodes(lo, hi int) vtime.Duration {
	p := &t.paths
	least := p.inter.latency
	switch p.scope {
	case byModel:
		least = t.delays.lookahead(lo, hi, lo, hi)
	case byHops:
		least = min(p.latencyOf(1), p.latencyOf(p.leastHops(lo, hi, lo, hi)))
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
