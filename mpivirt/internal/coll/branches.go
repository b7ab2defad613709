package coll

// The engines that take part in an instance form a tree, over which vectors and colors are gathered
// and distributed. The first participating engine of an aligned range of 2^k engines represents the
// range. The halves of ranges give a binomial tree: the representative of the higher half is a
// child of the representative of the lower half. Below each engine lies a contiguous range of
// engines, and each engine has O(log engines) children.

// branches are the neighbours of an engine in the tree: its parent and children.
type branches struct {
	parent   int // -1 at the root
	children []branch
}

// branch is a child, with the range of engines below it. Children are in ascending order, in which
// the sizes of their ranges ascend too.
type branch struct{ engine, end int }

// branchesOf returns the neighbours of this engine, which takes part, among the engines that own a
// participating rank. next returns the least such rank that is not below a rank, or a negative
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

// branchesAmong returns the neighbours of engine own, and appends the children to a slice. first
// returns the first participating engine in a range, or -1.
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

// successor returns the next engine after this engine that has members of a communicator,
// cyclically: this engine if no other engine has members.
func (c *Collectives) successor(comm *Communicator) int {
	rank := comm.Group.Next(c.partition.First + c.partition.Ranks)
	if rank < 0 {
		rank = comm.Group.Next(0)
	}
	return c.partition.Engine.Partition().Owner(rank)
}

// others returns the other engines that have members of a communicator, in ascending order. Its
// time grows with their number: it is for an alltoall, which has blocks for all of them, and for
// failing collectives under null messages alone.
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
