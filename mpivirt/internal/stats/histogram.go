package stats

import "gigarank/vtime"

// Histogram counts times in at most 64 bins of equal width. The width is the least power of
// two of picoseconds that suffices, and the bins begin at multiples of it. So a histogram is
// a function of the times alone.
type Histogram struct {
	Low    vtime.Duration // beginning of the first bin
	Width  vtime.Duration // of each bin
	Counts []uint64       // of ranks; neither the first nor the last is 0
}

// bins is the number of bins.
const bins = 64

// histogram is a Histogram that grows. Bin i covers times from i·2^shift on and is counts[i mod
// bins]; the bins from low to high, fewer than bins apart, are in use.
type histogram struct {
	shift     uint8
	any       bool
	low, high uint64
	counts    [bins]uint64
}

// add counts n times t.
func (h *histogram) add(t, n uint64) {
	i := t >> h.shift
	if i-h.low > h.high-h.low || !h.any {
		i = h.reach(t)
	}
	h.counts[i%bins] += n
}

// reach extends or widens the bins until they cover a time, and returns the bin of that time.
func (h *histogram) reach(t uint64) uint64 {
	if !h.any {
		*h = histogram{any: true, low: t, high: t}
		return t
	}
	i := t >> h.shift
	low, high := min(h.low, i), max(h.high, i)
	if high-low >= bins {
		by := uint8(1)
		for high>>by-low>>by >= bins {
			by++
		}
		h.widen(by)
		i, low, high = i>>by, low>>by, high>>by
	}
	h.low, h.high = low, high
	return i
}

// widen makes the bins 2^by times as wide.
func (h *histogram) widen(by uint8) {
	wide := histogram{shift: h.shift + by, any: true, low: h.low >> by, high: h.high >> by}
	for i := h.low; i <= h.high; i++ {
		wide.counts[i>>by%bins] += h.counts[i%bins]
	}
	*h = wide
}

// merge adds the counts of o, after widening the bins of o to the width of h.
func (h *histogram) merge(o *histogram) {
	if !o.any {
		return
	}
	if h.any && h.shift < o.shift {
		h.widen(o.shift - h.shift)
	}
	for i := o.low; i <= o.high; i++ {
		if n := o.counts[i%bins]; n > 0 {
			h.addBin(i, o.shift, n)
		}
	}
}

// addBin counts n times in a bin of a shift that is at most the shift of h, unless h is empty.
func (h *histogram) addBin(i uint64, shift uint8, n uint64) {
	if !h.any {
		*h = histogram{any: true, shift: shift, low: i, high: i}
	}
	h.add(i<<shift, n)
}

// result returns the histogram in the form of reports.
func (h *histogram) result() Histogram {
	if !h.any {
		return Histogram{}
	}
	r := Histogram{Low: vtime.Duration(h.low << h.shift), Width: 1 << h.shift}
	for i := h.low; i <= h.high; i++ {
		r.Counts = append(r.Counts, h.counts[i%bins])
	}
	return r
}
