package contention

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"gigarank/vtime"
)

// Routes returns the links of transfers.
type Routes interface {
	// Route appends the numbers of the links from one node to another, each once.
	Route(from, to int, links []int) []int
	// Capacity returns the bytes per second that a link carries, 0 for any number.
	Capacity(link int) int64
}

// Fair decides by max-min fair shares. A transfer is no faster than on an undisturbed path.
type Fair struct {
	outcomes
	routes  Routes
	links   map[int]*sharedLink
	flows   []flow
	unused  []int32 // indices of flows
	ends    heap[ending]
	order   map[pair]line
	changed []*sharedLink // links of transfers that have begun or ended now
	now     vtime.Time
	visit   uint32 // marks links and flows of a component

	route     []int // scratch, as the following fields
	component []*sharedLink
	members   []int32
	shares    heap[share]
}

// sharedLink is a link with a capacity. Rates are in units of 2^-60 bytes per picosecond. A
// capacity has two words of such units, the high word first.
type sharedLink struct {
	number   int
	capacity [2]uint64
	flows    []int32
	visit    uint32
	changed  bool
	left     [2]uint64 // while rates are computed: the remaining capacity
	open     int       // while rates are computed: the flows without a rate
}

// flow is a transfer that is under way, or over and held back by an earlier transfer of its pair.
type flow struct {
	message  Message
	links    []*sharedLink
	places   []int32 // in the flows of each link
	own      uint64  // its rate on an undisturbed path
	rate     uint64
	left     [2]uint64  // bytes in units of 2^-60, high word first, at the instant since
	since    vtime.Time // beginning of the present rate
	ends     vtime.Time
	full     bool // has had its own rate from the beginning
	version  uint32
	visit    uint32
	rated    bool
	finished bool
	behind   int32 // the next message of the pair, -1 if none
}

// line is the queue of the undelivered messages of a pair.
type line struct{ first, last int32 }

// ending is the end of a flow at the rate of a version.
type ending struct {
	at      vtime.Time
	flow    int32
	version uint32
}

// share is the share of each flow of a link, at the time of its entry in the heap.
type share struct {
	rate uint64
	link *sharedLink
}

// unitBits: a byte is 2^unitBits units.
const unitBits = 60

// NewFair returns idle links.
func NewFair(routes Routes) *Fair {
	return &Fair{
		routes: routes, links: map[int]*sharedLink{}, order: map[pair]line{},
		ends: heap[ending]{less: func(a, b *ending) bool {
			return a.at < b.at || a.at == b.at && a.flow < b.flow
		}},
		shares: heap[share]{less: func(a, b *share) bool {
			return a.rate < b.rate || a.rate == b.rate && a.link.number < b.link.number
		}},
	}
}

// Ask begins a transfer.
func (f *Fair) Ask(m Message) {
	f.Advance(m.At)
	f.now = m.At
	i := f.take()
	w := &f.flows[i]
	links, places := w.links[:0], w.places[:0]
	f.route = f.routes.Route(m.From, m.To, f.route[:0])
	for _, number := range f.route {
		l := f.link(number)
		if l == nil {
			continue
		}
		links, places = append(links, l), append(places, int32(len(l.flows)))
		l.flows = append(l.flows, i)
		f.touch(l)
	}
	version := w.version + 1
	*w = flow{message: m, links: links, places: places, own: rateOf(m.Bytes, int64(m.Transfer)), full: true, since: m.At, version: version, behind: -1}
	w.left = [2]uint64{uint64(m.Bytes) >> (64 - unitBits), uint64(m.Bytes) << unitBits}
	key := pair{m.Source, m.Dest}
	q, waits := f.order[key]
	if waits {
		f.flows[q.last].behind = i
		q.last = i
	} else {
		q = line{i, i}
	}
	f.order[key] = q
	if len(links) == 0 {
		f.rateIs(i, w.own)
	}
}

// take returns the index of an unused flow.
func (f *Fair) take() int32 {
	if n := len(f.unused); n > 0 {
		i := f.unused[n-1]
		f.unused = f.unused[:n-1]
		return i
	}
	f.flows = append(f.flows, flow{})
	return int32(len(f.flows) - 1)
}

