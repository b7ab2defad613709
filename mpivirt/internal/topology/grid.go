package topology

import (
	"math"
	"slices"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
)

// Grid is a Cartesian grid of members, numbered in row-major order: the last coordinate varies
// fastest. It is immutable. A grid without dimensions has one member.
type Grid struct {
	dims    []int
	periods []bool
	size    int
}

// NewGrid returns a grid with lengths, and whether each dimension is periodic. Errors: ErrDims
// for a length below 1 or lists that differ in length.
func NewGrid(dims []int, periods []bool) (*Grid, error) {
	g := &Grid{dims: slices.Clone(dims), periods: slices.Clone(periods), size: 1}
	if len(dims) != len(periods) {
		return nil, world.Errorf(world.ErrDims, "%d lengths and %d periods of dimensions: give one of each", len(dims), len(periods))
	}
	for d, n := range dims {
		if n < 1 || g.size > world.TagUB/n {
			return nil, world.Errorf(world.ErrDims, "a dimension %d of length %d after %s: lengths are 1 or more, and members at most %d", d, n, spelling.Count(g.size, "member"), world.TagUB)
		}
		g.size *= n
	}
	return g, nil
}

// Dims returns the lengths of the dimensions.
func (g *Grid) Dims() []int { return slices.Clone(g.dims) }

// Periods returns which dimensions are periodic.
func (g *Grid) Periods() []bool { return slices.Clone(g.periods) }

// Members returns the number of members.
func (g *Grid) Members() int { return g.size }

// Member returns the member at coordinates (MPI_Cart_rank). Coordinates of periodic dimensions wrap
// around. Errors: ErrArgument for a wrong number of coordinates, or a coordinate out of range.
func (g *Grid) Member(coordinates []int) (int, error) {
	if len(coordinates) != len(g.dims) {
		return 0, world.Errorf(world.ErrArgument, "%s in a grid of %s", spelling.Count(len(coordinates), "coordinate"), spelling.Count(len(g.dims), "dimension"))
	}
	member := 0
	for d, x := range coordinates {
		n := g.dims[d]
		if g.periods[d] {
			x = (x%n + n) % n
		}
		if x < 0 || x >= n {
			return 0, world.Errorf(world.ErrArgument, "coordinate %d of dimension %d, which is not periodic: coordinates are 0 to %d", x, d, n-1)
		}
		member = member*n + x
	}
	return member, nil
}

// Coordinates returns the coordinates of a member (MPI_Cart_coords). Errors: ErrRank.
func (g *Grid) Coordinates(member int) ([]int, error) {
	if member < 0 || member >= g.size {
		return nil, world.Errorf(world.ErrRank, "member %d of a grid of %d", member, g.size)
	}
	at := make([]int, len(g.dims))
	for d := len(g.dims) - 1; d >= 0; d-- {
		at[d] = member % g.dims[d]
		member /= g.dims[d]
	}
	return at, nil
}

// Shift returns the members from which a member receives and to which it sends when all shift by a
// displacement along a dimension (MPI_Cart_shift); ProcNull beyond the end of a nonperiodic
// dimension. Errors: ErrRank; ErrDims for a dimension that the grid does not have.
func (g *Grid) Shift(member, dimension, displacement int) (source, destination int, err error) {
	if dimension < 0 || dimension >= len(g.dims) {
		return 0, 0, world.Errorf(world.ErrDims, "dimension %d of a grid of %d", dimension, len(g.dims))
	}
	if member < 0 || member >= g.size {
		return 0, 0, world.Errorf(world.ErrRank, "member %d of a grid of %d", member, g.size)
	}
	return g.along(member, dimension, -displacement), g.along(member, dimension, displacement), nil
}

// along returns the member at a displacement along a dimension, ProcNull for none.
func (g *Grid) along(member, dimension, displacement int) int {
	stride := 1
	for _, n := range g.dims[dimension+1:] {
		stride *= n
	}
	n := g.dims[dimension]
	x := member / stride % n
	to := x + displacement
	switch {
	case g.periods[dimension]:
		to = ((x+displacement%n)%n + n) % n
	case displacement >= n || displacement <= -n || to < 0 || to >= n:
		return world.ProcNull
	}
	return member + (to-x)*stride
}

