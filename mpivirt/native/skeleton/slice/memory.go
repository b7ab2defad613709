package slice

import (
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// memory tells to which objects the values of a module may lead. All values take part, not pointers alone: a pointer may pass through an integer or
// through the bytes of a structure.
type memory struct {
	*points
	module  *ir.Module
	values  map[any]int // node by *ir.Local, *ir.Symbol, *ir.Const, and by *ir.Function for what it returns
	symbols map[any]int // object by *ir.Symbol, and by *ir.Instr for what it allocates
	outside int         // the object that comes with the process
	inPlace int         // the object at MPI_IN_PLACE
	wire    int         // the node of the values in messages
	kept    int         // the node of the addresses that MPI keeps for the program
	byValue []*ir.Instr // calls by a pointer that is computed
}

// newMemory returns where the values of a module may lead.
func newMemory(m *ir.Module) *memory {
	y := &memory{points: newPoints(), module: m, values: map[any]int{}, symbols: map[any]int{}}
	y.outside, y.inPlace, y.wire, y.kept = y.newObject(nil, false), y.newObject(nil, false), y.newNode(), y.newNode()
	y.objects[y.inPlace].fixed = true
	y.add(y.kept, target{y.outside, anyOffset}) // of predefined attributes
	y.add(y.cellAt(y.outside, all), target{y.outside, anyOffset})
	for _, g := range m.Globals() {
		y.global(g)
	}
	for _, f := range m.Functions() {
		if f.Symbol.Name == "main" && len(f.Params) > 1 {
			for _, p := range f.Params[1:] {
				y.add(y.node(p.Local), target{y.outside, anyOffset})
			}
		}
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				y.instruction(f, i)
			}
		}
	}
	y.solve()
	y.callByValue()
	return y
}

// callByValue passes the arguments of calls by pointers to the functions to which these lead, until no call leads to a further one.
func (y *memory) callByValue() {
	passed := map[*ir.Instr]map[*ir.Function]bool{}
	for more := true; more; {
		more = false
		for _, i := range y.byValue {
			if passed[i] == nil {
				passed[i] = map[*ir.Function]bool{}
			}
			for _, f := range y.callees(i) {
				if !passed[i][f] {
					passed[i][f], more = true, true
					y.pass(i, f)
				}
			}
		}
		y.solve()
	}
}

// callees returns the functions to which a call by a pointer may lead: all of its type if the pointer may come from outside of the module.
func (y *memory) callees(i *ir.Instr) (all []*ir.Function) {
	anywhere := false
	for _, t := range y.targets(i.Callee()) {
		symbol, is := y.objects[t.object].of.(*ir.Symbol)
		anywhere = anywhere || t.object == y.outside
		if is && symbol.Function != nil && symbol.Function.Blocks != nil && fits(i, symbol.Function) {
			all = append(all, symbol.Function)
		}
	}
	if !anywhere {
		return all
	}
	all = nil
	for _, f := range y.module.Functions() {
		if f.Blocks != nil && fits(i, f) {
			all = append(all, f)
		}
	}
	return all
}

// key returns the node of what is no constant.
func (y *memory) key(v any) int {
	n, known := y.values[v]
	if !known {
		n = y.newNode()
		y.values[v] = n
	}
	return n
}

// node returns the node of a value.
func (y *memory) node(v ir.Value) int {
	n, known := y.values[v]
	if known {
		return n
	}
	n = y.key(v)
	switch v := v.(type) {
	case *ir.Symbol:
		if v.Global != nil && v.Global.Word == "alias" {
			y.flow(y.node(v.Global.Init), n, offset{})
		} else {
			y.add(n, target{y.symbol(v), offset{}})
		}
	case *ir.Const:
		if isInPlace(v) {
			y.add(n, target{y.inPlace, anyOffset})
		}
		shift := y.shift(v)
		for _, e := range v.Elems {
			if !isNumber(e) {
				y.flow(y.node(e), n, shift)
			}
		}
	}
	return n
}

// shift returns the offset that an expression of constants adds to an address in it.
func (y *memory) shift(c *ir.Const) offset {
	switch {
	case c.Form != ir.Expression:
		return offset{}
	case c.Text == "getelementptr":
		return y.offset(c.Source, c.Elems[1:])
	case c.Text == "ptrtoint", c.Text == "inttoptr", c.Text == "bitcast":
		return offset{}
	}
	return anyOffset
}

