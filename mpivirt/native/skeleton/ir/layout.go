package ir

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Layout is the data layout of a target: sizes and alignments in bytes.
type Layout struct {
	pointers map[int64][2]int64 // by address space: bytes, alignment
	integers map[int64]int64    // alignment, by bits
	floats   map[int64]int64
	vectors  map[int64]int64
}

// floatBits are the bits of floating-point types.
var floatBits = map[Kind]int64{Half: 16, BFloat: 16, Float: 32, Double: 64, X86FP80: 80, FP128: 128, PPCFP128: 128}

// ParseLayout returns the layout that a line "target datalayout" describes, with the defaults of the language reference,
// section "Data Layout", for what it leaves out.
func ParseLayout(text string) (*Layout, error) {
	l := &Layout{
		pointers: map[int64][2]int64{0: {8, 8}},
		integers: map[int64]int64{1: 1, 8: 1, 16: 2, 32: 4, 64: 4},
		floats:   map[int64]int64{16: 2, 32: 4, 64: 8, 128: 16},
		vectors:  map[int64]int64{64: 8, 128: 16},
	}
	for entry := range strings.SplitSeq(text, "-") {
		if entry == "" {
			continue
		}
		key, rest, sized := strings.Cut(entry, ":")
		if key == "" {
			return nil, fmt.Errorf("the data layout has %q, which begins with no letter", entry)
		}
		tables := map[byte]map[int64]int64{'i': l.integers, 'f': l.floats, 'v': l.vectors}
		table := tables[key[0]]
		if !sized || table == nil && key[0] != 'p' {
			continue // byte order, mangling, native integers, the stack
		}
		n, err := strconv.ParseInt(key[1:], 10, 32)
		if key == "p" {
			n, err = 0, nil
		}
		numbers, wrong := bytesOf(rest)
		if err != nil || wrong != nil || table == nil && len(numbers) < 2 {
			return nil, fmt.Errorf("the data layout has %q, which is no size with alignments in bits", entry)
		}
		if table == nil {
			l.pointers[n] = [2]int64{numbers[0], numbers[1]}
			continue
		}
		table[n] = numbers[0]
	}
	return l, nil
}

// bytesOf returns numbers of bits, separated by colons, in bytes.
func bytesOf(text string) (all []int64, err error) {
	for number := range strings.SplitSeq(text, ":") {
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || n <= 0 || n%8 != 0 {
			return nil, fmt.Errorf("%q is no number of bits of whole bytes", number)
		}
		all = append(all, n/8)
	}
	return all, nil
}

// most is the number of bytes up to which a type has a size.
const most = 1 << 48

// Size returns the bytes from one value of a type to the next in an array: its size, rounded up to its alignment.
func (l *Layout) Size(t *Type) (int64, error) {
	size, align, err := l.measure(t, 0)
	return roundUp(size, align), err
}

// Align returns the alignment of a type in bytes.
func (l *Layout) Align(t *Type) (int64, error) {
	_, align, err := l.measure(t, 0)
	return align, err
}

// Field returns the offset of a field in a structure in bytes.
func (l *Layout) Field(t *Type, field int) (int64, error) {
	if t.Kind != Struct || field < 0 || field >= len(t.Fields) {
		return 0, fmt.Errorf("%s has no field %d", t, field)
	}
	offset, _, err := l.fields(t, field, 0)
	return offset, err
}

// measure returns the bytes that a value of a type takes, and its alignment. Depth is the number of types around it.
func (l *Layout) measure(t *Type, depth int) (size, align int64, err error) {
	if depth > deepest {
		return 0, 1, fmt.Errorf("%s is nested too deeply", t)
	}
	switch {
	case t.Kind == Integer:
		return (t.N + 7) / 8, alignOf(l.integers, t.N), nil
	case t.IsFloat():
		n := floatBits[t.Kind]
		if align = l.floats[n]; align == 0 {
			align = powerAbove((n + 7) / 8)
		}
		return (n + 7) / 8, align, nil
	case t.Kind == Pointer:
		p, known := l.pointers[t.N]
		if !known {
			p = l.pointers[0]
		}
		return p[0], p[1], nil
	case t.Kind == Array:
		size, align, err = l.measure(t.Elem, depth+1)
		return l.times(t, roundUp(size, align), align, err)
	case t.Kind == Vector:
		return l.vector(t, depth)
	case t.Kind == Struct && !t.Opaque:
		return l.fields(t, len(t.Fields), depth)
	}
	return 0, 1, fmt.Errorf("%s has no size", t)
}

