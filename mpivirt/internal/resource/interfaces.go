package resource

import (
	"cmp"
	"unsafe"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/network/contention"
	"gigarank/vtime"
)

// Interfaces carry the messages between nodes whose ranks share network interfaces, and the messages
// within nodes whose ranks share the memory (`network.Target.Shares`).
//
// A message asks for an interface of its sender's node when it leaves, in the order (virtual time,
// source rank, Order). It begins once an interface is free and occupies that interface for its
// bytes over the bandwidth plus a gap, and as long as the links of its way hold it back. A message of at most a packet passes longer messages in front
// of it (package contention). An undisturbed message arrives its latency and transfer
// after it begins. It asks for the interfaces of its receiver's node earlier by the time that they
// need for its bytes, but not within the latency. It has arrived when they have taken its bytes. So
// an undisturbed message takes its latency plus the longer of its transfer and its time at an
// interface.
//
// A message within a node asks the memory of the node when it leaves, in the same order. The memory
// carries the bytes of one message after another, and is one more interface, without a gap. The
// message arrives a latency after the memory has carried its bytes, and not sooner than without other
// messages. A message without bytes does not wait for the memory. What ranks combine and pack there asks
// in the same way.
//
// The engine of a node decides for the node; no node is on two engines. Requests of an instant are
// served only when all of that instant are known: arrivals of an instant are decided first, then
// ranks act, then messages leave.
type Interfaces struct {
	partition   *world.Partition
	each        int
	shared      bool
	striped     bool                         // messages of collectives take all interfaces of a node
	first       int                          // node of the engine's first rank
	nodes       int                          // of the engine
	sides       [ways]*contention.Interfaces // by way: interfaces of nodes, or their memories; nil before the first message
	leaving     passages                     // requests at senders' nodes, by ranks of this engine
	coming      passages                     // requests at receivers' nodes
	works       [2]Freight
	asked       map[route]vtime.Time // when the latest ordered message of a pair asks at its sender's node, if it waits for the path
	droppedAsks int                  // length of asked at which past entries are dropped
	served      vtime.Time           // instant up to which all requests are served
	overtaken   map[route]vtime.Time // when the latest message of a pair asks at its receiver's node, where a later message might ask sooner
	dropped     int                  // length of overtaken at which past entries are dropped
	paths       map[route]vtime.Time // when the path of a pair has taken the latest message that occupies it
	droppedPath int                  // length of paths at which past entries are dropped
	delivered   map[route]vtime.Time // arrival of the latest message of a pair, where a later message might arrive sooner
	droppedOver int
	layers      Layers       // nil if messages take interfaces in the order of asking alone
	gates       [ways][]gate // by way, node and rail; nil before the first message in layers
	from        uint64       // the first layer whose messages come one by one
	places      []int32      // scratch of byNode
	layer       []Asking     // likewise
}

type route struct{ source, dest int32 }

// Passage is a message on its way between two nodes, or within a node.
type Passage struct {
	At                vtime.Time // instant of the request
	Sent              vtime.Time // departure
	Left              vtime.Time // of an ordered message: instant at which its sender had it leave, at most At
	Order             [2]uint64  // key among the messages of a source to its receiver that ask at one instant
	Source, Dest      int32      // ranks
	Ordered           bool       // the message must not arrive before an earlier ordered message of the pair
	Owner             Owner
	Kind              uint8  // for the owner; kinds of messages of one source that ask at one instant ascend
	Index             int32  // for the owner
	Context           uint64 // of the communicator, which its members may free before the message leaves
	Bytes             int64
	Latency, Transfer vtime.Duration // of an undisturbed message
	Jitter            vtime.Duration // in addition to both
	Path              vtime.Duration // for which the message occupies the path between its two ranks, which then takes the next one with such a time; 0: it does not wait for the path
	Held              vtime.Duration // for which the links in front of it keep the message at its sender's interface, beyond its bytes
	Work              vtime.Duration // of a rank that works in the memory of its node: the time of the memory; Transfer is that of the rank alone
	number            uint64         // counts the requests here
}

