package slice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/graph"
	"gigarank/mpivirt/native/skeleton/ir"
)

// streams are the variables of the C library that programs use.
var streams = []string{"stdin", "stdout", "stderr"}

// found is what a survey finds.
type found struct {
	calls       map[*ir.Function][]*ir.Instr // of each function of the program
	returns     map[*ir.Function][]*ir.Instr
	operations  map[*ir.Function]bool        // functions of user-defined operations, which MPI calls
	inputs      []*ir.Instr                  // statements that open, read or close files
	outputs     []*ir.Instr                  // statements that write files
	random      []*ir.Instr                  // calls that share the state of the random numbers
	getopts     []*ir.Instr                  // calls of getopt, which share its state
	restores    map[*ir.Function][]*ir.Instr // calls that take variables from the stack
	allocations []*ir.Instr                  // that make memory
}

func newFound() found {
	return found{calls: map[*ir.Function][]*ir.Instr{}, returns: map[*ir.Function][]*ir.Instr{}, operations: map[*ir.Function]bool{}, restores: map[*ir.Function][]*ir.Instr{}}
}

// openGraphs finds the graphs of functions, without ways that are closed.
func (s *Slice) openGraphs() {
	reached := reachedFunctions(s.m)
	for _, f := range s.m.Functions() {
		if !reached[f] {
			continue
		}
		g := graph.Without(f, s.closed)
		s.graphs[f], s.controls[f] = g, g.Controls()
		for n, p := range f.Params {
			s.params[p.Local] = paramOf{f, n}
		}
	}
}

// reachedFunctions returns the functions of the program to which calls lead from main. Calls by pointers are refused, or have become calls by name, after which nobody
// calls a function whose address is only stored.
func reachedFunctions(m *ir.Module) map[*ir.Function]bool {
	reached := map[*ir.Function]bool{}
	var stack []*ir.Function
	reach := func(f *ir.Function) {
		if f != nil && f.Blocks != nil && !reached[f] {
			reached[f] = true
			stack = append(stack, f)
		}
	}
	if main := m.Symbol("main"); main != nil {
		reach(main.Function)
	}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if i.Op != ir.Call && i.Op != ir.Invoke {
					continue
				}
				for _, v := range i.Operands { // a function among the arguments is called by the one that gets it
					if symbol, is := v.(*ir.Symbol); is {
						reach(symbol.Function)
					}
				}
			}
		}
	}
	return reached
}

// survey finds calls and what else the slice looks up, and refuses what it does not take.
func (s *Slice) survey() {
	for _, g := range s.m.Globals() {
		name := g.Symbol.Name
		switch {
		case strings.HasPrefix(name, "llvm.global_"):
			s.refusals = append(s.refusals, fmt.Errorf("%s: the program has functions that run before main or after it: skeletons do not take them", s.m.File))
		case g.Init == nil && g.Word != "alias" && !slices.Contains(streams, name) && !slices.Contains(ofOptions, name):
			s.refusals = append(s.refusals, fmt.Errorf("%s: the variable %s is not in the program: skeletons take variables of the C library for streams and options only", s.m.File, name))
		}
	}
	if main := s.m.Symbol("main"); main == nil || main.Function == nil || main.Function.Blocks == nil {
		s.refusals = append(s.refusals, fmt.Errorf("%s: the program has no function main", s.m.File))
	}
	s.found = newFound()
	s.each(func(f *ir.Function, i *ir.Instr) {
		switch i.Op {
		case ir.Invoke, ir.LandingPad, ir.Resume:
			s.refuse(i, "an exception may be caught here: skeletons do not take exceptions")
		case ir.Call:
			s.surveyCall(i)
		case ir.Alloca:
			s.allocations = append(s.allocations, i)
		case ir.Ret:
			s.returns[f] = append(s.returns[f], i)
		}
	})
}

