package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	stdsync "sync"

	"gigarank/collectives"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
	"gigarank/internal/training"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// ddptraining is data-parallel training as DistributedDataParallel of PyTorch does it (package [training]). In a step a rank computes
// forward, then backward layer by layer. An allreduce sums the gradients of a bucket up once all of them are there, while backward
// goes on; the optimiser follows the last allreduce.
//
// A rank has two streams. That of computing never waits within forward and backward, so the instants at which buckets are ready are
// arithmetic. That of communication carries out the allreduces one after the other, in the order of the buckets, as the stream of
// NCCL's process group does, and the thread of MPI's process group (torch/csrc/distributed/c10d, ProcessGroupNCCL.cpp and
// ProcessGroupMPI.cpp). The clock of the virtual rank is that of communication: it waits for a bucket, and calls a blocking allreduce. So
// allreduces go on while the rank computes, whatever the machine's rule of progress, and no two share the network.
var ddptraining = Entry{
	Name:      "ddptraining",
	Summary:   "steps of data-parallel training: buckets of gradients are summed up while backward goes on; times of a step, of communication and of its exposed part",
	Defaults:  Options{Iterations: 1},
	Forms:     []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
	Vectors:   true,
	Steady:    "its ranks compute on a stream of their own, which no operating system interrupts",
	Arguments: trainingArguments,
	Read:      func(v Values, readFile func(string) ([]byte, error)) (any, []error) { return readTraining(v, readFile) },
	Build: func(o Options) (mpivirt.Program, error) {
		if o.Payload > 0 {
			return mpivirt.Program{}, errors.New("a payload: the model gives the sizes of buckets, so leave it out")
		}
		p, err := newTrained(o)
		if err != nil {
			return mpivirt.Program{}, err
		}
		return mpivirt.Program{
			Forms: []mpivirt.Form{mpivirt.Main(p.main), steps.Main(func() steps.Program { return steps.New(p.step) })},
		}, nil
	},
	Collectives: func(o Options) (uses []mpivirt.Use) {
		p, err := newTrained(o)
		if err != nil {
			return nil // Build reports it
		}
		at := map[int64]int{}
		for _, b := range p.plan.Buckets {
			i, known := at[b.Bytes]
			if !known {
				i = len(uses)
				at[b.Bytes] = i
				uses = append(uses, mpivirt.Use{Operation: collectives.Allreduce, Bytes: b.Bytes, Element: p.element, Times: o.Iterations})
			}
			uses[i].Calls++
		}
		return uses
	},
	State: func(kind *mpivirt.Kind, _ Options) float64 {
		if kind == steps.Kind {
			return trainedStateSize
		}
		return 0
	},
	Figures: trainingFigures,
}

// trainingArguments are the arguments of ddptraining.
var trainingArguments = []Argument{
	{"model", "model that is trained: a name of gigarank list models, or a file", "resnet-50"},
	{"batch", "samples of a rank in a step", "32"},
	{"flops", "floating-point operations that a rank could do in a second", "989.4T"},
	{"efficiency", "share of them that it does", "0.4"},
	{"memory", "bytes that the optimiser of a rank reads and writes in a second", "3.35TB/s"},
	{"bucket", "bytes of gradients with which a bucket is full", "25MiB"},
	{"first", "bytes of gradients with which the first bucket is full", "1MiB"},
}

// trainingOptions are their values.
type trainingOptions struct {
	model         *training.Model
	batch         int64
	speed, memory *big.Rat // operations and bytes a second
	bucket, first int64
	described     string // operations a second and their share
}

// usualTraining returns the options without arguments.
var usualTraining = stdsync.OnceValue(func() *trainingOptions {
	values := Values{}
	for _, a := range trainingArguments {
		values[a.Name] = a.Default
	}
	t, err := readTraining(values, nil)
	if err != nil {
		panic(fmt.Sprint("bench: the defaults of ddptraining: ", err))
	}
	return t
})

