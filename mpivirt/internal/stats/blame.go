package stats

import (
	"cmp"
	"math/bits"
	"slices"

	"gigarank/vtime"
)

// Late is a rank for which others wait, and the longest recent delay of the rank itself: between two instants it has waited for the rank
// Behind, or other messages have delayed it. The delay is Waited in all; the rank may have worked between its parts.
type Late struct {
	Rank, Behind int32 // in WORLD; Behind is Held if other messages have delayed the rank
	From, To     vtime.Time
	Waited       vtime.Duration
}

// Held stands in the place of a rank: other messages, at interfaces, busses, links or in memory, have delayed the late rank.
const Held = -1

// wait notes that the late rank has waited for the rank behind from one instant to another. If its delay so far was a wait for the same rank, and it
// has worked since for at most four times the length of the new wait, both waits are one delay. Else the new wait takes the place of the delay,
// unless the delay is longer and ended less than a quarter of its length ago.
func (l *Late) wait(behind int32, from, to vtime.Time) {
	length := to.Sub(from)
	switch {
	case l.Waited > 0 && behind == l.Behind && from.Sub(l.To) <= length.Times(4):
		l.To, l.Waited = to, l.Waited+length
	case length < l.Waited && to.Sub(l.To) < l.Waited/4:
	default:
		l.Behind, l.From, l.To, l.Waited = behind, from, to, length
	}
}

// waitsAlone is wait up to an instant in the first quarter of virtual time. It is inlined where many ranks wait.
func (l *Late) waitsAlone(behind int32, from, to vtime.Time) {
	length := to.Sub(from)
	switch {
	case l.Behind == behind && l.Waited > 0 && from.Sub(l.To) <= 4*length:
		l.To, l.Waited = to, l.Waited+length
	case length >= l.Waited || to.Sub(l.To) >= l.Waited/4:
		l.Behind, l.From, l.To, l.Waited = behind, from, to, length
	}
}

// held notes that other messages have delayed the late rank from one instant to another. Two such
// delays become one by the rule of wait. A wait for a rank gives way if it is no longer than the new delay, or if at least its length has passed since.
func (l *Late) held(from, to vtime.Time) {
	length := to.Sub(from)
	switch {
	case length <= 0:
	case l.Behind == Held:
		l.wait(Held, from, to)
	case length >= l.Waited || from.Sub(l.To) >= l.Waited:
		l.Behind, l.From, l.To, l.Waited = Held, from, to, length
	}
}

// behind returns the part of a time for which the rank has waited for the rank Behind, or been delayed.
func (l *Late) behind(from, to vtime.Time) vtime.Duration {
	overlap := min(to, l.To).Sub(max(from, l.From))
	if overlap <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(overlap), uint64(l.Waited))
	part, _ := bits.Div64(high, low, uint64(l.To.Sub(l.From)))
	return vtime.Duration(part)
}

// Waiter is a rank that waits for others.
type Waiter struct {
	Late
	Met vtime.Time // the end of the latest call in which it has waited for another rank, and of its latest collective
}

// Blamed is a part of the time for which a call has waited for other ranks.
type Blamed struct {
	Rank  int32 // for which it has waited
	Cause Cause
	Held  bool // other messages have delayed that rank during the time
	Time  vtime.Duration
}

// Blames are the parts of the time for which a call has waited for other ranks.
type Blames struct {
	parts [4]Blamed
	count int
}

// Parts returns the parts, which are valid as long as b is.
func (b *Blames) Parts() []Blamed { return b.parts[:b.count] }

// add adds the time from one instant to another for which a rank has waited for a late rank. As far as the late rank has waited for
// another since both could have met last, it is the other that is waited for; as far as other messages have delayed the late rank, the time is held.
func (b *Blames) add(w *Waiter, late *Late, cause Cause, from, to vtime.Time) {
	all := to.Sub(from)
	behind := min(late.behind(min(w.Met, from), to), all)
	if late.Behind == w.Rank {
		behind = 0
	}
	if behind > 0 {
		b.parts[b.count] = Blamed{late.Behind, cause, false, behind}
		if late.Behind == Held {
			b.parts[b.count] = Blamed{late.Rank, cause, true, behind}
		}
		b.count++
	}
	if all > behind {
		b.parts[b.count] = Blamed{late.Rank, cause, false, all - behind}
		b.count++
	}
}

// Blame stores for whom a rank has waited in a call that ends in a way. The parts add up to the times that Split counts
// as those of late senders, receivers, roots and members.
func (w *Waiter) Blame(e *Ending, began, ended vtime.Time, b *Blames) {
	b.count = 0
	if !e.Known {
		return
	}
	at := max(began, min(e.From, ended))
	begins := at
	if root := min(e.Root, ended); root > at {
		b.add(w, &e.Whom, LateRoot, at, root)
		at = root
	}
	if other := min(e.Other, e.Ready, ended); other > at {
		whom := e.Whom
		if e.Root > 0 {
			whom = Late{Rank: e.Last}
		}
		b.add(w, &whom, e.Late, at, other)
		at = other
	}
	if e.Late >= WaitAtBarrier {
		w.Met = ended
	}
	if b.count > 0 {
		w.waited(b, begins, at, ended)
	}
	if e.Shared > 0 || e.Within > 0 {
		w.held(e.delayed(at, ended))
	}
}

