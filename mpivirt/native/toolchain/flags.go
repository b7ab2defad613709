package toolchain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Why a wrapper leaves flags out.
const (
	ofExecutables = "a program for native ranks is a shared object"
	ofStatic      = "a program for native ranks is a shared object, and the library of the language is the one that its ranks have copies of"
)

// dropped are flags that a compiler adds or a build gives for executables, with the reason why the wrapper leaves
// them out. A static libgfortran is not position-independent. With a static C library a program would have
// functions beside those of the runtime.
var dropped = map[string]string{
	"-pie": ofExecutables, "-no-pie": ofExecutables, "-rdynamic": ofExecutables, "-static-pie": ofExecutables,
	"-static": ofStatic, "--static": ofStatic, "-static-libgcc": ofStatic, "-static-libstdc++": ofStatic, "-static-libgfortran": ofStatic, "-static-libquadmath": ofStatic,
	"-Wl,-static": ofStatic, "-Wl,-pie": ofExecutables, "-Wl,-no-pie": ofExecutables,
}

// kept returns the arguments of a wrapper that its compiler gets.
func kept(arguments []string) []string {
	return slices.DeleteFunc(slices.Clone(arguments), func(a string) bool { return dropped[a] != "" })
}

// droppedNotes returns a line for each argument that is left out, with the reason, if the wrapper is to print its reasons.
func droppedNotes(arguments []string) (notes []string) {
	if !slices.Contains(arguments, "-v") && !slices.Contains(arguments, "--verbose") {
		return nil
	}
	for _, a := range arguments {
		if reason := dropped[a]; reason != "" {
			notes = append(notes, fmt.Sprintf("leaves out %s: %s", a, reason))
		}
	}
	return notes
}

// The reasons why a wrapper refuses flags, with the remedies.
const (
	wantsProcess = "its runtime must be the first library of a process, and ranks run in that of the simulator: leave it out, and look for such errors under a real MPI; -fsanitize=undefined works"
	wantsProfile = "gmon.out is the profile of a process, and ranks have one together: leave it out, and profile the whole, as by perf record gigarank run"
)

// sanitizers are the sanitizers whose runtime cannot be loaded into a running process.
var sanitizers = []string{"address", "hwaddress", "thread", "leak", "memory", "dataflow", "fuzzer", "pointer-compare", "pointer-subtract", "kernel-address", "kernel-hwaddress", "safe-stack"}

// faultyFlags returns a line for each flag with which a program would not run right, with the remedy.
func faultyFlags(arguments []string) (faults []string) {
	on := map[string]string{} // the flag that has switched a sanitizer on
	for _, a := range arguments {
		if list, is := strings.CutPrefix(a, "-fsanitize="); is {
			for name := range strings.SplitSeq(list, ",") {
				on[name] = a
			}
		} else if list, is := strings.CutPrefix(a, "-fno-sanitize="); is {
			for name := range strings.SplitSeq(list, ",") {
				delete(on, name)
				if name == "all" {
					clear(on)
				}
			}
		} else if a == "-pg" || a == "-p" {
			faults = append(faults, a+": "+wantsProfile)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		if slices.Contains(sanitizers, name) {
			faults = append(faults, on[name]+": "+wantsProcess)
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

// counts reports whether a program that is linked with arguments counts how often its code is run, for
// gcov or for a compiler.
func counts(arguments []string) bool {
	return slices.ContainsFunc(arguments, func(a string) bool {
		return a == "--coverage" || a == "-coverage" || a == "-fprofile-arcs" || a == "-lgcov" || strings.HasPrefix(a, "-fprofile-generate")
	})
}

// countsFlag has the counts of each rank be added to their files by the runtime's function, which keeps other ranks of the
// process out meanwhile.
const countsFlag = "-Wl,--wrap=fcntl"

// notPositionIndependent is an object that cannot go into a shared object.
type notPositionIndependent struct{ archive, object string }

// objectOf returns the object of which a line of the linker says that it is to be compiled with -fPIC, and whether it
// does. The words between are in the user's language; see the sources of GNU ld and gold.
func objectOf(line string) (o notPositionIndependent, is bool) {
	if !strings.Contains(line, "-fPIC") || !strings.Contains(line, "R_X86_64_") && !strings.Contains(line, "R_AARCH64_") {
		return o, false
	}
	for field := range strings.SplitSeq(line, ": ") {
		if archive, object, in := strings.Cut(field, "("); in && strings.HasSuffix(archive, ".a") {
			return notPositionIndependent{archive, strings.TrimSuffix(strings.TrimSuffix(object, ":"), ")")}, true
		}
		if strings.HasSuffix(field, ".o") || strings.HasSuffix(field, ".lo") {
			return notPositionIndependent{"", field}, true
		}
	}
	return o, true
}

// rebuildHints returns the remedies for objects that, by the linker's text, cannot go into a shared object; nil for none.
func rebuildHints(l Language, linker string) (hints []string) {
	objects := map[string][]string{} // by archive
	for line := range strings.Lines(linker) {
		if o, is := objectOf(strings.TrimSpace(line)); is && !slices.Contains(objects[o.archive], o.object) {
			objects[o.archive] = append(objects[o.archive], o.object)
		}
	}
	for _, archive := range slices.Sorted(maps.Keys(objects)) {
		const named = 3
		list := objects[archive]
		what := strings.TrimSpace(strings.Join(list[:min(named, len(list))], ", "))
		if more := len(list) - named; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
		what = cmp.Or(what, "an object")
		switch {
		case archive != "" && isSystem(archive):
			hints = append(hints, fmt.Sprintf("%s (%s) is not position-independent, and %s: link the shared library of that name, without -static, -Wl,-Bstatic or the name of the archive", archive, what, ofExecutables))
			continue
		case archive != "":
			what = archive + " (" + what + ")"
		}
		flags := [...]string{C: "CFLAGS=-fPIC", CXX: "CXXFLAGS=-fPIC", Fortran: "FFLAGS=-fPIC FCFLAGS=-fPIC"}[l]
		hints = append(hints, fmt.Sprintf("%s was compiled without -fPIC, and %s: clean and build it anew with gigarank %s for its compiler, or with %s (make), --with-pic (configure and libtool), -DCMAKE_POSITION_INDEPENDENT_CODE=ON (cmake)", what, ofExecutables, l, flags))
	}
	return hints
}
