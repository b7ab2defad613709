//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"slices"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/topology"
	"gigarank/mpivirt/internal/world"
)

// virtual is the topology of a communicator, as a rank has it: a grid, a graph, or the rank's
// neighbours only.
type virtual struct {
	grid      *topology.Grid
	graph     *topology.Graph
	neighbors *topology.Neighbors // of a grid or graph once they are needed
}

// place is a communicator as a rank has it.
type place struct{ lp, comm int32 }

// pending stands for the communicator that a rank is making.
const pending = -1

// topologies are the topologies of an engine's communicators. Ranks that give the same arguments in turn
// share a grid or graph.
type topologies struct {
	of    map[place]*virtual
	grid  shared[topology.Grid]
	graph shared[topology.Graph]
}

// shared is the latest grid or graph, and the arguments that it was made from.
type shared[T any] struct {
	arguments []int
	split     int
	made      *T
}

// from returns the grid or graph of arguments whose second part begins at a place.
func (s *shared[T]) from(arguments []int, split int, make func(first, second []int) (*T, error)) (*T, error) {
	if s.made != nil && s.split == split && slices.Equal(s.arguments, arguments) {
		return s.made, nil
	}
	made, err := make(arguments[:split], arguments[split:])
	if err == nil {
		*s = shared[T]{arguments, split, made}
	}
	return made, err
}

// set notes the topology of a communicator.
func (s *topologies) set(lp, comm int32, v *virtual) {
	if s.of == nil {
		s.of = map[place]*virtual{}
	}
	s.of[place{lp, comm}] = v
}

// settle gives the topology that was pending to the communicator that was made, which is nil if the rank is no member.
func (s *topologies) settle(lp int32, made *kernel.Communicator) {
	if v, has := s.of[place{lp, pending}]; has {
		delete(s.of, place{lp, pending})
		if made != nil {
			s.set(lp, made.Index, v)
		}
	}
}

// booleans returns which numbers are not 0.
func booleans(list []int) []bool {
	b := make([]bool, len(list))
	for i, x := range list {
		b[i] = x != 0
	}
	return b
}

// around returns the rank's neighbours in a topology in which it is a member.
func (v *virtual) around(member int) *topology.Neighbors {
	if v.neighbors == nil && v.grid != nil {
		v.neighbors = v.grid.Neighbors(member)
	} else if v.neighbors == nil {
		v.neighbors = v.graph.Neighbors(member)
	}
	return v.neighbors
}

// describe returns the fields of a topology that the runtime keeps.
func (v *virtual) describe(member int) (d C.struct_gigarank_topology) {
	switch {
	case v.grid != nil:
		n := len(v.grid.Dims())
		d.kind, d.nodes, d.indegree, d.outdegree = C.GIGARANK_CART, C.int32_t(n), C.int32_t(2*n), C.int32_t(2*n)
	case v.graph != nil:
		n := C.int32_t(len(v.around(member).Sources))
		d.kind, d.nodes, d.edges, d.indegree, d.outdegree = C.GIGARANK_GRAPH, C.int32_t(v.graph.Members()), C.int32_t(len(v.graph.Edges())), n, n
	default:
		n := v.neighbors
		d.kind, d.indegree, d.outdegree = C.GIGARANK_DIST_GRAPH, C.int32_t(len(n.Sources)), C.int32_t(len(n.Destinations))
		if n.SourceWeights != nil || n.DestinationWeights != nil {
			d.weighted = 1
		}
	}
	return d
}

// madeWithTopology stores a communicator that a rank has made, and its topology if it has a topology.
func (b *body) madeWithTopology(lp int32, c *cCall, made *kernel.Communicator) {
	b.madeComm(lp, c, made)
	c.topology = C.struct_gigarank_topology{}
	if v, has := b.topologies.of[place{lp, made.Index}]; has {
		c.topology = v.describe(int(c.made_member))
	}
}

// copyTopology gives a copy of a communicator the same topology.
func (b *body) copyTopology(lp, from, to int32) {
	if v, has := b.topologies.of[place{lp, from}]; has {
		b.topologies.set(lp, to, v)
	}
}

// withTopology makes a call that makes a communicator with a topology. It reports whether the
// call is over.
func (b *body) withTopology(lp int32, c *cCall) bool {
	k, comm := b.k, b.k.Communicator(int32(c.comm))
	p := procedureOf(int32(c.procedure))
	v, set, err := b.topologyOf(lp, c, comm)
	if err != nil {
		return k.Raise(lp, p, err)
	}
	set.Procedure = p
	b.topologies.set(lp, pending, v)
	return k.Submit(lp, k.Compose(p, comm, int32(c.member)).Enters(set, nil))
}

// topologyOf returns the topology that a call makes, and the collective that makes its
// communicator.
func (b *body) topologyOf(lp int32, c *cCall, comm *kernel.Communicator) (v *virtual, set *kernel.Collective, err error) {
	k, list, n := b.k, integers(c.input, c.given), int(c.n)
	v = &virtual{}
	switch c.procedure {
	case C.GIGARANK_CART_CREATE:
		v.grid, err = b.topologies.grid.from(list, n, newGrid)
		if err == nil {
			set, err = b.createFirst(lp, c, comm, v.grid.Members())
		}
	case C.GIGARANK_GRAPH_CREATE:
		v.graph, err = b.topologies.graph.from(list, n, topology.NewGraph)
		if err == nil {
			set, err = b.createFirst(lp, c, comm, n)
		}
	case C.GIGARANK_CART_SUB:
		var color, number int
		var whole *topology.Grid
		if whole, err = b.gridOf(lp, c); err == nil {
			if v.grid, color, number, err = whole.Sub(int(c.member), booleans(list)); err == nil {
				c.root = C.int32_t(color)
				set, err = k.Split(color, number)
			}
		}
	case C.GIGARANK_DIST_GRAPH_CREATE_ADJACENT:
		in, all := int(c.topology.indegree), int(c.topology.indegree+c.topology.outdegree)
		var sourceWeights, destinationWeights []int
		if c.topology.weighted != 0 {
			sourceWeights, destinationWeights = list[all:all+in], list[all+in:]
		}
		v.neighbors, err = topology.NewNeighbors(comm.Size, list[:in], sourceWeights, list[in:all], destinationWeights)
		c.root, set = 0, k.Dup(k.GroupOf(comm, lp))
	}
	return v, set, err
}