// delayed returns the instants between which other messages have delayed an operation for which nobody is late from an instant on, as Split has it.
func (e *Ending) delayed(at, ended vtime.Time) (from, to vtime.Time) {
	ready := min(e.Ready, ended)
	from = min(max(at, e.Left).Add(max(e.Works, 0)), ready)
	return from, min(from.Add(max(e.Within, 0)).Add(max(e.Shared, 0)), ready)
}

// waited notes that the rank has waited from one instant to another in a call that ends at a third.
func (w *Waiter) waited(b *Blames, from, to, ended vtime.Time) {
	most := &b.parts[0]
	for i := 1; i < b.count; i++ {
		if b.parts[i].Time > most.Time {
			most = &b.parts[i]
		}
	}
	w.wait(most.Rank, from, to)
	w.Met = ended
}

// meets is Blame for a collective in which all wait for the member that enters last, and which the rank enters before that.
func (w *Waiter) meets(late *Late, cause Cause, entry, latest, ended vtime.Time, b *Blames) {
	b.count = 0
	b.add(w, late, cause, entry, latest)
	w.waited(b, entry, latest, ended)
}

// blame sums up for which ranks others have waited. It takes memory for the ranks for which somebody has waited, and four bytes for
// each other rank.
type blame struct {
	places []int32     // by rank in WORLD: the place in ranks, counted from 1; 0 for none; nil if ranks are not kept
	ranks  []RankBlame // in the order in which they were found
}

// RankBlame is the time for which other ranks have waited for a rank, by cause.
type RankBlame struct {
	Rank  int
	Times [NumberOfLate]Total // by cause, from LateSender on
	Held  Total               // of them: other messages have delayed the rank
}

// All returns the sum over the causes.
func (r *RankBlame) All() (sum Total) {
	for _, t := range r.Times {
		sum.Merge(t)
	}
	return sum
}

// of returns the sums of a rank.
func (b *blame) of(rank int) *RankBlame {
	place := &b.places[rank]
	if *place == 0 {
		b.ranks = append(b.ranks, RankBlame{Rank: rank})
		*place = int32(len(b.ranks))
	}
	return &b.ranks[*place-1]
}

// Blame counts for whom a call has waited, if ranks are kept.
func (c *Calls) Blame(b *Blames) {
	if c.blame.places == nil {
		return
	}
	for _, part := range b.Parts() {
		of := c.blame.of(int(part.Rank))
		of.Times[part.Cause-LateSender].Add(part.Time)
		if part.Held {
			of.Held.Add(part.Time)
		}
	}
}

// blameMeeting counts for whom a rank has waited, from its entry on, in a collective in which all wait for the member that enters last.
func (c *Calls) blameMeeting(w *Waiter, late *Late, cause Cause, entry, latest, ended vtime.Time, b *Blames) {
	if late.To > min(w.Met, entry) {
		w.meets(late, cause, entry, latest, ended, b)
		c.Blame(b)
		return
	}
	w.wait(late.Rank, entry, latest) // the late rank has waited for nobody since both could have met
	w.Met = ended
	if c.blame.places != nil {
		c.blame.of(int(late.Rank)).Times[cause-LateSender].Add(latest.Sub(entry))
	}
}

// merge adds the sums of another engine.
func (b *blame) merge(o *blame) {
	if o.places == nil {
		return
	}
	if b.places == nil {
		b.places = make([]int32, len(o.places))
	}
	for i := range o.ranks {
		of := b.of(o.ranks[i].Rank)
		for cause := range of.Times {
			of.Times[cause].Merge(o.ranks[i].Times[cause])
		}
		of.Held.Merge(o.ranks[i].Held)
	}
}

func (b *blame) append(to []byte) []byte {
	to = appendWords(to, uint64(len(b.places)), uint64(len(b.ranks)))
	for i := range b.ranks {
		to = appendWords(to, uint64(b.ranks[i].Rank), b.ranks[i].Held.High, b.ranks[i].Held.Low)
		for _, t := range b.ranks[i].Times {
			to = appendWords(to, t.High, t.Low)
		}
	}
	return to
}

func (b *blame) read(r *reader) {
	*b = blame{}
	if n := r.word(); n > 0 {
		b.places = make([]int32, n)
	}
	for range r.word() {
		of := b.of(int(r.word()))
		of.Held = Total{r.word(), r.word()}
		for i := range of.Times {
			of.Times[i] = Total{r.word(), r.word()}
		}
	}
}

// Blamed returns the ranks for which others have waited, those that have cost most time first, of equal ranks the least.
func (c *Calls) Blamed() []RankBlame {
	ranks := slices.Clone(c.blame.ranks)
	slices.SortFunc(ranks, func(a, b RankBlame) int {
		x, y := a.All(), b.All()
		return cmp.Or(cmp.Compare(y.High, x.High), cmp.Compare(y.Low, x.Low), cmp.Compare(a.Rank, b.Rank))
	})
	return ranks
}
