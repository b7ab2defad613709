package study

import (
	"cmp"
	"fmt"
	"slices"
)

// alike is the factor within which two times count as the same: less is below what
// any model of a machine can tell.
const alike = 1.01

// ranking tells which algorithms are the fastest at a number of ranks.
type ranking struct {
	best sample
	// tied are the algorithms that cannot be told from the best, which is the first
	// of them: their times are alike, or the intervals of their medians are not apart.
	tied []string
	// next is the fastest of the others that were simulated, tied or not; it has no
	// records if there is none.
	next sample
}

// rank compares samples that differ by the algorithm only, of which there is at least
// one.
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
			r.tied = append(r.tied, s.point.Algorithm)
		}
	}
	return r
}

// told reports whether the best is the fastest for sure.
func (r ranking) told() bool { return len(r.tied) == 1 }

// margin returns by how much the best is better than the next: "+12 %", "×3.4"; "≈" if the
// two cannot be told apart, "?" with too few seeds, and nothing if there is no other.
func (r ranking) margin() string {
	switch {
	case len(r.next.records) == 0:
		return ""
	case r.best.vague():
		return "?"
	case !r.told():
		return "≈"
	}
	return longer(r.next.time / r.best.time)
}

// longer writes a factor above 1.
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
