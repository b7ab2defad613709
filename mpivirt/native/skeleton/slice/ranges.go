package slice

import (
	"math"

	"gigarank/mpivirt/native/skeleton/ir"
)

// mostCounted bounds the integers whose range is followed: sums and products of a few of them fit.
const mostCounted = 1 << 30

// mostFollowed is the number of instructions in a row that lead from an index to a counter.
const mostFollowed = 8

// interval is the integers from the first to the last.
type interval struct{ least, most int64 }

// rangeOf returns the integers among which a value is, if it is made of constants and of counters of loops that begin and end with constants. The depth bounds the instructions
// that are followed.
func rangeOf(v ir.Value, depth int) (r interval, is bool) {
	if n, constant := ir.IntOf(v); constant {
		return fitting(v, interval{n, n})
	}
	l, local := v.(*ir.Local)
	if !local || l.Def == nil || depth == 0 {
		return r, false
	}
	i := l.Def
	switch i.Op {
	case ir.Phi:
		return counterOf(i)
	case ir.SExt:
		return rangeOf(i.Operands[0], depth-1)
	case ir.ZExt:
		r, is = rangeOf(i.Operands[0], depth-1)
		return r, is && r.least >= 0
	case ir.Add, ir.Sub, ir.Mul:
	default:
		return r, false
	}
	a, one := rangeOf(i.Operands[0], depth-1)
	b, other := rangeOf(i.Operands[1], depth-1)
	if !one || !other {
		return r, false
	}
	switch i.Op {
	case ir.Add:
		return fitting(v, interval{a.least + b.least, a.most + b.most})
	case ir.Sub:
		return fitting(v, interval{a.least - b.most, a.most - b.least})
	}
	all := []int64{a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most}
	r = interval{math.MaxInt64, math.MinInt64}
	for _, n := range all {
		r = interval{min(r.least, n), max(r.most, n)}
	}
	return fitting(v, r)
}

// fitting returns a range if all its integers fit into the type of a value, so that no operation has gone around, and are small.
func fitting(v ir.Value, r interval) (interval, bool) {
	limit := int64(mostCounted)
	if bits := v.Of().N; bits < 31 {
		limit = 1 << max(bits-1, 0)
	}
	return r, -limit <= r.least && r.most < limit
}

// counterOf returns the values of a counter: it begins with a constant, changes by a constant in each round of a loop, and each way back to the begin of the loop compares it with a
// constant.
func counterOf(phi *ir.Instr) (r interval, is bool) {
	if len(phi.Operands) != 2 || phi.Result.Type.Kind != ir.Integer {
		return r, false
	}
	for at, v := range phi.Operands {
		first, constant := rangeOf(phi.Operands[1-at], 0)
		next, local := v.(*ir.Local)
		if !constant || !local || next.Def == nil || next.Def.Op != ir.Add || next.Def.Operands[0] != phi.Result {
			continue
		}
		step, constant := rangeOf(next.Def.Operands[1], 0)
		if !constant || step.least == 0 {
			continue
		}
		// In front of the way back the counter is compared, before or after its change.
		bound, holds, ahead := comparedAt(phi.Targets[at], phi, next)
		if holds == "" {
			continue
		}
		return counted(phi.Result, first.least, step.least, bound, holds, ahead)
	}
	return r, false
}

// comparedAt returns the constant with which the last instruction of a block compares a counter, the comparison that holds where the way goes back to the
// counter's block, and whether it is the changed counter. The comparison is "" if there is none.
func comparedAt(b *ir.Block, phi *ir.Instr, next *ir.Local) (bound int64, holds string, changed bool) {
	end := b.Instrs[len(b.Instrs)-1]
	if end.Op != ir.Br || len(end.Targets) != 2 || end.Targets[0] == end.Targets[1] {
		return 0, "", false
	}
	condition, is := end.Operands[0].(*ir.Local)
	if !is || condition.Def == nil || condition.Def.Op != ir.ICmp {
		return 0, "", false
	}
	c := condition.Def
	with, constant := rangeOf(c.Operands[1], 0)
	if !constant || c.Operands[0] != ir.Value(next) && c.Operands[0] != ir.Value(phi.Result) {
		return 0, "", false
	}
	holds = c.Pred
	if end.Targets[0] != phi.Block {
		holds = opposite[holds]
	}
	return with.least, holds, c.Operands[0] == ir.Value(next)
}

// opposite are the comparisons that hold where others do not.
var opposite = map[string]string{"eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt"}

// counted returns the values of a counter from the first that changes by a step while it compares so with a bound.
func counted(v ir.Value, first, step, bound int64, holds string, changed bool) (r interval, is bool) {
	last := bound // in front of which, or at which, the compared value goes on
	switch {
	case holds == "ne" && (bound-first)%step == 0 && (bound-first)/step > 0:
		last = bound - step
	case step > 0 && (holds == "slt" || holds == "ult" && first >= 0 && bound >= 0):
		last = bound - 1
	case step > 0 && (holds == "sle" || holds == "ule" && first >= 0 && bound >= 0):
	case step < 0 && holds == "sgt":
		last = bound + 1
	case step < 0 && holds == "sge":
	default:
		return r, false
	}
	if !changed {
		last += step // the counter that goes on is the changed one
	}
	r = interval{min(first, last), max(first, last)}
	next := r // with the counter that is compared last
	if changed && step > 0 {
		next.most += step
	} else if changed {
		next.least += step
	}
	if _, is = fitting(v, next); !is {
		return r, false
	}
	return r, true
}
