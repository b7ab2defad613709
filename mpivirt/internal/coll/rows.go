package coll

import (
	"math"
	"slices"
)

// An alltoallv in which most blocks are not empty. The lengths of a member's blocks lie in a row, without the
// numbers of the others, and rounds and copies go through rows as an alltoall goes through its blocks. Members whose blocks all have the same length
// have no row. If some member's blocks are mostly empty, on whatever engine, or some block is above the eager limit, rows become lists. Several engines know of
// both once all members have entered; see rowsbetween.go.

// denseFrom is the number of blocks of which one at least is not empty in a row. A listed block costs about as much as so many in a row.
const denseFrom = 8

const (
	listed = -1 // of a member that has lists
	inRow  = -2 // of a member whose blocks differ
)

// rowPair has the lengths of the blocks that members here send, and of the blocks that they expect.
type rowPair struct {
	in, out rows
	kept    int      // members
	arrived arrivals // blocks of other engines' members for members here
}

// rows are the lengths of the blocks of members here.
type rows struct {
	first   int     // member here
	members int     // in a row
	each    []int32 // by member, counted from the first: the length of all its blocks; listed; inRow
	lengths []int32 // rows, if there is any, stride apart
	columns columns
}

// columns are the lengths of the messages of some rounds, by member here.
type columns struct {
	lengths []int32 // by round, from a first one on, stride apart
	first   int     // round; -1 for none
	stride  int
}

// of returns the lengths of a round, which fill stores with those of the rounds behind it if they are not there yet.
func (c *columns) of(round, members int, fill func(lengths []int32, stride int)) []int32 {
	if c.first < 0 || round < c.first || round >= c.first+atOnce {
		if c.lengths == nil {
			c.stride = members + skew
			c.lengths = make([]int32, atOnce*c.stride)
		}
		c.first = round
		fill(c.lengths, c.stride)
	}
	return c.lengths[(round-c.first)*c.stride:][:members]
}

// skew is the number of further elements of a row: rows whose distance is a power of two would compete for the same sets of a cache.
const skew = 16

func (r *rows) stride() int { return r.members + skew }

// atOnce is the number of columns that are read together: those of one line of the cache.
const atOnce = 16

// reset leaves no rows.
func (p *rowPair) reset() {
	if p == nil {
		return
	}
	p.kept = 0
	for _, r := range []*rows{&p.in, &p.out} {
		for i := range r.each {
			r.each[i] = listed
		}
		r.columns.first = -1
	}
	p.arrived.reset()
}

// used reports whether all members here have rows.
func (p *rowPair) used() bool { return p != nil && p.kept > 0 && p.kept == len(p.in.each) }

// newRows returns rows of no member of a communicator.
func newRows(comm *Communicator) rows {
	return rows{first: comm.First, members: comm.Size, each: slices.Repeat([]int32{listed}, comm.Last-comm.First), columns: columns{first: -1}}
}

// keepRows stores the lengths of a member's blocks in rows, if they are such. It returns the length of the longest.
func (u *uneven) keepRows(comm *Communicator, local int, v *Collective) (most int64, kept bool) {
	if u.listsSome() {
		return 0, false
	}
	sent, longestSent, dense := shapeOf(v.InCounts)
	if !dense {
		return 0, false
	}
	expected, longest, dense := shapeOf(v.OutCounts)
	if !dense {
		return 0, false
	}
	if u.rows == nil {
		u.rows = &rowPair{in: newRows(comm), out: newRows(comm), arrived: arrivals{columns: columns{first: -1}}}
	}
	u.rows.in.keep(local, sent, v.InCounts)
	u.rows.out.keep(local, expected, v.OutCounts)
	u.rows.kept++
	return max(longestSent, longest), true
}

// listsSome reports whether a member before has lists: the other members' rows would become lists.
func (u *uneven) listsSome() bool { return len(u.in.peers) > 0 }

// shapeOf returns the length of all blocks, inRow if they differ, the length of the longest, and whether most blocks are not empty and none is too long
// for a row.
func shapeOf(counts []int64) (each int32, longest int64, dense bool) {
	first, same := counts[0], true
	for _, n := range counts {
		if n != first {
			same = false
			break
		}
	}
	if same {
		return int32(min(first, math.MaxInt32)), first, first > 0 && first < math.MaxInt32
	}
	some := 0
	for _, n := range counts {
		if n > 0 {
			some++
		}
		longest = max(longest, n)
	}
	return inRow, longest, some*denseFrom >= len(counts) && longest < math.MaxInt32
}

// keep stores the lengths of a member's blocks.
func (r *rows) keep(local int, each int32, counts []int64) {
	r.each[local] = each
	if each != inRow {
		return
	}
	if r.lengths == nil {
		r.lengths = make([]int32, len(r.each)*r.stride())
	}
	row := r.row(local)
	for i, n := range counts {
		row[i] = int32(n)
	}
}

// row returns the row of a member whose blocks differ.
func (r *rows) row(local int) []int32 { return r.lengths[local*r.stride():][:r.members] }

