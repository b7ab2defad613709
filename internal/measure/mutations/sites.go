package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
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

// leftOut are words of files, functions, statements and calls whose faults change no result: checks of invariants, sizes
// for forecasts, and prefetching.
var leftOut = []string{"invariant", "sizes", "prefetch"}

func isLeftOut(text string) bool {
	return slices.ContainsFunc(leftOut, func(word string) bool { return strings.Contains(strings.ToLower(text), word) })
}

// sitesOf returns all mutations of a room, in the order of its files.
func sitesOf(room string) (all []mutation, err error) {
	files, err := filepath.Glob(filepath.Join(room, "*.go"))
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, fmt.Errorf("%s has no Go files: name the folder of a room, from the folder of the module", room)
	}
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
	sources := map[string][]byte{}
	for _, file := range files {
		if sources[file], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return sitesIn(sources)
}

// sites collects the mutations of a function.
type sites struct {
	file     *token.File
	source   []byte
	function string
	all      []mutation
}

// sitesIn returns all mutations of the functions of the files of a room, in the order of the files' names.
func sitesIn(sources map[string][]byte) (all []mutation, err error) {
	set, trees := token.NewFileSet(), map[string]*ast.File{}
	for name, source := range sources {
		if trees[name], err = parser.ParseFile(set, name, source, 0); err != nil {
			return nil, err
		}
	}
	used := usedNames(trees)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if isLeftOut(filepath.Base(name)) {
			continue
		}
		s := &sites{file: set.File(trees[name].Pos()), source: sources[name]}
		for _, f := range functionsOf(trees[name]) {
			if f.Name.IsExported() || f.Name.Name == "init" || used[f.Name.Name] {
				s.function = f.Name.Name
				ast.Inspect(f.Body, s.visit)
			}
		}
		all = append(all, s.all...)
	}
	return all, nil
}

// functionsOf returns the functions of a file that are not left out by their names.
func functionsOf(tree *ast.File) (all []*ast.FuncDecl) {
	for _, d := range tree.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Body != nil && !isLeftOut(f.Name.Name) {
			all = append(all, f)
		}
	}
	return all
}

// usedNames returns the names that the files of a room use outside of checks of invariants. A function with another name checks
// invariants, too.
func usedNames(trees map[string]*ast.File) (used map[string]bool) {
	for before := -1; len(used) != before; { // until checks that only checks call are left out
		before = len(used)
		known := used
		used = map[string]bool{}
		for name, tree := range trees {
			if isLeftOut(filepath.Base(name)) {
				continue
			}
			note := func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.IfStmt:
					return !checksInvariants(n)
				case *ast.Ident:
					used[n.Name] = true
				}
				return true
			}
			for _, d := range tree.Decls {
				if f, is := d.(*ast.FuncDecl); !is {
					ast.Inspect(d, note)
				} else if f.Body != nil && !isLeftOut(f.Name.Name) && (known == nil || f.Name.IsExported() || f.Name.Name == "init" || known[f.Name.Name]) {
					ast.Inspect(f.Body, note)
				}
			}
		}
	}
	return used
}

// checksInvariants reports whether a branch is taken only in a binary with the tag invariants.
func checksInvariants(n *ast.IfStmt) (checks bool) {
	ast.Inspect(n.Cond, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is && s.Sel.Name == "Enabled" {
			of, is := s.X.(*ast.Ident)
			checks = checks || is && of.Name == "invariant"
		}
		return true
	})
	return checks
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
		if checksInvariants(n) {
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
		return s.call(n)
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

// call adds the mutations of a maximum or minimum, and visits those arguments of other calls that change results: no argument of
// prefetching, and not the capacity of a slice or the room of a map.
func (s *sites) call(n *ast.CallExpr) (visits bool) {
	name, is := n.Fun.(*ast.Ident)
	switch {
	case isLeftOut(s.text(n.Fun)):
		return false
	case s.text(n.Fun) == "slices.Grow":
		ast.Inspect(n.Args[0], s.visit)
		return false
	case is && name.Name == "make":
		kept := 2
		if _, isMap := n.Args[0].(*ast.MapType); isMap {
			kept = 1
		}
		for _, a := range n.Args[:min(kept, len(n.Args))] {
			ast.Inspect(a, s.visit)
		}
		return false
	case !is || name.Name != "max" && name.Name != "min" || len(n.Args) < 2:
		return true
	}
	s.add(name.Pos(), name.End(), map[string]string{"max": "min", "min": "max"}[name.Name], "operator", n)
	s.add(n.Args[0].Pos(), n.Args[1].Pos(), "", "argument left out", n)
	for i, a := range n.Args[1:] {
		s.add(n.Args[i].End(), a.End(), "", "argument left out", n)
	}
	return true
}
