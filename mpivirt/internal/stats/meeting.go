package stats

import "gigarank/vtime"

// Meeting counts the calls of ranks that leave a collective in which each rank needs all, in one go. It counts what [Ending.Split] and
// [Waiter.Blame] say of a collective without delays by other messages.
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

// Leave counts the call of an LP from its entry until its exit. Its processor has worked after the latest entry, and in the phases, which are
// changed; they are nil if it has not.
func (m *Meeting) Leave(lp int32, w *Waiter, entry, exit vtime.Time, works vtime.Duration, phases *Phases) {
	took := exit.Sub(entry)
	late := min(max(m.latest.Sub(entry), 0), took)
	works = min(works, took-late)
	network := took - late - works
	row := m.row
	row.count++
	row.bytes = addUp(row.bytes, uint64(m.bytes))
	row.times[m.cause].Add(late)
	row.times[Processor].Add(works)
	row.times[Network].Add(network)
	if course := &m.calls.course; course.Counts() {
		times := Causes{Processor: works, Network: network}
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
		phases.Fill(took)
		m.calls.phases.Note(phases)
	}
	if m.calls.tasks == nil {
		return
	}
	m.calls.tasks[lp].meets(m.bytes, m.cause, late, works, network)
	if m.calls.functions != nil {
		m.calls.functionsOf(m.key.Procedure)[lp].meets(m.bytes, m.cause, late, works, network)
	}
	if late == 0 {
		w.Met = exit
		return
	}
	w.meets(&m.whom, m.cause, entry, entry.Add(late), exit, &m.blames)
	m.calls.Blame(&m.blames)
}

// meets counts a call in a meeting.
func (t *Task) meets(bytes int64, cause Cause, late, works, network vtime.Duration) {
	t.Count++
	t.Bytes = addUp(t.Bytes, uint64(bytes))
	t.Times[cause] += late
	t.Times[Processor] += works
	t.Times[Network] += network
}
