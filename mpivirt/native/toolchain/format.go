package toolchain

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Remedies for files that are no programs of gigarank.
const (
	buildIt    = "build the program with gigarank cc, cxx or fc"
	nameIts    = "name a program that gigarank cc, cxx or fc has built"
	ranksAre   = "a rank is a program in C, C++ or Fortran that is loaded into the simulator"
	notForHere = "it cannot be loaded here: " + buildIt
)

// formats are the beginnings of files in formats other than ELF, with the names of the formats.
var formats = []struct{ begin, is string }{
	{"MZ", "a program for Windows; " + notForHere},
	{"\xcf\xfa\xed\xfe", "a program for macOS; " + notForHere},
	{"\xce\xfa\xed\xfe", "a program for macOS; " + notForHere},
	{"\xca\xfe\xba\xbe", "a class of Java or a program for macOS; " + ranksAre + ": " + nameIts},
	{"PK\x03\x04", "an archive of Java or zip; " + ranksAre + ": " + nameIts},
	{"!<arch>\n", "a library, and no program: link it to a program with gigarank cc, cxx or fc"},
	{"BC\xc0\xde", "bitcode of LLVM, and no program: link it with gigarank cc, cxx or fc"},
	{"\x00asm", "a program for WebAssembly; " + notForHere},
}

// builders are the wrappers that build source files, by the ends of their names.
var builders = map[string]Language{
	".c": C, ".cc": CXX, ".cpp": CXX, ".cxx": CXX, ".c++": CXX, ".C": CXX,
	".f": Fortran, ".for": Fortran, ".f90": Fortran, ".f95": Fortran, ".f03": Fortran, ".f08": Fortran,
	".F": Fortran, ".F90": Fortran, ".F95": Fortran, ".F03": Fortran, ".F08": Fortran,
}

// scripts are the ends of names that scripts have.
var scripts = []string{".py", ".sh", ".bash", ".pl", ".jl", ".rb", ".R", ".lua", ".m", ".js", ".tcl"}

// starters are patterns of the names of programs that carry out programs in other files, with descriptions of these
// programs.
var starters = []struct {
	names *regexp.Regexp
	is    string
}{
	{regexp.MustCompile(`^(python|pypy|perl|ruby|julia|lua|node|java|tclsh|php|octave|Rscript|R)[0-9.]*$|^(ba|da|z|k|c|tc|fi)?sh$`),
		"an interpreter; " + ranksAre + ": " + nameIts},
	{regexp.MustCompile(`^(mpirun|mpiexec|orterun|prterun|srun|aprun|jsrun|mpiexec\.hydra|mpirun\.openmpi|mpiexec\.openmpi)$`),
		"a launcher; gigarank run starts the ranks itself: name the program alone, with --ranks, or put the launcher before gigarank"},
}

// Starter returns the description of a program that carries out programs in other files, by its name, and the
// remedy. It returns "" for any other name.
func Starter(name string) string {
	for _, s := range starters {
		if s.names.MatchString(name) {
			return s.is
		}
	}
	return ""
}

// openELF opens a file in the format ELF. The error describes a file in another format.
func openELF(program string) (*elf.File, error) {
	text, err := os.Open(program)
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Close() }()
	begin := make([]byte, 256) // the line that names a script's interpreter is no longer
	n, err := io.ReadFull(text, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	if begin = begin[:n]; !bytes.HasPrefix(begin, []byte(elf.ELFMAG)) {
		return nil, fmt.Errorf("%s is %s", program, otherFormat(program, begin))
	}
	file, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("%s is no whole program (%w): %s", program, err, buildIt)
	}
	return file, nil
}

// builtHere reports whether gigarank has built a file.
func builtHere(program string) bool {
	file, err := elf.Open(program)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return has(file, "gigarank_program_main")
}

// otherFormat returns the description of a file that is not in the format ELF, by its beginning and its name, and
// the remedy.
func otherFormat(program string, begin []byte) string {
	name := filepath.Base(program)
	if line, is := bytes.CutPrefix(begin, []byte("#!")); is {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		return fmt.Sprintf("a script for %s; %s: name the program that it runs, which gigarank cc has built", bytes.TrimSpace(line), ranksAre)
	}
	for _, f := range formats {
		if bytes.HasPrefix(begin, []byte(f.begin)) {
			return f.is
		}
	}
	if l, is := builders[filepath.Ext(name)]; is {
		return fmt.Sprintf("source code in %s: build it with gigarank %v -o PROGRAM %s", l.Name(), l, name)
	}
	if slices.Contains(scripts, filepath.Ext(name)) {
		return "a script; " + ranksAre + ": " + nameIts
	}
	if len(begin) == 0 {
		return "empty: " + buildIt
	}
	return "no program (not in the ELF format): " + buildIt
}

// kindOf returns the description of an ELF file that gigarank has not linked as a program, and the
// remedy. It returns "" for a program of this machine that may be gigarank's.
func kindOf(program string, file *elf.File, here elf.Machine) string {
	switch {
	case file.Type == elf.ET_CORE:
		return "a core file, the memory of a program that has crashed: name the program"
	case file.Class != elf.ELFCLASS64:
		return "a program of 32 bits: build it for 64 with gigarank cc, cxx or fc"
	case file.Machine != here:
		return fmt.Sprintf("for %v, and this machine is %v: build it here with gigarank cc, cxx or fc", file.Machine, here)
	case file.Type == elf.ET_REL:
		return "an object file: link it with gigarank cc, cxx or fc"
	}
	if file.Section(".interp") == nil && !has(file, "gigarank_program_main") {
		flags, err := file.DynValue(elf.DT_FLAGS_1)
		if independent := err == nil && len(flags) > 0 && elf.DynFlag1(flags[0])&elf.DF_1_PIE != 0; file.Type == elf.ET_DYN && !independent {
			return "a shared library, and no program: link it to a program with gigarank cc, cxx or fc"
		}
		return "linked statically, so that it has an MPI of its own or none: " + buildIt + " without -static, in the place of mpicc and the like"
	}
	return ""
}
