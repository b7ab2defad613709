package maxplus

import (
	"gigarank/collectives"
	"gigarank/network"
	"gigarank/vtime"
)

// A window of several rounds (see [collectives.Step]) whose messages are regular is a pass over the array: the clocks stay those of its beginning until all its
// messages are known. Each element sends its messages one after another from there on, and takes in what it receives in the order of
// the arrivals. The messages of the window are as many steps, numbered as the first rounds of the window, for each of
// which arrays exchange clocks as for any round. Messages wait for no match.

// posted is a message that all elements send in a window, or those of its pattern.
type posted struct {
	pattern  collectives.Pattern
	target   *network.Target
	bytes    int64
	begun    vtime.Duration // from the beginning of the window until the sender turns to the message
	leaves   vtime.Duration // from the beginning of the window until the message leaves
	receive  vtime.Duration // of the receiver's processor
	next     vtime.Duration // from the beginning of receive until the processor may receive the next message
	same     bool           // all these messages have the same delay
	delay    vtime.Duration // if same, or, at interfaces, until the message asks at its receiver's node
	asksSame bool           // at interfaces: all messages between nodes take delay until they ask
	occupies vtime.Duration // of an interface
	memory   vtime.Duration // of the memory of a node
}

// windowing is the state of an array for windows of several rounds.
type windowing struct {
	posts    []posted
	sends    vtime.Duration // of a processor, for the messages that it sends
	work     vtime.Duration // of a processor that combines and packs, once it has all messages
	alike    bool           // receivers take the same time for each message
	idle     bool           // receivers take no time for messages
	began    []vtime.Time   // by message and element: instants at which messages begin to leave, where they share interfaces
	foreign  []vtime.Time   // likewise: clocks, or such instants, of other arrays; empty if there is no other
	arrivals []vtime.Time   // scratch: arrivals at some elements, by element and message
	delays   []vtime.Duration
	turns    [2][]turn // scratch
	inside   []turn    // scratch
}

// windowChunk is the number of elements whose arrivals are computed at a time.
const windowChunk = 128

// inWindow reports whether the current round belongs to a window of several rounds.
func (a *Array) inWindow() bool { return a.window.Messages > 0 }

// message returns the number of the current message of the window.
func (a *Array) message() int { return a.round - a.window.First }

// sharesInWindow reports whether messages of the current window delay each other.
func (a *Array) sharesInWindow() bool {
	for j := range a.window.Messages {
		if p := a.window.Pattern(j); a.contends(&p) {
			return true
		}
	}
	return false
}

// receivesAll reports whether an element takes part in the current window: it then receives each of its messages.
func (a *Array) receivesAll(element int) bool {
	return a.pattern.Kind != collectives.Grouped || element < a.pattern.Count
}

// prepareWindow prepares the array for the current message of a window.
func (a *Array) prepareWindow() {
	if a.message() > 0 {
		return
	}
	a.renumber(collectives.Pattern{})
	a.post()
	n := a.window.Messages * (a.High - a.Low)
	if !a.whole() {
		a.foreign = clocksOf(a.foreign, n)
	}
	if a.shares {
		a.began = clocksOf(a.began, n)
		a.departWindow()
	}
}

// clocksOf returns n clocks with arbitrary values, in given memory if that suffices.
func clocksOf(memory []vtime.Time, n int) []vtime.Time {
	if cap(memory) < n {
		return make([]vtime.Time, n)
	}
	return memory[:n]
}

