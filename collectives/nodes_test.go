package collectives_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
)

// sized is an algorithm of an operation, for calls of some sizes.
type sized struct {
	pair
	size collectives.Size
}

func (s sized) String() string {
	return fmt.Sprintf("%s, %d members, %d a node, root %d, %d bytes", s.pair, s.size.Members, s.size.PerNode, s.size.Root, s.size.Bytes)
}

func (s sized) build(t fataler) collectives.Schedule {
	t.Helper()
	schedule, err := collectives.For(s.op, s.a, s.size)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return schedule
}

// byNodes returns the algorithms that depend on nodes.
func byNodes() []pair {
	var all []pair
	for _, p := range pairs() {
		if collectives.TakesNodes(p.op, p.a) {
			all = append(all, p)
		}
	}
	return all
}

// cut returns the algorithm with 8-byte segments and the bytes of some segments, or no bytes for an algorithm that takes no
// segment.
func (p pair) cut(segments int) (pair, int64) {
	if a := p.a.WithSegment(8); segments > 1 && a.Check(p.op) == nil {
		return pair{p.op, a}, int64(8 * segments)
	}
	return p, 0
}

// everyRoot calls try for some roots of an operation: all of few members.
func everyRoot(op collectives.Operation, members int, try func(root int)) {
	for root := 0; root < members && (root == 0 || op.Rooted()); root += 1 + members/12 {
		try(root)
	}
}

// Algorithms that depend on nodes give the result of their operation, for every number of members of a node, root, and
// number of segments; beyond 16 members for few, all, and every third number of members of a node between.
func TestSchedulesByNodes(t *testing.T) {
	for _, p := range byNodes() {
		t.Run(p.String(), func(t *testing.T) {
			most := mostMembers(33)
			if inBeats(p.a) {
				most = 14 // their rounds are many
			}
			for members := 1; members <= most; members++ {
				for perNode := 1; perNode <= members+1; perNode++ {
					if members > 16 && 4 < perNode && perNode < members-1 && (members+perNode)%3 != 0 {
						continue
					}
					for _, segments := range []int{1, 2, 3, 7} {
						q, bytes := p.cut(segments)
						if bytes == 0 && segments > 1 {
							continue
						}
						everyRoot(p.op, members, func(root int) {
							c := sized{q, collectives.Size{Members: members, PerNode: perNode, Root: root, Bytes: bytes}}
							s := c.build(t)
							if err := check(p, s, root, ascending(members)); err != nil {
								t.Fatalf("%s: %v", c, err)
							}
							checkIdle(t, c, s)
						})
					}
				}
			}
		})
	}
}

// inBeats reports whether the rounds of an algorithm are levels of a beat, in some of which all members are idle.
func inBeats(a collectives.Algorithm) bool {
	return a.Base() == collectives.DoubleTree || a.Base() == collectives.NVLSTree
}

// checkIdle holds Next, Rounds and MaxRounds to a pass over every Step.
func checkIdle(t *testing.T, c sized, s collectives.Schedule) {
	t.Helper()
	busy := make([]bool, s.MaxRounds())
	for m := range s.Members() {
		if err := checkSkips(s, m); err != nil {
			t.Fatalf("%s: member %d: %v", c, m, err)
		}
		for round := range busy {
			step := s.Step(m, round)
			busy[round] = busy[round] || step.To != None || step.From != None
		}
	}
	for round, is := range busy {
		if !is && !inBeats(c.a) {
			t.Fatalf("%s: all members are idle in round %d of %d", c, round, len(busy))
		}
	}
}

// The reductions of han among nodes are Rabenseifner's for vectors with an element for each node, without segments.
func TestHANOfLongVectors(t *testing.T) {
	for _, op := range []collectives.Operation{collectives.Reduce, collectives.Allreduce} {
		p := pair{op, collectives.HAN}
		for members := 1; members <= mostMembers(40); members++ {
			for perNode := 1; perNode <= members; perNode++ {
				everyRoot(op, members, func(root int) {
					c := sized{p, collectives.Size{Members: members, PerNode: perNode, Root: root, Bytes: 4096}}
					s := c.build(t)
					if err := check(p, s, root, ascending(members)); err != nil {
						t.Fatalf("%s: %v", c, err)
					}
					checkIdle(t, c, s)
					nodes, even := (members+perNode-1)/perNode, members%perNode == 0
					halves := perNode > 1 && nodes > 2 && (even || op == collectives.Allreduce)
					if want := powerBelow(nodes); halves && s.Positions() != want {
						t.Fatalf("%s: %d positions, want %d", c, s.Positions(), want)
					}
				})
			}
		}
	}
}

