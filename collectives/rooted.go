package collectives

// Builders of the algorithms of rooted operations.

type (
	pipelinedSchedule struct {
		pipelined
		placement
	}
	knomialSchedule struct {
		knomial
		placement
	}
	nestedSchedule struct {
		nested
		placement
	}
	risingSchedule struct {
		rising
		placement
	}
	collectingSchedule struct {
		collecting
		placement
	}
	askingSchedule struct {
		asking
		placement
	}
)

// along returns the schedule of a tree.
func along(s Shape, t rootedTree, children, last int) Schedule {
	p := pipelined{
		rootedTree: t, members: s.Members, root: s.Root, segments: s.Segments, period: max(children, 1), last: last,
		inward: s.Operation == Reduce,
	}
	return &pipelinedSchedule{p, placeSegments(s)}
}

func chainOne(s Shape) Schedule {
	c, last := chainsOf(s.Members, s.Fanout, s.Operation == Reduce)
	return along(s, &c, c.count, last)
}

func pipelineOne(s Shape) Schedule {
	s.Fanout = 1
	return chainOne(s)
}

func binaryOne(s Shape) Schedule {
	b, last := binaryOf(s.Members, s.Operation == Reduce)
	return along(s, &b, min(2, s.Members-1), last)
}

// splitBinary cuts the vector into halves, and each half into half as many segments.
func splitBinary(s Shape) Schedule {
	b, last := binaryOf(s.Members, false)
	half := (s.Segments + 1) / 2
	tree := pipelined{
		rootedTree: &b, members: s.Members, root: s.Root, segments: half, period: max(min(2, s.Members-1), 1), last: last, halves: true,
	}
	p := place(s, 2*half)
	p.segment, p.into = s.Segment, halfParts
	return &chainSchedule{inTurn(&tree, &swap{s.Members, s.Root, half}), p}
}

func inOrderReduce(s Shape) Schedule {
	t := inOrder{s.Members}
	tree := pipelined{
		rootedTree: &t, members: s.Members, root: s.Root, segments: s.Segments, period: max(min(2, s.Members-1), 1), last: t.last(),
		inward: true, reversed: true, theirsFirst: true,
	}
	p := placeSegments(s)
	if s.Root == s.Members-1 {
		return &pipelinedSchedule{tree, p}
	}
	return &chainSchedule{inTurn(&tree, &handover{s.Members - 1, s.Root, s.Segments}), p}
}

func knomialOne(s Shape) Schedule {
	d := digitsOf(s.Members, s.Fanout)
	switch s.Operation {
	case Reduce:
		return &nestedSchedule{nested{d, s.Root, s.Segments}, placeSegments(s)}
	case Gather, Scatter:
		p := place(s, s.Members)
		p.tree, p.radix = true, s.Fanout
		return &knomialSchedule{knomial{digits: d, root: s.Root, segments: 1, inward: s.Operation == Gather, subtrees: true}, p}
	}
	return &knomialSchedule{knomial{digits: d, root: s.Root, segments: s.Segments}, placeSegments(s)}
}

func doublingBcast(s Shape) Schedule {
	return &risingSchedule{rising{s.Members, s.Root, s.Segments, logCeil(s.Members)}, placeSegments(s)}
}

// chunksDown is the binomial scatter of chunk v of a vector to the member with number v from the root on.
func chunksDown(s Shape) *binomial {
	return &binomial{members: s.Members, root: s.Root, subtrees: true, numbered: true, pieces: s.Members}
}

func scatterAllgather(s Shape) Schedule {
	m := mend(s.Members, s.Root)
	return scatterThen(s, &m)
}

func scatterAllgatherRing(s Shape) Schedule {
	return scatterThen(s, &ring{s.Members, s.Members - 1, 0, -s.Root})
}

// scatterThen is a binomial scatter of chunks, then a plan that gathers them everywhere.
func scatterThen(s Shape, gather plan) Schedule {
	p := place(s, s.Members)
	p.into = ceilParts
	return &chainSchedule{inTurn(chunksDown(s), gather), p}
}

func halvingReduce(s Shape) Schedule {
	c := collect(s.Members, s.Root)
	return &collectingSchedule{c, place(s, c.halves.pieces)}
}

func linearSync(s Shape) Schedule {
	p := place(s, 2*s.Members)
	p.segment, p.into = s.Segment, blockParts
	return &askingSchedule{asking{s.Members, s.Root}, p}
}