func newGrid(dims, periods []int) (*topology.Grid, error) {
	return topology.NewGrid(dims, booleans(periods))
}

// createFirst returns the collective that makes a communicator of the first members.
func (b *body) createFirst(lp int32, c *cCall, comm *kernel.Communicator, members int) (*kernel.Collective, error) {
	if members > comm.Size {
		return nil, world.Errorf(world.ErrTopology, "%s of a topology in a communicator of %s", spelling.Count(members, "member"), spelling.Count(comm.Size, "rank"))
	}
	g := b.k.GroupOf(comm, lp)
	v, err := b.k.Create(g, g.First(members), int(b.k.Global(lp)))
	c.root = C.int32_t(v.Color())
	return v, err
}

// gridOf returns the grid of a rank's communicator.
func (b *body) gridOf(lp int32, c *cCall) (*topology.Grid, error) {
	if v, has := b.topologies.of[place{lp, int32(c.comm)}]; has && v.grid != nil {
		return v.grid, nil
	}
	return nil, world.Errorf(world.ErrTopology, "the communicator has no Cartesian grid")
}

// graphOf returns the graph of a rank's communicator.
func (b *body) graphOf(lp int32, c *cCall) (*topology.Graph, error) {
	if v, has := b.topologies.of[place{lp, int32(c.comm)}]; has && v.graph != nil {
		return v.graph, nil
	}
	return nil, world.Errorf(world.ErrTopology, "the communicator has no graph")
}

// give stores numbers in a list of C, as many as it has room for, and their number.
func give(c *cCall, lists ...[]int) {
	out, at := numbers(c.output, c.room), 0
	for _, list := range lists {
		for _, x := range list {
			if at < len(out) {
				out[at] = C.int32_t(x)
			}
			at++
		}
	}
	c.outcount = C.int32_t(at)
}

// askTopology answers a request of topologies.
func (b *body) askTopology(lp int32, c *cCall) error {
	list := integers(c.input, c.given)
	switch c.key {
	case C.GIGARANK_DIMS:
		dims, err := topology.Dims(int(c.n), list)
		give(c, dims)
		return err
	case C.GIGARANK_EDGES:
		n, m := int(c.n), int(c.outcount)
		var weights []int
		if c.topology.weighted != 0 {
			weights = list[2*n+m:]
		}
		_, err := topology.Edges(int(c.size), list[:n], list[n:2*n], list[2*n:2*n+m], weights)
		return err
	case C.GIGARANK_SET_NEIGHBORS:
		v := &virtual{neighbors: topology.NeighborsOf(int(c.member), list, c.topology.weighted != 0)}
		b.topologies.set(lp, int32(c.comm), v)
		c.topology = v.describe(int(c.member))
		return nil
	case C.GIGARANK_NEIGHBORS:
		n := b.topologies.of[place{lp, int32(c.comm)}].around(int(c.member))
		give(c, n.Sources, n.SourceWeights, n.Destinations, n.DestinationWeights)
		return nil
	case C.GIGARANK_GRID_MEMBERS:
		g, err := newGrid(list[:c.n], list[c.n:])
		if err == nil {
			c.found = C.int32_t(g.Members())
		}
		return err
	case C.GIGARANK_GRAPH_MEMBERS:
		g, err := topology.NewGraph(list[:c.n], list[c.n:])
		if err == nil {
			c.found = C.int32_t(g.Members())
		}
		return err
	case C.GIGARANK_GRAPH_EDGES, C.GIGARANK_GRAPH_NEIGHBORS:
		return b.askGraph(lp, c)
	}
	return b.askGrid(lp, c, list)
}

func (b *body) askGraph(lp int32, c *cCall) error {
	g, err := b.graphOf(lp, c)
	if err != nil {
		return err
	}
	if c.key == C.GIGARANK_GRAPH_EDGES {
		give(c, g.Index(), g.Edges())
		return nil
	}
	neighbors, err := g.NeighborsOf(int(c.n))
	give(c, neighbors)
	return err
}

func (b *body) askGrid(lp int32, c *cCall, list []int) error {
	g, err := b.gridOf(lp, c)
	if err != nil {
		return err
	}
	switch c.key {
	case C.GIGARANK_GRID:
		periods := make([]int, len(g.Dims()))
		for d, periodic := range g.Periods() {
			if periodic {
				periods[d] = 1
			}
		}
		give(c, g.Dims(), periods)
	case C.GIGARANK_GRID_RANK:
		member, err := g.Member(list)
		c.found = C.int32_t(member)
		return err
	case C.GIGARANK_GRID_COORDINATES:
		at, err := g.Coordinates(int(c.n))
		give(c, at)
		return err
	case C.GIGARANK_GRID_SHIFT:
		source, destination, err := g.Shift(int(c.member), list[0], list[1])
		give(c, []int{source, destination})
		return err
	}
	return nil
}
