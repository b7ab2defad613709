package network

import (
	"fmt"
	"testing"
)

func parse(t *testing.T, text string) *Machine {
	t.Helper()
	m, err := Parse("m", []byte(text), nil)
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return m
}

// vertex is a node, a router or a switch of a topology with a node or a number of its own.
type vertex struct {
	kind               string
	level, unit, index int
}

// ends returns the vertices that a link of a topology joins.
func (h hop) ends(top topology, taper share) (from, to vertex) {
	switch t := top.(type) {
	case fatTree:
		level, up := h.level, true
		if level < 0 {
			level, up = -level, false
		}
		// The switch of level l of a unit is numbered by what the lane leaves below arity^(l-1). With fewer lanes no switch is told apart.
		below := raise(t.arity, level-1)
		lower, upper := vertex{"switch", level, h.from, h.to % below}, vertex{"switch", level + 1, h.from / t.arity, h.to}
		if taper != (share{}) {
			lower.index, upper.index = 0, 0
		}
		if up {
			return lower, upper
		}
		return upper, lower
	case dragonfly:
		if h.level == globalLink {
			return vertex{"router", 0, h.from*t.routers + t.gateway(h.from, h.to), 0}, vertex{"router", 0, h.to*t.routers + t.gateway(h.to, h.from), 0}
		}
		return vertex{"router", 0, h.from, 0}, vertex{"router", 0, h.to, 0}
	}
	return vertex{"node", 0, h.from, 0}, vertex{"node", 0, h.to, 0}
}

// begin returns where the route of a node enters the links of the topology.
func begin(top topology, node int) vertex {
	switch t := top.(type) {
	case star:
		return vertex{kind: "switch"}
	case fatTree:
		return vertex{"switch", 1, node / t.arity, 0}
	case dragonfly:
		return vertex{"router", 0, node / t.nodes, 0}
	}
	return vertex{"node", 0, node, 0}
}

// Routes are as long as the hops say, each link begins where the one before ends, and nothing is passed twice.
func TestRoutesAreMinimal(t *testing.T) {
	tops := []routing{
		star{}, grid{[]int{7}, true}, grid{[]int{8}, true}, grid{[]int{3, 4}, false}, grid{[]int{2, 3, 4}, true}, grid{[]int{5, 1, 2}, true},
		tree{2}, tree{3}, fatTree{2, 4}, fatTree{3, 3}, fatTree{4, 2},
		dragonfly{groups: 9, routers: 4, nodes: 2, links: 2}, dragonfly{groups: 3, routers: 3, nodes: 2, links: 2}, dragonfly{groups: 1, routers: 4, nodes: 2, links: 1},
	}
	for _, dims := range [][]int{{8, 4}, {4, 8}, {3, 5}, {1, 6}, {6, 1}, {2, 9}, {4, 2, 3}, {2, 4, 2, 2}} {
		for twist := range dims[1] {
			tops = append(tops, twistedTorus{dims, twist})
		}
	}
	for _, top := range tops {
		nodes := min(top.capacity(), 60)
		for a := range nodes {
			for b := range nodes {
				for _, taper := range []share{{}, {1, 2}, {1, 3}} {
					hops := top.route(a, b, taper, nil)
					own := 0
					if top.switched() && a != b {
						own = 2
					}
					if len(hops)+own != top.hops(a, b) {
						t.Fatalf("%+v: the route from %d to %d has %d links and %d of the nodes, not %d: %v", top, a, b, len(hops), own, top.hops(a, b), hops)
					}
					at, seen := begin(top, a), map[hop]bool{}
					for _, h := range hops {
						from, to := h.ends(top, taper)
						if from != at || seen[h] {
							t.Fatalf("%+v: the route from %d to %d leaves %v by %v: %v", top, a, b, at, h, hops)
						}
						at, seen[h] = to, true
					}
					if at != begin(top, b) {
						t.Fatalf("%+v: the route from %d to %d ends at %v", top, a, b, at)
					}
				}
			}
		}
	}
}

