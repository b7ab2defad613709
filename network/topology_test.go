package network

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// graph is a network given by its links, without a formula for distances. A vertex is a
// node's number, or any other comparable value for a switch.
type graph struct{ links map[any][]edge }

type edge struct {
	to     any
	global bool // of a dragonfly, between groups
}

func newGraph() *graph { return &graph{make(map[any][]edge)} }

func (g *graph) link(a, b any) { g.join(a, b, false) }

func (g *graph) join(a, b any, global bool) {
	g.links[a] = append(g.links[a], edge{b, global})
	g.links[b] = append(g.links[b], edge{a, global})
}

// distances searches breadth first from a node. A route crosses at most mostGlobal
// global links.
func (g *graph) distances(from any, mostGlobal int) map[any]int {
	type state struct {
		at      any
		globals int
	}
	first := state{from, 0}
	distance := map[state]int{first: 0}
	shortest := map[any]int{from: 0}
	for queue := []state{first}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for _, e := range g.links[s.at] {
			next := state{e.to, s.globals}
			if e.global {
				next.globals++
			}
			if _, seen := distance[next]; seen || next.globals > mostGlobal {
				continue
			}
			distance[next] = distance[s] + 1
			if _, seen := shortest[next.at]; !seen {
				shortest[next.at] = distance[next]
			}
			queue = append(queue, next)
		}
	}
	return shortest
}

func (g *graph) check(t *testing.T, top topology, nodes int) {
	t.Helper()
	if top.capacity() < nodes {
		t.Fatalf("%+v: capacity %d, the graph has %d nodes", top, top.capacity(), nodes)
	}
	fewest, most := unlimited, 0
	for a := range nodes {
		want := g.distances(a, 1)
		for b := range nodes {
			hops, reached := want[b]
			if !reached {
				t.Fatalf("%+v: the test's graph does not join %d and %d", top, a, b)
			}
			if got := top.hops(a, b); got != hops {
				t.Fatalf("%+v: hops(%d, %d) = %d, breadth-first search finds %d", top, a, b, got, hops)
			}
			if a != b {
				fewest, most = min(fewest, hops), max(most, hops)
			}
		}
	}
	if top.most(nodes) < most {
		t.Errorf("%+v: most(%d) = %d, but two nodes are %d apart", top, nodes, top.most(nodes), most)
	}
	if nodes > 1 && top.fewest() > fewest {
		t.Errorf("%+v: fewest() = %d, but two nodes are %d apart", top, top.fewest(), fewest)
	}
	checkLeast(t, top, nodes)
}

// checkLeast compares the bound over ranges with all pairs.
func checkLeast(t *testing.T, top topology, nodes int) {
	t.Helper()
	near, ok := top.(ranged)
	if !ok || nodes > 64 {
		return
	}
	for a := 0; a < nodes; a += 3 {
		for b := a; b < nodes; b += 2 {
			for c := b + 1; c < nodes; c += 2 {
				d := min(c+5, nodes-1)
				fewest := unlimited
				for x := a; x <= b; x++ {
					for y := c; y <= d; y++ {
						fewest = min(fewest, top.hops(x, y))
					}
				}
				if got := near.least(a, b, c, d); got > fewest {
					t.Fatalf("%+v: least(%d, %d, %d, %d) = %d, but a pair is %d apart", top, a, b, c, d, got, fewest)
				}
			}
		}
	}
}

func TestStar(t *testing.T) {
	g := newGraph()
	for node := range 9 {
		g.link(node, "switch")
	}
	g.check(t, star{}, 9)
}

// gridGraph links every node to the next one in each dimension. The last
// dimension varies fastest. A link round dimension 0 arrives twist further along
// dimension 1.
func gridGraph(dims []int, wrap bool, twist int) *graph {
	g := newGraph()
	at := make([]int, len(dims))
	number := func(at []int) int {
		n := 0
		for i, x := range at {
			n = n*dims[i] + x
		}
		return n
	}
	for node := range product(dims) {
		g.links[node] = append(g.links[node], edge{to: node})
		for i := range dims {
			next := append([]int(nil), at...)
			if next[i]++; next[i] == dims[i] {
				if !wrap {
					continue
				}
				next[i] = 0
				if i == 0 && twist > 0 {
					next[1] = (next[1] + twist) % dims[1]
				}
			}
			g.link(node, number(next))
		}
		for i := len(dims) - 1; i >= 0; i-- {
			if at[i]++; at[i] < dims[i] {
				break
			}
			at[i] = 0
		}
	}
	return g
}

