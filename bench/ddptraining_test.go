package bench_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/internal/noise"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// tinyModel takes 100, 200, 0 and 50 operations forward, and has gradients of 40, 160 and 20 bytes in single precision.
const tinyModel = `name: tiny
layers:
  - {name: in, parameters: 10, flops: 100}
  - {name: hidden, parameters: 40, flops: 200}
  - {name: activation, parameters: 0, flops: 0}
  - {name: out, parameters: 5, flops: 50}
`

// trainingWith returns the options that arguments give. MODEL is tinyModel, and no file is read.
func trainingWith(arguments ...string) any { return trainingOf(tinyModel, arguments...) }

func trainingOf(model string, arguments ...string) any {
	e, err := bench.Lookup("ddptraining")
	if err != nil {
		panic(err)
	}
	own, faults := e.ReadArguments(arguments, func(name string) ([]byte, error) {
		if name == "MODEL" {
			return []byte(model), nil
		}
		return nil, os.ErrNotExist
	})
	if faults != nil {
		panic(fmt.Sprint(faults))
	}
	return own
}

// recorded returns the recorded times of a step by name.
func recorded(t testing.TB, r *mpivirt.Result, index int) map[string]mpivirt.Iteration {
	t.Helper()
	times := map[string]mpivirt.Iteration{}
	for _, it := range r.Iterations {
		if it.Index == index {
			times[it.Operation] = it
		}
	}
	if len(times) != 3 {
		t.Fatalf("step %d has the times %v", index, times)
	}
	return times
}

// With 1 GFLOP/s, all of it reached, 3 samples take 1.05 us forward and twice that backward. The optimiser moves 28 bytes of
// each of 55 parameters at 1 GB/s: 1.54 us.
const (
	tinyForward   = 3 * 350 * vtime.Nanosecond
	tinyBackward  = 2 * tinyForward
	tinyOptimizer = 55 * 28 * vtime.Nanosecond
	tinyComputing = tinyForward + tinyBackward + tinyOptimizer
)

var tinySpeed = []string{"model=MODEL", "flops=1GFLOP/s", "efficiency=100%", "memory=1GB/s", "batch=3"}

// A rank on its own sends nothing: a step is its computing, to the picosecond, and so are steps after a time for input.
func TestTrainingAloneComputesOnly(t *testing.T) {
	for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
		for _, input := range []vtime.Duration{0, 7 * vtime.Microsecond} {
			c := bench.Config{Options: bench.Options{Iterations: 2, Compute: input, Own: trainingWith(tinySpeed...)}}
			c.Kind = kind
			r := run(t, "ddptraining", flat, 1, 1, c)
			expectEnd(t, r, 2*(input+tinyComputing))
			for i := range 2 {
				if times := recorded(t, r, i); times["step"].Max != input+tinyComputing || times["communication"].Max != 0 || times["exposed"].Max != 0 {
					t.Errorf("%v: %v", kind, times)
				}
			}
		}
	}
}

// A network of no cost, a picosecond for a message, exposes no more than the messages of the last allreduce.
func TestTrainingOnANetworkOfNoCost(t *testing.T) {
	const free = "name: free\nnetwork: {model: flat, latency: 1ps, bandwidth: infinite}\n"
	for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
		c := bench.Config{Options: bench.Options{Own: trainingWith(tinySpeed...)}}
		c.Kind = kind
		c.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: collectives.RecursiveDoubling}
		r := run(t, "ddptraining", free, 8, 2, c)
		if times := recorded(t, r, 0); times["step"].Min != tinyComputing+3 || times["step"].Max != tinyComputing+3 || times["exposed"].Max != 3 {
			t.Errorf("%v: %v, want %v and three picoseconds", kind, times, tinyComputing)
		}
	}
}

// trainingCase is a random model on a random machine.
type trainingCase struct {
	model         string
	layers        []struct{ parameters, flops int64 } // in the order of the file
	batch         int64
	bucket, first int64
	ranks, steps  int
}

func drawTraining(t *rapid.T) (c trainingCase) {
	var text strings.Builder
	text.WriteString("name: random\nlayers:\n")
	c.layers = make([]struct{ parameters, flops int64 }, rapid.IntRange(1, 12).Draw(t, "layers"))
	for i := range c.layers {
		l := &c.layers[i]
		l.parameters, l.flops = rapid.Int64Range(0, 500).Draw(t, "parameters"), rapid.Int64Range(0, 900).Draw(t, "flops")
		if i == len(c.layers)/2 {
			l.parameters++ // a model has gradients
		}
		fmt.Fprintf(&text, "  - {name: l%d, parameters: %d, flops: %d}\n", i, l.parameters, l.flops)
	}
	c.model = text.String()
	c.batch, c.bucket, c.first = rapid.Int64Range(1, 20).Draw(t, "batch"), rapid.Int64Range(1, 3000).Draw(t, "bucket"), rapid.Int64Range(1, 3000).Draw(t, "first")
	c.ranks, c.steps = rapid.IntRange(1, 20).Draw(t, "ranks"), rapid.IntRange(1, 3).Draw(t, "steps")
	return c
}

