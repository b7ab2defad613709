//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// Weights that are found twice are the same within a tenth, for each task of more than a hundredth of the time, and beside a core that is busy, too. A line of least squares goes
// through the mean of an entry, which is compared. Other work on the machine may disturb a run: two of six must agree.
func TestWeighTwice(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "stencil")
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute([]string{"cc", "--skeleton", "-O2", filepath.Join("..", "..", "mpivirt", "native", "skeleton", "ir", "testdata", "stencil.c"), "-o", program}, c); code != terminal.ExitDone {
		t.Fatalf("%s%s", stdout, stderr)
	}
	d, err := skeleton.Describe(program)
	if err != nil {
		t.Fatal(err)
	}
	s := &skeletonRuns{arguments: []string{"300"}, rounds: 3}
	observe := func() []skeleton.Observed {
		t.Helper()
		runs, err := s.observe(c, program, []int64{4}, d)
		if err != nil {
			t.Fatal(err)
		}
		return runs[0].Tasks
	}
	for _, busy := range []bool{false, true} {
		var ends atomic.Bool
		for range runtime.NumCPU() - 1 {
			go func() {
				for busy && !ends.Load() {
				}
			}()
		}
		all := [][]skeleton.Observed{observe()}
		for len(all) < 6 && !agree(all) {
			all = append(all, observe())
		}
		ends.Store(true)
		if !agree(all) {
			t.Errorf("busy %t: no two of %d runs have the same weights: %+v", busy, len(all), all)
		}
	}
}

// Without a number of rounds a program is run up to nine times, and no more once two seconds have passed.
func TestRoundsOfWeigh(t *testing.T) {
	for _, c := range []struct {
		asked, done int
		took        time.Duration
		want        bool
	}{
		{0, 0, 0, true}, {0, 0, time.Hour, true}, {0, 1, time.Second, true}, {0, 1, 2 * time.Second, false}, {0, 8, time.Second, true}, {0, 9, time.Second, false},
		{1, 0, 0, true}, {1, 1, 0, false}, {20, 19, time.Hour, true}, {20, 20, 0, false},
	} {
		if got := (&skeletonRuns{rounds: c.asked}).goesOn(c.done, c.took); got != c.want {
			t.Errorf("%d rounds, %d done in %v: another follows: %v", c.asked, c.done, c.took, got)
		}
	}
}

// Weights that are found beside memory of other ranks, and those of several rounds, are of the same entries, and their file says what was beside.
func TestWeighBeside(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program, file := filepath.Join(dir, "stencil"), filepath.Join(dir, "weights")
	c, stdout, stderr := terminaltest.Console(nil)
	do := func(code int, words ...string) {
		t.Helper()
		if got := execute(words, c); got != code {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", words, got, code, stdout, stderr)
		}
	}
	do(terminal.ExitDone, "cc", "--skeleton", "-O2", filepath.Join("..", "..", "mpivirt", "native", "skeleton", "ir", "testdata", "stencil.c"), "-o", program)
	for _, beside := range []string{"0", "-1MiB", "much", "65GiB"} {
		do(terminal.ExitUsage, "skeleton", "weigh", program, "--beside="+beside, "-o", file)
	}
	for _, rounds := range []string{"0", "-1", "1001", "few"} {
		do(terminal.ExitUsage, "skeleton", "weigh", program, "--rounds="+rounds, "-o", file)
	}
	d, err := skeleton.Describe(program)
	if err != nil {
		t.Fatal(err)
	}
	var entries [2][]int64 // of one run
	for n, flags := range [][]string{{"--rounds", "2"}, {"--beside", "2MiB"}} {
		do(terminal.ExitDone, append([]string{"skeleton", "weigh", program, "-o", file}, flags...)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := d.ReadWeights(text)
		if err != nil {
			t.Fatal(err)
		}
		if w.Beside != int64(n)*2<<20 {
			t.Errorf("%q: the file has %d bytes beside", flags, w.Beside)
		}
		for _, task := range w.Tasks {
			entries[n] = append(entries[n], task.Entries)
		}
	}
	if !slices.Equal(entries[0], entries[1]) || len(entries[0]) == 0 {
		t.Errorf("entries of tasks are %d, and %d beside other memory", entries[0], entries[1])
	}
}

// agree reports whether two of several runs have the same times of an entry of each task that matters.
func agree(all [][]skeleton.Observed) bool {
	for i, a := range all {
		for _, b := range all[:i] {
			if differ(a, b) <= 0.1 {
				return true
			}
		}
	}
	return false
}

// differ returns the greatest difference of the times of an entry, as a part of them, over tasks with a hundredth of the time of all.
func differ(a, b []skeleton.Observed) (most float64) {
	var sum float64
	for _, o := range a {
		sum += o.Y
	}
	for n := range a {
		if x, y := a[n].Y/float64(max(a[n].Entries, 1)), b[n].Y/float64(max(b[n].Entries, 1)); a[n].Y >= 0.01*sum {
			most = max(most, max(x, y)/min(x, y)-1)
		}
	}
	return most
}
