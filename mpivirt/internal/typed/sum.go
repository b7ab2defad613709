//go:build amd64 && !race

package typed

import "golang.org/x/sys/cpu"

// addition returns the sum of two vectors of float64 by vector instructions, nil for other types
// and for processors without these instructions. Each element has the same bits as in a loop over
// the elements.
func addition[T Datatype]() func(into, left, right []T) {
	if !cpu.X86.HasAVX {
		return nil
	}
	add, _ := any(addDoubles).(func(into, left, right []T))
	return add
}

// addDoubles stores left[i] + right[i] in into[i].
func addDoubles(into, left, right []float64) {
	const piece = 1 << 16 // the runtime cannot interrupt add
	for left, right = left[:len(into)], right[:len(into)]; len(into) > 0; {
		n := min(len(into), piece)
		add(into[:n], left, right)
		into, left, right = into[n:], left[n:], right[n:]
	}
}

// add is addDoubles for slices of which into is the shortest.
//
//go:noescape
func add(into, left, right []float64)
