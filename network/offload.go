package network

import (
	"fmt"
	"math"
	"slices"

	"gigarank/internal/quantity"
	"gigarank/vtime"
)

// offloads are the times of collectives that the network carries out by itself: measured by the
// number of nodes and the size, or by a tree of switches. The zero value has neither.
type offloads struct {
	measured []nodesMeasured
	switches []switchLevel
	most     int64 // greatest size of a vector in bytes; longer vectors go by messages
	limited  bool  // the file gives most in addition to switches
	spread   int64 // greatest size of a vector that goes from one rank to all, where that is more than most
}

// nodesMeasured is the time of a vector by its size, on a number of nodes.
type nodesMeasured struct {
	nodes int
	table []measurement
}

// switchLevel is a level of a tree of switches, from the nodes on.
type switchLevel struct {
	name      string
	nodes     int // number of nodes that a switch of the level unites; 0 for the last level, which unites all; 1 for a switch in each node
	latency   vtime.Duration
	bandwidth bandwidth
}

// parseOffloads reads the fields allreduce, spread and switches.
func (m *Machine) parseOffloads(o *object) {
	f := &m.offloads
	if o.has("allreduce") {
		f.measured = parseMeasuredByNodes(o)
		for _, row := range f.measured {
			if len(row.table) > 0 {
				f.most = row.table[len(row.table)-1].size
			}
		}
		f.spread = o.size("spread", false, f.most)
		if f.spread < f.most {
			o.fault("spread", "is less than the longest vector of allreduce", "give at least as many bytes, or remove it")
		}
	} else {
		o.skip("allreduce")
		if o.has("spread") {
			o.fault("spread", "is given without allreduce, which has the times", "give the times of allreduce, or remove it")
		} else {
			o.skip("spread")
		}
	}
	if !o.has("switches") {
		o.skip("switches")
		return
	}
	if o.has("allreduce") {
		o.fault("switches", "is given beside allreduce, which has the times of all sizes and nodes", "remove one of the two")
	}
	m.parseSwitches(o)
}

const measuredRemedy = "write a list such as [{nodes: 8, delays: [{size: 24, delay: 3us}]}, {nodes: 64, delays: [{size: 24, delay: 4us}]}]"

