package ir

import (
	"slices"
)

// refusedOps are the opcodes of LLVM 19 that skeletons do not take, with the reason.
var refusedOps = map[string]string{
	"indirectbr": "a jump to a computed label", "callbr": "inline assembly", "fence": "threads", "cmpxchg": "threads", "atomicrmw": "threads",
	"va_arg": "a list of further arguments", "addrspacecast": "memory of another processor",
	"catchpad": "exceptions of Windows", "catchswitch": "exceptions of Windows", "catchret": "exceptions of Windows", "cleanuppad": "exceptions of Windows", "cleanupret": "exceptions of Windows",
}

// instruction reads an instruction.
func (p *parser) instruction(block *Block) *Instr {
	at := p.peek()
	result := ""
	if at.kind == tokenLocal {
		result = p.next().text
		p.want("=")
	}
	i := &Instr{Block: block, Line: at.line}
	if p.is("tail") || p.is("musttail") || p.is("notail") {
		i.Prefix = p.next().text
		if !p.is("call") {
			p.fail("%q stands where call is wanted", p.shown())
		}
	}
	name := p.wantKind(tokenWord, "an instruction")
	if i.Op = opOf[name]; i.Op == 0 {
		p.at--
		if why := refusedOps[name]; why != "" {
			p.fail("the opcode %s (%s): skeletons do not take it", name, why)
		}
		p.fail("%s is no opcode that skeletons know", name)
	}
	t := p.operands(i)
	p.notes(i)
	switch {
	case result != "" && (t == nil || t.Kind == Void):
		p.failAt(at.line, "%s has no result to name", i.Op)
	case result == "" && t != nil && t.Kind != Void:
		p.failAt(at.line, "the result of %s has no name", i.Op)
	case result != "":
		i.Result = p.f.define(p, result, t, at.line)
		i.Result.Def = i
	}
	return i
}

// operands reads what stands behind the opcode, and returns the type of the result, nil for none.
func (p *parser) operands(i *Instr) *Type {
	switch op := i.Op; {
	case op.IsBinary():
		return p.binary(i)
	case op.IsCast():
		return p.cast(i)
	}
	switch i.Op {
	case Ret:
		return p.ret(i)
	case Br:
		return p.br(i)
	case Switch:
		return p.switches(i)
	case Resume:
		i.Operands = []Value{p.operand()}
		return nil
	case Unreachable:
		return nil
	case LandingPad:
		return p.landingPad(i)
	case Call, Invoke:
		return p.call(i)
	case Phi:
		return p.phi(i)
	case Freeze, FNeg:
		i.Flags = p.flags()
		i.Operands = []Value{p.operand()}
		return i.Operands[0].Of()
	case Select:
		return p.selects(i)
	case ICmp, FCmp:
		return p.compare(i)
	}
	return p.memory(i)
}

// memory reads the operands of instructions on memory and on parts of values.
func (p *parser) memory(i *Instr) *Type {
	switch i.Op {
	case Alloca:
		return p.alloca(i)
	case Load:
		p.access(i)
		i.Type = p.element()
		p.want(",")
		i.Operands = []Value{p.pointer()}
		i.Suffix = p.suffix()
		return i.Type
	case Store:
		p.access(i)
		i.Operands = []Value{p.operand()}
		p.want(",")
		i.Operands = append(i.Operands, p.pointer())
		i.Suffix = p.suffix()
		return nil
	case GetElementPtr:
		return p.elementPointer(i)
	case ExtractValue, InsertValue:
		return p.part(i)
	}
	return p.lane(i)
}

// flags takes words that stand in front of a type.
func (p *parser) flags() string { return p.attributes(p.beginsType) }

// pointer reads an operand that is a pointer.
func (p *parser) pointer() Value {
	v := p.operand()
	if v.Of().Kind != Pointer {
		p.failBehind("%s is no pointer", v)
	}
	return v
}

// integer reads an operand that is an integer or a vector of integers.
func (p *parser) integer() Value {
	v := p.operand()
	if scalar(v.Of()).Kind != Integer {
		p.failBehind("%s is no integer", v)
	}
	return v
}

// scalar returns the type of a vector's elements, or the type itself.
func scalar(t *Type) *Type {
	if t.Kind == Vector {
		return t.Elem
	}
	return t
}

// access takes the flags of load and store.
func (p *parser) access(i *Instr) {
	if p.take("volatile") {
		i.Flags = "volatile"
	}
	if p.is("atomic") {
		p.failBehind("an atomic %s (threads): skeletons do not take it", i.Op)
	}
}

// suffix takes alignments and the like up to metadata, with the comma in front.
func (p *parser) suffix() string {
	from := p.at
	for p.is(",") && p.after().kind == tokenWord {
		p.at += 2
		if p.peek().kind == tokenNumber {
			p.at++
		}
		p.group()
	}
	return p.since(from)
}

