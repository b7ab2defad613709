package bench_test

import (
	"os"
	"testing"

	"gigarank/bench"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/sync"
)

// machine lays out a preset machine or one given as YAML text.
func machine(name string, ranks int) (*network.Target, error) {
	m, err := network.Load(name, os.ReadFile)
	if err != nil {
		if m, err = network.Parse("test", []byte(name), nil); err != nil {
			return nil, err
		}
	}
	return m.Target(int64(ranks))
}

// prepare makes the simulation of a program on a machine, with several engines of
// this process.
func prepare(t testing.TB, program, target string, ranks, engines int, c bench.Config) bench.Simulation {
	t.Helper()
	var err error
	if c.Target, err = machine(target, ranks); err != nil {
		t.Fatal(err)
	}
	c.Transports = sync.NewInProcess(engines)
	s, err := bench.New(program, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// try prepares a program and runs it.
func try(t testing.TB, program, target string, ranks, engines int, c bench.Config) (*mpivirt.Result, error) {
	t.Helper()
	return prepare(t, program, target, ranks, engines, c).Run()
}

// run is try for a run that must succeed.
func run(t testing.TB, program, target string, ranks, engines int, c bench.Config) *mpivirt.Result {
	t.Helper()
	r, err := try(t, program, target, ranks, engines, c)
	if err != nil {
		t.Fatalf("%s with %d ranks on %d engines: %v", program, ranks, engines, err)
	}
	return r
}
