package datatype

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/world"
)

func must(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	return t
}

var char, float, double, integer = Of[int8](), Of[float32](), Of[float64](), Of[int32]()

// mixed is {(double, 0), (char, 8)}, of extent 16.
func mixed() *Type {
	return must(Struct([]int{1, 1}, []int64{0, 8}, []*Type{double, char}))
}

// The type maps and extents that MPI 4.1, 5.1.1 to 5.1.7, works out.
func TestTypeMapsOfTheStandard(t *testing.T) {
	pair := func(displacements ...int64) (all []Element) { // a double and a char at each
		for _, d := range displacements {
			all = append(all, Element{d, 8}, Element{d + 8, 1})
		}
		return all
	}
	for _, c := range []struct {
		name       string
		t          *Type
		want       []Element
		lb, extent int64
	}{
		{"MPI_TYPE_CREATE_STRUCT, example 5.1", mixed(), pair(0), 0, 16},
		{"MPI_TYPE_CONTIGUOUS(3)", must(Contiguous(3, mixed())), pair(0, 16, 32), 0, 48},
		{"MPI_TYPE_VECTOR(2, 3, 4)", must(Vector(2, 3, 4, mixed())), pair(0, 16, 32, 64, 80, 96), 0, 112},
		{"MPI_TYPE_VECTOR(3, 1, -2)", must(Vector(3, 1, -2, mixed())), pair(0, -32, -64), -64, 80},
		{"MPI_TYPE_CREATE_HVECTOR", must(Hvector(2, 1, 40, mixed())), pair(0, 40), 0, 56},
		{"MPI_TYPE_INDEXED((3, 1), (4, 0))", must(Indexed([]int{3, 1}, []int{4, 0}, mixed())), pair(64, 80, 96, 0), 0, 112},
		{"MPI_TYPE_CREATE_HINDEXED", must(Hindexed([]int{1, 1}, []int64{48, 8}, mixed())), pair(48, 8), 8, 56},
		{"MPI_TYPE_CREATE_INDEXED_BLOCK", must(IndexedBlock(2, []int{3, 0}, mixed())), pair(48, 64, 0, 16), 0, 80},
		{"MPI_TYPE_CREATE_STRUCT((2, 1, 3), (0, 16, 26))", must(Struct([]int{2, 1, 3}, []int64{0, 16, 26}, []*Type{float, mixed(), char})),
			[]Element{{0, 4}, {4, 4}, {16, 8}, {24, 1}, {26, 1}, {27, 1}, {28, 1}}, 0, 32},
		{"MPI_TYPE_CREATE_RESIZED(-3, 9)", must(Resized(integer, -3, 9)), []Element{{0, 4}}, -3, 9},
		{"two of them", must(Contiguous(2, must(Resized(integer, -3, 9)))), []Element{{0, 4}, {9, 4}}, -3, 18},
		{"nothing", must(Contiguous(0, double)), nil, 0, 0},
	} {
		lb, extent := c.t.Extent()
		if got := c.t.Map(); !slices.Equal(got, c.want) || lb != c.lb || extent != c.extent {
			t.Errorf("%s: %v from %d on, extent %d; want %v, %d, %d", c.name, got, lb, extent, c.want, c.lb, c.extent)
		}
		size := int64(0)
		for _, e := range c.want {
			size += e.Size
		}
		if c.t.Size() != size {
			t.Errorf("%s: size %d, want %d", c.name, c.t.Size(), size)
		}
	}
	if lb, extent := must(Resized(mixed(), -8, 100)).TrueExtent(); lb != 0 || extent != 9 {
		t.Errorf("true extent %d from %d on, want 9 from 0", extent, lb)
	}
}

// slowMap is a type map as the standard defines it: entries and bounds, each from those before.
type slowMap struct {
	entries      []Element
	lb, ub       int64
	lower, upper bool
	align        int64
}

// place returns copies of maps at displacements as one map.
func place(parts []*slowMap, at []int64) *slowMap {
	m := &slowMap{align: 1}
	var lbs, ubs, markedLbs, markedUbs []int64
	for i, p := range parts {
		for _, e := range p.entries {
			m.entries = append(m.entries, Element{e.Displacement + at[i], e.Size})
		}
		if len(p.entries) == 0 && !p.lower && !p.upper {
			continue
		}
		m.align = max(m.align, p.align)
		lbs, ubs = append(lbs, p.lb+at[i]), append(ubs, p.ub+at[i])
		if p.lower {
			markedLbs = append(markedLbs, p.lb+at[i])
		}
		if p.upper {
			markedUbs = append(markedUbs, p.ub+at[i])
		}
	}
	if m.lower, m.upper = len(markedLbs) > 0, len(markedUbs) > 0; m.lower {
		lbs = markedLbs
	}
	if m.upper {
		ubs = markedUbs
	}
	if len(lbs) > 0 {
		m.lb, m.ub = slices.Min(lbs), slices.Max(ubs)
	}
	for !m.upper && (m.ub-m.lb)%m.align != 0 {
		m.ub++
	}
	return m
}

