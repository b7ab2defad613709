package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Options say what a picture shows.
type Options struct {
	Shown    []Range    // ranks, ascending and disjoint
	From, To vtime.Time // the window
	Native   bool       // functions have their names in C
	Limit    int64      // bytes of the files, as forecast, beyond which the run is ended; 0 for none
	Reports  bool       // host processes report to process 0
	Format   *Format    // of the files
}

// Range is the ranks from First to Last.
type Range struct{ First, Last int }

// Collector collects what the ranks of all engines of a process do. Its method Observer is a Config.Observer; the simulation counts
// activities.
type Collector struct {
	options Options
	mutex   sync.Mutex
	engines []*engine
	tooLong *LimitError // the run was ended on this process or another
	reports int         // of other processes
}

// New returns a collector.
func New(o Options) *Collector { return &Collector{options: o} }

// Observer returns the observer of an engine with n ranks from first on.
func (c *Collector) Observer(first, n int) kernel.Observer {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	e := &engine{options: &c.options, collector: c, begun: map[int32]begun{}}
	all := 0
	for _, r := range c.options.Shown {
		all += r.Last - r.First + 1
		e.shown += max(min(r.Last, first+n-1)-max(r.First, first)+1, 0)
	}
	if c.options.Limit > 0 {
		e.limit = max(c.options.Limit/int64(max(all, 1))*int64(e.shown), 1)
	}
	c.engines = append(c.engines, e)
	return e
}

// engine collects what the ranks of an engine do. It implements [kernel.Receiver]. An engine that the watchdog has given up may go on
// while the picture is drawn: what it does then is left out.
type engine struct {
	options   *Options
	collector *Collector
	k         *kernel.Kernel
	shown     int             // ranks of the engine that the picture shows
	begun     map[int32]begun // by rank: its collective that has not ended
	context   uint64          // of the latest call that has a communicator
	limit     int64           // bytes of the files for them, 0 for none
	mutex     sync.Mutex      // of the rest
	records
	full bool
}

// records are what ranks have done.
type records struct {
	slices   []Slice
	parts    []Part
	messages []Message
	departed []departed
	comms    map[uint64]Comm // by context
}

// begun is what the end of a blocking collective does not tell.
type begun struct {
	root     int32
	obtained int64
}

// departed is the end of a nonblocking send that has waited for its receiver.
type departed struct {
	sent, complete vtime.Time
	from, to, tag  int32
}

// take returns the records, and ends the collecting.
func (e *engine) take() (r records) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	r, e.records, e.full = e.records, records{}, true
	return r
}

var (
	_ kernel.Receiver = (*engine)(nil)
	_ kernel.Gatherer = (*engine)(nil)
)

// Records implements [kernel.Receiver].
func (e *engine) Records(k *kernel.Kernel) { e.k = k }

// Begins keeps what the end of a collective does not tell, and the communicator of a call.
func (e *engine) Begins(b *kernel.CallBegin) {
	if !e.options.shows(b.Rank) {
		return
	}
	if b.Context != world.NoContext && b.Context != e.context {
		e.meets(b.Context)
	}
	switch b.Procedure.Class() {
	case world.ClassCollective, world.ClassCommunicator, world.ClassTopology:
		if !b.Nonblocking && !b.Refused && b.Procedure != world.CommCreateGroup {
			root := b.Root
			if c, _ := e.k.Membership(b.Context); root >= 0 && c != nil {
				root = c.Peers().RankOf(root, int32(b.Rank))
			}
			e.begun[int32(b.Rank)] = begun{int32(root), b.Obtained}
		}
	}
}

// meets keeps a communicator with its members that are shown, unless it is known.
func (e *engine) meets(context uint64) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.context = context
	if _, known := e.comms[context]; known || e.full {
		return
	}
	c, name := e.k.Membership(context)
	if c == nil {
		return
	}
	made := Comm{Name: name, Size: c.Size}
	if c.Group != nil {
		made.Members = e.options.members(c.Group)
	}
	if c.Remote != nil {
		made.Remote, made.RemoteMembers = c.Remote.Context, e.options.members(c.Remote.Group)
	}
	if e.comms == nil {
		e.comms = map[uint64]Comm{}
	}
	e.comms[context] = made
}

