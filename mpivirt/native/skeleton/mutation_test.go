//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// subject is a program from whose skeleton stores are removed.
type subject struct {
	name       string
	language   toolchain.Language
	sources    []string // files, also of bitcode
	directives string
	arguments  []string // of its runs
	others     []string // of further runs, for what passes
	ranks      []int
	otherRanks []int // of these runs
}

// subjects returns programs of the tests in both languages, and random programs. $GIGARANK_SUBJECT names files of a program in Fortran, as sources or objects with bitcode, that
// takes their place, with its directives in the file with the name of the first and its input in the working directory. $GIGARANK_RANKS has its numbers of ranks: 1,4,9 and, for what
// passes, others behind a slash.
func subjects(t *testing.T, random int) (all []subject) {
	t.Helper()
	if files := filepath.SplitList(os.Getenv("GIGARANK_SUBJECT")); len(files) > 0 {
		one := subject{name: filepath.Base(files[0]), language: toolchain.Fortran, sources: files, ranks: []int{1, 2, 4}, otherRanks: []int{8}}
		if text := os.Getenv("GIGARANK_RANKS"); text != "" {
			first, further, _ := strings.Cut(text, "/")
			one.ranks, one.otherRanks = numbers(t, first), numbers(t, further)
		}
		if file := strings.TrimSuffix(files[0], filepath.Ext(files[0])) + ".directives"; exists(file) {
			one.directives = file
		}
		return []subject{one}
	}
	ranks, others := []int{1, 2, 6}, []int{3, 8}
	all = append(all, subject{name: "stencil", language: toolchain.C, sources: []string{"ir/testdata/stencil.c"}, arguments: []string{"9"}, others: []string{"20"}, ranks: ranks, otherRanks: others})
	if skeleton.Missing(toolchain.Fortran) == nil {
		for name, size := range map[string]string{"tomcatv": "24", "wavefront": "12", "modules": "20"} {
			one := subject{name: name, language: toolchain.Fortran, sources: []string{"testdata/" + name + ".f90"}, arguments: []string{size}, others: []string{"36"}, ranks: ranks, otherRanks: others}
			if file := "testdata/" + name + ".directives"; exists(file) {
				one.directives = file
			}
			all = append(all, one)
		}
	}
	for seed := range uint64(random) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), shown: true}
		file := filepath.Join(t.TempDir(), "program.c")
		if err := os.WriteFile(file, []byte(g.program()), 0o666); err != nil {
			t.Fatal(err)
		}
		all = append(all, subject{name: fmt.Sprintf("random program %d", seed), language: toolchain.C, sources: []string{file}, ranks: []int{1, 2, 5}, otherRanks: []int{3, 4}})
	}
	slices.SortStableFunc(all, func(a, b subject) int { return strings.Compare(a.name, b.name) })
	return all
}

// numbers returns the numbers of a list with commas.
func numbers(t *testing.T, text string) (all []int) {
	t.Helper()
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// outcome returns how runs of a skeleton end, with the counts of its tasks.
func (p *subject) outcome(t *testing.T, path string, tasks int, numbers []int, arguments []string) string {
	t.Helper()
	var all []string
	for _, ranks := range numbers {
		counts := &native.Tasks{Weights: make([]native.Weight, tasks), ByRank: true}
		end := simulate(t, path, ranks, 1, native.Options{Stack: 256 << 10, Tasks: counts}, arguments...)
		all = append(all, strings.ReplaceAll(end, path, ""), fmt.Sprint(counts.Counts()))
	}
	return fmt.Sprint(all)
}

// TestMutationsAreFound: with a kept store removed, most skeletons take another course or count other iterations. So the
// comparison of fingerprints and counts finds wrong slices. Stores that only write what is there already, or that no rank comes to, cannot be found. What passes
// takes the course of the skeleton with other numbers of ranks and with another input, too. $GIGARANK_SKELETONS is the number of random programs, $GIGARANK_MUTANTS that of stores that are removed of a program.
func TestMutationsAreFound(t *testing.T) {
	needLLVM(t)
	if testing.Short() {
		t.Skip("some programs are built")
	}
	most := 3
	if text := os.Getenv("GIGARANK_MUTANTS"); text != "" {
		most, _ = strconv.Atoi(text)
	}
	removed, found, late := 0, 0, 0
	for _, p := range subjects(t, drawn(t, 2)) {
		text, tasks, err := skeleton.Text(p.language, p.sources, p.directives, t.TempDir())
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		lines := strings.SplitAfter(text, "\n")
		var stores []int
		for n, line := range lines {
			if strings.HasPrefix(line, "  store ") {
				stores = append(stores, n)
			}
		}
		build := func(text, name string) string {
			path := filepath.Join(t.TempDir(), name)
			if err := skeleton.Link(p.language, text, path, t.TempDir()); err != nil {
				t.Fatal(err)
			}
			return path
		}
		whole := build(text, "whole")
		// further are the outcomes of runs that the comparison has not.
		further := func(path string) string {
			text := p.outcome(t, path, tasks, p.otherRanks, p.arguments)
			if p.others != nil {
				text += p.outcome(t, path, tasks, p.ranks, p.others)
			}
			return text
		}
		want, wanted := p.outcome(t, whole, tasks, p.ranks, p.arguments), further(whole)
		r := rand.New(rand.NewPCG(uint64(len(lines)), 5))
		r.Shuffle(len(stores), func(i, j int) { stores[i], stores[j] = stores[j], stores[i] })
		these := 0
		for _, n := range stores[:min(most, len(stores))] {
			removed++
			mutant := build(strings.Join(slices.Delete(slices.Clone(lines), n, n+1), ""), "mutant")
			if p.outcome(t, mutant, tasks, p.ranks, p.arguments) != want {
				these++
				continue
			}
			if further(mutant) != wanted {
				late++
				t.Logf("%s: without %q the skeleton passes, and differs with %d ranks or the arguments %q", p.name, strings.TrimSpace(lines[n]), p.otherRanks, p.others)
			}
		}
		found += these
		t.Logf("%s: %d of %d removed stores are found", p.name, these, min(most, len(stores)))
	}
	t.Logf("%d of %d removed stores are found, %d are seen with other numbers of ranks or inputs alone", found, removed, late)
	if late > 0 {
		t.Errorf("%d removed stores are seen with other numbers of ranks or inputs alone", late)
	}
	if removed < 3 || found*10 < removed*6 {
		t.Errorf("%d of %d removed stores are found", found, removed)
	}
}
