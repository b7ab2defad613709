package skeleton

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// weightsFormat is the format of files of weights.
const weightsFormat = 1

// Weights are the CPU times that the tasks of a program take, as runs of its timed form have shown.
type Weights struct {
	Format    int      `json:"gigarank_weights"`
	Program   string   `json:"program"` // digest of the program; see Description
	File      string   `json:"file"`
	Arguments []string `json:"arguments"`
	Ranks     []int64  `json:"ranks"` // of the runs
	Rest      float64  `json:"rest"`  // seconds between two calls of MPI besides tasks
	Tasks     []Weight `json:"tasks"` // by number
}

// Weight is the CPU time of a task in seconds: Entry for each time that it begins, and Iteration for each iteration.
type Weight struct {
	ID        string  `json:"id"`
	Line      string  `json:"line"`
	Iteration float64 `json:"iteration"`
	Entry     float64 `json:"entry"`
	Entries   int64   `json:"entries"` // of the runs
	Share     float64 `json:"share"`   // of the CPU time of the runs
	Spread    float64 `json:"spread"`  // standard deviation of entries from the fit, as a part of the mean
}

// Observed are sums over the entries of a task that were timed: of the iterations x and the CPU times y in nanoseconds.
type Observed struct {
	Entries          int64
	X, XX, Y, YY, XY float64
	Time             int64
}

// Fit returns the weights of a program's tasks by least squares over the entries of each: time = Entry + Iteration · iterations. A weight that
// would be negative is 0, and the other one keeps the sum of the times. Rest is the number of bursts and their time outside tasks.
func (d *Description) Fit(observed []Observed, rest Observed) *Weights {
	w := &Weights{Format: weightsFormat, Program: d.Program, Arguments: []string{}}
	all := rest.Y
	for _, o := range observed {
		all += o.Y
	}
	if rest.Entries > 0 {
		w.Rest = rounded(rest.Y / float64(rest.Entries) * 1e-9)
	}
	for n, o := range observed {
		t := d.Tasks[n]
		one := Weight{ID: t.ID, Line: t.Line, Entries: o.Entries}
		if o.Entries > 0 {
			entry, iteration := fit(o)
			one.Entry, one.Iteration = rounded(entry*1e-9), rounded(iteration*1e-9)
			one.Spread = spread(o, entry, iteration)
			one.Share = rounded(o.Y / max(all, 1))
		}
		w.Tasks = append(w.Tasks, one)
	}
	return w
}

// fit returns the line y = a + b·x of least squares, without negative coefficients.
func fit(o Observed) (a, b float64) {
	n := float64(o.Entries)
	det := n*o.XX - o.X*o.X
	switch {
	case o.X == 0:
		return o.Y / n, 0
	case det <= 1e-9*n*o.XX: // the iterations are the same in all entries
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
	case w.Program != d.Program:
		return nil, errors.New("the weights are those of another program, or of another build of this one: make the file anew by gigarank skeleton weigh")
	}
	return w, errors.Join(d.faults(w)...)
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
	for n := range w.Tasks {
		t := &w.Tasks[n]
		if given[t.ID] != nil {
			all = append(all, fmt.Errorf("task %s at %s has weights twice", t.ID, t.Line))
		}
		given[t.ID] = t
		check(fmt.Sprintf("task %s at %s", t.ID, t.Line), t.Entry, t.Iteration)
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