// notes reads the metadata of an instruction.
func (p *parser) notes(i *Instr) {
	for p.is(",") && p.after().kind == tokenMeta {
		p.at++
		name := p.next().text
		node := p.wantKind(tokenMeta, "a node of metadata")
		if name == "" || node == "" || !isDigit(node[0]) {
			p.at--
			p.fail("%s is not followed by the number of a node of metadata", name)
		}
		i.Notes = append(i.Notes, Note{name, node})
	}
}

func (p *parser) binary(i *Instr) *Type {
	i.Flags = p.flags()
	left := p.operand()
	p.want(",")
	i.Operands = []Value{left, p.value(left.Of())}
	if kind := scalar(left.Of()).Kind; kind != Integer && !scalar(left.Of()).IsFloat() {
		p.failBehind("%s of %s", i.Op, left.Of())
	}
	return left.Of()
}

func (p *parser) cast(i *Instr) *Type {
	i.Flags = p.flags()
	i.Operands = []Value{p.operand()}
	p.want("to")
	i.Type = p.element()
	return i.Type
}

func (p *parser) ret(i *Instr) *Type {
	result := p.f.function.Result
	if p.take("void") {
		if result.Kind != Void {
			p.failBehind("ret without a value in a function that returns %s", result)
		}
		return nil
	}
	i.Operands = []Value{p.operand()}
	if i.Operands[0].Of() != result {
		p.failBehind("ret of %s in a function that returns %s", i.Operands[0].Of(), result)
	}
	return nil
}

// target reads a block to go to.
func (p *parser) target() *Block {
	p.want("label")
	at := p.peek()
	return p.f.block(p.wantKind(tokenLocal, "a block"), at.line)
}

func (p *parser) br(i *Instr) *Type {
	if p.is("label") {
		i.Targets = []*Block{p.target()}
		return nil
	}
	i.Operands = []Value{p.operand()}
	if t := i.Operands[0].Of(); t.Kind != Integer || t.N != 1 {
		p.failBehind("br on %s", t)
	}
	p.want(",")
	i.Targets = []*Block{p.target()}
	p.want(",")
	i.Targets = append(i.Targets, p.target())
	return nil
}

func (p *parser) switches(i *Instr) *Type {
	condition := p.integer()
	i.Operands = []Value{condition}
	p.want(",")
	i.Targets = []*Block{p.target()}
	p.want("[")
	for !p.take("]") {
		v := p.constant()
		if v.Of() != condition.Of() {
			p.failBehind("switch on %s with a case of %s", condition.Of(), v.Of())
		}
		i.Operands = append(i.Operands, v)
		p.want(",")
		i.Targets = append(i.Targets, p.target())
	}
	return nil
}

func (p *parser) landingPad(i *Instr) *Type {
	i.Type = p.element()
	if p.take("cleanup") {
		i.Flags = "cleanup"
	}
	for p.is("catch") || p.is("filter") {
		i.Attrs = append(i.Attrs, p.next().text)
		i.Operands = append(i.Operands, p.constant())
	}
	return i.Type
}

// call reads a call or an invoke.
func (p *parser) call(i *Instr) *Type {
	i.Flags = p.flags()
	i.Type = p.typ()
	result := i.Type
	if i.Type.Kind == Func {
		result = i.Type.Elem
	}
	if p.is("asm") {
		p.failBehind("inline assembly: skeletons do not take it")
	}
	callee := p.value(p.m.types.of(Type{Kind: Pointer}))
	p.want("(")
	for !p.take(")") {
		if len(i.Operands) > 0 {
			p.want(",")
		}
		t := p.typ()
		i.Attrs = append(i.Attrs, p.attributes(func() bool { return t.Kind == Metadata || p.beginsValue() }))
		i.Operands = append(i.Operands, p.value(t))
	}
	i.Operands = append(i.Operands, callee)
	if i.Type.Kind == Func && (len(i.Type.Fields) > len(i.Args()) || !i.Type.Variadic && len(i.Type.Fields) != len(i.Args())) {
		p.failBehind("%s is called with %d arguments", i.Type, len(i.Args()))
	}
	i.Suffix = p.attributes(func() bool { return !isAttribute(p.peek()) || p.is("to") || p.isInstruction() })
	p.bundles(i)
	if i.Op == Invoke {
		p.want("to")
		i.Targets = []*Block{p.target()}
		p.want("unwind")
		i.Targets = append(i.Targets, p.target())
	}
	return result
}

func isAttribute(t token) bool {
	return t.kind == tokenWord || t.kind == tokenString || t.kind == tokenHash && len(t.text) > 0 && isDigit(t.text[0])
}

// isInstruction reports whether the current token begins an instruction without a result.
func (p *parser) isInstruction() bool {
	t := p.peek()
	return t.kind == tokenWord && (opOf[t.text] != 0 || refusedOps[t.text] != "" || t.text == "tail" || t.text == "musttail" || t.text == "notail")
}

// bundles reads groups of further operands of a call.
func (p *parser) bundles(i *Instr) {
	if !p.take("[") {
		return
	}
	for !p.take("]") {
		if len(i.Bundles) > 0 {
			p.want(",")
		}
		b := Bundle{Tag: p.wantKind(tokenString, "the name of a group of operands")}
		p.want("(")
		for !p.take(")") {
			if len(b.Operands) > 0 {
				p.want(",")
			}
			b.Operands = append(b.Operands, p.operand())
		}
		i.Bundles = append(i.Bundles, b)
	}
	if len(i.Bundles) == 0 {
		p.failBehind("a list of no groups of operands")
	}
}

