package collectives

import "math/bits"

// A rootedTree is a tree among members that are numbered from its root on. The children of a node
// have an order.
type rootedTree interface{ node(v int) node }

// node is the place of a member in a tree.
type node struct {
	parent   int
	children int
	first    int // the first child
	stride   int // between children; one less from child long on
	long     int
	// turn is the round in which segment 0 passes between the node and its parent, -1 for the root.
	// Outwards, the child with place c has the turn c + 1 after its parent's. Inwards the rounds are
	// those of the opposite direction in reverse, so it has the turn that as many places come
	// behind c.
	turn int
}

// child returns the child with a place, which exists.
func (n *node) child(place int) int {
	return n.first + place*n.stride - max(place-n.long, 0)
}

// pipelined sends a vector in segments down a tree, or combines the segments up the tree. A node
// sends a segment to its children in their order, and then receives the next segment. Inwards it
// receives a segment from each child in their order, and then sends it to its parent. A message to
// a last child goes in the same round as the next segment that the node receives.
type pipelined struct {
	rootedTree
	members, root int
	segments      int
	period        int  // rounds between two segments: the greatest number of children
	last          int  // latest turn
	inward        bool // the segments are combined on their way to the root
	reversed      bool // the root is the last member, and numbers go down; else they go up from the root
	theirsFirst   bool // inwards, a child has the ranks below those of its parent
	halves        bool // even nodes have the second half of the segments, other nodes the first half
}

func (p *pipelined) number(member int) int {
	if p.reversed {
		return p.members - 1 - member
	}
	return wrap(member-p.root, p.members)
}

func (p *pipelined) member(v int) int {
	if p.reversed {
		return p.members - 1 - v
	}
	return wrap(v+p.root, p.members)
}

// split divides rounds into whole periods and the rest.
func (p *pipelined) split(rounds int) (periods, rest int) {
	if p.period == 1 {
		return rounds, 0
	}
	return rounds / p.period, rounds % p.period
}

func (p *pipelined) MaxRounds() int {
	if p.members == 1 {
		return 0
	}
	return p.last + 1 + (p.segments-1)*p.period
}

func (p *pipelined) Rounds(member int) int {
	n := p.node(p.number(member))
	switch {
	case p.members == 1:
		return 0
	case p.inward:
		return p.MaxRounds() - max(n.turn, 0)
	}
	return n.turn + n.children + (p.segments-1)*p.period + 1
}

func (p *pipelined) Next(member, round int) int {
	n := p.node(p.number(member))
	end := n.children + (p.segments-1)*p.period // the last work, in rounds after the turn
	if !p.inward {
		after := max(round-n.turn, 0)
		if n.turn < 0 {
			after = max(after, 1)
		}
		if s, place := p.split(after); after < end && place > n.children {
			after = (s + 1) * p.period
		}
		return max(round, n.turn+after)
	}
	most := p.MaxRounds() - 1
	after := min(most-round-n.turn, end)
	if s, place := p.split(after); place > n.children {
		after = s*p.period + n.children
	}
	return max(round, most-n.turn-after)
}

