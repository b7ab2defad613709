package coll

import (
	"math"
	"slices"
)

// An alltoallv in which most blocks are not empty. Where an engine has all members, the lengths of a member's blocks lie in a row, without the
// numbers of the others, and rounds and copies go through rows as an alltoall goes through its blocks. Members whose blocks all have the same length
// have no row. If some member's blocks are mostly empty, or some block is above the eager limit, rows become lists.

// denseFrom is the number of blocks of which one at least is not empty in a row. A listed block costs about as much as so many in a row.
const denseFrom = 8

const (
	listed = -1 // of a member that has lists
	inRow  = -2 // of a member whose blocks differ
)

// rowPair has the lengths of the blocks that members send, and of the blocks that they expect.
type rowPair struct {
	in, out rows
	kept    int // members
}

// rows are the lengths of the blocks of members.
type rows struct {
	members int
	each    []int32 // by member: the length of all its blocks; listed; inRow
	lengths []int32 // rows, if there is any, stride apart
	columns []int32 // the columns of some rounds, stride apart
	first   int     // round of the first column; -1 for none
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
		r.first = -1
	}
}

// used reports whether all members have rows.
func (p *rowPair) used() bool { return p != nil && p.kept > 0 && p.kept == p.in.members }

// newRows returns rows of no member.
func newRows(members int) rows {
	return rows{members: members, each: slices.Repeat([]int32{listed}, members), first: -1}
}

// keepRows stores the lengths of a member's blocks in rows, if they are such. It returns the length of the longest.
func (u *uneven) keepRows(comm *Communicator, local int, v *Collective) (most int64, kept bool) {
	if comm.Locals < comm.Size || u.listsSome(local) {
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
		u.rows = &rowPair{in: newRows(comm.Size), out: newRows(comm.Size)}
	}
	u.rows.in.keep(local, sent, v.InCounts)
	u.rows.out.keep(local, expected, v.OutCounts)
	u.rows.kept++
	return max(longestSent, longest), true
}

// listsSome reports whether a member before has lists: the other members' rows would become lists.
func (u *uneven) listsSome(local int) bool { return len(u.in.peers) > 0 }

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
		r.lengths = make([]int32, r.members*r.stride())
	}
	row := r.row(local)
	for i, n := range counts {
		row[i] = int32(n)
	}
}

// row returns the row of a member whose blocks differ.
func (r *rows) row(local int) []int32 { return r.lengths[local*r.stride():][:r.members] }

// same returns the length of all blocks of all members, -1 if they differ.
func (r *rows) same() int64 {
	for _, n := range r.each {
		if n != r.each[0] || n == inRow {
			return -1
		}
	}
	return int64(r.each[0])
}

// onlyRows reports whether the rounds are over rows: all members have them, and no block is above the eager limit.
func (u *uneven) onlyRows(limit int64) bool {
	return u.rows.used() && u.most <= limit
}

// listRows puts the rows in lists.
func (u *uneven) listRows(comm *Communicator) {
	if u.rows == nil || u.rows.kept == 0 {
		return
	}
	counts := make([]int64, comm.Size)
	for local := range comm.Size {
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
		if counts[i] = int64(r.each[local]); r.each[local] == inRow {
			counts[i] = int64(r.row(local)[i])
		}
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
	if r.first < 0 || round < r.first || round >= r.first+atOnce {
		r.read(round)
	}
	for i, n := range r.columns[(round-r.first)*r.stride():][:r.members] {
		bytes[i] = int64(n)
	}
}

// read reads the columns of the rounds from one on.
func (r *rows) read(round int) {
	stride := r.stride()
	if r.columns == nil {
		r.columns = make([]int32, atOnce*stride)
	}
	r.first = round
	for local, each := range r.each {
		if each != inRow {
			for at := local; at < len(r.columns); at += stride {
				r.columns[at] = each
			}
			continue
		}
		row, peer := r.row(local), (local+round+1)%r.members
		for at := local; at < len(r.columns); at += stride {
			r.columns[at] = row[peer]
			if peer++; peer == r.members {
				peer = 0
			}
		}
	}
}

// moveRows copies the blocks of members to members. It goes through as many receivers at a time as have their next lengths and memory in the cache.
func (c *Collectives) moveRows(inst *instance, inputs [][]byte) {
	u, outputs := inst.uneven, inst.local.outputs
	in, out, members := &u.rows.in, &u.rows.out, inst.comm.Size
	if size := int(in.same()); size > 0 && int64(size) == out.same() {
		exchangeBlocks(outputs, inputs, 0, size, areFar(outputs, members, size))
		return
	}
	begin, at := make([]int64, members), make([]int64, members)
	for low := 0; low < members; low += strip {
		end := min(low+strip, members)
		for from, input := range inputs {
			each, lengths, b := int64(in.each[from]), []int32(nil), begin[from]
			if each == inRow {
				lengths = in.row(from)[low:end]
			}
			for to := low; to < end; to++ {
				n, room := each, int64(out.each[to])
				if lengths != nil {
					n = int64(lengths[to-low])
				}
				if room == inRow {
					room = int64(out.lengths[to*out.stride()+from])
				}
				copy(outputs[to][at[to]:at[to]+room], input[b:b+n])
				if at[to] += room; n > room && from != to {
					u.cutsOff(to, cutOff{roundTo(from, to, members), inst.comm.RankOf(from, 0), n, room})
				}
				b += n
			}
			begin[from] = b
		}
	}
}