func (p *parser) phi(i *Instr) *Type {
	i.Flags = p.flags()
	i.Type = p.element()
	for {
		p.want("[")
		i.Operands = append(i.Operands, p.value(i.Type))
		p.want(",")
		at := p.peek()
		i.Targets = append(i.Targets, p.f.block(p.wantKind(tokenLocal, "a block"), at.line))
		p.want("]")
		if !p.is(",") || p.after().kind == tokenMeta {
			return i.Type
		}
		p.at++
	}
}

func (p *parser) selects(i *Instr) *Type {
	i.Flags = p.flags()
	condition := p.operand()
	if t := scalar(condition.Of()); t.Kind != Integer || t.N != 1 {
		p.failBehind("select on %s", condition.Of())
	}
	p.want(",")
	i.Operands = []Value{condition, p.operand()}
	p.want(",")
	i.Operands = append(i.Operands, p.operand())
	if i.Operands[1].Of() != i.Operands[2].Of() {
		p.failBehind("select of %s and %s", i.Operands[1].Of(), i.Operands[2].Of())
	}
	return i.Operands[1].Of()
}

// predicates are the comparisons of integers and of floating-point numbers.
var predicates = map[Op][]string{
	ICmp: {"eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"},
	FCmp: {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"},
}

func (p *parser) compare(i *Instr) *Type {
	known := func() bool { return slices.Contains(predicates[i.Op], p.peek().text) }
	i.Flags = p.attributes(func() bool { return known() || p.beginsType() })
	if !known() {
		p.fail("%q stands where a comparison is wanted", p.shown())
	}
	i.Pred = p.next().text
	left := p.operand()
	p.want(",")
	i.Operands = []Value{left, p.value(left.Of())}
	return p.lanesOf(left.Of(), Type{Kind: Integer, N: 1})
}

// lanesOf returns a type, or the vector of it with as many elements as a type has that is a vector.
func (p *parser) lanesOf(like *Type, t Type) *Type {
	one := p.m.types.of(t)
	if like.Kind != Vector {
		return one
	}
	return p.m.types.of(Type{Kind: Vector, N: like.N, Elem: one})
}

func (p *parser) alloca(i *Instr) *Type {
	if p.take("inalloca") {
		p.failBehind("alloca of arguments: skeletons do not take it")
	}
	i.Type = p.element()
	if p.is(",") && (p.after().kind == tokenWord && bitsOf(p.after().text) > 0) {
		p.at++
		i.Operands = []Value{p.integer()}
	}
	i.Suffix = p.suffix()
	return p.m.types.of(Type{Kind: Pointer})
}

func (p *parser) elementPointer(i *Instr) *Type {
	i.Flags = p.flags()
	i.Type = p.element()
	p.want(",")
	i.Operands = []Value{p.operand()}
	if scalar(i.Operands[0].Of()).Kind != Pointer {
		p.failBehind("%s is no pointer", i.Operands[0])
	}
	result := i.Operands[0].Of()
	for p.is(",") && p.after().kind != tokenMeta {
		p.at++
		v := p.integer()
		if i.Operands = append(i.Operands, v); v.Of().Kind == Vector && result.Kind == Pointer {
			result = p.lanesOf(v.Of(), Type{Kind: Pointer, N: result.N})
		}
	}
	return result
}

// part reads the operands of extractvalue and insertvalue.
func (p *parser) part(i *Instr) *Type {
	whole := p.operand()
	i.Operands = []Value{whole}
	p.want(",")
	if i.Op == InsertValue {
		i.Operands = append(i.Operands, p.operand())
		p.want(",")
	}
	t := whole.Of()
	for {
		n := p.count()
		if t = t.element(n); t == nil || t.Kind == Array && n >= t.N {
			p.failBehind("%s has no part %d", whole.Of(), n)
		}
		i.Indices = append(i.Indices, n)
		if !p.is(",") || p.after().kind == tokenMeta {
			break
		}
		p.at++
	}
	if i.Op == ExtractValue {
		return t
	}
	if i.Operands[1].Of() != t {
		p.failBehind("a part of type %s, and %s is inserted", t, i.Operands[1].Of())
	}
	return whole.Of()
}

// lane reads the operands of instructions on elements of vectors.
func (p *parser) lane(i *Instr) *Type {
	v := p.operand()
	if v.Of().Kind != Vector {
		p.failBehind("%s of %s", i.Op, v.Of())
	}
	p.want(",")
	i.Operands = []Value{v, p.operand()}
	if i.Op == ExtractElement {
		return v.Of().Elem
	}
	p.want(",")
	i.Operands = append(i.Operands, p.operand())
	mask := i.Operands[2].Of()
	if i.Op == ShuffleVector && mask.Kind == Vector {
		return p.lanesOf(mask, *v.Of().Elem)
	}
	return v.Of()
}
