package toolchain

import (
	"debug/elf"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// uses lists, by folder of the runtime, the folders whose headers and functions a file may use beside its own. Functions
// of other folders are called by way of the table in rank/hooks.h, which hooks.c fills.
var uses = map[string][]string{
	"include": {},
	"rank":    {"include"},
	"libc":    {"include", "rank"},
	"mpi":     {"include", "rank"},
	"fortran": {"include", "rank", "libc", "mpi"},
	".":       {"include", "rank", "libc", "mpi", "fortran"},
}

func mayUse(folder, other string) bool {
	return folder == other || slices.Contains(uses[folder], other)
}

// sourcesOf returns the files of a folder of the runtime whose names end so.
func sourcesOf(t *testing.T, folder, suffix string) []string {
	files, err := filepath.Glob(filepath.Join("runtime", folder, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// headerOf returns the header that declares the functions and variables that a source of the runtime defines for other files.
func headerOf(source string) string {
	if source == "hooks.c" {
		return "rank/hooks.h"
	}
	return strings.TrimSuffix(source, path.Ext(source)) + ".h"
}

// runtimeFile is the text of a source or header of the runtime, without comments.
type runtimeFile struct {
	name     string // from the folder of the runtime on
	text     string
	includes []string // of headers of the runtime, by folder and name
}

var (
	cComment = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	cString  = regexp.MustCompile(`"(\\.|[^"\\\n])*"`)
	quoted   = regexp.MustCompile(`(?m)^#include "(.*)"$`)
)

// runtimeFiles returns the sources and headers of the runtime by name. Headers of programs have no folder.
func runtimeFiles(t *testing.T) map[string]runtimeFile {
	all := map[string]runtimeFile{}
	for folder := range uses {
		for _, suffix := range []string{".c", ".h", ".cc", ".S"} {
			for _, file := range sourcesOf(t, folder, suffix) {
				text, err := sources.ReadFile(filepath.ToSlash(file))
				if err != nil {
					t.Fatal(err)
				}
				f := runtimeFile{name: strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(file), "runtime/"), "include/"), text: cComment.ReplaceAllString(string(text), "")}
				for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
					f.includes = append(f.includes, m[1])
				}
				all[f.name] = f
			}
		}
	}
	return all
}

// A file of the runtime includes headers of its own folder, of the folders below it and of programs.
func TestIncludesByFolder(t *testing.T) {
	included := 0
	for name, file := range runtimeFiles(t) {
		folder := path.Dir(name)
		if _, err := sources.ReadFile("runtime/include/" + name); err == nil {
			folder = "include"
		}
		for _, header := range file.includes {
			other, _, in := strings.Cut(header, "/")
			if !in {
				other = "include"
			}
			if included++; !mayUse(folder, other) {
				t.Errorf("%s includes %s: files in %s may include headers of %s, and call other functions by way of rank/hooks.h", name, header, folder, uses[folder])
			}
		}
	}
	if included < 200 {
		t.Errorf("only %d includes were found", included)
	}
}

var (
	macroName     = regexp.MustCompile(`(?m)^#define (\w+)`)
	structName    = regexp.MustCompile(`(?m)^struct (\w+) \{`)
	typedef       = regexp.MustCompile(`(?m)^typedef .*?\b(gigarank_\w+)(?: __attribute__\(\(.*\)\))?;$`)
	enumerators   = regexp.MustCompile(`(?ms)^enum ?\w* ?\{(.*?)\}`)
	enumerator    = regexp.MustCompile(`\bGIGARANK_\w+`)
	prototype     = regexp.MustCompile(`(?m)^[A-Za-z_][^\n(]*?(?:\(\*|\b)(gigarank_\w+)\(.*;`)
	inlined       = regexp.MustCompile(`(?m)^(?:\t)?static inline [^\n(]*?\b(gigarank_\w+)\(`)
	variable      = regexp.MustCompile(`(?m)^extern [^(;]*?;|^extern .*__attribute__.*;`)
	runtimeName   = regexp.MustCompile(`\bgigarank_\w+`)
	word          = regexp.MustCompile(`\b\w+\b`)
	countedPrefix = "mpi/count"
)

// declaredIn returns the names that a header declares for the linker: prototypes and variables.
func declaredIn(header runtimeFile) map[string]bool {
	names := map[string]bool{}
	for _, m := range prototype.FindAllStringSubmatch(header.text, -1) {
		if !strings.HasPrefix(m[0], "static ") {
			names[m[1]] = true
		}
	}
	for _, line := range variable.FindAllString(header.text, -1) {
		line, _, _ = strings.Cut(line, "__attribute__")
		all := runtimeName.FindAllString(line, -1)
		if strings.HasPrefix(line, "extern char") { // several in a line
			for _, name := range all {
				names[name] = true
			}
		} else if len(all) > 0 {
			names[all[len(all)-1]] = true
		}
	}
	return names
}

// offeredBy returns all names that a header has for files that include it.
func offeredBy(header runtimeFile) map[string]bool {
	names := declaredIn(header)
	for _, expression := range []*regexp.Regexp{macroName, structName, typedef, inlined} {
		for _, m := range expression.FindAllStringSubmatch(header.text, -1) {
			names[m[1]] = true
		}
	}
	for _, m := range enumerators.FindAllStringSubmatch(header.text, -1) {
		for _, name := range enumerator.FindAllString(m[1], -1) {
			names[name] = true
		}
	}
	return names
}

// Each header belongs to one source and declares only functions and variables of it; rank/interface.h declares functions that
// the simulator calls by name, rank/real.h and rank/procedures.h declare no function. A source includes each header that it uses, by
// itself, and no other header; headers do not include each other in a circle.
func TestHeadersByFile(t *testing.T) {
	files := runtimeFiles(t)
	offered := map[string]map[string]bool{} // by header
	for name, file := range files {
		if path.Ext(name) == ".h" && strings.Contains(name, "/") && !strings.HasPrefix(name, countedPrefix) {
			offered[name] = offeredBy(file)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		if path.Ext(name) != ".c" || slices.Contains(linked, "runtime/"+name) {
			continue
		}
		text := quoted.ReplaceAllString(file.text, "")
		for _, header := range file.includes {
			if strings.HasPrefix(header, countedPrefix) {
				text += files[header].text // a part of the source, with counts of one size
			}
		}
		used := map[string]bool{}
		for _, w := range word.FindAllString(cString.ReplaceAllString(text, ""), -1) {
			used[w] = true
		}
		for header, names := range offered {
			if !mayUse(path.Dir(name), path.Dir(header)) {
				continue
			}
			needs := header == headerOf(name)
			for n := range names {
				needs = needs || used[n] && (n != "real" || strings.Contains(text, "real("))
			}
			given := header == "rank/procedures.h" || header == "rank/interface.h" // by the headers of calls
			switch includes := slices.Contains(file.includes, header); {
			case needs && !includes && !given:
				t.Errorf("%s uses names of %s and does not include it", name, header)
			case !needs && includes:
				t.Errorf("%s includes %s and uses no name of it", name, header)
			}
		}
	}
	var visit func(name string, way []string)
	done := map[string]bool{}
	visit = func(name string, way []string) {
		if slices.Contains(way, name) {
			t.Errorf("headers include each other: %s", strings.Join(append(way, name), " → "))
			return
		}
		if done[name] {
			return
		}
		for _, header := range files[name].includes {
			visit(header, append(slices.Clone(way), name))
		}
		done[name] = true
	}
	for header := range offered {
		visit(header, nil)
	}
	if len(offered) < 40 {
		t.Errorf("only %d headers were found", len(offered))
	}
}

// circles are the sources that use each other, by way of any number of other sources. The sources of a folder that are not listed
// form a tree: a new circle needs a reason here. The folder mpi has none.
var circles = map[string][]string{
	// A rank's keys of threads lie beside its handles of Fortran, which are given back together.
	"libc": {"libc/process", "libc/pthread_keys"},
}

// inCircles returns the files from which arrows lead back to themselves, in order.
func inCircles(arrows map[string]map[string]bool) []string {
	var found []string
	for from := range arrows {
		reached := map[string]bool{}
		for next := []string{from}; len(next) > 0; {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			for to := range arrows[at] {
				if !reached[to] {
					reached[to] = true
					next = append(next, to)
				}
			}
		}
		if reached[from] {
			found = append(found, from)
		}
	}
	slices.Sort(found)
	return found
}

// Sources include headers of each other in the listed circles alone.
func TestCirclesOfFiles(t *testing.T) {
	files := runtimeFiles(t)
	arrows := map[string]map[string]bool{} // by file without suffix
	for name, file := range files {
		from := strings.TrimSuffix(name, path.Ext(name))
		if name == "hooks.c" || !strings.Contains(name, "/") || strings.HasPrefix(name, countedPrefix) {
			continue
		}
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for _, header := range file.includes {
			if to := strings.TrimSuffix(header, ".h"); to != from && strings.Contains(to, "/") && !strings.HasPrefix(header, countedPrefix) {
				arrows[from][to] = true
			}
		}
	}
	found := map[string][]string{} // by folder
	for _, file := range inCircles(arrows) {
		found[path.Dir(file)] = append(found[path.Dir(file)], file)
	}
	for folder := range uses {
		if !slices.Equal(found[folder], circles[folder]) {
			t.Errorf("in folder %s the files %s use each other, and circles lists %s", folder, found[folder], circles[folder])
		}
	}
}

// Each function of MPI that native ranks have is defined under its whole name, so that a search for the name finds it. A
// function with large counts may be defined with that which has int counts (mpi/counts_large.h).
func TestDefinitionsHaveWholeNames(t *testing.T) {
	definition, word := regexp.MustCompile(`(?m)^(?:[A-Z_]+\(|\w+ ).*`), regexp.MustCompile(`\bMPI_\w+`)
	defined := map[string]bool{}
	for _, folder := range []string{"libc", "mpi", "fortran"} {
		for _, file := range slices.Concat(sourcesOf(t, folder, ".c"), sourcesOf(t, folder, ".h")) {
			text, err := sources.ReadFile(filepath.ToSlash(file))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range definition.FindAllString(string(text), -1) {
				for _, name := range word.FindAllString(line, -1) {
					defined[name] = true
				}
			}
		}
	}
	for _, name := range Supported() {
		if !defined["MPI_"+name] && !defined["MPI_"+strings.TrimSuffix(name, "_c")] {
			t.Errorf("a search for MPI_%s finds no definition in the runtime", name)
		}
	}
}

// A file of the runtime uses functions and variables of its own folder and of the folders below it, which the headers of their files
// declare. Functions by which the C library knows a function of the runtime are the C library's for others. Names that other
// files use begin with gigarank_. Files in mpi do not call each other in a circle.
func TestCallsByFolder(t *testing.T) {
	t.Parallel() // most of its time is the compiler's
	type use struct{ folder, file, name string }
	files := runtimeFiles(t)
	defined := map[string]string{} // file by name
	var used []use
	for folder := range uses {
		objects := compiledFolder(t, folder)
		for file, symbols := range objects {
			for _, s := range symbols {
				ours := strings.HasPrefix(s.Name, "gigarank_") || strings.HasPrefix(s.Name, "MPI_") || strings.HasPrefix(s.Name, "PMPI_")
				switch {
				case elf.ST_BIND(s.Info) == elf.STB_LOCAL || !ours && elf.ST_VISIBILITY(s.Other) != elf.STV_HIDDEN:
				case s.Section == elf.SHN_UNDEF:
					used = append(used, use{folder, file, s.Name})
				default:
					defined[s.Name] = file
					if !ours && s.Name != "__dso_handle" {
						t.Errorf("%s defines %s: a name that other files use begins with gigarank_", file, s.Name)
					}
				}
			}
		}
	}
	ofPrograms := declaredIn(files["gigarank.h"])
	for name, file := range files {
		if path.Ext(name) != ".h" || !strings.Contains(name, "/") || name == "rank/interface.h" {
			continue
		}
		for declared := range declaredIn(file) {
			if home, is := defined[declared]; is && headerOf(home) != name {
				t.Errorf("%s declares %s, which %s defines: %s declares it", name, declared, home, headerOf(home))
			} else if source := strings.TrimSuffix(name, ".h") + ".c"; !is && !strings.Contains(files[source].text, declared+"(") { // on arm64 alone
				t.Errorf("%s declares %s, which no file defines", name, declared)
			}
		}
	}
	calls := 0
	for _, u := range used {
		home, is := defined[u.name]
		if !is || !strings.HasPrefix(u.name, "gigarank_") && path.Dir(home) == u.folder {
			continue // a program has it, or mpi.h declares it
		}
		calls++
		if other := path.Dir(home); other != "." && !mayUse(u.folder, other) {
			t.Errorf("%s uses %s, which is in %s: files in %s may use functions of %s, and call others by way of rank/hooks.h", u.file, u.name, home, u.folder, uses[u.folder])
		}
		if strings.HasPrefix(u.name, "gigarank_") && !ofPrograms[u.name] && !declaredIn(files[headerOf(home)])[u.name] {
			t.Errorf("%s uses %s: %s does not declare it", u.file, u.name, headerOf(home))
		}
	}
	ofMPI := map[string]map[string]bool{} // calls of functions of MPI, too, whose declarations are in mpi.h
	for _, u := range used {
		if home := defined[u.name]; u.folder == "mpi" && path.Dir(home) == "mpi" {
			if ofMPI[u.file] == nil {
				ofMPI[u.file] = map[string]bool{}
			}
			ofMPI[u.file][home] = true
		}
	}
	if found := inCircles(ofMPI); len(found) > 0 || len(ofMPI) < 20 {
		t.Errorf("of %d files in mpi that call other files there, %s call each other in a circle", len(ofMPI), found)
	}
	if calls < 300 {
		t.Errorf("only %d uses of other files' functions were found", calls)
	}
}

// compiledFolder compiles the sources of a folder of the runtime. It returns the symbols of each object, by source.
func compiledFolder(t *testing.T, folder string) map[string][]elf.Symbol {
	files := slices.Concat(sourcesOf(t, folder, ".c"), sourcesOf(t, folder, ".S"))
	if len(files) == 0 {
		return nil
	}
	root, err := filepath.Abs("runtime")
	if err != nil {
		t.Fatal(err)
	}
	dir, all := t.TempDir(), map[string][]elf.Symbol{}
	arguments := []string{"-std=gnu11", "-fPIC", "-c", "-I" + root, "-I" + filepath.Join(root, "include")}
	for _, file := range files {
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, file)
	}
	compiler := exec.Command(Compiler(), arguments...)
	compiler.Dir = dir
	if text, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, file := range files {
		base := filepath.Base(file)
		object, err := elf.Open(filepath.Join(dir, strings.TrimSuffix(base, path.Ext(base))+".o"))
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := object.Symbols()
		_ = object.Close()
		if err != nil {
			t.Fatal(err)
		}
		all[path.Join(folder, base)] = symbols
	}
	return all
}
