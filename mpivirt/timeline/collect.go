package timeline

import (
	"cmp"
	"fmt"
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
	e := &engine{options: &c.options, collector: c}
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
	shown     int        // ranks of the engine that the picture shows
	limit     int64      // bytes of the files for them, 0 for none
	mutex     sync.Mutex // of the rest
	records
	full bool
}

// records are what ranks have done.
type records struct {
	slices   []Slice
	parts    []Part
	messages []Message
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

// Begins implements [kernel.Observer].
func (e *engine) Begins(*kernel.CallBegin) {}

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
	s := Slice{Rank: int32(c.Rank), Procedure: uint8(c.Procedure), Bytes: c.Bytes, Begin: max(c.Began, o.From), End: min(c.Ended, o.To), parts: int32(len(e.parts))}
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
	times := c.Causes
	processor := times[processorCause]
	lead := min(c.From.Sub(c.Began), processor)
	tail := vtime.Duration(0)
	if c.Chained {
		tail = min(max(c.Ended.Sub(max(c.There, c.From)), 0), processor-lead)
	}
	add(processorCause, lead)
	for _, cause := range waitingOrder {
		if cause == processorCause {
			add(cause, processor-lead-tail)
		} else {
			add(cause, times[cause])
		}
	}
	add(processorCause, tail)
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
	e.messages = append(e.messages, Message{From: int32(r.Source), To: int32(r.Dest), Tag: int32(r.Tag), Bytes: r.Bytes, Sent: r.Sent, Received: r.Arrived})
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
	for _, e := range c.engines {
		r := e.take()
		for i := range r.slices {
			r.slices[i].parts += int32(len(t.Parts))
		}
		t.Slices, t.Parts, t.Messages = append(t.Slices, r.slices...), append(t.Parts, r.parts...), append(t.Messages, r.messages...)
	}
	// The calls of a rank are in the order of its program.
	slices.SortStableFunc(t.Slices, func(a, b Slice) int { return cmp.Compare(a.Rank, b.Rank) })
	slices.SortFunc(t.Messages, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Received, b.Received), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Bytes, b.Bytes))
	})
	for _, s := range path {
		if s.From, s.To = max(s.From, t.From), min(s.To, t.To); s.From < s.To {
			t.Path = append(t.Path, s)
		}
	}
	return t
}
