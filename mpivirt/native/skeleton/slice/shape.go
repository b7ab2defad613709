package slice

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/graph"
	"gigarank/mpivirt/native/skeleton/ir"
)

// shapeOf returns a digest of what a task computes in an iteration of each of its loops: where the loops are nested, the opcodes with their types, and the functions that
// are called. Constants are not part of it, so that a program that has been built for other sizes has tasks of the same shapes.
func (k *marker) shapeOf(r *region, g *graph.Graph) string {
	if r.instr != nil {
		return digest(mixOf([]*ir.Instr{r.instr}))
	}
	var parts []string
	within := map[int]bool{}
	for _, l := range r.loops {
		depth := 0
		for _, other := range r.loops {
			if _, inside := slices.BinarySearch(other.Nodes, l.Header); inside {
				depth++
			}
		}
		for _, n := range l.Nodes {
			within[n] = true
		}
		parts = append(parts, fmt.Sprintf("depth %d: %s", depth, mixOf(r.own(g, l))))
	}
	slices.Sort(parts)
	var around []*ir.Instr
	for _, n := range r.nodes {
		if !within[n] {
			around = append(around, g.Blocks[n].Instrs...)
		}
	}
	return digest(strings.Join(append(parts, mixOf(around)), "\n"))
}

// mixOf returns how often instructions have each opcode with each type of a result or of what is stored, and call each function.
func mixOf(all []*ir.Instr) string {
	mix := map[string]int{}
	for _, i := range all {
		switch e := effectOf(i); {
		case e != nil && isHint(e):
		case i.Op == ir.Call:
			mix["call "+i.Calls()]++
		case i.Result != nil:
			mix[i.Op.String()+" "+i.Result.Type.String()]++
		case i.Op == ir.Store:
			mix["store "+i.Operands[0].Of().String()]++
		default:
			mix[i.Op.String()]++
		}
	}
	var text []string
	for _, name := range slices.Sorted(maps.Keys(mix)) {
		text = append(text, fmt.Sprintf("%d %s", mix[name], name))
	}
	return strings.Join(text, ", ")
}

// digest returns twelve digits that stand for a text.
func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12] }