// Network carries the messages that delay each other: through the [Interfaces] of each node, or over
// [Links] that all share.
type Network interface {
	// Carries sets the Freight of an owner's messages.
	Carries(owner Owner, work Freight)
	// InFlight reports whether a message leaves only after the path between its two ranks has taken
	// the previous message.
	InFlight() bool
	// Leave has a message of a local rank request its passage at p.At or later.
	Leave(p Passage)
	// Reach has a message that has left request its passage at its receiver's engine, at an instant
	// or later.
	Reach(p Passage, at vtime.Time)
	// Serve handles a timed event of source. All events up to it are known.
	Serve(source int32, now vtime.Time)
	// Delay returns the time by which other messages have delayed a message that arrives at an instant, since it has asked at
	// its receiver's node, or at all.
	Delay(p *Passage, at vtime.Time) vtime.Duration
}

// NewNetwork returns the idle network of a partition on a target where messages delay each other.
func NewNetwork(p *world.Partition) Network {
	if p.Target.Contention().Model != "" {
		return NewLinks(p)
	}
	return NewInterfaces(p)
}

// Freight handles the messages of one owner that delay each other.
type Freight interface {
	// Left handles that a message of a local rank begins to leave at an instant, and asks at its
	// receiver's node at another.
	Left(p *Passage, begins, asks vtime.Time)
	// Freed handles that a message to a local rank, which does not ask at its receiver's node, is on
	// its way and no longer changes. Its sender,
	// if it waits until DATA has left, is free at an instant, which other messages have delayed.
	Freed(p *Passage, at vtime.Time, delay vtime.Duration)
	// Arrived handles the arrival of a message at a local rank.
	Arrived(p *Passage, at vtime.Time)
}

// NewInterfaces returns the idle interfaces of a partition's nodes.
func NewInterfaces(p *world.Partition) *Interfaces {
	x := &Interfaces{partition: p, striped: p.Target.Striped()}
	x.each, x.shared, _ = p.Target.Interfaces()
	if p.Ranks > 0 {
		x.first, x.nodes = x.nodesHere()
	}
	x.leaving.armed, x.coming = vtime.Forever, passages{sent: true, armed: vtime.Forever}
	return x
}

// side returns the interfaces, or the memories, that messages pass on their way. It makes them for the first message.
func (x *Interfaces) side(way Way) *contention.Interfaces {
	if x.sides[way] == nil {
		x.sides[way] = x.idle(way)
	}
	return x.sides[way]
}

// idle returns idle interfaces of the engine's nodes, or idle memories.
func (x *Interfaces) idle(way Way) *contention.Interfaces {
	t := x.partition.Target
	if way == Within {
		return contention.NewInterfaces(x.nodes, 1, false, 0, t.MemoryPacketTime())
	}
	_, _, gap := t.Interfaces()
	i := contention.NewInterfaces(x.nodes, x.each, x.shared, gap, t.PacketTime())
	if x.layers != nil {
		i.Layer()
	}
	return i
}

// nodesHere returns the first node of the engine and the number of its nodes.
func (x *Interfaces) nodesHere() (first, nodes int) {
	p := x.partition
	if p.Ranks == p.Target.Ranks() {
		return 0, p.Target.Nodes()
	}
	first = p.Target.Node(p.First)
	return first, p.Target.Node(p.First+p.Ranks-1) - first + 1
}

// Carries sets the Freight of an owner's messages.
func (x *Interfaces) Carries(owner Owner, work Freight) { x.works[owner] = work }

// InFlight returns true: a message waits for the path between its two ranks before it asks.
func (x *Interfaces) InFlight() bool { return true }

// Leave has a message ask for an interface of its sender's node at p.At. An ordered message that waits
// for the path between its two ranks does not ask before the message before it, though more of its time
// may be latency.
func (x *Interfaces) Leave(p Passage) {
	if p.Ordered && (p.At > p.Left || len(x.asked) > 0) {
		x.askInOrder(&p)
	}
	x.ask(&x.leaving, &p, lastAtInstant)
}