// readTraining reads the arguments, or returns all faults.
func readTraining(v Values, readFile func(string) ([]byte, error)) (*trainingOptions, []error) {
	t, faults := &trainingOptions{described: v["flops"] + " floating-point operations a second, of which " + v["efficiency"] + " are reached"}, []error(nil)
	check := func(name string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	var err error
	t.model, err = training.Load(v["model"], readFile)
	check("model", err)
	t.batch, err = quantity.ParseCount(v["batch"])
	check("batch", cmp.Or(err, within(t.batch, 1, math.MaxInt32)))
	speed, err := perSecond(v["flops"], []string{"FLOP/s", "FLOPS", ""}, "989.4TFLOP/s or 312T")
	check("flops", err)
	share, err := ratio(v["efficiency"])
	check("efficiency", err)
	if speed != nil && share != nil {
		t.speed = speed.Mul(speed, share)
	}
	t.memory, err = perSecond(v["memory"], []string{"B/s", ""}, "3.35TB/s or 900GB/s")
	check("memory", err)
	t.bucket, err = quantity.ParseSize(v["bucket"])
	check("bucket", cmp.Or(err, within(t.bucket, 1, math.MaxInt64)))
	t.first, err = quantity.ParseSize(v["first"])
	check("first", cmp.Or(err, within(t.first, 1, math.MaxInt64)))
	return t, faults
}

func within(n, least, most int64) error {
	if n < least || n > most {
		return fmt.Errorf("%d: use %d to %d", n, least, most)
	}
	return nil
}

// perSecond reads a number of units a second, such as 989.4TFLOP/s.
func perSecond(text string, units []string, examples string) (*big.Rat, error) {
	value, suffix, ok := quantity.Split(strings.TrimSpace(text))
	for _, unit := range units {
		prefix, has := strings.CutSuffix(suffix, unit)
		scale, known := quantity.Prefixes[prefix]
		if prefix == "E" {
			scale, known = 1e18, true
		}
		if ok && has && known && value.Sign() > 0 {
			return value.Mul(value, new(big.Rat).SetInt(new(big.Int).SetUint64(scale))), nil
		}
	}
	return nil, fmt.Errorf("%q is no rate above 0: write one like %s", text, examples)
}

// ratio reads a number above 0, up to 1, such as 0.4 or 40%.
func ratio(text string) (*big.Rat, error) {
	value, suffix, ok := quantity.Split(strings.TrimSpace(text))
	if ok && suffix == "%" {
		value.Quo(value, big.NewRat(100, 1))
	}
	if !ok || suffix != "" && suffix != "%" || value.Sign() == 0 || value.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, fmt.Errorf("%q is no share above 0: write one like 0.4 or 40%%, up to 1", text)
	}
	return value, nil
}

// training returns the program's own options, the defaults if there are none.
func (o Options) training() *trainingOptions {
	if t, ok := o.Own.(*trainingOptions); ok {
		return t
	}
	return usualTraining()
}

// trained is the program with its options. Ranks only read it.
type trained struct {
	Options
	plan    *training.Plan
	element int64 // bytes of a gradient
}

func newTrained(o Options) (*trained, error) {
	t, p := o.training(), &trained{Options: o, element: cmp.Or(o.Datatype, Float).Bytes()}
	var err error
	p.plan, err = training.NewPlan(training.Work{
		Model: t.model, Batch: t.batch, Speed: t.speed, Memory: t.memory, Element: p.element, First: t.first, Limit: t.bucket,
	})
	return p, err
}

// ready returns when the gradients of a bucket are there, counted from the beginning of a step, and that of backward's end
// for the bucket after the last.
func (p *trained) ready(bucket int) vtime.Duration {
	if bucket == len(p.plan.Buckets) {
		return p.Compute.Plus(p.plan.Forward).Plus(p.plan.Backward)
	}
	return p.Compute.Plus(p.plan.Buckets[bucket].Ready)
}

// computing returns the time of a step without communication.
func (p *trained) computing() vtime.Duration { return p.Compute.Plus(p.plan.Computing()) }

// describe returns the lines that rank 0 prints: what a step takes without communication.
func (p *trained) describe() string {
	t, least, most := p.training(), int64(math.MaxInt64), int64(0)
	for _, b := range p.plan.Buckets {
		least, most = min(least, b.Bytes), max(most, b.Bytes)
	}
	return fmt.Sprintf("%s: %d parameters in %s; %s of %d to %d bytes, elements of %d bytes\n", t.model.Name, t.model.Parameters(), spelling.Count(len(t.model.Layers), "layer"),
		spelling.Count(len(p.plan.Buckets), "bucket"), least, most, p.element) +
		fmt.Sprintf("a rank: %s a step; %s\n", spelling.Count(t.batch, "sample"), t.described) +
		fmt.Sprintf("computing: forward %v, backward %v, optimiser %v\n", p.plan.Forward, p.plan.Backward, p.plan.Optimizer)
}

// The names of the recorded times of a step.
const (
	stepTime          = "step"
	communicationTime = "communication" // in allreduces, with the wait for ranks that enter later
	exposedTime       = "exposed"       // while nothing is computed
)

