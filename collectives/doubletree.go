package collectives

import "math/bits"

// Algorithms of NCCL, whose channels carry parts of a vector over rings and trees of their own, side by side. The channels of a
// node leave it by different interfaces. All channels are alike, so here one ring or a pair of trees carries the whole vector,
// and a machine whose interfaces are striped has each message leave by all interfaces of its node: it takes as long as
// its parts. Sources: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// 2009; NCCL's src/graph/trees.cc, src/graph/connect.cc and src/enqueue.cc.

// halvingTree is the binary tree of an allreduce among one member of each node: an in-order tree, in which odd nodes are leaves.
// The second tree of a pair is its mirror image, or, among an odd number, the tree shifted by one: inner nodes of one tree are
// leaves of the other.
type halvingTree struct {
	members int
	levels  int // below the root, which is number 0 and has one child
	second  bool
}

func halvingTreeOf(members int, second bool) halvingTree {
	return halvingTree{members, logCeil(members), second}
}

// number returns the number of a member in the tree.
func (t *halvingTree) number(member int) int {
	switch {
	case !t.second:
		return member
	case t.members%2 == 0:
		return t.members - 1 - member
	}
	return wrap(member-1, t.members)
}

// member returns the member with a number.
func (t *halvingTree) member(v int) int {
	switch {
	case !t.second:
		return v
	case t.members%2 == 0:
		return t.members - 1 - v
	}
	return wrap(v+1, t.members)
}

// height returns the height of a number above the leaves.
func (t *halvingTree) height(v int) int {
	if v == 0 {
		return t.levels
	}
	return bits.TrailingZeros(uint(v))
}

// parent returns the parent of a number, which is not 0, and whether the number is the second child.
func (t *halvingTree) parent(v int) (parent int, isSecond bool) {
	bit := v & -v
	above := v&^bit | bit<<1
	if above >= t.members {
		above = v &^ bit
	}
	return above, above != 0 && v > above
}

// children returns the children of a number, None for a child that does not exist. Number 0 has a first child only.
func (t *halvingTree) children(v int) (first, second int) {
	half := 1 << t.height(v) >> 1
	if half == 0 {
		return None, None
	}
	if v == 0 {
		return half, None
	}
	first = v - half
	for half > 0 && v+half >= t.members {
		half >>= 1
	}
	if half == 0 {
		return first, None
	}
	return first, v + half
}

// depth returns the number of edges from a number to the root.
func (t *halvingTree) depth(v int) (edges int) {
	for v != 0 {
		v, _ = t.parent(v)
		edges++
	}
	return edges
}

// twinTrees takes the segments of a vector in turn through two trees of all members, up to the root and down again. The heads of
// the nodes, one member each, are a halving tree. The other members of a node are a chain behind the head, or all its children.
// Trees have heads of their own, as channels leave a node at different GPUs, where all nodes have two members; where they have four,
// a tree downwards has other heads than upwards, since a GPU receives for both at the same time, and a member here does not.
//
// In a beat a segment of each tree passes each edge up, and another passes it down; a segment is an edge further in the next beat.
// The rounds of a beat are the levels of the edges, both trees upwards and then both downwards, in such an order that a member sends
// before it receives: upwards the edges near the root come first, downwards those far from it. In some rounds all members are
// idle, those of levels that no segment passes in the beat.
type twinTrees struct {
	nodes
	trees    [2]halvingTree
	lanes    int // trees that are used
	segments int
	flat     bool // the members of a node are children of its head, else a chain
	below    int  // edges from a head to the farthest member of its node
	deepest  int  // edges from the farthest member to the root
	heads    int  // heads of a node: 1, 2 or 4
	turn     int  // 1 if the root hands sums to another head, which sends them down; else 0
}

func twinTreesOf(n nodes, segments int, flat bool) twinTrees {
	t := twinTrees{nodes: n, lanes: min(segments, 2), segments: segments, flat: flat}
	for i := range t.trees {
		t.trees[i] = halvingTreeOf(n.count(), i == 1)
	}
	t.below = min(n.perNode, n.members) - 1
	if flat {
		t.below = min(t.below, 1)
	}
	t.deepest = t.below + t.trees[0].levels
	switch least := least(n.perNode, n.members); {
	case least >= 4:
		t.heads, t.turn = 4, 1
	case least >= 2:
		t.heads = 2
	default:
		t.heads = 1
	}
	return t
}

// least returns the least number of members of a node.
func least(perNode, members int) int {
	if rest := members % perNode; rest > 0 {
		return rest
	}
	return perNode
}

// head returns the place of the head of each node in a tree.
func (t *twinTrees) head(lane int, up bool) int {
	if !up && t.turn > 0 {
		lane += 2
	}
	return lane % t.heads
}

// inNode returns the rounds in which edges of nodes pass a segment in one direction; inTree is that of the halving tree.
func (t *twinTrees) inNode() int { return min(t.perNode, t.members) - 1 }
func (t *twinTrees) inTree() int { return 2 * t.trees[0].levels }

