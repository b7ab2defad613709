package slice

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// Data is memory of more than a page that holds floating-point numbers, or integers that are made of them. Other large memory, as a table of ranks, is not data: programs
// choose partners by it.

// Data returns an error for each call of MPI, and each end of the program, that depends on data: the skeleton computes these as the program does. It has the lines from
// the data to the call, and what would help. It is nil if the course depends on none.
func (s *Slice) Data() error { return errors.Join(s.data...) }

// findData returns the errors of [Slice.Data]. What is kept later, for tasks and records, is no part of the course.
func (s *Slice) findData() (all []error) {
	readers, order := map[int]*ir.Instr{}, map[*ir.Instr]int{}
	floating := map[int]bool{}
	made := floats{s: s, met: map[ir.Value]bool{}}
	s.each(func(_ *ir.Function, i *ir.Instr) { order[i] = len(order) })
	note := func(object int, why *ir.Instr) {
		of := s.memory.objects[object]
		if _, content := of.of.(*ir.Local); !of.large || content || s.kept[why] == nil {
			return // what an operation of the program gets is the content of buffers, which are memory by themselves
		}
		if first := readers[object]; first == nil || order[why] < order[first] {
			readers[object] = why
		}
	}
	for at, why := range s.read {
		note(at.object, why)
	}
	s.each(func(_ *ir.Function, i *ir.Instr) {
		if i.Op != ir.Load || s.kept[i] == nil {
			return
		}
		for _, at := range s.places(i.Operands[0], i.Type) {
			note(at.object, i)
			floating[at.object] = floating[at.object] || isFloating(i.Type)
		}
	})
	met := map[string]bool{}
	for _, object := range slices.SortedFunc(maps.Keys(readers), func(a, b int) int { return order[readers[a]] - order[readers[b]] }) {
		if !floating[object] && !s.holdsFloats(object, &made) {
			continue
		}
		chain := s.chainOf(readers[object])
		if root := s.shortPlace(chain[len(chain)-1]); !met[root] {
			met[root] = true
			all = append(all, s.dataError(object, chain))
		}
	}
	return all
}

// holdsFloats reports whether the skeleton stores into an object what is made of floating-point numbers.
func (s *Slice) holdsFloats(object int, made *floats) bool {
	return slices.ContainsFunc(s.writers[object], func(w writer) bool {
		return w.Op == ir.Store && s.kept[w.Instr] != nil && made.from(w.Operands[0])
	})
}

// isFloating reports whether a type has floating-point numbers.
func isFloating(t *ir.Type) bool {
	return t.IsFloat() || (t.Kind == ir.Array || t.Kind == ir.Vector) && isFloating(t.Elem) || t.Kind == ir.Struct && slices.ContainsFunc(t.Fields, isFloating)
}

// floats tells which values are made of floating-point numbers that memory holds, that a loop carries on or that are drawn, by way of no memory. A square root of the
// number of ranks is none.
type floats struct {
	s   *Slice
	met map[ir.Value]bool // false while operands are looked at
}

func (f *floats) from(v ir.Value) bool {
	l, is := v.(*ir.Local)
	if !is {
		return false
	}
	if known, met := f.met[l]; met {
		return known
	}
	f.met[l] = false
	if l.Def == nil {
		f.met[l] = slices.ContainsFunc(f.given(l), f.from)
	} else {
		f.met[l] = f.made(l.Def)
	}
	return f.met[l]
}

// given returns what the program gives for a parameter.
func (f *floats) given(l *ir.Local) (all []ir.Value) {
	p := f.s.params[l]
	for _, call := range f.s.calls[p.function] {
		if p.index < len(call.Args()) {
			all = append(all, call.Args()[p.index])
		}
	}
	return all
}

// made is from for the result of an instruction.
func (f *floats) made(i *ir.Instr) bool {
	switch callee := definedCallee(i); {
	case i.Op == ir.Load || i.Op == ir.Phi && isFloating(i.Result.Type):
		return isFloating(i.Result.Type)
	case i.Op == ir.Alloca:
		return false
	case callee != nil:
		return slices.ContainsFunc(f.s.returns[callee], func(ret *ir.Instr) bool { return slices.ContainsFunc(ret.Operands, f.from) })
	case i.Op == ir.Call:
		if e := effectOf(i); e != nil && e.Kind != effects.Pure && isFloating(i.Result.Type) {
			return true
		}
		return slices.ContainsFunc(i.Args(), f.from)
	}
	return slices.ContainsFunc(i.Operands, f.from)
}

// chainOf returns an instruction and those that need it, up to a root.
func (s *Slice) chainOf(i *ir.Instr) (all []*ir.Instr) {
	for {
		all = append(all, i)
		why := s.kept[i]
		if why == nil || why == i {
			return all
		}
		i = why
	}
}