// Messages between nodes go between one member of each node only, and each member of a node but that one hears of the result
// within its node.
func TestLeadersAloneSendBetweenNodes(t *testing.T) {
	const perNode, nodes, root = 4, 5, 6
	for _, p := range byNodes() {
		seats := map[int]bool{0: true}
		if p.a == collectives.HAN && p.op.Rooted() {
			seats = map[int]bool{root % perNode: true} // as coll/han: the members with the root's number in their nodes
		}
		s := sized{p, collectives.Size{Members: perNode * nodes, PerNode: perNode, Root: root}}.build(t)
		for m := range s.Members() {
			for round := range s.MaxRounds() {
				to := s.Step(m, round).To
				if p.a == collectives.Ring2D || p.a == collectives.TwoLevel || inBeats(p.a) { // members send to those with their place in their nodes
					seats = map[int]bool{m % perNode: true}
				}
				if to != None && to/perNode != m/perNode && !(seats[to%perNode] && seats[m%perNode]) {
					t.Errorf("%s: member %d sends to %d, on another node", p, m, to)
				}
			}
		}
	}
}

// An alltoall in two levels takes the messages of a node's members, with a block for each node, and those of the nodes, with a
// block for each member of a node.
func TestTwoLevelAlltoallTakesItsClosedForm(t *testing.T) {
	const block, alpha, perByteTime, send, receive = 56, 3_000_000, 100, 400_000, 700_000
	cost := collectives.Cost{Alpha: alpha, Beta: perByte(perByteTime), Gamma: perByte(0), Send: send, Receive: receive}
	for nodes := 1; nodes <= 9; nodes++ {
		for perNode := 2; perNode <= 9; perNode++ {
			s := sized{pair{collectives.Alltoall, collectives.TwoLevel}, collectives.Size{Members: nodes * perNode, PerNode: perNode, Bytes: block}}.build(t)
			message := func(blocks int) int { return send + alpha + receive + blocks*block*perByteTime }
			want := (perNode-1)*message(nodes) + (nodes-1)*message(perNode)
			if got := flat(t, s, collectives.Alltoall, block/8, 8, cost); int(got) != want {
				t.Errorf("%d nodes of %d members: takes %d, closed form %d", nodes, perNode, got, want)
			}
		}
	}
}

// The stages of segments overlap: eight segments take at most 60 % of the time of the stages one after another, each of which
// has three levels of messages.
func TestSegmentsOverlap(t *testing.T) {
	const bytes, perByteTime, levels = 1 << 20, 100, 3
	for op, stages := range map[collectives.Operation]int{collectives.Bcast: 2, collectives.Reduce: 2, collectives.Allreduce: 4} {
		a := collectives.HAN.WithSegment(bytes / 8)
		s := sized{pair{op, a}, collectives.Size{Members: 64, PerNode: 8, Bytes: bytes}}.build(t)
		if s.Positions() != 8 {
			t.Fatalf("%s has %d positions, want 8", op, s.Positions())
		}
		took := flat(t, s, op, bytes/8, 8, collectives.Cost{Beta: perByte(perByteTime), Gamma: perByte(0)})
		if apart := stages * levels * bytes * perByteTime; float64(took) > 0.6*float64(apart) {
			t.Errorf("%s: takes %d, the stages one after another %d", op, took, apart)
		}
	}
}

// Methods of schedules by nodes allocate nothing.
func TestSchedulesByNodesAllocateNothing(t *testing.T) {
	for _, p := range byNodes() {
		q, bytes := p.cut(100)
		s := sized{q, collectives.Size{Members: 1 << 20, PerNode: 96, Root: 96 * 1000, Bytes: bytes}}.build(t)
		stepper := collectives.StepperOf(s)
		var step collectives.Step
		sum := 0
		allocations := testing.AllocsPerRun(10, func() {
			for m := 0; m < s.Members(); m += 96 * 11 {
				for r := s.Next(m, 0); r < min(s.Rounds(m), 100); r = s.Next(m, r+1) {
					stepper.StepInto(&step, m, r)
					sum += step.To + s.Step(m, r).From + s.Pattern(r).Distance
				}
			}
		})
		if allocations > 1 { // of step, once
			t.Errorf("%s: %v allocations", q, allocations)
		}
	}
}
