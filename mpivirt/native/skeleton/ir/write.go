package ir

import (
	"fmt"
	"strings"
)

// writer holds the text of a module as it is written.
type writer struct{ strings.Builder }

func (w *writer) put(format string, arguments ...any) { _, _ = fmt.Fprintf(w, format, arguments...) }

// String returns the text of the module, which LLVM 19 reads.
func (m *Module) String() string {
	var w writer
	for _, item := range m.Items {
		item.write(&w)
	}
	return w.Builder.String()
}

func (l Line) write(w *writer) { w.put("%s\n", string(l)) }

func (d *Definition) write(w *writer) { w.put("%s = type %s\n", d.Type, d.Type.body()) }

// spaced returns a text with a space behind it, unless it is empty.
func spaced(text string) string {
	if text == "" {
		return ""
	}
	return text + " "
}

// led returns a text with a space in front of it, unless it is empty.
func led(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

// comma returns what separates element n of a list from those in front of it.
func comma(n int) string {
	if n == 0 {
		return ""
	}
	return ", "
}

func (g *Global) write(w *writer) {
	w.put("%s = %s%s %s", g.Symbol, spaced(g.Prefix), g.Word, g.Type)
	switch {
	case g.Word == "alias":
		w.put(", %s %s", g.Init.Of(), g.Init)
	case g.Init != nil:
		w.put(" %s", g.Init)
	}
	w.put("%s\n", g.Suffix)
}

func (f *Function) write(w *writer) {
	word := "declare"
	if f.Blocks != nil {
		word = "define"
	}
	w.put("%s %s%s %s(", word, spaced(f.Prefix), f.Result, f.Symbol)
	for n, one := range f.Params {
		w.put("%s%s%s", comma(n), one.Local.Type, led(one.Attrs))
		if one.Local.Name != "" {
			w.put(" %s", one.Local)
		}
	}
	if f.Variadic {
		w.put("%s...", comma(len(f.Params)))
	}
	w.put(")%s", led(f.Suffix))
	if f.Blocks == nil {
		w.put("\n")
		return
	}
	w.put(" {\n")
	for _, b := range f.Blocks {
		if !b.Quiet {
			w.put("%s:\n", b.Name)
		}
		for _, i := range b.Instrs {
			w.put("  %s\n", i)
		}
	}
	w.put("}\n")
}

// String returns the instruction as a line of the text, or several lines.
func (i *Instr) String() string {
	var w writer
	if i.Result != nil {
		w.put("%s = ", i.Result)
	}
	w.put("%s%s", spaced(i.Prefix), i.Op)
	if i.Op != LandingPad {
		w.put("%s", led(i.Flags))
	}
	i.writeOperands(&w)
	w.put("%s", i.suffix())
	for _, n := range i.Notes {
		w.put(", !%s !%s", n.Name, n.Node)
	}
	return w.Builder.String()
}

// suffix returns what stands behind the operands, except metadata.
func (i *Instr) suffix() string {
	var w writer
	switch i.Op {
	case Call, Invoke:
		w.put("%s", led(i.Suffix))
	default:
		w.put("%s", i.Suffix)
	}
	if len(i.Bundles) > 0 {
		w.put(" [ ")
		for n, b := range i.Bundles {
			w.put("%s%s(%s)", comma(n), b.Tag, typed(b.Operands))
		}
		w.put(" ]")
	}
	if i.Op == Invoke {
		w.put("\n          to label %%%s unwind label %%%s", i.Targets[0].Name, i.Targets[1].Name)
	}
	return w.Builder.String()
}

// writeOperands writes what stands between the flags and the suffix.
func (i *Instr) writeOperands(w *writer) {
	switch op := i.Op; {
	case op.IsBinary():
		w.put(" %s %s, %s", i.Operands[0].Of(), i.Operands[0], i.Operands[1])
	case op.IsCast():
		w.put(" %s to %s", typed(i.Operands), i.Type)
	case op == ICmp || op == FCmp:
		w.put(" %s %s %s, %s", i.Pred, i.Operands[0].Of(), i.Operands[0], i.Operands[1])
	case op == Ret && len(i.Operands) == 0:
		w.put(" void")
	case op == Call || op == Invoke:
		i.writeCall(w)
	case op == Phi:
		w.put(" %s ", i.Type)
		for n, v := range i.Operands {
			w.put("%s[ %s, %%%s ]", comma(n), v, i.Targets[n].Name)
		}
	case op == Br || op == Switch:
		i.writeJump(w)
	case op == LandingPad:
		w.put(" %s", i.Type)
		if i.Flags != "" {
			w.put("\n          %s", i.Flags)
		}
		for n, clause := range i.Attrs {
			w.put("\n          %s %s", clause, typed(i.Operands[n:n+1]))
		}
	default:
		i.writePlain(w)
	}
}

// writePlain writes operands with their types, behind a type of the instruction, and before indices.
func (i *Instr) writePlain(w *writer) {
	separator := " "
	if i.Type != nil {
		w.put(" %s", i.Type)
		separator = ", "
	}
	if len(i.Operands) > 0 {
		w.put("%s%s", separator, typed(i.Operands))
	}
	for _, n := range i.Indices {
		w.put(", %d", n)
	}
}

func (i *Instr) writeCall(w *writer) {
	w.put(" %s %s(", i.Type, i.Callee())
	for n, v := range i.Args() {
		w.put("%s%s%s %s", comma(n), v.Of(), led(i.Attrs[n]), v)
	}
	w.put(")")
}

func (i *Instr) writeJump(w *writer) {
	if i.Op == Switch {
		w.put(" %s, label %%%s [\n", typed(i.Operands[:1]), i.Targets[0].Name)
		for n, v := range i.Operands[1:] {
			w.put("    %s, label %%%s\n", typed([]Value{v}), i.Targets[n+1].Name)
		}
		w.put("  ]")
		return
	}
	separator := " "
	if len(i.Operands) > 0 {
		w.put(" %s", typed(i.Operands))
		separator = ", "
	}
	for _, to := range i.Targets {
		w.put("%slabel %%%s", separator, to.Name)
		separator = ", "
	}
}