// surveyCall takes notice of a call, or refuses it.
func (s *Slice) surveyCall(i *ir.Instr) {
	callee, is := i.Callee().(*ir.Symbol)
	if !is || callee.Function == nil {
		s.refuse(i, "a call by a pointer may go anywhere: skeletons take calls by name only")
		return
	}
	f := callee.Function
	if f.Blocks != nil {
		s.calls[f] = append(s.calls[f], i)
		if f.Variadic || len(i.Args()) != len(f.Params) {
			s.refuse(i, "%s takes a varying number of arguments: skeletons do not take such functions of the program", callee.Name)
		}
		return
	}
	if operation, is := operationOf(i); is {
		if operation == nil {
			s.refuse(i, "the function of the operation is no function of the program that takes four arguments: skeletons take those only")
			return
		}
		s.calls[operation], s.operations[operation] = append(s.calls[operation], i), true
	}
	if comparison, is := comparisonOf(i); is {
		if comparison == nil {
			s.refuse(i, "the function by which qsort compares is no function of the program that takes two arguments: skeletons take those only")
			return
		}
		s.calls[comparison] = append(s.calls[comparison], i)
	}
	if callback := attributeFunction(i); callback != nil {
		s.refuse(i, "MPI calls the function %s of the program when a communicator or a datatype with the attribute is copied or freed: skeletons take attributes without functions of the program", callback.Name)
		return
	}
	e, known := effects.Of(callee.Name)
	switch reason := effects.Refusal(callee.Name); {
	case !known && reason != "":
		s.refuse(i, "%s: %s: skeletons do not take it", callee.Name, reason)
	case !known:
		s.refuse(i, "nothing is known of the function %s, which is not part of the program: build its source with --skeleton, too, or leave the call out", callee.Name)
	case len(i.Args()) < len(e.Roles) && !(e.More && len(i.Args()) >= len(e.Roles)-1) || len(i.Args()) > len(e.Roles) && !e.More && !hasLengths(i, e):
		s.refuse(i, "%s is called with %d arguments, and takes %d", callee.Name, len(i.Args()), len(e.Roles))
	case e.Kind == effects.Random:
		s.random = append(s.random, i)
	case e.Kind == effects.Stack && len(e.Roles) > 0:
		s.restores[i.Block.Func] = append(s.restores[i.Block.Func], i)
	case isGetopt(i):
		s.getopts = append(s.getopts, i)
	case e.Kind == effects.Input:
		s.inputs = append(s.inputs, i)
	case writesFile(i):
		s.outputs = append(s.outputs, i)
	case e.Kind == effects.Alloc && !e.Clock || e.Kind == effects.Resize:
		s.allocations = append(s.allocations, i)
	}
}

// hasLengths reports whether the arguments beyond those of a function of MPI are lengths of texts, which Fortran passes behind them where a buffer is one.
func hasLengths(i *ir.Instr, e *effects.Effect) bool {
	return strings.HasPrefix(i.Calls(), "mpi_") && !slices.ContainsFunc(i.Args()[len(e.Roles):], func(v ir.Value) bool { return v.Of().Kind != ir.Integer })
}

// operationOf returns the function of a user-defined operation that a call makes, nil if it is not known, and whether it makes one.
func operationOf(i *ir.Instr) (f *ir.Function, is bool) {
	if effects.Canonical(i.Calls()) != "op_create" || len(i.Args()) == 0 {
		return nil, false
	}
	symbol, is := i.Args()[0].(*ir.Symbol)
	if !is || symbol.Function == nil || symbol.Function.Blocks == nil || len(symbol.Function.Params) != 4 {
		return nil, true
	}
	return symbol.Function, true
}

// indexOperations has user-defined operations read and write the content of reductions.
func (s *Slice) indexOperations() {
	for _, f := range s.m.Functions() {
		if !s.operations[f] {
			continue
		}
		for _, p := range f.Params[:2] {
			for _, group := range slices.Sorted(maps.Keys(s.payloads)) {
				if reduces(group) {
					one := payload{call: s.calls[f][0], role: effects.Exchanged, group: group, of: p.Local, at: s.places(p.Local, nil)}
					s.payloads[group] = append(s.payloads[group], one)
					for _, at := range one.at {
						s.receives[at.object] = append(s.receives[at.object], &one)
					}
				}
			}
		}
	}
}

// effectOf returns the effect of a call of a function that is not part of the program, nil for other instructions.
func effectOf(i *ir.Instr) *effects.Effect {
	if i.Op != ir.Call {
		return nil
	}
	if f := i.Callee().(*ir.Symbol).Function; f.Blocks != nil {
		return nil
	}
	e, _ := effects.Of(i.Calls())
	return e
}

// index finds the writers of memory and the buffers of messages, and refuses accesses whose pointer may lead anywhere.
func (s *Slice) index() {
	s.each(func(_ *ir.Function, i *ir.Instr) {
		switch i.Op {
		case ir.Load:
			s.access(i, i.Operands[0], false)
		case ir.Store:
			s.access(i, i.Operands[1], true)
		case ir.Call:
			if e := effectOf(i); e != nil {
				s.indexCall(i, e)
			}
		}
	})
	for _, b := range s.buffers { // the datatype of a message may be a variable with one value
		s.indexPayload(payload{call: b.call, arg: b.arg, role: b.role, kind: s.kindOf(b.call, b.of, b.arg), group: b.of.Group}, s.extentOf(b))
	}
	s.indexOperations()
	s.checkDisplacements()
}

