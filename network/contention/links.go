package contention

import (
	"slices"

	"github.com/google/btree"

	"gigarank/vtime"
)

// Limits are the greatest numbers of simultaneous transfers; 0 for any number.
type Limits struct {
	Busses int                          // of the machine
	Links  func(node int) (out, in int) // of each node
}

// Links decide by busses and by links out of and into nodes.
//
// Messages wait in a queue for each pair of links; only its head can be next. A pool of links that
// becomes free offers the first head whose links are all free, and the offer stays until a bus is
// free. The pool scans its queues in the order of their heads. Where busses are scarce, one of the
// first heads has its links. Where links are scarce, few links are free while messages wait: after
// as many steps as there are free pools on the other side, the pool examines those instead.
type Links struct {
	outcomes
	pairs
	limits  Limits
	busses  int // busses in use
	out, in side
	queues  map[route]*queue // queues of waiting messages
	spare   []*queue
	now     vtime.Time
	under   heap[transfer] // transfers under way
	waiting int            // number of waiting messages
	offers  heap[offer]
	looks   int // examined heads of queues, for tests
}

// side is the links out of all nodes, or into them.
type side struct {
	pools map[int]*pool // by node, for nodes with a limit
	any   *pool         // the pool of all nodes without a limit
	free  []*pool       // pools with a limit, a free link and waiting messages
}

// pool is the links of a node in one direction.
type pool struct {
	side         *side
	limit, taken int
	queues       *btree.BTreeG[*queue] // queues of messages that wait for the pool, in the order of their heads
	place        int                   // index in free, -1 for a pool that is not listed
	offered      uint32                // number of its latest offer
}

type route struct{ out, in *pool }

// queue is the messages that wait for two pools, in order.
type queue struct {
	route
	messages []Message
	head     int
	offered  uint32 // number of its latest offer
}

// offer is a message whose links were all free when a pool, or its queue, offered it.
type offer struct {
	first  Message
	queue  *queue
	by     *pool // nil if its queue made the offer
	number uint32
}

// transfer is a message that has begun.
type transfer struct {
	ends     vtime.Time
	from, to int
}

// NewLinks returns idle links.
func NewLinks(limits Limits) *Links {
	l := &Links{limits: limits, queues: map[route]*queue{}}
	for _, s := range [...]*side{&l.out, &l.in} {
		s.pools, s.any = map[int]*pool{}, newPool(s, 0)
	}
	l.under.less = func(a, b *transfer) bool { return a.ends < b.ends }
	l.offers.less = func(a, b *offer) bool { return a.first.before(&b.first) }
	return l
}

// degree is the degree of the B-trees of queues.
const degree = 16

func newPool(s *side, limit int) *pool {
	return &pool{side: s, limit: limit, place: -1, queues: btree.NewG(degree, func(a, b *queue) bool { return a.first().before(b.first()) })}
}

// full reports whether no link of the pool is free.
func (p *pool) full() bool { return p.limit > 0 && p.taken == p.limit }

// pool returns the links of a node.
func (s *side) pool(node, limit int) *pool {
	if limit == 0 {
		return s.any
	}
	p := s.pools[node]
	if p == nil {
		p = newPool(s, limit)
		s.pools[node] = p
	}
	return p
}

// between returns the links that a message needs.
func (l *Links) between(from, to int) route {
	out, _ := l.limits.Links(from)
	_, in := l.limits.Links(to)
	return route{l.out.pool(from, out), l.in.pool(to, in)}
}

// free reports whether both links are free.
func (r *route) free() bool { return !r.out.full() && !r.in.full() }

func (l *Links) busFree() bool { return l.limits.Busses == 0 || l.busses < l.limits.Busses }

// Ask adds a message, which begins at once or waits.
func (l *Links) Ask(m Message) {
	l.Advance(m.At)
	r := l.between(m.From, m.To)
	q := l.queues[r]
	switch n := len(l.spare); {
	case q != nil:
	case r.free() && l.busFree():
		l.begin(&m, r)
		return
	case n > 0:
		q = l.spare[n-1]
		l.spare = l.spare[:n-1]
	default:
		q = &queue{}
	}
	q.route = r
	l.queues[r] = q
	l.enqueue(q, m)
}

// Next returns the end of the next transfer if a message waits.
func (l *Links) Next() vtime.Time {
	if l.waiting == 0 || l.under.len() == 0 {
		return vtime.Forever
	}
	return l.under.items[0].ends
}

// Advance ends the transfers up to an instant and gives their links to waiting messages.
func (l *Links) Advance(to vtime.Time) {
	for l.under.len() > 0 && l.under.items[0].ends <= to {
		l.now = l.under.items[0].ends
		for l.under.len() > 0 && l.under.items[0].ends == l.now {
			t := l.under.pop()
			r := l.between(t.from, t.to)
			l.busses--
			for _, p := range [...]*pool{r.out, r.in} {
				p.taken--
				p.list()
				l.offerBest(p)
			}
		}
		l.accept()
	}
	l.now = max(l.now, to)
}

