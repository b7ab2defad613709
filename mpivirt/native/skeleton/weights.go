package skeleton

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// weightsFormat is the format of files of weights.
const weightsFormat = 2

// Weights are the CPU times that the tasks of a program take, as runs of its timed form have shown.
type Weights struct {
	Format    int      `json:"gigarank_weights"`
	Program   string   `json:"program"` // digest of the program; see Description
	Machine   string   `json:"machine"`
	File      string   `json:"file"`
	Arguments []string `json:"arguments"`
	Ranks     []int64  `json:"ranks"`            // of the runs
	Beside    int64    `json:"beside,omitempty"` // bytes of memory that stood for that of other ranks
	Rest      float64  `json:"rest"`             // seconds between two calls of MPI besides tasks
	Tasks     []Weight `json:"tasks"`            // by number
	Other     bool     `json:"-"`                // the weights are those of another program, which has the same tasks
}

// Weight is the CPU time of a task in seconds: Entry for each time that it begins, and Iteration for each iteration.
type Weight struct {
	ID        string  `json:"id"`
	Line      string  `json:"line"`
	Shape     string  `json:"shape"`
	Iteration float64 `json:"iteration"`
	Entry     float64 `json:"entry"`
	Entries   int64   `json:"entries"` // of the runs
	Share     float64 `json:"share"`   // of the CPU time of the runs
	Spread    float64 `json:"spread"`  // standard deviation of entries from the fit, as a part of the mean
	Power     float64 `json:"power"`   // of the number of ranks, by which the weight changes from the run with most ranks; 0 if all iterations are counted
}

// Run is what a run of the timed form with a number of ranks has observed.
type Run struct {
	Ranks int64
	Tasks []Observed // by number
	Rest  Observed   // bursts outside tasks
}

// Observed are sums over the entries of a task that were timed: of the iterations x and the CPU times y in nanoseconds, and of the iterations that the skeleton
// cannot count.
type Observed struct {
	Entries          int64
	X, XX, Y, YY, XY float64
	Uncounted        float64
	Time             int64
}

// Middle returns what several runs with a number of ranks have observed that differ by other work on the machine alone: of each task, the run with the median of the time,
// the lesser of two in the middle.
func Middle(runs []Run) Run {
	middle := func(of func(r *Run) Observed) Observed {
		var all []Observed
		for n := range runs {
			all = append(all, of(&runs[n]))
		}
		slices.SortStableFunc(all, func(a, b Observed) int { return cmp.Compare(a.Y, b.Y) })
		return all[(len(all)-1)/2]
	}
	one := Run{Ranks: runs[0].Ranks, Rest: middle(func(r *Run) Observed { return r.Rest })}
	for n := range runs[0].Tasks {
		one.Tasks = append(one.Tasks, middle(func(r *Run) Observed { return r.Tasks[n] }))
	}
	return one
}

// Fit returns the weights of a program's tasks by least squares over the entries of each: time = Entry + Iteration · iterations. A weight that
// would be negative is 0, and the other one keeps the sum of the times. Rest is the time of a burst outside tasks.
//
// What an entry of a task takes whose iterations are not all counted may change with the number of ranks, as the elements in rows of a sparse matrix do. Of runs
// with several numbers, the line is then that of the run with most ranks, and the power of the number of ranks is fitted to the iterations that the timed form has
// counted beyond those of the skeleton. Times are no good for that, as they change with caches, too: they are taken only where the timed form does not count all iterations.
func (d *Description) Fit(runs ...Run) *Weights {
	w := &Weights{Format: weightsFormat, Program: d.Program, Machine: d.Machine, Arguments: []string{}}
	var rest Observed
	all := 0.0
	most := runs[0]
	for _, r := range runs {
		w.Ranks = append(w.Ranks, r.Ranks)
		rest.add(r.Rest)
		if r.Ranks > most.Ranks {
			most = r
		}
		for _, o := range r.Tasks {
			all += o.Y
		}
	}
	all += rest.Y
	if rest.Entries > 0 {
		w.Rest = rounded(rest.Y / float64(rest.Entries) * 1e-9)
	}
	for n, t := range d.Tasks {
		var o Observed
		for _, r := range runs {
			o.add(r.Tasks[n])
		}
		one := Weight{ID: t.ID, Line: t.Line, Shape: t.Shape, Entries: o.Entries}
		if o.Entries > 0 {
			if last := most.Tasks[n]; len(t.Unknown) > 0 && last.Entries > 0 && last.Y > 0 {
				entry, iteration := fit(last)
				one.Power = power(runs, n, most, entry, iteration, t.Told)
				one.Entry, one.Iteration, one.Spread = rounded(entry*1e-9), rounded(iteration*1e-9), spread(last, entry, iteration)
			} else {
				entry, iteration := fit(o)
				one.Entry, one.Iteration, one.Spread = rounded(entry*1e-9), rounded(iteration*1e-9), spread(o, entry, iteration)
			}
			one.Share = rounded(o.Y / max(all, 1))
		}
		w.Tasks = append(w.Tasks, one)
	}
	return w
}

