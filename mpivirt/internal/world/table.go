package world

import (
	"iter"
	"slices"
)

// Table holds values by index. Indices only grow, and each is used once, so an index out of use
// finds nothing. The memory grows with the number of values in use. The table is an open hash table
// (Knuth, The Art of Computer Programming, volume 3, 6.4, algorithms L and R), in which the home of
// an index is the index modulo a power of two: as long as few indices are out of use, a single
// probe finds it.
type Table[T any] struct {
	places []place[T] // a power of two of places, less than half in use
	inUse  int
	next   int32 // index of the next value
	reach  int32 // greatest distance of a value from its home
}

type place[T any] struct {
	number int32 // the index plus one; 0 for none
	value  *T
}

// tableFirst is the number of places of a table at first.
const tableFirst = 8

// TablePlaces is memory for the first places of a table.
type TablePlaces[T any] [tableFirst]place[T]

// Begin gives an empty table its first places, in memory that the table's owner allocates together
// with other values. It writes there before it reads: a page of fresh memory that is read first takes two faults.
func (t *Table[T]) Begin(places *TablePlaces[T]) {
	*places = TablePlaces[T]{}
	t.places = places[:]
}

// Add stores a value and returns its index, 0 for the first value.
func (t *Table[T]) Add(value *T) int32 {
	if 2*(t.inUse+1) > len(t.places) {
		t.grow()
	}
	index := t.next
	t.next++
	t.inUse++
	t.put(place[T]{index + 1, value})
	return index
}

// put stores a value in its home or the next free place.
func (t *Table[T]) put(p place[T]) {
	index := p.number - 1
	at := t.find(index)
	t.reach = max(t.reach, (int32(at)-index)&int32(len(t.places)-1))
	t.places[at] = p
}

// At returns the value with an index, nil for an index out of use.
func (t *Table[T]) At(index int32) *T {
	mask := len(t.places) - 1
	if p := &t.places[int(index)&mask]; p.number == index+1 {
		return p.value
	}
	return t.places[t.find(index)].value
}

// find returns the place of an index, or the free place where it belongs.
func (t *Table[T]) find(index int32) int {
	mask := len(t.places) - 1
	at := int(index) & mask
	for t.places[at].number != 0 && t.places[at].number != index+1 {
		at = (at + 1) & mask
	}
	return at
}

func (t *Table[T]) grow() {
	before := t.places
	t.places, t.reach = make([]place[T], max(tableFirst, 2*len(before))), 0
	for _, p := range before {
		if p.number != 0 {
			t.put(p)
		}
	}
}

// Remove removes the value with an index, which must be in use.
func (t *Table[T]) Remove(index int32) {
	mask := len(t.places) - 1
	free := t.find(index)
	t.inUse--
	for at := (free + 1) & mask; t.places[at].number != 0 && (at-free)&mask <= int(t.reach); at = (at + 1) & mask {
		// A value may move up to the free place unless its home lies behind that place.
		if home := int(t.places[at].number-1) & mask; (at-home)&mask >= (at-free)&mask {
			t.places[free], free = t.places[at], at
		}
	}
	t.places[free] = place[T]{}
}

// InUse returns the number of indices in use.
func (t *Table[T]) InUse() int { return t.inUse }

// Values visits the values in arbitrary order.
func (t *Table[T]) Values() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, p := range t.places {
			if p.number != 0 && !yield(p.value) {
				return
			}
		}
	}
}

// All returns the values in the order of their indices.
func (t *Table[T]) All() (values []*T) {
	used := make([]place[T], 0, t.inUse)
	for _, p := range t.places {
		if p.number != 0 {
			used = append(used, p)
		}
	}
	slices.SortFunc(used, func(a, b place[T]) int { return int(a.number) - int(b.number) })
	for _, p := range used {
		values = append(values, p.value)
	}
	return values
}
