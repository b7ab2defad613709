package slice

import (
	"cmp"
	"slices"
)

// unbounded is the number of bytes that reach to the end of an object, and before its begin.
const unbounded = -1

// mostOffsets is the number of places of one object to which a value may lead, beyond which it may lead to all of the object.
const mostOffsets = 16

// mostReached bounds the bytes that multiples of a step add: beyond, they have no bound. mostStride bounds the step of an offset with a bound at first.
const (
	mostReached = 1 << 50
	mostStride  = 1 << 18
)

// offset is a number of bytes plus multiples of a step: none if the step is 0, from none up to a largest multiple, or any, also negative ones, if there is no largest.
type offset struct{ at, step, most int64 }

// anyOffset is any number of bytes.
var anyOffset = offset{0, 1, 0}

// isEndless reports whether the multiples of an offset have no bound.
func (o offset) isEndless() bool { return o.step != 0 && o.most == 0 }

// plus returns offsets among which the sums of two offsets are.
func (o offset) plus(p offset) offset {
	sum := offset{o.at + p.at, gcd(o.step, p.step), 0}
	switch {
	case sum.step == 0:
	case o.isEndless() || p.isEndless() || o.step*o.most+p.step*p.most > mostReached:
		sum.at = (sum.at%sum.step + sum.step) % sum.step
	default:
		sum.most = (o.step*o.most + p.step*p.most) / sum.step
	}
	return sum
}

// gcd returns the greatest common divisor of two numbers that are not negative, 0 for two zeros.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// target is a place to which a value may lead, if it is a pointer or is made of one.
type target struct {
	object int
	offset
}

// span is bytes of an object from an offset.
type span struct {
	offset
	bytes int64
}

// all is the span of all bytes of an object, and first returns that of its first bytes.
var all = span{anyOffset, unbounded}

func first(bytes int64) span { return span{offset{}, bytes} }

// overlaps reports whether two spans of one object may have bytes in common.
func (p span) overlaps(q span) bool {
	return p.meets(q) && (p.isEndless() || q.isEndless() || p.reaches(q) && q.reaches(p))
}

// reaches reports whether a span ends behind the begin of another one.
func (p span) reaches(q span) bool { return p.bytes == unbounded || q.at < p.at+p.step*p.most+p.bytes }

// meets reports whether two spans have bytes in common for some multiples of their steps.
func (p span) meets(q span) bool {
	step := gcd(p.step, q.step)
	if step == 0 || p.bytes == unbounded || q.bytes == unbounded {
		return true
	}
	ahead := ((q.at-p.at)%step + step) % step
	return ahead < p.bytes || step-ahead < q.bytes
}

// object is memory that has one name: a variable, all that an instruction allocates, or memory from outside. A function is an object, too.
type object struct {
	of    any
	fixed bool // the address of MPI_IN_PLACE
	large bool // more than a page, or of a size that is not constant
	cells []cell
	cell  map[span]int
	reads []cell
}

// cell is a span of an object with the node of the values in it, or of those that are read from it.
type cell struct {
	span
	node int
}

// edge has the values of a node flow to another one: as they are, with an offset, or with any offset.
type edge struct {
	to    int
	shift offset
}

// node is a value, or some memory, with the places to which it may lead.
type node struct {
	targets []target
	known   map[target]bool
	offsets map[int]int // by object
	done    int         // targets that have flowed on
	queued  bool
	edges   []edge
	loads   []cell // nodes that get the values in the memory to which the node leads; the offset is that from the place
	stores  []cell // nodes whose values get there
}

// points solves the equations of Andersen's analysis: a node leads at least to where the nodes lead from which values flow to it.
type points struct {
	objects []object
	nodes   []node
	joined  map[link]bool // edges that are there
	queue   []int
}

// link is an edge with the node that it comes from.
type link struct {
	from int
	edge
}

func newPoints() *points { return &points{joined: map[link]bool{}} }

func (p *points) newNode() int {
	p.nodes = append(p.nodes, node{})
	return len(p.nodes) - 1
}

// newObject returns a new object.
func (p *points) newObject(of any, large bool) int {
	p.objects = append(p.objects, object{of: of, large: large, cell: map[span]int{}})
	return len(p.objects) - 1
}

func (p *points) wake(n int) {
	if !p.nodes[n].queued {
		p.nodes[n].queued = true
		p.queue = append(p.queue, n)
	}
}

