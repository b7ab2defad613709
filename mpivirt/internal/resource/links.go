package resource

import (
	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/network/contention"
	"gigarank/vtime"
)

// Links carry the messages between nodes of a machine whose network is shared by all of them: busses and links, scaled
// bandwidth, fair shares (`network.Target.Contention`).
//
// A message pays its latency, then asks for links, in the order (virtual time, source rank, Order).
// A message that asks at an instant has left the least latency before that instant or earlier. So a
// request is decided that much sooner on the engine's clock, as the last event of its instant: then
// all requests up to it are known. The end of a transfer, less the latency, is the instant at which
// the sender of DATA is free; it is not before the decision.
//
// One engine has all ranks, since a decision depends on the requests of all ranks and takes effect
// at once: an engine with only a part of the ranks would have no lookahead beyond a transfer.
type Links struct {
	partition *world.Partition
	resource  contention.Resource
	ahead     vtime.Duration // by which decisions precede their instant on the engine's clock
	asking    passages
	questions uint64     // number of requests: the host's order of Leave is not that of virtual time
	woken     vtime.Time // instant of the timed event at which transfers end, Forever for none
	works     [2]Freight
	asked     world.Slab[Passage]  // requests that are not decided
	order     map[route][]ordered  // ordered messages of a pair from the first undecided one on, as they asked
	arrived   map[route]vtime.Time // when the latest ordered message of a pair arrives, if that is in the future
	latest    map[route]vtime.Time // with jitter or latencies by size: when the latest ordered message of a pair asks
	dropped   [2]int               // lengths of arrived and latest at which past entries are dropped
}

// ordered is a message that arrives no sooner than the messages of its pair that asked before it.
type ordered struct {
	passage Passage
	ends    vtime.Time // end of its transfer, Forever if undecided
	decided bool
}

// NewLinks returns the idle network of a partition, which has all ranks or none.
func NewLinks(p *world.Partition) *Links {
	x := &Links{partition: p, order: map[route][]ordered{}, arrived: map[route]vtime.Time{}, latest: map[route]vtime.Time{}, woken: vtime.Forever}
	x.asking.armed = vtime.Forever
	n := p.Target.Ranks()
	x.ahead = p.Target.LeastBetweenNodes(0, n)
	c := p.Target.Contention()
	limits := contention.Limits{Busses: c.Busses, Links: p.Target.Links}
	switch c.Model {
	case network.ModelLinks:
		x.resource = contention.NewLinks(limits)
	case network.ModelPMaC:
		x.resource = contention.NewScaled(limits)
	default:
		x.resource = contention.NewFair(p.Target.Routes())
	}
	return x
}

// Carries sets the Freight of an owner's messages.
func (x *Links) Carries(owner Owner, work Freight) { x.works[owner] = work }

// InFlight returns false: messages of a pair do not wait for each other before they ask.
func (x *Links) InFlight() bool { return false }

// Leave has a message ask for links a latency after p.At. What of its transfer does not occupy the
// path is latency, too.
func (x *Links) Leave(p Passage) {
	occupancy := x.partition.Target.Occupancy(int(p.Source), int(p.Dest), p.Bytes, p.Transfer)
	p.Latency, p.Transfer = p.Latency.Plus(p.Transfer-occupancy), occupancy
	p.At = p.At.Add(p.Latency).Add(p.Jitter)
	if t := x.partition.Target; p.Ordered && (t.HasJitter() || t.LatencyBySize()) {
		key := route{p.Source, p.Dest}
		p.At = max(p.At, x.latest[key])
		x.latest[key] = p.At
	}
	if p.At == vtime.Forever {
		p.At = p.Sent
		x.works[p.Owner].Arrived(&p, vtime.Forever)
		return
	}
	x.asking.push(&p)
	x.arm()
}

// Reach is for networks on several engines.
func (x *Links) Reach(p Passage, at vtime.Time) {
	invariant.Broken("rank %d has a message for rank %d on another engine", p.Source, p.Dest)
}