// askInOrder has an ordered message ask no sooner than the message of its pair before it. Its arrival on
// an idle network stays the same.
func (x *Interfaces) askInOrder(p *Passage) {
	key := route{p.Source, p.Dest}
	if before := x.asked[key]; before > p.At {
		late := before.Sub(p.At)
		p.At = before
		p.Jitter -= max(late-p.Transfer, 0)
		p.Transfer -= min(late, p.Transfer)
	}
	if p.At > p.Left {
		if x.asked == nil {
			x.asked = map[route]vtime.Time{}
		}
		x.asked[key] = p.At
		x.droppedAsks = dropOver(x.asked, x.droppedAsks, x.served)
	}
}

// Reach has a message ask for the interfaces of its receiver's node at an instant.
func (x *Interfaces) Reach(p Passage, at vtime.Time) {
	p.At, p.Held = at, 0
	x.ask(&x.coming, &p, firstAtInstant)
}

// Sources of the timed events that serve the interfaces: before and after all events of ranks at an
// instant.
const (
	firstAtInstant = -1 << 31
	lastAtInstant  = 1<<31 - 1
)

func (x *Interfaces) ask(q *passages, p *Passage, source int32) {
	q.push(p)
	x.arm(q, source)
}

// arm schedules a timed event at the instant of the next request.
func (x *Interfaces) arm(q *passages, source int32) {
	if len(q.heap) == 0 || q.heap[0].at >= q.armed {
		return
	}
	q.armed = q.heap[0].at
	x.partition.Engine.Schedule(engine.Event{Time: q.armed, Source: source, LP: int32(x.partition.First), Data: world.DataPassage})
}

// Serve serves the requests of an instant; source is the source of the event. All events up to it
// are known.
func (x *Interfaces) Serve(source int32, now vtime.Time) {
	q := &x.leaving
	if source == firstAtInstant {
		q = &x.coming
	}
	if q.armed != now {
		return
	}
	x.served = now
	for len(q.heap) > 0 && q.heap[0].at <= now {
		index := q.pop()
		p := q.passages.At(index)
		if p.Path > 0 && q == &x.leaving {
			if free := x.paths[route{p.Source, p.Dest}]; free > p.At {
				later := *p
				later.At = free
				q.passages.Release(index)
				q.push(&later)
				continue
			}
		}
		if way := x.wayOf(p, source == firstAtInstant); x.layers != nil && (way != Within || x.memoryTime(p) > 0) {
			x.serveInLayers(way, p)
		} else {
			x.pass(way, p)
		}
		q.passages.Release(index)
	}
	q.armed = vtime.Forever
	x.arm(q, source)
}

// wayOf returns the way of a message that asks at its receiver's node, or at its sender's node.
func (x *Interfaces) wayOf(p *Passage, comes bool) Way {
	switch t := x.partition.Target; {
	case comes:
		return Inward
	case t.ContendedWithin() && t.Node(int(p.Source)) == t.Node(int(p.Dest)):
		return Within
	}
	return Outward
}

// pass serves a request.
func (x *Interfaces) pass(way Way, p *Passage) {
	switch way {
	case Outward:
		x.leave(p)
	case Inward:
		x.arrive(p)
	default:
		x.move(p)
	}
}

// leave serves a request at the sender's node.
func (x *Interfaces) leave(p *Passage) {
	begins, bytes := x.take(x.side(Outward), p, p.Source)
	if p.Path > 0 {
		if x.paths == nil {
			x.paths = map[route]vtime.Time{}
		}
		x.paths[route{p.Source, p.Dest}] = begins.Add(p.Path)
		x.droppedPath = dropOver(x.paths, x.droppedPath, x.served)
	}
	earliest := begins.Add(p.Latency)
	alone := p.Transfer.Plus(p.Held).Plus(p.Jitter)
	asks := earliest.Add(alone - min(alone, bytes))
	if p.Ordered {
		asks = x.inOrder(p, begins, asks)
	}
	x.works[p.Owner].Left(p, begins, asks)
}

