package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gigarank/internal/seed"
	"gigarank/mpivirt/native/skeleton/graph"
	"gigarank/mpivirt/native/skeleton/ir"
)

// function returns a function whose blocks go to others, by number.
func function(t *testing.T, to [][]int) *ir.Function {
	t.Helper()
	var s strings.Builder
	s.WriteString("define void @f(i1 %c, i32 %n) {\nentry:\n  br label %b0\n")
	for n, targets := range to {
		_, _ = fmt.Fprintf(&s, "b%d:\n", n)
		switch len(targets) {
		case 0:
			s.WriteString("  ret void\n")
		case 1:
			_, _ = fmt.Fprintf(&s, "  br label %%b%d\n", targets[0])
		case 2:
			_, _ = fmt.Fprintf(&s, "  br i1 %%c, label %%b%d, label %%b%d\n", targets[0], targets[1])
		default:
			_, _ = fmt.Fprintf(&s, "  switch i32 %%n, label %%b%d [\n", targets[0])
			for k, target := range targets[1:] {
				_, _ = fmt.Fprintf(&s, "    i32 %d, label %%b%d\n", k, target)
			}
			s.WriteString("  ]\n")
		}
	}
	m, err := ir.Parse("m.ll", s.String()+"}\n")
	if err != nil {
		t.Fatal(err)
	}
	return m.Symbol("f").Function
}

// randomFlow returns targets of a few blocks.
func randomFlow(random *rand.Rand) [][]int {
	to := make([][]int, 1+random.IntN(9))
	for n := range to {
		for range min(random.IntN(5), 3) {
			to[n] = append(to[n], random.IntN(len(to)))
		}
	}
	return to
}

// twin holds the edges of a graph by another way: those of blocks, and to the exit where no way leads out.
type twin struct {
	n  int // blocks; the exit is behind them
	to [][]int
}

func twinOf(g *graph.Graph) twin {
	w := twin{len(g.Blocks), make([][]int, len(g.Blocks)+1)}
	for n, b := range g.Blocks {
		for _, to := range b.Successors() {
			w.to[n] = append(w.to[n], g.Node(to))
		}
		if len(w.to[n]) == 0 {
			w.to[n] = []int{w.n}
		}
	}
	endless := []int{}
	for n := range w.n {
		if !w.leads(n, w.n, -1) {
			endless = append(endless, n)
		}
	}
	for _, n := range endless {
		w.to[n] = append(w.to[n], w.n)
	}
	return w
}

// leads reports whether a way leads from a node to another one without passing a third one. A way of no steps counts.
func (w twin) leads(from, target, without int) bool {
	if from == without || target == without {
		return false
	}
	met := make([]bool, w.n+1)
	var visit func(n int) bool
	visit = func(n int) bool {
		if n == target {
			return true
		}
		met[n] = true
		return slices.ContainsFunc(w.to[n], func(to int) bool { return to != without && !met[to] && visit(to) })
	}
	return visit(from)
}

// dominates and follows say by their definitions whether a dominates b, and whether a postdominates b.
func (w twin) dominates(a, b int) bool { return a == b || !w.leads(0, b, a) }
func (w twin) follows(a, b int) bool   { return a == b || !w.leads(b, w.n, a) }

// tree checks immediate dominators: the chain of a node has exactly the nodes that dominate it.
func tree(t *testing.T, what string, nearest []int, dominates func(a, b int) bool, root int) {
	t.Helper()
	for b := range nearest {
		chain := map[int]bool{b: true}
		for at := nearest[b]; at >= 0; at = nearest[at] {
			chain[at] = true
		}
		for a := range nearest {
			if chain[a] != dominates(a, b) {
				t.Errorf("%s: does %d dominate %d: %t", what, a, b, chain[a])
			}
		}
	}
	if nearest[root] != -1 {
		t.Errorf("%s: %d dominates the root", what, nearest[root])
	}
}

// TestAgainstDefinitions compares dominators, control dependence and loops of random flows with their definitions.
func TestAgainstDefinitions(t *testing.T) {
	seed := seed.Next()
	random := rand.New(rand.NewPCG(seed, 1))
	for range 400 {
		flow := randomFlow(random)
		g := graph.Of(function(t, flow))
		w := twinOf(g)
		what := fmt.Sprintf("seed %d, %v", seed, flow)
		post := g.Postdominators()
		toExit := func(a, b int) bool { return w.follows(a, b) }
		fromEntry := func(a, b int) bool { return w.dominates(a, b) }
		tree(t, what, g.Dominators(), fromEntry, 0)
		tree(t, what, post, toExit, g.Exit())
		controls := g.Controls()
		for a := range g.Blocks {
			for b := range g.Blocks {
				some, all := false, true // of a's ways lead to b for sure
				for _, to := range w.to[a] {
					sure := w.follows(b, to)
					some, all = some || sure, all && sure
				}
				// b decides on itself if it may run again.
				want := some && !(b != a && w.follows(b, a)) && !(a == b && all)
				if got := slices.Contains(controls[b], a); got != want {
					t.Errorf("%s: does %d decide on %d: %t", what, a, b, got)
				}
			}
		}
		checkLoops(t, what, g, w)
		if t.Failed() {
			return
		}
	}
}

func checkLoops(t *testing.T, what string, g *graph.Graph, w twin) {
	byHeader := map[int]*graph.Loop{}
	for _, l := range g.Loops() {
		byHeader[l.Header] = l
		if p := l.Parent; p != nil && !slices.Contains(p.Nodes, l.Header) {
			t.Errorf("%s: the loop of %d is not in that of %d", what, l.Header, p.Header)
		}
	}
	for h := range g.Blocks {
		var want []int
		for n := range g.Blocks {
			for tail := range g.Blocks {
				back := w.dominates(h, tail) && slices.Contains(w.to[tail], h)
				if back && (n == h || w.leads(n, tail, h)) && !slices.Contains(want, n) {
					want = append(want, n)
				}
			}
		}
		l := byHeader[h]
		if (l == nil) != (want == nil) || l != nil && !slices.Equal(l.Nodes, want) {
			t.Errorf("%s: the loop of %d is %v, and not %v", what, h, l, want)
		}
	}
}

// TestWithout: a graph without the ways of some branches is that of the function with jumps in the place of these branches.
func TestWithout(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 7))
		to := randomFlow(random)
		f, jumps := function(t, to), slices.Clone(to)
		closed := map[*ir.Instr]int{}
		for n, targets := range to {
			if last := f.Blocks[n+1].Last(); len(targets) == 2 && random.IntN(2) == 0 {
				way := random.IntN(2)
				closed[last], jumps[n] = way, []int{targets[1-way]}
			}
		}
		got, want := graph.Without(f, closed), graph.Of(function(t, jumps))
		if len(got.Blocks) != len(want.Blocks) || !slices.EqualFunc(got.Controls(), want.Controls(), slices.Equal) || !slices.Equal(got.Postdominators(), want.Postdominators()) {
			t.Fatalf("seed %d: %v without some ways has controls %v, want %v", seed, to, got.Controls(), want.Controls())
		}
		for n, b := range got.Blocks {
			if b.Name != want.Blocks[n].Name || !slices.Equal(got.To(n), want.To(n)) {
				t.Fatalf("seed %d: node %d is block %s, want %s", seed, n, b.Name, want.Blocks[n].Name)
			}
		}
	}
}
