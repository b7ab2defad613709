package collectives

import "gigarank/vtime"

// Copies that an algorithm makes in addition to its messages, of blocks in the memory of a member.
// Bruck's alltoall rotates all blocks first, packs the blocks that it sends in a round, unpacks the
// blocks that it receives, and rotates all blocks back. Bruck's allgather rotates the result. The
// copies take equal time on all members.

// packer is a schedule with such copies.
type packer interface {
	packs() bool
	packing(round int, block, total int64, copied func(bytes int64) vtime.Duration) vtime.Duration
}

// Packs reports whether members copy blocks in addition to the messages.
func Packs(s Schedule) bool {
	p, ok := s.(packer)
	return ok && p.packs()
}

// Packing returns the time of each member's copies after it has received the message of a round: it
// unpacks blocks, and packs blocks for the next round or rotates all blocks at the end. A block has
// block bytes, all blocks have total bytes. copied returns the time of a copy in one piece.
func Packing(s Schedule, round int, block, total int64, copied func(bytes int64) vtime.Duration) vtime.Duration {
	if p, ok := s.(packer); ok {
		return p.packing(round, block, total, copied)
	}
	return 0
}

// CopiedFirst returns the time of each member's copies before the first round: in an alltoall its
// own block or, if the algorithm rotates and packs blocks, all of these.
func CopiedFirst(op Operation, a Algorithm, members int, own int64, copied func(bytes int64) vtime.Duration) vtime.Duration {
	switch {
	case op != Alltoall && op != Alltoallv:
		return 0
	case op == Alltoallv || a != Bruck || members == 1:
		return copied(own)
	}
	d := doubling{members, Alltoall}
	return copied(own * int64(members)).Plus(d.pieces(0, own, copied))
}

func (d *doubling) packs() bool { return d.carries == Alltoall || d.carries == Allgather }

func (d *doubling) packing(round int, block, total int64, copied func(bytes int64) vtime.Duration) vtime.Duration {
	last := round == d.MaxRounds()-1
	var t vtime.Duration
	if d.carries == Alltoall {
		if t = d.pieces(round, block, copied); !last {
			t = t.Plus(d.pieces(round+1, block, copied))
		}
	}
	if last && d.packs() {
		t = t.Plus(copied(total))
	}
	return t
}

// pieces returns the time to copy the blocks of a round of an alltoall, whose numbers have a bit
// set, run by run.
func (d *doubling) pieces(round int, block int64, copied func(bytes int64) vtime.Duration) vtime.Duration {
	b := withBit(round, d.members)
	whole, rest := b.Count/b.Run, b.Count%b.Run
	t := copied(int64(b.Run) * block).Times(whole)
	if rest > 0 {
		t = t.Plus(copied(int64(rest) * block))
	}
	return t
}
