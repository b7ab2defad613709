package collectives

// Blocks is a set of positions of a member's working buffer of w positions, in
// ascending cyclic order. With Run 0 it is the cyclic range of Count positions from
// First. With Run > 0 it is Count positions in runs of Run positions that begin 2·Run
// apart (First, First + 2·Run, …). The last run is cut short, and nothing wraps round. With Run < 0 it is
// Count single positions that lie −Run apart, in cyclic order; −Run < 2w.
// The zero value is empty.
type Blocks struct {
	First, Count int
	Run          int
}

// Next returns the first contiguous run of the set, as its first position and its
// length, and the set without that run. Call it while Count > 0:
//
//	for first, n := 0, 0; b.Count > 0; {
//		first, n, b = b.Next(w)
//		…
//	}
func (b Blocks) Next(w int) (first, count int, rest Blocks) {
	switch {
	case b.Run < 0:
		return b.First, 1, Blocks{(b.First - b.Run) % w, b.Count - 1, b.Run}
	case b.Run > 0:
		n := min(b.Run, b.Count)
		return b.First, n, Blocks{b.First + 2*b.Run, b.Count - n, b.Run}
	}
	n := min(b.Count, w-b.First)
	return b.First, n, Blocks{First: 0, Count: b.Count - n}
}

// withBit returns the positions below w that have bit k set.
func withBit(k, w int) Blocks {
	bit := 1 << k
	return Blocks{First: bit, Count: w>>(k+1)<<k + max(0, w&(2*bit-1)-bit), Run: bit}
}

// wrap returns i mod n for -n <= i < 2n.
func wrap(i, n int) int {
	if i < 0 {
		return i + n
	}
	if i >= n {
		return i - n
	}
	return i
}