// take reserves an interface of a rank's node for a message, or all that stripe it. It returns when the message begins, and the
// time of its bytes.
func (x *Interfaces) take(side *contention.Interfaces, p *Passage, rank int32) (begins vtime.Time, bytes vtime.Duration) {
	t := x.partition.Target
	node := t.Node(int(rank)) - x.first
	if x.striped && p.Owner == OfAgents {
		bytes = t.InterfaceTime(p.Bytes)
		return side.TakeEvery(node, p.At, bytes.Plus(p.Held)), bytes
	}
	bytes = t.RailTime(p.Bytes)
	return side.Take(node, x.rail(rank), p.At, bytes.Plus(p.Held)), bytes
}

// Delay implements [Network].
func (x *Interfaces) Delay(p *Passage, at vtime.Time) vtime.Duration {
	t := x.partition.Target
	alone := t.RailTime(p.Bytes)
	switch {
	case t.Node(int(p.Source)) == t.Node(int(p.Dest)):
		way := p.Transfer.Plus(p.Jitter)
		alone = p.Latency.Plus(way)
		if bytes := x.memoryTime(p); bytes > 0 {
			alone = alone.Plus(network.HeldUntil(p.At, p.At, bytes, way).Sub(p.At))
		}
	case x.striped && p.Owner == OfAgents:
		alone = t.InterfaceTime(p.Bytes)
	}
	return at.Sub(p.At.Add(alone))
}

// inOrder returns when an ordered message that begins at an instant asks at its receiver's node: not
// before an earlier message of the pair.
func (x *Interfaces) inOrder(p *Passage, begins, asks vtime.Time) vtime.Time {
	key := route{p.Source, p.Dest}
	if len(x.overtaken) > 0 {
		if before, known := x.overtaken[key]; known && before > asks {
			asks = before
		}
	}
	if asks > begins.Add(p.Latency) || begins > p.At && x.side(Outward).Overtakes() {
		if x.overtaken == nil {
			x.overtaken = map[route]vtime.Time{}
		}
		x.overtaken[key] = asks
		x.dropped = dropOver(x.overtaken, x.dropped, p.At)
	}
	return asks
}

// dropOver removes the entries before an instant from a map whose length has reached limit. It
// returns the next limit, twice the remaining length.
func dropOver(m map[route]vtime.Time, limit int, now vtime.Time) int {
	const least = 64
	if len(m) <= max(limit, least) {
		return limit
	}
	for key, t := range m {
		if t < now {
			delete(m, key)
		}
	}
	return 2 * len(m)
}

// arrive serves a request at the receiver's node. A later message of a pair does not arrive before an
// earlier one, even if it takes another interface or passes longer messages.
func (x *Interfaces) arrive(p *Passage) {
	at, bytes := x.take(x.side(Inward), p, p.Dest)
	at = at.Add(bytes)
	if p.Ordered && (x.side(Inward).Overtakes() || x.shared && x.each > 1) {
		key := route{p.Source, p.Dest}
		at = max(at, x.delivered[key])
		x.deliver(key, at, p.At)
	}
	x.works[p.Owner].Arrived(p, at)
}

