package slice

import (
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// What functions of the C library and of MPI do besides the roles of their arguments: streams of files, the variables of getopt, the function that qsort calls; addresses
// that MPI keeps and gives back.

// ofOptions are the variables that getopt and getopt_long read and write.
var ofOptions = []string{"optarg", "optind", "opterr", "optopt"}

// isGetopt reports whether an instruction calls getopt or getopt_long.
func isGetopt(i *ir.Instr) bool { return i.Calls() == "getopt" || i.Calls() == "getopt_long" }

// optionsWritten returns what a call of getopt writes besides what its arguments point to: its variables, and those to which the members flag of long options lead.
func (s *Slice) optionsWritten(i *ir.Instr) (found []place) {
	for _, name := range ofOptions {
		if symbol := s.m.Symbol(name); symbol != nil {
			found = append(found, place{s.memory.symbol(symbol), all})
		}
	}
	if i.Calls() == "getopt_long" {
		for _, t := range s.memory.inside(s.memory.node(i.Args()[3]), all) {
			found = append(found, place{t.object, t.spanAt(all)})
		}
	}
	return found
}

// comparisonOf returns the function by which a call of qsort compares, nil if it is not known, and whether it is such a call.
func comparisonOf(i *ir.Instr) (f *ir.Function, is bool) {
	if i.Calls() != "qsort" || len(i.Args()) != 4 {
		return nil, false
	}
	symbol, is := i.Args()[3].(*ir.Symbol)
	if !is || symbol.Function == nil || symbol.Function.Blocks == nil || len(symbol.Function.Params) != 2 {
		return nil, true
	}
	return symbol.Function, true
}

// opensForWriting reports whether a call may open a file that the program writes.
func opensForWriting(i *ir.Instr) bool {
	if i.Calls() != "fopen" {
		return false
	}
	mode := textOf(i.Args()[1])
	return !strings.HasPrefix(mode, "r") || strings.Contains(mode, "+")
}

// textOf returns a text that is constant, without the bytes behind its end; "" for others.
func textOf(v ir.Value) string {
	symbol, is := v.(*ir.Symbol)
	if !is || symbol.Global == nil || symbol.Global.Word != "constant" {
		return ""
	}
	c, is := symbol.Global.Init.(*ir.Const)
	if !is || !strings.HasPrefix(c.Text, `c"`) {
		return ""
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(c.Text, `c"`), `\`)
	return strings.TrimSuffix(text, `"`)
}

// refuseOutputs refuses calls that may write files, where the skeleton reads files at a place: it leaves out what is written.
func (s *Slice) refuseOutputs(reads *ir.Instr) {
	refuse := func(call *ir.Instr) {
		s.refuse(call, "a file may be written here that is read at %s: skeletons leave out what is written, unless to the terminal", s.place(reads))
	}
	for _, call := range s.outputs {
		refuse(call)
	}
	for _, call := range s.inputs {
		if opensForWriting(call) {
			refuse(call)
		}
	}
}

// attributeFunction returns the function of the program that MPI is to call for an attribute, nil for none.
func attributeFunction(i *ir.Instr) *ir.Symbol {
	switch effects.Canonical(i.Calls()) {
	case "comm_create_keyval", "keyval_create", "type_create_keyval":
	default:
		return nil
	}
	for _, v := range i.Args()[:min(2, len(i.Args()))] {
		symbol, is := v.(*ir.Symbol)
		switch {
		case is && symbol.Function != nil && symbol.Function.Blocks == nil, isNumber(v): // of MPI, as MPI_COMM_DUP_FN in Fortran and in C
		case is:
			return symbol
		default:
			return &ir.Symbol{Name: "at a pointer"}
		}
	}
	return nil
}

// keep takes notice of the addresses that a call of MPI keeps, or gives back: those of attributes, that of the buffer of MPI_Bsend, those that become numbers.
func (y *memory) keep(i *ir.Instr) {
	args := i.Args()
	fortran := strings.HasPrefix(i.Calls(), "mpi_")
	switch effects.Canonical(i.Calls()) {
	case "comm_set_attr", "attr_put", "type_set_attr":
		if fortran {
			y.load(y.node(args[2]), y.kept, first(pointerBytes))
		} else {
			y.from(y.kept, args[2], offset{})
		}
	case "comm_get_attr", "attr_get", "type_get_attr":
		y.store(y.kept, y.node(args[2]), first(pointerBytes))
	case "buffer_attach":
		y.from(y.kept, args[0], offset{})
	case "buffer_detach":
		y.store(y.kept, y.node(args[0]), first(pointerBytes))
	case "get_address", "address":
		at := y.newNode()
		y.from(at, args[0], offset{})
		y.store(at, y.node(args[1]), first(pointerBytes))
	case "aint_add", "aint_diff":
		if fortran {
			for _, v := range args {
				sum := y.newNode()
				y.load(y.node(v), sum, first(pointerBytes))
				y.flow(sum, y.node(i.Result), anyOffset)
			}
		}
	}
}

// withDisplacements are the functions, in small letters, whose displacements are bytes, so that they may be addresses.
var withDisplacements = []string{"type_create_hvector", "type_create_hindexed", "type_create_hindexed_block", "type_create_struct", "type_create_resized", "type_struct", "type_hvector", "type_hindexed"}

// displaces reports whether a call may have addresses for displacements: as the number that a datatype has, or in the blocks of a collective.
func displaces(i *ir.Instr) bool {
	name := effects.Canonical(i.Calls())
	return slices.Contains(withDisplacements, name) || strings.Contains(name, "alltoallw") || strings.HasPrefix(i.Calls(), "MPI_") && strings.HasSuffix(i.Calls(), "_c")
}

// checkDisplacements refuses datatypes and blocks whose displacements may be addresses: messages by MPI_BOTTOM would go to any memory. If all addresses lead to one
// object, and no buffer of a datatype that the program makes may be MPI_BOTTOM, they can only be places within that object.
func (s *Slice) checkDisplacements() {
	var bottom *ir.Instr
	for _, b := range s.buffers {
		if s.mayBeBottom(b) {
			bottom = b.call
			break
		}
	}
	s.each(func(_ *ir.Function, i *ir.Instr) {
		e := effectOf(i)
		if e == nil || !displaces(i) {
			return
		}
		objects := map[int]bool{}
		for n, v := range i.Args() {
			switch role := e.Role(n); {
			case role == effects.Value:
				for _, t := range s.memory.targets(v) {
					objects[t.object] = true
				}
			case role.Reads() && !isNumber(v):
				for _, t := range s.memory.inside(s.memory.node(v), all) {
					objects[t.object] = true
				}
			}
		}
		switch {
		case len(objects) == 0:
		case len(objects) > 1 || objects[s.memory.outside]:
			s.refuse(i, "the datatype may have addresses for displacements: skeletons take offsets within a structure, as offsetof gives them, and differences of addresses within one variable")
		case bottom != nil:
			s.refuse(i, "the datatype may have addresses for displacements, and the buffer at %s may be MPI_BOTTOM: skeletons take offsets within a structure", s.place(bottom))
		}
	})
}

// mayBeBottom reports whether a buffer of a message may be MPI_BOTTOM, with a datatype that the program makes.
func (s *Slice) mayBeBottom(b buffer) bool {
	args := b.call.Args()
	constants := func(t target) bool { return t.object != s.memory.inPlace && s.memory.objects[t.object].fixed }
	if !s.mayBeNull(args[b.arg], map[ir.Value]bool{}) && !slices.ContainsFunc(s.memory.targets(args[b.arg]), constants) {
		return false
	}
	if b.of.Group == effects.Messages {
		_, predefined := s.handle(args[b.arg+2])
		return !predefined
	}
	for n := b.arg + 1; n < len(args) && !b.of.Role(n).Payload(); n++ {
		if isDatatype(args[n]) {
			return false
		}
	}
	return true
}

// isDatatype reports whether a value is the handle of a predefined datatype of mpi.h.
func isDatatype(v ir.Value) bool {
	c, is := v.(*ir.Const)
	if !is || c.Text != "inttoptr" || len(c.Elems) != 1 {
		return false
	}
	n, is := ir.IntOf(c.Elems[0])
	return is && 0x200 <= n && n < 0x300
}

// mayBeNull reports whether a pointer may be a null pointer that the program writes as a constant, or that memory has before it is written.
func (s *Slice) mayBeNull(v ir.Value, met map[ir.Value]bool) bool {
	if isNull(v) {
		return true
	}
	l, is := v.(*ir.Local)
	if !is || met[v] || l.Def == nil && s.params[l].function == nil {
		return false
	}
	met[v] = true
	also := func(v ir.Value) bool { return s.mayBeNull(v, met) }
	switch {
	case l.Def == nil:
		p := s.params[l]
		return slices.ContainsFunc(s.calls[p.function], func(call *ir.Instr) bool { return p.index < len(call.Args()) && also(call.Args()[p.index]) })
	case l.Def.Op == ir.Phi || l.Def.Op == ir.Select:
		return slices.ContainsFunc(l.Def.Operands, also)
	case l.Def.Op == ir.Load:
		for _, at := range s.places(l.Def.Operands[0], l.Def.Type) {
			if s.beginsWithNull(at.object) || slices.ContainsFunc(s.writers[at.object], func(w writer) bool { return w.Op == ir.Store && at.overlaps(w.at) && also(w.Operands[0]) }) {
				return true
			}
		}
	}
	return false
}

// beginsWithNull reports whether an object may have null pointers before it is written.
func (s *Slice) beginsWithNull(object int) bool {
	switch of := s.memory.objects[object].of.(type) {
	case *ir.Symbol:
		return of.Global != nil && hasNull(of.Global.Init)
	case *ir.Instr:
		return of.Op == ir.Call && of.Calls() != "malloc"
	}
	return true
}

// hasNull reports whether a constant has a null pointer, or is one.
func hasNull(v ir.Value) bool {
	c, is := v.(*ir.Const)
	return v == nil || is && (c.Text == "zeroinitializer" || isNull(c) || slices.ContainsFunc(c.Elems, hasNull))
}
