// Package graph tells which blocks of a function decide on which others: dominators, postdominators, control dependence, loops.
//
// # Model
//
// The graph of a function has a node for each block that can be reached from the first one, and one more, the exit, behind each block that
// leaves the function. A block from which no way leads out of the function goes to the exit, too: what lies behind an endless
// loop then depends on the loop.
//
// Dominators are those of Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm (2001). Control dependence is that of
// Ferrante, Ottenstein and Warren, The Program Dependence Graph and Its Use in Optimization (1987): a block depends on a
// branch if one of its ways always leads to the block and another way need not.
//
// # Use
//
//	g := graph.Of(f)
//	for _, n := range g.Controls()[g.Node(block)] { … g.Blocks[n].Last() decides whether block runs … }
package graph

import (
	"slices"

	"gigarank/mpivirt/native/skeleton/ir"
)

// Graph is the control flow of a function.
type Graph struct {
	Blocks []*ir.Block // nodes; the first is that of the function
	nodes  map[*ir.Block]int
	to     [][]int // by node, with the exit; without repetitions
	from   [][]int
}

// Of returns the graph of a function with blocks.
func Of(f *ir.Function) *Graph { return Without(f, nil) }

// Without returns the graph of a function without some ways: those of branches, by the place among their targets.
func Without(f *ir.Function, closed map[*ir.Instr]int) *Graph {
	g := &Graph{nodes: map[*ir.Block]int{}}
	successors := func(b *ir.Block) []*ir.Block {
		if way, is := closed[b.Last()]; is {
			return slices.Delete(slices.Clone(b.Successors()), way, way+1)
		}
		return b.Successors()
	}
	g.add(f.Blocks[0])
	for n := 0; n < len(g.Blocks); n++ {
		for _, to := range successors(g.Blocks[n]) {
			g.add(to)
		}
	}
	exit := len(g.Blocks)
	g.to, g.from = make([][]int, exit+1), make([][]int, exit+1)
	for n, b := range g.Blocks {
		for _, to := range successors(b) {
			g.connect(n, g.nodes[to])
		}
		if len(b.Successors()) == 0 {
			g.connect(n, exit)
		}
	}
	for n, leaves := range g.reaching(exit) {
		if !leaves {
			g.connect(n, exit)
		}
	}
	return g
}

func (g *Graph) add(b *ir.Block) {
	if _, known := g.nodes[b]; !known {
		g.nodes[b] = len(g.Blocks)
		g.Blocks = append(g.Blocks, b)
	}
}

func (g *Graph) connect(n, to int) {
	if !slices.Contains(g.to[n], to) {
		g.to[n], g.from[to] = append(g.to[n], to), append(g.from[to], n)
	}
}

// reaching returns, by node, whether a way leads to a node.
func (g *Graph) reaching(node int) []bool {
	reach := make([]bool, len(g.to))
	reach[node] = true
	for stack := []int{node}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, from := range g.from[n] {
			if !reach[from] {
				reach[from] = true
				stack = append(stack, from)
			}
		}
	}
	return reach
}

// Node returns the node of a block, -1 if the block cannot be reached.
func (g *Graph) Node(b *ir.Block) int {
	if n, known := g.nodes[b]; known {
		return n
	}
	return -1
}

// To returns the nodes to which a way leads from a node at once, without the exit.
func (g *Graph) To(n int) []int {
	return slices.DeleteFunc(slices.Clone(g.to[n]), func(to int) bool { return to == g.Exit() })
}

// From returns the nodes from which a way leads to a node at once.
func (g *Graph) From(n int) []int { return g.from[n] }

// Exit returns the node behind all blocks that leave the function.
func (g *Graph) Exit() int { return len(g.Blocks) }

// Dominators returns, by node, the nearest other node that lies on each way from the first block to it, -1 for the first block.
func (g *Graph) Dominators() []int { return nearest(0, g.to, g.from) }