// move serves a request of a message within a node. The sender of DATA is free when the memory and the
// path have taken them.
func (x *Interfaces) move(p *Passage) {
	t := x.partition.Target
	bytes, held, free := x.memoryTime(p), p.At, p.At
	idle := p.At.Add(bytes) // when the memory has taken the message if it has no other work
	if bytes > 0 {
		begins := x.side(Within).Take(t.Node(int(p.Source))-x.first, 0, p.At, bytes)
		held, free = network.HeldUntil(p.At, begins, bytes, p.Transfer.Plus(p.Jitter)), begins.Add(bytes)
	}
	at := held.Add(p.Latency).Add(p.Transfer).Add(p.Jitter)
	if p.Ordered {
		key := route{p.Source, p.Dest}
		if len(x.delivered) > 0 {
			at = max(at, x.delivered[key])
		}
		if held > p.At || at > held.Add(p.Latency).Add(p.Transfer).Add(p.Jitter) {
			x.deliver(key, at, p.At)
		}
	}
	_, alone := t.Data(int(p.Source), int(p.Dest), p.Bytes, p.At)
	if t.Copies() {
		free, idle = alone, alone
	}
	x.works[p.Owner].Freed(p, max(free, alone), max(free, alone).Sub(max(idle, alone)))
	x.works[p.Owner].Arrived(p, at)
}

// memoryTime returns the time for which a message within a node, or work there, occupies the memory.
func (x *Interfaces) memoryTime(p *Passage) vtime.Duration {
	return x.partition.Target.MemoryTime(p.Bytes).Plus(p.Work)
}

// deliver records the arrival of the latest message of a pair.
func (x *Interfaces) deliver(key route, at, now vtime.Time) {
	if x.delivered == nil {
		x.delivered = map[route]vtime.Time{}
	}
	x.delivered[key] = at
	x.droppedOver = dropOver(x.delivered, x.droppedOver, now)
}

// rail returns the number of a rank within its node, which determines its interface.
func (x *Interfaces) rail(rank int32) int {
	if x.each == 1 || x.shared {
		return 0
	}
	return x.partition.Target.RankInNode(int(rank))
}

// Sizes in bytes of a message on its way between two nodes, and of its place in the order of asking.
const (
	PassageBytes = int(unsafe.Sizeof(Passage{}))
	PlaceBytes   = int(unsafe.Sizeof(place{}))
)

// passages is a binary heap of the requests of messages, in the order of asking.
type passages struct {
	heap     []place
	passages world.Slab[Passage]
	sent     bool // each message has begun at its sender's node, in the order in which they are added here
	count    uint64
	armed    vtime.Time // instant of the timed event that serves them, Forever for none
}

// place is the key of a passage in the order of asking.
type place struct {
	at     vtime.Time
	source int32
	index  int32 // index of the passage
}

// before is the order of asking. Messages of one source with equal keys ask in the order in which
// they are added, which is the order of the program.
func (q *passages) before(a, b *place) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.source != b.source:
		return a.source < b.source
	}
	p, o := q.passages.At(a.index), q.passages.At(b.index)
	if q.sent {
		return p.number < o.number
	}
	return cmp.Or(cmp.Compare(p.Owner, o.Owner), cmp.Compare(p.Kind, o.Kind), cmp.Compare(p.Dest, o.Dest), cmp.Compare(p.Order[0], o.Order[0]), cmp.Compare(p.Order[1], o.Order[1]),
		cmp.Compare(p.number, o.number)) < 0
}

// push adds a copy of a passage to the requests.
func (q *passages) push(p *Passage) {
	q.count++
	added := place{p.At, p.Source, q.passages.Take()}
	own := q.passages.At(added.index)
	*own = *p
	own.number = q.count
	if len(q.heap) == cap(q.heap) {
		q.heap = engine.Doubled(q.heap, 16)
	}
	q.heap = append(q.heap, added)
	h, i := q.heap, len(q.heap)-1
	for i > 0 {
		above := (i - 1) / 2
		if !q.before(&added, &h[above]) {
			break
		}
		h[i] = h[above]
		i = above
	}
	h[i] = added
}

// pop removes the passage that asks first, and returns its index.
func (q *passages) pop() int32 {
	h := q.heap
	least, last := h[0].index, h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return least
	}
	i := 0
	for {
		below := 2*i + 1
		if below >= len(h) {
			break
		}
		if below+1 < len(h) && q.before(&h[below+1], &h[below]) {
			below++
		}
		if !q.before(&h[below], &last) {
			break
		}
		h[i] = h[below]
		i = below
	}
	h[i] = last
	return least
}
