//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/network"
	"gigarank/sync"
)

// needLLVM skips a test where LLVM's programs are not there.
func needLLVM(t *testing.T) {
	t.Helper()
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
}

// build builds a program with its skeleton from a text in C or a file, and returns its path, or why it is refused.
func build(t *testing.T, source string, flags ...string) (program, refusal string) {
	t.Helper()
	dir := t.TempDir()
	file := source
	if strings.Contains(source, "\n") {
		file = filepath.Join(dir, "program.c")
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "program")
	var printed bytes.Buffer
	arguments := append([]string{skeleton.Flag, "-O2", file, "-o", program, "-lm"}, flags...)
	code, err := skeleton.Wrap(toolchain.C, arguments, nil, &printed, &printed)
	if err != nil {
		t.Fatal(err)
	}
	if code == 0 {
		return program, ""
	}
	if _, err := os.Stat(program); err == nil {
		t.Error("a build that is refused leaves a program")
	}
	if code != 2 {
		t.Fatalf("exit code %d:\n%s", code, &printed)
	}
	return "", printed.String()
}

// run simulates a program and returns its fingerprint, and its failure as a text.
func run(t *testing.T, program string, ranks, engines int, stacks native.Stacks, arguments ...string) string {
	t.Helper()
	return simulate(t, program, ranks, engines, native.Options{Stack: 256 << 10, Stacks: stacks}, arguments...)
}

func simulate(t *testing.T, program string, ranks, engines int, o native.Options, arguments ...string) string {
	t.Helper()
	form, err := native.Open(program, arguments, o)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := network.Load("tianhe-1a", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	target, err := machine.Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	s, err := mpivirt.New(mpivirt.Config{
		Target: target, Program: mpivirt.Program{Name: "program", Forms: []mpivirt.Form{form}},
		Transports: sync.NewInProcess(engines), Output: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.Run()
	if err != nil {
		return strings.ReplaceAll(err.Error(), program, "program")
	}
	return result.Fingerprint
}

// extract returns the path of a program's skeleton, which is removed after the test.
func extract(t *testing.T, program string) string {
	t.Helper()
	path, err := skeleton.Extract(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(path)) })
	return path
}

// verify compares a program with its skeleton, and both with its timed form, which counts the iterations of tasks as they happen.
func verify(t *testing.T, program string, ranks []int, arguments ...string) (iterations int64) {
	t.Helper()
	path := extract(t, program)
	timed, err := skeleton.ExtractTimed(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(timed)) })
	d, err := skeleton.Describe(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range ranks {
		count := func(form string) (end string, counts map[int][]native.TaskCount) {
			tasks := &native.Tasks{Weights: make([]native.Weight, len(d.Tasks)), ByRank: true}
			end = simulate(t, form, n, 1, native.Options{Stack: 256 << 10, Tasks: tasks}, arguments...)
			return strings.ReplaceAll(end, form, "program"), tasks.Counts()
		}
		want := run(t, program, n, 1, native.Automatic, arguments...)
		got, counts := count(path)
		mid, wanted := count(timed)
		if want != got || want != mid || strings.Contains(want, " ") {
			t.Errorf("%d ranks: the skeleton ends with %s, the timed form with %s, the program with %s", n, got, mid, want)
		}
		if !reflect.DeepEqual(counts, wanted) {
			t.Errorf("%d ranks: the skeleton counts the tasks %v, the timed form %v", n, counts, wanted)
		}
		for _, tasks := range counts {
			for _, c := range tasks {
				iterations += c.Iterations
			}
		}
	}
	return iterations
}

// TestExamplesHaveSkeletons: the skeleton of each example in C makes the same calls.
func TestExamplesHaveSkeletons(t *testing.T) {
	needLLVM(t)
	examples, _ := filepath.Glob("../../../examples/c/*.c")
	if len(examples) < 5 {
		t.Fatal("there are no examples")
	}
	for _, example := range append(examples, "ir/testdata/stencil.c") {
		program, refusal := build(t, example)
		if refusal != "" {
			t.Errorf("%s is refused: %s", example, refusal)
			continue
		}
		verify(t, program, []int{2, 5})
	}
}