// Postdominators returns, by node, the nearest other node that lies on each way from it to the exit, -1 for the exit.
func (g *Graph) Postdominators() []int { return nearest(g.Exit(), g.from, g.to) }

// nearest returns the immediate dominators of a graph with a root: each node can be reached from it.
func nearest(root int, to, from [][]int) []int {
	order, place := behind(root, to)
	dominators := make([]int, len(to))
	for n := range dominators {
		dominators[n] = -1
	}
	dominators[root] = root
	for changed := true; changed; {
		changed = false
		for _, n := range slices.Backward(order) {
			if n == root {
				continue
			}
			best := -1
			for _, p := range from[n] {
				switch {
				case dominators[p] < 0:
				case best < 0:
					best = p
				default:
					best = meet(best, p, dominators, place)
				}
			}
			if dominators[n] != best {
				dominators[n], changed = best, true
			}
		}
	}
	dominators[root] = -1
	return dominators
}

// meet returns the nearest node that dominates two nodes or is one of them.
func meet(a, b int, dominators, place []int) int {
	for a != b {
		for place[a] < place[b] {
			a = dominators[a]
		}
		for place[b] < place[a] {
			b = dominators[b]
		}
	}
	return a
}

// behind returns the nodes in postorder of a search from a root, and the place of each.
func behind(root int, to [][]int) (order, place []int) {
	type step struct{ node, next int }
	place = make([]int, len(to))
	for n := range place {
		place[n] = -1
	}
	met := make([]bool, len(to))
	met[root] = true
	for stack := []step{{root, 0}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.next == len(to[top.node]) {
			place[top.node] = len(order)
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		n := to[top.node][top.next]
		top.next++
		if !met[n] {
			met[n] = true
			stack = append(stack, step{n, 0})
		}
	}
	return order, place
}

// Controls returns, by node, the nodes whose branches decide whether and how often it runs, in rising order.
func (g *Graph) Controls() [][]int {
	post := g.Postdominators()
	controls := make([][]int, len(g.to))
	for n := range g.Blocks {
		for _, to := range g.to[n] {
			for at := to; at != post[n]; at = post[at] {
				if !slices.Contains(controls[at], n) {
					controls[at] = append(controls[at], n)
				}
			}
		}
	}
	return controls
}

// Loop is a natural loop: the nodes from which a way leads to an edge back to the header without passing the header.
type Loop struct {
	Header int
	Nodes  []int // in rising order, with the header
	Parent *Loop // the least loop around it, nil for none
}

// Loops returns the natural loops of the function, one for each header, outer loops before inner ones. A cycle whose header does not dominate it is none.
func (g *Graph) Loops() (loops []*Loop) {
	dominators := g.Dominators()
	for header := range g.Blocks {
		in := map[int]bool{header: true}
		var stack []int
		for _, n := range g.from[header] {
			if dominates(header, n, dominators) && !in[n] {
				in[n] = true
				stack = append(stack, n)
			} else if n == header {
				stack = append(stack, n)
			}
		}
		if len(stack) == 0 {
			continue
		}
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if n == header {
				continue
			}
			for _, from := range g.from[n] {
				if !in[from] {
					in[from] = true
					stack = append(stack, from)
				}
			}
		}
		l := &Loop{Header: header}
		for n := range in {
			l.Nodes = append(l.Nodes, n)
		}
		slices.Sort(l.Nodes)
		loops = append(loops, l)
	}
	slices.SortStableFunc(loops, func(a, b *Loop) int { return len(b.Nodes) - len(a.Nodes) })
	for i, l := range loops {
		for _, outer := range slices.Backward(loops[:i]) {
			if _, inside := slices.BinarySearch(outer.Nodes, l.Header); inside {
				l.Parent = outer
				break
			}
		}
	}
	return loops
}

// dominates reports whether a lies on each way from the first block to b.
func dominates(a, b int, dominators []int) bool {
	for b >= 0 && b != a {
		b = dominators[b]
	}
	return b == a
}