// The links of grids are those of the graph in which the hops are searched.
func TestRoutesTakeLinksOfTheGraph(t *testing.T) {
	check := func(top routing, g *graph, nodes int) {
		for a := range nodes {
			for b := range nodes {
				for _, h := range top.route(a, b, share{}, nil) {
					joined := false
					for _, e := range g.links[h.from] {
						joined = joined || e.to == h.to
					}
					if !joined {
						t.Fatalf("%+v: no link joins %d and %d", top, h.from, h.to)
					}
				}
			}
		}
	}
	for _, dims := range [][]int{{8}, {3, 4}, {2, 3, 4}} {
		for _, wrap := range []bool{false, true} {
			check(grid{dims, wrap}, gridGraph(dims, wrap, 0), product(dims))
		}
	}
	for _, dims := range [][]int{{8, 4}, {3, 5}, {2, 9}, {4, 2, 3}} {
		for twist := range dims[1] {
			check(twistedTorus{dims, twist}, gridGraph(dims, true, twist), product(dims))
		}
	}
}

// Every topology of a machine file has routes.
func TestTopologiesHaveRoutes(t *testing.T) {
	for _, k := range topologies {
		for _, example := range k.examples {
			m := parse(t, fmt.Sprintf("name: m\ntopology: {kind: %s, %s\ncontention: {model: fair, link: 1GB/s, topology: true}\nnetwork: {model: flat, latency: 1us}\n", k.name, example[1:]))
			target, err := m.Target(12)
			if err != nil {
				t.Fatal(err)
			}
			r := target.Routes()
			for a := range 12 {
				for b := range 12 {
					if a == b {
						continue
					}
					seen := map[int]bool{}
					for _, l := range r.Route(a, b, nil) {
						if seen[l] || r.Capacity(l) < 0 {
							t.Fatalf("%s: from %d to %d link %d comes twice, or carries %d", k.name, a, b, l, r.Capacity(l))
						}
						seen[l] = true
					}
				}
			}
		}
	}
}

// A shift of all nodes meets no link of a fat tree twice (Zahavi 2010). With a taper of a half each link up and down is met by two messages at most
// while each carries as much as one of a node, and the links of a switch together carry half of what its nodes send.
func TestShiftsOnFatTrees(t *testing.T) {
	for _, tree := range []fatTree{{2, 3}, {4, 3}, {3, 2}} {
		nodes := tree.capacity()
		for shift := 1; shift < nodes; shift++ {
			for _, c := range []struct {
				taper share
				most  int
			}{{share{}, 1}, {share{1, 2}, 2}} {
				load := map[hop]int{}
				for a := range nodes {
					for _, h := range tree.route(a, (a+shift)%nodes, c.taper, nil) {
						load[h]++
					}
				}
				for h, n := range load {
					if n > c.most {
						t.Errorf("%+v, shift %d, taper %v: %d messages take %+v", tree, shift, c.taper, n, h)
					}
				}
			}
		}
		for level := 1; level < tree.levels; level++ {
			below := raise(tree.arity, level)
			for _, taper := range []share{{}, {1, 2}, {1, 3}, {2, 7}} {
				each := tree.width(hop{level: level}, taper).rat()
				carries, _ := each.Float64()
				carries *= float64(taper.lanes(below))
				want, _ := taper.rat().Float64()
				if want *= float64(below); carries < want*0.999999 || carries > want*1.000001 || each.Cmp(share{1, 1}.rat()) > 0 {
					t.Errorf("%+v, taper %v: %d links of level %d carry %v of a node's, not %v", tree, taper, taper.lanes(below), level, carries, want)
				}
			}
		}
	}
}

