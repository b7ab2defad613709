package slice

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/graph"
	"gigarank/mpivirt/native/skeleton/ir"
)

// Slice tells which instructions of a program decide its course.
type Slice struct {
	m           *ir.Module
	memory      *memory
	graphs      map[*ir.Function]*graph.Graph
	controls    map[*ir.Function][][]int
	calls       map[*ir.Function][]*ir.Instr // of each function of the program
	returns     map[*ir.Function][]*ir.Instr
	inputs      []*ir.Instr                     // statements that open, read or close files
	outputs     []*ir.Instr                     // statements that write files
	operations  map[*ir.Function]bool           // functions of user-defined operations, which MPI calls
	random      []*ir.Instr                     // calls that share the state of the random numbers
	writers     map[int][]writer                // by object
	indexed     map[*ir.Instr]bool              // writers
	payloads    map[string][]payload            // by group
	receives    map[int][]*payload              // by object
	params      map[*ir.Local]paramOf           // of the program's functions
	kept        map[*ir.Instr]*ir.Instr         // needed instructions, with the instruction that needs them; roots need themselves
	used        map[*ir.Instr]bool              // calls whose result is needed
	read        map[place]bool                  // memory whose content is needed
	given       map[*ir.Local]bool              // parameters that are needed
	answers     map[*ir.Function]bool           // functions whose result is needed
	content     map[string]map[string]*ir.Instr // groups and datatypes whose content is needed, with the instruction that needs it
	pending     []*ir.Instr
	allocations []*ir.Instr // that make memory
	buffers     []buffer
	directives  []*Directive
	assumed     map[operand]*ir.Const // operands in whose place a directive puts a constant
	unused      map[*ir.Instr]bool    // calls that receive what nobody needs, as a directive says
	trial       *trial                // of what more may be kept; nil for none
	timed       bool                  // the course is complete: what is kept from here on may depend on clocks
	refusals    []error
}

// payload is a buffer of a call.
type payload struct {
	call  *ir.Instr
	arg   int
	role  effects.Role
	kind  string // of the datatype: "floating", "other" or "any"; "" in collectives
	group string
	of    *ir.Local // the parameter of a user-defined operation that points to the content; nil for an argument of the call
}

// buffer returns the pointer to the content.
func (p *payload) buffer() ir.Value {
	if p.of != nil {
		return p.of
	}
	return p.call.Args()[p.arg]
}

// writer is an instruction that may write a place.
type writer struct {
	*ir.Instr
	at place
}

// paramOf is a parameter's place.
type paramOf struct {
	function *ir.Function
	index    int
}

// Of returns the slice of a program. The error has all reasons why there is none.
func Of(m *ir.Module, directives ...*Directive) (*Slice, error) {
	s := &Slice{
		m: m, directives: directives, assumed: map[operand]*ir.Const{}, unused: map[*ir.Instr]bool{}, operations: map[*ir.Function]bool{}, graphs: map[*ir.Function]*graph.Graph{}, controls: map[*ir.Function][][]int{}, calls: map[*ir.Function][]*ir.Instr{}, returns: map[*ir.Function][]*ir.Instr{},
		writers: map[int][]writer{}, indexed: map[*ir.Instr]bool{}, payloads: map[string][]payload{}, receives: map[int][]*payload{}, params: map[*ir.Local]paramOf{},
		kept: map[*ir.Instr]*ir.Instr{}, used: map[*ir.Instr]bool{}, read: map[place]bool{}, given: map[*ir.Local]bool{}, answers: map[*ir.Function]bool{}, content: map[string]map[string]*ir.Instr{},
	}
	s.survey()
	s.assume()
	if len(s.refusals) > 0 {
		return nil, errors.Join(s.refusals...)
	}
	s.memory = newMemory(m)
	s.index()
	if len(s.refusals) > 0 {
		return nil, errors.Join(s.refusals...)
	}
	s.roots()
	s.close()
	s.timed = true
	s.each(func(_ *ir.Function, i *ir.Instr) {
		if e := effectOf(i); e != nil && e.Kind == effects.Record {
			s.keep(i, i)
		}
	})
	s.close()
	return s, errors.Join(s.refusals...)
}

