package p2p

import (
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// opened returns the messages of the only engine of some ranks that do not run.
func opened(t rapid.TB, ranks int) *Messages {
	t.Helper()
	return openedOn(t, ranks, "model: flat, latency: 1us, bandwidth: 1GB/s")
}

// openedOn is opened for a network. Buffers are full with any message.
func openedOn(t rapid.TB, ranks int, fields string) *Messages {
	t.Helper()
	m, err := network.Parse("machine", []byte("name: machine\nnetwork: {"+fields+"}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{Partition: engine.Partition{LPs: ranks, Engines: 1}, Transport: engine.NewInProcess(1)[0], BufferLimit: 1})
	k := &Messages{}
	k.Partition.Init(world.Settings{Engine: e, Target: target})
	k.Open(nil, 0, nil)
	return k
}

// matchRanks is the number of ranks in tests of matching.
const matchRanks = 5

// matchmaker drives the mailbox of rank 0, and writes down what a list of all messages and
// receives needs to find the outcome.
type matchmaker struct {
	*rapid.T
	k        *Messages
	tags     int32
	events   bool                   // the events of the engine settle the mailbox, nothing else does
	known    vtime.Time             // all arrivals up to it are known
	latest   [matchRanks]vtime.Time // by source: the arrival of its latest message
	messages []message              // all, in the order of arrival at the host; bytes is the number
	takers   []taker                // all receives and probes, in their order
}

// taker is a receive, or a probe that has found a message.
type taker struct {
	pattern
	request int32 // 0 for a probe
	found   int64 // by a probe: the number of the message
	matched bool  // the probe has taken the message out
	gone    bool  // the receive was cancelled
}

// arrive has a message arrive. Messages of one source arrive in order, none at or before known.
func (d *matchmaker) arrive() {
	source := rapid.Int32Range(0, matchRanks-1).Draw(d.T, "source")
	d.latest[source] = max(d.latest[source], d.known+1) + vtime.Time(rapid.IntRange(0, 3).Draw(d.T, "later"))
	m := message{
		comm: world.World + rapid.Int32Range(0, 1).Draw(d.T, "communicator"), source: source, rank: source,
		tag: rapid.Int32Range(0, d.tags-1).Draw(d.T, "tag"), arrival: d.latest[source], bytes: int64(len(d.messages)),
	}
	d.messages = append(d.messages, m)
	index := d.k.messages.Take()
	*d.k.messages.At(index) = m
	d.k.arrive(0, index)
}

// draw returns what a receive or probe asks for.
func (d *matchmaker) draw() pattern {
	p := pattern{
		comm:   world.World + rapid.Int32Range(0, 1).Draw(d.T, "communicator"),
		source: rapid.Int32Range(-2, matchRanks-1).Draw(d.T, "source"), tag: rapid.Int32Range(-2, d.tags-1).Draw(d.T, "tag"),
	}
	if p.source < 0 {
		p.source = world.AnySource
	}
	if p.tag < 0 {
		p.tag = world.AnyTag
	}
	return p
}

// post posts a receive.
func (d *matchmaker) post() {
	p := d.draw()
	q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: p.comm, Size: matchRanks}}
	q.Incoming.Source, q.Incoming.Tag = int(p.source), int(p.tag)
	d.takers = append(d.takers, taker{pattern: p, request: d.k.Receive(0, q)})
}

// probe probes for a message, which it may take out.
func (d *matchmaker) probe() {
	p, box := d.draw(), d.k.Box(0)
	if p.source == world.AnySource && !d.events {
		d.k.settle(0, box, d.known) // as its event does, which goes before the probe
	}
	index := d.k.leastMessage(box, p)
	if index == 0 {
		return
	}
	m := d.k.messages.At(index)
	if p.source == world.AnySource && m.arrival > d.known || p.source != world.AnySource && d.k.claimed(box, m) {
		return // what the probe finds is not certain
	}
	t := taker{pattern: p, found: m.bytes, matched: rapid.Bool().Draw(d.T, "matched")}
	if t.matched {
		d.k.extract(0, index)
	}
	d.takers = append(d.takers, t)
}

// cancel cancels a receive that may take a lesser message than is there, if it has none.
func (d *matchmaker) cancel() {
	if len(d.takers) == 0 {
		return
	}
	r, box := &d.takers[rapid.IntRange(0, len(d.takers)-1).Draw(d.T, "cancelled")], d.k.Box(0)
	if r.request == 0 || r.gone || d.k.Requests.At(r.request).Complete {
		return
	}
	if !d.events {
		d.k.settle(0, box, d.known) // as its event does, which goes before the cancel
	}
	r.gone = d.k.Requests.At(r.request).undecided
	box.Wait.Subject = r.request
	d.k.finishCancel(0, box, d.known)
}

// learn settles the mailbox at an instant up to which all arrivals are known.
func (d *matchmaker) learn() {
	d.known += vtime.Time(rapid.IntRange(0, 6).Draw(d.T, "progress"))
	d.k.settle(0, d.k.Box(0), d.known)
}

// bin moves the lists into bins, as a long search does.
func (d *matchmaker) bin() {
	if box := d.k.Box(0); !box.binned() && (box.unexpected.head != 0 || box.posted.head != 0) {
		d.k.makeBins(box)
	}
}

// check holds the outcome to the rule: receives, in posting order, each take the least message
// that they match by arrival, source rank and order of sending.
func (d *matchmaker) check() {
	d.k.CheckMailbox(0)
	if !d.events {
		d.k.settle(0, d.k.Box(0), vtime.Forever)
		d.k.CheckMailbox(0)
	}
	taken := make([]bool, len(d.messages))
	for i, r := range d.takers {
		if r.gone {
			continue
		}
		least := -1
		for j := range d.messages {
			if m := &d.messages[j]; !taken[j] && r.matches(m) && (least < 0 || m.before(&d.messages[least])) {
				least = j
			}
		}
		if least >= 0 && (r.request != 0 || r.matched) {
			taken[least] = true
		}
		got := int(r.found)
		if r.request != 0 {
			got = -1
			if q := d.k.Requests.At(r.request); q.Complete {
				got = int(q.Bytes)
			}
		}
		if got != least {
			d.Fatalf("receive or probe %d, %+v, has message %d, want %d", i, r, got, least)
		}
	}
}

// Any order of arrivals, receives, probes, matched probes and cancels has the outcome of the rule, in
// short lists and in bins, whenever arrivals become known.
func TestMatchingKeepsItsRule(t *testing.T) {
	binned := 0
	rapid.Check(t, func(t *rapid.T) {
		d := &matchmaker{T: t, k: opened(t, matchRanks), tags: rapid.SampledFrom([]int32{1, 2, 8}).Draw(t, "tags")}
		for range rapid.IntRange(1, 6).Draw(t, "phases") {
			what := rapid.SliceOfN(rapid.SampledFrom([]string{"arrive", "post", "probe", "cancel", "learn", "bin"}), 1, 4).Draw(t, "what")
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				map[string]func(){"arrive": d.arrive, "post": d.post, "probe": d.probe, "cancel": d.cancel, "learn": d.learn, "bin": d.bin}[rapid.SampledFrom(what).Draw(t, "step")]()
				if d.k.Box(0).binned() {
					binned++
				}
			}
		}
		d.check()
	})
	if binned == 0 {
		t.Error("no mailbox had bins")
	}
}
