//go:build cgo && linux && (amd64 || arm64)

package toolchain_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native/toolchain"
)

// TestMain has the tests be a wrapper where they run under its name, for scripts.
func TestMain(m *testing.M) {
	language, is := toolchain.LanguageOf(os.Args[0])
	if !is {
		os.Exit(m.Run())
	}
	code, err := toolchain.Wrap(language, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// wrap runs the wrapper of C in a directory and returns what it prints.
func wrap(t *testing.T, dir string, arguments ...string) (printed string, code int) {
	t.Helper()
	return wrapIn(t, toolchain.C, dir, arguments...)
}

func wrapIn(t *testing.T, language toolchain.Language, dir string, arguments ...string) (printed string, code int) {
	t.Helper()
	t.Chdir(dir)
	var out bytes.Buffer
	code, err := toolchain.Wrap(language, arguments, strings.NewReader("int piped;\n"), &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), code
}

// sources is a directory with a program of two files, and a library of one.
func sources(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.c": "#include <mpi.h>\nint answer(void);\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); MPI_Finalize(); return answer(); }\n",
		"part.c": "#include \"mpi.h\"\nint answer(void) { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); return 0; }\n",
		"bad.c":  "int main(void) { return missing_function_of_nobody(); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The wrapper builds as mpicc does: in one step, in several, with a library.
func TestBuilds(t *testing.T) {
	for _, steps := range [][]string{
		{"-O2 main.c part.c -o program -lm"},
		{"-c main.c", "-c part.c -o part.o", "-o program main.o part.o"},
		{"-shared part.c -o libpart.so", "main.c -o program -L. -lpart -Wl,-rpath,$ORIGIN"},
		{"-pie -fPIE main.c part.c -o program"},
		{"-x c main.c part.c -o program"},
		{"-c main.c part.c", "-r main.o part.o -o whole.o", "whole.o -o program"},
	} {
		dir := sources(t)
		for _, step := range steps {
			if text, code := wrap(t, dir, strings.Fields(step)...); code != 0 {
				t.Fatalf("%s: exit code %d:\n%s", step, code, text)
			}
		}
		if err := toolchain.Check(filepath.Join(dir, "program")); err != nil {
			t.Errorf("%q: %v", steps, err)
		}
	}
}

// The wrapper answers the questions of build systems, and passes the compiler's failures on.
func TestAnswers(t *testing.T) {
	dir := sources(t)
	for _, c := range []struct {
		arguments string
		code      int
		says      string
	}{
		{"-show", 0, "-fPIC"},
		{"-show", 0, "gigarank_entry"},
		{"--showme:compile", 0, "-I"},
		{"--showme:link", 0, "libgigarank_mpi.so"},
		{"--showme:command", 0, toolchain.Compiler()},
		{"-v", 0, "version"},
		{"--version", 0, "Free Software"},
		{"-showme:compile", 0, "-I"},
		{"-showme:link", 0, "libgigarank_mpi.so"},
		{"-showme:command", 0, toolchain.Compiler()},
		{"--showme:incdirs", 0, "native-"},
		{"--showme:libdirs", 0, "native-"},
		{"--showme:libs", 0, "gigarank_mpi"},
		{"--showme:version", 0, "MPI"},
		{"--showme:help", 0, "incdirs"},
		{"--showme:nothing", 1, "incdirs"},
		{"-compile_info", 0, "-I"},
		{"-link-info", 0, "libgigarank_mpi.so"},
		{"-x c -c - -o piped.o", 0, ""},
		{"-x c - -o piped", 1, "undefined reference to `main'"},
		{"-E main.c", 0, "MPI_Init"},
		{"-E -x c -", 0, "int piped;"},
		{"-S part.c -o -", 0, "MPI_Comm_size"},
		{"bad.c -o bad", 1, "missing_function_of_nobody"},
		{"main.c -o incomplete", 1, "answer"},
		{"nowhere.c", 1, "nowhere.c"},
	} {
		if text, code := wrap(t, dir, strings.Fields(c.arguments)...); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s: exit code %d, want %d, and %q in\n%s", c.arguments, code, c.code, c.says, text)
		}
	}
}

// Loops begin with a cache line, unless the program's flags say otherwise.
func TestLoopsAligned(t *testing.T) {
	dir := t.TempDir()
	text := "void scale(int n, double *x) { for (int i = 0; i < n; i++) x[i] = x[i] * x[i + 1] + 1; }\n"
	if err := os.WriteFile(filepath.Join(dir, "scale.c"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for flags, aligned := range map[string]bool{"-O2": true, "-O3": true, "-O2 -falign-loops=16": false} {
		made, code := wrap(t, dir, strings.Fields(flags+" -S scale.c -o -")...)
		if code != 0 || strings.Contains(made, ".p2align 6") != aligned {
			t.Errorf("%s: exit code %d; aligned to 64 bytes must be %t:\n%s", flags, code, aligned, made)
		}
	}
}

// Each wrapper shows its compiler, where mpi.h, mpif.h and the modules are, and how to link, and
// does a part of the work where it is asked to.
func TestAnswersInLanguages(t *testing.T) {
	for language, c := range map[toolchain.Language]struct{ text, preprocess, shows string }{
		toolchain.C:       {"#include <mpi.h>\nint part(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n", "-E ", "-fPIC"},
		toolchain.CXX:     {"#include <mpi.h>\nint part() { return MPI_Barrier(MPI_COMM_WORLD); }\n", "-E ", "-fPIC"},
		toolchain.Fortran: {"subroutine part\n  use mpi\n  integer :: ierror\n  call MPI_Barrier(MPI_COMM_WORLD, ierror)\nend subroutine\n", "-E -cpp ", "modules-"},
	} {
		dir := t.TempDir()
		usual, _ := language.Compiler()
		source := "part" + language.Suffix()
		if err := os.WriteFile(filepath.Join(dir, source), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		for arguments, says := range map[string]string{
			"-show": c.shows, "-show -c": c.shows, "--showme": "gigarank_entry", "--showme:compile": "-I", "--showme:link": "libgigarank_mpi.so", "--showme:command": usual,
			"-v": "version", c.preprocess + source: "MPI_Barrier", "-c " + source: "", "-shared " + source + " -o libpart.so": "",
		} {
			if text, code := wrapIn(t, language, dir, strings.Fields(arguments)...); code != 0 || !strings.Contains(text, says) {
				t.Errorf("%v %s: exit code %d, want %q in\n%s", language, arguments, code, says, text)
			}
		}
		if text, _ := wrapIn(t, language, dir, "-show", "-c", source); strings.Contains(text, "gigarank_entry") || !strings.Contains(text, source) {
			t.Errorf("%v -show -c %s prints\n%s", language, source, text)
		}
		for _, made := range []string{"part.o", "libpart.so"} {
			if _, err := os.Stat(filepath.Join(dir, made)); err != nil {
				t.Error(err)
			}
		}
	}
}

// A program runs by itself, as scripts that configure a program want it, until it calls MPI_Init.
func TestProgramsByThemselves(t *testing.T) {
	for _, c := range []struct {
		text, says string
		code       int
	}{
		{"#include <stdio.h>\n__attribute__((constructor)) static void begin(void) { printf(\"begins, \"); }\n__attribute__((destructor)) static void end(void) { printf(\", ends\"); }\n" +
			"int main(int argc, char **argv) { printf(\"%d %s\", argc, argv[1]); return 3; }\n", "begins, 2 argument, ends", 3},
		{"#include <mpi.h>\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); return MPI_Finalize(); }\n", "run it with gigarank run ./PROGRAM --ranks N\n", 2},
		{"#include <mpi.h>\nint main(void) { int n; return MPI_Comm_size(MPI_COMM_WORLD, &n); }\n",
			"MPI_Comm_size is called before MPI_Init; this program was built with gigarank cc: run it with gigarank run ./PROGRAM --ranks N\n", 2},
		{"#include <mpi.h>\nint main(void) { int there = 7; return MPI_Initialized(&there) || there; }\n", "", 0},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "conftest.c"), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if text, code := wrap(t, dir, "-o", "conftest", "conftest.c", "-ffunction-sections", "-Wl,--gc-sections"); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, text)
		}
		cmd := exec.Command(filepath.Join(dir, "conftest"), "argument")
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || !strings.HasSuffix(string(text), c.says) {
			t.Errorf("%v, printed %q, want exit code %d and %q", err, text, c.code, c.says)
		}
	}
}

// A program whose main is in an archive is built, as one of start files would be.
func TestMainInArchive(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.c": "int answer(void);\nint main(void) { return answer(); }\n", "answer.c": "int answer(void) { return 42; }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if text, code := wrap(t, dir, "-c", "main.c", "answer.c"); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, text)
	}
	ar := exec.Command("ar", "cr", "libwhole.a", "main.o", "answer.o")
	ar.Dir = dir
	if text, err := ar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, arguments := range [][]string{{"libwhole.a"}, {"-L.", "-lwhole"}} {
		if text, code := wrap(t, dir, append([]string{"-o", "program"}, arguments...)...); code != 0 {
			t.Errorf("%q: exit code %d:\n%s", arguments, code, text)
			continue
		}
		program := filepath.Join(dir, "program")
		if err := exec.Command(program).Run(); err == nil || !strings.HasSuffix(err.Error(), " 42") {
			t.Errorf("%q: %v, want exit code 42", arguments, err)
		}
		if err := toolchain.Check(program); err != nil {
			t.Errorf("%q: %v", arguments, err)
		}
	}
}