// close keeps what the kept instructions need.
func (s *Slice) close() {
	for len(s.pending) > 0 && (s.trial == nil || !s.trial.failed) {
		i := s.pending[len(s.pending)-1]
		s.pending = s.pending[:len(s.pending)-1]
		s.follow(i)
	}
}

// each calls visit with each instruction that can be reached in its function.
func (s *Slice) each(visit func(f *ir.Function, i *ir.Instr)) {
	for _, f := range s.m.Functions() {
		g := s.graphs[f]
		if g == nil {
			continue
		}
		for _, b := range g.Blocks {
			for _, i := range b.Instrs {
				visit(f, i)
			}
		}
	}
}

// refuse notes why there is no slice.
func (s *Slice) refuse(i *ir.Instr, format string, arguments ...any) {
	if s.trial != nil {
		s.trial.failed = true
		return
	}
	err := fmt.Errorf("%s: %s", s.place(i), fmt.Sprintf(format, arguments...))
	if !slices.ContainsFunc(s.refusals, func(e error) bool { return e.Error() == err.Error() }) {
		s.refusals = append(s.refusals, err)
	}
}

// place returns where an instruction stands in the source, or in the module if that has no line.
func (s *Slice) place(i *ir.Instr) string {
	if p := s.m.Position(i); p != nil && p.Line > 0 {
		return p.String()
	}
	return fmt.Sprintf("%s:%d", s.m.File, i.Line)
}

// streams are the variables of the C library that programs use.
var streams = []string{"stdin", "stdout", "stderr"}

// survey finds graphs, and what the slice does not take.
func (s *Slice) survey() {
	for _, g := range s.m.Globals() {
		name := g.Symbol.Name
		switch {
		case strings.HasPrefix(name, "llvm.global_"):
			s.refusals = append(s.refusals, fmt.Errorf("%s: the program has functions that run before main or after it: skeletons do not take them", s.m.File))
		case g.Init == nil && g.Word != "alias" && !slices.Contains(streams, name):
			s.refusals = append(s.refusals, fmt.Errorf("%s: the variable %s is not in the program: skeletons take variables of the C library for streams only", s.m.File, name))
		}
	}
	if main := s.m.Symbol("main"); main == nil || main.Function == nil || main.Function.Blocks == nil {
		s.refusals = append(s.refusals, fmt.Errorf("%s: the program has no function main", s.m.File))
	}
	for _, f := range s.m.Functions() {
		if f.Blocks == nil {
			continue
		}
		g := graph.Of(f)
		s.graphs[f], s.controls[f] = g, g.Controls()
		for n, p := range f.Params {
			s.params[p.Local] = paramOf{f, n}
		}
	}
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
	e, known := effects.Of(callee.Name)
	switch {
	case !known:
		s.refuse(i, "nothing is known of the function %s, which is not part of the program: build its source with --skeleton, too, or leave the call out", callee.Name)
	case len(i.Args()) < len(e.Roles) && !(e.More && len(i.Args()) >= len(e.Roles)-1) || len(i.Args()) > len(e.Roles) && !e.More:
		s.refuse(i, "%s is called with %d arguments, and takes %d", callee.Name, len(i.Args()), len(e.Roles))
	case e.Kind == effects.Random:
		s.random = append(s.random, i)
	case e.Kind == effects.Input:
		s.inputs = append(s.inputs, i)
	case writesFile(i):
		s.outputs = append(s.outputs, i)
	case e.Kind == effects.Alloc || e.Kind == effects.Resize:
		s.allocations = append(s.allocations, i)
	}
}

