package toolchain

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OwnLibrary returns the path of the library that an object needs by a name, "" if it is the
// system's or gigarank's. The variables of a program's own libraries are its ranks' own. It looks
// where the loader does: in RPATH unless there is a RUNPATH, in LD_LIBRARY_PATH, in RUNPATH.
func OwnLibrary(path string, object *elf.File, name string) (string, error) {
	if strings.Contains(name, "/") || name == libraryName {
		return "", nil
	}
	origin := strings.NewReplacer("$ORIGIN", filepath.Dir(path), "${ORIGIN}", filepath.Dir(path))
	var before, after []string
	for tag, dirs := range map[elf.DynTag]*[]string{elf.DT_RPATH: &before, elf.DT_RUNPATH: &after} {
		lists, err := object.DynString(tag)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		for _, list := range lists {
			*dirs = append(*dirs, filepath.SplitList(origin.Replace(list))...)
		}
	}
	if len(after) > 0 {
		before = nil
	}
	for _, dir := range slices.Concat(before, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")), after) {
		library := filepath.Join(dir, name)
		if _, err := os.Stat(library); err == nil && !isSystem(library) {
			return filepath.Abs(library)
		}
	}
	return "", nil
}

// isSystem reports whether a library is the system's, by the same rule as the C runtime: it lies
// in lib, lib64 or another directory of that kind, of / or of /usr.
func isSystem(path string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/usr"), "/"), "/")
	return slices.Contains([]string{"lib", "lib32", "lib64", "libx32"}, top)
}

// inObjects calls do with a program and with each of its own libraries, by its path.
func inObjects(program string, do func(path string, object *elf.File) error) error {
	paths := []string{program}
	for i := 0; i < len(paths); i++ {
		err := inObject(paths[i], func(object *elf.File) error {
			if err := do(paths[i], object); err != nil {
				return err
			}
			needed, err := object.ImportedLibraries()
			if err != nil {
				return fmt.Errorf("%s: %w", paths[i], err)
			}
			for _, name := range needed {
				library, err := OwnLibrary(paths[i], object, name)
				if err != nil {
					return err
				}
				if library != "" && !slices.Contains(paths, library) {
					paths = append(paths, library)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Libraries returns the names of the libraries that a program and its own libraries need.
func Libraries(program string) (names []string) {
	if err := inObjects(program, func(path string, object *elf.File) error {
		needed, err := object.ImportedLibraries()
		names = append(names, needed...)
		return err
	}); err != nil {
		return nil
	}
	return names
}

func inObject(path string, do func(object *elf.File) error) error {
	object, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = object.Close() }()
	return do(object)
}

// imported returns the symbols that an object wants from other objects.
func imported(path string, object *elf.File) ([]elf.ImportedSymbol, error) {
	symbols, err := object.ImportedSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return symbols, nil
}