// Sub returns the grid of the remaining dimensions, the color of the members that form it, and the
// number of a member in it (MPI_Cart_sub). Errors: ErrRank; ErrDims if the length of remain is not
// the number of dimensions.
func (g *Grid) Sub(member int, remain []bool) (sub *Grid, color, number int, err error) {
	if len(remain) != len(g.dims) {
		return nil, 0, 0, world.Errorf(world.ErrDims, "a list of %s for a grid of %d", spelling.Count(len(remain), "dimension"), len(g.dims))
	}
	at, err := g.Coordinates(member)
	if err != nil {
		return nil, 0, 0, err
	}
	sub = &Grid{size: 1}
	for d, n := range g.dims {
		if remain[d] {
			sub.dims, sub.periods, sub.size = append(sub.dims, n), append(sub.periods, g.periods[d]), sub.size*n
			number = number*n + at[d]
		} else {
			color = color*n + at[d]
		}
	}
	return sub, color, number, nil
}

// Neighbors returns the neighbours of a member: along each dimension the member in the negative
// direction, then the member in the positive, with ProcNull for a missing one (MPI 4.1, 8.6). A
// block sent in one direction is received from the other direction, even where both lead to the
// same member.
func (g *Grid) Neighbors(member int) *Neighbors {
	n := &Neighbors{}
	for d := range g.dims {
		down, up := g.along(member, d, -1), g.along(member, d, 1)
		n.Sources = append(n.Sources, down, up)
		n.sourceTags = append(n.sourceTags, 2*d+1, 2*d)
		n.destinationTags = append(n.destinationTags, 2*d, 2*d+1)
	}
	n.Destinations = n.Sources
	return n
}

// Dims returns lengths of dimensions whose product is a number of nodes (MPI_Dims_create). It keeps
// positive lengths of dims. The other lengths are in descending order and as close to each other as
// possible: the difference of the greatest and the least is least, and then the greatest. Errors:
// ErrDims for a negative length, or for nodes that are no multiple of the lengths kept.
func Dims(nodes int, dims []int) ([]int, error) {
	dims = slices.Clone(dims)
	rest, free := nodes, 0
	for d, n := range dims {
		switch {
		case n < 0:
			return nil, world.Errorf(world.ErrDims, "dimension %d of length %d: give 0 for one to be chosen", d, n)
		case n == 0:
			free++
		case rest%n != 0:
			return nil, world.Errorf(world.ErrDims, "the lengths given do not divide %s", spelling.Count(nodes, "node"))
		default:
			rest /= n
		}
	}
	if nodes < 1 || free == 0 && rest != 1 {
		return nil, world.Errorf(world.ErrDims, "%s in a grid of lengths %v: give a length of 0, or a product of the nodes", spelling.Count(nodes, "node"), dims)
	}
	chosen := balanced(rest, free)
	for d := range dims {
		if dims[d] == 0 {
			dims[d], chosen = chosen[0], chosen[1:]
		}
	}
	return dims, nil
}

// balanced returns factors of n in descending order, as close to each other as possible.
func balanced(n, factors int) []int {
	divisors := divisorsOf(n)
	var best, chosen []int
	var choose func(rest, left, atMost int)
	choose = func(rest, left, atMost int) {
		if left == 0 {
			if spread := spreadOf(chosen); rest == 1 && (best == nil || spread < spreadOf(best) || spread == spreadOf(best) && chosen[0] < best[0]) {
				best = slices.Clone(chosen)
			}
			return
		}
		for _, d := range divisors {
			if d > atMost || rest%d != 0 {
				continue
			}
			if best != nil && len(chosen) > 0 && chosen[0]-d > spreadOf(best) {
				continue
			}
			if power(d, left) < rest {
				continue // the factors that follow are no greater
			}
			chosen = append(chosen, d)
			choose(rest/d, left-1, d)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(n, factors, n)
	return best
}

// spreadOf returns the difference of the greatest and the least of descending factors.
func spreadOf(factors []int) int {
	if len(factors) == 0 {
		return 0
	}
	return factors[0] - factors[len(factors)-1]
}

// power returns d to the power of n, or the greatest int if the power exceeds it.
func power(d, n int) int {
	product := 1
	for range n {
		if product > math.MaxInt/d {
			return math.MaxInt
		}
		product *= d
	}
	return product
}

// divisorsOf returns the divisors of n in ascending order.
func divisorsOf(n int) []int {
	var low, high []int
	for d := 1; d*d <= n; d++ {
		if n%d == 0 {
			if low = append(low, d); d != n/d {
				high = append(high, n/d)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
