package bench_test

import (
	"fmt"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
)

// Without contents each program has the virtual results and counts of the program with contents, as ranks of each kind, on one engine
// and on two. Programs that need contents are refused with the reason.
func TestProgramsWithoutContents(t *testing.T) {
	for _, e := range bench.Programs() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			for _, m := range matrixMachines {
				for _, ranks := range []int{1, 2, 29} {
					for _, kind := range e.Forms {
						compareContents(t, e, m.machine, ranks, kind)
					}
				}
			}
		})
	}
}

func compareContents(t *testing.T, e bench.Entry, machine string, ranks int, kind *mpivirt.Kind) {
	t.Helper()
	c := bench.Config{Config: mpivirt.Config{Kind: kind, Seed: 7, Activities: e.Direct == nil}, Options: small(e.Name)}
	plain, plainly := try(t, e.Name, machine, ranks, 1, c)
	c.Options.NoContents = true
	if _, err := bench.New(e.Name, c); e.Reads != "" {
		if err == nil || !strings.Contains(err.Error(), e.Reads) {
			t.Errorf("%v", err)
		}
		return
	}
	for _, engines := range []int{1, 2} {
		r, err := try(t, e.Name, machine, ranks, engines, c)
		if (err == nil) != (plainly == nil) {
			t.Fatalf("%s, %d ranks, %v: %v; with contents %v", machine, ranks, kind, err, plainly)
		}
		if err := sameOutcome(r, plain); err != nil {
			t.Errorf("%s, %d ranks, %v, %d engines: %v", machine, ranks, kind, engines, err)
		}
		if r.Statistics.Messages != plain.Statistics.Messages || fmt.Sprint(r.Sent, r.Handed) != fmt.Sprint(plain.Sent, plain.Handed) {
			t.Errorf("%s, %d ranks, %v, %d engines: %d messages, %v, %v; with contents %d, %v, %v", machine, ranks, kind, engines,
				r.Statistics.Messages, r.Sent, r.Handed, plain.Statistics.Messages, plain.Sent, plain.Handed)
		}
	}
}

// An allreduce by each algorithm, with segments where the algorithm takes them, of elements of each datatype, takes the same time
// without contents, over arrays, locally and by messages. Its sums are checked by the program.
func TestAlgorithmsWithoutContents(t *testing.T) {
	for _, a := range collectives.Algorithms(collectives.Allreduce) {
		algorithms := []collectives.Algorithm{a}
		if cut := a.WithSegment(100); cut.Check(collectives.Allreduce) == nil {
			algorithms = append(algorithms, cut)
		}
		for _, a := range algorithms {
			for _, d := range bench.Datatypes() {
				for _, machine := range []string{"xt5", flat, "loggops-default", "leonardo"} {
					c := bench.Config{Config: mpivirt.Config{Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}},
						Options: bench.Options{Iterations: 2, Payload: 1000 * d.Bytes(), Datatype: d}}
					c.Kind = bench.Programs()[1].Forms[int(d)%2]
					if d == bench.Bfloat16 {
						c.Datatype = bench.Short // of as many bytes; numbers of type bf16 are not summed
					}
					plain, err := try(t, "allreducetest", machine, 21, 1, c)
					if err != nil {
						t.Fatalf("%v of %v on %s: %v", a, d, machine, err)
					}
					c.Options.NoContents, c.Datatype = true, d
					for _, engines := range []int{1, 2} {
						r, err := try(t, "allreducetest", machine, 21, engines, c)
						if err == nil {
							err = sameOutcome(r, plain)
						}
						if err != nil {
							t.Errorf("%v of %v on %s, %d engines: %v", a, d, machine, engines, err)
						}
					}
				}
			}
		}
	}
}

// Payloads are whole numbers of elements, of programs with vectors of a datatype that may be chosen.
func TestDatatypes(t *testing.T) {
	for _, c := range []struct {
		program string
		options bench.Options
		want    string // in the error; empty for none
	}{
		{"allreducetest", bench.Options{Payload: 12}, "doubles have 8 bytes"},
		{"allreducetest", bench.Options{Payload: 12, Datatype: bench.Float}, ""},
		{"allreducetest", bench.Options{Payload: 12, Datatype: bench.Int}, ""},
		{"allreducetest", bench.Options{Payload: 14, Datatype: bench.Int}, "ints have 4 bytes"},
		{"bcasttest", bench.Options{Payload: 14, Datatype: bench.Float}, "elements of datatype float have 4 bytes"},
		{"reducescattertest", bench.Options{Payload: 14, Datatype: bench.Short}, ""},
		{"bcasttest", bench.Options{Payload: 14, Datatype: bench.Bfloat16}, ""},
		{"allreducetest", bench.Options{Payload: 14, Datatype: bench.Bfloat16}, "for their sizes alone"},
		{"allreducetest", bench.Options{Payload: 14, Datatype: bench.Bfloat16, NoContents: true}, ""},
		{"ring", bench.Options{Datatype: bench.Float}, "no vectors whose datatype"},
		{"barriertest", bench.Options{Datatype: bench.Float}, "no vectors whose datatype"},
	} {
		if c.want == "" {
			run(t, c.program, "xt5", 5, 1, bench.Config{Options: c.options})
			continue
		}
		if _, err := bench.New(c.program, bench.Config{Options: c.options}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.program, c.options, err, c.want)
		}
	}
	e, err := bench.Lookup("allreducetest")
	if err != nil {
		t.Fatal(err)
	}
	most := int64((1<<24/28 - 1) * 8) // 28 is the sum of 0 to 7
	for ranks, wanted := range map[int64]bool{most: true, most + 1: false} {
		if err := e.CheckDatatype(bench.Options{Datatype: bench.Float}, ranks); (err == nil) != wanted {
			t.Errorf("floats over %d ranks: %v", ranks, err)
		}
	}
	if err := e.CheckDatatype(bench.Options{Datatype: bench.Float, NoContents: true}, most+1); err != nil {
		t.Error(err)
	}
}

// A forecast without contents has no memory for vectors.
func TestForecastsWithoutContents(t *testing.T) {
	e, err := bench.Lookup("allreducetest")
	if err != nil {
		t.Fatal(err)
	}
	target, err := machine("xt5", 1024)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range e.Forms {
		for _, a := range collectives.Algorithms(collectives.Allreduce) {
			c := bench.Config{Config: mpivirt.Config{Target: target, Kind: kind, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}},
				Options: bench.Options{Payload: 8 << 30, NoContents: true}}
			if cost := bench.CostOf(e, c, 2); cost.BytesPerRank > 50_000 || cost.BytesPerEngine > 1<<20 {
				t.Errorf("%v ranks, %v: %+v", kind, a, cost)
			}
		}
	}
}
