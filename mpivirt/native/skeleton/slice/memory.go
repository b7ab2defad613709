package slice

import (
	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// memory divides values into classes. A class has the values that may be copies of each other; it stands, too, for the memory
// to which they point.
type memory struct {
	parent  []int
	content []int  // by class, the class of the values in its memory, -1 if there are none yet
	object  []bool // a variable, an allocation or memory from outside is among the memory
	fixed   []bool // MPI_IN_PLACE is among the values
	large   []bool // a variable or an allocation of more than a page, or of a size that is not constant, is among the memory

	values  map[any]int // class by *ir.Local or *ir.Symbol
	outside int         // the class of memory that comes with the process
	wire    int         // the class of the values in messages
	module  *ir.Module
}

// newMemory returns the classes of a module's values.
func newMemory(m *ir.Module) *memory {
	y := &memory{values: map[any]int{}, module: m}
	y.outside, y.wire = y.add(), y.add()
	y.object[y.outside], y.content[y.outside] = true, y.outside
	for _, g := range m.Globals() {
		y.global(g)
	}
	for _, f := range m.Functions() {
		y.object[y.of(f.Symbol)] = true
		if f.Symbol.Name == "main" && len(f.Params) > 1 {
			for _, p := range f.Params[1:] {
				y.join(y.local(p.Local), y.outside)
			}
		}
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				y.instruction(f, i)
			}
		}
	}
	return y
}

func (y *memory) add() int {
	n := len(y.parent)
	y.parent, y.content = append(y.parent, n), append(y.content, -1)
	y.object, y.fixed, y.large = append(y.object, false), append(y.fixed, false), append(y.large, false)
	return n
}

// find returns the class that stands for one that has been joined with others.
func (y *memory) find(n int) int {
	for y.parent[n] != n {
		y.parent[n] = y.parent[y.parent[n]]
		n = y.parent[n]
	}
	return n
}

// join makes two classes one, and the contents of their memory.
func (y *memory) join(a, b int) {
	for {
		a, b = y.find(a), y.find(b)
		if a == b {
			return
		}
		y.parent[b] = a
		y.object[a] = y.object[a] || y.object[b]
		y.fixed[a] = y.fixed[a] || y.fixed[b]
		y.large[a] = y.large[a] || y.large[b]
		left, right := y.content[a], y.content[b]
		if left < 0 || right < 0 {
			y.content[a] = max(left, right)
			return
		}
		a, b = left, right
	}
}

// in returns the class of the values in the memory of a class.
func (y *memory) in(n int) int {
	n = y.find(n)
	if y.content[n] < 0 {
		c := y.add()
		y.content[n] = c
	}
	return y.find(y.content[n])
}

func (y *memory) local(l *ir.Local) int { return y.key(l) }

func (y *memory) key(v any) int {
	n, known := y.values[v]
	if !known {
		n = y.add()
		y.values[v] = n
	}
	return y.find(n)
}

// of returns the class of a value, -1 for a constant without an address.
func (y *memory) of(v ir.Value) int {
	switch v := v.(type) {
	case *ir.Local:
		return y.local(v)
	case *ir.Symbol:
		return y.key(v)
	case *ir.Const:
		all := -1
		for _, e := range v.Elems {
			switch n := y.of(e); {
			case n < 0:
			case all < 0:
				all = n
			default:
				y.join(all, n)
			}
		}
		if isInPlace(v) {
			all = y.key(v)
			y.fixed[all] = true
		}
		if all >= 0 {
			return y.find(all)
		}
	}
	return -1
}

// isInPlace reports whether a constant is MPI_IN_PLACE of mpi.h, or of the standard ABI as a number.
func isInPlace(c *ir.Const) bool {
	if c.Form != ir.Expression || c.Text != "inttoptr" || len(c.Elems) != 1 {
		return false
	}
	n, is := ir.IntOf(c.Elems[0])
	return is && n == inPlace
}

// fortranConstants is the common block of the constants of Fortran that are addresses, MPI_IN_PLACE and MPI_BOTTOM among them.
const fortranConstants = "gigarank_mpi_constants_"

// inPlace is the address MPI_IN_PLACE of mpi.h.
const inPlace = 1

// flow notes that a value may be a copy of another one or made of it.
func (y *memory) flow(to int, from ir.Value) {
	if n := y.of(from); n >= 0 {
		y.join(to, n)
	}
}

// global takes notice of a variable: its memory, and the addresses in its first content.
func (y *memory) global(g *ir.Global) {
	n := y.of(g.Symbol)
	if g.Word == "alias" {
		y.flow(n, g.Init)
		return
	}
	y.object[n] = true
	y.fixed[n] = y.fixed[n] || g.Symbol.Name == fortranConstants
	y.large[n] = y.large[n] || !y.isSmall(g.Type)
	switch {
	case g.Init == nil:
		y.join(y.in(n), y.outside)
	default:
		y.flow(y.in(n), g.Init)
	}
}