func (c trainingCase) options() bench.Options {
	return bench.Options{Iterations: c.steps, Own: trainingOf(c.model, "model=MODEL", "flops=1G", "efficiency=1", "memory=1GB/s",
		fmt.Sprint("batch=", c.batch), fmt.Sprint("bucket=", c.bucket), fmt.Sprint("first=", c.first))}
}

// twin returns computing and the buckets by their definition: layer by layer from the last to the first, a bucket is full with the layer
// by which it reaches its limit.
func (c trainingCase) twin() (computing, backwardEnd vtime.Duration, bytes []int64, ready []vtime.Duration) {
	for _, l := range c.layers {
		backwardEnd += vtime.Duration(l.flops*c.batch) * vtime.Nanosecond
		computing += vtime.Duration(28*l.parameters) * vtime.Nanosecond
	}
	var filling int64
	var at vtime.Duration
	limit := c.first
	for i := len(c.layers) - 1; i >= 0; i-- {
		l := c.layers[i]
		backwardEnd += vtime.Duration(2*l.flops*c.batch) * vtime.Nanosecond
		if l.parameters > 0 {
			filling, at = filling+4*l.parameters, backwardEnd
		}
		if filling >= limit {
			bytes, ready = append(bytes, filling), append(ready, at)
			filling, limit = 0, c.bucket
		}
	}
	if filling > 0 {
		bytes, ready = append(bytes, filling), append(ready, at)
	}
	return computing + backwardEnd, backwardEnd, bytes, ready
}

// On a machine where ranks leave an allreduce together, a step follows from its closed form: an allreduce begins once its bucket is ready and
// the one before is over.
func TestTrainingFollowsItsTwin(t *testing.T) {
	cost := collectives.Cost{Alpha: vtime.Microsecond, Beta: func(n int64) vtime.Duration { return vtime.Duration(n) * vtime.Nanosecond }}
	rapid.Check(t, func(rt *rapid.T) {
		c := drawTraining(rt)
		c.ranks = 1 << rapid.IntRange(1, 4).Draw(rt, "power") // where recursive doubling has no folding
		kind := rapid.SampledFrom([]*mpivirt.Kind{mpivirt.Goroutine, steps.Kind}).Draw(rt, "kind")
		config := bench.Config{Options: c.options()}
		config.Kind = kind
		config.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: collectives.RecursiveDoubling}
		r := run(t, "ddptraining", flat, c.ranks, 1+c.ranks%2, config)
		computing, backwardEnd, bytes, ready := c.twin()
		over, communication := vtime.Duration(0), vtime.Duration(0)
		for i, n := range bytes {
			d, ok := collectives.ClosedForm(collectives.Allreduce, collectives.RecursiveDoubling, c.ranks, n, 1, cost)
			if !ok {
				rt.Fatal("recursive doubling has no closed form")
			}
			over, communication = max(over, ready[i])+d, communication+d
		}
		exposed := max(over-backwardEnd, 0)
		for i := range c.steps {
			for name, want := range map[string]vtime.Duration{"step": computing + exposed, "communication": communication, "exposed": exposed} {
				if got := recorded(t, r, i)[name]; got.Min != want || got.Max != want {
					rt.Fatalf("%d ranks, step %d: %s takes %v to %v, want %v", c.ranks, i, name, got.Min, got.Max, want)
				}
			}
		}
	})
}