// A program that names windows and files is built, with the numbers of the standard ABI (MPI 5.0, A.1),
// in each language: it may never call functions that native ranks do not have, and check names the functions that it uses.
func TestConstantsOfUnsupportedFunctions(t *testing.T) {
	values := []struct {
		name  string
		value int
	}{
		{"MPI_MODE_APPEND", 1}, {"MPI_MODE_CREATE", 2}, {"MPI_MODE_DELETE_ON_CLOSE", 4}, {"MPI_MODE_EXCL", 8}, {"MPI_MODE_RDONLY", 16},
		{"MPI_MODE_RDWR", 32}, {"MPI_MODE_SEQUENTIAL", 64}, {"MPI_MODE_UNIQUE_OPEN", 128}, {"MPI_MODE_WRONLY", 256},
		{"MPI_MODE_NOCHECK", 1024}, {"MPI_MODE_NOPRECEDE", 2048}, {"MPI_MODE_NOPUT", 4096}, {"MPI_MODE_NOSTORE", 8192}, {"MPI_MODE_NOSUCCEED", 16384},
		{"MPI_LOCK_EXCLUSIVE", 301}, {"MPI_LOCK_SHARED", 302}, {"MPI_WIN_FLAVOR_CREATE", 311}, {"MPI_WIN_FLAVOR_SHARED", 314},
		{"MPI_WIN_UNIFIED", 321}, {"MPI_WIN_SEPARATE", 322}, {"MPI_SEEK_CUR", 401}, {"MPI_SEEK_END", 402}, {"MPI_SEEK_SET", 403},
		{"MPI_WIN_BASE", 601}, {"MPI_WIN_DISP_UNIT", 602}, {"MPI_WIN_SIZE", 603}, {"MPI_WIN_CREATE_FLAVOR", 604}, {"MPI_WIN_MODEL", 605},
		{"MPI_DISPLACEMENT_CURRENT", -1},
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	inC, inFortran := "#include <mpi.h>\n", "program constants\n  use mpi_f08\n  implicit none\n"
	for _, v := range values {
		inC += fmt.Sprintf("_Static_assert(%s == %d, \"%[1]s\");\n", v.name, v.value)
		inFortran += fmt.Sprintf("  integer, parameter :: is_%s(1 - abs(int(%[1]s) - (%d))) = 0\n", v.name, v.value) // of size 1
		inFortran += fmt.Sprintf("  integer, parameter :: one_%s = 1 / size(is_%[1]s)\n", v.name)
	}
	write("constants.c", inC+`
static int copy(MPI_Win w, int k, void *e, void *in, void *out, int *flag) { return *flag = 0; }
int main(int argc, char **argv) {
	MPI_Win_copy_attr_function *copies[] = {copy, MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN};
	char port[MPI_MAX_PORT_NAME], form[MPI_MAX_DATAREP_STRING];
	MPI_File f = MPI_FILE_NULL;
	if (argc > 1)
		MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f);
	return sizeof copies + sizeof port + sizeof form + (MPI_ARGV_NULL == 0) + (MPI_ERRCODES_IGNORE == 0);
}
`)
	write("constants.f90", inFortran+"end program\n")
	if text, code := wrap(t, dir, "-o", "program", "constants.c"); code != 0 {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if text, code := wrapIn(t, toolchain.Fortran, dir, "-ffree-line-length-none", "-fsyntax-only", "constants.f90"); code != 0 {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if err := toolchain.Check(filepath.Join(dir, "program")); err == nil || !strings.Contains(err.Error(), "native ranks do not have: MPI_File_open;") {
		t.Errorf("check gives %v", err)
	}
}

// The functions that a program's own libraries use are checked with its own.
func TestCheckLooksIntoLibraries(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"deep.c":    "#include <mpi.h>\n#include <unistd.h>\nint MPI_Win_free(MPI_Win *w) { return PMPI_Win_free(w); }\nint deep(void) { MPI_Cancel(0); alarm(1); return MPI_Win_fence(0, 0); }\n",
		"library.c": "int deep(void);\nint work(void) { return deep(); }\n",
		"main.c":    "#include <mpi.h>\nint work(void);\nint main(void) { return work() + MPI_Barrier(MPI_COMM_WORLD); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{
		{"-shared", "-fPIC", "-o", "libdeep.so", "deep.c"},
		{"-shared", "-fPIC", "-o", "libwork.so", "library.c", "-L.", "-ldeep", "-Wl,-rpath,$ORIGIN"},
		{"-o", "program", "main.c", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link,."},
	} {
		if text, code := wrap(t, dir, arguments...); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, text)
		}
	}
	program := filepath.Join(dir, "program")
	want := filepath.Join(dir, "libdeep.so") + " uses MPI functions that native ranks do not have: MPI_Win_fence; "
	if err := toolchain.Check(program); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if notes := toolchain.Notes(program); len(notes) != 1 || !strings.HasPrefix(notes[0], "alarm: ") {
		t.Errorf("notes are %q", notes)
	}
	if !toolchain.Uses(program, "Cancel") || toolchain.Uses(program, "Mprobe") {
		t.Error("it is the library that uses MPI_Cancel; nobody uses MPI_Mprobe")
	}
}

// Libraries and symbols that the dynamic linker would not find are named before anything runs.
func TestUnresolved(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"library.c": "int nowhere(void);\nint work(void) { return nowhere(); }\n",
		"main.c":    "int work(void);\nint main(int n, char **all) { (void)all; return n > 9 ? work() : 0; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{
		{"-shared", "-fPIC", "-o", "libwork.so", "library.c"},
		{"-o", "program", "main.c", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"},
	} {
		if text, code := wrap(t, dir, arguments...); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, text)
		}
	}
	program, library := filepath.Join(dir, "program"), filepath.Join(dir, "libwork.so")
	want := func(wanted ...string) {
		t.Helper()
		faults, err := toolchain.Unresolved(program)
		if err != nil || len(faults) != len(wanted) {
			t.Fatalf("%q, %v; want %q", faults, err, wanted)
		}
		for i := range wanted {
			if !strings.Contains(faults[i], wanted[i]) {
				t.Errorf("%q, want %q", faults[i], wanted[i])
			}
		}
	}
	want("libwork.so needs the symbol nowhere")
	if err := os.Rename(library, library+".gone"); err != nil {
		t.Fatal(err)
	}
	want("library libwork.so is not found", "program needs the symbol work")
	if text, code := wrap(t, dir, "-shared", "-fPIC", "-o", "libwork.so", "-x", "c", "-Dnowhere=getpid", "library.c"); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, text)
	}
	want()
}