func TestGrids(t *testing.T) {
	for _, dims := range [][]int{{1}, {2}, {7}, {8}, {3, 4}, {1, 5}, {5, 2}, {2, 3, 4}, {3, 3, 3}, {2, 2, 2, 3}} {
		for _, wrap := range []bool{false, true} {
			gridGraph(dims, wrap, 0).check(t, grid{dims, wrap}, product(dims))
		}
	}
}

func TestRingIsTorusOfOneDimension(t *testing.T) {
	gridGraph([]int{11}, true, 0).check(t, ring{}.build(11), 11)
}

func TestTwistedTorus(t *testing.T) {
	for _, dims := range [][]int{{8, 4}, {4, 8}, {3, 5}, {1, 6}, {6, 1}, {2, 9}, {4, 2, 3}, {2, 4, 2, 2}} {
		for twist := range dims[1] {
			gridGraph(dims, true, twist).check(t, twistedTorus{dims, twist}, product(dims))
		}
	}
}

// A sentence of Cámara et al.: twisting the a×2a torus by a shortens its
// diameter (for 4×8, from 6 to 4) and makes it symmetric in its links.
func TestTwistShortensRectangularTorus(t *testing.T) {
	diameter := func(top topology) int {
		most := 0
		for b := range top.capacity() {
			most = max(most, top.hops(0, b))
		}
		return most
	}
	plain := diameter(grid{dims: []int{4, 8}, wrap: true})
	twisted := diameter(twistedTorus{dims: []int{4, 8}, twist: 4})
	if plain != 6 || twisted != 4 {
		t.Errorf("diameters: plain %d, twisted %d; want 6 and 4", plain, twisted)
	}
}

func TestTree(t *testing.T) {
	for arity := 2; arity <= 4; arity++ {
		g := newGraph()
		const nodes = 60
		parents := []int{0}
		for child := 1; child < nodes; child++ {
			g.link(parents[0], child)
			parents = append(parents, child)
			if len(g.links[parents[0]]) == arity+min(parents[0], 1) {
				parents = parents[1:]
			}
		}
		g.check(t, tree{arity}, nodes)
	}
}

// fatTreeGraph follows Petrini and Vanneschi. Switch (w, l), with w of levels-1 digits,
// is linked to (w', l+1) if w and w' agree in all digits but the l-th. Node p is linked
// to (w, levels-1) if w is p without its last digit.
func fatTreeGraph(arity, levels int) *graph {
	type vertex struct{ word, level int }
	g := newGraph()
	words := raise(arity, levels-1)
	for level := range levels - 1 {
		weight := raise(arity, levels-2-level) // of digit l, the first being the most significant
		for w := range words {
			digit := w / weight % arity
			for d := range arity {
				g.link(vertex{w, level}, vertex{w + (d-digit)*weight, level + 1})
			}
		}
	}
	for p := range words * arity {
		g.link(p, vertex{p / arity, levels - 1})
	}
	return g
}

func TestFatTree(t *testing.T) {
	for _, c := range []fatTree{{2, 1}, {2, 2}, {2, 4}, {3, 3}, {4, 2}, {5, 2}} {
		fatTreeGraph(c.arity, c.levels).check(t, c, c.capacity())
	}
}

func dragonflyGraph(d dragonfly) *graph {
	type router struct{ group, index int }
	g := newGraph()
	others := func(group int) []int {
		var list []int
		for o := range d.groups {
			if o != group {
				list = append(list, o)
			}
		}
		return list
	}
	for group := range d.groups {
		for a := range d.routers {
			for b := range a {
				g.link(router{group, a}, router{group, b})
			}
			for n := range d.nodes {
				g.link((group*d.routers+a)*d.nodes+n, router{group, a})
			}
		}
		for q, other := range others(group) {
			for back, this := range others(other) {
				if this == group && group < other {
					g.join(router{group, q / d.links}, router{other, back / d.links}, true)
				}
			}
		}
	}
	return g
}

func TestDragonfly(t *testing.T) {
	for _, d := range []dragonfly{
		{groups: 9, routers: 4, nodes: 2, links: 2}, // balanced, as large as can be
		{groups: 5, routers: 4, nodes: 1, links: 1},
		{groups: 3, routers: 3, nodes: 2, links: 2},
		{groups: 4, routers: 1, nodes: 3, links: 3},
		{groups: 1, routers: 4, nodes: 2, links: 1},
		{groups: 7, routers: 2, nodes: 1, links: 3},
	} {
		dragonflyGraph(d).check(t, d, d.capacity())
	}
}

