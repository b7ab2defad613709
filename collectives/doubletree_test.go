package collectives

import "testing"

// The trees of the pictures in NCCL's src/graph/trees.cc: parents of 14 nodes, of 12 nodes and their mirror image, of 13 and their
// shift by one. Number 0 of the first tree has the child 8.
func TestHalvingTreesAreThoseOfNCCL(t *testing.T) {
	for _, c := range []struct {
		second  bool
		parents []int // by member; None for the root
	}{
		{false, []int{None, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12}},
		{false, []int{None, 2, 4, 2, 8, 6, 4, 6, 0, 10, 8, 10}},
		{true, []int{1, 3, 1, 11, 5, 7, 5, 3, 9, 7, 9, None}},
		{true, []int{9, None, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11}},
	} {
		tree := halvingTreeOf(len(c.parents), c.second)
		for m, want := range c.parents {
			v, got := tree.number(m), None
			if v != 0 {
				above, _ := tree.parent(v)
				got = tree.member(above)
			}
			if got != want {
				t.Errorf("%d nodes, second tree %v: parent of %d is %d, want %d", len(c.parents), c.second, m, got, want)
			}
		}
	}
}

// Parents and children agree, the depth is at most the levels, and inner nodes of one tree, but for a root's only child, are leaves of
// the other.
func TestTwinTreesShareTheWork(t *testing.T) {
	for n := 2; n <= 300; n++ {
		first, second := halvingTreeOf(n, false), halvingTreeOf(n, true)
		for m := range n {
			inner := 0
			for _, tree := range []*halvingTree{&first, &second} {
				v := tree.number(m)
				if tree.member(v) != m || tree.depth(v) > tree.levels {
					t.Fatalf("%d nodes: %d has number %d, depth %d", n, m, v, tree.depth(v))
				}
				a, b := tree.children(v)
				for i, child := range []int{a, b} {
					if child == None {
						continue
					}
					if above, isSecond := tree.parent(child); above != v || isSecond != (i == 1) {
						t.Fatalf("%d nodes: child %d of %d has parent %d", n, child, v, above)
					}
				}
				if v != 0 && a != None {
					inner++
				}
			}
			if inner > 1 {
				t.Errorf("%d nodes: %d is an inner node of both trees", n, m)
			}
		}
	}
}

// A pair of trees moves each segment over each edge once up and once down, each node but the two at the ends has the same number of
// messages between nodes, and the heads of the two trees are different members.
func TestTwinTreesBalanceInterfaces(t *testing.T) {
	const nodes, perNode, segments = 16, 4, 32
	s := doubleTree(Shape{Operation: Allreduce, Members: nodes * perNode, PerNode: perNode, Segments: segments, Segment: 8, Bytes: 8 * segments})
	var sent [nodes]int
	for m := range s.Members() {
		for round := s.Next(m, 0); round < s.Rounds(m); round = s.Next(m, round+1) {
			if step := s.Step(m, round); step.To != None && step.To/perNode != m/perNode {
				sent[m/perNode] += step.Send.Count
				up := step.Send.First%2 == m%perNode
				if down := step.Send.First%2+2 == m%perNode; !up && !down {
					t.Fatalf("member %d sends segment %d to another node", m, step.Send.First)
				}
			}
		}
	}
	all := 0
	for node, n := range sent {
		all += n
		if n > 2*segments {
			t.Errorf("node %d sends %d segments of %d", node, n, segments)
		}
	}
	if want := 2 * (nodes - 1) * segments; all != want {
		t.Errorf("%d segments go between nodes, want %d", all, want)
	}
}

// A ring of rings sends between nodes what a ring sends, from all members: 2(N−1)/N of a vector of each node.
func TestRingOfRingsUsesAllRails(t *testing.T) {
	const nodes, perNode = 5, 4
	s := ringOfRings(Shape{Operation: Allreduce, Members: nodes * perNode, PerNode: perNode, Segments: 1, Bytes: 160})
	for m := range s.Members() {
		chunks := 0
		for round := range s.MaxRounds() {
			if step := s.Step(m, round); step.To/perNode != m/perNode {
				chunks += step.Send.Count
			}
		}
		if want := 2 * (nodes - 1); chunks != want {
			t.Errorf("member %d sends %d chunks of %d to other nodes, want %d", m, chunks, s.Positions(), want)
		}
	}
}

// Where switches sum the vectors of a node up, its members combine only what comes from other nodes: each segment passes the
// nodes−1 edges of its tree upwards once. Without switches they combine the segments of all other members.
func TestSwitchesCombineWithinNodes(t *testing.T) {
	const nodes, perNode, segments = 5, 4, 6
	for _, c := range []struct {
		name  string
		build func(Shape) Schedule
		want  int
	}{
		{"nvls-tree", nvlsTree, segments * (nodes - 1)},
		{"double-tree", doubleTree, segments * (nodes*perNode - 1)},
	} {
		s := c.build(Shape{Operation: Allreduce, Members: nodes * perNode, PerNode: perNode, Segments: segments, Segment: 8, Bytes: 8 * segments})
		combined, all := 0, 0
		for m := range s.Members() {
			for round := s.Next(m, 0); round < s.Rounds(m); round = s.Next(m, round+1) {
				step := s.Step(m, round)
				if all += step.Combined(); !step.Switched {
					combined += step.Combined()
				} else if step.From/perNode != m/perNode {
					t.Errorf("%s: a switch combines what member %d receives from %d, on another node", c.name, m, step.From)
				}
			}
		}
		if combined != c.want || all != segments*(nodes*perNode-1) {
			t.Errorf("%s: members combine %d segments of %d, want %d", c.name, combined, all, c.want)
		}
	}
}