// instruction takes notice of the values that an instruction copies or makes.
func (y *memory) instruction(f *ir.Function, i *ir.Instr) {
	switch i.Op {
	case ir.Alloca:
		n := y.local(i.Result)
		y.object[n], y.large[n] = true, y.large[n] || len(i.Operands) > 0 || !y.isSmall(i.Type)
	case ir.Load:
		y.at(i.Operands[0], func(n int) { y.join(y.in(n), y.local(i.Result)) })
	case ir.Store:
		y.at(i.Operands[1], func(n int) { y.flow(y.in(n), i.Operands[0]) })
	case ir.GetElementPtr:
		y.elementPointer(i)
	case ir.ICmp, ir.FCmp:
	case ir.Select:
		y.flow(y.local(i.Result), i.Operands[1])
		y.flow(y.local(i.Result), i.Operands[2])
	case ir.Call:
		y.call(i)
	case ir.Ret:
		for _, v := range i.Operands {
			y.flow(y.key(f), v)
		}
	default:
		if i.Result != nil {
			for _, v := range i.Operands {
				y.flow(y.local(i.Result), v)
			}
		}
	}
}

// at calls visit with the class of the memory to which a pointer leads, if it leads to any.
func (y *memory) at(pointer ir.Value, visit func(n int)) {
	if n := y.of(pointer); n >= 0 {
		visit(n)
	}
}

// elementPointer: the result is based on the pointer. Only if this is a number, an index may be an address.
func (y *memory) elementPointer(i *ir.Instr) {
	result := y.local(i.Result)
	y.flow(result, i.Operands[0])
	if c, is := i.Operands[0].(*ir.Const); is && y.of(c) < 0 {
		for _, v := range i.Operands[1:] {
			y.flow(result, v)
		}
	}
}

// call takes notice of a call: of the program's own functions the arguments and the result, of others what the table says.
func (y *memory) call(i *ir.Instr) {
	s, is := i.Callee().(*ir.Symbol)
	if !is || s.Function == nil {
		y.indirect(i)
		return
	}
	if f := s.Function; f.Blocks != nil {
		for n, p := range f.Params {
			if n < len(i.Args()) {
				y.flow(y.local(p.Local), i.Args()[n])
			}
		}
		if i.Result != nil {
			y.join(y.local(i.Result), y.key(f))
		}
		return
	}
	if f, _ := operationOf(i); f != nil {
		y.operation(f)
	}
	e, known := effects.Of(s.Name)
	if !known {
		return // refused
	}
	y.external(i, e)
}

// indirect takes notice of a call by a pointer: it may be one of each function of its type.
func (y *memory) indirect(i *ir.Instr) {
	for _, f := range y.module.Functions() {
		if f.Blocks == nil || !fits(i, f) {
			continue
		}
		for n, p := range f.Params {
			y.flow(y.local(p.Local), i.Args()[n])
		}
		if i.Result != nil {
			y.join(y.local(i.Result), y.key(f))
		}
	}
}

// operation takes notice of the arguments that MPI gives to the function of an operation: the content of messages, a length and a datatype.
func (y *memory) operation(f *ir.Function) {
	for n, p := range f.Params {
		at := y.local(p.Local)
		if y.object[at] = true; n < 2 {
			y.large[at] = true
			y.join(y.in(at), y.wire)
		} else {
			y.join(at, y.outside)
		}
	}
}

// external takes notice of a call of a function of the table.
func (y *memory) external(i *ir.Instr, e *effects.Effect) {
	args := i.Args()
	if i.Result != nil && makesMemory(e) {
		n := y.local(i.Result)
		y.object[n], y.large[n] = true, y.large[n] || allocated(i) < 0 || allocated(i) > page
	}
	for n, v := range args {
		role := e.Role(n)
		switch {
		case role == effects.Described || role == effects.Assigned || role == effects.Allotted:
			y.at(v, func(n int) {
				if memory := y.in(n); role == effects.Allotted {
					y.object[memory], y.large[memory] = true, true
				}
			})
		case role.Payload():
			y.at(v, func(n int) { y.join(y.in(n), y.wire) })
		case role.Memory() && i.Result != nil && (e.Kind == effects.Pure || e.Kind == effects.Resize), e.Kind == effects.Copy && n == 0 && i.Result != nil,
			e.Kind == effects.Pure && !role.Memory() && i.Result != nil:
			y.flow(y.local(i.Result), v)
		}
	}
	switch e.Kind {
	case effects.Copy:
		y.at(args[0], func(to int) {
			y.at(args[1], func(from int) { y.join(y.in(to), y.in(from)) })
		})
	case effects.Parse:
		y.at(args[1], func(to int) { y.flow(y.in(to), args[0]) })
	}
	if e.Kind == effects.Pure && i.Callee().String() == "@getenv" {
		y.join(y.local(i.Result), y.outside)
	}
}

