package slice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// Report returns lines that say what the skeleton has of the program. It is for a module from which [Slice.Emit] has left out the rest.
func (s *Slice) Report(before int, tasks []*Task) string {
	var lines []string
	put := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	after := Instructions(s.m)
	put("%d of %d instructions are kept, %.0f %%", after, before, 100*float64(after)/float64(max(before, 1)))
	lines = append(lines, s.memoryLines()...)
	for _, group := range slices.Sorted(maps.Keys(s.payloads)) {
		what := map[string]string{effects.Messages: "messages between two ranks", effects.Partitioned: effects.Partitioned, effects.Packing: "what is packed"}[group]
		if what == "" {
			what = "MPI_" + group
		}
		if len(s.content[group]) == 0 {
			put("content of %s: left out", what)
			continue
		}
		for _, kind := range slices.Sorted(maps.Keys(s.content[group])) {
			put("content of %s%s: kept, since %s", what, ofKind[kind], s.chain(s.content[group][kind]))
		}
	}
	for _, line := range s.linesOf(s.ends) {
		put("failure left out: no rank is assumed to end the run behind the branch at %s", line)
	}
	for _, line := range s.linesOf(s.unsure) {
		put("failure left out: the two buffers of the reduction at %s are assumed to differ", line)
	}
	for _, d := range s.directives {
		put("directive %s", d)
	}
	for n, t := range tasks {
		counted := spelling.Count(t.Loops, "loop") + " counted"
		if len(t.Unknown) > 0 {
			counted += "; not counted: " + strings.Join(t.Unknown, ", ")
		}
		put("task %d at %s, %s: %s", n+1, t.Line, t.Function, counted)
	}
	return strings.Join(lines, "\n") + "\n"
}

// ofKind says which messages between two ranks are meant.
var ofKind = map[string]string{"floating": " with floating-point numbers", "other": " with integers and characters", "any": " with other datatypes"}

// Instructions returns the number of instructions in a module, without records for debuggers and hints.
func Instructions(m *ir.Module) (n int) {
	for _, f := range m.Functions() {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if e, known := effects.Of(i.Calls()); !known || e.Kind != effects.Hint {
					n++
				}
			}
		}
	}
	return n
}

// memoryLines returns a line for each variable of more than a page and for each allocation: it is kept or left out.
func (s *Slice) memoryLines() (lines []string) {
	const page = 4096
	used := s.usedSymbols()
	put := func(what string, kept bool) {
		lines = append(lines, what+": "+map[bool]string{true: "kept", false: "left out"}[kept])
	}
	for _, g := range s.m.Globals() {
		if size, err := s.m.Layout.Size(g.Type); err == nil && size > page && g.Init != nil {
			put(fmt.Sprintf("variable %s, %d bytes", g.Symbol.Name, size), used[g.Symbol])
		}
	}
	for _, i := range s.allocations {
		switch e := effectOf(i); {
		case e != nil:
			put(fmt.Sprintf("%s at %s", i.Calls(), s.place(i)), s.kept[i] != nil)
		default:
			if size, err := s.m.Layout.Size(i.Type); err == nil && size > page || len(i.Operands) > 0 {
				put(fmt.Sprintf("variable of %s at %s, %d bytes", i.Block.Func.Symbol.Name, s.place(i), size), s.kept[i] != nil)
			}
		}
	}
	return lines
}

// usedSymbols returns the symbols that functions of the module use.
func (s *Slice) usedSymbols() map[*ir.Symbol]bool {
	used := map[*ir.Symbol]bool{}
	var visit func(v ir.Value)
	visit = func(v ir.Value) {
		switch v := v.(type) {
		case *ir.Symbol:
			used[v] = true
		case *ir.Const:
			for _, e := range v.Elems {
				visit(e)
			}
		}
	}
	for _, f := range s.m.Functions() {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				i.Each(func(v *ir.Value) { visit(*v) })
			}
		}
	}
	return used
}
