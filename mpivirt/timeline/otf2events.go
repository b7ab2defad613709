package timeline

import (
	"bufio"
	"cmp"
	"slices"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Kinds of OTF2's events.
const (
	otf2Enter           = 12
	otf2Leave           = 13
	otf2Send            = 14
	otf2Isend           = 15
	otf2IsendComplete   = 16
	otf2IrecvRequest    = 17
	otf2Recv            = 18
	otf2Irecv           = 19
	otf2CollectiveBegin = 22
	otf2CollectiveEnd   = 23
)

// Roots of OTF2's collectives that are no rank.
const (
	rootNone      = undefined32
	rootSelf      = undefined32 - 1
	rootThisGroup = undefined32 - 2
)

// step is an event of a message at one of its ranks.
type step struct {
	at      vtime.Time
	message int32
	kind    stepKind
}

// stepKind is the kind of a step, in the order of those of an instant.
type stepKind uint8

const (
	stepPosted stepKind = iota // a nonblocking receive
	stepSent
	stepDeparted // a nonblocking send is complete
	stepReceived
)

// otf2Events writes the events of a rank.
type otf2Events struct {
	*archive
	file   *otf2File
	steps  []step         // that are not written, in the order of time
	onPath []span         // that do not end before the slice
	posted map[int32]bool // nonblocking receives whose message has not come
	b      []byte         // scratch
}

// writeEvents writes the events of a rank with a place among those shown.
func (a *archive) writeEvents(w *bufio.Writer, place int) {
	rank := int32(a.Shown[place])
	e := &otf2Events{archive: a, file: newOTF2File(w, otf2EventChunk), onPath: a.path[place], b: make([]byte, 0, 64), posted: map[int32]bool{}}
	for _, i := range a.sends[place] {
		e.steps = append(e.steps, step{a.Messages[i].Sent, i, stepSent})
	}
	for _, i := range a.gets[place] {
		m := &a.Messages[i]
		if m.Requested {
			e.steps = append(e.steps, step{max(m.Posted, a.From), i, stepPosted})
		}
		e.steps = append(e.steps, step{m.Received, i, stepReceived})
	}
	slices.SortStableFunc(e.steps, func(x, y step) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.kind, y.kind)) })
	first, _ := slices.BinarySearchFunc(a.Slices, rank, func(s Slice, rank int32) int { return cmp.Compare(s.Rank, rank) })
	for i := first; i < len(a.Slices) && a.Slices[i].Rank == rank; i++ {
		e.slice(&a.Slices[i])
	}
	for len(e.steps) > 0 {
		e.take(nil, 0)
	}
	a.events[place] = e.file.events
	e.file.close()
}

// slice writes a slice with the messages in it. Messages that touch the slice belong to it if its function sends or receives them.
func (e *otf2Events) slice(s *Slice) {
	region := e.regionOf[s.Procedure]
	e.before(s)
	e.file.event(s.Begin, nil, append32(append(e.b[:0], otf2Enter), region))
	if s.Collective {
		e.file.event(s.Begin, nil, append(e.b[:0], otf2CollectiveBegin, 0))
	}
	e.within(s)
	if s.Collective {
		e.collectiveEnd(s)
	}
	e.file.event(s.End, e.attributesOf(s, e.pathWithin(s)), append32(append(e.b[:0], otf2Leave), region))
}

// before writes the steps that come before a slice.
func (e *otf2Events) before(s *Slice) {
	for len(e.steps) > 0 {
		if at := e.steps[0].at; at > s.Begin || at == s.Begin && (s.Begin == s.End || fits(e.steps[0].kind, world.Procedure(s.Procedure))) {
			return
		}
		e.take(nil, 0)
	}
}

// within writes the steps of a slice.
func (e *otf2Events) within(s *Slice) {
	p := world.Procedure(s.Procedure)
	c := p.Class()
	single := c == world.ClassSend || c == world.ClassReceive || c == world.ClassSendReceive
	var taken [stepReceived + 1]bool
	for i := 0; i < len(e.steps) && e.steps[i].at <= s.End; {
		x := e.steps[i]
		unposted := x.kind == stepReceived && e.Messages[x.message].Requested && !e.posted[x.message]
		if x.at == s.End && (unposted || !fits(x.kind, p) || single && taken[x.kind]) {
			i++
			continue
		}
		taken[x.kind] = true
		e.take(s, i)
	}
}

// fits reports whether a function has steps of a kind.
func fits(kind stepKind, p world.Procedure) bool {
	c := p.Class()
	switch kind {
	case stepSent:
		return c == world.ClassSend || c == world.ClassSendReceive || c == world.ClassRequest || c == world.ClassNeighborhood
	case stepPosted:
		return (c == world.ClassReceive || c == world.ClassSendReceive) && !p.Blocks() || c == world.ClassRequest
	case stepDeparted:
		return c == world.ClassSend || c == world.ClassWait || c == world.ClassTest || c == world.ClassRequest
	}
	return c == world.ClassReceive || c == world.ClassSendReceive || c == world.ClassWait || c == world.ClassTest || c == world.ClassNeighborhood || c == world.ClassRequest
}

