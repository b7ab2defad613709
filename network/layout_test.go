package network

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPermutationIsOneToOne(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 16, 17, 100, 4096, 5000} {
		for seed := range uint64(3) {
			p := newPermutation(n, seed)
			seen := make([]bool, n)
			for i := range n {
				j := p.forward(i)
				if j < 0 || j >= n || seen[j] {
					t.Fatalf("n %d, seed %d: %d goes to %d, out of range or twice", n, seed, i, j)
				}
				seen[j] = true
				if back := p.inverse(j); back != i {
					t.Fatalf("n %d, seed %d: %d goes to %d, which goes back to %d", n, seed, i, j, back)
				}
			}
		}
	}
}

func TestPermutationInverseOfLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, maxRanks).Draw(t, "n")
		p := newPermutation(n, rapid.Uint64().Draw(t, "seed"))
		i := rapid.IntRange(0, n-1).Draw(t, "i")
		if j := p.forward(i); j < 0 || j >= n || p.inverse(j) != i {
			t.Fatalf("%d of %d goes to %d, which goes back to %d", i, n, j, p.inverse(j))
		}
	})
}

// A random permutation leaves one element in place on average, whatever n is,
// and a pair of neighbours stays adjacent as seldom.
func TestPermutationLooksRandom(t *testing.T) {
	const n, seeds = 1000, 200
	fixed, adjacent := 0, 0
	for seed := range uint64(seeds) {
		p := newPermutation(n, seed)
		last := -2
		for i := range n {
			j := p.forward(i)
			if i == j {
				fixed++
			}
			if j == last+1 {
				adjacent++
			}
			last = j
		}
	}
	for what, got := range map[string]int{"fixed points": fixed, "adjacent pairs": adjacent} {
		// Close to a Poisson variable with mean 200, so that 6 standard
		// deviations are 85.
		if math.Abs(float64(got-seeds)) > 85 {
			t.Errorf("%s: %d in %d permutations, expected about %d", what, got, seeds, seeds)
		}
	}
}

// drawTarget draws any machine, laid out for few ranks.
func drawTarget(t *rapid.T) *Target { return drawTargetOf(t, parts{}) }

// meeting against all pairs, over all ranges of few ranks.
func TestMeetingOfAllRanges(t *testing.T) {
	const ranks = 9
	var layouts []layout
	for n := 1; n <= 5; n++ {
		layouts = append(layouts, blocks{ranks, n}, cycle{ranks, n})
	}
	for _, l := range layouts {
		for i := range ranks * ranks * ranks * ranks {
			a, b, c, d := i%ranks, i/ranks%ranks+1, i/ranks/ranks%ranks, i/ranks/ranks/ranks+1
			if a >= b || c >= d {
				continue
			}
			var same, different bool
			for x := a; x < b; x++ {
				for y := c; y < d; y++ {
					same = same || l.node(x) == l.node(y)
					different = different || l.node(x) != l.node(y)
				}
			}
			if s, o := l.meeting(a, b, c, d); s != same || o != different {
				t.Fatalf("%T%+v: [%d,%d) and [%d,%d): same %t, different %t; want %t, %t", l, l, a, b, c, d, s, o, same, different)
			}
		}
	}
}

