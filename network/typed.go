package network

import (
	"math"

	"gigarank/vtime"
)

// typedDelays are the delays of a machine on which messages within some nodes take a path of the type of the node, and all others those
// of the model.
type typedDelays struct {
	*placement
	model   delays
	machine *Machine
	within  map[*nodeType]path
	fastest vtime.Duration // least latency within a node of a type
}

// newTypedDelays returns the delays of a machine whose types of nodes have paths within them, nil if none has.
func newTypedDelays(m *Machine, p *placement, model delays) *typedDelays {
	d := &typedDelays{placement: p, model: model, machine: m, within: map[*nodeType]path{}, fastest: math.MaxInt64}
	for _, t := range m.typed {
		if t.of.intra != nil {
			p := newPath(t.of.intra.latency, t.of.intra.bandwidth)
			d.within[t.of], d.fastest = p, min(d.fastest, p.latency)
		}
	}
	if len(d.within) == 0 {
		return nil
	}
	return d
}

// inside returns the path of the type of a node.
func (d *typedDelays) inside(node int) (path, bool) {
	t := d.machine.typeOf(d.place(node))
	if t == nil {
		return path{}, false
	}
	p, known := d.within[t]
	return p, known
}

func (d *typedDelays) latency(src, dst int, bytes int64) vtime.Duration {
	if a := d.node(src); a == d.node(dst) {
		if p, known := d.inside(a); known {
			return p.latency
		}
	}
	return d.model.latency(src, dst, bytes)
}

func (d *typedDelays) transfer(src, dst int, bytes int64) vtime.Duration {
	if a := d.node(src); a == d.node(dst) {
		if p, known := d.inside(a); known {
			return p.transfer(bytes)
		}
	}
	return d.model.transfer(src, dst, bytes)
}

func (d *typedDelays) lookahead(loA, hiA, loB, hiB int) vtime.Duration {
	least := d.model.lookahead(loA, hiA, loB, hiB)
	if same, _ := d.layout.meeting(loA, hiA, loB, hiB); same {
		least = min(least, d.fastest)
	}
	return least
}

func (d *typedDelays) longest(bytes int64) vtime.Duration {
	longest := d.model.longest(bytes)
	for _, p := range d.within {
		longest = max(longest, p.latency.Plus(p.transfer(bytes)))
	}
	return longest
}

func (d *typedDelays) uniformFrom() int {
	r, known := d.model.(regular)
	if !known || d.perNode == 0 {
		return d.ranks
	}
	return min(max(r.uniformFrom(), d.perNode), d.ranks)
}

func (d *typedDelays) ranksAlike() bool { return false }

func (d *typedDelays) leadersAlike() bool {
	r, known := d.model.(regular)
	return known && r.leadersAlike()
}

// JoinsAlike reports whether a join takes as long on any node of a size.
func (t *Target) JoinsAlike() bool {
	given := t.machine.join
	return t.typed == nil || given.measured != nil || given.levels != nil
}

// JoinOn is Join on a node.
func (t *Target) JoinOn(node int, bytes int64) vtime.Duration {
	if !t.JoinsAlike() {
		if p, known := t.typed.inside(node); known {
			return p.latency.Plus(p.transfer(bytes))
		}
	}
	return t.Join(bytes)
}

// JoinsOn is Joins on a node.
func (t *Target) JoinsOn(node, members, span int, bytes int64) Joining {
	if t.JoinsAlike() || members < 2 {
		return t.Joins(members, span, bytes)
	}
	within := t.JoinOn(node, bytes)
	return Joining{within, t.ReduceTime(bytes).Times(members - 1), within}
}
