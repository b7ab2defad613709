package mpivirt

import (
	"cmp"
	"slices"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/topology"
	"gigarank/mpivirt/internal/world"
)

// Virtual topologies (MPI 4.1, chapter 8). Ranks keep their numbers: reordering is allowed by
// the standard, not demanded.

type (
	// Grid is a Cartesian grid in row-major order.
	Grid = topology.Grid
	// Neighbors are a member's neighbours, in the order of the blocks in its buffers.
	Neighbors = topology.Neighbors
)

// NewGrid returns a grid without a communicator; see [Comm.CartCreate].
func NewGrid(dims []int, periods []bool) (*Grid, error) { return topology.NewGrid(dims, periods) }

// DimsCreate returns lengths of dimensions whose product is a number of nodes (MPI_Dims_create).
// It keeps those above 0. The others descend and are as close to each other as possible. Errors:
// ErrDims.
func DimsCreate(nodes int, dims []int) ([]int, error) { return topology.Dims(nodes, dims) }

// Topology is a communicator whose members have neighbours: a [Cart], a [Graph] or a
// [DistGraph].
type Topology interface {
	// Neighbors returns the rank's neighbours.
	Neighbors() *Neighbors
	communicator() *Comm
}

// neighborhood is a communicator, and the neighbours of the rank in it.
type neighborhood struct {
	*Comm
	neighbors *Neighbors
}

// Neighbors returns the rank's neighbours. The caller must not change them. Those of a grid are,
// along each dimension, the one in the negative direction and the one in the positive.
func (n *neighborhood) Neighbors() *Neighbors { return n.neighbors }

// refuse returns the error of a call of the rank, after its error handler. It carries out
// nothing.
func (c *Comm) refuse(op world.Procedure, err error) error {
	return c.run(c.r.k.Prepare(kernel.Collective{Procedure: op}), err)
}

// createFirst makes a communicator of the first members; nil for the others. A rank that finds
// an error in the arguments gives it.
func (c *Comm) createFirst(op world.Procedure, members int, err error) (*Comm, error) {
	switch {
	case c == nil:
		return nil, world.NoComm(op)
	case err != nil:
		return nil, c.refuse(op, err)
	case c.c.Size == 0:
		return nil, c.refuse(op, world.Errorf(ErrComm, "%s", c.c))
	case members > c.Size():
		return nil, c.refuse(op, world.Errorf(ErrTopology, "%s of a topology in a communicator of %s", spelling.Count(members, "member"), spelling.Count(c.Size(), "rank")))
	}
	return c.createAs(op, c.Group().First(members))
}

// Cart is a communicator with a Cartesian topology.
type Cart struct {
	neighborhood
	grid *Grid
}

// CartCreate makes a communicator whose members form a grid, from the first members of c
// (MPI_Cart_create). Every member of c calls it with the same arguments; those beyond the grid
// get nil. Member i of c is member i of the grid. It takes the time of Create. Errors: ErrDims;
// ErrTopology if the grid has more members than c.
func (c *Comm) CartCreate(dims []int, periods []bool, _ bool) (*Cart, error) {
	grid, err := topology.NewGrid(dims, periods)
	members := 0
	if err == nil {
		members = grid.Members()
	}
	made, err := c.createFirst(world.CartCreate, members, err)
	return cartOf(made, grid), err
}

// cartOf returns the rank's handle of a grid on a communicator, nil for none.
func cartOf(c *Comm, grid *Grid) *Cart {
	if c == nil {
		return nil
	}
	return &Cart{neighborhood{c, grid.Neighbors(c.Rank())}, grid}
}

// Grid returns the grid: the dimensions and periods of MPI_Cartdim_get and MPI_Cart_get, and
// the arithmetic of MPI_Cart_rank, MPI_Cart_coords and MPI_Cart_shift for any member.
func (c *Cart) Grid() *Grid { return c.grid }

