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

// Account is what the processor of a rank has worked in a collective, and what has delayed the rank, by the rules for collectives of docs/statistics.md.
type Account struct {
	Works    vtime.Duration // since the rank learned of the latest entry that it knows of by a message that it waited for
	Sent     vtime.Duration // for messages to others
	Received vtime.Duration // for messages that had come before the processor received them
	Combined vtime.Duration // on the rank's vectors
	Shared   vtime.Duration // for which other messages at interfaces have delayed the rank since then
	Within   vtime.Duration // likewise, other messages and work in the memory of its node
}

// Parts returns the times of an account after the latest entry.
func (a *Account) Parts() Parts { return Parts{Works: a.Works, Shared: a.Shared, Within: a.Within} }

// Phases returns the activities of the rank's process.
func (a *Account) Phases() Phases {
	return Phases{DataSending: a.Sent, DataReceiving: a.Received, SequentialComputation: a.Combined}
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
	if m.calls.tasks == nil || !m.plain() || exit <= m.latest || uint64(m.latest) > math.MaxUint64/max(n, 1) {
		for i, entry := range entries {
			m.Leave(lp+int32(i), &waiters[i], entry, exit, Parts{}, nil)
		}
		return
	}
	latest, network := m.latest, exit.Sub(m.latest)
	tasks, waiters := m.calls.tasks[lp:][:n], waiters[:n]
	count, waited := uint64(0), uint64(0) // of LPs that wait for the late rank alone; the time is at most n times the latest instant
	for i, entry := range entries {
		w, late := &waiters[i], latest.Sub(entry)
		if late < 0 || m.whom.To > min(w.Met, entry) {
			m.Leave(lp+int32(i), w, entry, exit, Parts{}, nil)
			continue
		}
		count++
		waited += uint64(late)
		if late > 0 {
			w.waitsAlone(m.whom.Rank, entry, m.latest)
		}
		w.Met = exit
		task := &tasks[i]
		task.Count++
		task.Times[Network] += network
		task.Times[m.cause] += late
		if m.bytes > 0 {
			task.Bytes = addUp(task.Bytes, uint64(m.bytes))
		}
	}
	m.together(count, waited, network)
}

// plain reports whether calls are counted in no course and by no function.
func (m *Meeting) plain() bool {
	return m.calls.functions == nil && !m.calls.course.Counts() && m.latest < vtime.Forever/4
}

// LeaveApart is Leave for all LPs of an engine with their entries, exits and accounts. Waiters are nil if calls are not kept by rank.
func (m *Meeting) LeaveApart(waiters []Waiter, entries, exits []vtime.Time, accounts []Account) {
	plain, row, phases := m.plain(), m.row, &m.calls.phases
	var waited Total
	var w *Waiter
	for i := range accounts {
		a, entry, exit := &accounts[i], entries[i], exits[i]
		if waiters != nil {
			w = &waiters[i]
		}
		took, late := exit.Sub(entry), max(m.latest.Sub(entry), 0)
		network, waiting := took-late-a.Works, took-a.Sent-a.Received-a.Combined
		if !plain || network < 0 || waiting < 0 || took == 0 || a.Shared|a.Within != 0 || w != nil && m.whom.To > min(w.Met, entry) {
			phases := a.Phases()
			m.Leave(int32(i), w, entry, exit, a.Parts(), &phases)
			continue
		}
		row.count++
		row.bytes = addUp(row.bytes, uint64(m.bytes))
		row.times[m.cause].Add(late)
		row.times[Processor].Add(a.Works)
		row.times[Network].Add(network)
		phases.NoteOne(DataSending, a.Sent)
		phases.NoteOne(DataReceiving, a.Received)
		phases.NoteOne(SequentialComputation, a.Combined)
		phases.NoteOne(WaitingPhase, waiting)
		if w == nil {
			continue
		}
		waited.Add(late)
		if late > 0 {
			w.waitsAlone(m.whom.Rank, entry, m.latest)
		}
		w.Met = exit
		task := &m.calls.tasks[i]
		task.Count++
		task.Bytes = addUp(task.Bytes, uint64(m.bytes))
		task.Times[m.cause] += late
		task.Times[Processor] += a.Works
		task.Times[Network] += network
	}
	m.blame(waited)
}

// together counts the calls of a number of LPs in their procedure, and for whom they have waited. Together they have waited for a time, and each has then waited for the
// network.
func (m *Meeting) together(count, waited uint64, network vtime.Duration) {
	if count == 0 {
		return
	}
	late, after := Total{Low: waited}, Total{}
	after.addSame(network, int(count))
	m.row.count += count
	m.row.bytes = addUp(m.row.bytes, times(uint64(m.bytes), count))
	m.row.times[m.cause].Merge(late)
	m.row.times[Network].Merge(after)
	of := &m.calls.phases[WaitingPhase]
	of.Count += count
	of.Time.Merge(late)
	of.Time.Merge(after)
	m.blame(late)
}

// blame counts that others have waited for the late rank.
func (m *Meeting) blame(waited Total) {
	if waited != (Total{}) && m.calls.blame.places != nil {
		m.calls.blame.of(int(m.whom.Rank)).Times[m.cause-LateSender].Merge(waited)
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