// On any machine a step takes its computing and what is exposed, to the picosecond, and no more is exposed than communicated. With one
// bucket for all gradients nothing overlaps but layers without gradients at the end of backward.
func TestTrainingExposesAtMostItsCommunication(t *testing.T) {
	machines := append([]string{"dgx-h100", "frontier", "leonardo"}, flat, boards, jittered, "xt5", "gigabit-star", "loggops-default")
	rapid.Check(t, func(rt *rapid.T) {
		c, machine := drawTraining(rt), rapid.SampledFrom(machines).Draw(rt, "machine")
		if rapid.Bool().Draw(rt, "whole") {
			c.first = 1 << 40
		}
		config := bench.Config{Options: c.options()}
		config.Options.NoContents = rapid.Bool().Draw(rt, "no contents")
		config.Kind = rapid.SampledFrom([]*mpivirt.Kind{mpivirt.Goroutine, steps.Kind}).Draw(rt, "kind")
		r := run(t, "ddptraining", machine, c.ranks, 1, config)
		computing, backwardEnd, bytes, ready := c.twin()
		for i := range c.steps {
			times := recorded(t, r, i)
			step, communication, exposed := times["step"], times["communication"], times["exposed"]
			if step.Min != computing+exposed.Min || step.Max != computing+exposed.Max {
				rt.Errorf("%s: a step takes %v to %v; computing %v, exposed %v to %v", machine, step.Min, step.Max, computing, exposed.Min, exposed.Max)
			}
			if exposed.Min > communication.Min || exposed.Max > communication.Max {
				rt.Errorf("%s: exposed are %v to %v of %v to %v", machine, exposed.Min, exposed.Max, communication.Min, communication.Max)
			}
			if idle := backwardEnd - ready[0]; len(bytes) == 1 && communication.Min >= idle && (exposed.Min != communication.Min-idle || exposed.Max != communication.Max-idle) {
				rt.Errorf("%s: one bucket, of %v to %v exposed are %v to %v beyond %v", machine, communication.Min, communication.Max, exposed.Min, exposed.Max, idle)
			}
		}
	})
}

// Figures follow from the times: of the slowest rank, in the mean over steps.
func TestTrainingFigures(t *testing.T) {
	e, err := bench.Lookup("ddptraining")
	if err != nil {
		t.Fatal(err)
	}
	o := bench.Options{Iterations: 2, Own: trainingWith(tinySpeed...)}
	it := func(i int, name string, most vtime.Duration) mpivirt.Iteration {
		return mpivirt.Iteration{Index: i, Operation: name, Max: most}
	}
	got := e.Figures(o, 10, []mpivirt.Iteration{
		it(0, "step", tinyComputing+vtime.Microsecond), it(0, "communication", 3*vtime.Microsecond), it(0, "exposed", vtime.Microsecond),
		it(1, "step", tinyComputing+3*vtime.Microsecond), it(1, "communication", 5*vtime.Microsecond), it(1, "exposed", 3*vtime.Microsecond),
	})
	step := tinyComputing + 2*vtime.Microsecond
	want := []bench.Figure{
		{Name: "time of a step", Value: float64(step), Unit: "ps"}, {Name: "computing", Value: float64(tinyComputing), Unit: "ps"},
		{Name: "communication", Value: 4e6, Unit: "ps"}, {Name: "exposed communication", Value: 2e6, Unit: "ps"},
		{Name: "scaling efficiency", Value: float64(tinyComputing) / float64(step)}, {Name: "throughput", Value: 30 / step.Seconds(), Unit: "samples/s"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := e.Figures(o, 10, nil); got != nil {
		t.Errorf("without steps: %v", got)
	}
}

// Arguments that are wrong are all named at once.
func TestTrainingNamesAllFaults(t *testing.T) {
	e, err := bench.Lookup("ddptraining")
	if err != nil {
		t.Fatal(err)
	}
	_, faults := e.ReadArguments([]string{"modle=x", "batch=0", "efficiency=2", "flops=3q", "memory=0", "bucket=-1", "first=1", "first=2", "bert", "model=bert"}, nil)
	for _, want := range []string{`"modle": did you mean model?`, "batch: 0", `efficiency: "2"`, `flops: "3q"`, `memory: "0"`, `bucket: "-1"`, "first is given twice", `"bert" is not NAME=VALUE`,
		"did you mean bert-large?"} {
		if !strings.Contains(fmt.Sprint(faults), want) {
			t.Errorf("%v do not say %q", faults, want)
		}
	}
	described, err := noise.Parse("periodic:50us,5us", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := bench.Config{}
	c.Noise = described.Seeded(1)
	if _, err := bench.New("ddptraining", c); err == nil || !strings.Contains(err.Error(), "no noise") {
		t.Errorf("with noise: %v", err)
	}
	for _, c := range []struct {
		o    bench.Options
		want string
	}{
		{bench.Options{Payload: 8}, "the model gives the sizes"},
		{bench.Options{Own: trainingWith("model=gpt3-175b", "batch=1M", "flops=1")}, "a step computes for more than"},
	} {
		if _, err := bench.New("ddptraining", bench.Config{Options: c.o}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}
