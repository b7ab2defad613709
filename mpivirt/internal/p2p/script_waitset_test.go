package p2p

import (
	"slices"

	"gigarank/mpivirt/internal/world"
)

// waitSetWay is how ranks hand in the requests of a call for any or some of them: each call finds what one that reads
// its list finds.
type waitSetWay int

const (
	noWaitSet       waitSetWay = iota // a list that the call reads
	waitSetOfList                     // one that is compared with that of the call before
	waitSetInMemory                   // in memory that is that of the call before
	waitSetInSlice                    // likewise, behind an interface
)

// scriptSlice is a rank's slice of requests; it stays in memory from one call to the next. It implements [Slice].
type scriptSlice struct {
	m        *Messages
	lp       int32
	requests []int32
	room     [32]int32
}

func (s *scriptSlice) Len() int { return len(s.requests) }

func (s *scriptSlice) At(place int) (index int32, err error) {
	return s.requests[place], s.m.CheckRequest(s.lp, s.requests[place])
}

// waitForSetOf waits for any or some of a call's requests, which have names, or tests them, in the way of the run.
func (p *player) waitForSetOf(lp int32, r *scripted, kind WaitKind, c world.Procedure, names []string) bool {
	m, s := p.m, &r.slice
	for i, index := range r.list { // ranks that hand in a slice have requests of their own
		if p.waitSet == waitSetInSlice && m.shared(index) {
			r.list[i], _ = m.OwnRequest(lp, index, world.Irecv)
			r.names[names[i]] = r.list[i]
		}
	}
	again := s.m != nil
	s.m, s.lp = m, lp
	s.requests = s.room[:copy(s.room[:], r.list)]
	var err error
	switch p.waitSet {
	case waitSetOfList:
		err = m.KeepList(lp, slices.Clone(r.list))
	case waitSetInMemory:
		m.ReadMemory(lp, s.requests[:len(s.requests)-len(s.requests)/3]) // as a call for some of them does
		err = m.KeepMemory(lp, s.requests)
	case waitSetInSlice:
		err = m.KeepSlice(lp, s, again && m.WaitSetSlice(lp) == Slice(s))
	}
	switch {
	case err != nil:
		return m.Raise(lp, c, err)
	case m.WaitSetIsEmpty(lp):
		return true
	}
	if set := m.WaitSet(lp); p.waitSet == waitSetOfList && len(set) != len(r.list) {
		p.Errorf("the wait set of rank %d is %v, want %v", m.Partition.Global(lp), set, r.list)
	}
	return m.WaitForSet(lp, kind, c)
}
