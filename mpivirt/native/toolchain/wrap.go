package toolchain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Language is a language for whose compiler there is a wrapper.
type Language int

// The languages.
const (
	C Language = iota
	CXX
	Fortran
)

// compilers are the usual compilers of the languages, and the variables that name other compilers.
var compilers = [...]struct{ name, usual, variable string }{
	C: {"cc", "gcc", "GIGARANK_CC"}, CXX: {"cxx", "g++", "GIGARANK_CXX"}, Fortran: {"fc", "gfortran", "GIGARANK_FC"},
}

// String returns the name of the language's wrapper.
func (l Language) String() string { return compilers[l].name }

func (l Language) command() string {
	if named := os.Getenv(compilers[l].variable); named != "" {
		return named
	}
	return compilers[l].usual
}

// usualNames are the names that wrappers have in other implementations of MPI, and in makefiles.
var usualNames = [...][]string{C: {"mpicc"}, CXX: {"mpicxx", "mpic++", "mpiCC"}, Fortran: {"mpif77", "mpif90", "mpifort"}}

// UsualNames returns the names that all wrappers have in other implementations of MPI.
func UsualNames() []string { return slices.Concat(usualNames[:]...) }

// UsualNames returns the names that the language's wrappers have in other implementations of MPI.
func (l Language) UsualNames() []string { return slices.Clone(usualNames[l]) }

// LanguageOf returns the language of the wrapper that a command is named after, as gigarank-cc or mpicc, and
// whether it is named so.
func LanguageOf(command string) (Language, bool) {
	name := filepath.Base(command)
	for l, c := range compilers {
		if name == "gigarank-"+c.name || slices.Contains(usualNames[l], name) {
			return Language(l), true
		}
	}
	return C, false
}

// Position-independent code goes into shared objects. Its functions may be inlined all the
// same: nothing takes the place of a program's own functions. A frame of many pages touches each of
// them: it must meet the guard below its stack, behind which the stack of another rank lies.
var compileFlags = []string{"-fPIC", "-fno-semantic-interposition", "-fstack-clash-protection"}

// alignedLoops comes before all arguments, so that a program's own choice counts. A short loop is slower if it
// crosses the end of a cache line, by up to 1.9 times on Zen 3 (docs/measured/accuracy.md). Compilers do not align
// loops to cache lines: of two builds of the same sources only one may have such a loop.
const alignedLoops = "-falign-loops=64"

// mismatches lets a Fortran program give buffers of several types to a procedure of mpif.h, which
// has no interfaces. gfortran refuses that from version 10 on.
const mismatches = "-fallow-argument-mismatch"

// plainly leaves signals to the runtime, which names the rank that crashes.
const plainly = "-fno-backtrace"

// flagsOf returns the flags to compile a language.
func flagsOf(l Language) []string {
	if l != Fortran {
		return compileFlags
	}
	version, err := exec.Command(l.command(), "-dumpversion").Output()
	major, _, _ := strings.Cut(strings.TrimSpace(string(version)), ".")
	flags := slices.Concat(compileFlags, []string{plainly})
	if n, wrong := strconv.Atoi(major); err != nil || wrong != nil || n < 10 {
		return flags
	}
	return append(flags, mismatches)
}

// linkFlags make a shared object that can be run by itself, too. All its
// relocations are made when it is loaded, so that its tables may be closed. It has no start
// files, which have variables, and which refer to main before a link comes to archives.
var linkFlags = []string{"-shared", "-nostartfiles", "-Wl,-e,gigarank_entry", "-Wl,-u,gigarank_loader,-u,main", "-Wl,-Bsymbolic", "-Wl,-z,now,-z,relro,-z,defs"}

// startFlag has the loader call the runtime before an object's constructors.
const startFlag = "-Wl,-init,gigarank_start"

// queryOf returns the part of its command that an argument asks a wrapper to print, and whether it asks: the
// flags are those of Open MPI, and of MPICH and its kin.
func queryOf(argument string) (part string, is bool) {
	switch argument {
	case "-show", "--show", "-showme", "--showme":
		return "", true
	case "-compile_info", "-compile-info":
		return "compile_info", true
	case "-link_info", "-link-info":
		return "link_info", true
	}
	if part, is = strings.CutPrefix(argument, "--showme:"); is {
		return part, true
	}
	return strings.CutPrefix(argument, "-showme:")
}

// Command returns the compiler's command line that stands for one of a wrapper.
func Command(l Language, library *Library, arguments []string) []string {
	arguments = kept(arguments)
	command := slices.Concat([]string{l.command(), alignedLoops}, arguments, flagsOf(l), library.includes(l))
	if !links(arguments) {
		return command
	}
	if slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "-x") }) {
		command = append(command, "-x", "none") // the arguments that follow are no sources
	}
	if counts(arguments) {
		command = append(command, countsFlag)
	}
	return append(command, library.linked(l, slices.Contains(arguments, "-shared"))...)
}

// linked returns the flags and files that a program in a language is linked with, or a library of the
// program's own.
func (l *Library) linked(language Language, shared bool) []string {
	flags := []string{startFlag, l.start}
	if !shared {
		flags = append(slices.Concat(flags, linkFlags), l.entry, l.parts)
	}
	flags = append(flags, l.streamsOf(language)...)
	if language == Fortran {
		flags = append(flags, filepath.Join(l.modules, modulesName))
	}
	return append(flags, "-Wl,--no-as-needed", l.Path, l.path())
}

// path returns the flag by which a program that is run by itself finds the runtime.
func (l *Library) path() string { return "-Wl,-rpath," + l.include }

// streamsOf returns the archive with the standard streams of a language.
func (l *Library) streamsOf(language Language) []string {
	if language != CXX {
		return nil
	}
	return []string{filepath.Join(l.streams, streamsName)}
}