// drawType draws a datatype, and its map by the slow way.
func drawType(t *rapid.T, depth int) (*Type, *slowMap) {
	if depth == 0 {
		basic := rapid.SampledFrom([]*Type{char, Of[int16](), integer, double}).Draw(t, "basic")
		return basic, &slowMap{entries: []Element{{0, basic.size}}, ub: basic.size, align: basic.size}
	}
	of, slow := drawType(t, depth-1)
	extent := slow.ub - slow.lb
	small, shift := rapid.IntRange(0, 3), rapid.IntRange(-4, 4)
	repeat := func(n int, first, stride int64) (at []int64) {
		for i := range int64(n) {
			at = append(at, first+i*stride)
		}
		return at
	}
	of1 := func(at []int64) *slowMap {
		parts := make([]*slowMap, len(at))
		for i := range parts {
			parts[i] = slow
		}
		return place(parts, at)
	}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		n := small.Draw(t, "count")
		return must(Contiguous(n, of)), of1(repeat(n, 0, extent))
	case 1:
		n, length, stride := small.Draw(t, "count"), small.Draw(t, "length"), shift.Draw(t, "stride")
		var at []int64
		for i := range n {
			at = append(at, repeat(length, int64(i*stride)*extent, extent)...)
		}
		return must(Vector(n, length, stride, of)), of1(at)
	case 2:
		lengths := rapid.SliceOfN(small, 0, 3).Draw(t, "lengths")
		var at []int64
		displacements := make([]int, len(lengths))
		for i, n := range lengths {
			displacements[i] = shift.Draw(t, "displacement")
			at = append(at, repeat(n, int64(displacements[i])*extent, extent)...)
		}
		return must(Indexed(lengths, displacements, of)), of1(at)
	case 3:
		other, slowOther := drawType(t, depth-1)
		d := []int64{int64(shift.Draw(t, "bytes")), int64(shift.Draw(t, "bytes"))}
		n := small.Draw(t, "count")
		parts, at := []*slowMap{slow}, []int64{d[0]}
		for i := range int64(n) {
			parts, at = append(parts, slowOther), append(at, d[1]+i*(slowOther.ub-slowOther.lb))
		}
		return must(Struct([]int{1, n}, d, []*Type{of, other})), place(parts, at)
	default:
		lb, length := int64(shift.Draw(t, "lb")), int64(rapid.IntRange(0, 20).Draw(t, "extent"))
		return must(Resized(of, lb, length)), &slowMap{slices.Clone(slow.entries), lb, lb + length, true, true, slow.align}
	}
}

// Types of types have the maps, bounds and sizes of the definitions in 5.1.2 to 5.1.7; packing
// takes the elements in the order of the map, and unpacking puts them back and touches nothing
// else.
func TestTypesFollowTheDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of, slow := drawType(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		lb, extent := of.Extent()
		if got := of.Map(); !slices.Equal(got, slow.entries) || lb != slow.lb || extent != slow.ub-slow.lb {
			t.Fatalf("%v from %d on, extent %d; want %+v", got, lb, extent, slow)
		}
		count := rapid.IntRange(0, 3).Draw(t, "count")
		// The memory reaches a bit further than the values, whose displacements may be negative.
		const margin = 64
		least, most := int64(0), int64(0)
		for i := range int64(count) {
			for _, e := range slow.entries {
				from := i*(slow.ub-slow.lb) + e.Displacement
				least, most = min(least, from), max(most, from+e.Size)
			}
		}
		at, room := int(margin-least), int(margin-least+most+margin)
		memory := make([]byte, room)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range memory {
			memory[i] = byte(random.IntN(256))
		}
		var want []byte
		places := map[int]bool{}
		overlaps := false
		for i := range count {
			for _, e := range slow.entries {
				from := at + i*int(slow.ub-slow.lb) + int(e.Displacement)
				want = append(want, memory[from:from+int(e.Size)]...)
				for b := from; b < from+int(e.Size); b++ {
					overlaps = overlaps || places[b]
					places[b] = true
				}
			}
		}
		packed, err := Pack(nil, memory, at, count, of)
		if err != nil || !bytes.Equal(packed, want) || int64(len(packed)) != PackSize(count, of) {
			t.Fatalf("packed %v, %v; want %v", packed, err, want)
		}
		blank := make([]byte, room)
		rest, err := Unpack(packed, blank, at, count, of)
		if err != nil || len(rest) != 0 {
			t.Fatalf("%d bytes are left, %v", len(rest), err)
		}
		for i, b := range blank {
			if !overlaps && places[i] && b != memory[i] || !places[i] && b != 0 {
				t.Fatalf("byte %d is %d, and was %d", i, b, memory[i])
			}
		}
		if got := of.Elements(int64(len(packed))); of.size > 0 && (got != count*len(slow.entries) || of.Count(int64(len(packed))) != count) {
			t.Fatalf("%d elements and %d values, want %d of %d", got, of.Count(int64(len(packed))), len(slow.entries), count)
		}
	})
}