// operationOf returns the function of a user-defined operation that a call makes, nil if it is not known, and whether it makes one.
func operationOf(i *ir.Instr) (f *ir.Function, is bool) {
	if name := i.Calls(); name != "MPI_Op_create" && name != "mpi_op_create_" {
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
				if strings.Contains(group, "educe") || strings.Contains(group, "scan") || strings.Contains(group, "Scan") {
					one := payload{call: s.calls[f][0], role: effects.Exchanged, group: group, of: p.Local}
					s.payloads[group] = append(s.payloads[group], one)
					for _, at := range s.places(p.Local, nil) {
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
		s.indexPayload(payload{call: b.call, arg: b.arg, role: b.role, kind: s.kindOf(b.call, b.of, b.arg), group: b.of.Group})
	}
	s.indexOperations()
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
	if strings.HasPrefix(i.Calls(), "MPI_Type_") {
		s.checkDisplacements(i, e)
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

// checkDisplacements refuses a datatype whose displacements may be addresses: messages by MPI_BOTTOM would go to any memory.
func (s *Slice) checkDisplacements(i *ir.Instr, e *effects.Effect) {
	for n, v := range i.Args() {
		role := e.Role(n)
		if role == effects.Value && len(s.memory.targets(v)) > 0 || role.Reads() && !isNumber(v) && len(s.memory.inside(s.memory.node(v), all)) > 0 {
			s.refuse(i, "the datatype may have addresses for displacements: skeletons take offsets within a structure, as offsetof gives them")
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
	case *ir.Local:
		if v.Def == nil || v.Def.Op != ir.Alloca {
			return 0, false
		}
		at := s.places(v, v.Def.Type)[0]
		if slices.ContainsFunc(s.buffers, func(b buffer) bool {
			return b.role != effects.Sent && slices.ContainsFunc(s.places(b.call.Args()[b.arg], nil), at.overlaps)
		}) {
			return 0, false
		}
		for _, w := range s.writers[at.object] {
			switch {
			case !at.overlaps(w.at):
				continue
			case w.Op != ir.Store:
				return 0, false
			}
			stored, constant := ir.IntOf(w.Operands[0])
			if !constant || is && stored != n {
				return 0, false
			}
			n, is = stored, true
		}
	}
	return n, is
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

func (s *Slice) indexPayload(p payload) {
	buffer := p.call.Args()[p.arg]
	s.payloads[p.group] = append(s.payloads[p.group], p)
	if isNumber(buffer) {
		return // MPI_IN_PLACE
	}
	at := s.places(buffer, nil)
	if len(at) == 0 {
		s.refuse(p.call, "the pointer to a buffer may lead anywhere: skeletons take pointers into variables and allocated memory")
		return
	}
	for _, place := range at {
		if p.role != effects.Sent {
			s.receives[place.object] = append(s.receives[place.object], &p)
		}
	}
}

// roots keeps what is the course of the program by itself.
func (s *Slice) roots() {
	s.each(func(f *ir.Function, i *ir.Instr) {
		e := effectOf(i)
		switch {
		case e != nil && e.Kind == effects.Course, i.Calls() == effects.TaskEnds:
			s.keep(i, i)
		case (i.Op == ir.Load || i.Op == ir.Store) && i.Flags == "volatile":
			s.keep(i, i)
		case i.Op == ir.Ret && f.Symbol.Name == "main":
			s.keep(i, i)
			for _, v := range i.Operands {
				s.value(v, i)
			}
		}
	})
}

// keep keeps an instruction that another one needs.
func (s *Slice) keep(i, why *ir.Instr) {
	if s.kept[i] == nil && s.allows(i) {
		s.kept[i] = why
		s.pending = append(s.pending, i)
		s.undo(func() { delete(s.kept, i) })
	}
}

// value keeps what makes a value.
func (s *Slice) value(v ir.Value, why *ir.Instr) {
	l, is := v.(*ir.Local)
	switch {
	case !is:
	case l.Def != nil:
		s.keep(l.Def, why)
		if l.Def.Op == ir.Call && !s.used[l.Def] {
			s.used[l.Def] = true
			s.undo(func() { delete(s.used, l.Def) })
			s.result(l.Def, why)
		}
	case !s.given[l]:
		s.given[l] = true
		s.undo(func() { delete(s.given, l) })
		p := s.params[l]
		for _, call := range s.calls[p.function] {
			s.keep(call, why)
			if _, is := operationOf(call); is {
				continue // MPI gives the arguments
			}
			s.value(call.Args()[p.index], why)
		}
	}
}

// result keeps what makes the result of a call.
func (s *Slice) result(call, why *ir.Instr) {
	if e := effectOf(call); e != nil {
		switch {
		case e.Clock && !s.timed:
			s.refuse(call, "the course of the program depends on the time that %s returns here: %s", call.Calls(), s.chain(why))
		case e.Kind == effects.Output && !s.timed:
			s.refuse(call, "the course of the program depends on what %s returns here: %s", call.Calls(), s.chain(why))
		}
		return
	}
	f := call.Callee().(*ir.Symbol).Function
	if !s.answers[f] {
		s.answers[f] = true
		s.undo(func() { delete(s.answers, f) })
		for _, ret := range s.returns[f] {
			s.keep(ret, why)
			for _, v := range ret.Operands {
				s.value(v, ret)
			}
		}
	}
}

// follow keeps what a kept instruction needs.
func (s *Slice) follow(i *ir.Instr) {
	f := i.Block.Func
	s.control(i.Block, i)
	for _, call := range s.calls[f] {
		s.keep(call, i)
	}
	switch i.Op {
	case ir.Phi:
		for n, from := range i.Targets {
			s.value(i.Operands[n], i)
			if s.graphs[f].Node(from) >= 0 {
				s.control(from, i)
				s.keep(from.Last(), i)
			}
		}
	case ir.Call:
		if e := effectOf(i); e != nil {
			s.external(i, e)
			return
		}
		for n, p := range i.Callee().(*ir.Symbol).Function.Params {
			if copied(p.Attrs) {
				s.value(i.Args()[n], i)
			}
		}
	case ir.Ret:
	case ir.Load:
		s.value(i.Operands[0], i)
		s.needMemory(s.places(i.Operands[0], i.Type), i)
	default:
		for n, v := range i.Operands {
			if s.assumed[operand{i, n}] == nil {
				s.value(v, i)
			}
		}
	}
}

// copied reports whether the memory of an argument is copied for the call, so that its address must be one.
func copied(attributes string) bool {
	return strings.Contains(attributes, "byval(") || strings.Contains(attributes, "sret(")
}

// control keeps the branches that decide whether a block runs.
func (s *Slice) control(b *ir.Block, why *ir.Instr) {
	g := s.graphs[b.Func]
	for _, n := range s.controls[b.Func][g.Node(b)] {
		s.keep(g.Blocks[n].Last(), why)
	}
}

// external keeps what a call of a function needs that is not part of the program.
func (s *Slice) external(i *ir.Instr, e *effects.Effect) {
	if e.Kind == effects.Task {
		return // its iterations are kept where they can be; see count
	}
	for n, v := range i.Args() {
		role := e.Role(n)
		if role.Payload() {
			s.bufferAddress(i, n, v)
			continue
		}
		s.value(v, i)
		if e.Kind == effects.Free || e.Kind == effects.Resize {
			continue // the content moves with the memory
		}
		if role.Reads() && !(e.More && v.Of().Kind != ir.Pointer) {
			s.needMemory(s.places(v, nil), i)
		}
		if role == effects.Described {
			s.needMemory(s.described(v), i)
		}
	}
	switch e.Kind {
	case effects.Pure:
		if e.Clock && !s.timed {
			s.refuse(i, "the course of the program depends on the time that %s returns here: %s", i.Calls(), s.chain(i))
		}
	case effects.Random:
		for _, call := range s.random {
			s.keep(call, i)
		}
	case effects.Statement, effects.Input:
		s.needMemory(s.places(i.Result, nil), i)
		if e.Kind == effects.Input {
			s.input(i)
		}
	case effects.Alloc, effects.Resize:
		s.keepFrees(i)
	}
}

// input keeps all statements that read files. Those that write files are left out, so that no file may be both.
func (s *Slice) input(i *ir.Instr) {
	for _, call := range s.inputs {
		s.keep(call, i)
	}
	for _, call := range s.outputs {
		s.refuse(call, "a file may be written here that is read at %s: skeletons leave out what is written, unless to unit 6 or 0", s.place(i))
	}
}

// writesFile reports whether a statement of Fortran may write a file: units 6 and 0 are the terminal.
func writesFile(i *ir.Instr) bool {
	n, known := map[string]int{"_FortranAioBeginExternalListOutput": 0, "_FortranAioBeginUnformattedOutput": 0, "_FortranAioBeginExternalFormattedOutput": 3}[i.Calls()]
	if !known {
		return false
	}
	unit, is := ir.IntOf(i.Args()[n])
	return !is || unit != 6 && unit != 0
}

// bufferAddress keeps the address of a buffer that may be MPI_IN_PLACE.
func (s *Slice) bufferAddress(i *ir.Instr, n int, v ir.Value) {
	if s.memory.isFixed(v) {
		s.value(v, i)
	}
}

// keepFrees keeps the calls that free memory which a kept instruction allocates.
func (s *Slice) keepFrees(i *ir.Instr) {
	for _, p := range s.places(i.Result, nil) {
		for _, w := range s.writers[p.object] {
			if e := effectOf(w.Instr); e != nil && (e.Kind == effects.Free || e.Kind == effects.Resize) {
				s.keep(w.Instr, i)
			}
		}
	}
}

// needMemory keeps what writes the memory of some places.
func (s *Slice) needMemory(all []place, why *ir.Instr) {
	for _, at := range all {
		s.needPlace(at, why)
	}
}

func (s *Slice) needPlace(at place, why *ir.Instr) {
	if s.read[at] {
		return
	}
	s.read[at] = true
	s.undo(func() { delete(s.read, at) })
	if s.trial != nil && s.memory.objects[at.object].large {
		s.trial.failed = true
		return
	}
	for _, w := range s.writers[at.object] {
		if at.overlaps(w.at) {
			s.keep(w.Instr, why)
		}
	}
	for _, p := range s.receives[at.object] {
		if !s.isUnused(p) {
			s.needContent(p.group, p.kind, why)
		}
	}
}

// needContent keeps the content of messages of a group and of datatypes that match a kind.
func (s *Slice) needContent(group, kind string, why *ir.Instr) {
	if s.content[group] == nil {
		s.content[group] = map[string]*ir.Instr{}
	}
	if s.content[group][kind] != nil {
		return
	}
	if s.trial != nil {
		s.trial.failed = true
		return
	}
	s.content[group][kind] = why
	for _, p := range s.payloads[group] {
		if !matches(p.kind, kind) {
			continue
		}
		buffer := p.buffer()
		s.value(buffer, why)
		s.needMemory(s.places(buffer, nil), why)
		s.needContent(group, p.kind, why)
	}
}

func matches(a, b string) bool { return a == b || a == "any" || b == "any" }

// isNeeded reports whether the content of a buffer is needed.
func (s *Slice) isNeeded(group, kind string) bool {
	return s.content[group][kind] != nil
}

// chain returns the places of an instruction and of those that need it, up to a root.
func (s *Slice) chain(i *ir.Instr) string {
	var places []string
	for range 100 {
		if p := s.place(i); len(places) == 0 || places[len(places)-1] != p {
			places = append(places, p)
		}
		why := s.kept[i]
		if why == nil || why == i {
			break
		}
		i = why
	}
	return "it is needed at " + strings.Join(places, ", for ")
}
