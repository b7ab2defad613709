package toolchain

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// machines are the processors that native ranks run on.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// Check returns the faults that keep a program from running as native ranks, and the functions that are missing as soon as the
// program calls them; nil for none.
func Check(program string) error {
	if err := CheckBuild(program); err != nil {
		return err
	}
	missing, err := Missing(program)
	for _, m := range missing {
		err = errors.Join(err, fmt.Errorf("%s uses MPI functions that native ranks do not have: %s; docs/native.md lists those that they have; a call of another one is an error", m.Path, strings.Join(m.Functions, ", ")))
	}
	return err
}

// CheckBuild is Check for a program that may use functions that native ranks do not have.
func CheckBuild(program string) error {
	if err := checkObject(program); err != nil {
		return err
	}
	return inObjects(program, func(path string, object *elf.File) error {
		needed, err := object.ImportedLibraries()
		if i := slices.IndexFunc(needed, isOtherMPI); err == nil && i >= 0 {
			return fmt.Errorf("%s, which %s needs, is linked with another MPI (%s): build it with gigarank cc, cxx or fc, too", path, program, needed[i])
		}
		return err
	})
}

// checkObject returns why a file is no program that a wrapper has linked.
func checkObject(program string) error {
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory: name the program in it", program)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file: name a program that gigarank cc has built", program)
	}
	if is := Starter(filepath.Base(program)); is != "" && !builtHere(program) {
		return fmt.Errorf("%s is %s", program, is)
	}
	file, err := openELF(program)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if is := kindOf(program, file, machines[runtime.GOARCH]); is != "" {
		return fmt.Errorf("%s is %s", program, is)
	}
	needed, err := file.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	if i := slices.IndexFunc(needed, isOtherMPI); i >= 0 {
		return fmt.Errorf("%s is linked with another MPI (%s): build it with gigarank cc, cxx or fc in the place of mpicc and the like", program, needed[i])
	}
	if slices.Contains(needed, libraryName) && !has(file, "gigarank_program_main") {
		return fmt.Errorf("%s was linked with the runtime of native ranks by another compiler: link it, too, with gigarank cc, cxx or fc; with cmake set CMAKE_C_COMPILER and the like to them, not MPI_C_COMPILER alone", program)
	}
	if file.Type != elf.ET_DYN || !slices.Contains(needed, libraryName) || !has(file, "gigarank_program_main") {
		return fmt.Errorf("%s was not linked by gigarank cc, cxx or fc: build it with one of them in the place of mpicc and the like", program)
	}
	return nil
}

// Unresolved returns the libraries of a program, and the symbols that the program and its libraries use, which the dynamic
// linker does not find, one line for each. It runs nothing of the program.
func Unresolved(program string) (faults []string, err error) {
	interpreter := ""
	if err := inObject(program, func(object *elf.File) error {
		section := object.Section(".interp")
		if section == nil {
			return fmt.Errorf("%s names no dynamic linker", program)
		}
		text, err := section.Data()
		interpreter = strings.TrimRight(string(text), "\x00")
		return err
	}); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	linker := exec.Command(interpreter, path)
	linker.Env = append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1", "LD_WARN=1", "LD_BIND_NOW=1")
	text, err := linker.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", interpreter, program, err, strings.TrimSpace(string(text)))
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if library, missing := strings.CutSuffix(line, " => not found"); missing {
			faults = append(faults, fmt.Sprintf("the library %s is not found: set LD_LIBRARY_PATH, or link with -Wl,-rpath", library))
		} else if symbol, missing := strings.CutPrefix(line, "undefined symbol: "); missing {
			name, object, _ := strings.Cut(symbol, "\t")
			faults = append(faults, fmt.Sprintf("%s needs the symbol %s, which no library has: link the one that has it", strings.Trim(object, "()"), strings.TrimSpace(name)))
		}
	}
	return faults, nil
}

// isOtherMPI reports whether a library is Open MPI, MPICH or a derivative of MPICH.
func isOtherMPI(library string) bool {
	for _, name := range []string{"libmpi.so", "libmpich.so", "libmpi_cxx.so", "libmpi_mpifh.so", "libmpicxx.so", "libmpifort.so", "libmpichcxx.so", "libmpi_abi.so"} {
		if strings.HasPrefix(library, name) {
			return true
		}
	}
	return false
}

// ofProcess are functions whose effects the ranks of a process share, with the consequence for a program.
var ofProcess = []struct {
	what  string
	names []string
}{
	{"would copy the simulator: start other programs by posix_spawn or system", []string{"fork", "vfork"}},
	{"would take the simulator's place", []string{"execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve"}},
	{"go by the time of the host, and a rank does not get their signal: its handler is not called, and a function of timer_create runs in a thread", []string{"alarm", "ualarm", "setitimer", "timer_create"}},
	{"go by the time of the host, for which the ranks of an engine wait together", []string{"timerfd_create", "mq_timedreceive"}},
	{"limits concern the whole simulator", []string{"setrlimit", "setrlimit64", "prlimit", "setpriority", "nice", "sched_setaffinity"}},
	{"the ranks of an engine share the table", []string{"hcreate", "hsearch", "hdestroy"}},
	{"the variables of a library that is loaded so are shared by all ranks", []string{"dlopen", "dlmopen"}},
	{"threads must not call MPI, and an engine of more than 64 ranks ends a run in which a rank waits beside threads of its own", []string{"pthread_create", "thrd_create", StartThread}},
	{"a rank that calls MPI on a stack of the program's own wants --stacks own", []string{"makecontext", "swapcontext"}},
	{"the result is in memory that the ranks share", []string{"tmpnam", "ttyname", "getpwnam", "getpwuid", "getgrnam", "gethostbyname", "ecvt", "fcvt", "l64a", "ptsname", "crypt"}},
	{"the ranks of a process share the sign that lgamma leaves: use lgamma_r", []string{"signgam"}},
	{"a lock is the simulator's: it does not keep other ranks of the process out", []string{"lockf", "lockf64"}},
	{"goes round what ranks have of their own, as clocks in virtual time", []string{"syscall"}},
	{"concern all ranks of the process", []string{"_ZNSt6locale6globalERKS_", "_ZSt13set_terminatePFvvE", "_ZSt15set_new_handlerPFvvE"}},
}