// add adds what another run has observed.
func (o *Observed) add(p Observed) {
	o.Entries, o.Uncounted, o.Time = o.Entries+p.Entries, o.Uncounted+p.Uncounted, o.Time+p.Time
	o.X, o.XX, o.Y, o.YY, o.XY = o.X+p.X, o.XX+p.XX, o.Y+p.Y, o.YY+p.YY, o.XY+p.XY
}

// power returns the power of the number of ranks with which a task's iterations, where the runs have told them, and else its times differ from a line that is right for the
// times of a run: by least squares of logarithms, 0 if there are no other numbers.
func power(runs []Run, task int, right Run, a, b float64, told bool) float64 {
	differs := func(o Observed) float64 {
		of := o.Y
		if told {
			of = o.X + o.Uncounted
		}
		return of / (a*float64(o.Entries) + b*o.X)
	}
	xx, xy := 0.0, 0.0
	for _, r := range runs {
		if y := math.Log(differs(r.Tasks[task]) / differs(right.Tasks[task])); !math.IsNaN(y) && !math.IsInf(y, 0) {
			x := math.Log(float64(r.Ranks) / float64(right.Ranks))
			xx, xy = xx+x*x, xy+x*y
		}
	}
	if xx == 0 {
		return 0
	}
	return rounded(min(max(xy/xx, -mostPower), mostPower))
}

// For returns the weights for a number of ranks.
func (w *Weights) For(ranks int64) (tasks []Weight) {
	for _, t := range w.Tasks {
		factor := math.Pow(float64(ranks)/float64(max(slices.Max(w.Ranks), 1)), t.Power)
		t.Entry, t.Iteration = t.Entry*factor, t.Iteration*factor
		tasks = append(tasks, t)
	}
	return tasks
}

// leastScatter is the square of the standard deviation of iterations, as a part of their mean square, from which entries tell what an entry takes without iterations. A line
// through times of blocks that differ by a tenth says nothing of blocks that are several times as large.
const leastScatter = 0.04

// fit returns the line y = a + b·x of least squares, without negative coefficients, and one from the origin if the iterations are about the same in all entries.
func fit(o Observed) (a, b float64) {
	n := float64(o.Entries)
	det := n*o.XX - o.X*o.X
	switch {
	case o.X == 0:
		return o.Y / n, 0
	case det <= leastScatter*n*o.XX:
		return 0, o.Y / o.X
	}
	b = (n*o.XY - o.X*o.Y) / det
	a = (o.Y - b*o.X) / n
	switch {
	case b < 0:
		return o.Y / n, 0
	case a < 0:
		return 0, o.Y / o.X
	}
	return a, b
}

// spread returns the standard deviation of the times from a line, as a part of the mean.
func spread(o Observed, a, b float64) float64 {
	n := float64(o.Entries)
	squares := o.YY - 2*a*o.Y - 2*b*o.XY + n*a*a + 2*a*b*o.X + b*b*o.XX
	return rounded(math.Sqrt(max(squares, 0)/n) / max(o.Y/n, 1e-9))
}