// dependence is why the course depends on data.
type dependence struct {
	said    string   // the lines from the data to the call
	help    []string // directives that would leave the data out
	payload string   // such a directive that may name a call whose content is not the reason
	keeps   bool     // --keep-data would build a skeleton
}

func (d *dependence) Error() string {
	help := d.help
	if d.payload != "" {
		help = append(slices.Clone(help), d.payload)
	}
	remedy := "no directive leaves that out"
	if len(help) > 0 {
		remedy = fmt.Sprintf("if the data decide nothing, write %q into a file for --directives", help[0])
		for _, other := range help[1:] {
			remedy += fmt.Sprintf(", or %q", other)
		}
	}
	if d.keeps {
		remedy += "; --keep-data builds a skeleton that computes the data as the program does"
	}
	return d.said + ": " + remedy
}

// tryPayloads takes those directives from the errors of [Slice.Data] that do not help: what a call receives is not what the course depends on.
func (s *Slice) tryPayloads() {
	for _, err := range s.data {
		d := err.(*dependence)
		if d.payload == "" {
			continue
		}
		more, err := ParseDirectives("", d.payload+"\n")
		if err != nil {
			continue
		}
		with, _ := withEnds(s.m, slices.Concat(s.directives, more))
		if with != nil && slices.ContainsFunc(with.data, func(err error) bool { return err.(*dependence).said == d.said }) {
			d.payload = ""
		}
	}
}

// dataError returns the error of data that a chain of instructions needs, the last of which is of the course.
func (s *Slice) dataError(object int, chain []*ir.Instr) error {
	root := chain[len(chain)-1]
	what := "the end of the program"
	if root.Op == ir.Call {
		what = root.Calls()
	}
	said := fmt.Sprintf("%s: %s depends on data: %s", s.shortPlace(root), what, s.nameOf(object))
	for _, w := range s.writers[object] {
		if s.kept[w.Instr] != nil {
			said += ", which is written at " + s.shortPlace(w.Instr)
			break
		}
	}
	said += "; " + s.chain(chain[0])
	d := &dependence{said: said, keeps: len(s.refusals) == 0}
	for n, i := range slices.Backward(chain) {
		if i.Op == ir.Br && len(i.Targets) == 2 && n > 0 && !chain[n-1].Op.Ends() { // its condition needs the data, not where it stands
			if at := s.namedAs(i, chain[:n+1]); at != "" {
				d.help = append(d.help, fmt.Sprintf("branch %s never", at), fmt.Sprintf("branch %s always", at))
			}
			break
		}
	}
	for _, i := range slices.Backward(chain) {
		if at := s.receivedAt(i); at != "" {
			d.payload = fmt.Sprintf("payload %s unused", at)
			break
		}
	}
	return d
}

// namedAs returns the line by which a directive names a branch, "" for none: its own, or that of a part of its condition, to which a chain leads.
func (s *Slice) namedAs(branch *ir.Instr, chain []*ir.Instr) string {
	at := operand{branch, 0}
	for _, i := range slices.Backward(chain) {
		p := s.m.Position(i)
		if p == nil || p.Line == 0 {
			continue
		}
		if d := (&Directive{Kind: "branch", File: path.Base(p.File), Line: p.Line}); s.isNamed(d, at, at) {
			return fmt.Sprintf("%s:%d", d.File, d.Line)
		}
	}
	return ""
}

// receivedAt returns the line of a call that receives what a load reads, "" if there is none.
func (s *Slice) receivedAt(i *ir.Instr) string {
	if i.Op != ir.Load {
		return ""
	}
	for _, at := range s.places(i.Operands[0], i.Type) {
		for _, p := range s.receives[at.object] {
			if line := s.m.Position(p.call); p.role != effects.Sent && p.of == nil && p.overlaps(at) && !s.isUnused(p) && s.isNeeded(p.group, p.kind) && line != nil && line.Line > 0 {
				return fmt.Sprintf("%s:%d", path.Base(line.File), line.Line)
			}
		}
	}
	return ""
}

// nameOf returns how the source names an object.
func (s *Slice) nameOf(object int) string {
	switch of := s.memory.objects[object].of.(type) {
	case *ir.Symbol:
		return "the variable " + of.Name
	case *ir.Instr:
		if of.Op == ir.Alloca {
			return fmt.Sprintf("a variable of %s at %s", of.Block.Func.Symbol.Name, s.shortPlace(of))
		}
		return fmt.Sprintf("the memory of %s at %s", of.Calls(), s.shortPlace(of))
	}
	return "memory from outside the program"
}
