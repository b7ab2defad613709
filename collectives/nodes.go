package collectives

// nodes places members on nodes: member m lies on node m / perNode. The last node may have fewer members.
type nodes struct{ members, perNode int }

// count returns the number of nodes.
func (n nodes) count() int { return (n.members + n.perNode - 1) / n.perNode }

// even reports whether all nodes have as many members.
func (n nodes) even() bool { return n.members%n.perNode == 0 }

// nodeSet is a set of nodes, by their part in a tree of the nodes.
type nodeSet struct {
	of   part
	root int
	tree plan // towards the root, for leaves and innerNodes
}

// part is the part of a node.
type part uint8

const (
	allNodes   part = iota
	rootNode        // the root
	otherNodes      // all but the root
	leaves          // nodes that send in the tree before they receive
	innerNodes      // all but the leaves
)

func (s nodeSet) has(node int) bool {
	switch s.of {
	case rootNode:
		return node == s.root
	case otherNodes:
		return node != s.root
	case leaves:
		return s.leaf(node)
	case innerNodes:
		return !s.leaf(node)
	}
	return true
}

func (s nodeSet) leaf(node int) bool {
	return node != s.root && s.tree.Step(node, s.tree.Next(node, 0)).To != None
}

// within is the same plan within each node of a set: member i of the plan is the member i places after the first of its
// node.
type within struct {
	nodes
	set    nodeSet
	plans  [2]plan // of nodes with perNode members, and of a last node with fewer
	steps  [2]Stepper
	rounds int
}

// inNodes returns the plan for each node. of returns the plan of a number of members.
func inNodes(n nodes, set nodeSet, of func(members int) plan) *within {
	w := &within{nodes: n, set: set, plans: [2]plan{of(n.perNode), of(max(n.members%n.perNode, 1))}}
	for i, p := range w.plans {
		w.steps[i] = stepperOf(p)
	}
	// Every set that is not empty has one of these nodes, and a node with perNode members among them if it has any.
	for _, node := range []int{0, 1, 2, 3, set.root, n.count() - 1} {
		if node < n.count() && set.has(node) {
			which, _ := w.of(node * n.perNode)
			w.rounds = max(w.rounds, w.plans[which].MaxRounds())
		}
	}
	return w
}

// of returns which plan a member's node has, and the first member of the node.
func (w *within) of(member int) (which, first int) {
	node := member / w.perNode
	if (node+1)*w.perNode > w.members {
		which = 1
	}
	return which, node * w.perNode
}

func (w *within) MaxRounds() int { return w.rounds }

func (w *within) Rounds(member int) int {
	which, first := w.of(member)
	if !w.set.has(first / w.perNode) {
		return 0
	}
	return w.plans[which].Rounds(member - first)
}

func (w *within) Next(member, round int) int {
	which, first := w.of(member)
	return w.plans[which].Next(member-first, round)
}

func (w *within) Step(member, round int) Step {
	which, first := w.of(member)
	if round >= w.plans[which].MaxRounds() || !w.set.has(first/w.perNode) {
		return idle
	}
	step := w.plans[which].Step(member-first, round)
	step.move(1, first)
	return step
}

// StepInto implements [Stepper].
func (w *within) StepInto(step *Step, member, round int) {
	which, first := w.of(member)
	if round >= w.plans[which].MaxRounds() || !w.set.has(first/w.perNode) {
		*step = idle
		return
	}
	w.steps[which].StepInto(step, member-first, round)
	step.move(1, first)
}

func (w *within) Pattern(round int) Pattern {
	if w.count() == 1 {
		which, _ := w.of(0)
		return w.plans[which].Pattern(round)
	}
	return Pattern{Kind: Irregular}
}

// move gives the peers of a step other numbers: i becomes i·stride + first.
func (s *Step) move(stride, first int) {
	if s.To != None {
		s.To = s.To*stride + first
	}
	if s.From != None {
		s.From = s.From*stride + first
	}
}

// among is a plan among one member of each node: member i of the plan lies on node i, some places after the first of the
// node.
type among struct {
	nodes
	place int
	inner plan
	steps Stepper
}

func amongNodes(n nodes, place int, inner plan) *among {
	return &among{n, place, inner, stepperOf(inner)}
}

func (a *among) takesPart(member int) bool { return member%a.perNode == a.place }

func (a *among) MaxRounds() int { return a.inner.MaxRounds() }

func (a *among) Rounds(member int) int {
	if !a.takesPart(member) {
		return 0
	}
	return a.inner.Rounds(member / a.perNode)
}

func (a *among) Next(member, round int) int {
	if !a.takesPart(member) {
		return round
	}
	return a.inner.Next(member/a.perNode, round)
}

func (a *among) Step(member, round int) Step {
	if !a.takesPart(member) {
		return idle
	}
	step := a.inner.Step(member/a.perNode, round)
	step.move(a.perNode, a.place)
	return step
}

// StepInto implements [Stepper].
func (a *among) StepInto(step *Step, member, round int) {
	if !a.takesPart(member) {
		*step = idle
		return
	}
	a.steps.StepInto(step, member/a.perNode, round)
	step.move(a.perNode, a.place)
}

func (a *among) Pattern(round int) Pattern {
	if a.perNode == 1 {
		return a.inner.Pattern(round)
	}
	return Pattern{Kind: Irregular}
}
