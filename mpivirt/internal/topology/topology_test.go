package topology

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/world"
)

// MPI 4.1, 8.5.2, the example of MPI_DIMS_CREATE: (6, (0,0)) gives (3,2), (7, (0,0)) gives (7,1), (6, (0,3,0)) gives
// (2,3,1), (7, (0,3,0)) is erroneous.
func TestDimsOfTheStandard(t *testing.T) {
	for _, c := range []struct {
		nodes      int
		dims, want []int
	}{
		{6, []int{0, 0}, []int{3, 2}}, {7, []int{0, 0}, []int{7, 1}}, {6, []int{0, 3, 0}, []int{2, 3, 1}}, {7, []int{0, 3, 0}, nil},
		{24, []int{0, 0, 0}, []int{4, 3, 2}}, {12, []int{4, 3}, []int{4, 3}}, {12, []int{4, 4}, nil}, {1, nil, nil},
		{1 << 30, []int{0, 0, 0}, []int{1 << 10, 1 << 10, 1 << 10}}, {0, []int{0}, nil}, {4, []int{-1, 0}, nil},
	} {
		got, err := Dims(c.nodes, c.dims)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil && c.nodes != 1) || err != nil && !errors.Is(err, world.ErrDims) {
			t.Errorf("%d nodes in %v: %v, %v; want %v", c.nodes, c.dims, got, err, c.want)
		}
	}
}

// "The dimensions are set to be as close to each other as possible", and in non-increasing order
// (8.5.2): no other factors differ by less.
func TestDimsAreAsCloseAsPossible(t *testing.T) {
	spread := func(n, d int) int { // by trying all lengths
		least := n
		var try func(rest, left, low, high int)
		try = func(rest, left, low, high int) {
			if left == 0 {
				if rest == 1 {
					least = min(least, high-low)
				}
				return
			}
			for f := 1; f <= rest; f++ {
				if rest%f == 0 {
					try(rest/f, left-1, min(low, f), max(high, f))
				}
			}
		}
		try(n, d, n, 1)
		return least
	}
	for n := 1; n <= 120; n++ {
		for d := 1; d <= 4; d++ {
			got, err := Dims(n, make([]int, d))
			product := 1
			for _, f := range got {
				product *= f
			}
			if err != nil || product != n || !slices.IsSortedFunc(got, func(a, b int) int { return b - a }) || got[0]-got[d-1] != spread(n, d) {
				t.Errorf("%d nodes in %d dimensions: %v, %v; they can differ by %d", n, d, got, err, spread(n, d))
			}
		}
	}
}

func drawGrid(t *rapid.T) *Grid {
	dims := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 4).Draw(t, "dims")
	g, err := NewGrid(dims, rapid.SliceOfN(rapid.Bool(), len(dims), len(dims)).Draw(t, "periods"))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// MPI 4.1, 8.2: "Row-major numbering is always used for the processes in a Cartesian structure":
// members in order are the coordinates in lexicographic order. MPI_CART_RANK: coordinates out of
// range wrap around in periodic dimensions and are erroneous in others. MPI_CART_SHIFT: source
// and destination lie at the displacement against and along the dimension, or are MPI_PROC_NULL.
func TestGridIsRowMajor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		var before []int
		for member := range g.Members() {
			at, err := g.Coordinates(member)
			if err != nil || member > 0 && slices.Compare(before, at) >= 0 {
				t.Fatalf("member %d is at %v after %v, %v", member, at, before, err)
			}
			before = at
			if back, err := g.Member(at); back != member || err != nil {
				t.Fatalf("%v is member %d, %v; want %d", at, back, err, member)
			}
			for d, n := range g.dims {
				by := rapid.IntRange(-9, 9).Draw(t, "by")
				source, destination, err := g.Shift(member, d, by)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range []struct{ got, at int }{{source, at[d] - by}, {destination, at[d] + by}} {
					there := slices.Clone(at)
					there[d] = c.at
					want, err := g.Member(there)
					if inside := g.periods[d] || c.at >= 0 && c.at < n; inside != (err == nil) || err != nil && !errors.Is(err, world.ErrArgument) {
						t.Fatalf("%v in %v: %v", there, g.dims, err)
					}
					if err != nil {
						want = world.ProcNull
					}
					if c.got != want {
						t.Fatalf("%v shifted along %d by %d: %d, want %d", at, d, by, c.got, want)
					}
				}
			}
		}
		if _, err := g.Coordinates(g.Members()); !errors.Is(err, world.ErrRank) {
			t.Fatalf("member %d: %v", g.Members(), err)
		}
		if _, _, err := g.Shift(0, len(g.dims), 1); !errors.Is(err, world.ErrDims) {
			t.Fatalf("a dimension too many: %v", err)
		}
	})
}

