package coll

import "gigarank/collectives"

// The messages of a round of a regular pattern as runs: consecutive or evenly spaced
// receivers, each with its sender.

// bounds returns the numbers of an engine's elements of the array in a round.
func bounds(p collectives.Pattern, lo, hi int) (int, int) {
	if p.Kind == collectives.Exchange && p.Folded > 0 {
		return collectives.Survivors(p.Folded, lo), collectives.Survivors(p.Folded, hi)
	}
	return lo, hi
}

// runs calls visit for each run of receivers dst, dst+stride, ... that lie in
// [lo, hi) with their senders src, src+stride, ....
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
	}
}

// interval is the elements lo to hi-1.
type interval struct{ lo, hi int }

// receivers returns two intervals, the lower one first, either of which may be empty.
// They contain the receivers whose senders lie in [lo, hi), which is not empty, and few
// others: each is as long as that or, around it, three times as long.
func receivers(p collectives.Pattern, total, lo, hi int) (in [2]interval) {
	d := p.Distance
	switch p.Kind {
	case collectives.Shift:
		switch {
		case d == 0:
		case lo+d >= total:
			in[0] = interval{lo + d - total, hi + d - total}
		case hi+d <= total:
			in[0] = interval{lo + d, hi + d}
		default:
			in = [2]interval{{0, hi + d - total}, {lo + d, total}}
		}
	case collectives.Exchange:
		cut := (lo/d + 1) * d // the first block of the distance ends here
		switch even := lo/d%2 == 0; {
		case hi-lo >= d:
			in[0] = interval{max(lo-d, 0), min(hi+d, total-p.Folded)}
		case hi <= cut:
			in[0] = interval{lo ^ d, (hi - 1) ^ d + 1}
		case even:
			in = [2]interval{{cut - d, hi - d}, {lo + d, cut + d}}
		default:
			in = [2]interval{{lo - d, cut - d}, {cut + d, hi + d}}
		}
	case collectives.Strided:
		skip := max(0, (lo-p.First+p.Stride-1)/p.Stride)
		if last := min(p.Count, (hi-p.First+p.Stride-1)/p.Stride) - 1; last >= skip && hi > p.First {
			in[0] = interval{p.First + skip*p.Stride + d, p.First + last*p.Stride + d + 1}
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