// isSmall reports whether a type takes at most a page.
func (y *memory) isSmall(t *ir.Type) bool {
	size, err := y.module.Layout.Size(t)
	return err == nil && size <= page
}

// allocated returns the bytes that a call allocates, -1 if they are not constant.
func allocated(i *ir.Instr) int64 {
	bytes := int64(1)
	if e := effectOf(i); e == nil || e.Kind != effects.Alloc {
		return -1
	}
	for _, v := range i.Args() {
		n, is := ir.IntOf(v)
		if !is || n < 0 || n > page {
			return -1
		}
		bytes *= max(n, 1)
	}
	return bytes
}

// place is memory that an instruction reads or writes. The memory of a place without a base may lie anywhere in its class.
type place struct {
	class int
	base  ir.Value // a variable, or the result of an allocation
	at    int64    // offset of the first byte
	bytes int64    // -1: all of the base
}

// overlaps reports whether two places may have bytes in common. Variables and allocations do not overlap.
func (p place) overlaps(q place) bool {
	switch {
	case p.class != q.class:
		return false
	case p.base == nil || q.base == nil:
		return true
	case p.base != q.base:
		return false
	}
	return p.bytes < 0 || q.bytes < 0 || p.at < q.at+q.bytes && q.at < p.at+p.bytes
}

// placeAt returns the memory of a pointer at which a value of a type lies, nil for any number of bytes on both sides.
func (s *Slice) placeAt(pointer ir.Value, t *ir.Type) place {
	p := place{class: s.memory.of(pointer), bytes: -1}
	base, offset, known := s.baseOf(pointer)
	if base == nil {
		return p
	}
	p.base = base
	if t == nil || !known {
		return p
	}
	if size, err := s.m.Layout.Size(t); err == nil {
		p.at, p.bytes = offset, size
	}
	return p
}

// baseOf returns the variable or allocation that a pointer is made of, nil if it is not known, and the offset from its begin.
func (s *Slice) baseOf(v ir.Value) (base ir.Value, offset int64, known bool) {
	known = true
	for range 1000 {
		var source *ir.Type
		var indices []ir.Value
		switch w := v.(type) {
		case *ir.Symbol:
			if w.Global == nil || w.Global.Word == "alias" || w.Global.Init == nil {
				return nil, 0, false
			}
			return w, offset, known
		case *ir.Const:
			if w.Text != "getelementptr" || w.Form != ir.Expression {
				return nil, 0, false
			}
			v, source, indices = w.Elems[0], w.Source, w.Elems[1:]
		case *ir.Local:
			d := w.Def
			switch {
			case d == nil:
				return nil, 0, false
			case d.Op == ir.Alloca || isAllocation(d):
				return w, offset, known
			case d.Op != ir.GetElementPtr || w.Type.Kind != ir.Pointer:
				return nil, 0, false
			}
			v, source, indices = d.Operands[0], d.Type, d.Operands[1:]
		default:
			return nil, 0, false
		}
		constant, terms, err := s.m.Layout.Offset(source, indices)
		offset += constant
		known = known && err == nil && len(terms) == 0
	}
	return nil, 0, false
}

// isAllocation reports whether the result of an instruction is new memory.
func isAllocation(i *ir.Instr) bool {
	e := effectOf(i)
	return e != nil && e.Kind != effects.Resize && makesMemory(e)
}

// makesMemory reports whether a function returns memory that nothing else points to: the state of a statement is that, too.
func makesMemory(e *effects.Effect) bool {
	switch e.Kind {
	case effects.Alloc, effects.Resize, effects.Statement, effects.Input:
		return true
	}
	return e.Kind == effects.Output && e.Roles != "" && e.Roles[len(e.Roles)-1] == 'v' && !e.More
}

// mayWrite reports whether an instruction that writes memory of a class may write a place.
func (s *Slice) mayWrite(w *ir.Instr, at place) bool {
	if w.Op == ir.Store {
		return at.overlaps(s.placeAt(w.Operands[1], w.Operands[0].Of()))
	}
	e := effectOf(w)
	if e == nil || e.Kind == effects.Free || e.Kind == effects.Resize {
		return true
	}
	for n, v := range w.Args() {
		written := s.placeAt(v, nil)
		switch role := e.Role(n); {
		case role == effects.Allotted && written.base != nil:
			written.at, written.bytes = 0, 8
		case role == effects.Assigned && at.class == s.described(v):
			return true
		}
		if e.Role(n).Writes() && at.overlaps(written) {
			return true
		}
	}
	return false
}

// described returns the class of the memory that a descriptor describes, -1 for none.
func (s *Slice) described(descriptor ir.Value) int {
	n := s.memory.of(descriptor)
	if n < 0 || s.memory.content[n] < 0 {
		return -1
	}
	return s.memory.find(s.memory.content[n])
}
