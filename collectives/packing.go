package collectives

import "gigarank/vtime"

// Copies that an algorithm makes in addition to its messages, of blocks in the memory of a member.
// Bruck's alltoall rotates all blocks first, packs the blocks that it sends in a round, unpacks the
// blocks that it receives, and rotates all blocks back. The blocks of a round are a derived datatype that the library makes for
// it. Bruck's allgather rotates the result. The copies take equal time on all members.

// Copies are the times of copies in a member's own memory.
type Copies struct {
	Copy func(bytes int64) vtime.Duration // a copy in one piece
	Type func(blocks int) vtime.Duration  // a derived datatype of some blocks that is made and used once; nil if it takes no time
}

// typed returns the time of a derived datatype of blocks of some bytes.
func (c Copies) typed(blocks int, block int64) vtime.Duration {
	if c.Type == nil || block == 0 || blocks == 0 {
		return 0
	}
	return c.Type(blocks)
}

// Partners returns the number of others with which a member exchanges messages in a linear or pairwise algorithm for members with blocks of
// one size, 0 for other algorithms, in which it is a small one.
func Partners(op Operation, a Algorithm, members int) int {
	switch op {
	case Alltoallv, Allgatherv, Gatherv, Scatterv, Scan, Exscan:
		return 0
	}
	switch a {
	case Linear, LinearSync, LinearNonblocking, Pairwise, PairwiseExchange:
		return members - 1
	}
	return 0
}

// SendsInTurn reports whether the root of an operation sends one blocking message after another, as by MPI_Send in
// coll_base_scatter.c of Open MPI. Trees and broadcasts of libraries start their messages.
func SendsInTurn(op Operation, a Algorithm) bool {
	return a == Linear && (op == Scatter || op == Scatterv)
}

// packer is a schedule with such copies.
type packer interface {
	packs() bool
	packing(round int, block, total int64, c Copies) vtime.Duration
}

// Packs reports whether members copy blocks in addition to the messages.
func Packs(s Schedule) bool {
	p, ok := s.(packer)
	return ok && p.packs()
}

// Packing returns the time of each member's copies after it has received the message of a round: it
// unpacks blocks, and packs blocks for the next round or rotates all blocks at the end. A block has
// block bytes, all blocks have total bytes.
func Packing(s Schedule, round int, block, total int64, c Copies) vtime.Duration {
	if p, ok := s.(packer); ok {
		return p.packing(round, block, total, c)
	}
	return 0
}

// CopiedFirst returns the time of each member's copies before the first round: in an alltoall its
// own block or, if the algorithm rotates and packs blocks, all of these.
func CopiedFirst(op Operation, a Algorithm, members int, own int64, c Copies) vtime.Duration {
	switch {
	case op != Alltoall && op != Alltoallv:
		return 0
	case op == Alltoallv || a != Bruck || members == 1:
		return c.Copy(own)
	}
	d := doubling{members, Alltoall}
	return c.Copy(own * int64(members)).Plus(d.pieces(0, own, c)).Plus(c.typed(withBit(0, members).Count, own))
}

func (d *doubling) packs() bool { return d.carries == Alltoall || d.carries == Allgather }

func (d *doubling) packing(round int, block, total int64, c Copies) vtime.Duration {
	last := round == d.MaxRounds()-1
	var t vtime.Duration
	if d.carries == Alltoall {
		if t = d.pieces(round, block, c); !last {
			t = t.Plus(d.pieces(round+1, block, c)).Plus(c.typed(withBit(round+1, d.members).Count, block))
		}
	}
	if last && d.packs() {
		t = t.Plus(c.Copy(total))
	}
	return t
}

// pieces returns the time to copy the blocks of a round of an alltoall, whose numbers have a bit
// set, run by run. Of the two times that a round copies its blocks, the first makes their datatype.
func (d *doubling) pieces(round int, block int64, c Copies) vtime.Duration {
	b := withBit(round, d.members)
	whole, rest := b.Count/b.Run, b.Count%b.Run
	t := c.Copy(int64(b.Run) * block).Times(whole)
	if rest > 0 {
		t = t.Plus(c.Copy(int64(rest) * block))
	}
	return t
}
