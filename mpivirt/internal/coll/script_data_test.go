package coll

import (
	"encoding/binary"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// blockOf returns the length of the block that a member has, or of an alltoallv sends to another: bytes, or where blocks differ
// a multiple, which may be none.
func (r *scripted) blockOf(bytes int64, member, to int) int64 {
	if !r.uneven {
		return bytes
	}
	return bytes * int64((2*member+to+1)%3)
}

// blocksOf returns the lengths of the blocks of all members.
func (r *scripted) blocksOf(bytes int64) (all []int64, sum int64) {
	for m := range r.comm.Size {
		all = append(all, r.blockOf(bytes, m, 0))
		sum += all[m]
	}
	return all, sum
}

// counts gives the operations whose blocks may differ in length the lengths.
func (r *scripted) counts(v *Collective, me int) {
	all, total := r.blocksOf(v.Bytes)
	switch v.Operation {
	case collectives.Gatherv, collectives.Scatterv:
		v.Counts, v.Bytes = all, all[me]
	case collectives.Allgatherv, collectives.ReduceScatter:
		v.Counts, v.Bytes = all, total
	case collectives.Alltoallv:
		for m := range r.comm.Size {
			v.InCounts, v.OutCounts = append(v.InCounts, r.blockOf(v.Bytes, me, m)), append(v.OutCounts, r.blockOf(v.Bytes, m, me))
			if me == r.longer {
				v.InCounts[m]++
			}
		}
		if me == r.longer {
			v.Input = append(v.Input, make([]byte, r.comm.Size)...)
		}
		if r.longer >= 0 {
			r.want = nil // receivers get an error
		}
		v.Bytes = 0
	}
}

// affine combines maps x -> ax + b of two numbers of 32 bits: it is associative and does not commute, so that
// it tells whether vectors are combined in rank order.
var affine = world.Operator{Name: "affine", Apply: func(into, left, right []byte) {
	for i := 0; i+8 <= len(into); i += 8 {
		a, b := binary.LittleEndian.Uint32(left[i:]), binary.LittleEndian.Uint32(left[i+4:])
		c, d := binary.LittleEndian.Uint32(right[i:]), binary.LittleEndian.Uint32(right[i+4:])
		binary.LittleEndian.PutUint32(into[i:], a*c)
		binary.LittleEndian.PutUint32(into[i+4:], c*b+d)
	}
}}

// total adds, and commutes.
var total = world.Operator{Name: "total", Commutative: true, Apply: func(into, left, right []byte) {
	for i := 0; i+8 <= len(into); i += 8 {
		binary.LittleEndian.PutUint64(into[i:], binary.LittleEndian.Uint64(left[i:])+binary.LittleEndian.Uint64(right[i:]))
	}
}}

// sumOfWords adds as total does, under another name.
var sumOfWords = world.Operator{Name: "sum of words", Commutative: true, Apply: total.Apply}

// contributed returns bytes that a member contributes. They have a period of 256.
func contributed(member int, n int64) []byte {
	b := make([]byte, n)
	made := min(256, len(b))
	for i := range made {
		b[i] = byte(member*31 + i*7 + 1)
	}
	for made < len(b) {
		made += copy(b[made:], b[:made])
	}
	return b
}

// fill gives a call its input and room for its output, and the rank what is to come out (MPI 4.1, chapter 6).
func (p *scriptPlayer) fill(r *scripted, v *Collective, rank int) {
	n, me := int64(r.comm.Size), r.comm.Group.Member(rank)
	v.Data = true
	if v.Operator = affine; !collectives.Ordered(v.Operation, v.Algorithm) {
		if v.Operator = p.inRows(total); v.Bytes%16 != 0 {
			v.Operator = sumOfWords // nobody combines its vectors in rows
		}
	}
	all := func(of func(member int) []byte) (joined []byte) {
		for m := range int(n) {
			joined = append(joined, of(m)...)
		}
		return joined
	}
	folded := func(to int, bytes int64) []byte {
		x := contributed(0, bytes)
		for m := 1; m <= to; m++ {
			v.Operator.Apply(x, x, contributed(m, bytes))
		}
		return x
	}
	b, root := v.Bytes, me == v.Root
	block := func(m, to int) int64 { // an alltoall and the like have blocks of one length
		switch v.Operation {
		case collectives.Gather, collectives.Scatter, collectives.Allgather, collectives.Alltoall:
			return b
		}
		return r.blockOf(b, m, to)
	}
	before := func(member int) (sum int64) {
		for m := range member {
			sum += block(m, 0)
		}
		return sum
	}
	own, total := block(me, 0), before(int(n))
	switch v.Operation {
	case collectives.Bcast:
		if r.want = contributed(v.Root, b); root {
			v.Output = contributed(v.Root, b)
			v.Input = v.Output
		} else {
			v.Output = make([]byte, b)
		}
	case collectives.Reduce:
		if v.Input = contributed(me, b); root {
			v.Output, r.want = make([]byte, b), folded(int(n)-1, b)
		}
	case collectives.Allreduce:
		v.Input, v.Output, r.want = contributed(me, b), make([]byte, b), folded(int(n)-1, b)
	case collectives.Gather, collectives.Gatherv:
		if v.Input = contributed(me, own); root {
			v.Output, r.want = make([]byte, total), all(func(m int) []byte { return contributed(m, block(m, 0)) })
		}
	case collectives.Scatter, collectives.Scatterv:
		v.Output, r.want = make([]byte, own), contributed(v.Root, total)[before(me):before(me)+own]
		if root {
			v.Input = contributed(v.Root, total)
		}
	case collectives.Allgather, collectives.Allgatherv:
		v.Input, v.Output, r.want = contributed(me, own), make([]byte, total), all(func(m int) []byte { return contributed(m, block(m, 0)) })
	case collectives.Alltoall, collectives.Alltoallv:
		r.want = all(func(m int) []byte { return contributed(31*m+me, block(m, me)) })
		v.Input, v.Output = all(func(m int) []byte { return contributed(31*me+m, block(me, m)) }), make([]byte, len(r.want))
	case collectives.ReduceScatter:
		v.Input, v.Output = contributed(me, total), make([]byte, own)
		r.want = folded(int(n)-1, total)[before(me) : before(me)+own]
	case collectives.Scan:
		v.Input, v.Output, r.want = contributed(me, b), make([]byte, b), folded(me, b)
	case collectives.Exscan:
		v.Input, v.Output = contributed(me, b), make([]byte, b)
		if me > 0 {
			r.want = folded(me-1, b)
		}
	}
	if r.inPlace {
		r.inPlaceOf(v, me, root)
	}
	v.Operator = p.inCall(0, false, v.Operator)
}

// inPlaceOf has a call in place (MPI 4.1, 6.2.2): the input is the rank's part of the output, at a scatter the output the root's part of the input.
func (r *scripted) inPlaceOf(v *Collective, me int, root bool) {
	switch v.Operation {
	case collectives.Reduce, collectives.Allreduce, collectives.Scan, collectives.Exscan, collectives.Alltoall:
		if v.Output != nil {
			copy(v.Output, v.Input)
			v.Input = v.Output
		}
	case collectives.Gather, collectives.Allgather:
		if n := int(v.Bytes); v.Output != nil {
			copy(v.Output[me*n:], v.Input)
			v.Input = v.Output[me*n:][:n:n]
		}
	case collectives.Scatter:
		if n := int(v.Bytes); root {
			v.Output = v.Input[me*n:][:n:n]
		}
	}
}
