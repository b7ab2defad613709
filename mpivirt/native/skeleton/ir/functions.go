package ir

import (
	"strconv"
)

// body is what the reader knows of the function that it reads.
type body struct {
	function *Function
	locals   map[string]*Local
	made     map[*Local]bool // whose definition has been read
	lines    map[*Local]int  // of their first use
	blocks   map[string]*Block
	begun    map[*Block]bool // whose label has been read
	jumps    map[*Block]int  // line of the first jump to a block
	unnamed  int             // the number that the next value without a name has at least
}

// local returns the value with a name, which may be defined later.
func (b *body) local(p *parser, at token, t *Type) *Local {
	v := b.locals[at.text]
	if v == nil {
		v = &Local{Name: at.text, Type: t}
		b.locals[at.text], b.lines[v] = v, at.line
	}
	if v.Type != t {
		p.failAt(at.line, "%s has type %s and is used as %s", v, v.Type, t)
	}
	return v
}

// define returns the value with a name that a parameter or an instruction defines.
func (b *body) define(p *parser, name string, t *Type, line int) *Local {
	v := b.local(p, token{text: name, line: line}, t)
	if b.made[v] {
		p.failAt(line, "%s is defined twice", v)
	}
	if b.blocks[name] != nil && b.begun[b.blocks[name]] {
		p.failAt(line, "%s is a block and a value", v)
	}
	b.made[v] = true
	b.count(p, name, line)
	return v
}

// count notes a number that stands for a name. Numbers rise in the order of the text.
func (b *body) count(p *parser, name string, line int) {
	if !isDigit(name[0]) {
		return
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < b.unnamed || strconv.Itoa(n) != name {
		p.failAt(line, "%s stands for a name where the number %d or a larger one is wanted", name, b.unnamed)
	}
	b.unnamed = n + 1
}

// block returns the block with a name, which may begin later.
func (b *body) block(name string, line int) *Block {
	if b.blocks[name] == nil {
		block := &Block{Name: name, Func: b.function}
		b.blocks[name], b.jumps[block] = block, line
	}
	return b.blocks[name]
}

// begin returns the block with a name, which begins here.
func (b *body) begin(p *parser, name string, line int) *Block {
	block := b.block(name, line)
	if b.begun[block] || b.locals[name] != nil && b.made[b.locals[name]] {
		p.failAt(line, "the block %s begins where there is a block or a value of its name", name)
	}
	b.begun[block] = true
	b.function.Blocks = append(b.function.Blocks, block)
	b.count(p, name, line)
	return block
}

// function reads a function.
func (p *parser) function() Item {
	here := p.is("define")
	p.at++
	f := &Function{}
	from := p.at
	p.skipPrefix()
	f.Prefix = p.since(from)
	f.Result = p.typ()
	if f.Result.Kind == Func || f.Result.Kind == Metadata {
		p.failBehind("a function that returns %s", f.Result)
	}
	line := p.peek().line
	f.Symbol = p.defined(p.wantKind(tokenGlobal, "the name of a function"), line)
	f.Symbol.Function = f
	p.f = &body{
		function: f, locals: map[string]*Local{}, made: map[*Local]bool{}, lines: map[*Local]int{},
		blocks: map[string]*Block{}, begun: map[*Block]bool{}, jumps: map[*Block]int{},
	}
	p.params(f, here)
	from = p.at
	for !p.is("{") && p.peek().line == line && p.peek().kind != tokenEnd {
		p.at++
	}
	f.Suffix = p.since(from)
	if here {
		p.want("{")
		p.blocks(f)
	}
	p.f = nil
	return f
}

// skipPrefix takes linkage, attributes and, of a function of another module, metadata.
func (p *parser) skipPrefix() {
	for {
		p.attributes(func() bool { return p.beginsType() || p.peek().kind == tokenMeta })
		if p.peek().kind != tokenMeta {
			return
		}
		p.at++
		p.wantKind(tokenMeta, "a node of metadata")
	}
}

// params reads the parameters of a function.
func (p *parser) params(f *Function, here bool) {
	p.want("(")
	for first := true; !p.take(")"); first = false {
		if !first {
			p.want(",")
		}
		if p.take("...") {
			f.Variadic = true
			p.want(")")
			return
		}
		t := p.typ()
		if t.Kind == Void || t.Kind == Func || t.Kind == Metadata && here {
			p.failBehind("a parameter of type %s", t)
		}
		one := Param{Attrs: p.attributes(func() bool { return p.peek().kind == tokenLocal || p.is(",") || p.is(")") })}
		if p.peek().kind == tokenLocal {
			at := p.next()
			one.Local = p.f.define(p, at.text, t, at.line)
		} else if one.Local = (&Local{Type: t}); here {
			p.failBehind("a parameter without a name")
		}
		f.Params = append(f.Params, one)
	}
}

// blocks reads the blocks of a function behind its brace.
func (p *parser) blocks(f *Function) {
	for !p.take("}") {
		at := p.peek()
		var block *Block
		switch {
		case at.kind == tokenLabel && at.text != "":
			p.at++
			block = p.f.begin(p, at.text, at.line)
		case len(f.Blocks) == 0:
			block = p.f.begin(p, strconv.Itoa(p.f.unnamed), at.line)
			block.Quiet = true
		default:
			p.fail("%q stands where a block is to begin", p.shown())
		}
		for len(block.Instrs) == 0 || !block.Last().Op.Ends() {
			if p.skipRecord() {
				continue
			}
			block.Instrs = append(block.Instrs, p.instruction(block))
		}
		p.checkPhis(block)
	}
	p.checkBody()
}

// skipRecord skips a record for debuggers, and reports whether there was one.
func (p *parser) skipRecord() bool {
	if t := p.peek(); t.kind != tokenHash || len(t.text) < 4 || t.text[:4] != "dbg_" {
		return false
	}
	p.at++
	p.group()
	return true
}

// checkPhis fails if a phi or landingpad stands behind other instructions.
func (p *parser) checkPhis(block *Block) {
	others := false
	for _, i := range block.Instrs {
		if i.Op == Phi && others {
			p.failAt(i.Line, "phi stands behind another instruction")
		}
		others = others || i.Op != Phi
	}
}

// checkBody fails if the function uses values or blocks that it does not have.
func (p *parser) checkBody() {
	f := p.f
	if len(f.function.Blocks) == 0 {
		p.failBehind("@%s has no block", f.function.Symbol.Name)
	}
	worst, what := 0, ""
	for v, line := range f.lines {
		if !f.made[v] && (worst == 0 || line < worst || line == worst && v.String() < what) {
			worst, what = line, v.String()
		}
	}
	for block, line := range f.jumps {
		if !f.begun[block] && (worst == 0 || line < worst || line == worst && block.Name < what) {
			worst, what = line, "the block "+block.Name
		}
	}
	if worst != 0 {
		p.failAt(worst, "%s is used and not there", what)
	}
	for _, b := range f.function.Blocks {
		for _, to := range b.Last().Targets {
			if to == f.function.Blocks[0] {
				p.failAt(b.Last().Line, "a jump to the first block of @%s", f.function.Symbol.Name)
			}
		}
	}
}