// add has a node lead to a place.
func (p *points) add(n int, t target) {
	d := &p.nodes[n]
	whole := target{t.object, anyOffset}
	if d.known[t] || d.known[whole] {
		return
	}
	if d.known == nil {
		d.known, d.offsets = map[target]bool{}, map[int]int{}
	}
	if t.offset != anyOffset {
		if d.offsets[t.object]++; d.offsets[t.object] > mostOffsets {
			t = whole
		}
	}
	d.known[t] = true
	d.targets = append(d.targets, t)
	p.wake(n)
}

// moved returns a place with an offset.
func (t target) moved(shift offset) target { return target{t.object, t.plus(shift)} }

// flow has the values of a node flow to another one, with an offset.
func (p *points) flow(from, to int, shift offset) {
	key := link{from, edge{to, shift}}
	if from == to && shift == (offset{}) || p.joined[key] {
		return
	}
	p.joined[key] = true
	p.nodes[from].edges = append(p.nodes[from].edges, edge{to, shift})
	for _, t := range p.nodes[from].targets[:p.nodes[from].done] {
		p.add(to, t.moved(shift))
	}
}

// load has the values of some bytes, from an offset of the memory to which a node leads, flow to another one.
func (p *points) load(from, to int, s span) {
	p.nodes[from].loads = append(p.nodes[from].loads, cell{s, to})
	for _, t := range p.nodes[from].targets[:p.nodes[from].done] {
		p.read(t, cell{s, to})
	}
}

// store has the values of a node flow to such bytes.
func (p *points) store(from, to int, s span) {
	p.nodes[to].stores = append(p.nodes[to].stores, cell{s, from})
	for _, t := range p.nodes[to].targets[:p.nodes[to].done] {
		p.write(t, cell{s, from})
	}
}

// spanAt returns the span of an object that has an offset from a place.
func (t target) spanAt(s span) span { return span{t.plus(s.offset), s.bytes} }

func (p *points) read(t target, c cell) {
	o := &p.objects[t.object]
	at := cell{t.spanAt(c.span), c.node}
	if slices.Contains(o.reads, at) {
		return
	}
	o.reads = append(o.reads, at)
	for _, w := range o.cells {
		if w.overlaps(at.span) {
			p.flow(w.node, c.node, offset{})
		}
	}
}

func (p *points) write(t target, c cell) {
	p.flow(c.node, p.cellAt(t.object, t.spanAt(c.span)), offset{})
}

// cellAt returns the node of the values in a span of an object.
func (p *points) cellAt(n int, at span) int {
	o := &p.objects[n]
	to, known := o.cell[at]
	if !known {
		to = p.newNode()
		o.cell[at] = to
		o.cells = append(o.cells, cell{at, to})
		for _, r := range o.reads {
			if r.overlaps(at) {
				p.flow(to, r.node, offset{})
			}
		}
	}
	return to
}

// solve lets values flow until each node leads to all places that follow.
func (p *points) solve() {
	for len(p.queue) > 0 {
		n := p.queue[len(p.queue)-1]
		p.queue = p.queue[:len(p.queue)-1]
		from := p.nodes[n].done
		p.nodes[n].done, p.nodes[n].queued = len(p.nodes[n].targets), false
		for _, t := range p.nodes[n].targets[from:p.nodes[n].done] {
			for _, e := range p.nodes[n].edges {
				p.add(e.to, t.moved(e.shift))
			}
			for at := 0; at < len(p.nodes[n].loads); at++ {
				p.read(t, p.nodes[n].loads[at])
			}
			for at := 0; at < len(p.nodes[n].stores); at++ {
				p.write(t, p.nodes[n].stores[at])
			}
		}
	}
}

// of returns the places to which a node leads, in order, without those that others include.
func (p *points) of(n int) (all []target) {
	d := &p.nodes[n]
	for _, t := range d.targets {
		if t.offset == anyOffset || !d.known[target{t.object, anyOffset}] {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b target) int {
		return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step), cmp.Compare(a.most, b.most))
	})
	return all
}

// inside returns the places to which the values lead that are in some bytes from where a node leads.
func (p *points) inside(n int, s span) (all []target) {
	for _, t := range p.of(n) {
		for _, c := range p.objects[t.object].cells {
			if c.overlaps(t.spanAt(s)) {
				all = append(all, p.of(c.node)...)
			}
		}
	}
	return all
}