// Values worked out by hand: 7 ranks, 3 a node.
func TestMappingsByHand(t *testing.T) {
	for _, c := range []struct{ extra, want string }{
		{"mapping: block", "[0 0 0 1 1 1 2]"},
		{"mapping: cyclic", "[0 1 2 0 1 2 0]"},
		{"mapping: cyclic\nnodes: 4", "[0 1 2 3 0 1 2]"},
		{"mapping: cyclic\nnodes: 100", "[0 1 2 3 4 5 6]"},
		{"mapping: file:places", "[0 2 1 0 1 2 0]"}, // of places 4, 9, 5, 4, 5, 9, 4
	} {
		text := "name: m\nranks_per_node: 3\nnetwork: {model: flat, latency: 1us}\n" + c.extra
		m, err := Parse("m.yaml", []byte(text), func(string) ([]byte, error) {
			return []byte("4\n9\n5 # the end of the first board\n4\n\n5\n9\n4\n"), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(7)
		if err != nil {
			t.Fatal(err)
		}
		nodes := make([]int, 7)
		for r := range nodes {
			nodes[r] = target.Node(r)
		}
		if got := fmt.Sprint(nodes); got != c.want {
			t.Errorf("%s: nodes %s, want %s", c.extra, got, c.want)
		}
	}
}

// The hops between nodes of a mapping file are those of their places.
func TestListedNodesKeepTheirPlaces(t *testing.T) {
	m, err := Parse("m.yaml", []byte("name: m\nnodes: 10\nmapping: file:p\ntopology: {kind: ring}\nnetwork: {model: flat, latency: 1us, latency_per_hop: 1ns}"),
		func(string) ([]byte, error) { return []byte("1\n8\n4"), nil })
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(3)
	if err != nil {
		t.Fatal(err)
	}
	// Places 1 and 8 are nodes 0 and 2; round the ring of 10 they are 3 apart.
	if got := target.Hops(target.Node(0), target.Node(1)); got != 3 {
		t.Errorf("hops between places 1 and 8 of a ring of 10: %d, want 3", got)
	}
}

func TestBillionRanks(t *testing.T) {
	const ranks = 1_000_000_000
	for _, mapping := range []string{"block", "cyclic", "random:5"} {
		m, err := Parse("m.yaml", []byte("name: m\nranks_per_node: 12\ntopology: {kind: torus, dimensions: 3}\nmapping: "+mapping+
			"\nnetwork: {model: hops, latency: 1us, latency_per_hop: 100ns}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(ranks)
		if err != nil {
			t.Fatal(err)
		}
		if want := (ranks + 11) / 12; target.Nodes() != want {
			t.Errorf("%s: %d nodes, want %d", mapping, target.Nodes(), want)
		}
		for _, r := range []int{0, 1, 11, 12, 123456789, ranks / 2, ranks - 1} {
			node, found := target.Node(r), false
			for k := range target.NodeSize(node) {
				found = found || target.NodeMember(node, k) == r
			}
			if !found {
				t.Errorf("%s: rank %d is not among the members of its node %d", mapping, r, node)
			}
		}
		if allocations := testing.AllocsPerRun(10, func() {
			target.Delay(7, ranks-1, 64)
			target.NodeMember(5, 3)
			target.Lookahead(0, ranks/2, ranks/2, ranks)
		}); allocations != 0 {
			t.Errorf("%s: %v allocations", mapping, allocations)
		}
	}
}

func TestTargetRefuses(t *testing.T) {
	for _, c := range []struct {
		extra string
		ranks int64
		want  string
	}{
		{"topology: {kind: star}\nnodes: 4", 9, "machine m: 9 ranks need 5 nodes of 2 ranks, but nodes is 4: raise nodes or ranks_per_node, or ask for at most 8 ranks"},
		{"topology: {kind: mesh, dims: [2, 2]}", 9, "machine m: 9 ranks need 5 nodes of 2 ranks, but topology mesh has room for 4: enlarge it, raise ranks_per_node, or ask for at most 8 ranks"},
		{"topology: {kind: star}\nmapping: file:p", 6, "machine m: mapping file:p gives the nodes of 5 ranks, but there are 6: add a line for each rank"},
		{"topology: {kind: star}\nmapping: file:p", 5, "machine m: mapping file:p puts 3 ranks on node 1, but ranks_per_node is 2: raise it, or move ranks"},
		{"topology: {kind: star}\nnodes: 4", 0, "machine m: 0 ranks: the number of ranks must be from 1 to 2^40"},
	} {
		m, err := Parse("m.yaml", []byte("name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, latency_per_hop: 1ns}\n"+c.extra),
			func(string) ([]byte, error) { return []byte("0\n1\n1\n2\n1"), nil })
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Target(c.ranks); err == nil || err.Error() != c.want {
			t.Errorf("%s, %d ranks:\n got %v\nwant %s", c.extra, c.ranks, err, c.want)
		}
	}
}
