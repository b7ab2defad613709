package network

import (
	"gigarank/vtime"
)

// torusWrites says what collectives cost whose ranks write into each other's memory along the links of the job's torus or mesh, by all
// interfaces of a node at once. Adachi et al., "The design of ultra scalable MPI collective communication on the K computer", Computer
// Science – Research and Development 28, 2013, have such algorithms: several trees or rings without a common link, in segments.
type torusWrites struct {
	begin vtime.Duration // from the agreement of all ranks to the first write, up or down
	hop   vtime.Duration // from a write to the next node to the write behind it
	take  vtime.Duration // of the processor, for each segment that comes in
}

const torusWritesField = "torus_writes"

func parseTorusWrites(o *object) (w torusWrites) {
	inner := o.object(torusWritesField, false, "write torus_writes: {begin: 6us, hop: 1.8us, take: 0.3us}")
	if inner == nil {
		return w
	}
	w = torusWrites{inner.duration("begin", true, leastBarrier), inner.duration("hop", true, 0), inner.duration("take", true, 0)}
	if w.begin < leastBarrier {
		inner.fault("begin", "is less than "+leastBarrier.String(), "write a time of at least "+leastBarrier.String())
	}
	inner.close("", nil)
	return w
}

func (w torusWrites) write(o *objectWriter) {
	if w == (torusWrites{}) {
		return
	}
	inner := o.writer.object(o.within(torusWritesField))
	inner.text("begin", w.begin.String())
	inner.text("hop", w.hop.String())
	inner.text("take", w.take.String())
	o.put(torusWritesField, inner.node)
}

// checkTorusWrites reports a machine that has no links for such writes.
func (m *Machine) checkTorusWrites(top *object) {
	if m.torusWrites == (torusWrites{}) {
		return
	}
	const field = "network." + torusWritesField
	if _, isGrid := m.topology.(*gridSpec); !isGrid {
		top.fault(field, "are those along the links of a torus or mesh", "write topology: {kind: torus, dimensions: 3}, or remove it")
	}
	if m.interfaces.bandwidth == 0 {
		top.fault(field, "take the bandwidth of the interfaces of a node, which is not given", "write node: {interfaces: 6, bandwidth: 6.35GB/s}, or remove it")
	}
}

// WritesAlongTorus reports whether ranks of the machine may carry collectives out by writes along the links of a torus.
func (m *Machine) WritesAlongTorus() bool { return m.torusWrites != (torusWrites{}) }

// WritesAlongTorus reports whether a number of ranks can carry collectives out by writes along the links of the torus: if they
// are all ranks, on a node each, and fill the torus.
func (t *Target) WritesAlongTorus(ranks int) bool {
	if !t.machine.WritesAlongTorus() || ranks != t.Ranks() || ranks != t.Nodes() || ranks == 1 || t.paths.places != nil {
		return false
	}
	g, isGrid := t.paths.topology.(grid)
	return isGrid && product(g.dims) == ranks
}

// LeastTorusTime returns a lower bound on the times of collectives by writes along the torus.
func (t *Target) LeastTorusTime() vtime.Duration { return t.machine.torusWrites.begin }

// Trees are the trees by which ranks write vectors along the links of a torus.
type Trees struct {
	Up, Down bool  // vectors are summed up on the way to the root; the root's vector goes to all
	Count    int   // trees side by side, each on links of its own
	Segment  int64 // bytes that are written at a time; 0 for the whole part of a tree
}

// TreesTime returns the time from the last entry to the last exit. All ranks agree first. The first segments then go along all dimensions in turn,
// to the end of each; the others follow, one of each tree at a time. A processor takes the segments of all trees, and in the mean sums one up
// for each tree, since a tree has a link less than ranks.
func (t *Target) TreesTime(trees Trees, bytes int64) vtime.Duration {
	w, count := &t.machine.torusWrites, int64(max(trees.Count, 1))
	part := (bytes + count - 1) / count
	segment := part
	if trees.Segment > 0 {
		segment = min(segment, trees.Segment)
	}
	beats := int64(1)
	if segment > 0 {
		beats = max((part+segment-1)/segment, 1)
	}
	hops, children := t.farCorner()
	link := rateOf(t.machine.interfaces.bandwidth).time(segment)
	first, beat := vtime.Duration(0), link
	if trees.Up {
		first = first.Plus(w.hop.Plus(link).Plus(w.take.Times(children)).Plus(t.ReduceTime(segment)))
		beat = beat.Plus(w.take.Plus(t.ReduceTime(segment)).Times(int(count)))
	}
	if trees.Down {
		first = first.Plus(w.hop.Plus(link))
		beat = beat.Plus(w.take.Times(int(count)))
	}
	return t.agreement(trees).Plus(first.Times(hops)).Plus(beat.Times(int(beats - 1)))
}

