package measurements

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	stdsync "sync"

	"gigarank/collectives"
	"gigarank/network"
)

// Outcome is a row beside its simulation.
type Outcome struct {
	Row
	Model     *network.Machine // the machine of the simulation; nil if none
	Point     Point            // if Simulated is not 0
	Chosen    string           // the algorithm of the simulation; empty if there is none
	Simulated float64          // seconds; 0 if there is no simulation
	Reason    string           // the reason for which the row does not count; empty if it does
	Failed    bool             // the simulation ended with an error, which is the reason
}

// Ratio returns the simulated time over the measured one.
func (o *Outcome) Ratio() float64 { return o.Simulated / o.Measured }

// Error returns the relative error of the simulation, without its sign.
func (o *Outcome) Error() float64 { return math.Abs(o.Ratio() - 1) }

// Factor returns how many times the two times differ, at least 1.
func (o *Outcome) Factor() float64 { return max(o.Ratio(), 1/o.Ratio()) }

// Counts reports whether the row is part of the statistics.
func (o *Outcome) Counts() bool { return o.Reason == "" }

// Rule says which rows of a comparison do not count, and why.
type Rule struct {
	Where  Where
	Reason string
}

// Options are those of a comparison.
type Options struct {
	// Machine returns the machine of a row, or why there is none.
	Machine func(r *Row) (*network.Machine, error)
	// Library returns the library that chooses the algorithm of a row on its machine, nil for the default
	// of the machine. Nil has no library.
	Library func(r *Row, m *network.Machine) (collectives.Library, error)
	// SetAside are rules for rows that do not count.
	SetAside []Rule
	// Limit is the estimated CPU time in seconds above which a point is not simulated.
	Limit float64
	// Cores is the number of simulations that run side by side.
	Cores int
	// Progress is told the points that are done, of all. Not two calls are made at a time.
	Progress func(done, all int)
}

// key is what makes two simulations equal.
type key struct {
	model *network.Machine
	point Point
}

// job is a simulation for some rows.
type job struct {
	key
	cost float64
	rows []*Outcome
}

// Compare simulates the points of rows. Points that are equal are simulated once.
func Compare(rows []Row, o Options) []Outcome {
	all := make([]Outcome, len(rows))
	jobs := map[key]*job{}
	for i := range rows {
		all[i].Row = rows[i]
		if err := all[i].prepare(&o, jobs); err != nil {
			all[i].Reason = err.Error()
		}
	}
	list := make([]*job, 0, len(jobs))
	for i := range all { // in the order of the rows, not of the map
		if j := jobs[key{all[i].Model, all[i].Point}]; j != nil && j.rows[0] == &all[i] {
			list = append(list, j)
		}
	}
	// The longest first, so that no core is left with it at the end.
	slices.SortStableFunc(list, func(a, b *job) int { return cmp.Compare(b.cost, a.cost) })
	simulate(list, &o)
	return all
}

// FittedTo returns the conditions of the rows that figures of a machine come from. They do not count.
func FittedTo(m *network.Machine) ([]Where, error) {
	var all []Where
	var faults []error
	for _, text := range m.FittedTo() {
		w, err := ParseWhere(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("machine %s: fitted_to: %w", m.Name(), err))
		}
		all = append(all, w)
	}
	return all, errors.Join(faults...)
}