// link returns a link that limits transfers, nil for an unlimited link.
func (f *Fair) link(number int) *sharedLink {
	l, known := f.links[number]
	if !known {
		if c := f.routes.Capacity(number); c > 0 {
			l = &sharedLink{number: number, capacity: capacityOf(c)}
		}
		f.links[number] = l
	}
	return l
}

// touch has the rates of a link's component recomputed before time goes on.
func (f *Fair) touch(l *sharedLink) {
	if !l.changed {
		l.changed = true
		f.changed = append(f.changed, l)
	}
}

// rateOf returns bytes per time, in picoseconds, in units of 2^-60 bytes per picosecond, rounded
// down. For 16 TB/s and more, which do not fit, it returns the greatest rate.
func rateOf(bytes, time int64) uint64 {
	hi, lo := uint64(bytes)>>(64-unitBits), uint64(bytes)<<unitBits
	if time <= 0 || hi >= uint64(time) {
		return math.MaxUint64
	}
	rate, _ := bits.Div64(hi, lo, uint64(time))
	return max(rate, 1)
}

// capacityOf returns bytes per second in units of 2^-60 bytes per picosecond, rounded down.
func capacityOf(bytes int64) (units [2]uint64) {
	hi, lo := uint64(bytes)>>(64-unitBits), uint64(bytes)<<unitBits
	units[0], hi = hi/uint64(vtime.Second), hi%uint64(vtime.Second)
	units[1], _ = bits.Div64(hi, lo, uint64(vtime.Second))
	return units
}

// equal returns the share of each open flow in the remaining capacity, rounded down, at most the
// greatest rate.
func (l *sharedLink) equal() uint64 {
	if l.left[0] >= uint64(l.open) {
		return math.MaxUint64
	}
	rate, _ := bits.Div64(l.left[0], l.left[1], uint64(l.open))
	return rate
}

// lastInstant is the last instant of virtual time. Transfers that do not end within virtual time are
// decided then: no transfer that ends may make them quicker any more.
const lastInstant = vtime.Forever - 1

// Next returns the instant at which the next transfer ends at the present rates.
func (f *Fair) Next() vtime.Time {
	f.settle()
	for f.ends.len() > 0 {
		e := &f.ends.items[0]
		if f.flows[e.flow].version == e.version {
			return min(e.at, lastInstant)
		}
		f.ends.pop()
	}
	return vtime.Forever
}

// Advance ends the transfers that end up to an instant.
func (f *Fair) Advance(to vtime.Time) {
	if to == f.now && len(f.changed) > 0 {
		return // more messages may ask now; a transfer that ends now does so with the next call
	}
	for at := f.Next(); at <= to && at < vtime.Forever; at = f.Next() {
		f.now = max(f.now, at)
		for f.ends.len() > 0 && (f.ends.items[0].at <= at || at == lastInstant) {
			if e := f.ends.pop(); f.flows[e.flow].version == e.version {
				f.end(e.flow, max(f.now, e.at))
			}
		}
	}
	f.now = max(f.now, to)
}

// end ends a transfer at an instant, which is now or Forever, and delivers the transfers that it has
// held back.
func (f *Fair) end(i int32, at vtime.Time) {
	w := &f.flows[i]
	w.ends = at
	w.finished = true
	w.version++
	for j, l := range w.links {
		place, last := w.places[j], l.flows[len(l.flows)-1]
		l.flows[place] = last
		l.flows = l.flows[:len(l.flows)-1]
		moved := &f.flows[last]
		for n, other := range moved.links {
			if other == l {
				moved.places[n] = place
			}
		}
		f.touch(l)
	}
	key := pair{w.message.Source, w.message.Dest}
	q := f.order[key]
	for q.first >= 0 && f.flows[q.first].finished {
		done := &f.flows[q.first]
		at = max(at, done.ends)
		f.add(done.message.Tag, done.message.At, at)
		f.unused = append(f.unused, q.first)
		q.first = done.behind
	}
	if q.first < 0 {
		delete(f.order, key)
		return
	}
	f.order[key] = q
}

// settle recomputes the rates of all transfers that are connected with a change.
func (f *Fair) settle() {
	if len(f.changed) == 0 {
		return
	}
	f.connect()
	f.fill()
	for _, i := range f.members {
		f.flows[i].rated = false
	}
}

