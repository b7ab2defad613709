package collectives

// placement defines where input and output lie in the working buffer.
type placement struct {
	operation             Operation
	members, root, pieces int
	tree                  bool  // gather and scatter: along a k-nomial tree
	radix                 int   // of the tree; 0 stands for 2
	rotated               bool  // alltoall: positions count from the member on
	segment               int64 // bytes of each position but the last, if positions are segments of a vector
	into                  parts // what else positions are
}

// parts says into what a vector or a block is cut, if not into equal chunks or segments.
type parts uint8

const (
	equalParts parts = iota
	halfParts        // a vector into two halves, and these into segments
	blockParts       // each member's block into a first segment and the rest of it
	ceilParts        // a vector into chunks of a size that is rounded up, the last ones shorter or empty
)

// segmented is a schedule whose positions may be segments or other parts.
type segmented interface {
	segmentBytes() int64
	cutInto() parts
}

func (p *placement) segmentBytes() int64 { return p.segment }
func (p *placement) cutInto() parts      { return p.into }

func (p *placement) Members() int   { return p.members }
func (p *placement) Positions() int { return p.pieces }

// share returns the number of positions of a member's block.
func (p *placement) share() int { return p.pieces / p.members }

func (p *placement) Extent(member int) Blocks {
	switch p.operation {
	case Gather, Scatter, Gatherv, Scatterv:
		if p.tree {
			return subtree(member, p.root, p.members, max(p.radix, 2))
		}
		if member != p.root {
			return Blocks{First: member * p.share(), Count: p.share()}
		}
	}
	return Blocks{First: 0, Count: p.pieces}
}

func (p *placement) Source(member, position int) int {
	switch p.operation {
	case Bcast, Scatter, Scatterv:
		return only(member == p.root, position)
	case Reduce, Allreduce, ReduceScatter:
		return position
	case Gather:
		return only(position/p.share() == member, position%p.share())
	case Gatherv, Allgather, Allgatherv:
		return only(position == member, 0)
	case Alltoall, Alltoallv:
		if p.rotated {
			return wrap(member+position, p.members)
		}
		return only(position < p.members, position)
	case Scan:
		return 0
	case Exscan:
		return only(position == partial, 0)
	}
	return None
}

func (p *placement) Result(member, block int) int {
	switch p.operation {
	case Bcast, Allreduce, Allgather, Allgatherv:
		return block
	case Reduce, Gather, Gatherv:
		return only(member == p.root, block)
	case Scatter, Scatterv, ReduceScatter:
		return member
	case Alltoall, Alltoallv:
		switch {
		case p.rotated:
			return wrap(member-block, p.members)
		case block == member:
			return member
		}
		return p.members + block
	case Scan:
		return prefix
	case Exscan:
		return only(member > 0, prefix)
	}
	return None
}

// only returns n if the condition holds, else None.
func only(condition bool, n int) int {
	if condition {
		return n
	}
	return None
}
