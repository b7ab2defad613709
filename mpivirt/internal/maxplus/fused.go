package maxplus

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// Consecutive rounds of exchanges at distances d, 2d, 4d, ... keep every block of twice the last
// distance separate. So blocks that lie wholly within an array pass several rounds at a time:
// rounds of small distances block by block in the cache, the other rounds in pairs, which halves
// the traffic to memory. The rest of the array goes round by round.

// cacheBlock is the number of clocks that stay in the first or second level of a cache.
const cacheBlock = 1 << 12

// fusion is a number of rounds that are carried out together.
type fusion struct {
	end         int // the round after the last one
	first, last int // the elements of the array that have passed all of them
}

// exchangeBlocks carries out as much of a round of exchanges as possible without examining each
// run, and returns the range of elements that are done.
func (e *Evaluation) exchangeBlocks(distance, lo, hi int) fusion {
	switch {
	case e.a.round < e.a.fusion.end:
		return e.a.fusion
	case e.careful:
		return fusion{first: e.lo, last: e.lo}
	case e.same:
		return e.fuse(lo, hi)
	}
	if e.a.Meter != nil {
		return fusion{first: e.lo, last: e.lo}
	}
	lo = max(lo, e.a.folded) // below, members are not consecutive
	first, last := wholeBlocks(2*distance, lo, max(lo, hi))
	if !e.a.Consecutive || 2*distance > delayChunk || first == last {
		return fusion{first: e.lo, last: e.lo}
	}
	e.exchangeNear(distance, first, last)
	return fusion{first: first, last: last}
}

// exchangeNear is a round of exchanges among consecutive ranks so close to each other that the
// delay depends on their places.
func (e *Evaluation) exchangeNear(distance, first, last int) {
	up, down := make([]vtime.Duration, delayChunk), make([]vtime.Duration, delayChunk)
	chunk := delayChunk / (2 * distance) * (2 * distance)
	for ; first < last; first += chunk {
		clocks := e.a.work[first-e.lo : min(first+chunk, last)-e.lo]
		n := len(clocks) - distance
		rank := first + e.a.folded
		e.consecutive(rank, rank+distance, up[:n])
		e.consecutive(rank+distance, rank, down[:n])
		for base := 0; base < len(clocks); base += 2 * distance {
			for i := base; i < base+distance; i++ {
				x, y := clocks[i], clocks[i+distance]
				clocks[i] = max(x, y.Add(down[i])).Add(e.work)
				clocks[i+distance] = max(y, x.Add(up[i])).Add(e.work)
			}
		}
	}
}

// fuse carries out the fusion that starts with the current round, and returns it.
func (e *Evaluation) fuse(lo, hi int) fusion {
	a := e.a
	steps, f := e.fusible(lo, hi)
	a.fusion = f
	work := a.work[f.first-lo : f.last-lo]
	if len(work) == 0 {
		return f
	}
	span := 2 * steps[len(steps)-1].distance
	block := max(span, cacheBlock/span*span)
	if a.Meter != nil {
		e.fuseAccounted(e.elements(f.first, len(work)), block, steps)
		return f
	}
	for len(work) > 0 {
		n := min(block, len(work))
		exchangeRounds(work[:n], steps)
		work = work[n:]
	}
	return f
}

// fusible returns the rounds, from the current round on, that can be carried out together.
func (e *Evaluation) fusible(lo, hi int) (steps []exchangeStep, f fusion) {
	a, s := e.a, e.a.Schedule
	first := s.Pattern(a.round)
	steps = a.Memory.steps[:0]
	for round := a.round; round < s.MaxRounds(); round++ {
		p := s.Pattern(round)
		if p.Kind != collectives.Exchange || p.Folded != first.Folded || p.Distance != first.Distance<<len(steps) || a.contends(&p) ||
			len(steps) >= 2 && 2*p.Distance > cacheBlock {
			break
		}
		from, to := wholeBlocks(2*p.Distance, lo, hi)
		if from == to {
			break
		}
		r := a.evaluation(round, p)
		if !r.same {
			break
		}
		delay := r.delay(from, from+p.Distance)
		steps = append(steps, exchangeStep{p.Distance, vtime.Time(delay), vtime.Time(r.work)})
		f = fusion{round + 1, from, to}
	}
	if len(steps) == 0 {
		f = fusion{a.round + 1, lo, lo}
	}
	a.Memory.steps = steps
	return steps, f
}

// wholeBlocks returns the range of the blocks of span elements that lie in [lo, hi).
func wholeBlocks(span, lo, hi int) (first, last int) {
	first = min((lo+span-1)/span*span, hi)
	return first, max(first, hi/span*span)
}

// exchangeStep is one round for elements whose delays are all equal.
type exchangeStep struct {
	distance    int
	delay, work vtime.Time
}

// exchangeRounds carries whole blocks of twice the last distance through the rounds, two at a time.
func exchangeRounds(clocks []vtime.Time, steps []exchangeStep) {
	for ; len(steps) >= 2; steps = steps[2:] {
		if steps[0].distance == 1 {
			exchangeQuads(clocks, steps[0], steps[1])
		} else {
			exchangeTwice(clocks, steps[0], steps[1])
		}
	}
	if len(steps) == 1 {
		exchangeOnce(clocks, steps[0])
	}
}

// exchangeOnce carries out one round.
func exchangeOnce(clocks []vtime.Time, s exchangeStep) {
	for d := s.distance; len(clocks) > 0; clocks = clocks[2*d:] {
		left, right := clocks[:d], clocks[d:2*d]
		for i, x := range left {
			y := right[i]
			left[i] = max(x, y+s.delay) + s.work
			right[i] = max(y, x+s.delay) + s.work
		}
	}
}

// exchangeTwice carries out two rounds, the second at twice the distance of the first.
func exchangeTwice(clocks []vtime.Time, s, t exchangeStep) {
	for d := s.distance; len(clocks) > 0; clocks = clocks[4*d:] {
		a := clocks[:d]
		b, c, e := clocks[d:][:len(a)], clocks[2*d:][:len(a)], clocks[3*d:][:len(a)]
		for i := range a {
			a[i], b[i], c[i], e[i] = exchangeFour(a[i], b[i], c[i], e[i], s, t)
		}
	}
}

// exchangeQuads is exchangeTwice for distances 1 and 2.
func exchangeQuads(clocks []vtime.Time, s, t exchangeStep) {
	for ; len(clocks) >= 4; clocks = clocks[4:] {
		clocks[0], clocks[1], clocks[2], clocks[3] = exchangeFour(clocks[0], clocks[1], clocks[2], clocks[3], s, t)
	}
}

// exchangeFour carries out two rounds among four elements: in the first, neighbours exchange.
func exchangeFour(a, b, c, d vtime.Time, s, t exchangeStep) (_, _, _, _ vtime.Time) {
	a, b = max(a, b+s.delay)+s.work, max(b, a+s.delay)+s.work
	c, d = max(c, d+s.delay)+s.work, max(d, c+s.delay)+s.work
	a, c = max(a, c+t.delay)+t.work, max(c, a+t.delay)+t.work
	b, d = max(b, d+t.delay)+t.work, max(d, b+t.delay)+t.work
	return a, b, c, d
}
