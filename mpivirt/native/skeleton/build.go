package skeleton

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gigarank/mpivirt/native/skeleton/ir"
	"gigarank/mpivirt/native/skeleton/slice"
	"gigarank/mpivirt/native/toolchain"
)

// Flag asks a wrapper for a skeleton, as the variable does for all wrappers of a build.
const (
	Flag     = "--skeleton"
	Variable = "GIGARANK_SKELETON"
	// DirectivesFlag names a file of assumptions about data, for the link.
	DirectivesFlag = "--directives"
	// KeepDataFlag has the skeleton of a program whose course depends on data compute them, at the link.
	KeepDataFlag = "--keep-data"
)

// The sections of a program that have its skeleton, its timed form, lines about it, and its tasks.
const (
	section       = ".gigarank.skeleton"
	timedSection  = ".gigarank.skeleton.timed"
	reportSection = ".gigarank.skeleton.report"
	tasksSection  = ".gigarank.skeleton.tasks"
)

// compileFlags keep loops as the source has them, and lines: vectors and copies of a body hide what a loop counts. Frames of
// skeletons are small, so that no guard need be met.
var compileFlags = []string{"-fPIC", "-gline-tables-only", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-ffp-contract=off"}

// public are the symbols that the runtime knows by their names: main, and the constants of Fortran that are addresses.
const public = "main,gigarank_mpi_constants_"

// passes prepare a whole program: only main is called from outside. The inliner brings calls of MPI to where their arguments are made.
const passes = "internalize,globaldce,ipsccp,inline,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa,loop(loop-rotate),loop(indvars),mergereturn),globaldce"

// closing turns a level of empty loops into formulas: what a loop does not change is computed in front of it, where a condition that it does not change becomes
// one in front of two loops, and then the values after the loop stand for it.
const closing = "sroa,early-cse<memssa>,simplifycfg,loop-simplify,lcssa,loop-mssa(licm,simple-loop-unswitch<nontrivial;trivial>)," +
	"instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-mssa(licm),loop(indvars,loop-deletion),instcombine<no-verify-fixpoint>,simplifycfg"

// closingFlags take a formula in the place of a loop whatever it costs: a loop that only counts costs more.
var closingFlags = []string{"-S", "-replexitval=always", "-scev-cheap-expansion-budget=1000", "-passes=function(" + closing + "," + closing + "," + closing + ")", "-"}

// Wrap is toolchain.Wrap for a program that is to hold its skeleton.
func Wrap(l toolchain.Language, arguments []string, in io.Reader, out, diagnostics io.Writer) (code int, err error) {
	tell := func(err error) (int, error) {
		for line := range strings.Lines(err.Error()) {
			_, _ = fmt.Fprintf(diagnostics, "gigarank %s: %s\n", l, strings.TrimSuffix(line, "\n"))
		}
		return 2, nil
	}
	if frontEnds[l] == "" {
		return tell(fmt.Errorf("%s: skeletons of programs in %s are not built: only programs in C and Fortran have them", Flag, l.Name()))
	}
	if err := Missing(l); err != nil {
		return tell(err)
	}
	keepData := slices.Contains(arguments, KeepDataFlag)
	arguments, directives, err := takeDirectives(slices.DeleteFunc(slices.Clone(arguments), func(a string) bool { return a == Flag || a == KeepDataFlag }))
	if err != nil {
		return tell(err)
	}
	if slices.ContainsFunc(arguments, toolchain.IsQuery) {
		return toolchain.Wrap(l, arguments, in, out, diagnostics)
	}
	if faults := toolchain.FaultyFlags(arguments); len(faults) > 0 {
		return tell(errors.New(strings.Join(faults, "\n")))
	}
	library, err := toolchain.OpenLibrary()
	if err != nil {
		return 1, err
	}
	work, err := os.MkdirTemp("", "gigarank-skeleton-")
	if err != nil {
		return 3, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b := build{directives: directives, keepData: keepData, language: l, library: library, work: work, diagnostics: diagnostics, in: in, out: out}
	if l == toolchain.Fortran {
		err = b.openModule()
	}
	if err == nil {
		err = b.run(arguments)
	}
	var stopped failed
	switch {
	case errors.As(err, &stopped):
		return stopped.code, nil
	case err != nil:
		return tell(err)
	}
	return 0, nil
}

// prepare returns the prepared module of a program. Calls by pointers that lead to known functions become calls by name, which may be inlined.
func (b *build) prepare(joined, output string) (*ir.Module, error) {
	input, file := "", joined
	for {
		text, err := tool(b.diagnostics, input, opt, "-S", "-internalize-public-api-list="+public, "-passes="+passes, file)
		if err != nil {
			return nil, err
		}
		m, err := ir.Parse(output, text)
		if err != nil || input != "" || slice.Resolve(m) == 0 {
			return m, err
		}
		input, file = m.String(), "-"
	}
}

// takeDirectives returns arguments without those that name files of directives, and the directives.
func takeDirectives(arguments []string) (rest []string, all []*slice.Directive, err error) {
	var faults []error
	for n := 0; n < len(arguments); n++ {
		file, is := strings.CutPrefix(arguments[n], DirectivesFlag+"=")
		switch {
		case is:
		case arguments[n] != DirectivesFlag:
			rest = append(rest, arguments[n])
			continue
		case n+1 == len(arguments):
			return nil, nil, fmt.Errorf("%s without a FILE", DirectivesFlag)
		default:
			n++
			file = arguments[n]
		}
		text, err := os.ReadFile(file)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		some, err := slice.ParseDirectives(file, string(text))
		all, faults = append(all, some...), append(faults, err)
	}
	return rest, all, errors.Join(faults...)
}

// build is a call of a wrapper.
type build struct {
	directives       []*slice.Directive
	keepData         bool
	language         toolchain.Language
	library          *toolchain.Library
	work             string // directory of what the build makes on its way
	in               io.Reader
	out, diagnostics io.Writer
}

// run compiles, and links if the arguments say so.
func (b *build) run(arguments []string) error {
	if !toolchain.Links(arguments) {
		emit := []string{"-emit-llvm"}
		if slices.Contains(arguments, "-E") || slices.Contains(arguments, "-M") || slices.Contains(arguments, "-MM") {
			emit = nil
		}
		if emit != nil && slices.Contains(arguments, "-c") && !slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "-o") }) {
			return b.objects(arguments)
		}
		text, err := b.compile(slices.Concat(arguments, emit))
		_, _ = io.WriteString(b.out, text)
		return err
	}
	if slices.Contains(arguments, "-shared") {
		return fmt.Errorf("%s with -shared: a library has no course of its own: link its objects into the program", Flag)
	}
	parts, rest, output, err := b.parts(arguments)
	if err != nil {
		return err
	}
	joined := filepath.Join(b.work, "joined.bc")
	if _, err := tool(b.diagnostics, "", link, slices.Concat(parts, []string{"-o", joined})...); err != nil {
		return err
	}
	m, err := b.prepare(joined, output)
	if err != nil {
		return err
	}
	original, before := m.String(), slice.Instructions(m)
	s, err := slice.Of(m, b.directives...)
	if err != nil {
		return err
	}
	if err := s.Data(); err != nil && !b.keepData {
		return err
	}
	s, tasks, err := s.WithTasks()
	if err != nil {
		return err
	}
	timed := m.String()
	if err := s.Emit(); err != nil {
		return err
	}
	d := Description{Machine: machineOf(original), Tasks: tasks, Failures: s.Failures()}
	digest := sha256.New()
	_, _ = io.WriteString(digest, original)
	for _, one := range b.directives {
		d.Directives = append(d.Directives, one.String())
		_, _ = fmt.Fprintf(digest, "%s\n", one)
	}
	d.Program = fmt.Sprintf("%x", digest.Sum(nil))
	description, err := json.Marshal(d)
	if err != nil {
		return err
	}
	bare, err := tool(b.diagnostics, m.String(), opt, closingFlags...)
	if err != nil {
		return err
	}
	program := filepath.Join(b.work, "program")
	forms := []form{{program, original}, {filepath.Join(b.work, timedSection), timed}, {filepath.Join(b.work, section), bare}}
	if err := b.linkAll(forms, rest); err != nil {
		return err
	}
	for name, text := range map[string]string{reportSection: s.Report(before, tasks), tasksSection: string(description)} {
		if err := os.WriteFile(filepath.Join(b.work, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return b.join(program, output)
}

// machineOf returns the attributes of a module that say for which processor its functions are compiled.
func machineOf(text string) string {
	all := processor.FindAllString(text, -1)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

var processor = regexp.MustCompile(`"(target-cpu|target-features|tune-cpu)"="[^"]*"`)

// objects compiles each source among arguments into the object that a compiler makes of it without -o: LLVM would name bitcode otherwise.
func (b *build) objects(arguments []string) error {
	isSource := func(a string) bool { return slices.Contains(suffixes[b.language], filepath.Ext(a)) }
	flags := slices.DeleteFunc(slices.Clone(arguments), isSource)
	for _, source := range arguments {
		if !isSource(source) {
			continue
		}
		object := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)) + ".o"
		if _, err := b.compile(slices.Concat(flags, []string{"-emit-llvm", source, "-o", object})); err != nil {
			return err
		}
	}
	return nil
}

// suffixes are the ends of the names of sources.
var suffixes = map[toolchain.Language][]string{
	toolchain.C: {".c"}, toolchain.Fortran: {".f90", ".F90", ".f95", ".F95", ".f03", ".F03", ".f08", ".F08", ".f", ".F", ".for", ".FOR", ".ftn"},
}

// flangFlags are compileFlags for flang, which knows other flags.
var flangFlags = []string{"-w", "-fPIC", "-gline-tables-only", "-ffp-contract=off", "-mllvm", "-vectorize-loops=false", "-mllvm", "-vectorize-slp=false",
	"-mllvm", "-unroll-full-max-count=0", "-mllvm", "-unroll-allow-peeling=false", "-mllvm", "-unroll-allow-partial=false", "-mllvm", "-unroll-runtime=false"}

// strange are flags of gfortran that flang does not know, and that change no result: flang has no limit of lines, warns of mismatches, and has no backtrace.
var strange = []string{"-ffree-line-length-", "-fallow-argument-mismatch", "-fno-backtrace", "-fbacktrace", "-fno-range-check", "-std=legacy", "-std=gnu", "-funroll-loops", "-Wno-", "-W"}

// compile compiles with the front end of the language.
func (b *build) compile(arguments []string) (string, error) {
	flags := compileFlags
	if err := checkModules(arguments); b.language == toolchain.Fortran && err != nil {
		return "", err
	}
	if b.language == toolchain.Fortran {
		arguments = slices.DeleteFunc(slices.Clone(arguments), func(a string) bool {
			return a == "-g" || slices.ContainsFunc(strange, func(s string) bool { return strings.HasPrefix(a, s) })
		})
		flags = append(slices.Clone(flangFlags), "-I"+b.work) // where module mpi is
	}
	return tool(b.diagnostics, "", frontEnds[b.language], slices.Concat(arguments, flags, b.library.Includes(toolchain.C))...)
}

// uses08 matches a statement that uses module mpi_f08.
var uses08 = regexp.MustCompile(`(?im)^[ \t]*use[ \t]*(,[^:\n]*)?(::)?[ \t]*mpi_f08\b`)

// checkModules returns an error for a source among arguments that uses a module that flang 19 does not take.
func checkModules(arguments []string) error {
	for _, a := range arguments {
		if !slices.Contains(suffixes[toolchain.Fortran], filepath.Ext(a)) {
			continue
		}
		text, err := os.ReadFile(a)
		if err != nil {
			return err
		}
		if at := uses08.FindIndex(text); at != nil {
			return fmt.Errorf("%s:%d: the program uses module mpi_f08, which skeletons do not take: use mpi, or include mpif.h", a, 1+bytes.Count(text[:at[0]], []byte("\n")))
		}
	}
	return nil
}

// openModule compiles module mpi, with the declarations of mpif.h: flang 19 does not know the rest of the module of package toolchain.
func (b *build) openModule() error {
	source := filepath.Join(b.work, "mpi.f90")
	if err := os.WriteFile(source, []byte("module mpi\n  include 'mpif.h'\nend module\n"), 0o666); err != nil {
		return err
	}
	_, err := tool(b.diagnostics, "", flang, slices.Concat([]string{"-fsyntax-only", "-J" + b.work, source}, b.library.Includes(toolchain.C))...)
	return err
}

// options are the flags of compilers that an argument of its own follows.
var options = []string{"-I", "-D", "-U", "-L", "-l", "-include", "-isystem", "-iquote", "-idirafter", "-x", "-MF", "-MT", "-MQ", "-Xlinker", "-u", "-T", "-J", "-module-dir", "-mllvm"}

// parts compiles sources and returns the files with bitcode, the arguments of the link without them, and the name of the program.
func (b *build) parts(arguments []string) (parts, rest []string, output string, err error) {
	output = "a.out"
	var sources, flags []string
	for n := 0; n < len(arguments); n++ {
		a := arguments[n]
		switch {
		case a == "-o" && n+1 < len(arguments):
			n++
			output = arguments[n]
		case slices.Contains(options, a) && n+1 < len(arguments):
			n++
			flags = append(flags, a, arguments[n])
			if a == "-L" || a == "-l" || a == "-Xlinker" {
				rest = append(rest, a, arguments[n])
			}
		case strings.HasPrefix(a, "-l") || strings.HasPrefix(a, "-L") || strings.HasPrefix(a, "-Wl,"):
			rest = append(rest, a)
		case strings.HasPrefix(a, "-"):
			flags = append(flags, a)
		case slices.Contains(suffixes[b.language], filepath.Ext(a)):
			sources = append(sources, a)
		default:
			if err := b.checkBitcode(a); err != nil {
				return nil, nil, "", err
			}
			parts = append(parts, a)
		}
	}
	for n, source := range sources {
		object := filepath.Join(b.work, fmt.Sprintf("source%d.bc", n))
		if _, err := b.compile(slices.Concat(flags, []string{"-emit-llvm", "-c", "-o", object, source})); err != nil {
			return nil, nil, "", err
		}
		parts = append(parts, object)
	}
	return parts, rest, output, nil
}

// checkBitcode returns why a file that is to be linked has no bitcode of the release.
func (b *build) checkBitcode(path string) error {
	text, err := os.ReadFile(path)
	switch {
	case err != nil:
		return err
	case bytes.HasPrefix(text, []byte("\x7fELF")), bytes.HasPrefix(text, []byte("!<arch>\n")) && bytes.Contains(text, []byte("\x7fELF")):
		return fmt.Errorf("%s has machine code: build it with %s, too", path, Flag)
	case !bytes.HasPrefix(text, []byte("BC\xc0\xde")) && !bytes.HasPrefix(text, []byte("!<arch>\n")):
		return fmt.Errorf("%s is no object that gigarank %s %s has built", path, b.language, Flag)
	}
	return checkProducer(path, text)
}

// producers are the releases that a bitcode file may name in its identification block, which comes first: the text LLVM19.1.7.
func checkProducer(path string, text []byte) error {
	if !bytes.HasPrefix(text, []byte("BC")) {
		return nil // an archive: llvm-link reads its members
	}
	made := producer(text)
	if made == "" || strings.HasPrefix(made, "LLVM"+release) {
		return nil
	}
	return fmt.Errorf("%s was made by %s: build it anew with %s, which takes LLVM %s", path, made, Flag, release)
}

// form is a program that is linked from the text of its module.
type form struct{ path, text string }

// linkAll links programs side by side: LLVM compiles each on one processor. Diagnostics come in the order of the list, those of the first that fails last.
func (b *build) linkAll(forms []form, rest []string) error {
	printed, said, failures := make([]bytes.Buffer, len(forms)), make([]bytes.Buffer, len(forms)), make([]error, len(forms))
	var all sync.WaitGroup
	for n, f := range forms {
		one := *b
		one.in, one.out, one.diagnostics = strings.NewReader(""), &printed[n], &said[n]
		all.Go(func() { failures[n] = one.link(f.path, f.text, rest) })
	}
	all.Wait()
	for n := range forms {
		_, _ = printed[n].WriteTo(b.out)
		_, _ = said[n].WriteTo(b.diagnostics)
		if failures[n] != nil {
			return failures[n]
		}
	}
	return nil
}

// link links a program from the text of its module.
func (b *build) link(path, text string, rest []string) error {
	object := path + ".o"
	if _, err := tool(b.diagnostics, text, clang, "-x", "ir", "-c", "-O2", "-fPIC", "-falign-loops=64", "-Wno-override-module", "-o", object, "-"); err != nil {
		return err
	}
	if b.language == toolchain.Fortran {
		libraries, err := fortranLibraries()
		if err != nil {
			return err
		}
		rest = slices.Concat(rest, libraries)
	}
	code, err := toolchain.Wrap(toolchain.C, slices.Concat([]string{"-o", path, object}, rest), b.in, b.out, b.diagnostics)
	if err == nil && code != 0 {
		err = failed{errors.New("the link failed"), code}
	}
	return err
}

// join makes the program with its skeleton, as a whole or not at all.
func (b *build) join(program, output string) error {
	joined := filepath.Join(b.work, "joined")
	var sections []string
	for _, name := range []string{section, timedSection, reportSection, tasksSection} {
		sections = append(sections, "--add-section="+name+"="+filepath.Join(b.work, name))
	}
	if _, err := tool(b.diagnostics, "", objcopy, append(sections, program, joined)...); err != nil {
		return err
	}
	text, err := os.ReadFile(joined)
	if err != nil {
		return err
	}
	next := output + ".part"
	if err = os.WriteFile(next, text, 0o777); err == nil {
		err = os.Rename(next, output)
	}
	if err != nil {
		_ = os.Remove(next)
	}
	return err
}