// Coordinates returns those of the rank (MPI_Cart_get).
func (c *Cart) Coordinates() []int {
	at, err := c.grid.Coordinates(c.Rank())
	if err != nil {
		world.Throw(err)
	}
	return at
}

// Shift returns from whom the rank receives and to whom it sends when all shift by a
// displacement along a dimension (MPI_Cart_shift); ProcNull beyond the end of one that is not
// periodic. Errors: ErrDims.
func (c *Cart) Shift(dimension, displacement int) (source, destination int, err error) {
	return c.grid.Shift(c.Rank(), dimension, displacement)
}

// Sub divides the grid into grids of the dimensions that remain (MPI_Cart_sub). Every member
// calls it. It takes the time of a Split. Errors: ErrDims.
func (c *Cart) Sub(remain []bool) (*Cart, error) {
	if c == nil {
		return nil, world.NoComm(world.CartSub)
	}
	sub, color, number, err := c.grid.Sub(c.Rank(), remain)
	if err != nil {
		return nil, c.refuse(world.CartSub, err)
	}
	made, err := c.create(as(world.CartSub)(c.r.k.Split(color, number)))
	return cartOf(made, sub), err
}

func (c *Cart) communicator() *Comm {
	if c == nil {
		return nil
	}
	return c.Comm
}

// Dup is [Comm.Dup] with the same topology.
func (c *Cart) Dup() (*Cart, error) {
	if c == nil {
		return nil, world.NoComm(world.CommDup)
	}
	made, err := c.Comm.Dup()
	return cartOf(made, c.grid), err
}

// Graph is a communicator with a graph that each member knows as a whole.
type Graph struct {
	neighborhood
	graph *topology.Graph
}

// GraphCreate makes a communicator whose members form a graph, from the first members of c
// (MPI_Graph_create). The neighbours of member i are edges[index[i-1]] to edges[index[i]-1]. Every
// member of c calls it with the same arguments; those beyond the graph get nil. Member i of c is
// member i of the graph. It takes the time of Create. Errors: ErrTopology.
func (c *Comm) GraphCreate(index, edges []int, _ bool) (*Graph, error) {
	graph, err := topology.NewGraph(index, edges)
	made, err := c.createFirst(world.GraphCreate, len(index), err)
	return graphOf(made, graph), err
}

func graphOf(c *Comm, graph *topology.Graph) *Graph {
	if c == nil {
		return nil
	}
	return &Graph{neighborhood{c, graph.Neighbors(c.Rank())}, graph}
}

// Index and Edges return the arguments that made the graph (MPI_Graph_get, MPI_Graphdims_get).
func (g *Graph) Index() []int { return g.graph.Index() }

// Edges returns the edges; see Index.
func (g *Graph) Edges() []int { return g.graph.Edges() }

// NeighborsOf returns the neighbours of a member (MPI_Graph_neighbors). Errors: ErrRank.
func (g *Graph) NeighborsOf(member int) ([]int, error) { return g.graph.NeighborsOf(member) }

func (g *Graph) communicator() *Comm {
	if g == nil {
		return nil
	}
	return g.Comm
}

// Dup is [Comm.Dup] with the same topology.
func (g *Graph) Dup() (*Graph, error) {
	if g == nil {
		return nil, world.NoComm(world.CommDup)
	}
	made, err := g.Comm.Dup()
	return graphOf(made, g.graph), err
}

// DistGraph is a communicator with a graph of which each member knows its neighbours.
type DistGraph struct{ neighborhood }

// DistGraphCreateAdjacent makes a communicator with a graph, of which each member names those
// from whom it receives and those to whom it sends (MPI_Dist_graph_create_adjacent). Weights are
// nil for none (MPI_UNWEIGHTED), of all members or of none. It takes the time of a Dup. Errors:
// ErrRank; ErrArgument for weights.
func (c *Comm) DistGraphCreateAdjacent(sources, sourceWeights, destinations, destinationWeights []int, _ bool) (*DistGraph, error) {
	if c == nil {
		return nil, world.NoComm(world.DistGraphCreateAdjacent)
	}
	neighbors, err := topology.NewNeighbors(c.Size(), sources, sourceWeights, destinations, destinationWeights)
	if err != nil {
		return nil, c.refuse(world.DistGraphCreateAdjacent, err)
	}
	made, err := c.createSame(world.DistGraphCreateAdjacent)
	if err != nil {
		return nil, err
	}
	return &DistGraph{neighborhood{made, neighbors}}, nil
}

