package topology

import (
	"slices"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
)

// Graph is a graph of members that each member knows as a whole. It is immutable.
type Graph struct{ index, edges []int }

// NewGraph returns the graph in which the neighbours of member i are edges index[i-1] to
// index[i]-1, with 0 for index[-1] (MPI 4.1, 8.5.3). Errors: ErrTopology for an index that descends
// or exceeds the edges, or an edge to no member.
func NewGraph(index, edges []int) (*Graph, error) {
	last := 0
	for member, i := range index {
		if i < last || i > len(edges) {
			return nil, world.Errorf(world.ErrTopology, "the neighbours of member %d end at edge %d, after %d of %s", member, i, last, spelling.Count(len(edges), "edge"))
		}
		last = i
	}
	if last != len(edges) {
		return nil, world.Errorf(world.ErrTopology, "%s, of which the index has %d", spelling.Count(len(edges), "edge"), last)
	}
	for i, to := range edges {
		if to < 0 || to >= len(index) {
			return nil, world.Errorf(world.ErrTopology, "edge %d leads to member %d of %d", i, to, len(index))
		}
	}
	return &Graph{slices.Clone(index), slices.Clone(edges)}, nil
}

// Members returns the number of members.
func (g *Graph) Members() int { return len(g.index) }

// Index and Edges return the arguments that made the graph (MPI_Graph_get).
func (g *Graph) Index() []int { return slices.Clone(g.index) }

// Edges returns the edges; see Index.
func (g *Graph) Edges() []int { return slices.Clone(g.edges) }

// NeighborsOf returns the neighbours of a member in the order of the edges
// (MPI_Graph_neighbors). Errors: ErrRank.
func (g *Graph) NeighborsOf(member int) ([]int, error) {
	if member < 0 || member >= len(g.index) {
		return nil, world.Errorf(world.ErrRank, "member %d of a graph of %d", member, len(g.index))
	}
	first := 0
	if member > 0 {
		first = g.index[member-1]
	}
	return slices.Clone(g.edges[first:g.index[member]]), nil
}

// Neighbors returns the neighbours of a member of the graph. The member sends to them and receives
// from them, since an edge leads both ways (MPI 4.1, 8.6).
func (g *Graph) Neighbors(member int) *Neighbors {
	to, err := g.NeighborsOf(member)
	if err != nil {
		return &Neighbors{}
	}
	return &Neighbors{Sources: to, Destinations: to}
}

// Neighbors are the sources from which a member receives, and the destinations to which it sends,
// in the order of the blocks in its buffers. Weights are nil for a graph without weights.
type Neighbors struct {
	Sources, Destinations             []int
	SourceWeights, DestinationWeights []int

	sourceTags, destinationTags []int // nil if all are 0
}

// NewNeighbors returns the neighbours that a member of a communicator of a size names. Errors:
// ErrRank; ErrArgument for a wrong number of weights, or a negative weight.
func NewNeighbors(size int, sources, sourceWeights, destinations, destinationWeights []int) (*Neighbors, error) {
	for _, list := range [][]int{sources, destinations} {
		for _, member := range list {
			if member < 0 || member >= size {
				return nil, world.Errorf(world.ErrRank, "neighbour %d in a communicator of %d", member, size)
			}
		}
	}
	for _, c := range []struct{ members, weights []int }{{sources, sourceWeights}, {destinations, destinationWeights}} {
		if err := CheckWeights(len(c.members), c.weights); err != nil {
			return nil, err
		}
	}
	return &Neighbors{
		Sources: slices.Clone(sources), SourceWeights: slices.Clone(sourceWeights),
		Destinations: slices.Clone(destinations), DestinationWeights: slices.Clone(destinationWeights),
	}, nil
}

// CheckWeights returns the fault of the weights of a number of edges, nil for none or without
// weights.
func CheckWeights(edges int, weights []int) error {
	if weights != nil && len(weights) != edges {
		return world.Errorf(world.ErrArgument, "%s of %s", spelling.Count(len(weights), "weight"), spelling.Count(edges, "edge"))
	}
	if slices.ContainsFunc(weights, func(w int) bool { return w < 0 }) {
		return world.Errorf(world.ErrArgument, "a weight below 0")
	}
	return nil
}

// SourceTag returns the tag of the message from source i.
func (n *Neighbors) SourceTag(i int) int { return tagOf(n.sourceTags, i) }

// DestinationTag returns the tag of the message to destination i.
func (n *Neighbors) DestinationTag(i int) int { return tagOf(n.destinationTags, i) }

func tagOf(tags []int, i int) int {
	if tags == nil {
		return 0
	}
	return tags[i]
}

// Edge is an edge of a distributed graph.
type Edge struct{ Source, Destination, Weight int }

// Edges returns the edges that a member of a communicator of a size names: from sources[i] to the
// next degrees[i] destinations. Without weights each edge has weight 1. Errors: ErrRank;
// ErrArgument for degrees that do not fit, and for weights.
func Edges(size int, sources, degrees, destinations, weights []int) ([]Edge, error) {
	if len(sources) != len(degrees) {
		return nil, world.Errorf(world.ErrArgument, "%d sources with %d degrees: give one of each", len(sources), len(degrees))
	}
	if err := CheckWeights(len(destinations), weights); err != nil {
		return nil, err
	}
	var edges []Edge
	for i, source := range sources {
		if degrees[i] < 0 || degrees[i] > len(destinations)-len(edges) {
			return nil, world.Errorf(world.ErrArgument, "source %d of degree %d, of %d destinations that are left", source, degrees[i], len(destinations)-len(edges))
		}
		for range degrees[i] {
			e := Edge{source, destinations[len(edges)], 1}
			if weights != nil {
				e.Weight = weights[len(edges)]
			}
			if e.Source < 0 || e.Source >= size || e.Destination < 0 || e.Destination >= size {
				return nil, world.Errorf(world.ErrRank, "an edge from %d to %d in a communicator of %d", e.Source, e.Destination, size)
			}
			edges = append(edges, e)
		}
	}
	if len(edges) != len(destinations) {
		return nil, world.Errorf(world.ErrArgument, "%d destinations where the degrees add up to %d", len(destinations), len(edges))
	}
	return edges, nil
}

// NeighborsOf returns the neighbours of a member from the edges at it, three numbers each.
func NeighborsOf(member int, edges []int, weighted bool) *Neighbors {
	n := &Neighbors{}
	if weighted {
		n.SourceWeights, n.DestinationWeights = []int{}, []int{}
	}
	for ; len(edges) > 0; edges = edges[3:] {
		source, destination, weight := edges[0], edges[1], edges[2]
		if destination == member {
			n.Sources = append(n.Sources, source)
			if weighted {
				n.SourceWeights = append(n.SourceWeights, weight)
			}
		}
		if source == member {
			n.Destinations = append(n.Destinations, destination)
			if weighted {
				n.DestinationWeights = append(n.DestinationWeights, weight)
			}
		}
	}
	return n
}
