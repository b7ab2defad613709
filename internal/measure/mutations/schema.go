package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A schema of mutants (Untch, Offutt, Harrold, 1993) is one binary that holds many mutations. The environment variable has
// the number of the mutation that is switched on. switchedOn is the variable in the room that reads it.
const (
	variable   = "GIGARANK_MUTATION"
	switchedOn = "mutationSwitchedOn"
	reader     = "package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar " + switchedOn + ", _ = strconv.Atoi(os.Getenv(\"" + variable + "\"))\n"
)

// room is a package as go/types sees it.
type room struct {
	folder, name string
	set          *token.FileSet
	files        []*source
	imports      types.Importer
}

// source is a file of a room, with the types of its expressions.
type source struct {
	path  string
	text  []byte
	tree  *ast.File
	types map[span]types.Type
}

// load reads a room.
func load(folder string) (*room, error) {
	list := exec.Command("go", "list", "-pgo=off", "-trimpath", "-export", "-deps", "-json=ImportPath,Name,Export,GoFiles", "os", "strconv", "./"+filepath.ToSlash(folder))
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", folder, err)
	}
	type packaged struct {
		ImportPath, Name, Export string
		GoFiles                  []string
	}
	var at packaged // the room comes last
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); exports[at.ImportPath] = at.Export {
		at = packaged{}
		if err := d.Decode(&at); err != nil {
			return nil, err
		}
	}
	r := &room{folder: folder, name: at.Name, set: token.NewFileSet()}
	r.imports = importer.ForCompiler(r.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, name := range at.GoFiles {
		s := &source{path: filepath.Join(folder, name), types: map[span]types.Type{}}
		if s.text, err = os.ReadFile(s.path); err != nil {
			return nil, err
		}
		if s.tree, err = parser.ParseFile(r.set, s.path, s.text, 0); err != nil {
			return nil, err
		}
		r.files = append(r.files, s)
	}
	found := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if err := r.check("", nil, &found); err != nil {
		return nil, err
	}
	for e, its := range found.Types {
		for _, s := range r.files {
			if s.tree.FileStart <= e.Pos() && e.Pos() < s.tree.FileEnd {
				s.types[span{int(e.Pos() - s.tree.FileStart), int(e.End() - s.tree.FileStart)}] = its.Type
			}
		}
	}
	return r, nil
}

// check checks the types of the room, in which another text may take the place of one file.
func (r *room) check(path string, text []byte, found *types.Info) error {
	reads, err := parser.ParseFile(r.set, "reader.go", fmt.Sprintf(reader, r.name), 0)
	if err != nil {
		return err
	}
	trees := []*ast.File{reads}
	for _, s := range r.files {
		tree := s.tree
		if s.path == path {
			if tree, err = parser.ParseFile(r.set, path, text, 0); err != nil {
				return err
			}
		}
		trees = append(trees, tree)
	}
	_, err = (&types.Config{Importer: r.imports}).Check(r.name, r.set, trees, found)
	return err
}

// schema numbers those mutations of the room whose types fit when they can be switched on, and writes the files that hold them.
func (r *room) schema(work string, drawn []mutation) (overlay string, err error) {
	texts := map[string]string{filepath.Join(r.folder, switchedOn+".go"): fmt.Sprintf(reader, r.name)}
	for _, s := range r.files {
		var hold []*mutation
		for i := range drawn {
			x := &drawn[i]
			if x.file != s.path || !x.isStatement && s.types[x.whole] == nil {
				continue
			}
			x.number = i + 1
			if r.check(s.path, []byte(s.switched([]*mutation{x})), nil) == nil {
				hold = append(hold, x)
			} else {
				x.number = 0
			}
		}
		if len(hold) > 0 {
			texts[s.path] = s.switched(hold)
		}
	}
	return replaced(work, texts)
}

// switched returns the file with mutations that can be switched on.
func (s *source) switched(in []*mutation) string {
	slices.SortStableFunc(in, func(a, b *mutation) int {
		return cmp.Or(cmp.Compare(a.whole.from, b.whole.from), cmp.Compare(b.whole.to, a.whole.to))
	})
	return s.render(span{to: len(s.text)}, in)
}

// render returns a part of the file. The mutations in it are in order, each before those that its expression or statement holds.
func (s *source) render(part span, in []*mutation) string {
	var text strings.Builder
	for len(in) > 0 {
		x := in[0]
		n := 1
		for n < len(in) && x.whole.holds(in[n].whole) {
			n++
		}
		text.Write(s.text[part.from:x.whole.from])
		text.WriteString(s.either(x, s.render(x.whole, in[1:n])))
		part.from, in = x.whole.to, in[n:]
	}
	text.Write(s.text[part.from:part.to])
	return text.String()
}

// either returns the expression or statement that is the mutant if the mutation is switched on, and the original otherwise. Only
// the chosen side of both is evaluated.
func (s *source) either(x *mutation, original string) string {
	mutant := x.within(s.text, x.whole)
	if x.isStatement {
		return fmt.Sprintf("if %s == %d { %s } else { %s }", switchedOn, x.number, mutant, original)
	}
	of := s.types[x.whole]
	if basic, is := of.Underlying().(*types.Basic); is && basic.Info()&types.IsBoolean != 0 {
		return fmt.Sprintf("(%[1]s == %[2]d && (%[3]s) || %[1]s != %[2]d && (%[4]s))", switchedOn, x.number, mutant, original)
	}
	name := types.TypeString(types.Default(of), s.named)
	return fmt.Sprintf("(func() %s { if %s == %d { return %s }; return %s }())", name, switchedOn, x.number, mutant, original)
}

// named returns the name of a package in the file, "" for the room itself.
func (s *source) named(p *types.Package) string {
	for _, i := range s.tree.Imports {
		if strings.Trim(i.Path.Value, `"`) != p.Path() {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return p.Name()
	}
	return ""
}
