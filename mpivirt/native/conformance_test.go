//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	stdsync "sync"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/sync"
)

// languages are the languages of the programs of the suite, by suffix: the wrapper that builds
// them, the compiler of a real MPI, and the flags of both. Procedures of mpif.h take buffers of
// any type, which gfortran would warn of.
var languages = map[string]struct {
	wrapper toolchain.Language
	real    string
	flags   []string
}{
	".c":   {toolchain.C, "mpicc", []string{"-Wall", "-Werror"}},
	".cc":  {toolchain.CXX, "mpicxx", []string{"-Wall", "-Werror"}},
	".f90": {toolchain.Fortran, "mpifort", []string{"-fallow-argument-mismatch", "-w"}},
	".F90": {toolchain.Fortran, "mpifort", []string{"-fallow-argument-mismatch", "-w", "-ffree-line-length-none"}},
}

// modules are the modules that programs whose suffix is F90 are built with, one after the other.
var modules = []string{"mpi", "mpi_f08"}

// fileOf returns the file of a program of the suite, and the module that it is built with, "" for a program
// that names its own modules.
func fileOf(source string) (file, module string) {
	file, module, _ = strings.Cut(source, ":")
	return file, module
}

// languageOf returns the suffix of a program of the suite.
func languageOf(source string) string {
	file, _ := fileOf(source)
	return filepath.Ext(file)
}

// flagsIn returns the flags for a program. The modules that it defines go to a directory.
func flagsIn(source, dir string) []string {
	flags := languages[languageOf(source)].flags
	if strings.EqualFold(languageOf(source), ".f90") {
		flags = slices.Concat(flags, []string{"-J", dir})
	}
	if _, module := fileOf(source); module != "" {
		flags = slices.Concat(flags, []string{"-cpp", "-D" + strings.ToUpper(module)})
	}
	return flags
}

// conformance returns the programs of the suite: one for each family of functions, and each module
// of Fortran. A program checks the effects of these functions and prints, at its end, the number of checks and of failures.
// It prints the same under a real MPI.
func conformance(t *testing.T) (sources []string) {
	t.Helper()
	dir := filepath.Join("testdata", "conformance")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		switch _, is := languages[filepath.Ext(path)]; {
		case filepath.Ext(path) == ".F90":
			for _, module := range modules {
				sources = append(sources, path+":"+module)
			}
		case is:
			sources = append(sources, path)
		}
	}
	if len(sources) == 0 {
		t.Fatalf("%s has no programs", dir)
	}
	return sources
}

// nameOf returns the name of a program of the suite, which it prints.
func nameOf(source string) string {
	file, _ := fileOf(source)
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// labelOf returns the name of the test of a program of the suite: in Fortran, the modules are below the program, as in fortran_windows/mpi_f08.
func labelOf(source string) string {
	if _, module := fileOf(source); module != "" {
		return nameOf(source) + "/" + module
	}
	return nameOf(source)
}

// built are the programs of the suite that have been built, by source.
var built struct {
	lock stdsync.Mutex
	dir  string
	once map[string]func() (string, error)
}

// buildConformance builds a program of the suite, once for all tests.
func buildConformance(t *testing.T, source string) string {
	t.Helper()
	built.lock.Lock()
	if built.once == nil {
		dir, err := os.MkdirTemp("", "conformance-")
		if err != nil {
			built.lock.Unlock()
			t.Fatal(err)
		}
		built.dir, built.once = dir, map[string]func() (string, error){}
	}
	if built.once[source] == nil {
		built.once[source] = stdsync.OnceValues(func() (string, error) {
			program := filepath.Join(built.dir, filepath.Base(source)+".out")
			own := program + ".modules" // a program is built with each of two modules at once, and its own have one name
			if err := os.Mkdir(own, 0o700); err != nil {
				return "", err
			}
			var printed bytes.Buffer
			language := languages[languageOf(source)]
			file, _ := fileOf(source)
			code, err := toolchain.Wrap(language.wrapper, append([]string{"-DGIGARANK", "-O1", "-g", file, "-o", program, "-lm"}, flagsIn(source, own)...), nil, &printed, &printed)
			if err == nil && code != 0 {
				err = fmt.Errorf("exit code %d:\n%s", code, &printed)
			}
			return program, err
		})
	}
	once := built.once[source]
	built.lock.Unlock()
	program, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestMain removes the built programs.
func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// ways are the hostings in which the suite runs: few, since all programs together meet them.
func ways(ranks int) []hosting {
	return []hosting{
		{engines: 1},
		{engines: 1, stacks: native.Copied, strict: true},
		{engines: min(2, ranks), stacks: native.Copied, protocol: sync.Conditional},
		{engines: min(3, ranks), protocol: sync.Null, collectives: mpivirt.Message},
	}
}

func TestConformance(t *testing.T) {
	for _, source := range conformance(t) {
		t.Run(labelOf(source), func(t *testing.T) {
			t.Parallel()
			program := buildConformance(t, source)
			for _, ranks := range []int{1, 2, 5} {
				machine := "xt5"
				if ranks == 2 {
					machine = "loggops-default"
				}
				lines := alike(t, program, machine, ranks, ways(ranks))
				if len(lines) != 1 || !strings.HasPrefix(lines[0], nameOf(source)+": ") || !strings.HasSuffix(lines[0], fmt.Sprintf(" checks on %d ranks, 0 failed\n", ranks)) {
					t.Errorf("%d ranks print\n%s", ranks, strings.Join(lines, ""))
				}
			}
		})
	}
}

// Each supported function is called by a program of the suite in C, and in Fortran with each module, but
// for functions that a real MPI need not have any more or yet; see TestRemovedFunctions and TestSessions.
func TestSuiteIsComplete(t *testing.T) {
	called := map[string]bool{}
	for _, source := range conformance(t) {
		file, err := elf.Open(buildConformance(t, source))
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := file.ImportedSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols {
			called[s.Name] = true
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	deprecated := []string{"Attr_delete", "Attr_get", "Attr_put", "Keyval_create", "Keyval_free"} // mpi_f08 does not have these
	for _, name := range toolchain.Supported() {
		if slices.Contains(slices.Concat(toolchain.Removed(), toolchain.Sessions()), name) {
			continue
		}
		names := []string{"MPI_" + name}
		if !toolchain.OnlyC(name) && !strings.HasSuffix(name, "_c") {
			fortran := toolchain.FortranNames(name)
			names = append(names, fortran[0])
			if !slices.Contains(deprecated, name) {
				names = append(names, fortran[2])
			}
		}
		for _, symbol := range names {
			if !called[symbol] {
				t.Errorf("no program in testdata/conformance calls %s: check there what it does", symbol)
			}
		}
	}
}