// prepare finds the machine and the point of a row and adds it to the simulation of that point.
func (o *Outcome) prepare(options *Options, jobs map[key]*job) error {
	o.Reason = o.SetAside
	for _, rule := range options.SetAside {
		if o.Reason == "" && rule.Where.Matches(&o.Row) {
			o.Reason = rule.Reason
		}
	}
	p, err := PointOf(&o.Row)
	if err != nil {
		return err
	}
	if o.Fallback && o.names() && o.Reason == "" {
		o.Reason = "the library seems to have used another algorithm than it was asked for"
	}
	m, err := options.Machine(&o.Row)
	if err != nil {
		return err
	}
	if options.Library != nil && !p.Named {
		if p.Library, err = options.Library(&o.Row, m); err != nil {
			return err
		}
	}
	fitted, err := FittedTo(m)
	if err != nil {
		return err
	}
	if o.Reason == "" && slices.ContainsFunc(fitted, func(w Where) bool { return w.Matches(&o.Row) }) {
		o.Reason = "figures of machine " + m.Name() + " come from it"
	}
	k := key{m, p}
	j := jobs[k]
	if j == nil {
		cost, err := p.Cost(m)
		if err != nil {
			return err
		}
		if cost > options.Limit {
			return fmt.Errorf("its simulation takes some %.0f s of CPU time, more than --limit", cost)
		}
		j = &job{key: k, cost: cost}
		jobs[k] = j
	}
	if o.Chosen, err = p.Chosen(m); err != nil {
		return err
	}
	o.Model, o.Point = m, p
	j.rows = append(j.rows, o)
	return nil
}

// simulate runs all simulations, several at a time. Each has one engine.
func simulate(list []*job, o *Options) {
	next := make(chan *job, len(list))
	for _, j := range list {
		next <- j
	}
	close(next)
	cores := o.Cores
	if cores < 1 {
		cores = runtime.GOMAXPROCS(0)
	}
	var workers stdsync.WaitGroup
	var lock stdsync.Mutex
	done := 0
	for range min(cores, len(list)) {
		workers.Go(func() {
			for j := range next {
				seconds, err := j.point.Simulate(j.model)
				lock.Lock()
				for _, row := range j.rows {
					row.finish(seconds, err)
				}
				if done++; o.Progress != nil {
					o.Progress(done, len(list))
				}
				lock.Unlock()
			}
		})
	}
	workers.Wait()
}

func (o *Outcome) finish(seconds float64, err error) {
	if err == nil && !(seconds > 0) {
		err = errors.New("the simulated time is 0")
	}
	if err != nil {
		o.Reason, o.Failed, o.Chosen = "the simulation failed: "+err.Error(), true, ""
		return
	}
	o.Simulated = seconds
}

// Summary sums up the rows of a group that count.
type Summary struct {
	Group  string
	Points int
	// Quartiles are those of simulated over measured time: lower quartile, median, upper quartile.
	Quartiles [3]float64
	Error     float64 // median of the relative errors without sign
	Within    [3]float64
	Ninety    float64  // the factor within which 90 % of the points lie
	Worst     *Outcome // whose times differ by the greatest factor
}

// Factors are those within which Summary.Within has the share of the points.
var Factors = [3]float64{1.25, 1.5, 2}

// Grouping divides rows into groups.
type Grouping struct {
	Name      string
	Summaries []Summary
}

// Class is a group of rows of its own, which may overlap others: any of the conditions holds.
type Class struct {
	Name string
	Any  []Where
}

func (c *Class) matches(r *Row) bool {
	return slices.ContainsFunc(c.Any, func(w Where) bool { return w.Matches(r) })
}

// where parses a constant.
func where(text string) Where {
	w, err := ParseWhere(text)
	if err != nil {
		panic("measurements: " + err.Error())
	}
	return w
}

// Classes are those that every summary has.
func Classes() []Class {
	return []Class{
		{"one rank a node, algorithm named, up to 1 MiB", []Where{where("ppn=1,named=1,bytes<=1048576")}},
		{"more than one rank a node", []Where{where("ppn>=2")}},
		{"barrier, and allreduce up to 4 KiB, 64 ranks a node or more", []Where{where("ppn>=64,op=barrier"), where("ppn>=64,op=allreduce,bytes<=4096")}},
	}
}

// sizeClasses are the upper bounds of the classes of sizes.
var sizeClasses = []struct {
	most int64
	name string
}{{256, "up to 256 B"}, {4 << 10, "up to 4 KiB"}, {64 << 10, "up to 64 KiB"}, {1 << 20, "up to 1 MiB"}, {math.MaxInt64, "above 1 MiB"}}

