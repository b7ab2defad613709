package network

// fatTree is the k-ary n-tree of Petrini and Vanneschi (1997). Its arity^levels leaves
// are the nodes, and a route climbs to the lowest common level. Before build, levels
// may be 0 for as many as the nodes need.
type fatTree struct{ arity, levels int }

var fatTreeKind = topologyKind{
	name:     "fat-tree",
	fields:   []string{"arity", "levels"},
	examples: []string{"{arity: 3}", "{arity: 4, levels: 4}"},
	parse: func(o *object, _ []*topologyKind) topologySpec {
		return fatTree{o.count("arity", true, 2, maxRanks), o.count("levels", false, 1, 64)}
	},
}

func (fatTree) kind() string { return "fat-tree" }

func (t fatTree) write(o *objectWriter) {
	o.number("arity", t.arity)
	if t.levels != 0 {
		o.number("levels", t.levels)
	}
}

func (t fatTree) build(n int) topology {
	if t.levels != 0 {
		return t
	}
	t.levels = 1
	for raise(t.arity, t.levels) < n {
		t.levels++
	}
	return t
}

func (t fatTree) hops(a, b int) int {
	n := 0
	for ; a != b; n += 2 {
		a, b = a/t.arity, b/t.arity
	}
	return n
}

func (t fatTree) capacity() int {
	return raise(t.arity, t.levels)
}

func (fatTree) fewest() int    { return 2 }
func (t fatTree) most(int) int { return 2 * t.levels }

func (t fatTree) least(_, b, c, _ int) int { return t.hops(b, c) }

// route takes the links that the number of the receiver names (D-mod-k, as Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for
// Shift Permutations on Real Life Fat Trees", 2010). The nodes below a switch of level l have arity^l links up, or a taper's share of them; a message
// to node b takes link b mod arity^l, modulo their number, up and down.
func (t fatTree) route(a, b int, taper share, hops []hop) []hop {
	top := t.hops(a, b) / 2
	nodes := 1
	for level := 1; level < top; level++ {
		nodes *= t.arity
		hops = append(hops, hop{level: level, from: a / nodes, to: b % nodes % taper.lanes(nodes)})
	}
	for level := top - 1; level > 0; level-- {
		hops = append(hops, hop{level: -level, from: b / nodes, to: b % nodes % taper.lanes(nodes)})
		nodes /= t.arity
	}
	return hops
}

// width of links which a taper thins is such that all of them have its share.
func (t fatTree) width(h hop, taper share) share {
	nodes := raise(t.arity, max(h.level, -h.level))
	return taper.of(nodes, taper.lanes(nodes))
}

func (fatTree) switched() bool { return true }
func (fatTree) tapers() bool   { return true }
