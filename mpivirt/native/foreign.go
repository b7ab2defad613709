//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gigarank/mpivirt/native/toolchain"
)

// A library in C++ registers objects of the program that uses it: Boost.Serialization keeps a set of
// the program's types. If gigarank has not linked the library, as a library of the system, the loader
// calls its constructors once, and all ranks find the objects that a rank has registered. So each image
// of a program has copies of these libraries, as it has of Fortran's.

// needed is a library that an object needs by a name, other than the standard libraries.
type needed struct {
	name, path string
	own        bool // of the program
}

// foreignLibraries returns the libraries in C++ that a program needs and that gigarank has not
// linked. Threads of a library would find the variables of any rank: a library that starts threads is
// left as it is. So is a library whose name has no room for the name of a copy, a library that needs libraries of
// the program's own, and a library that an uncopied library of the system needs: the loader
// would bind the latter to the copy of one image.
func foreignLibraries(program string) ([]needed, error) {
	direct, err := needs(program)
	if err != nil {
		return nil, err
	}
	var libraries []needed
	for _, one := range direct {
		foreign, err := isForeign(one.path)
		if err != nil {
			return nil, err
		}
		if foreign && (one.own || len(one.name) >= len("/dev/fd/999")) {
			libraries = append(libraries, one)
		}
	}
	if len(libraries) == 0 {
		return nil, nil
	}
	all, uses := direct, map[string][]needed{}
	for i := 0; i < len(all); i++ {
		if uses[all[i].path], err = needs(all[i].path); err != nil {
			return nil, err
		}
		for _, one := range uses[all[i].path] {
			if !slices.ContainsFunc(all, func(n needed) bool { return n.path == one.path }) {
				all = append(all, one)
			}
		}
	}
	for before := 0; before != len(libraries); {
		before = len(libraries)
		for _, one := range all {
			if one.own || slices.Contains(libraries, one) {
				continue
			}
			libraries = slices.DeleteFunc(libraries, func(l needed) bool {
				return slices.ContainsFunc(uses[one.path], func(n needed) bool { return n.path == l.path })
			})
		}
	}
	return libraries, nil
}

// standard begin the names of libraries that ranks share, or that are a rank's own by other means.
var standard = []string{
	"ld-linux", "libc.so.", "libdl.so.", "libgcc_s.so.", "libgfortran.so.", "libgigarank_mpi.so", "libgomp.so.", "libm.so.",
	"libpthread.so.", "libquadmath.so.", "librt.so.", "libstdc++.so.",
}

// needs returns the libraries that an object needs, but for the standard libraries.
func needs(path string) (all []needed, err error) {
	object, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = object.Close() }()
	names, err := object.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range names {
		if slices.ContainsFunc(standard, func(s string) bool { return strings.HasPrefix(name, s) }) {
			continue
		}
		library, err := toolchain.OwnLibrary(path, object, name)
		if err != nil {
			return nil, err
		}
		own := library != ""
		if !own {
			if library, err = pathOf(path, name); errors.Is(err, errNotFound) {
				continue // the loader names it when it loads the program
			} else if err != nil {
				return nil, err
			}
		}
		all = append(all, needed{name, library, own})
	}
	return all, nil
}

// isForeign reports whether a library is in C++, starts no threads, needs no libraries of the
// program's own, and has not been linked by gigarank.
func isForeign(path string) (bool, error) {
	all, err := needs(path)
	if err != nil || slices.ContainsFunc(all, func(n needed) bool { return n.own }) {
		return false, err
	}
	library, err := elf.Open(path)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = library.Close() }()
	names, err := library.ImportedLibraries()
	if err != nil || !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "libstdc++.so.") }) {
		return false, err
	}
	symbols, err := library.ImportedSymbols()
	return err == nil && !slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool {
		return slices.Contains([]string{"gigarank_hold", "pthread_create", toolchain.StartThread}, s.Name)
	}), err
}