// offset returns the bytes that indices add to a pointer.
func (y *memory) offset(source *ir.Type, indices []ir.Value) offset {
	constant, terms, err := y.module.Layout.Offset(source, indices)
	if err != nil {
		return anyOffset
	}
	sum := offset{at: constant}
	for _, t := range terms {
		more := offset{step: t.Stride}
		if r, is := rangeOf(t.Index, mostFollowed); is && 0 < t.Stride && t.Stride < mostStride && r.most > r.least {
			more = offset{r.least * t.Stride, t.Stride, r.most - r.least}
		}
		sum = sum.plus(more)
	}
	return sum
}

// symbol returns the object of a variable or a function.
func (y *memory) symbol(s *ir.Symbol) int {
	n, known := y.symbols[s]
	if !known {
		large := s.Global != nil && !y.isSmall(s.Global.Type)
		n = y.newObject(s, large)
		y.objects[n].fixed = s.Name == fortranConstants
		y.symbols[s] = n
	}
	return n
}

// made returns the object that an instruction makes.
func (y *memory) made(i *ir.Instr, large bool) int {
	n, known := y.symbols[i]
	if !known {
		n = y.newObject(i, large)
		y.symbols[i] = n
	}
	return n
}

// targets returns the places to which a value may lead.
func (y *memory) targets(v ir.Value) []target {
	if isNumber(v) && !isInPlace(v) {
		return nil
	}
	n := y.node(v)
	y.solve() // an operand that has been put in the place of another one
	return y.of(n)
}

// isFixed reports whether a value may be MPI_IN_PLACE.
func (y *memory) isFixed(v ir.Value) bool {
	for _, t := range y.targets(v) {
		if y.objects[t.object].fixed {
			return true
		}
	}
	return false
}

// isInPlace reports whether a constant is MPI_IN_PLACE of mpi.h, or of the standard ABI as a number.
func isInPlace(v ir.Value) bool {
	c, constant := v.(*ir.Const)
	if !constant || c.Form != ir.Expression || c.Text != "inttoptr" || len(c.Elems) != 1 {
		return false
	}
	n, is := ir.IntOf(c.Elems[0])
	return is && n == inPlace
}

// fortranConstants is the common block of the constants of Fortran that are addresses, MPI_IN_PLACE and MPI_BOTTOM among them.
const fortranConstants = "gigarank_mpi_constants_"

// inPlace is the address MPI_IN_PLACE of mpi.h.
const inPlace = 1

// sizeOf returns the bytes of a value of a type.
func (y *memory) sizeOf(t *ir.Type) int64 {
	if size, err := y.module.Layout.Size(t); err == nil {
		return size
	}
	return unbounded
}

// from notes that a value may be a copy of another one.
func (y *memory) from(to int, v ir.Value, shift offset) {
	if !isNumber(v) || isInPlace(v) {
		y.flow(y.node(v), to, shift)
	}
}

// global takes notice of a variable: its memory, and the addresses in its first content.
func (y *memory) global(g *ir.Global) {
	switch {
	case g.Word == "alias":
	case g.Init == nil:
		y.add(y.cellAt(y.symbol(g.Symbol), all), target{y.outside, anyOffset})
	default:
		y.initial(y.symbol(g.Symbol), 0, g.Init)
	}
}

// initial takes notice of the addresses in the first content of an object.
func (y *memory) initial(object int, at int64, v ir.Value) {
	if isNumber(v) {
		return
	}
	c, is := v.(*ir.Const)
	if !is || c.Form != ir.Aggregate {
		y.from(y.cellAt(object, span{offset{at: at}, y.sizeOf(v.Of())}), v, offset{})
		return
	}
	for n, e := range c.Elems {
		next := int64(n) * y.sizeOf(e.Of())
		if c.Type.Kind == ir.Struct {
			next, _ = y.module.Layout.Field(c.Type, n)
		}
		y.initial(object, at+next, e)
	}
}