// buffer is an argument of a call that points to the content of messages.
type buffer struct {
	call *ir.Instr
	arg  int
	role effects.Role
	of   *effects.Effect
}

// access notes that an instruction reads or writes the memory of a pointer.
func (s *Slice) access(i *ir.Instr, pointer ir.Value, writes bool) {
	at := s.places(pointer, nil)
	if len(at) == 0 {
		if i.Op == ir.Call && isNumber(pointer) {
			return // NULL, MPI_STATUS_IGNORE
		}
		s.refuse(i, "the pointer may lead anywhere: skeletons take pointers into variables and allocated memory")
		return
	}
	if !writes || s.indexed[i] {
		return
	}
	s.indexed[i] = true
	for _, p := range s.written(i) {
		s.writers[p.object] = append(s.writers[p.object], writer{i, p})
	}
}

// isNumber reports whether a value is a constant without an address.
func isNumber(v ir.Value) bool {
	c, is := v.(*ir.Const)
	return is && !slices.ContainsFunc(c.Elems, func(e ir.Value) bool { return !isNumber(e) })
}

func (s *Slice) indexCall(i *ir.Instr, e *effects.Effect) {
	if e.Kind == effects.Hint || e.Kind == effects.Output {
		return
	}
	for n, v := range i.Args() {
		switch role := e.Role(n); {
		case role.Payload():
			s.buffers = append(s.buffers, buffer{i, n, role, e})
		case role.Memory():
			if e.More && v.Of().Kind != ir.Pointer {
				continue // a number that is printed into memory
			}
			s.access(i, v, role.Writes())
		}
	}
}

// floating are the datatypes of floating-point numbers: MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE in mpi.h, MPI_REAL, MPI_COMPLEX, MPI_DOUBLE_PRECISION,
// MPI_DOUBLE_COMPLEX in mpif.h.
var floating = []int64{0x210, 0x214, 0x220, 538, 539, 540, 541}

// handle returns the number of a handle that is constant, in Fortran as the only value of a variable, and whether it is one.
func (s *Slice) handle(v ir.Value) (n int64, is bool) {
	if c, constant := v.(*ir.Const); constant && c.Text == "inttoptr" && len(c.Elems) == 1 {
		return ir.IntOf(c.Elems[0])
	}
	switch v := v.(type) {
	case *ir.Symbol:
		if v.Global != nil && v.Global.Word == "constant" && v.Global.Init != nil {
			return ir.IntOf(v.Global.Init)
		}
		return s.onlyValue(v)
	case *ir.Const:
		if v.Form == ir.Expression && v.Text == "getelementptr" {
			return s.onlyValue(v)
		}
	case *ir.Local:
		if v.Def == nil || v.Def.Op != ir.Alloca {
			return 0, false
		}
		return s.onlyStored(s.places(v, v.Def.Type)[0])
	}
	return 0, false
}

// others are datatypes of integers and characters that match no other type: MPI_SHORT to MPI_UNSIGNED_LONG_LONG, MPI_CHAR.
func others(n int64) bool { return n == 537 || n == 0x209 || n == 0x20A || 0x20B <= n && n <= 0x20F }

// kindOf returns the kind of the datatype of a buffer of a message between two ranks. Types of different kinds match only if a kind is "any".
func (s *Slice) kindOf(i *ir.Instr, e *effects.Effect, arg int) string {
	if e.Group != effects.Messages {
		return ""
	}
	n, is := s.handle(i.Args()[arg+2])
	switch {
	case is && slices.Contains(floating, n):
		return "floating"
	case is && others(n):
		return "other"
	}
	return "any"
}

func (s *Slice) indexPayload(p payload, extent span) {
	buffer := p.call.Args()[p.arg]
	p.at = s.bytes(buffer, extent)
	s.payloads[p.group] = append(s.payloads[p.group], p)
	if isNumber(buffer) {
		return // MPI_IN_PLACE
	}
	if len(p.at) == 0 {
		s.refuse(p.call, "the pointer to a buffer may lead anywhere: skeletons take pointers into variables and allocated memory")
		return
	}
	for _, place := range p.at {
		if of := s.receives[place.object]; p.role != effects.Sent && !slices.Contains(of, &p) {
			s.receives[place.object] = append(of, &p)
		}
	}
}