// The runtime has the functions that mpi.h says it has, under both names. A program without
// variables gets no variables from the wrapper, either.
func TestLibrary(t *testing.T) {
	library, err := toolchain.OpenLibrary()
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.Open(library.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range toolchain.Supported() {
		for _, prefix := range []string{"MPI_", "PMPI_"} {
			if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == prefix+name && s.Section != elf.SHN_UNDEF }) {
				t.Errorf("mpi.h declares %s%s, which the runtime does not have", prefix, name)
			}
		}
	}
	for _, function := range append(toolchain.Supported(), toolchain.Unsupported()...) {
		for _, name := range toolchain.FortranNames(function) {
			if !toolchain.OnlyC(function) && !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == name && s.Section != elf.SHN_UNDEF }) {
				t.Errorf("the runtime has no %s for Fortran", name)
			}
		}
	}
	if n := len(toolchain.Supported()); n < 100 {
		t.Errorf("only %d functions are supported", n)
	}
	dir := sources(t)
	if text, code := wrap(t, dir, "main.c", "part.c", "-o", "program"); code != 0 {
		t.Fatal(text)
	}
	sizes, err := exec.Command("size", "-A", filepath.Join(dir, "program")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sizes)) {
		if f := strings.Fields(line); len(f) > 1 && (f[0] == ".data" || f[0] == ".bss") && f[1] != "0" {
			t.Errorf("a program without variables has some: %s", line)
		}
	}
}

