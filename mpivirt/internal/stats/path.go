package stats

import (
	"cmp"
	"slices"

	"gigarank/vtime"
)

// PathLog keeps the calls of ranks that take time, and what ended their waits. From the end of the run the critical path leads back
// through them: the chain of computing, work for MPI and messages that takes as long as the run. A call takes 16 bytes, a call that
// has waited 72 bytes.
type PathLog struct {
	parts []pathPart // by their first rank
}

// pathPart has the calls of an engine's ranks.
type pathPart struct {
	first int
	ranks [][]pathStep // by LP, in the order of time, one after the other from 0 on
	waits []pathWait   // the first is not used
}

// pathStep is a call of a rank, or computing, from the end of the step before.
type pathStep struct {
	ended     vtime.Time
	wait      int32 // index, 0 for none
	procedure uint8
	computing bool // the whole step
}

// pathWait is what ended a wait.
type pathWait struct {
	Chain
	ready vtime.Time // instant at which the chain is there
	busy  Cause      // of Shared
}

// Open begins the log of an engine with ranks from first on.
func (l *PathLog) Open(first, ranks int) {
	l.parts = []pathPart{{first: first, ranks: make([][]pathStep, ranks), waits: make([]pathWait, 1)}}
}

// Counts reports whether the log was opened.
func (l *PathLog) Counts() bool { return l.parts != nil }

// Ranks returns the number of ranks whose calls the log has.
func (l *PathLog) Ranks() (n int) {
	for i := range l.parts {
		n += len(l.parts[i].ranks)
	}
	return n
}

// PathCall is a call of an LP, or computing.
type PathCall struct {
	Procedure    uint8
	Computing    bool
	Polls        bool // it does not wait for what it tests or probes
	Began, Ended vtime.Time
	Chained      bool // the chain that ends the call is known
	Waited       bool // for the chain, which was there later than the call could wait
	Chain        Chain
	Ready        vtime.Time // instant at which the chain was there
	Busy         Cause      // of Chain.Shared
}

// Note keeps a call of an LP, or computing. The time since the call before is computing. Tests and probes without a call in between
// wait for the chain that the last of them finds.
func (l *PathLog) Note(lp int32, c *PathCall, computing uint8) {
	p := &l.parts[0]
	steps := p.ranks[lp]
	if last := lastOf(steps); c.Began > last {
		steps = append(steps, pathStep{ended: c.Began, procedure: computing, computing: true})
	}
	s := pathStep{ended: c.Ended, procedure: c.Procedure, computing: c.Computing}
	n := len(steps)
	alike := n > 0 && steps[n-1].wait == 0 && steps[n-1].procedure == s.procedure && steps[n-1].computing == s.computing
	waited := c.Waited
	if c.Polls && c.Chained && !waited && alike {
		before := vtime.Time(0)
		if n > 1 {
			before = steps[n-2].ended
		}
		waited = c.Ready > before // one of the calls before has looked for it in vain
	} else if waited {
		alike = false
	}
	if waited {
		s.wait = int32(len(p.waits))
		p.waits = append(p.waits, pathWait{c.Chain, c.Ready, c.Busy})
	}
	if alike {
		steps[n-1] = s
	} else {
		steps = append(steps, s)
	}
	p.ranks[lp] = steps
}

// lastOf returns the end of the last step.
func lastOf(steps []pathStep) vtime.Time {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].ended
}

// Merge adds the log of another engine.
func (l *PathLog) Merge(o *PathLog) {
	l.parts = append(l.parts, o.parts...)
	slices.SortFunc(l.parts, func(a, b pathPart) int { return cmp.Compare(a.first, b.first) })
}

// PathSegment is a part of the critical path: work of a rank, or the way of what a rank waits for, in a procedure of the rank.
type PathSegment struct {
	Rank      int32
	Procedure uint8
	Way       bool // messages are under way, from a rank at From to this rank at To
	Computing bool
	Sender    int32 // of a way
	From, To  vtime.Time
	Times     Causes // whose sum is the time from From to To
}

// End returns the rank that ends last, the least of those that end together, and its end.
func (l *PathLog) End() (rank int, at vtime.Time) {
	rank = -1
	for i := range l.parts {
		p := &l.parts[i]
		for lp, steps := range p.ranks {
			if t := lastOf(steps); rank < 0 || t > at {
				rank, at = p.first+lp, t
			}
		}
	}
	return rank, at
}