// agreement returns the time until the first write.
func (t *Target) agreement(trees Trees) vtime.Duration {
	d := t.ringsBegin()
	if trees.Up && trees.Down {
		d = d.Plus(t.machine.torusWrites.begin)
	}
	return d
}

// ringsBegin returns the time until the first write of one direction: all ranks agree, by the network if it sums vectors.
func (t *Target) ringsBegin() vtime.Duration {
	d := t.machine.torusWrites.begin
	if t.Offloads(agreed) {
		d = d.Plus(t.OffloadTime(t.Span(), agreed))
	}
	return d
}

// agreed is the bytes of the vector by which ranks agree.
const agreed = 4

// RingsTime returns the time from the last entry to the last exit where the blocks of all ranks, of some bytes each, go round the torus in all
// dimensions and directions at once. A rank takes each block in and hands it on.
func (t *Target) RingsTime(bytes int64) vtime.Duration {
	w := &t.machine.torusWrites
	_, dimensions := t.farCorner()
	links, g := 0, t.paths.topology.(grid)
	for _, n := range g.dims {
		links += min(n-1, 2)
	}
	block := w.take.Times(2).Plus(rateOf(t.machine.interfaces.bandwidth).time((bytes + int64(links) - 1) / int64(links)))
	return t.ringsBegin().Plus(w.hop.Times(dimensions)).Plus(block.Times(t.Ranks() - 1))
}

// DirectTime returns the time from the last entry to the last exit where all ranks write a block of some bytes to one of them. On the last hop the
// blocks of all nodes but those of the same place in the longest dimension come over the two links of that dimension.
func (t *Target) DirectTime(bytes int64) vtime.Duration {
	hops, _ := t.farCorner()
	busiest := 0
	for _, n := range t.paths.topology.(grid).dims {
		busiest = max(busiest, t.Ranks()/n*(n/2))
	}
	return t.ringsBegin().Plus(t.machine.torusWrites.hop.Times(hops)).Plus(rateOf(t.machine.interfaces.bandwidth).time(bytes).Times(busiest))
}

// SpreadTime returns the time from the last entry to the last exit where each rank writes a block of some bytes to each other rank, to those d nodes further
// on and back in turn, for each way d through the torus. An interface has the blocks of a rank one after the other. The messages of both directions
// pass links of their own, each as many as it is links long; half way round a ring half of them go each way.
func (t *Target) SpreadTime(bytes int64) vtime.Duration {
	w := &t.machine.torusWrites
	hops, _ := t.farCorner()
	link := rateOf(t.machine.interfaces.bandwidth).time(bytes)
	dims, both := t.paths.topology.(grid).dims, 2
	if !t.paths.topology.(grid).wrap {
		both = 1 // what leaves a mesh at its end comes back from the other one
	}
	if t.paths.linkLoad != nil {
		dims = t.paths.linkLoad.dims
	}
	blocks, nearer := vtime.Duration(0), 1
	for far := 1; nearer < t.Ranks(); far++ {
		ways := 1 // of at most far links in each dimension
		for _, n := range dims {
			ways *= min(n, 2*far+1)
		}
		blocks = blocks.Plus(max(w.take, link, link.Times(far)/vtime.Duration(both)).Times(ways - nearer))
		nearer = ways
	}
	return t.ringsBegin().Plus(w.hop.Times(hops)).Plus(blocks)
}

// farCorner returns the hops from a corner of the torus to the other end of each dimension, and the number of dimensions.
func (t *Target) farCorner() (hops, dimensions int) {
	for _, n := range t.paths.topology.(grid).dims {
		hops += n - 1
		dimensions += min(n-1, 1)
	}
	return hops, dimensions
}