// post works out what the messages of the window have in common.
func (a *Array) post() {
	w, n := &a.windowing, a.window.Messages
	w.posts, w.work, w.alike, w.idle = w.posts[:0], 0, true, true
	free, port := vtime.Time(0), (*network.Port)(nil)
	if a.Target.HasPorts() {
		port = &network.Port{}
	}
	copies := CopiesOf(a.Target)
	for j := range n {
		p := a.window.Pattern(j)
		m := posted{pattern: p, bytes: a.Bytes * int64(p.Sent)}
		m.target = a.Target.Among(a.Partners, a.InTurn, m.bytes)
		m.begun = vtime.Duration(free)
		leaves := vtime.Time(0)
		free, leaves = m.target.Send(port, m.bytes, free)
		m.leaves = vtime.Duration(leaves)
		m.receive = m.target.ReceiveTime(m.bytes)
		m.next = max(m.receive, m.target.Gap())
		m.same = UniformDelay(a.UniformFrom, a.total(), p)
		if a.shares {
			m.share(a)
		} else if m.same {
			m.delay = a.delayOf(&m)
		}
		w.work = w.work.Plus(a.Target.ReduceTime(a.Bytes * int64(p.Combined)))
		if a.packs {
			w.work = w.work.Plus(a.packing(a.window.First+n-1+j, copies))
		}
		w.posts = append(w.posts, m)
		w.alike = w.alike && m.receive == w.posts[0].receive
		w.idle = w.idle && m.next == 0
	}
	w.sends = vtime.Duration(free)
}

// delayOf returns the delay of a message of the window from element 0, which sends each message.
func (a *Array) delayOf(m *posted) vtime.Duration {
	to, _ := destination(&m.pattern, a.total(), 0)
	return m.target.Delay(a.rankOf(0), a.rankOf(to), m.bytes)
}

// rankOf returns the rank in WORLD of an element of a window.
func (a *Array) rankOf(element int) int {
	if a.Consecutive {
		return element
	}
	return a.Participants.RankOf(element)
}

// evaluateMessage ends the step of the current message of a window, at the last one the window. It returns the number of messages that
// the array's participants receive in the step.
func (a *Array) evaluateMessage() (messages uint64) {
	runs(a.pattern, a.total(), a.Low, a.High, func(_, _, n, _ int) { messages += uint64(n) })
	if a.message() < a.window.Messages-1 {
		a.enter(a.round+1, 0)
		return messages
	}
	if a.shares {
		a.arriveWindow()
	} else {
		a.passWindow()
	}
	a.enter(a.window.Last()+1, 0)
	return messages
}

// senders returns the clocks of senders from an element on, of which the array has part, for message j to elements from dst on; or, where messages
// share interfaces, the instants at which these begin.
func (a *Array) senders(j, dst, src, n int) (clocks []vtime.Time) {
	size := a.High - a.Low
	switch inside := a.within(src, a.Low, a.High); {
	case inside <= 0:
		return a.foreign[j*size+dst-a.Low:][:min(n, -inside)]
	case a.shares:
		return a.began[j*size+src-a.Low:][:min(n, inside)]
	default:
		return a.work[src-a.Low:][:min(n, inside)]
	}
}

// passWindow carries out the window where messages do not delay each other.
func (a *Array) passWindow() {
	w, n, careful := &a.windowing, a.window.Messages, a.careful()
	a.makeNext()
	w.arrivals = clocksOf(w.arrivals, windowChunk*n)
	for at := a.Low; at < a.High; at += windowChunk {
		end := min(at+windowChunk, a.High)
		for j := range w.posts {
			m := &w.posts[j]
			runs(m.pattern, a.total(), at, end, func(dst, src, count, _ int) {
				for count > 0 {
					clocks := a.senders(j, dst, src, count)
					a.land(m, dst, src, clocks, w.arrivals[(dst-at)*n+j:], n)
					if careful {
						a.checkWindowSends(m, dst, src, clocks)
					}
					part := len(clocks)
					dst, src, count = dst+part, src+part, count-part
				}
			})
		}
		for to := at; to < end; to++ {
			clock := a.work[to-a.Low]
			if a.receivesAll(to) {
				clock = a.takeIn(to, clock, w.arrivals[(to-at)*n:][:n]).Add(w.work)
				if careful && clock == vtime.Forever {
					a.windowPasses(to, w.arrivals[(to-at)*n:][:n])
				}
			}
			a.next[to-a.Low] = clock
		}
	}
	a.work, a.next = a.next, a.work
}