// of returns the length of a member's block for or from another.
func (r *rows) of(local, other int) int64 {
	if each := r.each[local]; each != inRow {
		return int64(each)
	}
	return int64(r.lengths[local*r.stride()+other])
}

// startsAt returns, for others by ascending numbers, where the block for or from each of them begins in the memory of each member here.
func (r *rows) startsAt(others []int) [][]int64 {
	starts := make([][]int64, len(others))
	for i := range starts {
		starts[i] = make([]int64, len(r.each))
	}
	for local, each := range r.each {
		at, next := int64(0), 0
		for i, other := range others {
			if each != inRow {
				at = int64(each) * int64(other)
			} else {
				for _, n := range r.row(local)[next:other] {
					at += int64(n)
				}
				next = other
			}
			starts[i][local] = at
		}
	}
	return starts
}

// same returns the length of all blocks of all members here, -1 if they differ.
func (r *rows) same() int64 {
	for _, n := range r.each {
		if n != r.each[0] || n == inRow {
			return -1
		}
	}
	return int64(r.each[0])
}

// same returns the length of all blocks that members here send and receive, -1 if they differ.
func (p *rowPair) same() int64 {
	n := p.in.same()
	for from, each := range p.arrived.each {
		if here := from - p.in.first; uint(here) >= uint(len(p.in.each)) && int64(each) != n {
			return -1
		}
	}
	return n
}

// onlyRows reports whether the rounds are over rows: all members have them, and no block is above the eager limit. All engines agree on it.
func (u *uneven) onlyRows(limit int64) bool {
	return u.rows.used() && !u.listedElsewhere && u.most <= limit
}

// listRows puts the rows in lists.
func (u *uneven) listRows(comm *Communicator) {
	if u.rows == nil || u.rows.kept == 0 {
		return
	}
	counts := make([]int64, comm.Size)
	for local := range u.rows.in.each {
		if u.rows.in.each[local] == listed {
			continue
		}
		u.rows.in.copyTo(counts, local)
		u.in.add(local, counts)
		u.rows.out.copyTo(counts, local)
		u.out.add(local, counts)
	}
	u.rows.reset()
}

// copyTo copies the lengths of a member's blocks.
func (r *rows) copyTo(counts []int64, local int) {
	for i := range counts {
		counts[i] = r.of(local, i)
	}
}

// column stores the lengths of the messages that members here send and receive in a round of a pairwise exchange.
func (p *rowPair) column(round int, sent, received []int64) {
	p.in.column(round, sent)
	if members := p.in.members; len(sent) < members {
		p.arrived.column(round, p.in.first, members, sent, received)
	} else {
		n := copy(received[round+1:], sent)
		copy(received, sent[n:])
	}
}

// column stores the length of each member's message in a round of a pairwise exchange.
func (r *rows) column(round int, bytes []int64) {
	if r.lengths == nil {
		for i, n := range r.each {
			bytes[i] = int64(n)
		}
		return
	}
	for i, n := range r.columns.of(round, len(r.each), func(lengths []int32, stride int) { r.read(round, lengths, stride) }) {
		bytes[i] = int64(n)
	}
}

// read reads the columns of the rounds from one on.
func (r *rows) read(round int, columns []int32, stride int) {
	for local, each := range r.each {
		if each != inRow {
			for at := local; at < len(columns); at += stride {
				columns[at] = each
			}
			continue
		}
		row, peer := r.row(local), (r.first+local+round+1)%r.members
		for at := local; at < len(columns); at += stride {
			columns[at] = row[peer]
			if peer++; peer == r.members {
				peer = 0
			}
		}
	}
}

// moveRows copies the blocks of members here to members here. It goes through as many receivers at a time as have their next lengths and memory in the cache.
func (c *Collectives) moveRows(inst *instance, inputs [][]byte) {
	u, outputs, first := inst.uneven, inst.local.outputs, inst.comm.First
	in, out, members := &u.rows.in, &u.rows.out, inst.comm.Size
	if size := int(in.same()); size > 0 && int64(size) == out.same() {
		exchangeBlocks(outputs, inputs, first, size, areFar(outputs, members, size))
		return
	}
	begin, at := in.startsAt([]int{first})[0], out.startsAt([]int{first})[0]
	for low := first; low < inst.comm.Last; low += strip {
		end := min(low+strip, inst.comm.Last)
		for local, input := range inputs {
			from, each, lengths, b := first+local, int64(in.each[local]), []int32(nil), begin[local]
			if each == inRow {
				lengths = in.row(local)[low:end]
			}
			for to := low; to < end; to++ {
				n, room := each, int64(out.each[to-first])
				if lengths != nil {
					n = int64(lengths[to-low])
				}
				if room == inRow {
					room = int64(out.lengths[(to-first)*out.stride()+from])
				}
				copy(outputs[to-first][at[to-first]:at[to-first]+room], input[b:b+n])
				if at[to-first] += room; n > room && from != to {
					u.cutsOff(to, cutOff{roundTo(from, to, members), inst.comm.RankOf(from, 0), n, room})
				}
				b += n
			}
			begin[local] = b
		}
	}
}