// What each link carries: of a dragonfly's group, and of the units of a hierarchy, without and with a taper.
func TestWidthsOfLinks(t *testing.T) {
	for _, c := range []struct {
		machine  string
		from, to int
		want     []int64 // of the links of the topology
	}{
		{"topology: {kind: dragonfly, routers: 2, nodes_per_router: 3, groups: 3}", 0, 17, []int64{1000, 3000, 1000}},
		{"topology: {kind: dragonfly, routers: 2, nodes_per_router: 3, groups: 3}\ntaper: 1", 0, 17, []int64{1000, 3000, 1000}},
		{"topology: {kind: dragonfly, routers: 2, nodes_per_router: 3, groups: 3}\ntaper: 0.5", 0, 17, []int64{1000, 1500, 1000}}, // 6 nodes, 2 other groups
		{"topology: {kind: hierarchy, levels: [{size: 4, hops: 2}, {size: 2, hops: 4}, {hops: 6}]}", 0, 4, []int64{4000, 4000}},
		{"topology: {kind: hierarchy, levels: [{size: 4, hops: 2}, {size: 2, hops: 4}, {hops: 6}]}\ntaper: 0.25", 0, 4, []int64{1000, 1000}},
		{"topology: {kind: hierarchy, levels: [{size: 4, hops: 2}, {size: 2, hops: 4}, {hops: 6}]}\ntaper: 0.25", 0, 8, []int64{2000, 2000}},
		{"topology: {kind: hierarchy, levels: [{size: 4, hops: 2}, {size: 2, hops: 4}, {hops: 6}]}", 0, 3, nil},
		{"topology: {kind: hierarchy, levels: [{size: 4, topology: {kind: ring}}, {hops: 6}]}", 0, 2, []int64{1000, 1000}},
		{"topology: {kind: fat-tree, arity: 4}", 0, 17, []int64{1000, 1000, 1000, 1000}},
		{"topology: {kind: fat-tree, arity: 4}\ntaper: 0.2", 0, 17, []int64{800, 800, 800, 800}}, // one link of 4 nodes, 4 links of 16
		{"topology: {kind: star}", 0, 17, nil},
	} {
		m := parse(t, "name: m\n"+c.machine+"\ncontention: {model: fair, link: 1KB/s, topology: true}\nnetwork: {model: flat, latency: 1us}\n")
		again := parse(t, m.String())
		if again.String() != m.String() {
			t.Errorf("%s\nis read as\n%s", m, again)
		}
		target, err := again.Target(18)
		if err != nil {
			t.Fatal(err)
		}
		r := target.Routes()
		var got []int64
		for _, l := range r.Route(c.from, c.to, nil)[3:] {
			got = append(got, r.Capacity(l))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: the links from %d to %d carry %v, want %v", c.machine, c.from, c.to, got, c.want)
		}
	}
}

// Full bisection is the default of every topology that has a taper: each link carries what it does with a taper of 1.
func TestNoTaperIsFullBisection(t *testing.T) {
	for _, top := range []routing{
		fatTree{2, 4}, fatTree{4, 2}, dragonfly{groups: 9, routers: 4, nodes: 2, links: 2}, dragonfly{groups: 3, routers: 3, nodes: 5, links: 1},
		hierarchy{levels: []unit{{size: 4, hops: 2}, {size: 2, hops: 4}, {size: 5, hops: 6}}},
	} {
		nodes := min(top.capacity(), 48)
		for a := range nodes {
			for b := range nodes {
				without, with := top.route(a, b, share{}, nil), top.route(a, b, share{1, 1}, nil)
				if fmt.Sprint(without) != fmt.Sprint(with) {
					t.Fatalf("%+v: from %d to %d by %v, with a taper of 1 by %v", top, a, b, without, with)
				}
				for _, h := range without {
					if one, other := top.width(h, share{}).rat(), top.width(h, share{1, 1}).rat(); one.Cmp(other) != 0 {
						t.Fatalf("%+v: %+v is %v wide, with a taper of 1 %v", top, h, one, other)
					}
				}
			}
		}
	}
}
