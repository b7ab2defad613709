package study

import (
	"slices"

	"gigarank/result"
)

// summary is the least, mean and greatest time of an operation over ranks and
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
	point      Point // with the first seed
	time       float64
	low, high  float64 // over seeds
	closedForm float64 // ps; 0 for none
	records    []Record
}

// samples joins the records that differ by the seed only, without failures, in
// the order of the plan.
func samples(records []Record) []sample {
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
			all = append(all, sample{point: r.Point, closedForm: float64(r.ClosedForm)})
		}
		all[i].records = append(all[i].records, r)
	}
	for i := range all {
		s := &all[i]
		for k, r := range s.records {
			t := float64(r.Time)
			s.time += t / float64(len(s.records))
			if k == 0 || t < s.low {
				s.low = t
			}
			s.high = max(s.high, t)
		}
	}
	return all
}

// where keeps the samples for which a condition holds.
func where(all []sample, keep func(Point) bool) []sample {
	return slices.DeleteFunc(slices.Clone(all), func(s sample) bool { return !keep(s.point) })
}
