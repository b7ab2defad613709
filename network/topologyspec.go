package network

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// topologySpec is a topology as the machine file gives it. What the file leaves
// out is 0, and follows from the number of nodes.
type topologySpec struct {
	kind         string
	dims         []int      // mesh, torus, twisted-torus
	dimensions   int        // mesh, torus: number of dims, where dims is left out
	twist        int        // twisted-torus
	arity        int        // tree, fat-tree
	levels       int        // fat-tree
	groups       int        // dragonfly
	routers      int        // dragonfly: per group
	routerNodes  int        // dragonfly: nodes per router
	globalLinks  int        // dragonfly: per router
	hierarchical []unitSpec // hierarchy, from the inside out
}

// unitSpec is one level of a hierarchy.
type unitSpec struct {
	size  int // 0 in the outermost level for any number
	hops  int
	links *topologySpec // instead of hops
}

// topologyFields are the fields of each kind beside the kind itself.
var topologyFields = map[string][]string{
	"star":          {},
	"ring":          {},
	"mesh":          {"dims", "dimensions"},
	"torus":         {"dims", "dimensions"},
	"twisted-torus": {"dims", "twist"},
	"tree":          {"arity"},
	"fat-tree":      {"arity", "levels"},
	"dragonfly":     {"routers", "nodes_per_router", "groups", "global_links"},
	"hierarchy":     {"levels"},
}

// build returns the topology of a machine with n nodes. Its capacity may turn
// out smaller.
func (s *topologySpec) build(n int) topology {
	switch s.kind {
	case "ring":
		return grid{dims: []int{n}, wrap: true}
	case "mesh", "torus":
		dims := s.dims
		if dims == nil {
			dims = nearCube(n, s.dimensions)
		}
		return grid{dims: dims, wrap: s.kind == "torus"}
	case "twisted-torus":
		return twistedTorus{s.dims, s.twist}
	case "tree":
		return tree{s.arity}
	case "fat-tree":
		levels := max(s.levels, 1)
		for s.levels == 0 && raise(s.arity, levels) < n {
			levels++
		}
		return fatTree{s.arity, levels}
	case "dragonfly":
		return s.buildDragonfly(n)
	case "hierarchy":
		return s.buildHierarchy(n)
	}
	return star{}
}

func (s *topologySpec) buildDragonfly(n int) topology {
	d := dragonfly{groups: s.groups, routers: s.routers, nodes: s.routerNodes, links: s.globalLinks}
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

// mostGroups is how many groups a dragonfly's global links can join.
func mostGroups(routers, links int) int {
	if most := multiply(routers, links); most < unlimited {
		return most + 1
	}
	return unlimited
}

func (s *topologySpec) buildHierarchy(n int) topology {
	levels := make([]unit, len(s.hierarchical))
	for i, u := range s.hierarchical {
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

func (s *topologySpec) yaml(w *writer, path string) *yaml.Node {
	o := w.object(path)
	o.text("kind", s.kind)
	if s.dims != nil {
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, d := range s.dims {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(d)})
		}
		o.put("dims", list)
	}
	for _, f := range []struct {
		key   string
		value int
	}{
		{"dimensions", s.dimensions}, {"twist", s.twist}, {"arity", s.arity}, {"levels", s.levels},
		{"routers", s.routers}, {"nodes_per_router", s.routerNodes}, {"groups", s.groups}, {"global_links", s.globalLinks},
	} {
		if f.value != 0 || f.key == "twist" && s.kind == "twisted-torus" {
			o.number(f.key, f.value)
		}
	}
	if s.hierarchical != nil {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for i, u := range s.hierarchical {
			list.Content = append(list.Content, u.yaml(w, path+".levels["+strconv.Itoa(i)+"]"))
		}
		o.put("levels", list)
	}
	return o.node
}

func (u *unitSpec) yaml(w *writer, path string) *yaml.Node {
	o := w.object(path)
	if u.size != 0 {
		o.number("size", u.size)
	}
	if u.links == nil {
		o.number("hops", u.hops)
	} else {
		o.put("topology", u.links.yaml(w, fieldPath(path, "topology")))
	}
	return o.node
}
