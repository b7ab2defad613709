package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// span is a part of a file, as offsets.
type span struct{ from, to int }

func (s span) holds(other span) bool { return s.from <= other.from && other.to <= s.to }

// mutation replaces a part of a file.
type mutation struct {
	file     string
	line     int
	function string
	part     span
	with     string // what takes its place
	whole    span   // the expression or statement around the part
	before   string // the text of whole

	isStatement bool // whole is
	kind        string
	number      int // switches the mutation on in a binary that holds many, 0 for a mutation that is built alone
}

// apply returns a file with the mutation in it.
func (m *mutation) apply(source []byte) string {
	return m.within(source, span{to: len(source)})
}

// within returns a part of a file, with the mutation in it.
func (m *mutation) within(source []byte, around span) string {
	return string(source[around.from:m.part.from]) + m.with + string(source[m.part.to:around.to])
}

// String describes the mutation in a line: the place, the kind, the expression and the text that is put in.
func (m *mutation) String() string {
	with := m.with
	if with == "" {
		with = "nothing"
	}
	return fmt.Sprintf("%s:%d %s: %s: %s -> %s", m.file, m.line, m.function, m.kind, strings.Join(strings.Fields(m.before), " "), with)
}

// operators are those that may take the place of an operator.
var operators = map[token.Token][]string{
	token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"}, token.REM: {"/"}, token.AND: {"|"}, token.OR: {"&"},
}

// leftOut are words of files, functions and statements whose faults change no result: checks of invariants, sizes
// for forecasts, and prefetching.
var leftOut = []string{"invariant", "sizes", "prefetch"}

func isLeftOut(text string) bool {
	return slices.ContainsFunc(leftOut, func(word string) bool { return strings.Contains(strings.ToLower(text), word) })
}

// sitesOf returns all mutations of a room, in the order of its files.
func sitesOf(room string) (all []mutation, err error) {
	files, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no Go files: name the folder of a room, from the folder of the module", room)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || isLeftOut(filepath.Base(file)) {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		of, err := sitesIn(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, err
}

// sites collects the mutations of a function.
type sites struct {
	file     *token.File
	source   []byte
	function string
	all      []mutation
}

// sitesIn returns all mutations of the functions of a file.
func sitesIn(name string, source []byte) (all []mutation, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, source, 0)
	if err != nil {
		return nil, err
	}
	s := &sites{file: set.File(tree.Pos()), source: source}
	for _, d := range tree.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Body != nil && !isLeftOut(f.Name.Name) {
			s.function = f.Name.Name
			ast.Inspect(f.Body, s.visit)
		}
	}
	return s.all, nil
}

func (s *sites) span(from, to token.Pos) span {
	return span{s.file.Offset(from), s.file.Offset(to)}
}

func (s *sites) text(n ast.Node) string {
	return string(s.source[s.file.Offset(n.Pos()):s.file.Offset(n.End())])
}

func (s *sites) add(from, to token.Pos, with, kind string, around ast.Node) {
	_, isStatement := around.(ast.Stmt)
	s.all = append(s.all, mutation{
		file: s.file.Name(), line: s.file.Line(from), function: s.function, part: s.span(from, to),
		with: with, whole: s.span(around.Pos(), around.End()), before: s.text(around), isStatement: isStatement, kind: kind,
	})
}

func (s *sites) drop(n ast.Node) {
	if text := s.text(n); !isLeftOut(text) && !strings.HasPrefix(text, "panic") {
		s.add(n.Pos(), n.End(), "", "left out", n)
	}
}

// visit adds the mutations of a node. It reports whether those of its parts count.
func (s *sites) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		if strings.Contains(s.text(n.Cond), "invariant.Enabled") {
			return false
		}
		if _, is := n.Cond.(*ast.BinaryExpr); !is {
			s.add(n.Cond.Pos(), n.Cond.End(), "!("+s.text(n.Cond)+")", "negated", n.Cond)
		}
	case *ast.BinaryExpr:
		if n.Op == token.ADD && strings.Contains(s.text(n), `"`) { // of strings
			break
		}
		for _, other := range operators[n.Op] {
			s.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other, "operator", n)
		}
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			s.add(n.Pos(), n.End(), strconv.Itoa(v+1), "off by one", n)
		}
	case *ast.Ident:
		if other, is := map[string]string{"true": "false", "false": "true"}[n.Name]; is {
			s.add(n.Pos(), n.End(), other, "constant", n)
		}
	case *ast.CallExpr:
		s.call(n)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			break
		}
		s.drop(n)
		if other, is := map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+="}[n.Tok]; is {
			s.add(n.TokPos, n.TokPos+2, other, "operator", n)
		}
	case *ast.IncDecStmt:
		s.drop(n)
	case *ast.ExprStmt:
		s.drop(n)
	case *ast.BranchStmt:
		if n.Label == nil && n.Tok == token.CONTINUE {
			s.add(n.Pos(), n.End(), "break", "branch", n)
		}
	}
	return true
}

// call adds the mutations of a maximum or minimum.
func (s *sites) call(n *ast.CallExpr) {
	name, is := n.Fun.(*ast.Ident)
	if !is || name.Name != "max" && name.Name != "min" || len(n.Args) < 2 {
		return
	}
	s.add(name.Pos(), name.End(), map[string]string{"max": "min", "min": "max"}[name.Name], "operator", n)
	s.add(n.Args[0].Pos(), n.Args[1].Pos(), "", "argument left out", n)
	for i, a := range n.Args[1:] {
		s.add(n.Args[i].End(), a.End(), "", "argument left out", n)
	}
}
