//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/sync"
)

// examples are the programs in examples/c, with arguments that make them short.
var examples = []struct {
	name      string
	arguments []string
	prints    string // among others, on 5 ranks
	alike     bool   // package bench has the same program in Go
}{
	{"barriertest", nil, "10 barriers of 5 ranks\n", true},
	{"allreducetest", []string{"3", "100"}, "3 sums of 100 doubles over 5 ranks\n", false},
	{"ring_blocking", nil, "10 rounds of 5 hops\n", true},
	{"ring_nonblocking", nil, "10 messages from each of 5 ranks\n", true},
	{"deadlock_fix", nil, "10 exchanges in each of 2 pairs\n", true},
	{"picalc", nil, "pi is 3.1415926536 with 100000 intervals\n", true},
	{"matmul", nil, "the product of two matrices of 64 rows is right\n", true},
	{"mpiping", []string{"65536", "3"}, "3 messages of 8 bytes came back to each rank\n", false},
}

func exampleSource(name string) string {
	return filepath.Join("..", "..", "examples", "c", name+".c")
}

// buildExample builds an example.
func buildExample(t *testing.T, name string) string {
	return build(t, filepath.Join("..", exampleSource(name)))
}

// The examples print what they should, however they are hosted.
func TestExamples(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			lines := everywhere(t, buildExample(t, e.name), 5, e.arguments...)
			if !slices.Contains(lines, e.prints) {
				t.Errorf("printed\n%s, want %q", strings.Join(lines, ""), e.prints)
			}
		})
	}
}

// exampleInCXX is the example in C++.
var exampleInCXX = filepath.Join("..", "..", "examples", "cxx", "picalc.cc")

func TestExampleInCXX(t *testing.T) {
	lines := everywhere(t, build(t, filepath.Join("..", exampleInCXX)), 5, "1000")
	if want := []string{"pi is 3.1415927369 with 1000 intervals\n"}; !slices.Equal(lines, want) {
		t.Errorf("printed %q, want %q", lines, want)
	}
}

// A program in C takes the same virtual times as the one in Go.
func TestSameTimesAsGo(t *testing.T) {
	for _, e := range examples {
		if !e.alike {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			program := buildExample(t, e.name)
			for _, machine := range []string{"xt5", "tianhe-1a", "gigabit-star", "loggops-default"} {
				for _, ranks := range []int{1, 2, 29} {
					inC, _, err := run(t, program, machine, ranks, hosting{engines: min(2, ranks)})
					if err != nil {
						t.Fatal(err)
					}
					inGo, err := runGo(t, e.name, machine, ranks)
					if err != nil {
						t.Fatal(err)
					}
					if inC.Fingerprint != inGo.Fingerprint || inC.VirtualTime != inGo.VirtualTime {
						t.Errorf("%d ranks on %s: %v and fingerprint %s in C, %v and %s in Go", ranks, machine,
							inC.VirtualTime, inC.Fingerprint, inGo.VirtualTime, inGo.Fingerprint)
					}
				}
			}
		})
	}
}

// runGo runs a program of package bench.
func runGo(t *testing.T, name, machine string, ranks int) (*mpivirt.Result, error) {
	t.Helper()
	loaded, err := network.Load(machine, os.ReadFile)
	if err != nil {
		return nil, err
	}
	target, err := loaded.Target(int64(ranks))
	if err != nil {
		return nil, err
	}
	s, err := bench.New(name, bench.Config{Config: mpivirt.Config{Target: target, Transports: sync.NewInProcess(1), Kind: mpivirt.Goroutine, Seed: 1}})
	if err != nil {
		return nil, err
	}
	return s.Run()
}
