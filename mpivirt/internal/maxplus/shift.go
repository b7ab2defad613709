package maxplus

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// A round in which each participant sends Distance further on needs the old clock of a sender after
// the sender itself has received. Where the array holds all participants, the round is carried out
// in place, and the old clocks of a block are set aside.

// shiftBlock is the number of clocks set aside; blocks of less than leastShiftBlock are not worth
// it.
const (
	shiftBlock      = cacheBlock
	leastShiftBlock = 1 << 9
)

// shiftInPlace carries out a whole round of a shift.
func (e *Evaluation) shiftInPlace(distance int) {
	total := e.a.total()
	distance %= total
	if distance == 0 {
		return
	}
	switch divisor := gcd(total, distance); {
	case divisor >= leastShiftBlock:
		e.shiftInCycles(distance, divisor)
	case distance <= total/2:
		e.shiftDownwards(distance)
	default:
		e.shiftUpwards(total - distance)
	}
}

// shiftInCycles follows blocks round the ring until they return: the blocks at s, s + distance, s +
// 2·distance, ... modulo the number of participants form a cycle. The greatest common divisor of
// distance and that number separates the cycles.
func (e *Evaluation) shiftInCycles(distance, divisor int) {
	work, total := e.a.work, e.a.total()
	arriving, leaving := e.a.Memory.Take(shiftBlock), e.a.Memory.Take(shiftBlock)
	for start := 0; start < divisor; start += shiftBlock {
		n := min(shiftBlock, divisor-start)
		src := (start - distance + total) % total
		copy(arriving, work[src:src+n])
		for range total / divisor {
			dst := src + distance
			if dst >= total {
				dst -= total
			}
			if e.same && e.a.uneven == nil {
				swapUniform(work[dst:dst+n], arriving[:n], e.delay(src, dst), e.work)
			} else {
				copy(leaving, work[dst:dst+n])
				e.receive(dst, src, n, 1, arriving[:n], 1)
				arriving, leaving = leaving, arriving
			}
			src = dst
		}
	}
	e.a.Memory.Give(arriving)
	e.a.Memory.Give(leaving)
}

// swapUniform has receivers receive messages of equal delay, and stores their old clocks in place
// of the senders' clocks.
func swapUniform(own, clocks []vtime.Time, delay, work vtime.Duration) {
	clocks = clocks[:len(own)]
	for i, old := range own {
		own[i] = max(old, clocks[i]+vtime.Time(delay)) + vtime.Time(work)
		clocks[i] = old
	}
}

// shiftDownwards goes from the last participant to the first, so that a sender still has its old
// clock; the old clocks for the first receivers, at the end, are set aside.
func (e *Evaluation) shiftDownwards(distance int) {
	work, total := e.a.work, e.a.total()
	kept := e.setAside(work[total-distance:])
	block := e.a.Memory.Take(shiftBlock)
	for hi := total; hi > distance; {
		lo := max(hi-shiftBlock, distance)
		n := copy(block, work[lo-distance:hi-distance])
		e.receive(lo, lo-distance, n, 1, block[:n], 1)
		hi = lo
	}
	e.a.Memory.Give(block)
	e.receive(0, total-distance, distance, 1, kept, 1)
}

// shiftUpwards is shiftDownwards for a shift back, from the first participant to the last.
func (e *Evaluation) shiftUpwards(back int) {
	work, total := e.a.work, e.a.total()
	kept := e.setAside(work[:back])
	block := e.a.Memory.Take(shiftBlock)
	for lo := 0; lo < total-back; {
		hi := min(lo+shiftBlock, total-back)
		n := copy(block, work[lo+back:hi+back])
		e.receive(lo, lo+back, n, 1, block[:n], 1)
		lo = hi
	}
	e.a.Memory.Give(block)
	e.receive(total-back, 0, back, 1, kept, 1)
}

// setAside returns a copy of clocks.
func (e *Evaluation) setAside(clocks []vtime.Time) []vtime.Time {
	if room := cap(e.a.next); room < len(clocks) { // the next distance may be greater by one
		e.a.next = e.a.Memory.Reserve(max(len(clocks), min(2*room, e.a.total())))
	}
	kept := e.a.next[:len(clocks)]
	copy(kept, clocks)
	return kept
}

// gcd returns the greatest common divisor.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// KeptAside returns the number of clocks set aside in the shifts of a schedule, for each
// participant, in an array that holds all participants. For a schedule of many rounds, whose
// distances are equal or ascend, it examines the first and last rounds.
func KeptAside(s collectives.Schedule) float64 {
	const few = 64
	most := 0
	for round := 0; round < s.MaxRounds(); round++ {
		if round == few {
			round = max(few, s.MaxRounds()-few)
		}
		if p := s.Pattern(round); p.Kind == collectives.Shift && gcd(s.Members(), p.Distance) < leastShiftBlock {
			most = max(most, min(p.Distance, s.Members()-p.Distance))
		}
	}
	return float64(most) / float64(s.Members())
}
