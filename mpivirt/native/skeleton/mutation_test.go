//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/skeleton/ir"
	"gigarank/mpivirt/native/skeleton/slice"
	"gigarank/mpivirt/native/toolchain"
)

// skeletonText returns the text of the skeleton of a program.
func skeletonText(t *testing.T, source string) string {
	t.Helper()
	library, err := toolchain.OpenLibrary()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "program.c")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	compile := slices.Concat([]string{"-O2"}, skeleton.CompileFlags(), []string{"-emit-llvm", "-c", file, "-o", file + ".bc"}, library.Includes(toolchain.C))
	if text, err := exec.Command("clang-19", compile...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := exec.Command("opt-19", "-S", "-internalize-public-api-list="+skeleton.Public, "-passes="+skeleton.Passes, file+".bc").Output()
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.Parse("program", string(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := slice.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Emit(); err != nil {
		t.Fatal(err)
	}
	return m.String()
}

// mostTasks is more than the tasks of any random program.
const mostTasks = 200

// TestMutationsAreFound: with a kept store removed, most skeletons of random programs take another course or count other iterations. So the
// comparison of fingerprints and counts finds wrong slices. Stores that only write what is there already, or that no rank comes to, cannot be found.
func TestMutationsAreFound(t *testing.T) {
	needLLVM(t)
	if testing.Short() {
		t.Skip("some programs are built")
	}
	removed, found := 0, 0
	for seed := range uint64(12) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), shown: true}
		text := skeletonText(t, g.program())
		lines := strings.SplitAfter(text, "\n")
		var stores []int
		for n, line := range lines {
			if strings.HasPrefix(line, "  store ") {
				stores = append(stores, n)
			}
		}
		outcome := func(text, name string) string {
			path := filepath.Join(t.TempDir(), name)
			if err := skeleton.Link(text, path, t.TempDir()); err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, ranks := range []int{1, 2, 5} {
				tasks := &native.Tasks{Weights: make([]native.Weight, mostTasks), ByRank: true}
				end := simulate(t, path, ranks, 1, native.Options{Stack: 256 << 10, Tasks: tasks})
				all = append(all, strings.ReplaceAll(end, path, ""), fmt.Sprint(tasks.Counts()))
			}
			return fmt.Sprint(all)
		}
		want := outcome(text, "whole")
		g.Shuffle(len(stores), func(i, j int) { stores[i], stores[j] = stores[j], stores[i] })
		for _, n := range stores[:min(4, len(stores))] {
			removed++
			if outcome(strings.Join(slices.Delete(slices.Clone(lines), n, n+1), ""), "mutant") != want {
				found++
			}
		}
	}
	t.Logf("%d of %d removed stores are found", found, removed)
	if removed < 10 || found*2 < removed {
		t.Errorf("%d of %d removed stores are found", found, removed)
	}
}