// DistGraphCreate makes a communicator with a graph, of which each member names any edges
// (MPI_Dist_graph_create): from sources[i] to the next degrees[i] of the destinations. Weights
// are nil for none (MPI_UNWEIGHTED), of all members or of none. A member's neighbours are in the
// order of the members that name them, then in their order. It takes the time of a Dup and of
// ⌈log2 P⌉ rounds of messages that hand the edges on. Errors: ErrRank; ErrArgument for degrees
// and weights.
func (c *Comm) DistGraphCreate(sources, degrees, destinations, weights []int, _ bool) (*DistGraph, error) {
	if c == nil {
		return nil, world.NoComm(world.DistGraphCreate)
	}
	edges, err := topology.Edges(c.Size(), sources, degrees, destinations, weights)
	if err != nil {
		return nil, c.refuse(world.DistGraphCreate, err)
	}
	made, err := c.createSame(world.DistGraphCreate)
	if err != nil {
		return nil, err
	}
	neighbors, err := made.tellEdges(edges, weights != nil)
	if err != nil {
		return nil, err
	}
	return &DistGraph{neighborhood{made, neighbors}}, nil
}

// newsInts is the number of integers of an edge under way: to, by, number, source, destination, weight.
const newsInts = 6

// tellEdges tells both ends of each edge of it, and returns the rank's own neighbours. The edges go in ⌈log2 P⌉ rounds:
// in the round of the distance d each member hands the edges that are to go on by an odd multiple of d to the member that
// is d further on (Bruck et al., 1997). So no member has a list or a message for each other member.
func (c *Comm) tellEdges(edges []topology.Edge, weighted bool) (*Neighbors, error) {
	n, me := c.Size(), c.Rank()
	var held []int
	for i, e := range edges {
		held = append(held, e.Source, me, i, e.Source, e.Destination, e.Weight)
		if e.Destination != e.Source {
			held = append(held, e.Destination, me, i, e.Source, e.Destination, e.Weight)
		}
	}
	for d := 1; d < n; d *= 2 {
		var kept, leaving []int
		for item := range slices.Chunk(held, newsInts) {
			if (item[0]-me+n)%n&d != 0 {
				leaving = append(leaving, item...)
			} else {
				kept = append(kept, item...)
			}
		}
		came, err := exchangeOwn(c, leaving, (me+d)%n, (me-d+n)%n, 0)
		if err != nil {
			return nil, err
		}
		held = append(kept, came...)
	}
	items := slices.Collect(slices.Chunk(held, newsInts))
	slices.SortFunc(items, func(a, b []int) int { return cmp.Or(a[1]-b[1], a[2]-b[2]) })
	var told []int
	for _, item := range items {
		told = append(told, item[newsInts-3:]...)
	}
	return topology.NeighborsOf(me, told, weighted), nil
}

func (g *DistGraph) communicator() *Comm {
	if g == nil {
		return nil
	}
	return g.Comm
}

// Dup is [Comm.Dup] with the same topology.
func (g *DistGraph) Dup() (*DistGraph, error) {
	if g == nil {
		return nil, world.NoComm(world.CommDup)
	}
	made, err := g.Comm.Dup()
	if err != nil {
		return nil, err
	}
	return &DistGraph{neighborhood{made, g.neighbors}}, nil
}

// NewNeighbors returns the neighbours that a member of a communicator of a size names, for event
// ranks; see [Comm.DistGraphCreateAdjacent].
func NewNeighbors(size int, sources, destinations []int) (*Neighbors, error) {
	return topology.NewNeighbors(size, sources, nil, destinations, nil)
}
