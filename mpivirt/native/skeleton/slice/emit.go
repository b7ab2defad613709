package slice

import (
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// The functions of the runtime that return memory in the place of buffers that nobody reads. They are declared as ptr (ptr). The first two return an argument that is
// MPI_IN_PLACE, the third stands for a null pointer.
const (
	unreadSent     = "gigarank_unread_sent"
	unreadReceived = "gigarank_unread_received"
	unreadNull     = "gigarank_unread_null"
)

// Emit leaves out the instructions of the module that do not decide the program's course.
func (s *Slice) Emit() error {
	for _, name := range []string{unreadSent, unreadReceived, unreadNull} {
		if err := s.m.Declare(name, s.m.Pointer(), s.m.Pointer()); err != nil {
			return err
		}
	}
	for _, f := range s.m.Functions() {
		if s.graphs[f] == nil {
			leaveEmpty(f)
			continue
		}
		s.emitFunction(f)
	}
	return nil
}

// leaveEmpty takes the body of a function that nobody calls. Its address may still be compared, so that it has code: functions without would have one address.
func leaveEmpty(f *ir.Function) {
	if f.Blocks == nil {
		return
	}
	first := f.Blocks[0]
	ret := &ir.Instr{Op: ir.Ret, Block: first}
	if f.Result.Kind != ir.Void {
		ret.Operands = []ir.Value{ir.Zero(f.Result)}
	}
	f.Prefix = bare(f.Prefix)
	first.Instrs, f.Blocks = []*ir.Instr{ret}, f.Blocks[:1]
}

// emitFunction leaves out what is not needed of a function.
func (s *Slice) emitFunction(f *ir.Function) {
	g := s.graphs[f]
	post := g.Postdominators()
	if !s.answers[f] && f.Symbol.Name != "main" {
		f.Prefix = bare(f.Prefix)
	}
	for n := range f.Params {
		if p := &f.Params[n]; !s.given[p.Local] && !copied(p.Attrs) {
			p.Attrs = bare(p.Attrs)
		}
	}
	for n, b := range g.Blocks {
		var left []*ir.Instr
		for _, i := range b.Instrs {
			switch {
			case i.Op.Ends():
				s.putAssumed(i)
				left = append(left, s.end(f, i, g.Blocks, post[n]))
			case s.kept[i] != nil:
				left = append(left, s.emit(i)...)
			}
		}
		b.Instrs = left
	}
	f.Blocks = reachable(f)
}

// reachable returns the blocks that can be reached, in the order of the function, and takes the others out of phis.
func reachable(f *ir.Function) (left []*ir.Block) {
	met := map[*ir.Block]bool{f.Blocks[0]: true}
	for stack := []*ir.Block{f.Blocks[0]}; len(stack) > 0; {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, to := range b.Successors() {
			if !met[to] {
				met[to] = true
				stack = append(stack, to)
			}
		}
	}
	for _, b := range f.Blocks {
		if met[b] {
			left = append(left, b)
		}
	}
	for _, b := range left {
		for _, i := range b.Instrs {
			if i.Op != ir.Phi {
				continue
			}
			var operands []ir.Value
			var from []*ir.Block
			for n, t := range i.Targets {
				if met[t] && slices.Contains(t.Successors(), b) {
					operands, from = append(operands, i.Operands[n]), append(from, t)
				}
			}
			i.Operands, i.Targets = operands, from
		}
	}
	return left
}

// end returns what ends a block: its branch if it is needed, or a jump to where all its ways meet.
func (s *Slice) end(f *ir.Function, i *ir.Instr, blocks []*ir.Block, meeting int) *ir.Instr {
	way, closed := s.closed[i]
	switch {
	case s.kept[i] != nil && closed:
		return &ir.Instr{Op: ir.Br, Block: i.Block, Line: i.Line, Targets: []*ir.Block{i.Targets[1-way]}, Notes: placeOf(i)}
	case s.kept[i] != nil && i.Op != ir.Ret || i.Op == ir.Unreachable || i.Op == ir.Br && len(i.Targets) == 1:
		return i
	case i.Op == ir.Ret && (s.answers[f] || f.Symbol.Name == "main"):
		return i
	case i.Op != ir.Ret && meeting < len(blocks):
		return &ir.Instr{Op: ir.Br, Block: i.Block, Line: i.Line, Targets: []*ir.Block{blocks[meeting]}, Notes: placeOf(i)}
	}
	ret := &ir.Instr{Op: ir.Ret, Block: i.Block, Line: i.Line, Notes: placeOf(i)}
	if f.Result.Kind != ir.Void {
		ret.Operands = []ir.Value{ir.Zero(f.Result)}
	}
	return ret
}

// placeOf returns the note of an instruction that tells its line.
func placeOf(i *ir.Instr) (notes []ir.Note) {
	for _, n := range i.Notes {
		if n.Name == "dbg" {
			notes = append(notes, n)
		}
	}
	return notes
}

// emit returns a needed instruction as it is in the skeleton.
func (s *Slice) emit(i *ir.Instr) []*ir.Instr {
	if i.Op != ir.Call {
		s.putAssumed(i)
		return []*ir.Instr{i}
	}
	e := effectOf(i)
	if e == nil {
		s.emitCall(i)
		return []*ir.Instr{i}
	}
	var before []*ir.Instr
	same := s.same(i, e)
	if s.maybeSame(i, e) {
		s.unsure = append(s.unsure, i)
	}
	for n, v := range i.Args() {
		role := e.Role(n)
		if !role.Payload() || s.isNeeded(e.Group, s.kindOf(i, e, n)) || !isReplaced(v, e) {
			continue
		}
		if n == 1 && same && len(before) == 1 {
			i.Operands[n] = i.Operands[0] // the call fails as that of the program does
			continue
		}
		memory := s.m.Symbol(unreadReceived)
		switch {
		case isNull(v) && !isAlone(e.Group):
			memory = s.m.Symbol(unreadNull)
		case role == effects.Sent:
			memory = s.m.Symbol(unreadSent)
		}
		given := ir.Value(ir.Zero(s.m.Pointer()))
		if s.memory.isFixed(v) {
			given = v
		}
		address := &ir.Instr{Op: ir.Call, Block: i.Block, Line: i.Line, Type: memory.Type, Operands: []ir.Value{given, memory}, Attrs: []string{""}, Notes: placeOf(i)}
		address.Result = &ir.Local{Name: s.m.Fresh(), Type: memory.Type, Def: address}
		i.Operands[n] = address.Result
		before = append(before, address)
	}
	return append(before, i)
}

// putAssumed puts constants in the place of operands, as directives say.
func (s *Slice) putAssumed(i *ir.Instr) {
	for n := range i.Operands {
		if c := s.assumed[operand{i, n}]; c != nil {
			i.Operands[n] = c
		}
	}
}

// emitCall gives constants for arguments that the function does not need.
func (s *Slice) emitCall(i *ir.Instr) {
	f := i.Callee().(*ir.Symbol).Function
	for n, p := range f.Params {
		if !s.given[p.Local] && !copied(p.Attrs) {
			i.Operands[n], i.Attrs[n] = ir.Zero(p.Local.Type), bare(i.Attrs[n])
		}
	}
	if !s.answers[f] {
		i.Flags = bare(i.Flags)
	}
}

// conventions are the words in front of a function's type that say how it is linked and called, not what its result is.
var conventions = []string{"internal", "private", "dso_local", "hidden", "fastcc", "coldcc", "ccc", "tailcc", "signext", "zeroext"}

// bare returns attributes of a result or an argument without claims about its value.
func bare(attributes string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(attributes), func(w string) bool { return !slices.Contains(conventions, w) }), " ")
}
