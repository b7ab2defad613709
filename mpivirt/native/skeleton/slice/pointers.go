package slice

import (
	"slices"

	"gigarank/mpivirt/native/skeleton/ir"
)

// mostCallees is the number of functions to which a pointer may lead that is called.
const mostCallees = 32

// Resolve puts calls by name in the place of calls by pointers that can only lead to functions that the module names, as those of a table, and
// returns the number of such calls. A choice among several functions compares the pointer.
func Resolve(m *ir.Module) (resolved int) {
	var calls []*ir.Instr
	for _, f := range m.Functions() {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if isIndirect(i) {
					calls = append(calls, i)
				}
			}
		}
	}
	if len(calls) == 0 {
		return 0
	}
	y := newMemory(m)
	for _, f := range m.Functions() {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if i.Op == ir.Load && i.Flags == "volatile" {
					y.add(y.node(i.Result), target{y.outside, anyOffset})
				}
			}
		}
	}
	y.solve()
	for _, i := range calls {
		var callees []*ir.Function
		unsure := i.Prefix == "musttail"
		for _, t := range y.targets(i.Callee()) {
			symbol, is := y.objects[t.object].of.(*ir.Symbol)
			switch {
			case t.object == y.outside || t.offset != (offset{}):
				unsure = true
			case is && symbol.Function != nil && fits(i, symbol.Function):
				callees = append(callees, symbol.Function)
			}
		}
		if !unsure && len(callees) > 0 && len(callees) <= mostCallees {
			choose(m, i, callees)
			resolved++
		}
	}
	return resolved
}

// isIndirect reports whether an instruction calls a pointer that is computed.
func isIndirect(i *ir.Instr) bool {
	if i.Op != ir.Call {
		return false
	}
	_, is := i.Callee().(*ir.Local)
	return is
}

// fits reports whether a call has the arguments and the result of a function. Another function cannot be called so (C11, 6.5.2.2, paragraph 9).
func fits(i *ir.Instr, f *ir.Function) bool {
	switch {
	case f.Variadic || len(i.Args()) != len(f.Params):
		return false
	case i.Result == nil && f.Result.Kind != ir.Void, i.Result != nil && i.Result.Type != f.Result:
		return false
	}
	for n, v := range i.Args() {
		if v.Of() != f.Params[n].Local.Type {
			return false
		}
	}
	return true
}

// choose puts calls of functions in the place of a call by a pointer, each in a block of its own.
func choose(m *ir.Module, i *ir.Instr, callees []*ir.Function) {
	b, f := i.Block, i.Block.Func
	at := slices.Index(b.Instrs, i)
	join := &ir.Block{Name: m.Fresh(), Func: f, Instrs: slices.Clone(b.Instrs[at+1:])}
	for _, moved := range join.Instrs {
		moved.Block = join
	}
	for _, to := range join.Successors() {
		for _, phi := range to.Instrs {
			for n, from := range phi.Targets {
				if phi.Op == ir.Phi && from == b {
					phi.Targets[n] = join
				}
			}
		}
	}
	b.Instrs = slices.Clone(b.Instrs[:at])
	phi := &ir.Instr{Op: ir.Phi, Block: join, Result: i.Result, Notes: i.Notes}
	jump := func(from *ir.Block, condition []ir.Value, to ...*ir.Block) {
		from.Instrs = append(from.Instrs, &ir.Instr{Op: ir.Br, Block: from, Operands: condition, Targets: to, Notes: placeOf(i)})
	}
	made, last := []*ir.Block{}, b
	for n, callee := range callees {
		one := &ir.Block{Name: m.Fresh(), Func: f}
		call := *i
		call.Block, call.Operands, call.Attrs = one, append(slices.Clone(i.Args()), callee.Symbol), slices.Clone(i.Attrs)
		if i.Result != nil {
			call.Result = &ir.Local{Name: m.Fresh(), Type: i.Result.Type, Def: &call}
			phi.Operands, phi.Targets = append(phi.Operands, call.Result), append(phi.Targets, one)
		}
		one.Instrs = []*ir.Instr{&call}
		jump(one, nil, join)
		made = append(made, one)
		if n == len(callees)-1 {
			jump(last, nil, one)
			break
		}
		other := &ir.Block{Name: m.Fresh(), Func: f}
		same := m.Make(last, ir.ICmp, m.Int(1), i.Callee(), callee.Symbol)
		same.Pred, same.Notes = "eq", placeOf(i)
		last.Instrs = append(last.Instrs, same)
		jump(last, []ir.Value{same.Result}, one, other)
		made, last = append(made, other), other
	}
	if i.Result != nil {
		phi.Type, i.Result.Def = i.Result.Type, phi
		join.Instrs = slices.Insert(join.Instrs, 0, phi)
	}
	place := slices.Index(f.Blocks, b) // names that are numbers rise in the order of the text
	f.Blocks = slices.Insert(f.Blocks, place+1, append(made, join)...)
}
