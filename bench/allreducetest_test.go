package bench_test

import (
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
)

// A payload can be checked without the memory for it. One that no process can hold is
// refused.
func TestAllreducePayloadIsOnlyChecked(t *testing.T) {
	e, err := bench.Lookup("allreducetest")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Build(bench.Options{Iterations: 1, Payload: 1 << 46}); err != nil {
		t.Error(err)
	}
	for _, payload := range []int64{1<<46 + 8, 1 << 60, 1<<63 - 8} {
		if _, err := e.Build(bench.Options{Iterations: 1, Payload: payload}); err == nil || !strings.Contains(err.Error(), "use at most 2^46") {
			t.Errorf("%d bytes: %v, want it to say what the most is", payload, err)
		}
	}
}

// The vectors are part of the memory that a run needs, however large they are.
func TestCostOfAllreduce(t *testing.T) {
	e, err := bench.Lookup("allreducetest")
	if err != nil {
		t.Fatal(err)
	}
	target, err := machine("vaced-sim", 12*16)
	if err != nil {
		t.Fatal(err)
	}
	none := bench.CostOf(bench.Entry{}, bench.Config{}, 1).BytesPerEngine // of an engine itself
	for _, payload := range []int64{8, 1 << 40, 1<<63 - 8} {
		c := bench.Config{Options: bench.Options{Payload: payload}}
		c.Kind, c.Target = steps.Kind, target
		// The contributions, the sum and its copy, and one for each level of the tree over
		// 16 nodes and its leaves.
		if got := bench.CostOf(e, c, 1).BytesPerEngine; got-none != 7*float64(payload) {
			t.Errorf("%d bytes: an engine holds %v, want 7 vectors", payload, got)
		}
		c.Kind = mpivirt.Goroutine
		if got := bench.CostOf(e, c, 1).BytesPerRank; got < 2*float64(payload) {
			t.Errorf("%d bytes: a goroutine rank holds %v, want more than 2 vectors", payload, got)
		}
	}
}

// Both forms sum a vector that the algorithm cuts into a block for each rank, also by
// messages between engines. The program checks the sum.
func TestAllreduceOfSeveralBlocks(t *testing.T) {
	for _, a := range collectives.Algorithms(collectives.Allreduce) {
		for _, engines := range []int{1, 2} {
			c := options(2, 8*48)
			c.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a}
			want := run(t, "allreducetest", "xt5", 20, engines, c)
			c.Kind = steps.Kind
			got := run(t, "allreducetest", "xt5", 20, engines, c)
			if err := sameOutcome(got, want); err != nil {
				t.Errorf("%s on %d engines: event ranks: %v", a, engines, err)
			}
		}
	}
}

// Above the eager limit every rank of ring waits in its send. An event rank's message is a copy, that of a
// goroutine rank lies in its own slices. The messages of mpiping are sizes only.
func TestCostOfLongMessages(t *testing.T) {
	const payload, ranks, engines = 1 << 24, 64, 2
	target, err := machine("xt5", ranks)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program     string
		kind        *mpivirt.Kind
		least, most float64 // payloads of a rank
	}{
		{"ring", steps.Kind, 1, 1.1},
		{"ring", mpivirt.Goroutine, 1, 2.1},
		{"mpiping", steps.Kind, 0, 0.1},
		{"mpiping", mpivirt.Goroutine, 0, 0.1},
	} {
		e, err := bench.Lookup(c.program)
		if err != nil {
			t.Fatal(err)
		}
		config := bench.Config{Options: bench.Options{Payload: payload}}
		config.Kind, config.Target = c.kind, target
		if got := bench.CostOf(e, config, engines).BytesPerRank / payload; got < c.least || got > c.most {
			t.Errorf("%s as %v: %.2f payloads a rank, want %v to %v", c.program, c.kind, got, c.least, c.most)
		}
	}
}
