package slice

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/native/skeleton/ir"
)

// offsets draws an offset, and numbers of bytes that it may have: of endless multiples some on both sides.
func offsets(t *rapid.T, name string) (o offset, some []int64) {
	at, step, most := rapid.Int64Range(-20, 40).Draw(t, name), rapid.Int64Range(0, 12).Draw(t, name+" step"), rapid.Int64Range(0, 6).Draw(t, name+" most")
	switch {
	case step == 0:
		return offset{at: at}, []int64{at}
	case most == 0:
		for n := int64(-40); n <= 40; n++ {
			some = append(some, at+n*step)
		}
		return offset{(at%step + step) % step, step, 0}, some
	}
	for n := range most + 1 {
		some = append(some, at+n*step)
	}
	return offset{at, step, most}, some
}

// TestSpansOverlap: spans that have a byte in common overlap, and so do those at sums of offsets. Spans without steps overlap only then.
func TestSpansOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, atA := offsets(t, "a")
		b, atB := offsets(t, "b")
		c, atC := offsets(t, "c")
		bytes, other := rapid.Int64Range(1, 16).Draw(t, "bytes"), rapid.Int64Range(1, 16).Draw(t, "others")
		p, q := span{a.plus(b), bytes}, span{c, other}
		common := false
		for _, x := range atA {
			for _, y := range atB {
				for _, z := range atC {
					common = common || x+y < z+other && z < x+y+bytes
				}
			}
		}
		if got := p.overlaps(q); common && !got || got != q.overlaps(p) || a.step+b.step+c.step == 0 && got != common {
			t.Fatalf("%v and %v: overlap %v and %v, have bytes in common: %v", p, q, got, q.overlaps(p), common)
		}
	})
}

// TestCountersHaveRanges: a counter has no value besides those of its range, in loops that end.
func TestCountersHaveRanges(t *testing.T) {
	kind := &ir.Type{Kind: ir.Integer, N: 64}
	v := &ir.Local{Type: kind}
	holds := map[string]func(a, b int64) bool{
		"eq": func(a, b int64) bool { return a == b }, "ne": func(a, b int64) bool { return a != b },
		"slt": func(a, b int64) bool { return a < b }, "sle": func(a, b int64) bool { return a <= b }, "sgt": func(a, b int64) bool { return a > b }, "sge": func(a, b int64) bool { return a >= b },
		"ult": func(a, b int64) bool { return uint64(a) < uint64(b) }, "ule": func(a, b int64) bool { return uint64(a) <= uint64(b) },
		"ugt": func(a, b int64) bool { return uint64(a) > uint64(b) }, "uge": func(a, b int64) bool { return uint64(a) >= uint64(b) },
	}
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		first, step, bound := rapid.Int64Range(-9, 9).Draw(t, "first"), rapid.Int64Range(-3, 3).Filter(func(n int64) bool { return n != 0 }).Draw(t, "step"), rapid.Int64Range(-20, 20).Draw(t, "bound")
		name, changed := rapid.SampledFrom([]string{"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"}).Draw(t, "comparison"), rapid.Bool().Draw(t, "changed")
		r, is := counted(v, first, step, bound, name, changed)
		if !is {
			return
		}
		known++
		count, rounds := first, 0
		for ; rounds < 100; rounds++ {
			if count < r.least || count > r.most {
				t.Fatalf("from %d by %d while %s %d: %d is not from %d to %d", first, step, name, bound, count, r.least, r.most)
			}
			compared := count
			if changed {
				compared += step
			}
			if !holds[name](compared, bound) {
				break
			}
			count += step
		}
		if rounds == 100 {
			t.Fatalf("from %d by %d while %s %d: the loop does not end, and has the range from %d to %d", first, step, name, bound, r.least, r.most)
		}
	})
	if known == 0 {
		t.Error("no counter has a range")
	}
}

// TestNarrowCountersGoAround: a counter that goes around in its type has no range without the integers that it comes to then.
func TestNarrowCountersGoAround(t *testing.T) {
	v := &ir.Local{Type: &ir.Type{Kind: ir.Integer, N: 8}}
	holds := map[string]func(a, b int8) bool{
		"ne": func(a, b int8) bool { return a != b }, "slt": func(a, b int8) bool { return a < b }, "sle": func(a, b int8) bool { return a <= b },
		"sgt": func(a, b int8) bool { return a > b }, "sge": func(a, b int8) bool { return a >= b },
		"ult": func(a, b int8) bool { return uint8(a) < uint8(b) }, "ule": func(a, b int8) bool { return uint8(a) <= uint8(b) },
	}
	rapid.Check(t, func(t *rapid.T) {
		first, step, bound := rapid.Int8().Draw(t, "first"), rapid.Int8().Filter(func(n int8) bool { return n != 0 }).Draw(t, "step"), rapid.Int8().Draw(t, "bound")
		name, changed := rapid.SampledFrom(slices.Sorted(maps.Keys(holds))).Draw(t, "comparison"), rapid.Bool().Draw(t, "changed")
		r, is := counted(v, int64(first), int64(step), int64(bound), name, changed)
		if !is {
			return
		}
		count := first
		for range 300 {
			if int64(count) < r.least || int64(count) > r.most {
				t.Fatalf("from %d by %d while %s %d: %d is not from %d to %d", first, step, name, bound, count, r.least, r.most)
			}
			compared := count
			if changed {
				compared += step
			}
			if !holds[name](compared, bound) {
				break
			}
			count += step
		}
	})
}
