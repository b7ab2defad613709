package collectives

import "math/bits"

// Layout defines the bytes of each position of the working buffer: position p is block
// p of the layout. Blocks lie one after another.
//
//	bcast, reduce, allreduce   Split: one vector, cut into W chunks, see LayoutOf;
//	                           Segments: cut into W segments of one size, but the last;
//	                           halves: cut into two halves, each cut into W/2 segments
//	                           Uniform: W vectors, see KeepsVectors
//	scan, exscan               Uniform: W copies of the vector
//	gather, scatter, allgather, reduce_scatter
//	                           Uniform or Given: block i is that of member i;
//	                           parts: blocks 2i and 2i + 1 are the parts of that of member i
//	alltoall                   Uniform: every block has one member's share
//	alltoallv                  Given: the blocks to each member, then those
//	                           from each member; differs by member
//	barrier                    the zero Layout
type Layout struct {
	size  int64   // bytes per element
	count int64   // elements of the vector (cut > 0) or of each block
	cut   int64   // chunks of the vector, if it is split
	piece int64   // elements of each segment but the last, if it is cut into segments
	half  int64   // elements of the first half, if segments are those of two halves
	part  int64   // elements of the first part of each member's block, if it has two parts
	parts bool    // each member's block has two parts
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

// halves cuts a vector into two halves, the first of which may have an element more, and each half into
// segments of some bytes; 0 stands for one segment. It is cut between pieces of up to 8 bytes, as chunks are.
func halves(count, size, segment int64, segments int) Layout {
	l := cut(count, size, 2)
	l.cut, l.half, l.piece = int64(segments), (l.count+1)/2, max(l.count, 1)
	if segment > 0 {
		l.piece = max(segment/l.size, 1)
	}
	return l
}

// ceilings cuts a vector into chunks of a size that is rounded up, as MPICH and Open MPI cut it to scatter
// it in a broadcast: the last chunks are shorter, or empty.
func ceilings(count, size int64, chunks int) Layout {
	l := cut(count, size, chunks)
	l.piece = max((l.count+l.cut-1)/l.cut, 1)
	return l
}

// inTwo returns a layout with two positions for each member's block of count elements: a first segment of
// some bytes and the rest. 0 stands for a first segment of the whole block.
func inTwo(count, size, segment int64) Layout {
	l := Layout{size: size, count: count, part: count, parts: true}
	if segment > 0 {
		l.part = min(max(segment/max(size, 1), 1), count)
	}
	return l
}

// Uniform returns a layout with count elements, each of size bytes, in every block.
func Uniform(count, size int64) Layout { return Layout{size: size, count: count} }

// Uneven returns a layout with counts[i] elements, each of size bytes, in block i.
func Uneven(counts []int64, size int64) Layout {
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
	segment, into := int64(0), equalParts
	if by, ok := s.(segmented); ok {
		segment, into = by.segmentBytes(), by.cutInto()
	}
	switch op {
	case Barrier:
		return Layout{}
	case Bcast, Reduce, Allreduce:
		switch {
		case KeepsVectors(s):
			return Uniform(count, size)
		case into == halfParts:
			return halves(count, size, segment, s.Positions())
		case into == ceilParts:
			return ceilings(count, size, s.Positions())
		case segment > 0:
			return Segments(count, size, segment, s.Positions())
		}
		return cut(count, size, s.Positions())
	}
	if into == blockParts {
		return inTwo(count, size, segment)
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
	if l.cut == 1 { // one vector: without a call
		return int64(block) * l.count * l.size
	}
	return l.offset(block)
}

// offset is Offset for several blocks.
func (l *Layout) offset(block int) int64 {
	switch {
	case l.parts:
		return (int64(block>>1)*l.count + int64(block&1)*l.part) * l.size
	case l.half > 0:
		return l.inHalves(int64(block)) * l.size
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

// inHalves returns the element at which a segment of a half begins.
func (l *Layout) inHalves(block int64) int64 {
	each := l.cut / 2
	switch {
	case block < each:
		return min(l.piece*block, l.half)
	case block < l.cut:
		return min(l.half+l.piece*(block-each), l.count)
	}
	return l.count
}

// Bytes returns the length of a message of these blocks, out of w positions.
func (l *Layout) Bytes(b Blocks, w int) int64 {
	if l.cut == 0 && l.ends == nil && !l.parts {
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
