package loggp

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Whole jobs of the same processes differ, by the placement of processes and memory and by other
// load of the machine: Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking Is Still Not as
// Easy as You Think", 2016. No run within a job shows that. So several jobs are measured, one after
// another, and slow jobs are left out.

// Jobs describes the jobs from which measurements were combined.
type Jobs struct {
	// Slowness is, for each job in the order of the jobs, the median over figures of its time
	// divided by the least time of all jobs, divided by that median of the quickest job. It is the
	// greatest of three such values: over ping-pongs of short messages, over ping-pongs of long
	// messages, and over all figures.
	Slowness []float64 `json:"slowness"`
	Kept     int       `json:"kept"` // number of jobs that were not left out
	// Spread and WorstSpread are the median and the greatest, over all figures, of the greatest
	// time of the jobs kept divided by the least, minus 1.
	Spread      float64 `json:"spread"`
	WorstSpread float64 `json:"worst_spread"`
}

// Disturbed is the slowness from which on a job is left out, unless the user gives another.
const Disturbed = 1.25

// Majority returns how many jobs of a number must agree: more than half, at least two.
func Majority(jobs int) int { return max(2, jobs/2+1) }

// ErrDisturbed is the error of jobs of which too few agree.
var ErrDisturbed = errors.New("the machine is disturbed")

// Combine returns the medians of the figures of jobs, all of the same processes, without the jobs
// whose slowness exceeds a ratio. Unless it keeps a number of jobs at least, it returns [ErrDisturbed]
// with the slowness of each job. Other load makes jobs slower and none quicker, so jobs that agree with the
// quickest one are those that nothing has disturbed.
func Combine(jobs []Measurements, ratio float64, least int) (Measurements, error) {
	if len(jobs) == 1 {
		return jobs[0], nil
	}
	points := make([][]*Point, len(jobs))
	for i := range jobs {
		points[i] = jobs[i].points()
		if len(points[i]) != len(points[0]) {
			return Measurements{}, fmt.Errorf("job %d measured %d figures and the first one %d: start all with the same processes on the same nodes",
				i+1, len(points[i]), len(points[0]))
		}
	}
	all := Jobs{Slowness: slowness(jobs)}
	var kept [][]*Point
	for i, slow := range all.Slowness {
		if slow <= ratio {
			kept = append(kept, points[i])
		}
	}
	if all.Kept = len(kept); all.Kept < least {
		return Measurements{}, fmt.Errorf("%w: %s, and %d of %d jobs are within %.2f, %d are wanted; measure when nothing else runs, with more --jobs, or allow more by --disturbed",
			ErrDisturbed, all.slow(), all.Kept, len(jobs), ratio, least)
	}
	m := jobs[0].clone()
	var spreads []float64
	for i, p := range m.points() {
		var seconds, runs []float64
		for _, job := range kept {
			seconds, runs = append(seconds, job[i].Seconds), append(runs, job[i].Runs...)
		}
		p.Seconds, p.Runs = median(seconds), runs
		spreads = append(spreads, slices.Max(seconds)/slices.Min(seconds)-1)
	}
	for _, pair := range []func(*Measurements) *Pair{func(m *Measurements) *Pair { return m.Intra }, func(m *Measurements) *Pair { return m.Inter }} {
		if v := pair(&m); v != nil {
			var of []*Rendezvous
			for i := range jobs {
				if all.Slowness[i] <= ratio {
					of = append(of, pair(&jobs[i]).Rendezvous)
				}
			}
			v.Rendezvous = agreed(of)
		}
	}
	all.Spread, all.WorstSpread = median(spreads), slices.Max(spreads)
	m.Jobs = &all
	return m, nil
}

// agreed returns the findings of jobs about late receivers: the median of their limits, the lower
// one of two in the middle, with the medians of the jobs that have this limit; nil if most jobs
// have no limit.
func agreed(jobs []*Rendezvous) *Rendezvous {
	limit := func(r *Rendezvous) int64 {
		if r == nil {
			return math.MaxInt64
		}
		return r.EagerLimit
	}
	limits := make([]int64, len(jobs))
	for i, r := range jobs {
		limits[i] = limit(r)
	}
	slices.Sort(limits)
	common := limits[(len(limits)-1)/2]
	if common == math.MaxInt64 {
		return nil
	}
	all := &Rendezvous{EagerLimit: common, Edge: make([]Point, 2)}
	having, inCalls, inWaits, seconds := 0, 0, 0, make([][]float64, len(all.Edge))
	for _, r := range jobs {
		if limit(r) != common {
			continue
		}
		having++
		if r.InCalls {
			inCalls++
		}
		if r.InWaits {
			inWaits++
		}
		for i, p := range r.Edge {
			all.Edge[i].Bytes, all.Edge[i].Runs = p.Bytes, append(all.Edge[i].Runs, p.Runs...)
			seconds[i] = append(seconds[i], p.Seconds)
		}
	}
	for i := range seconds {
		all.Edge[i].Seconds = median(seconds[i])
	}
	all.InCalls, all.InWaits = 2*inCalls > having, 2*inWaits > having
	return all
}