// SizeClass returns the name of the class of a size.
func SizeClass(bytes int64) string {
	at := slices.IndexFunc(sizeClasses, func(c struct {
		most int64
		name string
	}) bool {
		return bytes <= c.most
	})
	return sizeClasses[at].name
}

// Summarize sums the rows up in all and by classes, operation, size, ranks a node and machine.
func Summarize(all []Outcome, classes []Class) []Grouping {
	groupings := []Grouping{{Name: "all", Summaries: by(all, func(o *Outcome) (string, int) {
		if o.names() {
			return "algorithm named", 0
		}
		return "default algorithm", 1
	})}}
	if total := by(all, func(*Outcome) (string, int) { return "all points", 0 }); len(total) > 0 && len(groupings[0].Summaries) > 1 {
		groupings[0].Summaries = append(total, groupings[0].Summaries...)
	}
	var special Grouping
	special.Name = "class"
	for _, c := range classes {
		special.Summaries = append(special.Summaries, by(all, func(o *Outcome) (string, int) {
			if c.matches(&o.Row) {
				return c.Name, 0
			}
			return "", 0
		})...)
	}
	groupings = append(groupings, special)
	for _, g := range []struct {
		name string
		of   func(o *Outcome) (string, int)
	}{
		{"operation", func(o *Outcome) (string, int) { return o.Operation, int(o.Point.Operation) }},
		{"size", func(o *Outcome) (string, int) { return SizeClass(o.Bytes), int(min(o.Bytes, 2<<20)) }},
		{"ranks a node", func(o *Outcome) (string, int) { return fmt.Sprint(o.PerNode), o.PerNode }},
		{"nodes", func(o *Outcome) (string, int) { return fmt.Sprint(o.Nodes), o.Nodes }},
		{"machine", func(o *Outcome) (string, int) { return o.Machine, 0 }},
	} {
		groupings = append(groupings, Grouping{g.name, by(all, g.of)})
	}
	return slices.DeleteFunc(groupings, func(g Grouping) bool { return len(g.Summaries) == 0 })
}

// by groups the rows that count by a name, in the order of a number and then of the names. Rows
// without a name belong to no group.
func by(all []Outcome, of func(o *Outcome) (name string, order int)) []Summary {
	groups, orders := map[string][]*Outcome{}, map[string]int{}
	var names []string
	for i := range all {
		o := &all[i]
		name, order := of(o)
		if !o.Counts() || name == "" {
			continue
		}
		if _, known := groups[name]; !known {
			names, orders[name] = append(names, name), order
		}
		groups[name] = append(groups[name], o)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(orders[a], orders[b]), strings.Compare(a, b)) })
	summaries := make([]Summary, 0, len(names))
	for _, name := range names {
		summaries = append(summaries, summarize(name, groups[name]))
	}
	return summaries
}

func summarize(name string, some []*Outcome) Summary {
	s := Summary{Group: name, Points: len(some)}
	var ratios, errors, factors []float64
	var within [len(Factors)]int
	for _, o := range some {
		ratios, errors, factors = append(ratios, o.Ratio()), append(errors, o.Error()), append(factors, o.Factor())
		if s.Worst == nil || o.Factor() > s.Worst.Factor() {
			s.Worst = o
		}
		for i, f := range Factors {
			if o.Factor() <= f {
				within[i]++
			}
		}
	}
	for i, n := range within {
		s.Within[i] = float64(n) / float64(len(some))
	}
	slices.Sort(ratios)
	slices.Sort(errors)
	for i := range s.Quartiles {
		s.Quartiles[i] = quantile(ratios, float64(i+1)/4)
	}
	slices.Sort(factors)
	s.Error, s.Ninety = quantile(errors, 0.5), quantile(factors, 0.9)
	return s
}

// number prints a number as short as can be.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// quantile returns a quantile of sorted values, by a line between the two around it.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}