func (p *pipelined) Step(member, round int) (step Step) {
	p.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (p *pipelined) StepInto(step *Step, member, round int) {
	*step = idle
	if p.inward {
		round = p.MaxRounds() - 1 - round
	}
	v := p.number(member)
	n := p.node(v)
	after := round - n.turn
	if after < 0 {
		return
	}
	s, place := p.split(after)
	if place == 0 && v != 0 && s < p.segments { // with the parent
		blocks := p.blocks(s, v)
		if p.inward {
			step.To, step.Send = p.member(n.parent), blocks
		} else {
			step.From, step.Receive = p.member(n.parent), blocks
		}
	}
	if place--; place < 0 {
		s, place = s-1, p.period-1
	}
	if place >= n.children || s < 0 || s >= p.segments {
		return
	}
	if p.inward {
		child := n.child(n.children - 1 - place)
		step.From, step.Receive, step.Combine = p.member(child), p.blocks(s, child), MineFirst
		if p.theirsFirst {
			step.Combine = TheirsFirst
		}
		return
	}
	child := n.child(place)
	step.To, step.Send = p.member(child), p.blocks(s, child)
}

// blocks returns the position of segment s on its way to or from a node. Inwards the segments of the
// rounds in reverse are in reverse, too.
func (p *pipelined) blocks(s, v int) Blocks {
	switch {
	case p.inward:
		s = p.segments - 1 - s
	case p.halves && v&1 == 0:
		s += p.segments
	}
	return Blocks{First: s, Count: 1}
}

func (p *pipelined) Pattern(int) Pattern { return Pattern{Kind: Irregular} }

// chains is a root with a number of chains, of equal length or of two lengths that differ by one,
// the longer chains first. The nodes of a chain have consecutive numbers.
type chains struct {
	count, long int // chains, and those of the greater length
	length      int // the greater length
	inward      bool
}

// chainsOf returns the chains of a number of members, and their latest turn.
func chainsOf(members, fanout int, inward bool) (c chains, last int) {
	others := members - 1
	c.inward = inward
	if others == 0 {
		return c, 0
	}
	c.count = min(fanout, others)
	c.length = (others + c.count - 1) / c.count
	c.long = others - c.count*(c.length-1)
	last = c.count + c.length - 2
	if !inward && c.long < c.count {
		last--
	}
	return c, last
}

func (c *chains) head(column int) int {
	return 1 + column*c.length - max(column-c.long, 0)
}

func (c *chains) node(v int) node {
	switch {
	case v == 0:
		return node{parent: None, children: c.count, first: 1, stride: c.length, long: c.long, turn: -1}
	case c.count == 1:
		return node{parent: v - 1, children: min(c.length-v, 1), first: v + 1, turn: v - 1}
	}
	column, length := (v-1)/c.length, c.length
	if column >= c.long {
		length--
		column = c.long + (v-1-c.long*c.length)/length
	}
	place := v - c.head(column)
	n := node{parent: v - 1, children: 1, first: v + 1, turn: column + place}
	if place == 0 {
		n.parent = 0
	}
	if place == length-1 {
		n.children = 0
	}
	if c.inward {
		n.turn = c.count - 1 - column + place
	}
	return n
}

// binary is the balanced binary tree of Open MPI (coll_base_topo.c), level by level. The children
// of a node on level l are 2^l and 2·2^l further on, so that one subtree of the root has the odd
// numbers and the other subtree the even numbers.
type binary struct {
	members, levels int // levels below the root
	lowest          int // nodes on the lowest level
	inward          bool
}

// binaryOf returns the binary tree of a number of members, and its latest turn.
func binaryOf(members int, inward bool) (b binary, last int) {
	levels := logFloor(members)
	b = binary{members: members, levels: levels, lowest: members - (1<<levels - 1), inward: inward}
	switch {
	case levels == 0:
		return b, 0
	case !inward:
		return b, max(2*levels-3, levels+logFloor(b.lowest)-1)
	case b.lowest > 1<<(levels-1):
		return b, 2*levels - 1
	}
	return b, 2*levels - 2
}

func (b *binary) node(v int) node {
	level := logFloor(v + 1)
	place := v + 1 - 1<<level // on its level
	n := node{parent: None, first: v + 1<<level, stride: 1 << level, long: 2, turn: -1}
	if v+1<<level < b.members {
		n.children++
	}
	if v+2<<level < b.members {
		n.children++
	}
	if level == 0 {
		return n
	}
	above := 1 << (level - 1) // nodes on the parent's level
	n.parent = above - 1 + place&(above-1)
	second := bits.OnesCount(uint(place)) // ancestors, and the node, that are second children
	n.turn = level + second - 1
	if b.inward {
		n.turn = 2*level - second - 1
		if level == b.levels && place < above && place+above >= b.lowest { // an only child
			n.turn--
		}
	}
	return n
}

// inOrder is the binary tree of Open MPI for operations that do not commute (coll_base_topo.c). A
// node has the numbers behind it; the first half of them, rounded down, is the subtree of its first
// child, and the others that of its second child.
type inOrder struct{ members int }

func (t *inOrder) node(v int) node {
	n, first, size := node{parent: None, first: v + 1, long: 2, turn: -1}, 0, t.members
	for {
		left, right := t.split(size)
		n.children = min(left, 1) + min(right, 1)
		if first == v {
			n.stride = left
			return n
		}
		n.parent = first
		n.turn += n.children
		first, size = first+1, left
		if v >= first+left {
			n.turn--
			first, size = first+left, right
		}
	}
}

// split returns the sizes of the subtrees of the children of a node, itself among the nodes.
func (*inOrder) split(size int) (left, right int) {
	if size == 2 {
		return 1, 0
	}
	return size - 1 - size/2, size / 2
}

// last returns the latest turn.
func (t *inOrder) last() int {
	turn, _ := t.depths(t.members)
	return max(turn-1, 0)
}

// depths returns the greatest turn, counted from the root's, among a number of members, and among
// one less. The subtrees of both have two sizes in all.
func (t *inOrder) depths(members int) (depth, less int) {
	switch members {
	case 1:
		return 0, 0
	case 2:
		return 1, 0
	}
	half, below := t.depths(members / 2)
	if members%2 == 0 {
		return max(2+below, 1+half), t.join(members-1, below, below)
	}
	return 2 + half, t.join(members-1, below, half)
}

// join returns the depth of a node with some members, from those of the subtrees.
func (*inOrder) join(members, left, right int) int {
	if members <= 2 {
		return members - 1
	}
	return max(2+left, 1+right)
}

// swap is the last round of split-binary: nodes with numbers 2i − 1 and 2i exchange the halves that
// they have. A node without such a partner, the last one, gets its second half from the root.
type swap struct {
	members, root int
	half          int // positions of a half
}

// partner returns the node with which v exchanges, or None for a root that does not take part.
func (s *swap) partner(v int) int {
	switch {
	case v == 0 && s.members%2 == 0:
		return s.members - 1
	case v == 0:
		return None
	case v&1 == 0:
		return v - 1
	}
	return wrap(v+1, s.members)
}

func (s *swap) MaxRounds() int { return min(s.members-1, 1) }

func (s *swap) Rounds(member int) int {
	if member == s.root && s.members%2 == 1 {
		return 0
	}
	return s.MaxRounds()
}

func (s *swap) Next(_, round int) int { return round }

func (s *swap) Step(member, round int) Step {
	v := wrap(member-s.root, s.members)
	partner := s.partner(v)
	if round > 0 || partner == None {
		return idle
	}
	step := Step{To: wrap(partner+s.root, s.members)}
	step.From = step.To
	step.Send, step.Receive = Blocks{First: 0, Count: s.half}, Blocks{First: s.half, Count: s.half}
	switch {
	case v == 0:
		step.From, step.Send, step.Receive = None, step.Receive, Blocks{}
	case partner == 0:
		step.To, step.Send = None, Blocks{}
	case v&1 == 0:
		step.Send, step.Receive = step.Receive, step.Send
	}
	return step
}

func (s *swap) Pattern(int) Pattern { return Pattern{Kind: Irregular} }