// mostPower is the largest power of the number of ranks with which a weight may change: a task that a rank has cubes of ranks for is unlikely.
const mostPower = 4

// rounded returns a number with nine digits.
func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 9, 64), 64)
	return y
}

// Text returns the text of a file of weights.
func (w *Weights) Text() []byte {
	text, err := json.MarshalIndent(w, "", "\t")
	if err != nil {
		panic(err) // numbers are finite
	}
	return append(text, '\n')
}

// ReadWeights returns the weights of a file. The error has all reasons why they are not those of a program's tasks.
func (d *Description) ReadWeights(text []byte) (*Weights, error) {
	w := &Weights{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(w); err != nil {
		return nil, fmt.Errorf("no file of weights, or not all of it: %w; make one by gigarank skeleton weigh", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the weights: make the file anew by gigarank skeleton weigh")
	}
	switch {
	case w.Format != weightsFormat:
		return nil, fmt.Errorf("weights of format %d, where %d is wanted: make the file anew by gigarank skeleton weigh", w.Format, weightsFormat)
	}
	if w.Other = w.Program != d.Program; w.Other {
		if why := d.differs(w); why != "" {
			return nil, fmt.Errorf("the weights are those of another program, or of another build of this one, %s: make the file anew by gigarank skeleton weigh", why)
		}
	}
	return w, errors.Join(d.faults(w)...)
}

// differs returns how the program of weights differs from this one besides the constants in its tasks, "" if it does not: then an iteration computes the
// same in both, as with a program that is built for each size of its arrays.
func (d *Description) differs(w *Weights) string {
	given := map[string]*Weight{}
	for n := range w.Tasks {
		given[w.Tasks[n].ID] = &w.Tasks[n]
	}
	switch {
	case w.Machine != d.Machine:
		return "which was compiled for another processor"
	case len(d.Tasks) == 0:
		return "and there are no tasks by which the two could be the same"
	}
	for _, t := range d.Tasks {
		switch other := given[t.ID]; {
		case other == nil:
			return "which has no task at " + t.Line
		case other.Shape != t.Shape:
			return "whose task at " + t.Line + " computes something else"
		}
		delete(given, t.ID)
	}
	for _, t := range w.Tasks {
		if given[t.ID] != nil {
			return "which has a further task at " + t.Line
		}
	}
	return ""
}

// faults returns what is wrong with weights of the program.
func (d *Description) faults(w *Weights) (all []error) {
	given := map[string]*Weight{}
	check := func(of string, values ...float64) {
		for _, v := range values {
			if !(v >= 0) || v > 9000 {
				all = append(all, fmt.Errorf("%s has the weight %g: a weight is a number of seconds from 0 to 9000", of, v))
			}
		}
	}
	check("rest", w.Rest)
	if len(w.Ranks) == 0 || slices.Min(w.Ranks) < 1 {
		all = append(all, errors.New("the runs have no numbers of ranks"))
	}
	for n := range w.Tasks {
		t := &w.Tasks[n]
		if given[t.ID] != nil {
			all = append(all, fmt.Errorf("task %s at %s has weights twice", t.ID, t.Line))
		}
		given[t.ID] = t
		check(fmt.Sprintf("task %s at %s", t.ID, t.Line), t.Entry, t.Iteration)
		if !(math.Abs(t.Power) <= mostPower) {
			all = append(all, fmt.Errorf("task %s at %s changes with the power %g of the number of ranks: a power is a number from -%d to %d", t.ID, t.Line, t.Power, mostPower, mostPower))
		}
	}
	var ordered []Weight
	for _, t := range d.Tasks {
		if given[t.ID] == nil {
			all = append(all, fmt.Errorf("task %s at %s has no weight", t.ID, t.Line))
			continue
		}
		ordered = append(ordered, *given[t.ID])
		delete(given, t.ID)
	}
	for _, t := range w.Tasks {
		if given[t.ID] != nil {
			delete(given, t.ID)
			all = append(all, fmt.Errorf("the program has no task %s at %s", t.ID, t.Line))
		}
	}
	w.Tasks = ordered
	return all
}
