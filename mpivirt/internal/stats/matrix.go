package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Matrix sums up the bytes of messages by sender and receiver, each a block of consecutive ranks. It takes memory for the
// pairs between which there were messages.
type Matrix struct {
	block int // ranks of a block; 0 if there is no matrix
	side  int // number of blocks
	bytes map[pair]uint64
}

// pair is the number of the sender's block and of the receiver's.
type pair struct{ from, to int32 }

func (p pair) compare(o pair) int {
	return cmp.Or(cmp.Compare(p.from, o.from), cmp.Compare(p.to, o.to))
}

// MatrixSide is the greatest number of rows and columns of a matrix.
const MatrixSide = 1024

// Open begins the matrix of a number of ranks.
func (m *Matrix) Open(ranks int) {
	m.block = max((ranks+MatrixSide-1)/MatrixSide, 1)
	m.side = (ranks + m.block - 1) / m.block
	m.bytes = map[pair]uint64{}
}

// Counts reports whether messages are counted.
func (m *Matrix) Counts() bool { return m.block > 0 }

// Note counts a message from one rank to another.
func (m *Matrix) Note(from, to int, bytes int64) {
	p := pair{int32(from / m.block), int32(to / m.block)}
	m.bytes[p] = addUp(m.bytes[p], uint64(bytes))
}

// Merge adds the matrix of another engine.
func (m *Matrix) Merge(o *Matrix) {
	if o.block == 0 {
		return
	}
	if m.block == 0 {
		*m = Matrix{block: o.block, side: o.side, bytes: map[pair]uint64{}}
	}
	for p, bytes := range o.bytes {
		m.bytes[p] = addUp(m.bytes[p], bytes)
	}
}

// Block returns the number of ranks of a block, 0 if there is no matrix.
func (m *Matrix) Block() int { return m.block }

// Rows returns the bytes by sender's block and receiver's block.
func (m *Matrix) Rows() [][]uint64 {
	if m.block == 0 {
		return nil
	}
	rows := make([][]uint64, m.side)
	for i := range rows {
		rows[i] = make([]uint64, m.side)
	}
	for p, bytes := range m.bytes {
		rows[p.from][p.to] = bytes
	}
	return rows
}

// append appends the matrix to b.
func (m *Matrix) append(b []byte) []byte {
	b = appendWords(b, uint64(m.block), uint64(m.side), uint64(len(m.bytes)))
	for _, p := range slices.SortedFunc(maps.Keys(m.bytes), pair.compare) {
		b = appendWords(b, uint64(p.from), uint64(p.to), m.bytes[p])
	}
	return b
}

// read sets the matrix from the bytes of append.
func (m *Matrix) read(r *reader) {
	m.block, m.side = int(r.word()), int(r.word())
	n := r.word()
	if m.block > 0 {
		m.bytes = map[pair]uint64{}
	}
	for range n {
		p := pair{int32(r.word()), int32(r.word())}
		m.bytes[p] = r.word()
	}
}
