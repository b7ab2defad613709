package toolchain

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// machines are the processors that native ranks run on.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// Check returns what keeps a program from running as native ranks, nil if nothing does.
func Check(program string) error {
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory: name the program in it", program)
	}
	file, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s is no program (%w): build one with gigarank cc", program, err)
	}
	defer func() { _ = file.Close() }()
	if want := machines[runtime.GOARCH]; file.Machine != want {
		return fmt.Errorf("%s is for %v, and this machine is %v: build it here with gigarank cc", program, file.Machine, want)
	}
	needed, err := file.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	if file.Type != elf.ET_DYN || !slices.Contains(needed, libraryName) || !has(file, "gigarank_program_main") {
		return fmt.Errorf("%s was not linked by gigarank cc, cxx or fc: build it with one of them in the place of mpicc and the like", program)
	}
	return checkFunctions(program, file)
}

func has(file *elf.File, symbol string) bool {
	symbols, err := file.DynamicSymbols()
	return err == nil && slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == symbol && s.Section != elf.SHN_UNDEF })
}

// checkFunctions returns an error that lists the MPI functions in use that are not served.
func checkFunctions(program string, file *elf.File) error {
	symbols, err := file.ImportedSymbols()
	if err != nil {
		if errors.Is(err, elf.ErrNoSymbols) {
			return nil
		}
		return fmt.Errorf("%s: %w", program, err)
	}
	var missing []string
	names := Served()
	for _, s := range symbols {
		if name, is := functionOf(s.Name); is && !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			missing = append(missing, s.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("%s uses MPI functions that native ranks do not have: %s; docs/native.md lists those that they have", program, strings.Join(missing, ", "))
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

// BoundToThread reports whether the code of a program may keep the address of something that
// belongs to its thread, as errno does: compilers keep such addresses across calls.
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

// ofThread are the functions that return addresses that belong to a thread, and those that
// change what a thread has of a process.
var ofThread = []string{"__errno_location", "__h_errno_location", "__tls_get_addr", "chdir", "fchdir", "umask"}

// unbound are the libraries that do not call MPI, so that no rank waits in them.
var unbound = []string{libraryName, "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libpthread.so.0", "librt.so.1", "libdl.so.2"}
