package slice

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/graph"
	"gigarank/mpivirt/native/skeleton/ir"
)

// Slice tells which instructions of a program decide its course.
type Slice struct {
	found
	m          *ir.Module
	memory     *memory
	graphs     map[*ir.Function]*graph.Graph
	controls   map[*ir.Function][][]int
	closed     map[*ir.Instr]int                         // ways of branches that are never gone, by the place among their targets
	open       map[*ir.Instr]bool                        // branches whose way to such an end is kept
	ends       []*ir.Instr                               // branches with a closed way to the end of a run that fails
	writers    map[int][]writer                          // by object
	indexed    map[*ir.Instr]bool                        // writers
	payloads   map[string][]payload                      // by group
	receives   map[int][]*payload                        // by object
	params     map[*ir.Local]paramOf                     // of the program's functions
	storesTo   map[*ir.Function]map[ir.Value][]*ir.Instr // by the base of the address
	dominators map[*ir.Function][]int
	kept       map[*ir.Instr]*ir.Instr         // needed instructions, with the instruction that needs them; roots need themselves
	used       map[*ir.Instr]bool              // calls whose result is needed
	read       map[place]*ir.Instr             // memory whose content is needed, with an instruction that needs it
	given      map[*ir.Local]bool              // parameters that are needed
	answers    map[*ir.Function]bool           // functions whose result is needed
	content    map[string]map[string]*ir.Instr // groups and datatypes whose content is needed, with the instruction that needs it
	pending    []*ir.Instr
	buffers    []buffer
	unsure     []*ir.Instr // reductions whose two buffers may be one
	directives []*Directive
	assumed    map[operand]*ir.Const // operands in whose place a directive puts a constant
	unused     map[*ir.Instr]bool    // calls that receive what nobody needs, as a directive says
	trial      *trial                // of what more may be kept; nil for none
	timed      bool                  // the course is complete: what is kept from here on may depend on clocks
	data       []error               // why the course depends on data, by call or branch
	refusals   []error
	refused    map[string]bool // places with reasons of refusals
}

// payload is a buffer of a call.
type payload struct {
	call  *ir.Instr
	arg   int
	role  effects.Role
	kind  string // of the datatype: "floating", "other" or "any"; "" in collectives
	group string
	of    *ir.Local // the parameter of a user-defined operation that points to the content; nil for an argument of the call
	at    []place   // where the content lies
}

// overlaps reports whether the content may lie in some bytes of a place.
func (p *payload) overlaps(at place) bool { return slices.ContainsFunc(p.at, at.overlaps) }

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
	s, err := withEnds(m, directives)
	if s != nil {
		s.tryPayloads()
	}
	if err != nil {
		return nil, err
	}
	var idle []error
	for n, d := range directives {
		without, err := withEnds(m, slices.Delete(slices.Clone(directives), n, n+1))
		if err == nil && !without.needs(d) { // else the program is refused without it
			idle = append(idle, fmt.Errorf("%s: the directive %s is never used: the skeleton without it does not come to that line: leave it out", d.Place, d))
		}
	}
	return s, errors.Join(idle...)
}

// withEnds returns the slice of a program, with those ways to the end of a run that fails for which it keeps no data.
func withEnds(m *ir.Module, directives []*Directive) (*Slice, error) {
	s, err := of(m, directives, nil)
	if err != nil || len(s.ends) == 0 {
		return s, err
	}
	// A way to such an end is left out only if the skeleton would keep data for it.
	open := map[*ir.Instr]bool{}
	for _, branch := range s.ends {
		if s.attempt(func() { s.keep(branch, branch); s.value(branch.Operands[0], branch) }) {
			open[branch] = true
		}
	}
	if len(open) == 0 {
		return s, nil
	}
	return of(m, directives, open)
}

// of returns the slice of a program without the ways that lead to the end of a run that fails, but for those of some branches.
func of(m *ir.Module, directives []*Directive, open map[*ir.Instr]bool) (*Slice, error) {
	s := newSlice(m, directives)
	s.open = open
	s.openGraphs()
	s.survey()
	s.assume()
	if len(s.refusals) > 0 {
		return nil, errors.Join(s.refusals...)
	}
	s.closeEnds()
	if len(s.closed) > 0 {
		s.openGraphs()
		s.survey()
	}
	s.memory = newMemory(m)
	s.index()
	if len(s.refusals) > 0 {
		return nil, errors.Join(s.refusals...)
	}
	s.roots()
	s.close()
	for s.alike() {
		s.close()
	}
	s.data = s.findData()
	s.timed = true
	s.each(func(_ *ir.Function, i *ir.Instr) {
		if e := effectOf(i); e != nil && e.Kind == effects.Record {
			s.keep(i, i)
		}
	})
	s.close()
	if len(s.refusals) > 0 {
		return s, errors.Join(append(s.data, s.refusals...)...)
	}
	return s, nil
}