// take writes a step, in a slice or in none. The end of a nonblocking send that waits for its receiver becomes a step of its own.
func (e *otf2Events) take(s *Slice, i int) {
	x := e.steps[i]
	e.steps = slices.Delete(e.steps, i, i+1)
	m := &e.Messages[x.message]
	number := uint32(e.numbers[m.Context])
	switch x.kind {
	case stepPosted:
		e.posted[x.message] = true
		e.file.event(x.at, nil, append64(append(e.b[:0], otf2IrecvRequest), receiveRequest(x.message)))
	case stepDeparted:
		e.file.event(x.at, nil, append64(append(e.b[:0], otf2IsendComplete), sendRequest(x.message)))
	case stepSent:
		fields := append64(append32(nil, e.placeOf(m, m.To), number, uint32(m.Tag)), uint64(m.Bytes))
		if !sendsWithRequest(s) {
			e.file.event(x.at, nil, appendRecord(e.b[:0], otf2Send, fields))
			return
		}
		e.file.event(x.at, nil, appendRecord(e.b[:0], otf2Isend, append64(fields, sendRequest(x.message))))
		end := step{m.Departed, x.message, stepDeparted}
		if end.at <= x.at {
			e.file.event(x.at, nil, append64(append(e.b[:0], otf2IsendComplete), sendRequest(x.message)))
			return
		}
		if end.at > e.end {
			return
		}
		place, _ := slices.BinarySearchFunc(e.steps, end, func(x, y step) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.kind, y.kind)) })
		e.steps = slices.Insert(e.steps, place, end)
	case stepReceived:
		fields := append64(append32(nil, e.placeOf(m, m.From), number, uint32(m.Tag)), uint64(m.Bytes))
		if m.Requested {
			delete(e.posted, x.message)
			e.file.event(x.at, nil, appendRecord(e.b[:0], otf2Irecv, append64(fields, receiveRequest(x.message))))
		} else {
			e.file.event(x.at, nil, appendRecord(e.b[:0], otf2Recv, fields))
		}
	}
}

// Requests are numbered by their messages.
func sendRequest(message int32) uint64    { return 2 * uint64(message) }
func receiveRequest(message int32) uint64 { return 2*uint64(message) + 1 }

// sendsWithRequest reports whether the function of a slice begins sends that it does not complete.
func sendsWithRequest(s *Slice) bool {
	if s == nil {
		return false
	}
	switch p := world.Procedure(s.Procedure); p.Class() {
	case world.ClassSend, world.ClassSendReceive:
		return !p.Blocks()
	case world.ClassRequest:
		return true
	}
	return false
}

// placeOf returns the number of a rank in the communicator of a message, on which the receiver knows its own group and, if it is an
// intercommunicator, the sender is in the remote group.
func (e *otf2Events) placeOf(m *Message, rank int32) uint32 {
	if m.Context == world.SelfContext {
		return 0
	}
	c := e.Comms[m.Context]
	if c.Remote == 0 || rank == m.To {
		return e.places[m.Context][rank]
	}
	return uint32(slices.Index(c.RemoteMembers, rank))
}

// pathWithin returns the time of a slice that is on the critical path.
func (e *otf2Events) pathWithin(s *Slice) (d vtime.Duration) {
	for len(e.onPath) > 0 && e.onPath[0].to <= s.Begin {
		e.onPath = e.onPath[1:]
	}
	for _, p := range e.onPath {
		if p.from >= s.End {
			break
		}
		d += min(p.to, s.End).Sub(max(p.from, s.Begin))
	}
	return d
}

// collectives of OTF2 by procedure.
var otf2Collectives = map[world.Procedure]byte{
	world.Barrier: 0, world.Bcast: 1, world.Gather: 2, world.Gatherv: 3, world.Scatter: 4, world.Scatterv: 5, world.Allgather: 6, world.Allgatherv: 7,
	world.Alltoall: 8, world.Alltoallv: 9, world.Alltoallw: 10, world.Allreduce: 11, world.Reduce: 12, world.ReduceScatter: 13, world.Scan: 14,
	world.Exscan: 15, world.ReduceScatterBlock: 16, world.CommFree: 18,
}

// createsHandle is OTF2's collective that makes a communicator.
const createsHandle = 17

// collectiveEnd writes the end of a collective with its communicator, root and bytes.
func (e *otf2Events) collectiveEnd(s *Slice) {
	p := world.Procedure(s.Procedure)
	kind, known := otf2Collectives[p]
	if !known {
		kind = createsHandle
	}
	root := uint32(rootNone)
	switch p {
	case world.Bcast, world.Gather, world.Gatherv, world.Scatter, world.Scatterv, world.Reduce:
		root = e.rootOf(s)
	}
	b := append32(append(e.b[:0], kind), uint32(e.numbers[s.Context]), root)
	e.file.event(s.End, nil, appendRecord(nil, otf2CollectiveEnd, append64(b, uint64(s.Bytes), uint64(s.Obtained))))
}

// rootOf returns the root of a collective among the members that are shown.
func (e *otf2Events) rootOf(s *Slice) uint32 {
	switch {
	case s.Context == world.SelfContext:
		return 0
	case s.Root == world.Root:
		return rootSelf
	case s.Root == world.ProcNull:
		return rootThisGroup
	}
	if c := e.Comms[s.Context]; c.Remote != 0 {
		return uint32(slices.Index(c.RemoteMembers, s.Root)) // -1 is rootNone
	}
	if place, shown := e.places[s.Context][s.Root]; shown {
		return place
	}
	return rootNone
}