// oneWay returns the rounds of a beat in which a tree passes segments in one direction.
func (t *twinTrees) oneWay() int { return t.inTree() + t.inNode() }

// beat returns the rounds of a beat.
func (t *twinTrees) beat() int { return t.lanes * (2*t.oneWay() + t.turn) }

// passing returns the number of segments that pass a tree.
func (t *twinTrees) passing(lane int) int { return (t.segments - lane + t.lanes - 1) / t.lanes }

// edge is an edge of a tree, between a child and its parent.
type edge struct {
	peer  int  // the other member
	child bool // the member is the child
	level int  // round among those upwards
	depth int  // of the child
}

// edgesOf calls visit for each edge of a member in a tree, in one direction.
func (t *twinTrees) edgesOf(member, lane int, up bool, visit func(e edge)) {
	tree := &t.trees[lane]
	node := member / t.perNode
	first := node * t.perNode
	size := min(t.perNode, t.members-first)
	head := t.head(lane, up)
	at := func(place int) int { return first + (head+place)%size } // the member with a place behind the head
	headOf := func(v int) int { return tree.member(v)*t.perNode + head }
	place := wrap(member-first-head, size)
	v := tree.number(node)
	depth := tree.depth(v)
	switch {
	case place > 0 && t.flat:
		visit(edge{at(0), true, t.inTree() + place - 1, depth + 1})
	case place > 0:
		visit(edge{at(place - 1), true, t.inTree() + place - 1, depth + place})
	case v != 0:
		above, isSecond := tree.parent(v)
		visit(edge{headOf(above), true, t.level(tree, above, isSecond), depth})
	}
	if place == 0 {
		left, right := tree.children(v)
		if left != None {
			visit(edge{headOf(left), false, t.level(tree, v, false), depth + 1})
		}
		if right != None {
			visit(edge{headOf(right), false, t.level(tree, v, true), depth + 1})
		}
	}
	switch {
	case place == 0 && t.flat:
		for k := 1; k < size; k++ {
			visit(edge{at(k), false, t.inTree() + k - 1, depth + 1})
		}
	case place < size-1 && !t.flat:
		visit(edge{at(place + 1), false, t.inTree() + place, depth + place + 1})
	}
}

// level returns the round among those upwards of the edge from a parent in the halving tree to its first or second child.
func (t *twinTrees) level(tree *halvingTree, parent int, isSecond bool) int {
	level := 2 * (tree.levels - tree.height(parent))
	if isSecond {
		level++
	}
	return level
}

// pass is the passing of an edge by the segments of a tree in one direction.
type pass struct {
	edge
	lane   int
	up     bool
	offset int // round within a beat
	first  int // beat of the first segment
}

// passesOf calls visit for each passing of an edge of a member.
func (t *twinTrees) passesOf(member int, visit func(p pass)) {
	for lane := range t.lanes {
		t.edgesOf(member, lane, true, func(e edge) {
			visit(pass{e, lane, true, lane*t.oneWay() + e.level, t.deepest - e.depth})
		})
		t.edgesOf(member, lane, false, func(e edge) {
			visit(pass{e, lane, false, (t.lanes+lane+1)*t.oneWay() - 1 - e.level, t.deepest + t.turn + e.depth - 1})
		})
		if t.turn > 0 {
			t.turnOf(member, lane, visit)
		}
	}
}

// turnOf calls visit for the passing of sums at the root, if the member takes part: they go down from the head upwards to the head
// downwards.
func (t *twinTrees) turnOf(member, lane int, visit func(p pass)) {
	first := t.trees[lane].member(0) * t.perNode
	from, to := first+t.head(lane, true), first+t.head(lane, false)
	p := pass{edge{peer: to}, lane, false, 2*t.lanes*t.oneWay() + lane, t.deepest}
	switch member {
	case from:
		visit(p)
	case to:
		p.peer, p.child = from, true
		visit(p)
	}
}

// MaxRounds counts the rounds of the last beat to its end, though not all have messages.
func (t *twinTrees) MaxRounds() int {
	if t.members == 1 {
		return 0
	}
	return (t.passing(0) + 2*t.deepest + t.turn - 1) * t.beat()
}

func (t *twinTrees) Rounds(member int) int {
	rounds := 0
	t.passesOf(member, func(p pass) {
		rounds = max(rounds, (p.first+t.passing(p.lane)-1)*t.beat()+p.offset+1)
	})
	return rounds
}

func (t *twinTrees) Next(member, round int) int {
	all := t.MaxRounds()
	next := max(all, round)
	if round >= all {
		return next
	}
	beat, within := round/t.beat(), round%t.beat()
	t.passesOf(member, func(p pass) {
		when := max(beat, p.first)
		if when == beat && p.offset < within {
			when++
		}
		if when < p.first+t.passing(p.lane) {
			next = min(next, when*t.beat()+p.offset)
		}
	})
	return next
}

