package toolchain

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// uses names, by folder of the runtime, the folders whose headers and functions it may use beside its own. Functions of
// other folders are called by way of the table in rank/hooks.h, which hooks.c fills.
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

// A file of the runtime includes headers of its own folder, of those below it and of programs.
func TestIncludesByFolder(t *testing.T) {
	quoted := regexp.MustCompile(`(?m)^#include "(.*)"$`)
	included := 0
	for folder := range uses {
		for _, file := range slices.Concat(sourcesOf(t, folder, ".c"), sourcesOf(t, folder, ".h"), sourcesOf(t, folder, ".cc")) {
			text, err := sources.ReadFile(filepath.ToSlash(file))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
				other, _, in := strings.Cut(m[1], "/")
				if !in {
					other = "include"
				}
				if included++; !mayUse(folder, other) {
					t.Errorf("%s includes %s: files in %s may include headers of %s, and call other functions by way of rank/hooks.h", file, m[1], folder, uses[folder])
				}
			}
		}
	}
	if included < 100 {
		t.Errorf("only %d includes were found", included)
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

// A file of the runtime uses functions and variables of its own folder and of those below it. Those by which the C library
// knows a function of the runtime are the C library's for others. Names of the runtime that only its files see begin with gigarank_.
func TestCallsByFolder(t *testing.T) {
	t.Parallel() // most of its time is the compiler's
	type use struct{ file, name string }
	defined := map[string]string{} // folder by name
	used := map[string][]use{}     // by folder
	for folder := range uses {
		files := slices.Concat(sourcesOf(t, folder, ".c"), sourcesOf(t, folder, ".S"))
		dir := t.TempDir()
		for i, file := range files {
			files[i], _ = filepath.Abs(file)
		}
		if len(files) == 0 {
			continue
		}
		root, err := filepath.Abs("runtime")
		if err != nil {
			t.Fatal(err)
		}
		compiler := exec.Command(Compiler(), slices.Concat([]string{"-std=gnu11", "-fPIC", "-c", "-I" + root, "-I" + filepath.Join(root, "include")}, files)...)
		compiler.Dir = dir
		if text, err := compiler.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		objects, err := filepath.Glob(filepath.Join(dir, "*.o"))
		if err != nil || len(objects) != len(files) {
			t.Fatalf("%d objects of %d files: %v", len(objects), len(files), err)
		}
		for _, object := range objects {
			file, err := elf.Open(object)
			if err != nil {
				t.Fatal(err)
			}
			symbols, err := file.Symbols()
			_ = file.Close()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range symbols {
				own := elf.ST_VISIBILITY(s.Other) == elf.STV_HIDDEN || strings.HasPrefix(s.Name, "gigarank_") || strings.HasPrefix(s.Name, "MPI_") || strings.HasPrefix(s.Name, "PMPI_")
				switch {
				case elf.ST_BIND(s.Info) == elf.STB_LOCAL || !own:
				case s.Section == elf.SHN_UNDEF:
					used[folder] = append(used[folder], use{strings.TrimSuffix(filepath.Base(object), ".o"), s.Name})
				default:
					defined[s.Name] = folder
					if !strings.HasPrefix(s.Name, "gigarank_") && !strings.HasPrefix(s.Name, "MPI_") && !strings.HasPrefix(s.Name, "PMPI_") && s.Name != "__dso_handle" {
						t.Errorf("%s in %s defines %s: a name that other files use begins with gigarank_", filepath.Base(object), folder, s.Name)
					}
				}
			}
		}
	}
	calls := 0
	for folder, all := range used {
		for _, u := range all {
			other, is := defined[u.name]
			if !is || other == "." {
				continue // a program has it, or it is the table
			}
			if calls++; !mayUse(folder, other) {
				t.Errorf("%s in %s uses %s, which is in %s: files there may use what is in %s, and call other functions by way of rank/hooks.h", u.file, folder, u.name, other, uses[folder])
			}
		}
	}
	if calls < 300 {
		t.Errorf("only %d uses of other files' functions were found", calls)
	}
}