// connect collects the links and flows of the components that have changed.
func (f *Fair) connect() {
	f.visit++
	f.component, f.members = f.component[:0], f.members[:0]
	for _, l := range f.changed {
		l.changed, l.visit = false, f.visit
		f.component = append(f.component, l)
	}
	f.changed = f.changed[:0]
	for n := 0; n < len(f.component); n++ {
		for _, i := range f.component[n].flows {
			w := &f.flows[i]
			if w.visit == f.visit {
				continue
			}
			w.visit = f.visit
			f.members = append(f.members, i)
			for _, l := range w.links {
				if l.visit != f.visit {
					l.visit = f.visit
					f.component = append(f.component, l)
				}
			}
		}
	}
}

// fill gives the flows of a component their rates: the link with the least share fixes its flows,
// then the link with the next share, and so on. A flow with a lower rate on an undisturbed path
// gets that rate.
func (f *Fair) fill() {
	for _, l := range f.component {
		l.left, l.open = l.capacity, len(l.flows)
		f.offerShare(l)
	}
	slices.SortFunc(f.members, func(a, b int32) int {
		return cmp.Or(cmp.Compare(f.flows[a].own, f.flows[b].own), cmp.Compare(a, b))
	})
	slowest := 0
	for f.shares.len() > 0 {
		s := f.shares.items[0]
		switch {
		case s.link.open == 0:
			f.shares.pop()
			continue
		case s.rate != s.link.equal():
			f.shares.pop()
			f.offerShare(s.link)
			continue
		}
		for slowest < len(f.members) && f.flows[f.members[slowest]].rated {
			slowest++
		}
		if i := f.members[slowest]; f.flows[i].own <= s.rate {
			f.fix(i, f.flows[i].own)
			continue
		}
		f.shares.pop()
		for _, i := range s.link.flows {
			if !f.flows[i].rated {
				f.fix(i, s.rate)
			}
		}
	}
}

func (f *Fair) offerShare(l *sharedLink) {
	if l.open > 0 {
		f.shares.push(share{l.equal(), l})
	}
}

// fix gives a flow its rate.
func (f *Fair) fix(i int32, rate uint64) {
	w := &f.flows[i]
	w.rated = true
	for _, l := range w.links {
		var borrow uint64
		l.left[1], borrow = bits.Sub64(l.left[1], rate, 0)
		if l.left[0], borrow = bits.Sub64(l.left[0], 0, borrow); borrow != 0 {
			l.left = [2]uint64{}
		}
		l.open--
	}
	f.rateIs(i, max(rate, 1))
}

// rateIs sets the rate of a flow from now on.
func (f *Fair) rateIs(i int32, rate uint64) {
	w := &f.flows[i]
	if rate == w.rate {
		return
	}
	hi, lo := bits.Mul64(w.rate, uint64(f.now-w.since))
	var borrow uint64
	w.left[1], borrow = bits.Sub64(w.left[1], lo, 0)
	w.left[0], _ = bits.Sub64(w.left[0], hi, borrow)
	w.since, w.rate = f.now, rate
	w.full = w.full && rate == w.own
	w.ends = f.endOf(w)
	w.version++
	if f.ends.len() > 64+4*len(f.flows) {
		f.dropStale()
	}
	f.ends.push(ending{w.ends, i, w.version})
}

// dropStale removes the ends at former rates.
func (f *Fair) dropStale() {
	stale := f.ends.items
	f.ends.items = nil
	for _, e := range stale {
		if f.flows[e.flow].version == e.version {
			f.ends.push(e)
		}
	}
}

// endOf returns the end of a flow at its rate, to the nearest picosecond, ties to the later.
func (f *Fair) endOf(w *flow) vtime.Time {
	if w.full {
		return w.message.At.Add(w.message.Transfer)
	}
	if w.left[0] >= w.rate {
		return vtime.Forever
	}
	whole, rest := bits.Div64(w.left[0], w.left[1], w.rate)
	if rest >= w.rate-rest {
		whole++
	}
	return f.now.Add(vtime.Duration(min(whole, uint64(vtime.Endless))))
}