func (p *trained) main(r *mpivirt.Rank) error {
	if r.Rank() == 0 {
		r.Printf("%s", p.describe())
	}
	world := r.World()
	for i := range p.Iterations {
		start, communication := r.Now(), vtime.Duration(0)
		for n, b := range p.plan.Buckets {
			began := max(r.Now(), start.Add(p.ready(n)))
			r.Compute(began.Sub(r.Now()))
			if err := world.CollectiveSizeOf(collectives.Allreduce, b.Bytes, p.element, 0); err != nil {
				return err
			}
			communication += r.Now().Sub(began)
		}
		end := max(r.Now(), start.Add(p.ready(len(p.plan.Buckets)))).Add(p.plan.Optimizer)
		r.Compute(end.Sub(r.Now()))
		p.record(r, i, r.Now().Sub(start), communication.Plus(r.Now().Sub(end)))
	}
	return nil
}

// record records the times of a step. Where messages take time of the processor, it may take some in while the rank computes what
// follows the last allreduce: that is communication, and exposed.
func (p *trained) record(r interface {
	Record(index int, operation string, d vtime.Duration)
}, index int, step, communication vtime.Duration) {
	r.Record(index, stepTime, step)
	r.Record(index, communicationTime, communication)
	r.Record(index, exposedTime, step-p.computing())
}

// trainedState is the state of an event rank.
type trainedState struct {
	start, began  vtime.Time // of the step, and of the allreduce under way or the next one; at last the end of the step
	communication vtime.Duration
	steps         uint32 // that are over
	bucket        uint32 // that is summed up, or the next one
	stage         trainedStage
}

const trainedStateSize = 40

// trainedStage says what an event rank has done last.
type trainedStage uint8

const (
	stepBegins   trainedStage = iota // nothing of the step
	bucketReady                      // it has waited for the gradients of a bucket
	bucketSummed                     // the gradients of a bucket are summed up
	stepOver                         // the step is over
)

// step is main as steps. A step that computes ends there: where messages take time of the processor, the clock is known only then. An
// allreduce begins when its bucket is ready and the one before is over, also if the processor then takes in messages of other ranks.
func (p *trained) step(r *steps.Rank, s *trainedState) steps.Outcome {
	switch s.stage {
	case stepBegins:
		if s.steps == 0 && r.Rank() == 0 {
			r.Printf("%s", p.describe())
		}
		s.start, s.communication, s.bucket, s.stage = r.Now(), 0, 0, bucketReady
		s.began = s.start.Add(p.ready(0))
		r.Compute(p.ready(0))
		return r.Continue()
	case bucketReady:
		s.stage = bucketSummed
		return r.CollectiveSizeOf(collectives.Allreduce, p.plan.Buckets[s.bucket].Bytes, p.element, 0)
	case bucketSummed:
		now := r.Now()
		s.communication += now.Sub(s.began)
		s.bucket++
		wait := s.start.Add(p.ready(int(s.bucket))).Sub(now)
		wait = max(wait, 0)
		if s.stage = bucketReady; int(s.bucket) == len(p.plan.Buckets) {
			wait, s.stage = wait.Plus(p.plan.Optimizer), stepOver
		}
		s.began = now.Add(wait)
		r.Compute(wait)
		return r.Continue()
	default:
		now := r.Now()
		p.record(r, int(s.steps), now.Sub(s.start), s.communication.Plus(now.Sub(s.began)))
		if s.steps++; int(s.steps) == p.Iterations {
			return r.Finish()
		}
		s.stage = stepBegins
		return r.Continue()
	}
}

// trainingFigures returns the times of a step, the slowest rank's in the mean over the steps, and what follows from them. Efficiency is
// the speed over that of as many ranks without communication.
func trainingFigures(o Options, ranks int64, iterations []mpivirt.Iteration) []Figure {
	p, err := newTrained(o)
	if err != nil {
		return nil
	}
	sums, counts := map[string]vtime.Duration{}, map[string]vtime.Duration{}
	for _, it := range iterations {
		sums[it.Operation] += it.Max
		counts[it.Operation]++
	}
	if counts[stepTime] == 0 {
		return nil
	}
	mean := func(name string) vtime.Duration { return sums[name] / counts[name] }
	step, computing := mean(stepTime), p.computing()
	return []Figure{
		{"time of a step", float64(step), "ps"},
		{"computing", float64(computing), "ps"},
		{"communication", float64(mean(communicationTime)), "ps"},
		{"exposed communication", float64(mean(exposedTime)), "ps"},
		{"scaling efficiency", float64(computing) / float64(step), ""},
		{"throughput", float64(ranks) * float64(p.training().batch) / step.Seconds(), "samples/s"},
	}
}