// MPI 4.1, 8.5.7, the example of MPI_CART_SUB: a (2, 3, 4) grid with remain_dims (true, false, true) gives three
// communicators of 8 members in a 2 x 4 grid; with (false, false, true) six of 4 members.
func TestSubOfTheStandard(t *testing.T) {
	g, err := NewGrid([]int{2, 3, 4}, make([]bool, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		remain []bool
		dims   []int
		parts  int
	}{{[]bool{true, false, true}, []int{2, 4}, 3}, {[]bool{false, false, true}, []int{4}, 6}, {make([]bool, 3), nil, 24}} {
		parts := map[int][]int{}
		for member := range g.Members() {
			sub, color, number, err := g.Sub(member, c.remain)
			if err != nil || !slices.Equal(sub.dims, c.dims) || number != len(parts[color]) {
				t.Fatalf("%v: member %d is %d of %d in %v, %v", c.remain, member, number, len(parts[color]), sub.dims, err)
			}
			parts[color] = append(parts[color], member)
		}
		if len(parts) != c.parts {
			t.Errorf("%v: %d parts, want %d", c.remain, len(parts), c.parts)
		}
	}
}

// Both ends of an edge know the same number of messages of each tag between them. What goes up
// comes from below.
func TestNeighborsOfGridsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		type edge struct{ from, to, tag int }
		sent, received := map[edge]int{}, map[edge]int{}
		for member := range g.Members() {
			n := g.Neighbors(member)
			for i, to := range n.Destinations {
				if to != world.ProcNull {
					sent[edge{member, to, n.DestinationTag(i)}]++
				}
			}
			for i, from := range n.Sources {
				if from != world.ProcNull {
					received[edge{from, member, n.SourceTag(i)}]++
				}
			}
			if len(n.Sources) != 2*len(g.dims) || len(n.Destinations) != 2*len(g.dims) {
				t.Fatalf("%d and %d neighbours in %d dimensions", len(n.Sources), len(n.Destinations), len(g.dims))
			}
			for d := range g.dims {
				down, up, _ := g.Shift(member, d, 1)
				if n.Sources[2*d] != down || n.Destinations[2*d+1] != up || n.SourceTag(2*d) != n.DestinationTag(2*d+1) {
					t.Fatalf("member %d: %+v, and along %d from %d to %d", member, n, d, down, up)
				}
			}
		}
		if !reflect.DeepEqual(sent, received) {
			t.Fatalf("%v is sent, %v received", sent, received)
		}
	})
}

// MPI 4.1, 8.5.3, the example of MPI_GRAPH_CREATE: processes 0 to 3 with neighbours {1, 3}, {0}, {3}, {0, 2} are given
// by index 2, 3, 4, 6 and edges 1, 3, 0, 3, 0, 2.
func TestGraphOfTheStandard(t *testing.T) {
	g, err := NewGraph([]int{2, 3, 4, 6}, []int{1, 3, 0, 3, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	for member, want := range [][]int{{1, 3}, {0}, {3}, {0, 2}} {
		if got, err := g.NeighborsOf(member); err != nil || !slices.Equal(got, want) {
			t.Errorf("member %d has %v, %v; want %v", member, got, err, want)
		}
	}
	for _, c := range []struct{ index, edges []int }{
		{[]int{2, 1}, []int{0, 0}}, {[]int{1, 3}, []int{0, 1}}, {[]int{1, 1}, []int{0, 1}}, {[]int{1, 2}, []int{0, 2}}, {[]int{1}, []int{-1}},
	} {
		if _, err := NewGraph(c.index, c.edges); !errors.Is(err, world.ErrTopology) {
			t.Errorf("%v, %v: %v", c.index, c.edges, err)
		}
	}
}

// MPI_DIST_GRAPH_CREATE names sources with the next degrees of the destinations.
func TestEdgesAreNamedBySource(t *testing.T) {
	got, err := Edges(4, []int{3, 0, 3}, []int{2, 0, 1}, []int{1, 1, 2}, []int{5, 6, 7})
	if want := []Edge{{3, 1, 5}, {3, 1, 6}, {3, 2, 7}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, c := range []struct {
		sources, degrees, destinations, weights []int
		want                                    world.ErrorClass
	}{
		{[]int{0}, nil, nil, nil, world.ErrArgument}, {[]int{0}, []int{2}, []int{1}, nil, world.ErrArgument},
		{[]int{0}, []int{1}, []int{1, 2}, nil, world.ErrArgument}, {[]int{0}, []int{-1}, nil, nil, world.ErrArgument},
		{[]int{0}, []int{1}, []int{1}, []int{1, 2}, world.ErrArgument}, {[]int{0}, []int{1}, []int{1}, []int{-2}, world.ErrArgument},
		{[]int{4}, []int{1}, []int{1}, nil, world.ErrRank}, {[]int{0}, []int{1}, []int{-1}, nil, world.ErrRank},
	} {
		if _, err := Edges(4, c.sources, c.degrees, c.destinations, c.weights); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