// land stores the arrivals of a message at elements from dst on, whose senders have the given clocks at the beginning of the window, step apart.
func (a *Array) land(m *posted, dst, src int, clocks, into []vtime.Time, step int) {
	if m.same {
		way := m.leaves.Plus(m.delay)
		for i, t := range clocks {
			into[i*step] = t.Add(way)
		}
		return
	}
	if cap(a.delays) < len(clocks) {
		a.delays = make([]vtime.Duration, max(len(clocks), windowChunk))
	}
	delays := a.delays[:len(clocks)]
	if a.Consecutive {
		m.target.Delays(src, dst, m.bytes, delays)
	} else {
		for i := range delays {
			delays[i] = m.target.Delay(a.rankOf(src+i), a.rankOf(dst+i), m.bytes)
		}
	}
	for i, t := range clocks {
		into[i*step] = t.Add(m.leaves).Add(delays[i])
	}
}

// takeIn returns the clock of an element after it has sent the messages of a window, begun at its clock, and has taken in those that it
// receives in the order of their arrivals. It sorts these.
func (a *Array) takeIn(to int, clock vtime.Time, arrivals []vtime.Time) vtime.Time {
	w := &a.windowing
	clock = clock.Add(w.sends)
	if w.idle {
		for _, t := range arrivals {
			clock = max(clock, t)
		}
		return clock
	}
	if !w.alike {
		return a.takeInUnlike(clock, arrivals)
	}
	sortTimes(arrivals)
	receive, next, free := w.posts[0].receive, w.posts[0].next, clock
	for _, t := range arrivals {
		taken := max(free, t)
		clock, free = taken.Add(receive), taken.Add(next)
	}
	return clock
}

// takeInUnlike is takeIn for messages for which a receiver takes different times.
func (a *Array) takeInUnlike(clock vtime.Time, arrivals []vtime.Time) vtime.Time {
	var order [collectives.MostInWindow]uint8
	turn, free := order[:len(arrivals)], clock
	for k := range turn {
		at := k
		for ; at > 0 && arrivals[k] < arrivals[turn[at-1]]; at-- {
			turn[at] = turn[at-1]
		}
		turn[at] = uint8(k)
	}
	for _, k := range turn {
		m := &a.posts[k]
		taken := max(free, arrivals[k])
		clock, free = taken.Add(m.receive), taken.Add(m.next)
	}
	return clock
}

// sortTimes sorts few instants, which are often nearly in order.
func sortTimes(all []vtime.Time) {
	for k := 1; k < len(all); k++ {
		t, at := all[k], k
		for ; at > 0 && t < all[at-1]; at-- {
			all[at] = all[at-1]
		}
		all[at] = t
	}
}

// checkWindowSends fails the run if messages of a window from senders with given clocks leave or arrive after the end of virtual time.
func (a *Array) checkWindowSends(m *posted, dst, src int, clocks []vtime.Time) {
	for i, t := range clocks {
		from, to := a.rankOf(src+i), a.rankOf(dst+i)
		leaves := t.Add(m.leaves)
		if max(leaves, t.Add(m.begun).Add(m.target.SendTime(m.bytes)), leaves.Add(m.target.Delay(from, to, m.bytes))) == vtime.Forever {
			a.Participants.PastSend(from, to, m.bytes, t.Add(m.begun))
		}
	}
}

// windowPasses fails the run: an element does not receive a message of a window before the end of virtual time.
func (a *Array) windowPasses(to int, arrivals []vtime.Time) {
	latest := 0
	for j, t := range arrivals {
		if t >= arrivals[latest] {
			latest = j
		}
	}
	m := &a.posts[latest]
	from, _ := origin(&m.pattern, a.total(), to)
	a.Participants.PastReceive(a.rankOf(from), a.rankOf(to), m.bytes, max(a.work[to-a.Low], arrivals[latest]))
}