func (t *twinTrees) Step(member, round int) (step Step) {
	t.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (t *twinTrees) StepInto(step *Step, member, round int) {
	*step = idle
	if round >= t.MaxRounds() {
		return
	}
	beat, within := round/t.beat(), round%t.beat()
	t.passesOf(member, func(p pass) {
		segment := beat - p.first
		if p.offset != within || segment < 0 || segment >= t.passing(p.lane) {
			return
		}
		block := Blocks{First: segment*t.lanes + p.lane, Count: 1}
		if p.child == p.up {
			step.To, step.Send = p.peer, block
			return
		}
		step.From, step.Receive = p.peer, block
		if p.up {
			step.Combine, step.Switched = MineFirst, t.flat && p.level >= t.inTree()
		}
	})
}

func (t *twinTrees) Pattern(int) Pattern { return Pattern{Kind: Irregular} }

// doubleTree and nvlsTree are the pairs of trees whose nodes are chains, and whose nodes have a switch that sums vectors and sends
// copies: one message from each member to the head or back, all at the same time.
func doubleTree(s Shape) Schedule { return twinTreesFor(s, false) }
func nvlsTree(s Shape) Schedule   { return twinTreesFor(s, true) }

func twinTreesFor(s Shape, flat bool) Schedule {
	return &twinTreesSchedule{twinTreesOf(nodes{s.Members, s.PerNode}, s.Segments, flat), placeSegments(s)}
}

// segmentOfTree returns the segment of a vector for which none is given: short vectors go in one for each tree, long ones in so
// many that all edges are at work. n segments of two trees take (n/2 + d) · (t + 4B/(nb)), with d edges to the root and back, a latency t,
// and interfaces of b bytes a second that each segment of a tree passes four times; the least time is at n² = 8dB/(bt). That is B/n² = 36 KB
// with 18 edges, 14 us and 376 GB/s, as on 248 nodes of dgx-h200.
func segmentOfTree(s Size) int64 {
	const (
		inOne  = 64 << 10 // bytes of a vector that one tree takes
		square = 32 << 10 // bytes over the square of the number of segments
		most   = 128
	)
	pieces := int64(2)
	for pieces < most && s.Bytes/(pieces*pieces) > square {
		pieces *= 2
	}
	if s.Bytes <= inOne {
		pieces = 1
	}
	return (s.Bytes + pieces - 1) / pieces
}

// planeRing is an allreduce over rings in two dimensions: the members of a node reduce chunks round a ring, those with one place in
// their nodes sum their chunk up round rings of the nodes, and rings within the nodes hand the sums on. Each member sends to other
// nodes, so that all interfaces are at work.
type planeRing struct{ nodes }

func (r *planeRing) MaxRounds() int        { return 2 * (r.perNode - 1 + r.count() - 1) }
func (r *planeRing) Rounds(int) int        { return r.MaxRounds() }
func (r *planeRing) Next(_, round int) int { return round }

func (r *planeRing) Step(member, round int) Step {
	p, n := r.perNode, r.count()
	place, node := member%p, member/p
	switch {
	case round < p-1:
		return r.inNode(member, wrap(place-round, p), TheirsFirst)
	case round < p-1+2*(n-1):
		k := round - (p - 1)
		chunk := node - k // above −2·n
		for chunk < 0 {
			chunk += n
		}
		own := wrap(place+1, p) * n
		step := Step{To: wrap(node+1, n)*p + place, From: wrap(node-1, n)*p + place}
		step.Send, step.Receive = Blocks{First: own + chunk, Count: 1}, Blocks{First: own + wrap(chunk-1, n), Count: 1}
		if k < n-1 {
			step.Combine = TheirsFirst
		}
		return step
	case round < r.MaxRounds():
		k := round - (p - 1) - 2*(n-1)
		return r.inNode(member, wrap(place+1-k, p), Store)
	}
	return idle
}

// inNode returns the step in which a member sends a chunk of its node to the next member and receives the chunk before it.
func (r *planeRing) inNode(member, chunk int, how Combine) Step {
	p, n := r.perNode, r.count()
	place, first := member%p, member-member%p
	return Step{
		To: first + wrap(place+1, p), From: first + wrap(place-1, p), Combine: how,
		Send: Blocks{First: chunk * n, Count: n}, Receive: Blocks{First: wrap(chunk-1, p) * n, Count: n},
	}
}

func (r *planeRing) Pattern(round int) Pattern {
	p, n := r.perNode, r.count()
	if k := round - (p - 1); k >= 0 && k < 2*(n-1) {
		pattern := Pattern{Kind: Shift, Distance: p, Sent: 1}
		if k < n-1 {
			pattern.Combined = 1
		}
		return pattern
	}
	return Pattern{Kind: Irregular}
}

// ringOfRings is a ring of all members where nodes have one member, or differ in their number, or there is one node.
func ringOfRings(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	if n.alone() || !n.even() {
		return ringAllreduce(s)
	}
	return &planeRingSchedule{planeRing{n}, place(s, s.Members)}
}
