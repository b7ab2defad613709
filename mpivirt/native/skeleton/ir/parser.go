package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// deepest is the number of types or constants around another up to which the reader goes.
const deepest = 64

// parser reads the tokens of a module.
type parser struct {
	m      *Module
	text   string
	tokens []token
	at     int
	depth  int
	f      *body // of the function that is read
}

// Parse returns the module that a text describes. Name is the file that errors name.
func Parse(name, text string) (m *Module, err error) {
	tokens, err := lex(name, text)
	if err != nil {
		return nil, err
	}
	layout, err := ParseLayout("")
	if err != nil {
		return nil, err
	}
	m = &Module{File: name, prefix: prefixFor(text), Layout: layout, types: types{}, symbols: map[string]*Symbol{}, nodes: map[string]string{}, places: map[string]*Position{}}
	p := &parser{m: m, text: text, tokens: tokens}
	defer func() {
		if fault := recover(); fault != nil {
			refused, is := fault.(*Error)
			if !is {
				panic(fault)
			}
			m, err = nil, refused
		}
	}()
	for p.peek().kind != tokenEnd {
		m.Items = append(m.Items, p.item())
	}
	p.checkSymbols()
	return m, nil
}

// fail ends the reading with an error at the current token.
func (p *parser) fail(format string, arguments ...any) { p.failAt(p.peek().line, format, arguments...) }

// failBehind ends the reading with an error at the last token that was taken.
func (p *parser) failBehind(format string, arguments ...any) {
	p.failAt(p.tokens[max(p.at-1, 0)].line, format, arguments...)
}

func (p *parser) failAt(line int, format string, arguments ...any) {
	panic(&Error{File: p.m.File, Line: line, Text: fmt.Sprintf(format, arguments...), Source: p.source(line)})
}

// source returns the place in the program's source of the instruction in a line of the text, nil if it has none.
func (p *parser) source(line int) *Position {
	node := ""
	for n, t := range p.tokens {
		switch {
		case t.kind == tokenLine && strings.HasPrefix(t.text, "!"):
			p.kept(t)
		case t.kind == tokenMeta && t.text == "dbg" && t.line == line && p.tokens[n+1].kind == tokenMeta:
			node = p.tokens[n+1].text
		}
	}
	return p.m.location(node, 0)
}

func (p *parser) peek() token { return p.tokens[p.at] }