// members returns the ranks of a group that are shown, in the order of the group.
func (o *Options) members(g *world.Group) (ranks []int32) {
	var places []int
	for _, r := range o.Shown {
		for rank := r.First; rank <= r.Last; rank++ {
			if m := g.Member(rank); m >= 0 {
				places = append(places, m)
			}
		}
	}
	slices.Sort(places)
	for _, m := range places {
		ranks = append(ranks, int32(g.WorldRank(m)))
	}
	return ranks
}

// Departs keeps the end of a send of a rank that is shown.
func (e *engine) Departs(d *kernel.Departed) {
	if o := e.options; d.Sent < o.From || d.Sent > o.To || !o.shows(d.Source) || !o.shows(d.Dest) {
		return
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if !e.full {
		e.departed = append(e.departed, departed{d.Sent, d.Complete, int32(d.Source), int32(d.Dest), int32(d.Tag)})
	}
}

// Note implements [kernel.Observer].
func (e *engine) Note(kernel.Activity, vtime.Duration) {}

// shows reports whether a rank is shown.
func (o *Options) shows(rank int) bool {
	i, found := slices.BinarySearchFunc(o.Shown, rank, func(r Range, rank int) int { return cmp.Compare(r.First, rank) })
	return found || i > 0 && rank <= o.Shown[i-1].Last
}

// Ends keeps a call of a rank that is shown. Its time is cut at the window.
func (e *engine) Ends(c *kernel.CallEnd) {
	o := e.options
	b, collective := e.begun[int32(c.Rank)]
	if collective {
		delete(e.begun, int32(c.Rank))
	}
	if !o.shows(c.Rank) || c.Began > o.To || c.Ended < o.From || c.Idle && c.Ended == c.Began || c.Procedure == world.Compute && c.Ended == c.Began {
		return
	}
	if c.Ended == o.From && c.Began < c.Ended || c.Began == o.To && c.Began < c.Ended {
		return // it only touches the window
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.full {
		return
	}
	s := Slice{Context: c.Context, Obtained: b.obtained, Root: b.root, Collective: collective, Rank: int32(c.Rank), Procedure: uint8(c.Procedure), Bytes: c.Bytes, Begin: max(c.Began, o.From), End: min(c.Ended, o.To), parts: int32(len(e.parts))}
	e.part(c, &s)
	s.count = uint8(len(e.parts) - int(s.parts))
	e.slices = append(e.slices, s)
	e.checkLimit()
}

// part appends the parts of a call, in the order in which they pass, cut at the window: its processor until it can wait, the causes of
// waiting, between them the processor of others, and its processor at the end.
func (e *engine) part(c *kernel.CallEnd, s *Slice) {
	at := c.Began
	add := func(cause kernel.Cause, d vtime.Duration) {
		from, to := max(at, s.Begin), min(at.Add(d), s.End)
		if at = at.Add(d); to > from {
			if n := len(e.parts); n > int(s.parts) && e.parts[n-1].Cause == cause {
				e.parts[n-1].Time += to.Sub(from)
			} else {
				e.parts = append(e.parts, Part{cause, to.Sub(from)})
			}
		}
	}
	c.InOrder(add)
}

// Receives keeps a message between ranks that are shown.
func (e *engine) Receives(r *kernel.Received) {
	o := e.options
	if r.Sent < o.From || r.Arrived > o.To || !o.shows(r.Source) || !o.shows(r.Dest) {
		return
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.full {
		return
	}
	m := Message{From: int32(r.Source), To: int32(r.Dest), Tag: int32(r.Tag), Bytes: r.Bytes, Sent: r.Sent, Received: r.Arrived, Context: r.Context, Posted: r.Posted}
	switch r.Procedure.Class() {
	case world.ClassReceive, world.ClassSendReceive:
		m.Requested = !r.Procedure.Blocks()
	}
	e.messages = append(e.messages, m)
	e.checkLimit()
}

// checkLimit ends the run if the files would be longer than the limit.
func (e *engine) checkLimit() {
	f := e.options.Format
	if (len(e.slices)+len(e.messages))%checkedEvery != 0 {
		return
	}
	size := int64(len(e.slices))*f.sliceBytes + int64(len(e.parts))*f.partBytes + int64(len(e.messages))*f.messageBytes
	if reported := e.size(); e.limit > 0 && size > e.limit || e.options.Reports && reported > mostReported {
		e.full = true
		exceeded := &LimitError{Limit: e.options.Limit, At: e.slices[len(e.slices)-1].End, Reported: e.limit == 0 || size <= e.limit}
		e.collector.exceeds(exceeded)
		e.k.FailHost(exceeded)
	}
}

// exceeds notes that the picture is too long; the earliest instant counts.
func (c *Collector) exceeds(l *LimitError) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.tooLong == nil || l.At < c.tooLong.At {
		c.tooLong = l
	}
}

// TooLong returns why the run was ended, nil if the picture is not too long.
func (c *Collector) TooLong() *LimitError {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.tooLong
}

// checkedEvery is the number of events after which the size of the files is forecast.
const checkedEvery = 1 << 12

// LimitError says that the files of a picture would be longer than a limit, or that they cannot travel to one host process.
type LimitError struct {
	Limit    int64
	At       vtime.Time
	Reported bool // what a host process has to report takes more than mostReported
}

func (e *LimitError) Error() string {
	if e.Reported {
		return fmt.Sprintf("--timeline: a host process has more than %d MB for the picture, at %v of virtual time: give fewer --ranks-shown or a --window, or run one process", mostReported/1_000_000, e.At)
	}
	return fmt.Sprintf("--timeline: the picture takes more than %d MB, at %v of virtual time: give fewer --ranks-shown or a --window, or --yes to write it", e.Limit/1_000_000, e.At)
}

// Reports returns the number of other processes that have reported.
func (c *Collector) Reports() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.reports
}

// depart stores the instants at which nonblocking sends are complete in their messages.
func (t *Timeline) depart(ends []departed) {
	type key struct {
		sent          vtime.Time
		from, to, tag int32
	}
	at := map[key][]vtime.Time{}
	slices.SortFunc(ends, func(a, b departed) int { return cmp.Compare(a.complete, b.complete) })
	for _, d := range ends {
		k := key{d.sent, d.from, d.to, d.tag}
		at[k] = append(at[k], d.complete)
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		if k := (key{m.Sent, m.From, m.To, m.Tag}); len(at[k]) > 0 {
			m.Departed, at[k] = at[k][0], at[k][1:]
		}
	}
}

// Timeline returns what was collected. The run is over.
func (c *Collector) Timeline(program, machine string, ranks int, end vtime.Time, path []kernel.PathSegment) *Timeline {
	t := &Timeline{Program: program, Machine: machine, Ranks: ranks, From: c.options.From, To: min(c.options.To, max(end, c.options.From)), native: c.options.Native}
	for _, r := range c.options.Shown {
		for rank := r.First; rank <= r.Last; rank++ {
			t.Shown = append(t.Shown, rank)
		}
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	t.Comms = map[uint64]Comm{}
	var ends []departed
	for _, e := range c.engines {
		if e.k != nil && t.node == nil {
			t.node = e.k.Target().Node
		}
		r := e.take()
		maps.Copy(t.Comms, r.comms)
		ends = append(ends, r.departed...)
		for i := range r.slices {
			r.slices[i].parts += int32(len(t.Parts))
		}
		t.Slices, t.Parts, t.Messages = append(t.Slices, r.slices...), append(t.Parts, r.parts...), append(t.Messages, r.messages...)
	}
	// The calls of a rank are in the order of its program.
	slices.SortStableFunc(t.Slices, func(a, b Slice) int { return cmp.Compare(a.Rank, b.Rank) })
	slices.SortFunc(t.Messages, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Received, b.Received), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Context, b.Context), cmp.Compare(a.Posted, b.Posted))
	})
	t.depart(ends)
	for _, s := range path {
		if s.From, s.To = max(s.From, t.From), min(s.To, t.To); s.From < s.To {
			t.Path = append(t.Path, s)
		}
	}
	return t
}