func newSlice(m *ir.Module, directives []*Directive) *Slice {
	return &Slice{
		m: m, directives: directives, refused: map[string]bool{}, closed: map[*ir.Instr]int{}, assumed: map[operand]*ir.Const{}, unused: map[*ir.Instr]bool{}, graphs: map[*ir.Function]*graph.Graph{}, controls: map[*ir.Function][][]int{},
		writers: map[int][]writer{}, indexed: map[*ir.Instr]bool{}, payloads: map[string][]payload{}, receives: map[int][]*payload{}, params: map[*ir.Local]paramOf{}, storesTo: map[*ir.Function]map[ir.Value][]*ir.Instr{}, dominators: map[*ir.Function][]int{},
		kept: map[*ir.Instr]*ir.Instr{}, used: map[*ir.Instr]bool{}, read: map[place]*ir.Instr{}, given: map[*ir.Local]bool{}, answers: map[*ir.Function]bool{}, content: map[string]map[string]*ir.Instr{},
	}
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
	key := s.shortPlace(i) + ": " + format
	if !s.refused[key] { // a line is refused once for each reason
		s.refused[key] = true
		s.refusals = append(s.refusals, fmt.Errorf("%s: %s", s.place(i), fmt.Sprintf(format, arguments...)))
	}
}

// place returns where an instruction stands in the source, or in the module if that has no line.
func (s *Slice) place(i *ir.Instr) string {
	if p := s.m.Position(i); p != nil && p.Line > 0 {
		return p.String()
	}
	return fmt.Sprintf("%s:%d", s.m.File, i.Line)
}

// hasLine reports whether an instruction has a line of the source.
func (s *Slice) hasLine(i *ir.Instr) bool {
	p := s.m.Position(i)
	return p != nil && p.Line > 0
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
			if _, is := comparisonOf(call); is {
				continue // the call is refused
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
			if s.comes(from, i.Block) {
				s.value(i.Operands[n], i)
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
	case ir.Alloca:
		if len(i.Operands) > 0 {
			s.value(i.Operands[0], i)
			s.keepRestores(i)
		}
	case ir.Load:
		s.value(i.Operands[0], i)
		s.needLoad(i)
	default:
		if _, is := s.closed[i]; is {
			return // one way is left
		}
		for n, v := range i.Operands {
			if s.assumed[operand{i, n}] == nil {
				s.value(v, i)
			}
		}
	}
}

// comes reports whether a way leads from a block to another one at once.
func (s *Slice) comes(from, to *ir.Block) bool {
	g := s.graphs[to.Func]
	return g.Node(from) >= 0 && slices.Contains(g.To(g.Node(from)), g.Node(to))
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
	switch {
	case i.Calls() == "qsort":
		s.refuse(i, "the course of the program depends on what qsort sorts here: skeletons leave it out, and do not keep it: %s", s.chain(i))
	case isGetopt(i):
		for _, call := range s.getopts {
			s.keep(call, i)
		}
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
			s.needMemory(s.bytes(v, s.reached(i, n)), i)
		}
		switch role {
		case effects.Described:
			s.needMemory(s.described(v), i)
		case effects.Nested:
			for _, t := range s.memory.inside(s.memory.node(v), all) {
				s.needPlace(place{t.object, all}, i)
			}
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
		if i.Result != nil {
			s.needMemory(s.places(i.Result, nil), i)
		}
		if e.Kind == effects.Input {
			s.input(i)
		}
	case effects.Alloc, effects.Resize:
		s.keepFrees(i)
	}
}

// keepRestores keeps the calls that take variables from the stack which a kept instruction puts there, where their size is not constant.
func (s *Slice) keepRestores(i *ir.Instr) {
	for _, call := range s.restores[i.Block.Func] {
		s.keep(call, i)
	}
}

// input keeps all statements that read files. Those that write files are left out, so that no file may be both.
func (s *Slice) input(i *ir.Instr) {
	for _, call := range s.inputs {
		s.keep(call, i)
	}
	s.refuseOutputs(i)
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
	if s.read[at] != nil {
		return
	}
	s.read[at] = why
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
		if p.overlaps(at) && !s.isUnused(p) {
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
		s.needMemory(p.at, why)
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
		if p := s.place(i); len(places) == 0 || places[len(places)-1] != p && s.hasLine(i) {
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
