package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Pair is a value of both sides, A and B.
type Pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	// Error is B over A, less one; left out if A is 0 and B is not.
	Error *float64 `json:"error,omitempty"`
}

// newPair returns a pair with its error.
func newPair(a, b float64) Pair {
	p := Pair{A: a, B: b}
	if a > 0 {
		e := b/a - 1
		p.Error = &e
	} else if b == 0 {
		p.Error = new(float64)
	}
	return p
}

// Comparison sets two profiles side by side. A is the measured side, or the side that was given first. Times are seconds.
type Comparison struct {
	A     Side `json:"a"`
	B     Side `json:"b"`
	Tasks int  `json:"tasks,omitempty"`
	// Run is the time of the run, InMPI that of all tasks in MPI.
	Run   *Pair `json:"run_s,omitempty"`
	InMPI *Pair `json:"in_mpi_s,omitempty"`
	// MeanTaskError is the mean of the absolute errors of the tasks' times in MPI.
	MeanTaskError *float64       `json:"mean_task_error,omitempty"`
	Functions     []FunctionPair `json:"functions,omitempty"`
	// ByTask has the times in MPI by task.
	ByTask     []Pair          `json:"tasks_in_mpi_s,omitempty"`
	Benchmarks []BenchmarkPair `json:"benchmarks,omitempty"`
	OnlyA      []string        `json:"only_a,omitempty"`
	OnlyB      []string        `json:"only_b,omitempty"`
}

// Side is a side of a comparison.
type Side struct {
	File     string `json:"file"`
	Format   string `json:"format"`
	Measured bool   `json:"measured"`
	Note     string `json:"note,omitempty"`
}

// FunctionPair is the time of all tasks in a function, the calls, and the shares of the time in MPI.
type FunctionPair struct {
	Function string `json:"function"`
	Pair
	CallsA uint64  `json:"calls_a"`
	CallsB uint64  `json:"calls_b"`
	ShareA float64 `json:"share_a"`
	ShareB float64 `json:"share_b"`
}

// BenchmarkPair is the value of a call by size, in seconds or bytes a second.
type BenchmarkPair struct {
	Benchmark string `json:"benchmark"`
	Bytes     int64  `json:"bytes"`
	Rate      bool   `json:"rate,omitempty"`
	Pair
}

// Compare returns both sides where they have the same: functions, tasks, benchmarks.
func Compare(a, b *Profile) (*Comparison, error) {
	if b.Measured && !a.Measured {
		a, b = b, a
	}
	if a.Tasks > 0 && b.Tasks > 0 && a.Tasks != b.Tasks && a.Functions != nil && b.Functions != nil {
		return nil, fmt.Errorf("%s has %d tasks and %s has %d: compare runs of as many", a.File, a.Tasks, b.File, b.Tasks)
	}
	c := &Comparison{A: Side{a.File, a.Format, a.Measured, a.Note}, B: Side{b.File, b.Format, b.Measured, b.Note}}
	if a.Functions != nil && b.Functions != nil {
		c.Tasks = max(a.Tasks, b.Tasks)
		c.profiles(a, b)
	}
	c.benchmarks(a, b)
	if len(c.Functions)+len(c.Benchmarks) == 0 {
		return nil, errors.New(nothingInCommon(a, b))
	}
	return c, nil
}

// nothingInCommon says why two sides cannot be compared, and what to do.
func nothingInCommon(a, b *Profile) string {
	for _, p := range []*Profile{a, b} {
		if !p.Measured && p.Functions == nil && len(p.Benchmarks) == 0 {
			return p.File + " has no statistics: simulate it by gigarank run --stats --json FILE"
		}
	}
	has := func(p *Profile) string {
		var names []string
		for _, f := range p.Functions {
			names = append(names, f.Name)
		}
		for _, bench := range p.Benchmarks {
			names = append(names, bench.String())
		}
		if len(names) > 4 {
			names = append(names[:4], "…")
		}
		return strings.Join(names, ", ")
	}
	text := fmt.Sprintf("%s has %s, and %s has %s: nothing is in both", a.File, has(a), b.File, has(b))
	for _, p := range []*Profile{a, b} {
		if !p.Measured && p.Functions == nil {
			text += "; simulate with --stats for the times of functions"
		}
	}
	return text
}

// profiles compares runs, functions and tasks.
func (c *Comparison) profiles(a, b *Profile) {
	if a.Run > 0 && b.Run > 0 {
		p := newPair(a.Run, b.Run)
		c.Run = &p
	}
	if a.InMPI >= 0 && b.InMPI >= 0 {
		p := newPair(a.InMPI, b.InMPI)
		c.InMPI = &p
	}
	sum := func(p *Profile) (all float64) {
		for _, f := range p.Functions {
			all += f.Seconds
		}
		return all
	}
	share := func(part, whole float64) float64 {
		if whole == 0 {
			return 0
		}
		return part / whole
	}
	ofA, ofB := sum(a), sum(b)
	left := slices.Clone(b.Functions)
	for _, f := range a.Functions {
		at := slices.IndexFunc(left, func(o Function) bool { return strings.EqualFold(o.Name, f.Name) })
		if at < 0 {
			c.OnlyA = append(c.OnlyA, f.Name)
			continue
		}
		o := left[at]
		left = slices.Delete(left, at, at+1)
		c.Functions = append(c.Functions, FunctionPair{Function: f.Name, Pair: newPair(f.Seconds, o.Seconds), CallsA: f.Count, CallsB: o.Count,
			ShareA: share(f.Seconds, ofA), ShareB: share(o.Seconds, ofB)})
	}
	for _, f := range left {
		c.OnlyB = append(c.OnlyB, f.Name)
	}
	slices.SortStableFunc(c.Functions, func(p, q FunctionPair) int {
		switch {
		case p.A > q.A:
			return -1
		case p.A < q.A:
			return 1
		}
		return 0
	})
	if a.ByTask == nil || len(a.ByTask) != len(b.ByTask) {
		return
	}
	mean, counted := 0.0, 0
	for i := range a.ByTask {
		p := newPair(a.ByTask[i], b.ByTask[i])
		if p.Error != nil {
			mean += math.Abs(*p.Error)
			counted++
		}
		c.ByTask = append(c.ByTask, p)
	}
	if counted > 0 {
		mean /= float64(counted)
		c.MeanTaskError = &mean
	}
}

// benchmarks compares the values of calls by size.
func (c *Comparison) benchmarks(a, b *Profile) {
	if len(a.Benchmarks) == 0 || len(b.Benchmarks) == 0 {
		return
	}
	values := map[Benchmark]float64{}
	for _, x := range b.Benchmarks {
		key := x
		key.Value = 0
		values[key] = x.Value
	}
	for _, x := range a.Benchmarks {
		key := x
		key.Value = 0
		if v, known := values[key]; known {
			c.Benchmarks = append(c.Benchmarks, BenchmarkPair{x.Name, x.Bytes, x.Rate, newPair(x.Value, v)})
			delete(values, key)
			continue
		}
		c.OnlyA = append(c.OnlyA, x.String())
	}
	for _, x := range b.Benchmarks {
		key := x
		key.Value = 0
		if _, left := values[key]; left {
			c.OnlyB = append(c.OnlyB, x.String())
		}
	}
}

// Names returns the names of the sides.
func (c *Comparison) Names() (a, b string) {
	if c.A.Measured && !c.B.Measured {
		return "measured", "simulated"
	}
	return "A", "B"
}
