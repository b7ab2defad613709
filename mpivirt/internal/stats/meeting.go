package stats

import (
	"math"

	"gigarank/vtime"
)

// Meeting counts the calls of ranks that leave a collective in which each rank needs all, in one go. It counts what [Ending.Split] and
// [Waiter.Blame] say of a collective without delays at busses and links.
type Meeting struct {
	calls  *Calls
	row    *callRow
	key    CallKey
	bytes  int64
	cause  Cause      // for which ranks wait for the member that enters last
	latest vtime.Time // the entry of that member
	whom   Late       // that member
	blames Blames     // scratch
}

// Meet begins to count the calls of a key that hand some bytes to a collective. Late is the rank that has entered last, and cause the
// cause for which others wait for it until the latest instant.
func (c *Calls) Meet(key CallKey, bytes int64, cause Cause, latest vtime.Time, late Late) Meeting {
	return Meeting{calls: c, row: c.row(key), key: key, bytes: bytes, cause: cause, latest: latest, whom: late}
}

// Parts are times after the latest entry that are not those of the network on an idle machine.
type Parts struct {
	Works  vtime.Duration // of the rank's processor
	Shared vtime.Duration // for which other messages at interfaces have delayed the rank
	Within vtime.Duration // for which other work in the memory of the node has delayed it
}

// divide returns a time after the latest entry as the causes that it has. Parts that do not fit are cut.
func (p *Parts) divide(took vtime.Duration) (t meetingTimes) {
	t.works = min(p.Works, took)
	t.within = min(p.Within, took-t.works)
	t.shared = min(p.Shared, took-t.works-t.within)
	t.network = took - t.works - t.within - t.shared
	return t
}

// meetingTimes are times of a call by cause.
type meetingTimes struct{ late, works, within, shared, network vtime.Duration }

// Alike counts the calls of n LPs from equal entries until equal exits, whose processors have not worked. It does so only if ranks are not kept.
func (m *Meeting) Alike(n int, entry, exit vtime.Time) {
	took := exit.Sub(entry)
	late := min(max(m.latest.Sub(entry), 0), took)
	row := m.row
	row.count += uint64(n)
	row.bytes = addUp(row.bytes, times(uint64(m.bytes), uint64(n)))
	row.times[m.cause].addSame(late, n)
	row.times[Network].addSame(took-late, n)
	if course := &m.calls.course; course.Counts() {
		course.Add(m.cause, entry, entry.Add(late), n)
		course.Add(Network, entry.Add(late), exit, n)
	}
	if took > 0 {
		of := &m.calls.phases[WaitingPhase]
		of.Count += uint64(n)
		of.Time.addSame(took, n)
	}
}

// Each reports whether calls are kept by rank.
func (m *Meeting) Each() bool { return m.calls.tasks != nil }

// Leave counts the call of an LP from its entry until its exit. Its processor has worked in the phases, none of which is the waiting phase; they
// are nil if it has not.
func (m *Meeting) Leave(lp int32, w *Waiter, entry, exit vtime.Time, parts Parts, phases *Phases) {
	took := exit.Sub(entry)
	late := min(max(m.latest.Sub(entry), 0), took)
	t := parts.divide(took - late)
	t.late = late
	row := m.row
	row.count++
	row.bytes = addUp(row.bytes, uint64(m.bytes))
	row.times[m.cause].Add(late)
	row.times[Processor].Add(t.works)
	row.times[Network].Add(t.network)
	if t.shared|t.within != 0 {
		row.times[Interface].Add(t.shared)
		row.times[Memory].Add(t.within)
	}
	if course := &m.calls.course; course.Counts() {
		times := Causes{Processor: t.works, Network: t.network, Interface: t.shared, Memory: t.within}
		times[m.cause] = late
		course.Call(entry, &times, 0, 0)
	}
	switch {
	case took == 0:
	case phases == nil:
		of := &m.calls.phases[WaitingPhase]
		of.Count++
		of.Time.Add(took)
	default:
		m.calls.phases.noteFilled(phases, took)
	}
	if m.calls.tasks == nil {
		return
	}
	m.calls.tasks[lp].meets(m.bytes, m.cause, &t)
	if m.calls.functions != nil {
		m.calls.functionsOf(m.key.Procedure)[lp].meets(m.bytes, m.cause, &t)
	}
	if late == 0 {
		w.Met = exit
	} else {
		m.calls.blameMeeting(w, &m.whom, m.cause, entry, entry.Add(late), exit, &m.blames)
	}
	if held := t.shared + t.within; held > 0 {
		from := entry.Add(late).Add(t.works)
		w.held(from, from.Add(held))
	}
}