// begin starts a transfer now.
func (l *Links) begin(m *Message, r route) {
	l.busses++
	for _, p := range [...]*pool{r.out, r.in} {
		p.taken++
		p.list()
	}
	ends := l.now.Add(m.Transfer)
	l.under.push(transfer{ends, m.From, m.To})
	l.add(m.Tag, l.now, l.inOrder(m, ends, l.now))
}

// accept begins the offered messages, in order, while a bus is free.
func (l *Links) accept() {
	for l.offers.len() > 0 && l.busFree() {
		o := l.offers.pop()
		q := o.queue
		if o.stale() {
			continue
		}
		if !q.empty() && q.free() && q.first().is(&o.first) {
			l.waiting--
			m := q.messages[q.head]
			l.pop(q)
			l.begin(&m, q.route)
		}
		switch {
		case o.by != nil:
			l.offerBest(o.by)
		case !q.empty():
			l.offerHead(q)
		}
	}
	if l.offers.len() > 64+4*(len(l.queues)+len(l.out.pools)+len(l.in.pools)) {
		l.dropStale()
	}
}

// stale reports whether an offer has been replaced.
func (o *offer) stale() bool {
	if o.by != nil {
		return o.number != o.by.offered
	}
	return o.number != o.queue.offered
}

func (l *Links) dropStale() {
	all := l.offers.items
	l.offers.items = nil
	for i := range all {
		if !all[i].stale() {
			l.offers.push(all[i])
		}
	}
}

// enqueue adds a message to a queue.
func (l *Links) enqueue(q *queue, m Message) {
	l.waiting++
	q.messages = append(q.messages, m)
	if len(q.messages)-q.head > 1 {
		return
	}
	q.enter()
	l.offerHead(q)
}

// offerHead offers the head of a queue if it lacks only a bus.
func (l *Links) offerHead(q *queue) {
	q.offered++
	if q.free() {
		l.offers.push(offer{*q.first(), q, nil, q.offered})
	}
}

// offerBest offers the first head of a pool's queues that lacks only a bus.
func (l *Links) offerBest(p *pool) {
	p.offered++
	if p.limit == 0 || p.full() {
		return
	}
	best := l.best(p)
	if best != nil {
		l.offers.push(offer{*best.first(), best, p, p.offered})
	}
}

// best returns the queue of a pool whose head is the first that lacks only a bus, nil for none.
func (l *Links) best(p *pool) (best *queue) {
	other := l.other(p.side)
	steps := 0
	p.queues.Ascend(func(q *queue) bool {
		steps++
		if q.free() {
			best = q
		}
		return best == nil && steps <= len(other.free)
	})
	l.looks += steps
	if best != nil || steps == p.queues.Len() {
		return best
	}
	look := func(o *pool) {
		l.looks++
		if q := l.queues[l.routeOf(p, o)]; q != nil && (best == nil || q.first().before(best.first())) {
			best = q
		}
	}
	look(other.any)
	for _, o := range other.free {
		look(o)
	}
	return best
}

func (l *Links) other(s *side) *side {
	if s == &l.out {
		return &l.in
	}
	return &l.out
}

// routeOf returns the route of a pool and a pool of the other side.
func (l *Links) routeOf(p, other *pool) route {
	if p.side == &l.out {
		return route{p, other}
	}
	return route{other, p}
}

// list adds a pool with a limit to the free pools of its side, or removes it from them.
func (p *pool) list() {
	belongs := p.limit > 0 && !p.full() && p.queues.Len() > 0
	switch s := p.side; {
	case belongs && p.place < 0:
		p.place = len(s.free)
		s.free = append(s.free, p)
	case !belongs && p.place >= 0:
		last := s.free[len(s.free)-1]
		s.free[p.place], last.place = last, p.place
		s.free = s.free[:len(s.free)-1]
		p.place = -1
	}
}

func (q *queue) empty() bool     { return q.head == len(q.messages) }
func (q *queue) first() *Message { return &q.messages[q.head] }

// enter adds a queue to its pools.
func (q *queue) enter() {
	for _, p := range [...]*pool{q.out, q.in} {
		if p.limit > 0 {
			p.queues.ReplaceOrInsert(q)
			p.list()
		}
	}
}

// pop removes the head of a queue. An empty queue is stored for reuse.
func (l *Links) pop(q *queue) {
	for _, p := range [...]*pool{q.out, q.in} {
		if p.limit > 0 {
			p.queues.Delete(q)
		}
	}
	q.head++
	switch {
	case q.empty():
		q.messages, q.head = q.messages[:0], 0
		delete(l.queues, q.route)
		l.spare = append(l.spare, q)
		q.out.list()
		q.in.list()
		return
	case q.head > 32 && 2*q.head > len(q.messages):
		q.messages, q.head = slices.Delete(q.messages, 0, q.head), 0
	}
	q.enter()
}