// MPI 4.1, 5.1.3: a subarray selects the elements from its starts on; 5.1.4: the parts of a
// distributed array hold each element once, by the rule of its distribution.
func TestArraysSelectTheirElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "dimensions")
		order := Order(rapid.IntRange(0, 1).Draw(t, "order"))
		dimensions, sizes := make([]Dimension, n), make([]int, n)
		total, processes := 1, 1
		for i := range dimensions {
			d := Dimension{rapid.IntRange(1, 6).Draw(t, "size"), Distribution(rapid.IntRange(0, 2).Draw(t, "distribution")), DefaultArgument, rapid.IntRange(1, 3).Draw(t, "processes")}
			if d.Distribution == None {
				d.Processes = 1
			}
			if rapid.Bool().Draw(t, "given") {
				d.Argument = rapid.IntRange((d.Size+d.Processes-1)/d.Processes, 6).Draw(t, "argument")
			}
			dimensions[i], sizes[i] = d, d.Size
			total, processes = total*d.Size, processes*d.Processes
		}
		index := func(element int) []int { // of an element in memory
			at := make([]int, n)
			for i := range n {
				d := i
				if order == RowMajor {
					d = n - 1 - i
				}
				at[d] = element % sizes[d]
				element /= sizes[d]
			}
			return at
		}
		for rank := range processes {
			var want []Element
			for element := range total {
				holder := 0
				for i, x := range index(element) {
					d, mine := dimensions[i], 0
					switch {
					case d.Distribution == Block && d.Argument == DefaultArgument:
						mine = x / ((d.Size + d.Processes - 1) / d.Processes)
					case d.Distribution == Block:
						mine = x / d.Argument
					case d.Distribution == Cyclic:
						mine = x / max(d.Argument, 1) % d.Processes
					}
					holder = holder*d.Processes + mine
				}
				if holder == rank {
					want = append(want, Element{int64(8 * element), 8})
				}
			}
			of, err := Darray(rank, dimensions, order, double)
			if err != nil {
				t.Fatal(err)
			}
			lb, extent := of.Extent()
			if got := of.Map(); !slices.Equal(got, want) || lb != 0 || extent != int64(8*total) {
				t.Fatalf("process %d of %+v has %v, extent %d; want %v", rank, dimensions, got, extent, want)
			}
		}
		subsizes, starts := make([]int, n), make([]int, n)
		for d, size := range sizes {
			subsizes[d] = rapid.IntRange(1, size).Draw(t, "subsize")
			starts[d] = rapid.IntRange(0, size-subsizes[d]).Draw(t, "start")
		}
		var want []Element
		for element := range total {
			inside := true
			for d, x := range index(element) {
				inside = inside && x >= starts[d] && x < starts[d]+subsizes[d]
			}
			if inside {
				want = append(want, Element{int64(8 * element), 8})
			}
		}
		of := must(Subarray(sizes, subsizes, starts, order, double))
		if _, extent := of.Extent(); !slices.Equal(of.Map(), want) || extent != int64(8*total) {
			t.Fatalf("%v from %v on of %v: %v, want %v", subsizes, starts, sizes, of.Map(), want)
		}
	})
}

// Faulty arguments are errors of their class, and no element outside a buffer is touched.
func TestFaultyDatatypes(t *testing.T) {
	_, count := Contiguous(-1, char)
	_, null := Vector(1, 1, 1, nil)
	_, lists := Struct([]int{1}, nil, nil)
	_, part := Subarray([]int{4}, []int{3}, []int{2}, RowMajor, char)
	_, short := Darray(0, []Dimension{{9, Block, 2, 4}}, RowMajor, char)
	_, none := Darray(0, []Dimension{{9, None, DefaultArgument, 2}}, RowMajor, char)
	_, outside := Pack(nil, make([]byte, 8), 1, 1, double)
	_, before := Unpack(nil, make([]byte, 8), 0, 1, must(Hindexed([]int{1}, []int64{-1}, char)))
	for i, c := range []struct {
		err  error
		want world.ErrorClass
	}{
		{count, world.ErrCount}, {null, world.ErrType}, {lists, world.ErrArgument}, {part, world.ErrArgument}, {short, world.ErrArgument}, {none, world.ErrArgument},
		{outside, world.ErrBuffer}, {before, world.ErrBuffer},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%d: %v, want %v", i, c.err, c.want)
		}
	}
	for bytes, want := range map[int64]string{0: "0 0", 8: "-32766 1", 9: "1 2", 17: "-32766 3", 18: "2 4", 4: "-32766 -32766"} {
		if got := fmt.Sprint(mixed().Count(bytes), " ", mixed().Elements(bytes)); got != want {
			t.Errorf("%d bytes: %s, want %s", bytes, got, want)
		}
	}
}
