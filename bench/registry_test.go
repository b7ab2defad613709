package bench_test

import (
	"slices"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// Every program can be listed, has a form, sensible defaults, and exactly one of Build
// and Direct.
func TestProgramsAreWellFormed(t *testing.T) {
	var names []string
	for _, e := range bench.Programs() {
		if e.Name == "" || e.Summary == "" || strings.Contains(e.Summary, "\n") {
			t.Errorf("program %q has the summary %q, want one line", e.Name, e.Summary)
		}
		if len(e.Forms) == 0 {
			t.Errorf("%s has no form", e.Name)
		}
		if (e.Build == nil) == (e.Direct == nil) {
			t.Errorf("%s: want exactly one of Build and Direct", e.Name)
		}
		if d := e.Defaults; d.Iterations < 1 || d.Compute < 0 || d.Payload < 0 {
			t.Errorf("%s has the defaults %+v", e.Name, d)
		}
		found, err := bench.Lookup(e.Name)
		if err != nil || found.Name != e.Name {
			t.Errorf("looking %s up gives %q, %v", e.Name, found.Name, err)
		}
		names = append(names, e.Name)
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(bench.Programs()) {
		t.Errorf("two programs have the same name: %v", names)
	}
}

func TestUnknownProgramIsSuggested(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"barrietest", "did you mean barriertest?"},
		{"barreirtest", "did you mean barriertest?"},
		{"BarrierTest", "did you mean barriertest?"},
		{"barrier", "did you mean barriertest?"},
		{"xyz", `unknown program "xyz": there are: barriertest`},
	} {
		if _, err := bench.Lookup(c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.want)
		}
	}
}

func TestNewNamesAllFaults(t *testing.T) {
	options := bench.Options{Iterations: -1, Compute: -2 * vtime.Second, Payload: -5}
	_, err := bench.New("barriertest", bench.Config{Options: options})
	if err == nil {
		t.Fatal("three options out of range are accepted")
	}
	for _, want := range []string{"-1 iterations", "compute time of -2s", "payload of -5 bytes"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestResolve(t *testing.T) {
	e := bench.Entry{Defaults: bench.Options{Iterations: 10, Compute: vtime.Millisecond, Payload: 8}}
	for _, c := range []struct{ given, want bench.Options }{
		{bench.Options{}, e.Defaults},
		{bench.Options{Iterations: 3}, bench.Options{Iterations: 3, Compute: vtime.Millisecond, Payload: 8}},
		{bench.Options{Compute: bench.None, Payload: bench.None}, bench.Options{Iterations: 10}},
	} {
		if got := e.Resolve(c.given); got != c.want {
			t.Errorf("%+v resolves to %+v, want %+v", c.given, got, c.want)
		}
	}
}

func TestBytesPerRank(t *testing.T) {
	e := bench.Entry{
		Defaults: bench.Options{Payload: 8},
		State:    func(_ *mpivirt.Kind, o bench.Options) float64 { return 2 * float64(o.Payload) },
	}
	event := bench.Config{}
	event.Kind = steps.Kind
	if got := bench.CostOf(e, event, 1).BytesPerRank; got != 8+16 {
		t.Errorf("an event rank with a clock and 16 bytes of state takes %v bytes, want 24", got)
	}
	if got := bench.CostOf(bench.Entry{Forms: []*mpivirt.Kind{mpivirt.Goroutine}}, bench.Config{}, 1).BytesPerRank; got != 3000 {
		t.Errorf("a goroutine rank takes %v bytes, want 3000", got)
	}
}

// A run of one collective that a single engine carries out in bulk has one engine, where several would send each message; runs
// that several engines carry out in bulk, or that send other messages, have several.
func TestOneEngineSuffices(t *testing.T) {
	for _, c := range []struct {
		program, machine string
		op               collectives.Operation
		algorithm        collectives.Algorithm
		engines          int
		want             bool
	}{
		{"barriertest", "loggops-default", collectives.Barrier, collectives.Dissemination, 2, true},
		{"barriertest", "loggops-default", collectives.Barrier, collectives.Dissemination, 1, false},
		{"barriertest", "xt5", collectives.Barrier, collectives.Dissemination, 2, false},
		{"allreducetest", "xt5", collectives.Allreduce, collectives.Ring, 2, false},
		{"allreducetest", "vaced-sim", collectives.Allreduce, collectives.Ring, 2, true},
		{"allreducetest", "vaced-sim", collectives.Allreduce, collectives.Ring, 4096, false},
		{"barriertest", "loggops-default", collectives.Barrier, collectives.Binomial, 2, false},
		{"stencil", "loggops-default", collectives.Allreduce, collectives.RecursiveDoubling, 2, false},
	} {
		e, err := bench.Lookup(c.program)
		if err != nil {
			t.Fatal(err)
		}
		target, err := machine(c.machine, 4096)
		if err != nil {
			t.Fatal(err)
		}
		config := bench.Config{Options: bench.Options{NoContents: true}}
		config.Target, config.Kind = target, steps.Kind
		config.Algorithms = map[collectives.Operation]collectives.Algorithm{c.op: c.algorithm}
		if got := bench.OneEngineSuffices(e, config, c.engines); got != c.want {
			t.Errorf("%s by %v on %s: one engine instead of %d: %v, want %v", c.program, c.algorithm, c.machine, c.engines, got, c.want)
		}
	}
}