// arm schedules the decision of the next request.
func (x *Links) arm() {
	if len(x.asking.heap) > 0 && x.asking.heap[0].at < x.asking.armed {
		x.asking.armed = x.asking.heap[0].at
		x.schedule(x.asking.armed)
	}
	if next := x.resource.Next(); next < x.woken {
		x.woken = next
		x.schedule(next)
	}
}

// schedule schedules the decisions of an instant.
func (x *Links) schedule(at vtime.Time) {
	x.partition.Engine.Schedule(engine.Event{Time: max(at.Add(-x.ahead), 0), Source: lastAtInstant, LP: int32(x.partition.First), Data: world.DataPassage})
}

// Serve decides the requests up to the instant that is known on the engine's clock now.
func (x *Links) Serve(_ int32, now vtime.Time) {
	until := now.Add(x.ahead)
	if x.asking.armed > until && x.woken > until {
		return // already decided by an event that was scheduled later
	}
	for len(x.asking.heap) > 0 && x.asking.heap[0].at <= until {
		index := x.asking.pop()
		x.ask(x.asking.passages.At(index), now)
		x.asking.passages.Release(index)
	}
	x.resource.Advance(until)
	x.decided(now)
	if x.asking.armed <= until {
		x.asking.armed = vtime.Forever
	}
	if x.woken <= until {
		x.woken = vtime.Forever
	}
	x.arm()
	x.dropped[0] = dropOver(x.arrived, x.dropped[0], now)
	x.dropped[1] = dropOver(x.latest, x.dropped[1], now)
}

// ask has a message ask the network. A message without bytes takes no link.
func (x *Links) ask(p *Passage, now vtime.Time) {
	if p.Ordered {
		key := route{p.Source, p.Dest}
		x.order[key] = append(x.order[key], ordered{passage: *p, ends: vtime.Forever})
	}
	if p.Bytes == 0 {
		x.ends(p, p.At.Add(p.Transfer), now)
		return
	}
	index := x.asked.Take()
	*x.asked.At(index) = *p
	t := x.partition.Target
	x.questions++
	x.resource.Ask(contention.Message{
		At: p.At, Source: int(p.Source), Sequence: x.questions, Dest: int(p.Dest), From: t.Node(int(p.Source)), To: t.Node(int(p.Dest)),
		Bytes: p.Bytes, Transfer: p.Transfer, Tag: uint64(index),
	})
	x.decided(now)
}

// decided passes on the transfers whose end the network has decided.
func (x *Links) decided(now vtime.Time) {
	for _, o := range x.resource.Outcomes() {
		p := *x.asked.At(int32(o.Tag))
		x.asked.Release(int32(o.Tag))
		x.ends(&p, o.Ends, now)
	}
}

// ends passes on a message whose transfer ends at an instant. An ordered message waits until the
// messages of its pair that asked before it are decided, and arrives no sooner than they do.
func (x *Links) ends(p *Passage, at, now vtime.Time) {
	if !p.Ordered {
		x.arrives(p, at, now)
		return
	}
	key := route{p.Source, p.Dest}
	queue := x.order[key]
	for i := range queue {
		if queue[i].passage.number == p.number {
			queue[i].ends, queue[i].decided = at, true
			break
		}
	}
	for len(queue) > 0 && queue[0].decided {
		first := queue[0]
		queue = queue[1:]
		first.ends = max(first.ends, x.arrived[key])
		x.arrived[key] = first.ends
		x.arrives(&first.passage, first.ends, now)
	}
	if len(queue) == 0 {
		delete(x.order, key)
		return
	}
	x.order[key] = queue
}

// Delay implements [Network].
func (x *Links) Delay(p *Passage, at vtime.Time) vtime.Duration { return at.Sub(p.At.Add(p.Transfer)) }

// arrives passes on a message that arrives at an instant.
func (x *Links) arrives(p *Passage, at, now vtime.Time) {
	free, delay := at.Add(-p.Latency), x.Delay(p, at)
	if t := x.partition.Target; t.Copies() {
		delay = 0
		_, free = t.Data(int(p.Source), int(p.Dest), p.Bytes, p.At.Add(-p.Latency))
	}
	x.works[p.Owner].Freed(p, max(free, now), delay)
	x.works[p.Owner].Arrived(p, at)
}