// ShortMost is the greatest size in bytes of a message whose time is mostly latency. The distance
// between two cores changes the time of short messages fourfold. Long messages depend on the
// bandwidth of memory and hardly change with the distance, like most other figures.
const ShortMost = 4 << 10

// slowness returns the slowness of each job; see [Jobs].
func slowness(jobs []Measurements) []float64 {
	greatest := make([]float64, len(jobs))
	for _, figures := range []func(m *Measurements) []*Point{
		(*Measurements).points,
		func(m *Measurements) []*Point { return m.pingPongs(0, ShortMost) },
		func(m *Measurements) []*Point { return m.pingPongs(ShortMost+1, math.MaxInt64) },
	} {
		for i, slow := range slownessOf(jobs, figures) {
			greatest[i] = max(greatest[i], slow)
		}
	}
	return greatest
}

// slownessOf returns the slowness of each job by some of its figures, nil without figures.
func slownessOf(jobs []Measurements, figures func(m *Measurements) []*Point) []float64 {
	least := make([]float64, len(figures(&jobs[0])))
	if len(least) == 0 {
		return nil
	}
	for i := range jobs {
		for j, p := range figures(&jobs[i]) {
			if i == 0 || p.Seconds < least[j] {
				least[j] = p.Seconds
			}
		}
	}
	all := make([]float64, len(jobs))
	for i := range jobs {
		ratios := make([]float64, len(least))
		for j, p := range figures(&jobs[i]) {
			ratios[j] = p.Seconds / least[j]
		}
		all[i] = median(ratios)
	}
	quickest := slices.Min(all)
	for i := range all {
		all[i] /= quickest
	}
	return all
}

// slow returns the slowness of all jobs as text.
func (j *Jobs) slow() string {
	text := "jobs took"
	for i, slow := range j.Slowness {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %.2f", slow)
	}
	return text + " times the quickest"
}

// spread returns, as text, how much greater the greatest figure is than the least. A gap that one
// job has found to be almost 0 is many times that in another job.
func spread(more float64) string {
	if more < 1 {
		return fmt.Sprintf("%.0f %%", 100*more)
	}
	return fmt.Sprintf("a factor of %.3g", 1+more)
}

// String returns a sentence about the jobs.
func (j *Jobs) String() string {
	text := fmt.Sprintf("Medians of %d jobs, whose figures are within %s of each other in the median, %s at most.",
		j.Kept, spread(j.Spread), spread(j.WorstSpread))
	if left := len(j.Slowness) - j.Kept; left > 0 {
		text += fmt.Sprintf(" Left out as disturbed: %d of %d; %s.", left, len(j.Slowness), j.slow())
	}
	return text
}

// median returns the median of values, the mean of two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// points returns all figures, in an order that jobs of the same processes share.
func (m *Measurements) points() (all []*Point) {
	of := func(points []Point) {
		for i := range points {
			all = append(all, &points[i])
		}
	}
	for _, pair := range []*Pair{m.Intra, m.Inter} {
		if pair != nil {
			of(pair.Delays)
			of(pair.SendTimes)
			of(pair.ReceiveTimes)
			of(pair.Gaps)
		}
	}
	all = append(all, &m.Reduce)
	of(m.LocalCopies)
	for _, group := range [][]Collective{m.Collectives, m.Near} {
		for i := range group {
			all = append(all, &group[i].Point)
		}
	}
	return all
}

// pingPongs returns the ping-pongs of messages in a range of sizes.
func (m *Measurements) pingPongs(least, most int64) (some []*Point) {
	for _, pair := range []*Pair{m.Intra, m.Inter} {
		if pair == nil {
			continue
		}
		for i := range pair.Delays {
			if p := &pair.Delays[i]; p.Bytes >= least && p.Bytes <= most {
				some = append(some, p)
			}
		}
	}
	return some
}

// clone returns measurements that share no figure with m.
func (m Measurements) clone() Measurements {
	for _, pair := range []**Pair{&m.Intra, &m.Inter} {
		if v := *pair; v != nil {
			*pair = &Pair{v.Partner, slices.Clone(v.Delays), slices.Clone(v.SendTimes), slices.Clone(v.ReceiveTimes), slices.Clone(v.Gaps), v.Rendezvous}
		}
	}
	m.LocalCopies = slices.Clone(m.LocalCopies)
	m.Collectives, m.Near = slices.Clone(m.Collectives), slices.Clone(m.Near)
	return m
}