// instruction takes notice of the values that an instruction copies or makes.
func (y *memory) instruction(f *ir.Function, i *ir.Instr) {
	switch i.Op {
	case ir.Alloca:
		y.add(y.node(i.Result), target{y.made(i, len(i.Operands) > 0 || !y.isSmall(i.Type)), offset{}})
	case ir.Load:
		y.load(y.node(i.Operands[0]), y.node(i.Result), first(y.sizeOf(i.Type)))
	case ir.Store:
		if !isNumber(i.Operands[0]) || isInPlace(i.Operands[0]) {
			y.store(y.node(i.Operands[0]), y.node(i.Operands[1]), first(y.sizeOf(i.Operands[0].Of())))
		}
	case ir.GetElementPtr:
		y.elementPointer(i)
	case ir.ICmp, ir.FCmp:
	case ir.Select:
		y.from(y.node(i.Result), i.Operands[1], offset{})
		y.from(y.node(i.Result), i.Operands[2], offset{})
	case ir.Call:
		y.call(i)
	case ir.Ret:
		for _, v := range i.Operands {
			y.from(y.key(f), v, offset{})
		}
	default:
		if i.Result == nil {
			return
		}
		var shift offset
		if i.Op.IsBinary() {
			shift = anyOffset
		}
		for _, v := range i.Operands {
			y.from(y.node(i.Result), v, shift)
		}
	}
}

// elementPointer: the result is based on the pointer. Only if this is a number, an index may be an address.
func (y *memory) elementPointer(i *ir.Instr) {
	result := y.node(i.Result)
	if isNumber(i.Operands[0]) {
		for _, v := range i.Operands[1:] {
			y.from(result, v, anyOffset)
		}
		return
	}
	y.from(result, i.Operands[0], y.offset(i.Type, i.Operands[1:]))
}

// call takes notice of a call: of the program's own functions the arguments and the result, of others what the table says.
func (y *memory) call(i *ir.Instr) {
	s, is := i.Callee().(*ir.Symbol)
	if !is || s.Function == nil {
		y.byValue = append(y.byValue, i)
		return
	}
	if s.Function.Blocks != nil {
		y.pass(i, s.Function)
		return
	}
	if f, _ := operationOf(i); f != nil {
		y.operation(f)
	}
	if f, _ := comparisonOf(i); f != nil {
		for _, p := range f.Params {
			y.from(y.node(p.Local), i.Args()[0], anyOffset)
		}
	}
	if e, known := effects.Of(s.Name); known { // others are refused
		y.external(i, e)
	}
}

// pass takes notice of the arguments of a function of the program, and of its result.
func (y *memory) pass(i *ir.Instr, f *ir.Function) {
	for n, p := range f.Params {
		if n < len(i.Args()) {
			y.from(y.node(p.Local), i.Args()[n], offset{})
		}
	}
	if i.Result != nil {
		y.flow(y.key(f), y.node(i.Result), offset{})
	}
}

// operation takes notice of the arguments that MPI gives to the function of an operation: the content of messages, a length and a datatype.
func (y *memory) operation(f *ir.Function) {
	for n, p := range f.Params {
		at := y.node(p.Local)
		if n > 1 {
			y.add(at, target{y.outside, anyOffset})
			continue
		}
		object, known := y.symbols[p.Local]
		if !known {
			object = y.newObject(p.Local, true)
			y.symbols[p.Local] = object
		}
		y.add(at, target{object, offset{}})
		y.exchange(at)
	}
}

// exchange has the values in the memory to which a node leads be sent and received.
func (y *memory) exchange(at int) {
	y.load(at, y.wire, all)
	y.store(y.wire, at, all)
}

// external takes notice of a call of a function of the table.
func (y *memory) external(i *ir.Instr, e *effects.Effect) {
	args := i.Args()
	if i.Result != nil && makesMemory(e) {
		y.add(y.node(i.Result), target{y.made(i, allocated(i) < 0 || allocated(i) > page), offset{}})
	}
	for n, v := range args {
		role := e.Role(n)
		switch {
		case role == effects.Allotted || role == effects.Assigned:
			fresh := y.newNode()
			y.add(fresh, target{y.made(i, true), offset{}})
			y.store(fresh, y.node(v), first(pointerBytes))
		case role.Payload() && (!isNumber(v) || isInPlace(v)):
			y.exchange(y.node(v))
		case e.Kind == effects.Pure && i.Result != nil && (!role.Memory() || i.Result.Type.Kind == ir.Pointer): // a number of what memory holds is no address
			y.from(y.node(i.Result), v, anyOffset)
		case e.Kind == effects.Resize, e.Kind == effects.Copy && n == 0 && i.Result != nil, e.Kind == effects.Input && role == effects.Written && i.Result != nil:
			y.from(y.node(i.Result), v, offset{})
		}
	}
	y.move(i, e)
	y.keep(i)
}

