package toolchain

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// served matches the declarations of functions in mpi.h, which has the served ones only.
var served = regexp.MustCompile(`(?m)^GIGARANK_MPI\([^,]+, (\w+),`)

// Served returns the names of the MPI functions that native ranks have, without MPI_.
func Served() []string {
	text, err := sources.ReadFile("runtime/mpi.h")
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range served.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return names
}

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
		name, is := strings.CutPrefix(strings.TrimPrefix(s.Name, "P"), "MPI_")
		if is && !slices.Contains(names, name) {
			missing = append(missing, s.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("%s uses MPI functions that native ranks do not have: %s; docs/native.md lists those that they have", program, strings.Join(missing, ", "))
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
	symbols, err := file.ImportedSymbols()
	return err != nil || slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool {
		return s.Name == "__errno_location" || s.Name == "__tls_get_addr" || s.Name == "__h_errno_location"
	})
}

// unbound are the libraries that do not call MPI, so that no rank waits in them.
var unbound = []string{libraryName, "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libpthread.so.0", "librt.so.1", "libdl.so.2"}