// The three-tier fat tree of Al-Fares et al. (2008), of switches with 4 ports,
// is a hierarchy with 2, 4 and 6 hops.
func TestHierarchyOfPods(t *testing.T) {
	const ports, half = 4, 2
	type vertex struct {
		kind         string
		pod, a, host int
	}
	g := newGraph()
	node := 0
	for pod := range ports {
		for edge := range half {
			for range half {
				g.link(node, vertex{"edge", pod, edge, 0})
				node++
			}
			for above := range half {
				g.link(vertex{"edge", pod, edge, 0}, vertex{"aggregation", pod, above, 0})
			}
		}
		for above := range half {
			for c := range half {
				g.link(vertex{"aggregation", pod, above, 0}, vertex{"core", 0, above*half + c, 0})
			}
		}
	}
	g.check(t, hierarchy{[]unit{{size: half, hops: 2}, {size: half, hops: 4}, {size: ports, hops: 6}}}, node)
}

// In a hierarchy of topologies each unit is a network of its own. The innermost that
// has both ends carries the message.
func TestHierarchyOfTopologies(t *testing.T) {
	ring, mesh := grid{dims: []int{5}, wrap: true}, grid{dims: []int{2, 3}}
	h := hierarchy{[]unit{{size: 5, links: ring}, {size: 6, links: mesh}, {size: unlimited, hops: 9}}}
	inner, outer := gridGraph([]int{5}, true, 0), gridGraph([]int{2, 3}, false, 0)
	const nodes = 90
	for a := range nodes {
		for b := range nodes {
			want := 9
			switch {
			case a/5 == b/5:
				want = inner.distances(a%5, 0)[b%5]
			case a/30 == b/30:
				want = outer.distances(a/5%6, 0)[b/5%6]
			}
			if got := h.hops(a, b); got != want {
				t.Fatalf("hops(%d, %d) = %d, want %d", a, b, got, want)
			}
		}
	}
	checkLeast(t, h, 64)
	checkLeast(t, hierarchy{[]unit{{size: 3, hops: 7}, {size: 4, hops: 2}, {size: unlimited, hops: 5}}}, 64)
}

func TestHopsAreSymmetric(t *testing.T) {
	tops := []topology{
		star{}, grid{[]int{1000}, true}, grid{[]int{10, 10, 10}, false}, twistedTorus{[]int{50, 20}, 7},
		tree{3}, fatTree{10, 3}, dragonfly{groups: 50, routers: 10, nodes: 2, links: 5},
		hierarchy{[]unit{{size: 16, hops: 3}, {size: unlimited, hops: 5}}},
	}
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.SampledFrom(tops).Draw(t, "topology")
		a, b := rapid.IntRange(0, 999).Draw(t, "a"), rapid.IntRange(0, 999).Draw(t, "b")
		if there, back := top.hops(a, b), top.hops(b, a); there != back {
			t.Fatalf("%T: hops(%d, %d) = %d, back %d", top, a, b, there, back)
		}
		if at := top.hops(a, a); at != 0 {
			t.Fatalf("%T: hops(%d, %d) = %d", top, a, a, at)
		}
	})
}

func TestNearCube(t *testing.T) {
	for _, c := range []struct {
		n, count int
		want     string
	}{
		{1, 3, "[1 1 1]"}, {8, 3, "[2 2 2]"}, {9, 3, "[3 2 2]"}, {27, 3, "[3 3 3]"}, {64, 2, "[8 8]"},
		{12, 1, "[12]"}, {83333334, 3, "[437 437 437]"}, {1000000000, 3, "[1000 1000 1000]"},
	} {
		if got := fmt.Sprint(nearCube(c.n, c.count)); got != c.want {
			t.Errorf("nearCube(%d, %d) = %s, want %s", c.n, c.count, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n, count := rapid.IntRange(1, 1<<40).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "count")
		dims := nearCube(n, count)
		if product(dims) < n {
			t.Fatalf("%v does not hold %d", dims, n)
		}
		if last := count - 1; dims[last] > 1 {
			dims[last]--
			if product(dims) >= n {
				t.Fatalf("%v would hold %d as well", dims, n)
			}
		}
	})
}