// inCXX are the names of functions of C++, by symbol.
var inCXX = map[string]string{
	StartThread:                "std::thread",
	"_ZNSt6locale6globalERKS_": "std::locale::global", "_ZSt13set_terminatePFvvE": "std::set_terminate", "_ZSt15set_new_handlerPFvvE": "std::set_new_handler",
}

// Notes returns the functions of a program and its own libraries whose effects the ranks of a process share, one
// line for each kind.
func Notes(program string) (notes []string) {
	var symbols []elf.ImportedSymbol
	if err := inObjects(program, func(path string, object *elf.File) error {
		wanted, err := imported(path, object)
		symbols = append(symbols, wanted...)
		return err
	}); err != nil {
		return nil
	}
	for _, s := range ofProcess {
		var used []string
		for _, symbol := range symbols {
			if slices.Contains(s.names, symbol.Name) {
				used = append(used, cmp.Or(inCXX[symbol.Name], symbol.Name))
			}
		}
		if slices.Sort(used); len(used) > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s", strings.Join(slices.Compact(used), ", "), s.what))
		}
	}
	return notes
}

func has(file *elf.File, symbol string) bool {
	symbols, err := file.DynamicSymbols()
	return err == nil && slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == symbol && s.Section != elf.SHN_UNDEF })
}

// MissingFunctions are the functions of MPI that an object uses and that native ranks do not have.
type MissingFunctions struct {
	Path      string   // of the program or of a library of its own
	Functions []string // symbols, sorted
}

// Missing returns the MPI functions that native ranks do not have and that a program uses, or a library
// of its own.
func Missing(program string) (all []MissingFunctions, err error) {
	known, onlyC := lowered(Supported(), onlyFortran, attributeFunctions), lowered(onlyInC())
	return all, inObjects(program, func(path string, object *elf.File) error {
		symbols, err := imported(path, object)
		if err != nil {
			return err
		}
		var missing []string
		for _, s := range symbols {
			name, is := functionOf(s.Name)
			if !is {
				continue
			}
			name = strings.ToLower(name)
			inFortran := strings.HasPrefix(strings.TrimPrefix(s.Name, "p"), "mpi_")
			if (!known[name] || inFortran && onlyC[name]) && !wraps(object, s.Name) {
				missing = append(missing, s.Name)
			}
		}
		if slices.Sort(missing); len(missing) > 0 {
			all = append(all, MissingFunctions{path, missing})
		}
		return nil
	})
}

// lowered returns the set of some names without MPI_ in small letters, as Fortran has them.
func lowered(lists ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			set[strings.ToLower(strings.TrimPrefix(name, "MPI_"))] = true
		}
	}
	return set
}

// wraps reports whether an object, as a profiler, has the function itself that it wants by the
// second name.
func wraps(object *elf.File, symbol string) bool {
	first := strings.TrimPrefix(strings.TrimPrefix(symbol, "P"), "p")
	return first != symbol && has(object, first)
}

// functionOf returns the function of MPI, without MPI_, that a symbol of C or Fortran names, and
// whether it does.
func functionOf(symbol string) (name string, is bool) {
	if name, is = strings.CutPrefix(strings.TrimPrefix(symbol, "P"), "MPI_"); is {
		return name, true
	}
	if name, is = strings.CutPrefix(strings.TrimPrefix(symbol, "p"), "mpi_"); !is {
		return "", false
	}
	name, is = strings.CutSuffix(name, "_")
	return strings.TrimSuffix(name, "_f08"), is
}

// Uses reports whether a program or a library of its own calls a function of MPI, whose name is
// given without MPI_.
func Uses(program, name string) (uses bool) {
	err := inObjects(program, func(path string, object *elf.File) error {
		symbols, err := imported(path, object)
		uses = uses || slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool {
			function, is := functionOf(s.Name)
			return is && strings.EqualFold(function, name)
		})
		return err
	})
	return uses && err == nil
}

// BoundToThread reports whether the code of a program may keep the address of a variable of
// its thread, such as errno: compilers keep such addresses across calls.
func BoundToThread(program string) bool {
	file, err := elf.Open(program)
	if err != nil {
		return true
	}
	defer func() { _ = file.Close() }()
	needed, err := file.ImportedLibraries()
	if err != nil || slices.ContainsFunc(needed, func(name string) bool { return !slices.Contains(unbound, name) }) {
		return true
	}
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_TLS }) {
		return true
	}
	symbols, err := file.ImportedSymbols()
	return err != nil || slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool {
		return slices.Contains(ofThread, s.Name)
	})
}

// ofThread are the functions that return addresses of a thread's variables, and functions that
// change the directory or mask, which a thread may have of its own.
var ofThread = []string{"__errno_location", "__h_errno_location", "__tls_get_addr", "chdir", "fchdir", "umask"}

// unbound are the libraries that do not call MPI, so that no rank waits in them.
var unbound = []string{libraryName, "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libpthread.so.0", "librt.so.1", "libdl.so.2"}
