package ir

import (
	"slices"
	"strconv"
)

// operand reads a type and a value of it.
func (p *parser) operand() Value { return p.value(p.typ()) }

// constant reads a type and a constant or symbol of it.
func (p *parser) constant() Value {
	v := p.operand()
	if _, is := v.(*Local); is {
		p.failBehind("%s is no constant", v)
	}
	return v
}

// value reads a value of a type.
func (p *parser) value(t *Type) Value {
	p.enter()
	defer func() { p.depth-- }()
	if t.Kind == Void || t.Kind == Func {
		p.failBehind("a value of type %s", t)
	}
	if t.Kind == Metadata {
		return p.node(t)
	}
	at := p.peek()
	why := refusedConstants[at.text]
	switch {
	case at.kind == tokenWord && why != "":
		p.failBehind("%s: skeletons do not take it", why)
	case at.kind == tokenLocal:
		if p.f == nil {
			p.failBehind("%%%s stands outside a function", at.text)
		}
		p.at++
		return p.f.local(p, at, t)
	case at.kind == tokenGlobal:
		p.at++
		if t.Kind != Pointer || t.N != 0 {
			p.failAt(at.line, "@%s is used as %s", at.text, t)
		}
		return p.symbol(at.text)
	case at.kind == tokenNumber:
		return p.number(t)
	case at.kind == tokenBytes:
		p.at++
		if t.Kind != Array || t.Elem.Kind != Integer || t.Elem.N != 8 || t.N != byteCount(at.text) {
			p.failAt(at.line, "a text of %d bytes stands for %s", byteCount(at.text), t)
		}
		return &Const{Type: t, Text: "c" + at.text}
	case at.kind == tokenPunct:
		return p.aggregate(t)
	case at.kind == tokenWord && slices.Contains(constants, at.text):
		return p.word(t)
	case at.kind == tokenWord && opOf[at.text] != 0:
		return p.expression(t)
	}
	p.fail("%q stands where a value of type %s is wanted", p.shown(), t)
	return nil
}

// node reads a node of metadata.
func (p *parser) node(t *Type) Value {
	if at := p.peek(); at.kind == tokenMeta && at.text != "" && isDigit(at.text[0]) {
		p.at++
		return &Const{Type: t, Text: "!" + at.text}
	}
	p.fail("%q stands where the number of a node of metadata is wanted", p.shown())
	return nil
}

// byteCount returns the number of bytes of a text in quotes, in which \ and two hexadecimal digits are a byte.
func byteCount(text string) (n int64) {
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' {
			i += 2
			if i < len(text) && text[i-1] == '\\' {
				i-- // \\ is a byte, too
			}
		}
		n++
	}
	return n
}

// number reads a number of a type.
func (p *parser) number(t *Type) Value {
	text := p.next().text
	decimal := true
	for i, c := range []byte(text) {
		decimal = decimal && (isDigit(c) || i == 0 && c == '-')
	}
	hexadecimal := len(text) > 2 && text[0] == '0' && text[1] == 'x'
	_, err := strconv.ParseFloat(text, 64)
	if !(t.Kind == Integer && decimal || t.IsFloat() && (hexadecimal || err == nil && !decimal)) {
		p.at--
		p.fail("%s is no number of type %s", text, t)
	}
	return &Const{Type: t, Text: text}
}

// word reads a constant that a word stands for.
func (p *parser) word(t *Type) Value {
	word := p.next().text
	aggregate := t.Kind == Array || t.Kind == Vector || t.Kind == Struct
	switch {
	case word == "splat" && t.Kind == Vector:
		p.want("(")
		v := p.constant()
		p.want(")")
		if v.Of() != t.Elem {
			p.failBehind("a vector %s of elements %s", t, v.Of())
		}
		return &Const{Type: t, Text: "splat (" + v.Of().String() + " " + v.String() + ")"}
	case word == "undef" || word == "poison",
		word == "zeroinitializer" && aggregate,
		word == "null" && t.Kind == Pointer,
		(word == "true" || word == "false") && t.Kind == Integer && t.N == 1:
		return &Const{Type: t, Text: word}
	}
	p.at--
	p.fail("%s is no value of type %s", word, t)
	return nil
}

// aggregate reads the elements of an array, a structure or a vector.
func (p *parser) aggregate(t *Type) Value {
	open, closing := "[", "]"
	switch {
	case t.Kind == Struct && !t.Opaque:
		open, closing = "{", "}"
	case t.Kind == Vector:
		open, closing = "<", ">"
	case t.Kind != Array:
		p.fail("%q begins no value of type %s", p.shown(), t)
	}
	packed := t.Kind == Struct && t.Packed
	if packed {
		p.want("<")
	}
	p.want(open)
	c := &Const{Type: t, Form: Aggregate}
	for !p.take(closing) {
		if len(c.Elems) > 0 {
			p.want(",")
		}
		v := p.constant()
		if want := t.element(int64(len(c.Elems))); v.Of() != want {
			p.failBehind("element %d of %s has type %s", len(c.Elems), t, v.Of())
		}
		c.Elems = append(c.Elems, v)
	}
	if packed {
		p.want(">")
	}
	want := t.N
	if t.Kind == Struct {
		want = int64(len(t.Fields))
	}
	if int64(len(c.Elems)) != want {
		p.failBehind("%s has %d elements, and %d stand here", t, want, len(c.Elems))
	}
	return c
}

// inExpressions are the opcodes that constants have.
var inExpressions = []Op{GetElementPtr, Trunc, PtrToInt, IntToPtr, BitCast, Add, Sub, Mul, Xor, Shl}

// expression reads a constant that an opcode makes of others.
func (p *parser) expression(t *Type) Value {
	name := p.next().text
	op := opOf[name]
	if !slices.Contains(inExpressions, op) {
		p.at--
		p.fail("%s makes no constant that skeletons know", name)
	}
	c := &Const{Type: t, Form: Expression, Text: name}
	from := p.at
	for p.peek().kind == tokenWord {
		if p.next().text == "inrange" {
			p.group()
		}
	}
	c.Flags = p.since(from)
	p.want("(")
	if op == GetElementPtr {
		c.Source = p.element()
		p.want(",")
	}
	c.Elems = []Value{p.constant()}
	result := c.Elems[0].Of()
	if op.IsCast() {
		p.want("to")
		result = p.typ()
	}
	for p.take(",") {
		c.Elems = append(c.Elems, p.constant())
	}
	p.want(")")
	if op == GetElementPtr && result.Kind != Pointer || op.IsBinary() && len(c.Elems) != 2 || op.IsCast() && len(c.Elems) != 1 {
		p.failBehind("%s has operands that it does not take", name)
	}
	if result != t {
		p.failBehind("%s makes %s, and %s is wanted", name, result, t)
	}
	return c
}
