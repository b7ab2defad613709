package datatype

import "gigarank/mpivirt/internal/world"

// Element is an entry of a type map: a basic element of a size at a displacement.
type Element struct{ Displacement, Size int64 }

// Map returns the type map. It takes memory for each element.
func (t *Type) Map() []Element {
	var all []Element
	t.walk(0, func(at int64, basic *Type) bool {
		all = append(all, Element{at, basic.size})
		return true
	})
	return all
}

// walk visits the elements in the order of the type map until visit returns false.
func (t *Type) walk(at int64, visit func(at int64, basic *Type) bool) bool {
	if t.pieces == nil {
		return t.elements == 0 || visit(at, t)
	}
	for _, p := range t.pieces {
		for i := range p.count {
			if !p.of.walk(at+p.at+i*p.stride, visit) {
				return false
			}
		}
	}
	return true
}

// runs visits the memory of a value in the order of the type map, in stretches as long as the
// type tells.
func (t *Type) runs(at int64, visit func(at, bytes int64)) {
	if t.dense {
		visit(at, t.size)
		return
	}
	for _, p := range t.pieces {
		if p.of.dense && p.stride == p.of.size {
			visit(at+p.at, p.count*p.of.size)
			continue
		}
		for i := range p.count {
			p.of.runs(at+p.at+i*p.stride, visit)
		}
	}
}

// values visits the memory of consecutive values.
func (t *Type) values(at int64, count int, visit func(at, bytes int64)) {
	for i := range int64(count) {
		t.runs(at+i*(t.ub-t.lb), visit)
	}
}

// Check returns the error of consecutive values that are not all in a buffer, nil if they are.
// Displacements count from byte at of it. Errors: ErrBuffer, ErrCount, ErrType.
func Check(buffer []byte, at, count int, t *Type) error {
	if err := check([]int{count}, t); err != nil {
		return err
	}
	if count == 0 || t.elements == 0 {
		return nil
	}
	extent := t.ub - t.lb
	first, last := int64(at)+t.first, int64(at)+t.last
	first, last = min(first, first+int64(count-1)*extent), max(last, last+int64(count-1)*extent)
	if first < 0 || last > int64(len(buffer)) {
		return world.Errorf(world.ErrBuffer, "%d values of the type from byte %d on take bytes %d to %d of a buffer of %d", count, at, first, last-1, len(buffer))
	}
	return nil
}

// Pack appends the elements of consecutive values to packed (MPI_Pack). Displacements count from
// byte at of the buffer. Errors: ErrBuffer for elements outside it; ErrCount; ErrType.
func Pack(packed, buffer []byte, at, count int, t *Type) ([]byte, error) {
	if err := Check(buffer, at, count, t); err != nil {
		return packed, err
	}
	t.values(int64(at), count, func(at, bytes int64) { packed = append(packed, buffer[at:at+bytes]...) })
	return packed, nil
}

// Unpack stores packed elements in consecutive values (MPI_Unpack), as many as there are, and
// returns the rest. Errors: as Pack.
func Unpack(packed, buffer []byte, at, count int, t *Type) (rest []byte, err error) {
	if err := Check(buffer, at, count, t); err != nil {
		return packed, err
	}
	t.values(int64(at), count, func(at, bytes int64) {
		packed = packed[copy(buffer[at:at+bytes], packed):]
	})
	return packed, nil
}

// PackSize returns the bytes that packed values take (MPI_Pack_size).
func PackSize(count int, t *Type) int64 { return int64(count) * t.size }

// Count returns how many values a message of so many bytes has, or Undefined if it has a part of
// one (MPI_Get_count).
func (t *Type) Count(bytes int64) int {
	switch {
	case t.size == 0:
		return 0
	case bytes%t.size != 0:
		return world.Undefined
	}
	return int(bytes / t.size)
}

// Elements returns how many basic elements a message of so many bytes has, or Undefined if it
// ends within one (MPI_Get_elements).
func (t *Type) Elements(bytes int64) int {
	if t.size == 0 {
		return 0
	}
	n, rest := bytes/t.size*t.elements, bytes%t.size
	t.walk(0, func(_ int64, basic *Type) bool {
		if rest < basic.size {
			return false
		}
		n, rest = n+1, rest-basic.size
		return rest > 0
	})
	if rest != 0 {
		return world.Undefined
	}
	return int(n)
}
