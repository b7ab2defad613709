package slice

import (
	"strings"

	"gigarank/mpivirt/native/skeleton/ir"
)

// What functions of the C library do besides the roles of their arguments: streams of files, the variables of getopt, the function that qsort calls.

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