// times returns the bytes of the elements of an array.
func (l *Layout) times(t *Type, each, align int64, err error) (int64, int64, error) {
	if err != nil {
		return 0, 1, err
	}
	high, low := bits.Mul64(uint64(t.N), uint64(each))
	if high != 0 || low > most {
		return 0, 1, fmt.Errorf("%s has more than %d bytes", t, int64(most))
	}
	return int64(low), align, nil
}

// vector returns the bytes of a vector, whose elements have no padding, and its alignment.
func (l *Layout) vector(t *Type, depth int) (size, align int64, err error) {
	each := t.Elem.N
	if t.Elem.Kind != Integer {
		bytes, _, err := l.measure(t.Elem, depth+1)
		if err != nil {
			return 0, 1, err
		}
		each = bytes * 8
	}
	if t.N > most/max(each, 1) {
		return 0, 1, fmt.Errorf("%s has more than %d bytes", t, int64(most))
	}
	n := t.N * each
	size = (n + 7) / 8
	if align = l.vectors[n]; align == 0 {
		align = powerAbove(size)
	}
	return size, align, nil
}

// fields returns the offset of a field, or the size for the number of fields, and the alignment of the structure.
func (l *Layout) fields(t *Type, field, depth int) (offset, align int64, err error) {
	align = 1
	for i, f := range t.Fields {
		size, own, err := l.measure(f, depth+1)
		if err != nil {
			return 0, 1, err
		}
		size = roundUp(size, own)
		if t.Packed {
			own = 1
		}
		if i <= field {
			offset = roundUp(offset, own)
		}
		align = max(align, own)
		if i < field {
			offset += size
		}
		if offset > most {
			return 0, 1, fmt.Errorf("%s has more than %d bytes", t, int64(most))
		}
	}
	if field == len(t.Fields) {
		offset = roundUp(offset, align)
	}
	return offset, align, nil
}

// alignOf returns the alignment of an integer: that of its size, of the next larger size, or of the largest one.
func alignOf(table map[int64]int64, n int64) int64 {
	next, largest := int64(0), int64(0)
	for size := range table {
		if size >= n && (next == 0 || size < next) {
			next = size
		}
		largest = max(largest, size)
	}
	if next == 0 {
		next = largest
	}
	return table[next]
}

func roundUp(n, align int64) int64 { return (n + align - 1) / align * align }

// powerAbove returns the least power of 2 that is not below n.
func powerAbove(n int64) int64 {
	p := int64(1)
	for p < n {
		p *= 2
	}
	return p
}

// Term is an index of getelementptr that is not constant, with the bytes of a step.
type Term struct {
	Index  Value
	Stride int64
}

// Offset returns the bytes that getelementptr adds to its pointer: a constant, and terms for the indices that are not
// constant. The indices are those behind the pointer.
func (l *Layout) Offset(source *Type, indices []Value) (constant int64, terms []Term, err error) {
	t := source
	for i, index := range indices {
		n, known := IntOf(index)
		if i > 0 && t.Kind == Struct {
			offset, err := l.Field(t, int(n))
			if err != nil || !known {
				return 0, nil, fmt.Errorf("index %s is no field of %s", index, t)
			}
			constant, t = constant+offset, t.Fields[n]
			continue
		}
		if i > 0 {
			if t = t.element(n); t == nil {
				return 0, nil, fmt.Errorf("getelementptr has too many indices for %s", source)
			}
		}
		stride, err := l.Size(t)
		switch {
		case err != nil:
			return 0, nil, err
		case !known:
			terms = append(terms, Term{index, stride})
		case n > most || n < -most || n != 0 && stride > most/max(n, -n):
			return 0, nil, fmt.Errorf("getelementptr adds more than %d bytes", int64(most))
		default:
			constant += n * stride
		}
	}
	return constant, terms, nil
}