// includes returns the flags that name the directories of mpi.h, of mpif.h and of modules.
func (l *Library) includes(language Language) []string {
	if language == Fortran {
		return []string{"-I" + l.include, "-I" + l.modules}
	}
	return []string{"-I" + l.include}
}

// isSource reports whether an argument names a file or a library to compile or link, as - names
// standard input.
func isSource(a string) bool {
	return a == "-" || !strings.HasPrefix(a, "-") || strings.HasPrefix(a, "-l")
}

// links reports whether a compiler with these arguments links.
func links(arguments []string) bool {
	files := false
	for i, a := range arguments {
		switch {
		case a == "-c" || a == "-S" || a == "-E" || a == "-r" || a == "-M" || a == "-MM" || a == "-fsyntax-only" || strings.HasPrefix(a, "-print-") || strings.HasPrefix(a, "--print-"):
			return false
		case isSource(a) && (i == 0 || arguments[i-1] != "-o"):
			files = true
		}
	}
	return files
}

// Wrap runs the compiler of a language on the arguments of its wrapper, and returns its exit
// code, 2 for arguments that it refuses. The error says why it could not be run.
func Wrap(l Language, arguments []string, in io.Reader, out, diagnostics io.Writer) (code int, err error) {
	library, err := OpenLibrary()
	if err != nil {
		return 1, err
	}
	switch l {
	case Fortran:
		err = library.openModules()
	case CXX:
		err = library.openStreams()
	}
	if err != nil {
		return 1, err
	}
	for i, a := range arguments {
		if part, is := queryOf(a); is {
			return answer(out, l, library, part, slices.Delete(slices.Clone(arguments), i, i+1))
		}
	}
	tell := func(lines []string) {
		for _, line := range lines {
			_, _ = fmt.Fprintf(diagnostics, "gigarank %s: %s\n", l, line)
		}
	}
	if faults := faultyFlags(arguments); len(faults) > 0 {
		tell(faults)
		return 2, nil
	}
	tell(droppedNotes(arguments))
	command := Command(l, library, arguments)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, diagnostics
	var linker linkerText
	if links(arguments) {
		var lock sync.Mutex // both may be the same writer
		cmd.Stdout, cmd.Stderr = locked{&lock, out}, locked{&lock, io.MultiWriter(diagnostics, &linker)}
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		tell(rebuildHints(l, linker.String()))
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, fmt.Errorf("%w: install %s, or name another compiler in %s", err, command[0], compilers[l].variable)
	}
	return 0, nil
}

// locked is a writer that several goroutines use.
type locked struct {
	lock *sync.Mutex
	to   io.Writer
}

func (l locked) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.to.Write(text)
}

// linkerText is the begin of the text that a compiler prints as it links.
type linkerText struct{ bytes.Buffer }

// Write takes all of it, and keeps a megabyte.
func (t *linkerText) Write(text []byte) (int, error) {
	const most = 1 << 20
	_, err := t.Buffer.Write(text[:min(len(text), max(most-t.Len(), 0))])
	return len(text), err
}

// answer prints the command of a wrapper, or a part of it. It returns the wrapper's exit code.
func answer(out io.Writer, l Language, library *Library, part string, arguments []string) (code int, err error) {
	whole := Command(l, library, append(arguments, "OBJECT"))
	whole = slices.DeleteFunc(whole, func(a string) bool { return a == "OBJECT" })
	compile := slices.Concat([]string{alignedLoops}, flagsOf(l), library.includes(l))
	link := library.linked(l, slices.Contains(arguments, "-shared"))
	var answer []string
	switch part {
	case "":
		answer = whole
	case "command":
		answer = whole[:1]
	case "compile":
		answer = compile
	case "link":
		answer = link
	case "compile_info":
		answer = append(whole[:1], compile...)
	case "link_info":
		answer = append(whole[:1], link...)
	case "incdirs":
		for _, flag := range library.includes(l) {
			answer = append(answer, strings.TrimPrefix(flag, "-I"))
		}
	case "libdirs":
		answer = []string{library.include}
	case "libs":
		answer = []string{strings.TrimSuffix(strings.TrimPrefix(libraryName, "lib"), ".so")}
	case "version":
		answer = []string{"gigarank " + l.String() + ": gigarank's MPI (Language: " + l.Name() + ")"}
	default:
		_, err := fmt.Fprintln(out, "--showme:PART prints a part of the command: command, compile, link, incdirs, libdirs, libs or version")
		if part == "help" {
			return 0, err
		}
		return 1, err
	}
	_, err = fmt.Fprintln(out, strings.Join(answer, " "))
	return 0, err
}

// Languages returns all languages.
func Languages() []Language { return []Language{C, CXX, Fortran} }

// Compiler returns the usual compiler and the variable that names another.
func (l Language) Compiler() (usual, variable string) {
	return compilers[l].usual, compilers[l].variable
}

// Name returns the name of the language.
func (l Language) Name() string { return [...]string{"C", "C++", "Fortran"}[l] }

// Suffix returns the suffix of source files.
func (l Language) Suffix() string { return [...]string{".c", ".cc", ".f90"}[l] }

// Links reports whether a compiler with these arguments links.
func Links(arguments []string) bool { return links(arguments) }

// FaultyFlags returns why a wrapper refuses arguments, one line for each of those.
func FaultyFlags(arguments []string) []string { return faultyFlags(arguments) }

// Includes returns the flags that name the directories of the language's headers and modules.
func (l *Library) Includes(language Language) []string { return l.includes(language) }

// IsQuery reports whether an argument asks a wrapper to print its command or a part of it.
func IsQuery(argument string) bool {
	_, is := queryOf(argument)
	return is
}
