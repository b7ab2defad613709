package collectives

import "math/bits"

// Layout defines the bytes of each position of the working buffer: position p is block
// p of the layout. Blocks lie one after another.
//
//	bcast, reduce, allreduce   Split: one vector, cut into W chunks, see LayoutOf;
//	                           Segments: cut into W segments of one size, but the last
//	scan, exscan               Uniform: W copies of the vector
//	gather, scatter, allgather, reduce_scatter
//	                           Uniform or Given: block i is that of member i
//	alltoall                   Uniform: every block has one member's share
//	alltoallv                  Given: the blocks to each member, then those
//	                           from each member; differs by member
//	barrier                    the zero Layout
type Layout struct {
	size  int64   // bytes per element
	count int64   // elements of the vector (cut > 0) or of each block
	cut   int64   // chunks of the vector, if it is split
	piece int64   // elements of each segment but the last, if it is cut into segments
	ends  []int64 // elements up to the end of each block, if given
}

// Split cuts a vector of count elements, each of size bytes, into the given
// number of chunks: chunk c has the elements from count·c/chunks up to
// count·(c+1)/chunks, rounded down.
func Split(count, size int64, chunks int) Layout {
	return Layout{size: size, count: count, cut: int64(chunks)}
}

// Segments cuts a vector of count elements, each of size bytes, into segments of some bytes, rounded
// down to whole elements, of which each has at least one. The last segment of the given number has the
// rest.
func Segments(count, size, segment int64, segments int) Layout {
	return Layout{size: size, count: count, cut: int64(segments), piece: max(segment/max(size, 1), 1)}
}

// Uniform returns a layout with count elements, each of size bytes, in every block.
func Uniform(count, size int64) Layout { return Layout{size: size, count: count} }

// Given returns a layout with counts[i] elements, each of size bytes, in block i.
func Given(counts []int64, size int64) Layout {
	ends := make([]int64, len(counts))
	sum := int64(0)
	for i, n := range counts {
		sum += n
		ends[i] = sum
	}
	return Layout{size: size, ends: ends}
}

// LayoutOf returns the layout of an operation that is not a v variant. A bcast, reduce,
// allreduce, scan or exscan has count elements, each of size bytes, in the vector,
// other operations in each member's block. A vector is cut between pieces of up to 8
// bytes.
func LayoutOf(op Operation, s Schedule, count, size int64) Layout {
	switch op {
	case Barrier:
		return Layout{}
	case Bcast, Reduce, Allreduce:
		if by, ok := s.(segmented); ok && by.segmentBytes() > 0 {
			return Segments(count, size, by.segmentBytes(), s.Positions())
		}
		return cut(count, size, s.Positions())
	}
	return Uniform(count, size)
}

// widest is the size in bytes of the widest common elements.
const widest = 8

// cut is Split in grains of several elements. The size of a grain in bytes is the greatest power of
// two, up to widest, that divides an even chunk or, if there are no even chunks, the vector. It
// depends on lengths only, so a vector of which only the number of bytes is known is cut like its
// data, whatever their elements. Exceptions are data whose chunks would be even within an element,
// and data with wider elements.
func cut(count, size int64, chunks int) Layout {
	bytes := count * size
	piece := bytes
	if chunks > 0 && bytes%int64(chunks) == 0 {
		piece /= int64(chunks)
	}
	grain := max(min(piece&-piece, widest), size, 1)
	return Split(bytes/grain, grain, chunks)
}

// Offset returns the byte at which a block begins. For the number of blocks it returns
// the length of the buffer.
func (l *Layout) Offset(block int) int64 {
	switch {
	case l.cut == 1: // one vector
		return int64(block) * l.count * l.size
	case l.piece > 0:
		if int64(block) == l.cut {
			return l.count * l.size
		}
		return min(l.piece*int64(block), l.count) * l.size
	case l.cut > 0:
		hi, lo := bits.Mul64(uint64(l.count), uint64(block))
		elements, _ := bits.Div64(hi, lo, uint64(l.cut))
		return int64(elements) * l.size
	case l.ends == nil:
		return int64(block) * l.count * l.size
	case block == 0:
		return 0
	}
	return l.ends[block-1] * l.size
}

// Bytes returns the length of a message of these blocks, out of w positions.
func (l *Layout) Bytes(b Blocks, w int) int64 {
	if l.cut == 0 && l.ends == nil {
		return int64(b.Count) * l.count * l.size
	}
	if l.cut == 1 {
		return int64(b.Count) * l.count * l.size
	}
	bytes := int64(0)
	for first, n := 0, 0; b.Count > 0; {
		first, n, b = b.Next(w)
		bytes += l.Offset(first+n) - l.Offset(first)
	}
	return bytes
}
