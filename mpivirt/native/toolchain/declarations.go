package toolchain

import (
	_ "embed"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// header is mpi.h, which declares the supported functions, and unsupportedHeader is the header that it includes for
// unsupported functions.
var (
	//go:embed runtime/include/mpi.h
	header string
	//go:embed runtime/include/mpi_unsupported.h
	unsupportedHeader string
)

// declaration is a function of MPI, as mpi.h declares it.
type declaration struct {
	macro      string // that declares it
	result     string // int for most
	name       string // without MPI_
	parameters []parameter
}

// unsupported reports whether native ranks do not have the function.
func (d declaration) unsupported() bool { return slices.Contains(ofUnsupported, d.macro) }

// parameter is a parameter of a function of MPI in C.
type parameter struct {
	base     string // the type without const and pointers
	name     string
	constant bool
	pointers int
	array    bool
	row      string // elements of a row, of an array that has rows
}

// ofUnsupported are the macros that declare the functions which native ranks do not have.
var ofUnsupported = []string{"GIGARANK_UNSUPPORTED", "GIGARANK_UNSUPPORTED_ON"}

// declared returns the functions that some macros declare.
func declared(macros ...string) (all []declaration, err error) {
	for _, macro := range macros {
		for line := range declarations() {
			if line.macro != macro {
				continue
			}
			d := declaration{macro: macro, result: line.result, name: line.name}
			if line.parameters != "void" {
				if d.parameters, err = parametersOf(line.parameters); err != nil {
					return nil, fmt.Errorf("mpi.h: MPI_%s: %w", d.name, err)
				}
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// declaredLine has the parts of a line of mpi.h that declares a function, with its name without MPI_.
type declaredLine struct{ macro, result, name, parameters string }

// declarations yields the lines MACRO(result, MPI_name, (parameters)) of mpi.h and of mpi_unsupported.h.
func declarations() iter.Seq[declaredLine] {
	return func(yield func(declaredLine) bool) {
		for line := range strings.Lines(header + unsupportedHeader) {
			if !strings.HasPrefix(line, "GIGARANK_") {
				continue
			}
			macro, list, _ := strings.Cut(line, "(")
			result, list, _ := strings.Cut(list, ", ")
			name, list, _ := strings.Cut(list, ", (")
			list, is := strings.CutSuffix(list, "))\n")
			if is && !yield(declaredLine{macro, result, strings.TrimPrefix(name, "MPI_"), list}) {
				return
			}
		}
	}
}

// Expressions are compiled when the bindings of Fortran are generated: the start of each run would take 1 ms more.
var parameterWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(const )?(?:struct )?(\.\.\.|\w+)\s*(\**)\s*(\w*)\s*((?:\[\])?)(?:\[(\d+)\])?$`)
})

// parametersOf parses a list of parameters.
func parametersOf(list string) (all []parameter, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		m := parameterWords().FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("%q is no parameter of a form that is understood", text)
		}
		all = append(all, parameter{base: m[2], name: m[4], constant: m[1] != "", pointers: len(m[3]), array: m[5] != "", row: m[6]})
	}
	return all, nil
}

// names are the names of the functions that mpi.h declares, without MPI_, by macro.
var names = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range declarations() {
		all[line.macro] = append(all[line.macro], line.name)
	}
	return all
})

// onlyInC returns the names of the functions that only C has, without MPI_.
func onlyInC() []string { return slices.Clone(names()["GIGARANK_C"]) }

// Removed returns the names of the functions that are supported and that MPI 3.0 has removed, without MPI_.
func Removed() []string { return slices.Clone(names()["GIGARANK_REMOVED"]) }

// Sessions returns the names of the functions of sessions that are supported, without MPI_.
func Sessions() []string { return slices.Clone(names()["GIGARANK_SESSIONS"]) }

// Supported returns the names of the MPI functions that native ranks have, without MPI_.
func Supported() []string {
	supported := slices.Concat(onlyInC(), Removed(), Sessions(), names()["GIGARANK_MPI"])
	slices.Sort(supported)
	return supported
}

// Unsupported returns the names of the MPI functions that programs can be linked with and that
// native ranks do not have, without MPI_.
func Unsupported() (unsupported []string) {
	for _, macro := range ofUnsupported {
		unsupported = append(unsupported, names()[macro]...)
	}
	slices.Sort(unsupported)
	return unsupported
}

// constant is a constant of mpi.h.
type constant struct {
	name  string
	class string // of the handle, empty for a number
	value int64
}

// constants returns the handles and numbers that mpi.h defines, in its order.
func constants() (all []constant, err error) {
	var (
		handles     = regexp.MustCompile(`(?m)^#define (MPI_\w+) GIGARANK_CONSTANT\((MPI_\w+), (0x[0-9a-f]+)\)$`)
		numbers     = regexp.MustCompile(`(?m)^#define (MPI_\w+) (-?\w+)$`)
		enums       = regexp.MustCompile(`(?s)enum \{(.*?)\}`)
		enumerators = regexp.MustCompile(`(MPI_\w+)(?:\s*=\s*(-?\w+))?\s*(?:,|$)`)
		comments    = regexp.MustCompile(`(?s)/\*.*?\*/`)
	)
	plain := comments.ReplaceAllString(header, "")
	known := map[string]constant{}
	add := func(c constant) {
		known[c.name] = c
		all = append(all, c)
	}
	for _, m := range handles.FindAllStringSubmatch(plain, -1) {
		value, err := strconv.ParseInt(m[3], 0, 64)
		if err != nil {
			return nil, fmt.Errorf("mpi.h: %s: %w", m[1], err)
		}
		add(constant{m[1], m[2], value})
	}
	for _, m := range numbers.FindAllStringSubmatch(plain, -1) {
		if value, err := strconv.ParseInt(m[2], 0, 64); err == nil {
			add(constant{name: m[1], value: value})
		} else if same, is := known[m[2]]; is {
			add(constant{m[1], same.class, same.value})
		}
	}
	for _, e := range enums.FindAllStringSubmatch(plain, -1) {
		next := int64(0)
		for _, m := range enumerators.FindAllStringSubmatch(strings.TrimSpace(e[1]), -1) {
			if m[2] != "" {
				if next, err = strconv.ParseInt(m[2], 0, 64); err != nil {
					return nil, fmt.Errorf("mpi.h: %s: %w", m[1], err)
				}
			}
			add(constant{name: m[1], value: next})
			next++
		}
	}
	return all, nil
}
