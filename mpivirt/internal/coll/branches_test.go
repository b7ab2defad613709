package coll

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// The engines that take part form one tree, whichever they are: the root is the first, an
// engine's parent has it as a child, the engines below one are those in its range, and paths
// and numbers of children grow as the logarithm of the number of engines.
func TestBranchesFormATree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		takesPart := rapid.SliceOfN(rapid.Bool(), 1, 70).Draw(t, "engines")
		n := len(takesPart)
		asked := 0
		first := func(lo, hi int) int {
			asked++
			for engine := lo; engine < hi; engine++ {
				if takesPart[engine] {
					return engine
				}
			}
			return -1
		}
		root, levels := first(0, n), bits.Len(uint(n-1))
		reached := 0
		var visit func(engine, end, depth int)
		visit = func(engine, end, depth int) {
			reached++
			asked = 0
			b := branchesAmong(engine, n, nil, first)
			switch {
			case engine == root && b.parent != -1:
				t.Fatalf("%v: the root, %d, has the parent %d", takesPart, root, b.parent)
			case depth > levels || len(b.children) > levels || asked > 2*levels:
				t.Fatalf("%v: engine %d at depth %d has %d children, found by %d questions; there are %d levels",
					takesPart, engine, depth, len(b.children), asked, levels)
			}
			next := engine + 1
			for _, child := range b.children {
				if back := branchesAmong(child.engine, n, nil, first); back.parent != engine {
					t.Fatalf("%v: engine %d has the child %d, whose parent is %d", takesPart, engine, child.engine, back.parent)
				}
				if got := first(next, n); got != child.engine || child.end > end {
					t.Fatalf("%v: after engine %d comes %d of those below engine %d, which are before %d", takesPart, next-1, child.engine, engine, end)
				}
				visit(child.engine, child.end, depth+1)
				next = child.end
			}
			if rest := first(next, end); rest >= 0 {
				t.Fatalf("%v: engine %d is below none of the children of %d", takesPart, rest, engine)
			}
		}
		want := 0
		for _, has := range takesPart {
			if has {
				want++
			}
		}
		if root < 0 {
			return
		}
		if visit(root, n, 0); reached != want {
			t.Fatalf("%v: %d engines are in the tree of %d", takesPart, reached, want)
		}
	})
}
