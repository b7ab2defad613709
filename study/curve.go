package study

import (
	"math"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/result"
)

// summary returns the least, mean and greatest time of an operation over ranks and
// iterations. The mean is that of the iterations' means.
func summary(iterations []result.Iteration) (all result.Iteration) {
	var mean float64
	for i, it := range iterations {
		if i == 0 || it.Min < all.Min {
			all.Min = it.Min
		}
		all.Max = max(all.Max, it.Max)
		mean += float64(it.Mean) / float64(len(iterations))
	}
	all.Mean = int64(mean)
	return all
}

// A sample is the outcome of a point over all seeds.
type sample struct {
	point      Point   // with the first seed
	time       float64 // the median over seeds
	low, high  float64 // an interval for it; see median
	random     bool    // the time depends on the seed
	closedForm float64 // ps; 0 for none
	records    []Record
}

// samples joins the records that differ only by the seed, without failures, in the
// order of the plan.
func (p *Plan) samples(records []Record) []sample {
	var all []sample
	index := map[Point]int{}
	for _, r := range records {
		if r.Error != "" {
			continue
		}
		key := r.Point
		key.Seed = 0
		i, known := index[key]
		if !known {
			i = len(all)
			index[key] = i
			all = append(all, sample{point: r.Point, random: p.random(r.Point), closedForm: float64(r.ClosedForm)})
		}
		all[i].records = append(all[i].records, r)
	}
	for i := range all {
		s := &all[i]
		var times []float64
		for _, r := range s.records {
			times = append(times, float64(r.Time))
		}
		s.time, s.low, s.high = median(times)
	}
	return all
}

// random reports whether the time of a point depends on its seed. That is so under
// noise or jitter, and in allreducetest, whose ranks compute for random times. A program's may whenever several seeds are
// asked for, or CPU times are measured.
func (p *Plan) random(point Point) bool {
	if p.Program != nil && (len(p.Seeds) > 1 || point.CPU == MeasuredCPU) {
		return true
	}
	return point.Noise != NoNoise || p.Machine(point).HasJitter() || p.Operation == collectives.Allreduce && point.Compute > 0
}

// vague reports whether there are too few seeds to compare the time with others.
func (s sample) vague() bool { return s.random && len(s.records) < leastSeeds }

// bounds returns the reliable bounds of the median: 0 and infinity if there are too few
// seeds.
func (s sample) bounds() (low, high float64) {
	switch {
	case !s.random:
		return s.time, s.time
	case s.vague():
		return 0, math.Inf(1)
	}
	return s.low, s.high
}

// where returns the samples that keep holds for.
func where(all []sample, keep func(Point) bool) []sample {
	return slices.DeleteFunc(slices.Clone(all), func(s sample) bool { return !keep(s.point) })
}