// LeaveTogether is Leave for consecutive LPs from lp on with their entries and an equal exit, whose processors have not worked.
func (m *Meeting) LeaveTogether(lp int32, waiters []Waiter, entries []vtime.Time, exit vtime.Time) {
	n := uint64(len(entries))
	if m.calls.course.Counts() || m.calls.functions != nil || m.calls.tasks == nil || exit < m.latest || n == 0 || uint64(m.latest) > math.MaxUint64/n {
		for i, entry := range entries {
			m.Leave(lp+int32(i), &waiters[i], entry, exit, Parts{}, nil)
		}
		return
	}
	m.countTogether(m.calls.tasks[lp:][:n], entries, exit)
	m.blameTogether(waiters[:n], entries, exit)
}

// countTogether counts the calls of consecutive LPs with their entries and an equal exit, which is not before the latest instant.
func (m *Meeting) countTogether(tasks []Task, entries []vtime.Time, exit vtime.Time) {
	latest, bytes, network := m.latest, uint64(m.bytes), exit.Sub(m.latest)
	waited, after := uint64(0), uint64(0) // at most n times the latest instant; time after the latest instant before entries
	idle := uint64(0)                     // calls that take no time
	for i, entry := range entries {
		task, late := &tasks[i], latest.Sub(entry)
		task.Count++
		task.Bytes = addUp(task.Bytes, bytes)
		task.Times[Network] += network
		if late <= 0 { // the entries of other engines may be later than the latest on which those here rest
			task.Times[Network] += late
			after += uint64(-late)
			if network+late == 0 {
				idle++
			}
			continue
		}
		task.Times[m.cause] += late
		waited += uint64(late)
	}
	n := uint64(len(entries))
	m.row.count += n
	m.row.bytes = addUp(m.row.bytes, times(bytes, n))
	all := Total{}
	all.addSame(network, int(n))
	all.take(after)
	m.row.times[m.cause].Merge(Total{Low: waited})
	m.row.times[Network].Merge(all)
	of := &m.calls.phases[WaitingPhase]
	of.Count += n - idle
	of.Time.Merge(Total{Low: waited})
	of.Time.Merge(all)
}

// blameTogether counts for whom consecutive LPs have waited, as blameMeeting does.
func (m *Meeting) blameTogether(waiters []Waiter, entries []vtime.Time, exit vtime.Time) {
	latest, behind, busy := m.latest, m.whom.Rank, m.whom.To
	blamed := uint64(0) // at most n times the latest instant
	for i, entry := range entries {
		w := &waiters[i]
		late := latest.Sub(entry)
		switch {
		case late <= 0:
			w.Met = exit
			continue
		case busy > min(w.Met, entry):
			m.calls.blameMeeting(w, &m.whom, m.cause, entry, latest, exit, &m.blames)
			continue
		case w.Behind == behind && w.Waited > 0 && late < vtime.Endless/4 && entry.Sub(w.To) <= 4*late:
			w.To, w.Waited = latest, w.Waited+late
		case late >= w.Waited || latest.Sub(w.To) >= w.Waited/4: // as Late.wait, of which this is all
			w.Behind, w.From, w.To, w.Waited = behind, entry, latest, late
		}
		w.Met = exit
		blamed += uint64(late)
	}
	if blamed > 0 && m.calls.blame.places != nil {
		m.calls.blame.of(int(behind)).Times[m.cause-LateSender].Merge(Total{Low: blamed})
	}
}

// meets counts a call in a meeting.
func (t *Task) meets(bytes int64, cause Cause, times *meetingTimes) {
	t.Count++
	t.Bytes = addUp(t.Bytes, uint64(bytes))
	t.Times[cause] += times.late
	t.Times[Processor] += times.works
	t.Times[Network] += times.network
	t.Times[Interface] += times.shared
	t.Times[Memory] += times.within
}