func parseMeasuredByNodes(o *object) (rows []nodesMeasured) {
	for _, entry := range o.objects("allreduce", measuredRemedy) {
		faults := len(o.doc.Faults)
		row := nodesMeasured{nodes: entry.count("nodes", true, 1, maxRanks), table: parseTable(entry, "delays")}
		entry.close("", nil)
		if entry == nil || len(o.doc.Faults) > faults {
			continue
		}
		if row.table[0].delay < leastBarrier {
			entry.fault("delays", "begin with less than "+leastBarrier.String(), "write times of at least "+leastBarrier.String())
		}
		if last := len(rows) - 1; last >= 0 {
			before := &rows[last]
			switch {
			case row.nodes <= before.nodes:
				entry.fault("nodes", "are no more than those before", "sort the list by nodes, each number once")
			case row.most() != before.most():
				entry.fault("delays", fmt.Sprintf("end at %d bytes, and those of %d nodes at %d", row.most(), before.nodes, before.most()),
					"end all at one size, above which messages are sent")
			case row.fallsBelow(before):
				entry.fault("delays", fmt.Sprintf("are less than those of %d nodes", before.nodes), "smooth the measurements, so that more nodes never take less time")
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// most returns the largest size in a row.
func (r *nodesMeasured) most() int64 { return r.table[len(r.table)-1].size }

// time returns the time of a vector of some bytes.
func (r *nodesMeasured) time(bytes int64) vtime.Duration {
	p := measuredPath(r.table)
	return p.latency.Plus(p.transfer(bytes))
}

// fallsBelow reports whether the time of a row is less than that of another row at some size. Both
// are linear between their sizes.
func (r *nodesMeasured) fallsBelow(other *nodesMeasured) bool {
	return slices.ContainsFunc(slices.Concat(r.table, other.table), func(m measurement) bool {
		return r.time(m.size) < other.time(m.size)
	})
}

const switchesRemedy = "write switches: {levels: [{name: leaf, nodes: 32, latency: 0.4us, bandwidth: 12GB/s}, {name: spine, latency: 0.5us, bandwidth: 12GB/s}]}"

// parseSwitches reads the tree of switches.
func (m *Machine) parseSwitches(top *object) {
	o := top.object("switches", true, switchesRemedy)
	if o == nil {
		return
	}
	f := &m.offloads
	f.limited = o.has("most")
	f.most = o.size("most", false, math.MaxInt64)
	list := o.objects("levels", switchesRemedy)
	if len(list) > mostLevels {
		o.fault("levels", fmt.Sprintf("there are %d of them", len(list)), fmt.Sprintf("give at most %d", mostLevels))
	}
	for i, entry := range list {
		l := switchLevel{name: entry.text("name", true), nodes: entry.count("nodes", false, 1, maxRanks)}
		l.latency, l.bandwidth = entry.duration("latency", true, 0), entry.bandwidth("bandwidth", false)
		last := i == len(list)-1
		switch {
		case entry == nil:
		case slices.ContainsFunc(f.switches, func(other switchLevel) bool { return l.name != "" && other.name == l.name }):
			entry.fault("name", fmt.Sprintf("%q is the name of another level, too", l.name), "give each level a name of its own")
		case last && l.nodes > 0 && !(i == 0 && l.nodes == 1):
			entry.fault("nodes", "is given in the last level, which unites all nodes", "remove it, or add a level around it")
		case !last && !entry.has("nodes"):
			entry.doc.Fault(entry.line, entry.path+".nodes", "is missing", "write the number of nodes that a switch of the level unites; only the last has none")
		case i > 0 && !last && l.nodes > 0 && f.switches[i-1].nodes > 0 && (l.nodes%f.switches[i-1].nodes != 0 || l.nodes == f.switches[i-1].nodes):
			entry.fault("nodes", fmt.Sprintf("%d is no multiple of the %d of the level before it", l.nodes, f.switches[i-1].nodes), "write a multiple")
		}
		entry.close("", nil)
		f.switches = append(f.switches, l)
	}
	o.close("", nil)
	if len(f.switches) > 0 && len(o.doc.Faults) == 0 && m.switchesTime(0, 0) < leastBarrier {
		o.fault("levels", "take less than "+leastBarrier.String(), "write the latencies from the nodes to the switches")
	}
}

func (m *Machine) writeOffloads(o *objectWriter) {
	f := &m.offloads
	if f.measured != nil {
		putObjects(o, "allreduce", f.measured, func(inner *objectWriter, row nodesMeasured) {
			inner.number("nodes", row.nodes)
			writeTable(inner, "delays", row.table)
		})
		if f.spread > f.most {
			o.text("spread", quantity.FormatSize(f.spread))
		}
	}
	if f.switches == nil {
		return
	}
	inner := o.object(o.within("switches"))
	if f.limited {
		inner.text("most", quantity.FormatSize(f.most))
	}
	putObjects(inner, "levels", f.switches, func(level *objectWriter, l switchLevel) {
		level.text("name", l.name)
		if l.nodes > 0 {
			level.number("nodes", l.nodes)
		}
		level.text("latency", l.latency.String())
		level.text("bandwidth", l.bandwidth.String())
	})
	o.put("switches", inner.node)
}

// Span is the distance between the nodes of a communicator, as far as collectives of the network
// depend on it.
type Span struct {
	Nodes int
	level int // innermost level of switches that unites the nodes
}

// SpanOf returns the span of some nodes, at least one.
func (t *Target) SpanOf(nodes int, node func(i int) int) Span {
	s := Span{Nodes: nodes}
	if t.machine.offloads.switches == nil {
		return s
	}
	least := t.paths.place(node(0))
	most := least
	for i := 1; i < nodes; i++ {
		place := t.paths.place(node(i))
		least, most = min(least, place), max(most, place)
	}
	s.level = t.machine.offloads.uniting(least, most)
	return s
}

// Span returns the span of all nodes of the target.
func (t *Target) Span() Span { return t.span }

// spanOfAll returns the span of all nodes.
func (t *Target) spanOfAll() Span {
	if p := &t.paths; p.places == nil {
		nodes := t.Nodes()
		s := Span{Nodes: nodes}
		if f := &t.machine.offloads; f.switches != nil {
			s.level = f.uniting(p.place(0), p.place(nodes-1))
		}
		return s
	}
	return t.SpanOf(t.Nodes(), func(i int) int { return i })
}

// uniting returns the innermost level of switches that unites two places and all places in between.
func (f *offloads) uniting(x, y int) int {
	last := len(f.switches) - 1
	for i := range f.switches[:last] {
		if size := f.switches[i].nodes; x/size == y/size {
			return i
		}
	}
	return last
}

// Offloads reports whether the network sums vectors by itself.
func (m *Machine) Offloads() bool { return m.offloads.measured != nil || m.offloads.switches != nil }

// Offloads reports whether the network sums vectors of some bytes by itself.
func (t *Target) Offloads(bytes int64) bool {
	return t.machine.Offloads() && bytes <= t.machine.offloads.most
}

// Spreads reports whether the network spreads vectors of some bytes from one rank to all, in the time in which it sums them up.
func (t *Target) Spreads(bytes int64) bool {
	return t.machine.Offloads() && bytes <= max(t.machine.offloads.spread, t.machine.offloads.most)
}

// OffloadsRanks reports whether switches within the nodes sum the vectors of ranks. Otherwise the
// ranks of a node join first.
func (t *Target) OffloadsRanks() bool {
	s := t.machine.offloads.switches
	return s != nil && s[0].nodes == 1
}

// OffloadsAcross reports whether nodes may be united in a sum by the network: false where the only switches are those within nodes.
func (t *Target) OffloadsAcross() bool { return t.machine.OffloadsAcross() }

// OffloadsAcross is that of a target of the machine.
func (m *Machine) OffloadsAcross() bool {
	s := m.offloads.switches
	return len(s) != 1 || s[0].nodes != 1
}

// OffloadTime returns the time in which the network sums vectors, from the last vector to the
// result on all nodes. On one node it is 0 unless the node has a switch.
func (t *Target) OffloadTime(s Span, bytes int64) vtime.Duration {
	f := &t.machine.offloads
	switch {
	case s.Nodes == 1 && !t.OffloadsRanks():
		return 0
	case f.switches != nil:
		return t.machine.switchesTime(s.level, bytes)
	}
	times := make(offload, 0, 64)
	for i := range f.measured {
		times = append(times, offloaded{f.measured[i].nodes, f.measured[i].time(bytes)})
	}
	return times.on(s.Nodes)
}

// LeastOffloadTime returns a lower bound on the OffloadTime of more than one participant.
func (t *Target) LeastOffloadTime() vtime.Duration {
	if f := &t.machine.offloads; f.switches == nil {
		return f.measured[0].time(0)
	}
	return t.machine.switchesTime(0, 0)
}

// switchesTime returns the time of the tree up to a level. A vector leaves after the sender's
// overhead and passes the levels at the rate of the slowest; the result comes back at the same
// time, and its receiver pays its overhead.
func (m *Machine) switchesTime(level int, bytes int64) vtime.Duration {
	d := m.overhead.Send.Plus(m.overhead.Receive)
	if o, occupies := m.model.(occupier); occupies {
		charge := o.charge()
		d = charge.Send.Plus(charge.Receive)
	}
	var slowest vtime.Duration
	for _, l := range m.offloads.switches[:level+1] {
		d = d.Plus(l.latency.Times(2))
		slowest = max(slowest, rateOf(l.bandwidth).time(bytes))
	}
	return d.Plus(slowest)
}
