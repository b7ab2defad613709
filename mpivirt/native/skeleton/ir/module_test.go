package ir_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton/ir"
	"gigarank/mpivirt/native/toolchain"
)

var rewrite = flag.Bool("rewrite", false, "make the stored modules again, with LLVM 19")

// passes prepare a program so that its loops show.
const passes = "ipsccp,inline,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa,loop(loop-rotate),loop(indvars))"

// stored are the modules of testdata that compilers make, with the command.
var stored = map[string][]string{
	"stencil.c":  {"clang-19", "-O1"},
	"objects.cc": {"clang++-19", "-O1"},
	"mesh.f90":   {"flang-new-19", "-O1"},
}

// TestStoredModules makes the modules of testdata again, if the flag says so.
func TestStoredModules(t *testing.T) {
	if !*rewrite {
		return // the other tests read them
	}
	library, err := toolchain.OpenLibrary()
	if err != nil {
		t.Fatal(err)
	}
	// flang writes the directory of the source into the module.
	const dir = "/tmp/gigarank-stored"
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for source, command := range stored {
		arguments := append(command[1:], "-gline-tables-only", "-fPIC", "-emit-llvm", "-c", filepath.Join(dir, source), "-o", "-")
		if strings.HasPrefix(command[0], "clang") {
			arguments = append(arguments, "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fdebug-compilation-dir="+dir)
		}
		arguments = append(arguments, "-I"+filepath.Dir(library.Path))
		text := run(t, dir, run(t, dir, "", command[0], arguments...), "opt-19", "-S", "-passes="+passes)
		text = strings.ReplaceAll(text, filepath.Dir(library.Path)+"/", "")
		text = regexp.MustCompile(`, checksumkind: CSK_MD5, checksum: "\w*"`).ReplaceAllString(text, "")
		name := strings.TrimSuffix(source, filepath.Ext(source)) + ".ll"
		if err := os.WriteFile(filepath.Join("testdata", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// run returns what a command prints for an input, in a directory.
func run(t *testing.T, dir, input, name string, arguments ...string) string {
	t.Helper()
	cmd := exec.Command(name, arguments...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	text, err := cmd.Output()
	if err != nil {
		why := ""
		if exit, is := err.(*exec.ExitError); is {
			why = string(exit.Stderr)
		}
		t.Fatalf("%s: %v\n%s", name, err, why)
	}
	return string(text)
}

// modules returns the texts of testdata, by name.
func modules(t testing.TB) map[string]string {
	t.Helper()
	paths, _ := filepath.Glob("testdata/*.ll")
	all := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = string(text)
	}
	if len(all) != len(stored)+1 {
		t.Fatalf("testdata has %d modules", len(all))
	}
	return all
}

func parse(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// comments are what the writer leaves out of LLVM's text: comments and blank lines.
var comments = regexp.MustCompile(`(?m) *; preds = .*$|^;.*\n|^\n`)

// TestRoundTrip: the writer prints what LLVM has printed.
func TestRoundTrip(t *testing.T) {
	for name, text := range modules(t) {
		want := strings.Split(comments.ReplaceAllString(text, ""), "\n")
		got := strings.Split(parse(t, name, text).String(), "\n")
		for n := range max(len(got), len(want)) {
			if n >= len(got) || n >= len(want) || got[n] != want[n] {
				t.Errorf("%s, line %d:\n%q, LLVM prints\n%q", name, n+1, got[min(n, len(got)-1)], want[min(n, len(want)-1)])
				break
			}
		}
	}
}

// TestLLVMTakesTheText: LLVM reads the writer's text as the same module, also when instructions are taken away.
func TestLLVMTakesTheText(t *testing.T) {
	if _, err := exec.LookPath("llvm-as-19"); err != nil {
		t.Skip("llvm-as-19 is not there: apt-get install llvm-19")
	}
	canonical := func(text string) string { return run(t, "", run(t, "", text, "llvm-as-19"), "llvm-dis-19") }
	for name, text := range modules(t) {
		m := parse(t, name, text)
		if canonical(m.String()) != canonical(text) {
			t.Errorf("%s: LLVM reads another module", name)
		}
		for _, f := range m.Functions() {
			for _, b := range f.Blocks {
				b.Instrs = withoutStores(b.Instrs)
			}
		}
		if left := canonical(m.String()); strings.Contains(left, "  store ") {
			t.Errorf("%s: a store is left", name)
		}
	}
}

func withoutStores(all []*ir.Instr) (left []*ir.Instr) {
	for _, i := range all {
		if i.Op != ir.Store {
			left = append(left, i)
		}
	}
	return left
}

// TestEachOpcode: testdata has each opcode that the reader knows.
func TestEachOpcode(t *testing.T) {
	met := map[ir.Op]bool{}
	for name, text := range modules(t) {
		for _, f := range parse(t, name, text).Functions() {
			for _, b := range f.Blocks {
				for _, i := range b.Instrs {
					met[i.Op] = true
				}
			}
		}
	}
	for op := ir.Ret; op <= ir.BitCast; op++ {
		if !met[op] {
			t.Errorf("no module has %s", op)
		}
	}
}

// TestValues: what a pass reads of the module of a program that the language reference and the source tell.
func TestValues(t *testing.T) {
	m := parse(t, "opcodes.ll", modules(t)["opcodes.ll"])
	f := m.Symbol("control").Function
	byName := map[string]*ir.Instr{}
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			if i.Result != nil {
				byName[i.Result.Name] = i
			}
			if i.Block != b || b.Func != f {
				t.Errorf("%s is not in its block", i)
			}
		}
	}
	if next := byName["next"]; byName["i"].Operands[1] != ir.Value(next.Result) || next.Result.Def != next {
		t.Error("the second operand of %i is not the result of %next")
	}
	entry := f.Blocks[0]
	if to := entry.Successors(); len(to) != 3 || to[0].Name != "other" || to[2].Name != "loop" {
		t.Errorf("the first block goes to %v", to)
	}
	if n, is := ir.IntOf(entry.Last().Operands[2]); !is || n != -1 {
		t.Errorf("the second case is %v", entry.Last().Operands[2])
	}
	if got := byName["made"]; got.Calls() != "maker" || len(got.Args()) != 2 || got.Result.Type.Kind != ir.Pointer {
		t.Errorf("%s calls %q with %v", got, got.Calls(), got.Args())
	}
	if got := byName["v"]; got.Calls() != "" || got.Callee() != ir.Value(f.Params[1].Local) {
		t.Errorf("%s calls a function by its name", got)
	}
}

// mpiCall is a call of MPI in a source.
var mpiCall = regexp.MustCompile(`(?i)\bmpi_\w+\(`)

// TestPositions: the lines of calls of MPI are those of the source, and inlined functions have callers.
func TestPositions(t *testing.T) {
	for name, source := range map[string]string{"stencil.ll": "stencil.c", "mesh.ll": "mesh.f90"} {
		text, err := os.ReadFile(filepath.Join("testdata", source))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.ToLower(string(text)), "\n")
		m := parse(t, name, modules(t)[name])
		calls, inlined := 0, 0
		for _, f := range m.Functions() {
			for _, b := range f.Blocks {
				for _, i := range b.Instrs {
					callee := strings.TrimSuffix(strings.ToLower(i.Calls()), "_")
					if !strings.HasPrefix(callee, "mpi_") {
						continue
					}
					calls++
					at := m.Position(i)
					if at == nil || filepath.Base(at.File) != source || !strings.Contains(lines[at.Line-1], callee+"(") {
						t.Errorf("%s is at %v", callee, at)
						continue
					}
					if at.Caller != nil {
						inlined++
						if !strings.Contains(lines[at.Caller.Line-1], "exchange(") {
							t.Errorf("%s is at %s", callee, at)
						}
					}
				}
			}
		}
		if want := len(mpiCall.FindAllString(string(text), -1)); calls != want {
			t.Errorf("%s has %d calls of MPI, its source has %d", name, calls, want)
		}
		if source == "stencil.c" && inlined != 2 {
			t.Errorf("%d calls of MPI are inlined, two are in exchange", inlined)
		}
	}
	m := parse(t, "stencil.ll", modules(t)["stencil.ll"])
	if at := m.Function(m.Symbol("main").Function); at == nil || at.Line == 0 || filepath.Base(at.File) != "stencil.c" {
		t.Errorf("main is at %v", at)
	}
}

// TestFreshNames: names that are given are not those of the text, nor names that LLVM makes of these by digits behind them.
func TestFreshNames(t *testing.T) {
	const text = "define i32 @f(i32 %n) {\n  %gigarank.1 = add i32 %n, 1\n  br label %gigarank0.2\n\ngigarank0.2:\n  ret i32 %gigarank.1\n}\n"
	m, err := ir.Parse("m", text)
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	for range 30 {
		name := m.Fresh()
		if met[name] || strings.HasPrefix(name, "gigarank.") || strings.HasPrefix(name, "gigarank0.") {
			t.Errorf("the name %s", name)
		}
		met[name] = true
	}
	if m, err = ir.Parse("m", "define void @f() {\n  ret void\n}\n"); err != nil || m.Fresh() != "gigarank.1" {
		t.Errorf("a module without such names: %v", err)
	}
}
