package network

import (
	"math"
	"slices"
)

// hierarchy groups nodes into units, units into larger units, and so on. The innermost
// level that unites two nodes defines the hops between them.
type hierarchy struct{ levels []unit }

// unit is one level of a hierarchy: size units of the level below. They are hops apart, or as far
// as the topology that links them defines.
type unit struct {
	size  int // unlimited in the outermost level, if it has no bound
	hops  int
	links topology // nil for equal hops between any two units
}

// hierarchySpec is a hierarchy as the machine file gives it, from the inside out.
type hierarchySpec []unitSpec

// unitSpec is one level of a hierarchy.
type unitSpec struct {
	size  int // 0 in the outermost level for any number
	hops  int
	links topologySpec // instead of hops
}

var hierarchyKind = topologyKind{
	name:   "hierarchy",
	fields: []string{"levels"},
	examples: []string{
		"{levels: [{size: 4, hops: 3}, {hops: 5}]}",
		"{levels: [{size: 2, hops: 0}, {size: 3, topology: {kind: ring}}, {topology: {kind: star}}]}",
	},
	parse: func(o *object, kinds []*topologyKind) topologySpec { return hierarchySpec(parseUnits(o, kinds)) },
}

func parseUnits(o *object, kinds []*topologyKind) []unitSpec {
	inner := slices.DeleteFunc(slices.Clone(kinds), func(k *topologyKind) bool { return k.name == "hierarchy" })
	levels := o.objects("levels", "write a list such as [{size: 16, hops: 3}, {hops: 5}]")
	var units []unitSpec
	for i, level := range levels {
		var u unitSpec
		outermost := i == len(levels)-1
		u.size = level.count("size", !outermost, 1, maxRanks)
		if links := level.object("topology", false, ""); links != nil {
			faults := len(level.doc.Faults)
			u.links = parseTopology(links, inner)
			if u.size != 0 && len(level.doc.Faults) == faults {
				level.checkCapacity("size", u.size, u.links)
			}
		}
		if u.hops = level.count("hops", !level.has("topology"), 0, 1<<20); level.has("hops") && level.has("topology") {
			level.fault("hops", "is given beside a topology, which says the hops", "remove one of the two")
		}
		level.close("", nil)
		units = append(units, u)
	}
	return units
}

func (hierarchySpec) kind() string { return "hierarchy" }

func (s hierarchySpec) write(o *objectWriter) {
	putObjects(o, "levels", s, func(level *objectWriter, u unitSpec) {
		if u.size != 0 {
			level.number("size", u.size)
		}
		if u.links == nil {
			level.number("hops", u.hops)
		} else {
			level.put("topology", writeTopology(o.writer, level.within("topology"), u.links).node)
		}
	})
}

func (s hierarchySpec) build(n int) topology {
	levels := make([]unit, len(s))
	for i, u := range s {
		levels[i] = unit{size: u.size, hops: u.hops}
		if u.size == 0 {
			levels[i].size = unlimited
		}
		units := n
		if u.size != 0 {
			units = u.size
			n = (n-1)/u.size + 1
		}
		if u.links != nil {
			levels[i].links = u.links.build(units)
		}
	}
	return hierarchy{levels}
}

func (h hierarchy) hops(a, b int) int {
	if a == b {
		return 0
	}
	for _, u := range h.levels {
		if u.size == unlimited || a/u.size == b/u.size {
			if u.links == nil {
				return u.hops
			}
			if u.size != unlimited {
				a, b = a%u.size, b%u.size
			}
			return u.links.hops(a, b)
		}
		a, b = a/u.size, b/u.size
	}
	panic("network: a node outside the hierarchy")
}

// steady extends to the end of the unit that unites both nodes, and of the units in it that may
// come to unite them.
func (h hierarchy) steady(a, b int) int {
	steps, width := unlimited, 1
	for _, u := range h.levels {
		if u.links != nil {
			return 1
		}
		united := u.size == unlimited || a/multiply(width, u.size) == b/multiply(width, u.size)
		width = multiply(width, u.size)
		if !united && distance(a, b) >= width {
			continue
		}
		if u.size != unlimited {
			steps = min(steps, width-a%width, width-b%width)
		}
		if united {
			break
		}
	}
	return steps
}

func (h hierarchy) capacity() int {
	n := 1
	for _, u := range h.levels {
		size := u.size
		if u.links != nil {
			size = min(size, u.links.capacity())
		}
		n = multiply(n, size)
	}
	return n
}

func (h hierarchy) fewest() int {
	best := unlimited
	for _, u := range h.levels {
		best = min(best, u.fewest())
	}
	return best
}

func (h hierarchy) most(nodes int) int {
	farthest := 0
	for _, u := range h.levels {
		if u.links == nil {
			farthest = max(farthest, u.hops)
		} else {
			farthest = max(farthest, u.links.most(min(nodes, u.size)))
		}
	}
	return farthest
}

func (u unit) fewest() int {
	if u.links == nil {
		return u.hops
	}
	return u.links.fewest()
}

// least examines the levels that can unite a node of one range with a node of the other. None is
// below the level of the two nearest nodes by number, none above that of the two farthest.
func (h hierarchy) least(a, b, c, d int) int {
	best := unlimited
	for _, u := range h.levels {
		if u.size == unlimited || b/u.size == c/u.size {
			best = min(best, u.fewest())
		}
		if u.size == unlimited || a/u.size == d/u.size {
			break
		}
		a, b, c, d = a/u.size, b/u.size, c/u.size, d/u.size
	}
	return best
}

// unitLink is the level of the link of a unit to the others of its level: up, or down if it is negative.
const unitLink = math.MaxInt32

// route takes the links of the level that unites both nodes. Units that hang on a switch, or are only some hops apart, have a link up
// and one down each; those of nodes are the nodes' own.
func (h hierarchy) route(a, b int, taper share, hops []hop) []hop {
	if a == b {
		return hops
	}
	for tier, u := range h.levels {
		if u.size != unlimited && a/u.size != b/u.size {
			a, b = a/u.size, b/u.size
			continue
		}
		links, own := u.routing(), tier > 0
		if own && links.switched() {
			hops = append(hops, hop{tier: tier, level: unitLink, from: a})
		}
		around, x, y := 0, a, b
		if u.size != unlimited {
			around, x, y = a/u.size, a%u.size, b%u.size
		}
		first := len(hops)
		hops = links.route(x, y, taper, hops)
		for i := first; i < len(hops); i++ {
			hops[i].tier, hops[i].unit = tier, around
		}
		if own && links.switched() {
			hops = append(hops, hop{tier: tier, level: -unitLink, from: b})
		}
		return hops
	}
	panic("network: a node outside the hierarchy")
}

// routing returns the links of the units of a level; units that are some hops apart hang on a switch.
func (u *unit) routing() routing {
	if u.links == nil {
		return star{}
	}
	return u.links.(routing)
}

// width of the link of a unit is the taper's share of what its nodes send, or all of it.
func (h hierarchy) width(l hop, taper share) share {
	if l.level != unitLink && l.level != -unitLink {
		return h.levels[l.tier].routing().width(l, taper)
	}
	nodes := 1
	for _, u := range h.levels[:l.tier] {
		nodes = multiply(nodes, u.size)
	}
	return taper.of(nodes, 1)
}

func (h hierarchy) switched() bool { return h.levels[0].routing().switched() }

func (h hierarchy) tapers() bool {
	for tier, u := range h.levels {
		if links := u.routing(); links.tapers() || tier > 0 && links.switched() {
			return true
		}
	}
	return false
}
