package coll

// The engines that take part in an instance form a tree, over which vectors and colours are
// gathered and handed out. An aligned range of 2^k engines is represented by the first of them
// that takes part. So the halves of a range give a binomial tree: the representative of the
// higher half is a child of that of the lower one. Each engine is above a contiguous range of
// engines, and has O(log engines) children.

// branches are the neighbours of an engine in the tree.
type branches struct {
	parent   int // -1 at the root
	children []branch
}

// branch is a child with the range of engines that it is above. Children come in ascending
// order, which is that of the sizes of their ranges.
type branch struct{ engine, end int }

// branchesOf returns the neighbours of this engine, which takes part, among those that own a
// rank taking part. next returns the least such rank that is not below a rank, or a negative
// number. The children are valid until the next call.
func (c *Collectives) branchesOf(next func(rank int) int) branches {
	partition := c.partition.Engine.Partition()
	b := branchesAmong(c.partition.Engine.Index(), partition.Engines, c.children[:0], func(lo, hi int) int {
		rank, _ := partition.Range(lo)
		if rank = next(rank); rank >= 0 {
			if engine := partition.Owner(rank); engine < hi {
				return engine
			}
		}
		return -1
	})
	c.children = b.children
	return b
}

// branchesAmong returns the neighbours of engine own, and appends the children to those given.
// first returns the first engine taking part in a range, or -1.
func branchesAmong(own, engines int, children []branch, first func(lo, hi int) int) branches {
	for size := 1; size < engines; size *= 2 {
		lo := own &^ (2*size - 1)
		end := min(lo+2*size, engines)
		if parent := first(lo, end); parent != own {
			return branches{parent, children}
		}
		if own >= lo+size || lo+size >= end {
			continue
		}
		if child := first(lo+size, end); child >= 0 {
			children = append(children, branch{child, end})
		}
	}
	return branches{-1, children}
}

// successor returns the next engine after this one that has members of a communicator, or
// the first of all after the last one. It is this engine if no other has members.
func (c *Collectives) successor(comm *Communicator) int {
	if comm.Locals == comm.Size {
		return c.partition.Engine.Index()
	}
	rank := comm.Group.Next(c.partition.First + c.partition.Ranks)
	if rank < 0 {
		rank = comm.Group.Next(0)
	}
	return c.partition.Engine.Partition().Owner(rank)
}

// others returns the other engines that have members of a communicator, in ascending order. That takes
// as long as there are such engines: it is for an alltoall, which has blocks for all of them, and for
// collectives that fail where null messages alone are sent.
func (c *Collectives) others(comm *Communicator) (engines []int) {
	partition := c.partition.Engine.Partition()
	for rank := comm.Group.Next(0); rank >= 0; {
		engine := partition.Owner(rank)
		if engine != c.partition.Engine.Index() {
			engines = append(engines, engine)
		}
		_, end := partition.Range(engine)
		rank = comm.Group.Next(end)
	}
	return engines
}