func TestLanguages(t *testing.T) {
	for name, want := range map[string]string{"gigarank-cc": "cc", "/usr/bin/gigarank-cxx": "cxx", "./gigarank-fc": "fc", "gigarank": "", "cc": "",
		"mpicc": "cc", "/opt/mpi/bin/mpicxx": "cxx", "mpic++": "cxx", "./mpiCC": "cxx", "mpif77": "fc", "mpif90": "fc", "mpifort": "fc", "mpiCXX": "", "mpigcc": "", "mpicc.openmpi": "",
	} {
		l, named := toolchain.LanguageOf(name)
		if named != (want != "") || named && l.String() != want {
			t.Errorf("%s: %v, %t, want %q", name, l, named, want)
		}
	}
}

// docs/native.md lists the supported functions, no more and no less.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "native.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| family | functions |")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 3 && !strings.HasPrefix(cells[1], "-") {
			listed = append(listed, strings.Fields(cells[2])...)
		}
	}
	times := map[string]int{}
	for _, name := range listed {
		times[name]++
	}
	supported := toolchain.Supported()
	for _, name := range supported {
		if times[name] != 1 {
			t.Errorf("docs/native.md lists %s %d times: put it into the row of its family, once", name, times[name])
		}
		delete(times, name)
	}
	for name := range times {
		t.Errorf("docs/native.md lists %s, which mpi.h does not declare as supported: take it out", name)
	}
}