// Walk visits the segments of the critical path that ends on a rank at an instant, from the last to the first. Each begins where the
// next ends, and the first begins at 0.
func (l *PathLog) Walk(rank int, t vtime.Time, visit func(s *PathSegment)) {
	still, all := 0, l.Ranks()
	for t > 0 {
		p := l.part(rank)
		began, i := p.stepAt(rank, t)
		step := &p.ranks[rank-p.first][i]
		w := &p.waits[step.wait]
		if step.wait == 0 || t < w.ready {
			visitWork(int32(rank), step, began, t, visit)
			t = began
			continue
		}
		visitWork(int32(rank), step, w.ready, t, visit)
		at := min(w.At, w.ready)
		visitWay(int32(rank), step, w, at, visit)
		if still++; at < w.ready {
			still = 0
		} else if still > all {
			panic("stats: a critical path goes in a circle")
		}
		if t = at; int(w.Rank) == rank && at > began { // the rank has waited for its own processor
			visitWork(int32(rank), step, began, at, visit)
			t = began
		}
		rank = int(w.Rank)
	}
}

// part returns the part that has a rank.
func (l *PathLog) part(rank int) *pathPart {
	i, found := slices.BinarySearchFunc(l.parts, rank, func(p pathPart, rank int) int { return cmp.Compare(p.first, rank) })
	if !found {
		i--
	}
	for len(l.parts[i].ranks) == 0 {
		i++ // engines without ranks
	}
	return &l.parts[i]
}

// stepAt returns the step that has an instant, at which it may end, and when it begins. What comes after the last step belongs to it.
func (p *pathPart) stepAt(rank int, t vtime.Time) (began vtime.Time, index int) {
	steps := p.ranks[rank-p.first]
	i, _ := slices.BinarySearchFunc(steps, t, func(s pathStep, t vtime.Time) int { return cmp.Compare(s.ended, t) })
	i = min(i, len(steps)-1)
	if i > 0 {
		began = steps[i-1].ended
	}
	return began, i
}

// visitWork visits the work of a rank between two instants, if there is any.
func visitWork(rank int32, step *pathStep, from, to vtime.Time, visit func(s *PathSegment)) {
	if to <= from {
		return
	}
	s := PathSegment{Rank: rank, Procedure: step.procedure, Computing: step.computing, Sender: rank, From: from, To: to}
	if step.computing {
		s.Times[Computing] = to.Sub(from)
	} else {
		s.Times[Processor] = to.Sub(from)
	}
	visit(&s)
}

// visitWay visits the way of what has ended a wait, from an instant on.
func visitWay(rank int32, step *pathStep, w *pathWait, at vtime.Time, visit func(s *PathSegment)) {
	if at == w.ready {
		return
	}
	s := PathSegment{Rank: rank, Procedure: step.procedure, Way: true, Sender: w.Rank, From: at, To: w.ready}
	rest := s.Times.take(w.Works, w.ready.Sub(at), Processor)
	rest = s.Times.take(w.Within, rest, Memory)
	s.Times[Network] += s.Times.take(w.Shared, rest, w.busy)
	visit(&s)
}

// Append appends the log to b, in the form that Read reads.
func (l *PathLog) Append(b []byte) []byte {
	b = appendWords(b, uint64(len(l.parts)))
	for i := range l.parts {
		p := &l.parts[i]
		b = appendWords(b, uint64(p.first), uint64(len(p.ranks)), uint64(len(p.waits)))
		for _, steps := range p.ranks {
			b = slices.Grow(appendWords(b, uint64(len(steps))), 16*len(steps))
			for _, s := range steps {
				flags := uint64(0)
				if s.computing {
					flags = 1
				}
				b = appendWords(b, uint64(s.ended), uint64(s.wait)<<16|uint64(s.procedure)<<8|flags)
			}
		}
		for _, w := range p.waits {
			b = appendWords(b, uint64(w.ready), uint64(w.Rank)<<8|uint64(w.busy), uint64(w.At), uint64(w.Works), uint64(w.Shared), uint64(w.Within))
		}
	}
	return b
}

// Read sets the log from the bytes of Append and returns the rest of b.
func (l *PathLog) Read(b []byte) (rest []byte) {
	r := reader{b}
	for range r.word() {
		p := pathPart{first: int(r.word()), ranks: make([][]pathStep, r.word()), waits: make([]pathWait, r.word())}
		for lp := range p.ranks {
			p.ranks[lp] = make([]pathStep, r.word())
			for i := range p.ranks[lp] {
				s := pathStep{ended: vtime.Time(r.word())}
				word := r.word()
				s.wait, s.procedure, s.computing = int32(word>>16), uint8(word>>8), word&1 != 0
				p.ranks[lp][i] = s
			}
		}
		for i := range p.waits {
			w := pathWait{ready: vtime.Time(r.word())}
			word := r.word()
			w.Rank, w.busy = int32(word>>8), Cause(word)
			w.At, w.Works, w.Shared, w.Within = vtime.Time(r.word()), vtime.Duration(r.word()), vtime.Duration(r.word()), vtime.Duration(r.word())
			p.waits[i] = w
		}
		l.parts = append(l.parts, p)
	}
	return r.b
}
