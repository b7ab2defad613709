package gigarank_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkFor type-checks all packages of a module, and what they import, for an operating system, without cgo. The errors are
// those of the compiler, which takes twenty times as long. Bodies of functions of other modules are left out.
func checkFor(t *testing.T, system, dir string) error {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-pgo=off", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,DepOnly,Error", "./...")
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	command.Dir, command.Stderr = dir, os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	set := token.NewFileSet()
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	var faults []error
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir string
			GoFiles, SFiles []string
			ImportMap       map[string]string
			DepOnly         bool
			Error           *struct{ Err string }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) { // packages follow those that they import
			return errors.Join(faults...)
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Error != nil {
			faults = append(faults, errors.New(p.Error.Err))
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
			if !p.DepOnly && len(p.SFiles) == 0 {
				faults = append(faults, bodiless(set, f)...)
			}
		}
		if p.ImportPath == "unsafe" || len(files) == 0 {
			continue
		}
		config := types.Config{
			IgnoreFuncBodies: p.DepOnly,
			Importer: imported(func(path string) (*types.Package, error) {
				if mapped := p.ImportMap[path]; mapped != "" {
					path = mapped
				}
				if checked[path] == nil {
					return nil, fmt.Errorf("go list has not reported %s", path)
				}
				return checked[path], nil
			}),
			Sizes: types.SizesFor("gc", "amd64"),
			Error: func(err error) { faults = append(faults, err) },
		}
		checked[p.ImportPath], _ = config.Check(p.ImportPath, set, files, nil)
	}
}

// imported is an importer of packages that have been checked.
type imported func(path string) (*types.Package, error)

func (i imported) Import(path string) (*types.Package, error) { return i(path) }

// bodiless returns an error for each function without a body, which wants assembly.
func bodiless(set *token.FileSet, f *ast.File) (faults []error) {
	for _, d := range f.Decls {
		if function, is := d.(*ast.FuncDecl); is && function.Body == nil {
			faults = append(faults, fmt.Errorf("%v: missing function body of %s", set.Position(function.Pos()), function.Name.Name))
		}
	}
	return faults
}

// A plain build, without a C compiler, is there for other systems, too: code that only Linux has is in files of its own, as is code that wants cgo.
func TestPlainBuild(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			if err := checkFor(t, system, "."); err != nil {
				t.Error(err)
			}
		})
	}
}

// A package that only Linux or cgo has is a fault where another imports it, as are a name that only Linux has and a function without a body.
func TestPlainBuildIsChecked(t *testing.T) {
	for _, c := range []struct{ name, main, fault string }{
		{"a program that all systems have", "import \"os\"\n\nfunc main() { os.Exit(0) }\n", ""},
		{"a name of Linux", "import \"syscall\"\n\nfunc main() { _, _ = syscall.EpollCreate(1) }\n", "undefined: syscall.EpollCreate"},
		{"a package of Linux", "import \"other/only\"\n\nfunc main() { only.Only() }\n", "build constraints exclude all Go files"},
		{"a file with cgo", "import \"other/foreign\"\n\nfunc main() { foreign.Foreign() }\n", "build constraints exclude all Go files"},
		{"a function without a body", "func beyond()\n\nfunc main() { beyond() }\n", "missing function body of beyond"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{
			"go.mod": "module other\n\ngo 1.26\n", "main.go": "package main\n\n" + c.main,
			"foreign/foreign.go": "package foreign\n\nimport \"C\"\n\nfunc Foreign() {}\n",
			"only/only.go":       "//go:build linux\n\npackage only\n\nfunc Only() {}\n",
		} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := checkFor(t, "darwin", dir); (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: the check says %v, want %q", c.name, err, c.fault)
		}
	}
}
