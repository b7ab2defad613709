package kernel

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
