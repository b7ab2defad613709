package network

import (
	"fmt"

	"gigarank/internal/spelling"
)

// dragonfly is the dragonfly of Kim et al. ("Technology-Driven, Highly-Scalable Dragonfly
// Topology", 2008). The routers of a group are linked all to all, and one global link joins every
// two groups. Link q of a group goes to the q-th of the other groups, from router q/links. The hops
// are those of the paper's minimal route, over at most one global link. Before build, groups and
// links may be 0 for as many as the nodes need.
type dragonfly struct {
	groups  int
	routers int // per group
	nodes   int // per router
	links   int // global links per router; routers·links >= groups-1
}

var dragonflyKind = topologyKind{
	name:   "dragonfly",
	fields: []string{"routers", "nodes_per_router", "groups", "global_links"},
	examples: []string{
		"{routers: 3, nodes_per_router: 2}",
		"{routers: 4, nodes_per_router: 7, groups: 9, global_links: 2}",
	},
	parse: func(o *object, _ []*topologyKind) topologySpec { return parseDragonfly(o) },
}

func parseDragonfly(o *object) topologySpec {
	d := dragonfly{
		routers: o.count("routers", true, 1, maxRanks),
		nodes:   o.count("nodes_per_router", true, 1, maxRanks),
		groups:  o.count("groups", false, 1, maxRanks),
		links:   o.count("global_links", false, 1, maxRanks),
	}
	if d.groups == 0 || d.links == 0 || d.routers == 0 {
		return d
	}
	if most := mostGroups(d.routers, d.links); d.groups > most {
		o.fault("groups", fmt.Sprintf("%s with %s each can join at most %s", spelling.Count(d.routers, "router"), spelling.Count(d.links, "global link"), spelling.Count(most, "group")), "lower groups, or raise routers or global_links")
	}
	return d
}

func (dragonfly) kind() string { return "dragonfly" }

func (d dragonfly) write(o *objectWriter) {
	o.number("routers", d.routers)
	o.number("nodes_per_router", d.nodes)
	if d.groups != 0 {
		o.number("groups", d.groups)
	}
	if d.links != 0 {
		o.number("global_links", d.links)
	}
}

func (d dragonfly) build(n int) topology {
	if d.groups == 0 {
		perGroup := multiply(d.routers, d.nodes)
		d.groups = (n-1)/perGroup + 1
		if d.links != 0 {
			d.groups = min(d.groups, mostGroups(d.routers, d.links))
		}
	}
	if d.links == 0 {
		d.links = max(1, (d.groups-1+d.routers-1)/d.routers)
	}
	return d
}

// mostGroups returns the number of groups that a dragonfly's global links can join.
func mostGroups(routers, links int) int {
	if most := multiply(routers, links); most < unlimited {
		return most + 1
	}
	return unlimited
}

func (d dragonfly) hops(a, b int) int {
	if a == b {
		return 0
	}
	ra, rb := a/d.nodes, b/d.nodes
	if ra == rb {
		return 2
	}
	ga, gb := ra/d.routers, rb/d.routers
	if ga == gb {
		return 3
	}
	n := 3
	if ra%d.routers != d.gateway(ga, gb) {
		n++
	}
	if rb%d.routers != d.gateway(gb, ga) {
		n++
	}
	return n
}

// gateway returns the router of a group that has the global link to another group.
func (d dragonfly) gateway(from, to int) int {
	if to > from {
		to--
	}
	return to / d.links
}

func (d dragonfly) capacity() int {
	return multiply(multiply(d.groups, d.routers), d.nodes)
}

func (dragonfly) fewest() int  { return 2 }
func (dragonfly) most(int) int { return 5 }

// The levels of links of a dragonfly.
const (
	localLink  = 1 // between two routers of a group
	globalLink = 2 // between two groups
)

// route is the minimal one, over the global link of the two groups.
func (d dragonfly) route(a, b int, _ share, hops []hop) []hop {
	ra, rb := a/d.nodes, b/d.nodes
	local := func(from, to int) {
		if from != to {
			hops = append(hops, hop{level: localLink, from: from, to: to})
		}
	}
	ga, gb := ra/d.routers, rb/d.routers
	if ga == gb {
		local(ra, rb)
		return hops
	}
	local(ra, ga*d.routers+d.gateway(ga, gb))
	hops = append(hops, hop{level: globalLink, from: ga, to: gb})
	local(gb*d.routers+d.gateway(gb, ga), rb)
	return hops
}

// width of the global links of a group is together the taper's share of what its nodes send, or all of it.
func (d dragonfly) width(h hop, taper share) share {
	if h.level != globalLink {
		return share{}
	}
	return taper.of(multiply(d.routers, d.nodes), d.groups-1)
}

func (dragonfly) switched() bool { return true }
func (dragonfly) tapers() bool   { return true }
