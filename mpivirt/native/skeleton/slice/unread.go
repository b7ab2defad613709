package slice

import (
	"maps"
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// A collective moves content for all members or for none. So each call of a group without content has a buffer that nobody reads, by which the runtime
// knows it, and the functions of operations do nothing: nobody calls them.

// isReplaced reports whether an argument that points to content which is not needed gets memory that nobody reads in its place, unless it is MPI_IN_PLACE
// then. NULL stays in messages between two ranks alone.
func isReplaced(v ir.Value, e *effects.Effect) bool {
	return !isNumber(v) || e.Group != effects.Messages && isNull(v)
}

// isNull reports whether a value is a null pointer.
func isNull(v ir.Value) bool {
	c, is := v.(*ir.Const)
	return is && c.Form == ir.Literal && c.Text == "null"
}

// alike has the content of collectives needed that could not go without it on all members, and reports whether there are such.
func (s *Slice) alike() (more bool) {
	need := func(group string, why *ir.Instr) {
		if !s.isNeeded(group, "") {
			s.needContent(group, "", why)
			more = true
		}
	}
	for _, group := range slices.Sorted(maps.Keys(s.payloads)) {
		if group == effects.Messages {
			continue
		}
		for _, p := range s.payloads[group] {
			if p.of == nil && !s.replaces(p.call) || p.of != nil && s.acts(s.params[p.of].function) {
				need(group, p.call)
			}
		}
	}
	return more
}

// replaces reports whether a call without content would get memory that nobody reads in the place of a buffer.
func (s *Slice) replaces(call *ir.Instr) bool {
	e := effectOf(call)
	for n, v := range call.Args() {
		if e.Role(n).Payload() && isReplaced(v, e) && !s.memory.isFixed(v) {
			return true
		}
	}
	return false
}

// acts reports whether the skeleton has instructions of a function besides those that only lead through it.
func (s *Slice) acts(f *ir.Function) bool {
	for _, b := range s.graphs[f].Blocks {
		for _, i := range b.Instrs {
			if s.kept[i] != nil && !i.Op.Ends() && !strings.HasPrefix(i.Calls(), "llvm.") {
				return true
			}
		}
	}
	return false
}