// move takes notice of the values that a call copies within memory.
func (y *memory) move(i *ir.Instr, e *effects.Effect) {
	args := i.Args()
	moved := y.newNode()
	switch {
	case e.Kind == effects.Copy:
		bytes, is := ir.IntOf(args[2])
		if !is {
			bytes = unbounded
		}
		y.load(y.node(args[1]), moved, first(bytes))
		y.store(moved, y.node(args[0]), first(bytes))
	case e.Kind == effects.Resize:
		y.load(y.node(args[0]), moved, all)
		y.store(moved, y.node(i.Result), all)
	case e.Kind == effects.Parse:
		y.from(moved, args[0], anyOffset)
		y.store(moved, y.node(args[1]), first(pointerBytes))
	case i.Calls() == "getenv", strings.HasPrefix(i.Calls(), "__ctype_"):
		y.add(y.node(i.Result), target{y.outside, anyOffset})
	}
	for n, v := range args { // by descriptors: all that the described memory holds
		described := y.newNode()
		switch e.Role(n) {
		case effects.Described:
			y.load(y.node(v), described, first(pointerBytes))
			y.load(described, moved, all)
		case effects.Assigned:
			y.load(y.node(v), described, first(pointerBytes))
			y.store(moved, described, all)
		}
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

// place is memory that an instruction reads or writes.
type place struct {
	object int
	span
}

// overlaps reports whether two places may have bytes in common.
func (p place) overlaps(q place) bool { return p.object == q.object && p.span.overlaps(q.span) }

// places returns the memory of a pointer at which a value of a type lies, all of the objects for no type.
func (s *Slice) places(pointer ir.Value, t *ir.Type) []place {
	if t == nil {
		return s.bytes(pointer, all)
	}
	return s.bytes(pointer, first(s.memory.sizeOf(t)))
}

// bytes returns the memory of some bytes from where a pointer leads.
func (s *Slice) bytes(pointer ir.Value, part span) (found []place) {
	for _, at := range s.memory.targets(pointer) {
		if p := (place{at.object, at.spanAt(part)}); !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// makesMemory reports whether a function returns memory that nothing else points to: the state of a statement is that, too.
func makesMemory(e *effects.Effect) bool {
	switch e.Kind {
	case effects.Alloc, effects.Resize, effects.Statement, effects.Input:
		return true
	}
	return e.Kind == effects.Output && e.Roles != "" && e.Roles[len(e.Roles)-1] == 'v' && !e.More
}

// written returns the places that an instruction may write. A call that ends the use of memory writes all of it.
func (s *Slice) written(w *ir.Instr) (found []place) {
	if w.Op == ir.Store {
		return s.places(w.Operands[1], w.Operands[0].Of())
	}
	e := effectOf(w)
	if isGetopt(w) {
		found = s.optionsWritten(w)
	}
	for n, v := range w.Args() {
		role := e.Role(n)
		switch {
		case !role.Writes():
		case role == effects.Allotted:
			found = append(found, s.bytes(v, first(pointerBytes))...)
		case role == effects.Bounded:
			found = append(found, s.bytes(v, boundsOf(w.Args()[n+1]))...)
		default:
			found = append(found, s.bytes(v, s.reached(w, n))...)
		}
		if role == effects.Assigned {
			found = append(found, s.described(v)...)
		}
	}
	return found
}

// The parts of a descriptor of Fortran in bytes: the address at its begin, and for each dimension its lower bound, extent and stride.
const (
	pointerBytes   = 8
	descriptorHead = 24
	dimensionBytes = 24
)

// boundsOf returns the bytes of a descriptor that describe a dimension.
func boundsOf(dimension ir.Value) span {
	if n, is := ir.IntOf(dimension); is {
		return span{offset{at: descriptorHead + n*dimensionBytes}, dimensionBytes}
	}
	return all
}

// described returns the places of the memory that a descriptor describes.
func (s *Slice) described(descriptor ir.Value) (found []place) {
	for _, t := range s.memory.inside(s.memory.node(descriptor), first(pointerBytes)) {
		if p := (place{t.object, all}); !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}
