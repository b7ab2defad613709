package collectives

import "gigarank/vtime"

// Copies that an algorithm makes beside its messages, of blocks in the memory of a member. Bruck's alltoall rotates all blocks
// first, packs what it sends in a round, unpacks what it receives, and rotates all blocks back. Bruck's allgather rotates the
// result. They take the same time on all members.

// packer is a schedule with such copies.
type packer interface {
	packs() bool
	packing(round int, block, total int64, copied func(bytes int64) vtime.Duration) vtime.Duration
}

// Packs reports whether members copy blocks beside the messages.
func Packs(s Schedule) bool {
	p, ok := s.(packer)
	return ok && p.packs()
}

// Packing returns the time for which each member copies after it has received the message of a round: what it unpacks, and
// what it packs for the next round or rotates in the end. Blocks have so many bytes, all together total. copied returns the time of a copy in one piece.
func Packing(s Schedule, round int, block, total int64, copied func(bytes int64) vtime.Duration) vtime.Duration {
	if p, ok := s.(packer); ok {
		return p.packing(round, block, total, copied)
	}
	return 0
}

// CopiedFirst returns the time for which each member copies before the first round: in an alltoall the block that it has for
// itself, or with all others what the algorithm rotates and packs.
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

// pieces returns the time to copy the blocks of a round of an alltoall, whose numbers have a bit set, run by run.
func (d *doubling) pieces(round int, block int64, copied func(bytes int64) vtime.Duration) vtime.Duration {
	b := withBit(round, d.members)
	whole, rest := b.Count/b.Run, b.Count%b.Run
	t := copied(int64(b.Run) * block).Times(whole)
	if rest > 0 {
		t = t.Plus(copied(int64(rest) * block))
	}
	return t
}