// after returns the token behind the current token.
func (p *parser) after() token { return p.tokens[min(p.at+1, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// is reports whether the current token is a word or a character.
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.text == text && (t.kind == tokenWord || t.kind == tokenPunct)
}

// take takes a word or a character if it is the current token, and reports whether it is.
func (p *parser) take(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

// want takes a word or a character that must stand here.
func (p *parser) want(text string) {
	if !p.take(text) {
		p.fail("%q stands where %q is wanted", p.shown(), text)
	}
}

// wantKind takes a token of a kind that must stand here.
func (p *parser) wantKind(kind tokenKind, what string) string {
	if p.peek().kind != kind {
		p.fail("%q stands where %s is wanted", p.shown(), what)
	}
	return p.next().text
}

// shown returns the current token as the text has it.
func (p *parser) shown() string { return p.text[p.peek().start:p.peek().end] }

// since returns the text from a token up to the current one, with a space in the place of blanks, ends of lines and comments.
func (p *parser) since(from int) string {
	var s strings.Builder
	for n := from; n < p.at; n++ {
		if n > from && p.tokens[n].start > p.tokens[n-1].end {
			_ = s.WriteByte(' ')
		}
		_, _ = s.WriteString(p.text[p.tokens[n].start:p.tokens[n].end])
	}
	return s.String()
}

// item reads an item of the module.
func (p *parser) item() Item {
	switch t := p.peek(); {
	case t.kind == tokenLine:
		p.at++
		return p.kept(t)
	case t.kind == tokenLocal:
		return p.definition()
	case t.kind == tokenGlobal:
		return p.global()
	case p.is("define") || p.is("declare"):
		return p.function()
	case p.is("module"):
		p.fail("inline assembly of a module: skeletons do not take it")
	}
	p.fail("%q begins no part of a module that is known", p.shown())
	return nil
}

// kept takes notice of a line that is kept as it stands.
func (p *parser) kept(t token) Item {
	head, value, _ := strings.Cut(t.text, " = ")
	switch {
	case head == "target datalayout":
		layout, err := ParseLayout(strings.Trim(value, `"`))
		if err != nil {
			p.failAt(t.line, "%v", err)
		}
		p.m.Layout = layout
	case head == "target triple":
		p.m.Triple = strings.Trim(value, `"`)
	case strings.HasPrefix(head, "!"):
		p.m.nodes[head[1:]] = value
	}
	return Line(t.text)
}

// definition reads the definition of a structure with a name.
func (p *parser) definition() Item {
	t := p.m.types.named(p.next().text)
	p.want("=")
	if line := p.peek().line; !t.Opaque {
		p.failAt(line, "%s is defined twice", t)
	}
	p.want("type")
	if p.take("opaque") {
		return &Definition{t}
	}
	body := p.typ()
	if body.Kind != Struct || body.Name != "" {
		p.failBehind("%s is defined as %s, which is no structure", t, body)
	}
	t.Fields, t.Packed, t.Opaque = body.Fields, body.Packed, false
	return &Definition{t}
}

// symbol returns the symbol with a name.
func (p *parser) symbol(name string) *Symbol {
	s := p.m.symbols[name]
	if s == nil {
		s = &Symbol{Name: name, Type: p.m.types.of(Type{Kind: Pointer}), line: p.peek().line}
		p.m.symbols[name] = s
	}
	return s
}

// defined returns the symbol with a name that an item defines.
func (p *parser) defined(name string, line int) *Symbol {
	s := p.symbol(name)
	if s.Global != nil || s.Function != nil {
		p.failAt(line, "@%s is defined twice", name)
	}
	return s
}

// checkSymbols fails if a symbol is used that the module does not have.
func (p *parser) checkSymbols() {
	var missing *Symbol
	for _, s := range p.m.symbols {
		if s.Global == nil && s.Function == nil && (missing == nil || s.line < missing.line || s.line == missing.line && s.Name < missing.Name) {
			missing = s
		}
	}
	if missing != nil {
		p.failAt(missing.line, "@%s is used and not there", missing.Name)
	}
}

// global reads a variable or an alias, which is a line.
func (p *parser) global() Item {
	line := p.peek().line
	g := &Global{Symbol: p.defined(p.next().text, line)}
	g.Symbol.Global = g
	p.want("=")
	from := p.at
	for !p.is("global") && !p.is("constant") && !p.is("alias") {
		if p.is("ifunc") || p.peek().line != line || p.peek().kind != tokenWord && p.peek().kind != tokenHash {
			p.fail("@%s is no variable and no alias", g.Symbol.Name)
		}
		p.at++
		p.group()
	}
	g.Prefix = p.since(from)
	g.Word = p.next().text
	g.Type = p.typ()
	switch inLine := p.peek().line == line; {
	case g.Word == "alias":
		p.want(",")
		g.Init = p.operand()
	case inLine && !p.is(","):
		g.Init = p.value(g.Type)
	}
	from = p.at
	for p.peek().line == line && p.peek().kind != tokenEnd {
		p.at++
	}
	g.Suffix = p.since(from)
	if g.Suffix != "" && g.Suffix[0] != ',' {
		p.failAt(line, "%q stands behind the variable @%s", g.Suffix, g.Symbol.Name)
	}
	return g
}

// group skips what stands in brackets here, with the brackets.
func (p *parser) group() {
	if !p.is("(") {
		return
	}
	for open := 0; ; {
		switch {
		case p.peek().kind == tokenEnd || p.peek().kind == tokenLine:
			p.failBehind("a bracket is not closed")
		case p.is("("):
			open++
		case p.is(")"):
			open--
		}
		p.at++
		if open == 0 {
			return
		}
	}
}

// constants are the words that begin a constant.
var constants = []string{"true", "false", "null", "undef", "poison", "zeroinitializer", "none", "splat"}

// refusedConstants are the words that begin constants which skeletons do not take.
var refusedConstants = map[string]string{
	"asm": "inline assembly", "blockaddress": "the address of a block", "dso_local_equivalent": "dso_local_equivalent", "no_cfi": "no_cfi", "ptrauth": "ptrauth",
}

// beginsValue reports whether the current token begins a value.
func (p *parser) beginsValue() bool {
	t := p.peek()
	switch t.kind {
	case tokenLocal, tokenGlobal, tokenNumber, tokenBytes, tokenMeta:
		return true
	case tokenPunct:
		return t.text == "[" || t.text == "{" || t.text == "<"
	case tokenWord:
		_, refused := refusedConstants[t.text]
		return refused || slices.Contains(constants, t.text) || opOf[t.text] != 0
	}
	return false
}

// beginsType reports whether the current token begins a type.
func (p *parser) beginsType() bool {
	t := p.peek()
	switch t.kind {
	case tokenLocal:
		return true
	case tokenPunct:
		return t.text == "[" || t.text == "{" || t.text == "<"
	case tokenWord:
		_, is := words[t.text]
		return is || bitsOf(t.text) > 0
	}
	return false
}

// bitsOf returns the bits of the type iN, 0 if a word is none.
func bitsOf(word string) int64 {
	digits, is := strings.CutPrefix(word, "i")
	if !is || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > 1<<23 {
		return 0
	}
	return n
}

// attributes takes attributes up to the token at which stop is true, and returns their text.
func (p *parser) attributes(stop func() bool) string {
	from := p.at
	for !stop() {
		t := p.next()
		switch t.kind {
		case tokenWord:
			if (t.text == "align" || t.text == "cc" || t.text == "addrspace") && p.peek().kind == tokenNumber {
				p.at++
			}
			p.group()
		case tokenString:
			if p.take("=") {
				p.wantKind(tokenString, "a text")
			}
		case tokenHash:
		default:
			p.at--
			p.fail("%q stands among attributes", p.shown())
		}
	}
	return p.since(from)
}

// typ reads a type.
func (p *parser) typ() *Type {
	p.enter()
	defer func() { p.depth-- }()
	t := p.plainType()
	for p.is("(") {
		t = p.functionType(t)
	}
	if p.is("*") {
		p.failBehind("a pointer with a type: LLVM 19 has none")
	}
	return t
}

// enter notes that a type or a constant begins inside another one.
func (p *parser) enter() {
	if p.depth++; p.depth > deepest {
		p.failBehind("types or constants are nested more than %d deep", deepest)
	}
}

// plainType reads a type that is not of a function.
func (p *parser) plainType() *Type {
	if !p.beginsType() {
		p.fail("%q stands where a type is wanted", p.shown())
	}
	all := p.m.types
	switch t := p.next(); {
	case t.kind == tokenLocal:
		return all.named(t.text)
	case t.text == "[":
		return p.elements(Array, "]")
	case t.text == "{":
		return p.structure(false)
	case t.text == "<" && p.take("{"):
		s := p.structure(true)
		p.want(">")
		return s
	case t.text == "<":
		return p.elements(Vector, ">")
	case t.text == "ptr" && p.is("addrspace"):
		p.at++
		p.want("(")
		space := p.count()
		p.want(")")
		return all.of(Type{Kind: Pointer, N: space})
	default:
		if n := bitsOf(t.text); n > 0 {
			return all.of(Type{Kind: Integer, N: n})
		}
		return all.of(Type{Kind: words[t.text]})
	}
}

// count reads a number that is not negative.
func (p *parser) count() int64 {
	n, err := strconv.ParseInt(p.wantKind(tokenNumber, "a number"), 10, 64)
	if err != nil || n < 0 || n > most {
		p.at--
		p.fail("%q is no number up to %d", p.shown(), int64(most))
	}
	return n
}

// elements reads the type of an array or a vector behind its bracket.
func (p *parser) elements(kind Kind, closing string) *Type {
	if p.is("vscale") {
		p.failBehind("a vector whose length only the processor knows: skeletons do not take it")
	}
	n := p.count()
	if kind == Vector && n == 0 {
		p.failBehind("a vector without elements")
	}
	p.want("x")
	t := Type{Kind: kind, N: n, Elem: p.element()}
	if scalar := t.Elem.Kind; kind == Vector && scalar != Integer && scalar != Pointer && !t.Elem.IsFloat() {
		p.failBehind("a vector of %s", t.Elem)
	}
	p.want(closing)
	return p.m.types.of(t)
}

// element reads the type of an element, which has a size.
func (p *parser) element() *Type {
	t := p.typ()
	if t.Kind == Void || t.Kind == Func || t.Kind == Metadata {
		p.failBehind("an element of type %s", t)
	}
	return t
}

// structure reads the type of a structure behind its brace.
func (p *parser) structure(packed bool) *Type {
	t := Type{Kind: Struct, Packed: packed}
	for !p.take("}") {
		if len(t.Fields) > 0 {
			p.want(",")
		}
		t.Fields = append(t.Fields, p.element())
	}
	return p.m.types.of(t)
}

// functionType reads the parameters of a function's type.
func (p *parser) functionType(result *Type) *Type {
	t := Type{Kind: Func, Elem: result}
	if result.Kind == Func || result.Kind == Metadata {
		p.failBehind("a function that returns %s", result)
	}
	p.want("(")
	for !p.take(")") {
		if len(t.Fields) > 0 {
			p.want(",")
		}
		if p.take("...") {
			t.Variadic = true
			p.want(")")
			break
		}
		if f := p.typ(); f.Kind != Void && f.Kind != Func {
			t.Fields = append(t.Fields, f)
		} else {
			p.failBehind("a parameter of type %s", f)
		}
	}
	return p.m.types.of(t)
}
