package study

import (
	"cmp"
	"fmt"
	"slices"
)

// alike is the factor within which two times count as the same. No model of a machine
// is precise enough to tell them apart.
const alike = 1.01

// ranking is the order of the algorithms at a number of ranks.
type ranking struct {
	best sample
	// tied are the algorithms that cannot be told from the best, which is the first of
	// them. Their times are alike, or the intervals of their medians overlap.
	tied []string
	// next is the fastest of the others that were simulated, tied or not. It has no
	// records if there is none.
	next sample
}

// rank compares samples that differ only by the algorithm. There is at least one.
func rank(at []sample) ranking {
	at = slices.Clone(at)
	slices.SortStableFunc(at, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	r := ranking{best: at[0]}
	if len(at) > 1 {
		r.next = at[1]
	}
	_, most := at[0].bounds()
	for i, s := range at {
		if least, _ := s.bounds(); i == 0 || least <= most*alike {
			r.tied = append(r.tied, s.point.Choice())
		}
	}
	return r
}

// sure reports whether the best is known to be the fastest.
func (r ranking) sure() bool { return len(r.tied) == 1 }

// margin returns the margin of the best over the next: "+12 %", "×3.4", "≈" if the two
// cannot be told apart, "?" with too few seeds, and "" if there is no other.
func (r ranking) margin() string {
	switch {
	case len(r.next.records) == 0:
		return ""
	case r.best.vague():
		return "?"
	case !r.sure():
		return "≈"
	}
	return longer(r.next.time / r.best.time)
}

// longer prints a factor above 1.
func longer(factor float64) string {
	switch {
	case factor < 1.1:
		return fmt.Sprintf("+%.1f %%", (factor-1)*100)
	case factor < 2:
		return fmt.Sprintf("+%.0f %%", (factor-1)*100)
	case factor < 10:
		return fmt.Sprintf("×%.1f", factor)
	}
	return fmt.Sprintf("×%.0f", factor)
}
