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
// then. NULL stays where no other member need agree.
func isReplaced(v ir.Value, e *effects.Effect) bool {
	return !isNumber(v) || !isAlone(e.Group) && isNull(v)
}

// isAlone reports whether calls of a group may go without content beside others that have it: messages between two ranks, and what is packed.
func isAlone(group string) bool {
	return group == effects.Messages || group == effects.Partitioned || group == effects.Packing
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
		if isAlone(group) {
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

// reduces reports whether the calls of a group combine what their first buffer has into the second. MPI refuses that for equal buffers.
func reduces(group string) bool {
	return strings.Contains(group, "educe") || strings.Contains(strings.ToLower(group), "scan")
}

// same reports whether both buffers of a reduction are one address for sure.
func (s *Slice) same(i *ir.Instr, e *effects.Effect) bool {
	return reduces(e.Group) && e.Role(1).Payload() && s.addressOf(i.Args()[0]) == s.addressOf(i.Args()[1])
}

// maybeSame reports whether both buffers of a reduction may be one address, and need not be.
func (s *Slice) maybeSame(i *ir.Instr, e *effects.Effect) bool {
	if !reduces(e.Group) || !e.Role(1).Payload() || s.same(i, e) || s.isNeeded(e.Group, "") {
		return false
	}
	others := s.bytes(i.Args()[1], first(1))
	return slices.ContainsFunc(s.bytes(i.Args()[0], first(1)), func(at place) bool { return slices.ContainsFunc(others, at.overlaps) })
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
