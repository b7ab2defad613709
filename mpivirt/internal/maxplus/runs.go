package maxplus

import (
	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// The messages of a round of a regular pattern, as runs: consecutive or evenly spaced receivers,
// each with its sender.

// bounds returns the range of elements of the participants lo to hi-1 in a round.
func bounds(p collectives.Pattern, lo, hi int) (int, int) {
	if p.Kind == collectives.Exchange && p.Folded > 0 {
		return collectives.Survivors(p.Folded, lo), collectives.Survivors(p.Folded, hi)
	}
	return lo, hi
}

// runs calls visit for each run of receivers dst, dst+stride, ... in [lo, hi), whose senders are
// src, src+stride, ....
func runs(p collectives.Pattern, total, lo, hi int, visit func(dst, src, n, stride int)) {
	switch p.Kind {
	case collectives.Shift:
		if cut := min(max(p.Distance, lo), hi); p.Distance != 0 {
			if lo < cut {
				visit(lo, lo-p.Distance+total, cut-lo, 1)
			}
			if cut < hi {
				visit(cut, cut-p.Distance, hi-cut, 1)
			}
		}
	case collectives.Exchange:
		for s := lo; s < hi; {
			n := min(p.Distance-s%p.Distance, hi-s)
			visit(s, s^p.Distance, n, 1)
			s += n
		}
	case collectives.Strided:
		first := p.First + p.Distance
		skip := max(0, (lo-first+p.Stride-1)/p.Stride)
		n := min(p.Count, (hi-first+p.Stride-1)/p.Stride) - skip
		if n > 0 && hi > first {
			visit(first+skip*p.Stride, p.First+skip*p.Stride, n, p.Stride)
		}
	case collectives.Grouped:
		for dst := lo; dst < min(hi, p.Count); {
			first := dst - dst%p.Stride
			src, end := dst-p.Distance, first+p.Stride
			if src < first {
				src, end = src+p.Stride, first+p.Distance
			}
			n := min(end, hi) - dst
			visit(dst, src, n, 1)
			dst += n
		}
	}
}

// Receivers returns two intervals, the lower one first, either of which may be empty. They contain
// the elements of any array that receive from this array in the current round, and few other
// elements.
func (a *Array) Receivers() (in [2]Interval) {
	p := a.Pattern()
	if lo, hi := bounds(p, a.Low, a.High); lo < hi {
		in = receivers(p, a.total(), lo, hi)
	}
	return in
}

// Needed calls visit for the runs of n receivers dst, dst+stride, ..., in the array of participants
// low to high-1, that need this array's clocks src, src+stride, ... in the current round. It leaves
// out receivers before from. When visit returns false, Needed ends and returns false.
func (a *Array) Needed(low, high, from int, visit func(dst, src, n, stride int) bool) bool {
	p := a.Pattern()
	lo, hi := bounds(p, a.Low, a.High)
	first, last := bounds(p, low, high)
	if p.Kind == collectives.Exchange {
		// Only receivers within the distance can have their sender in this array.
		first, last = max(first, lo-p.Distance), min(last, hi+p.Distance)
	}
	all := true
	runs(p, a.total(), max(first, from), last, func(dst, src, n, stride int) {
		if dst, src, n = clip(dst, src, n, stride, lo, hi); n > 0 && all {
			all = visit(dst, src, n, stride)
		}
	})
	return all
}

// From returns the clocks from an element of the array on, in the current numbering. Where messages
// share interfaces, it returns the instants at which the messages of the elements begin to leave.
func (a *Array) From(element int) []vtime.Time {
	clocks := a.work
	switch {
	case a.inWindow() && a.shares:
		clocks = a.began[a.message()*(a.High-a.Low):]
	case a.shares:
		clocks = a.begins
	}
	return clocks[element-collectives.Survivors(a.folded, a.Low):]
}

// Complete reports whether the array has received all clocks of other arrays that the current round
// needs.
func (a *Array) Complete() bool {
	if !a.counted {
		a.needed, a.counted = a.countNeeded(), true
	}
	if invariant.Enabled {
		a.checkReceived(a.needed)
	}
	return a.needed == a.received && (a.uneven == nil || a.uneven.awaited == 0)
}

// countNeeded returns the number of clocks that the current round needs of other arrays.
func (a *Array) countNeeded() int {
	p := a.Pattern()
	lo, hi := bounds(p, a.Low, a.High)
	missing := 0
	count := func(dst, src, n, stride int) {
		_, _, inside := clip(dst, src, n, stride, lo, hi)
		missing += n - inside
	}
	if p.Kind == collectives.Exchange && p.Distance < hi-lo {
		// Senders outside belong to the first or the last block of twice the distance.
		span := 2 * p.Distance
		head := min(hi, (lo+span-1)/span*span)
		runs(p, a.total(), lo, head, count)
		runs(p, a.total(), max(head, hi/span*span), hi, count)
	} else {
		runs(p, a.total(), lo, hi, count)
	}
	return missing
}

// Interval contains the elements Low to High-1.
type Interval struct{ Low, High int }

// receivers returns two intervals, the lower one first, either of which may be empty. They contain
// the receivers whose senders lie in [lo, hi), which is not empty, and few other receivers: each
// interval is as long as [lo, hi) or, around it, three times as long.
func receivers(p collectives.Pattern, total, lo, hi int) (in [2]Interval) {
	d := p.Distance
	switch p.Kind {
	case collectives.Shift:
		switch {
		case d == 0:
		case lo+d >= total:
			in[0] = Interval{lo + d - total, hi + d - total}
		case hi+d <= total:
			in[0] = Interval{lo + d, hi + d}
		default:
			in = [2]Interval{{0, hi + d - total}, {lo + d, total}}
		}
	case collectives.Exchange:
		cut := (lo/d + 1) * d // the first block of the distance ends here
		switch even := lo/d%2 == 0; {
		case hi-lo >= d:
			in[0] = Interval{max(lo-d, 0), min(hi+d, total-p.Folded)}
		case hi <= cut:
			in[0] = Interval{lo ^ d, (hi - 1) ^ d + 1}
		case even:
			in = [2]Interval{{cut - d, hi - d}, {lo + d, cut + d}}
		default:
			in = [2]Interval{{lo - d, cut - d}, {cut + d, hi + d}}
		}
	case collectives.Strided:
		skip := max(0, (lo-p.First+p.Stride-1)/p.Stride)
		if last := min(p.Count, (hi-p.First+p.Stride-1)/p.Stride) - 1; last >= skip && hi > p.First {
			in[0] = Interval{p.First + skip*p.Stride + d, p.First + last*p.Stride + d + 1}
		}
	case collectives.Grouped:
		if lo < p.Count {
			in[0] = Interval{lo / p.Stride * p.Stride, min((hi-1)/p.Stride*p.Stride+p.Stride, p.Count)}
		}
	}
	return in
}

// clip cuts a run to the part whose senders lie in [lo, hi).
func clip(dst, src, n, stride, lo, hi int) (int, int, int) {
	if src < lo {
		skip := (lo - src + stride - 1) / stride
		dst, src, n = dst+skip*stride, src+skip*stride, n-skip
	}
	if last := src + (n-1)*stride; last >= hi {
		n -= (last - hi + stride) / stride
	}
	return dst, src, max(n, 0)
}
