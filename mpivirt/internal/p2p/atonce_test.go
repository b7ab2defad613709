package p2p

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// shortForms makes the same sends and receives on two partitions: on the first in the short forms where they are possible, on the second
// in the general way alone.
type shortForms struct {
	*rapid.T
	short, general *Messages
	underWay       []sentMessage // messages that no receive has taken
	sends, takes   int           // in the short forms
}

// sentMessage is what a receive needs to know of a message.
type sentMessage struct {
	from, to, tag int
	bytes         int64
	mode          world.SendMode
}

// both calls a function with the messages of each partition.
func (d *shortForms) both(f func(m *Messages)) {
	f(d.short)
	f(d.general)
}

// send sends a message. The short form is for what one message of a mailbox holds, to an LP that has a mailbox and does nothing with it.
func (d *shortForms) send() {
	s := sentMessage{
		from: rapid.IntRange(0, matchRanks-1).Draw(d.T, "from"), to: rapid.IntRange(0, matchRanks-1).Draw(d.T, "to"), tag: rapid.SampledFrom([]int{0, 1, world.TagUB}).Draw(d.T, "tag"),
		bytes: rapid.SampledFrom([]int64{0, 1, 7, 8, 9, smallPayload, smallPayload + 1, 40, 41}).Draw(d.T, "bytes"),
		mode:  rapid.SampledFrom([]world.SendMode{world.Standard, world.Standard, world.Standard, world.Buffered, world.Ready, world.Synchronous}).Draw(d.T, "mode"),
	}
	var payload []byte
	if rapid.Bool().Draw(d.T, "content") {
		for i := range s.bytes {
			payload = append(payload, byte(i)+byte(len(d.underWay))+1)
		}
	}
	q := &Operands{Procedure: world.Isend, Comm: &world.Comm{Index: world.World, Context: world.WorldContext, Size: matchRanks, Group: world.Strided(0, 1, matchRanks)}, Member: int32(s.from)}
	q.Outgoing = outgoing{Dest: s.to, Tag: s.tag, Bytes: s.bytes, Payload: payload, Mode: s.mode}
	from, to := int32(s.from), int32(s.to)
	possible := s.mode == world.Standard && !d.short.Partition.Target.Interrupts() && len(payload) <= smallPayload && s.bytes <= 40 && d.short.Mailbox(from) != nil && d.short.Mailbox(to) != nil && !d.short.Box(to).binned()
	done := s.mode == world.Standard && d.short.SendAtOnce(from, payload, s.bytes, s.to, s.tag)
	if done != possible {
		d.Fatalf("a short form of %+v with %d bytes of content: %v, want %v", s, len(payload), done, possible)
	}
	if done {
		d.sends++
	} else {
		d.short.Send(from, q)
	}
	d.general.Send(from, q)
	d.underWay = append(d.underWay, s)
}

// take has an LP receive a message that has come: by its source, with its tag or any.
func (d *shortForms) take() {
	if len(d.underWay) == 0 {
		return
	}
	s := rapid.SampledFrom(d.underWay).Draw(d.T, "message")
	v := incoming{Source: s.from, Tag: s.tag}
	if rapid.Bool().Draw(d.T, "any tag") {
		v.Tag = world.AnyTag
	}
	first := slices.IndexFunc(d.underWay, func(x sentMessage) bool {
		return x.from == s.from && x.to == s.to && (v.Tag == world.AnyTag || x.tag == v.Tag)
	})
	s = d.underWay[first]
	d.underWay = slices.Delete(d.underWay, first, first+1)
	if v.Sized = rapid.Bool().Draw(d.T, "sized"); v.Sized {
		v.Bytes = rapid.SampledFrom([]int64{s.bytes, s.bytes, s.bytes + 1, s.bytes - 1}).Draw(d.T, "room")
		v.Bytes = max(v.Bytes, 0)
		v.Buffer = make([]byte, v.Bytes)
	}
	q := &Operands{Procedure: world.Recv, Comm: &world.Comm{Index: world.World, Context: world.WorldContext, Size: matchRanks, Group: world.Strided(0, 1, matchRanks)}, Member: int32(s.to), Incoming: v}
	lp := int32(s.to)
	possible := (s.mode == world.Standard || s.mode == world.Buffered) && s.bytes <= 40 && (!v.Sized || s.bytes <= v.Bytes) && !d.short.Box(lp).binned()
	if got := d.short.TakeAtOnce(lp, world.Recv, q.Comm, &v); got != possible {
		d.Fatalf("a short form of the receive %+v of %+v: %v, want %v", v, s, got, possible)
	} else if got {
		d.takes++
	} else {
		receiveInGeneral(d.short, lp, q)
	}
	content := slices.Clone(d.short.DataOf(&d.short.Completion))
	receiveInGeneral(d.general, lp, q)
	a, b := &d.short.Completion, &d.general.Completion
	if x, y := d.short.StatusOf(a), d.general.StatusOf(b); a.LP != b.LP || a.Found != b.Found || x != y || fmt.Sprint(a.Err) != fmt.Sprint(b.Err) {
		d.Fatalf("a receive %+v of %+v completes with %+v, %v, %v, want %+v, %v, %v", v, s, x, a.Found, a.Err, y, b.Found, b.Err)
	}
	if want := d.general.DataOf(b); !slices.Equal(content, want) || (content == nil) != (want == nil) && !v.Sized {
		d.Fatalf("a receive %+v of %+v gives %v, want %v", v, s, content, want)
	}
}

// receiveInGeneral receives a message that is there, as the kernel does without the short form.
func receiveInGeneral(m *Messages, lp int32, q *Operands) {
	index := m.Receive(lp, q)
	r := m.Requests.At(index)
	m.Charge(lp, r, max(m.Partition.Clock[lp], r.Time))
	m.Activity(lp)
	b := m.NewCompletion(lp)
	b.Found = true
	m.AddRequest(b, index, q.Procedure)
}

// compare holds the two partitions against each other.
func (d *shortForms) compare() {
	a, b := d.short, d.general
	if !slices.Equal(a.Partition.Clock, b.Partition.Clock) {
		d.Fatalf("the clocks are %v, want %v", a.Partition.Clock, b.Partition.Clock)
	}
	if x, y := a.Partition.Engine.Statistics.Messages, b.Partition.Engine.Statistics.Messages; x != y {
		d.Fatalf("%d messages are counted, want %d", x, y)
	}
	if a.messages.InUse() != len(d.underWay) || a.Partition.Engine.Full() != (len(d.underWay) > 0) {
		d.Fatalf("%d messages are in use, and buffers hold some %v, want %d", a.messages.InUse(), a.Partition.Engine.Full(), len(d.underWay))
	}
	for lp := range int32(matchRanks) {
		if x, y := waiting(a, lp), waiting(b, lp); !slices.Equal(x, y) {
			d.Fatalf("LP %d has the messages\n%s\nwant\n%s", lp, x, y)
		}
		if box := a.Mailbox(lp); box != nil {
			a.CheckMailbox(lp)
		}
	}
}

// waiting describes the messages that wait for an LP, in their order.
func waiting(m *Messages, lp int32) (all []string) {
	if box := m.Mailbox(lp); box != nil && !box.binned() {
		for index := box.unexpected.head; index != 0; index = m.messages.At(index).next {
			x := m.messages.At(index)
			all = append(all, fmt.Sprint(x.arrival, x.bytes, x.payload, x.payload == nil, x.comm, x.source, x.rank, x.tag, x.request != 0, x.sender, x.large))
		}
	}
	return all
}

// Sends and receives in the short forms do what the general way does, and are taken wherever a message is short, eager and certain to match.
func TestShortFormsDoWhatTheGeneralWayDoes(t *testing.T) {
	sends, takes := 0, 0
	for _, fields := range []string{
		"model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 40",
		"model: flat, latency: 1us, bandwidth: 10MB/s, eager_limit: 40, overhead: {send: 1us, receive: 450ns}, local_copy: {bandwidth: 3GB/s}",
		"model: flat, latency: 1ps, bandwidth: 1GB/s, eager_limit: 40, interruptions: {interval: 30us, duration: 4us}, overhead: {send: 1us, receive: 2us}",
		"model: factors, eager_limit: 40, intra: {latency: 1us}, inter: {latency: 1us, bandwidth: 100MB/s, latency_factors: [{size: 0, factor: 1.5}, {size: 9, factor: 0.01}]}",
	} {
		rapid.Check(t, func(t *rapid.T) {
			d := &shortForms{T: t, short: openedOn(t, matchRanks, fields), general: openedOn(t, matchRanks, fields)}
			for lp := range int32(matchRanks) {
				if rapid.IntRange(0, 5).Draw(t, "no mailbox") > 0 {
					d.both(func(m *Messages) { m.Box(lp).polls = 3 })
				}
			}
			for range rapid.IntRange(1, 30).Draw(t, "steps") {
				switch rapid.IntRange(0, 6).Draw(t, "step") {
				case 0, 1, 2:
					d.send()
				case 3, 4:
					d.take()
				case 5:
					lp := rapid.Int32Range(0, matchRanks-1).Draw(t, "computes")
					by := vtime.Duration(rapid.SampledFrom([]int{1, 300_000, 7_000_000}).Draw(t, "time"))
					d.both(func(m *Messages) { m.Partition.Clock[lp] = m.Partition.Clock[lp].Add(by) })
				case 6:
					lp := rapid.Int32Range(0, matchRanks-1).Draw(t, "polls")
					d.both(func(m *Messages) {
						if box := m.Mailbox(lp); box != nil {
							box.polls++
						}
					})
				}
				d.compare()
				for lp := range int32(matchRanks) {
					if x, y := d.short.Mailbox(lp), d.general.Mailbox(lp); x != nil && y != nil && x.polls != y.polls {
						t.Fatalf("LP %d has polled %d times in a row, want %d", lp, x.polls, y.polls)
					}
				}
			}
			sends, takes = sends+d.sends, takes+d.takes
		})
	}
	if sends == 0 || takes == 0 {
		t.Errorf("%d sends and %d receives had short forms", sends, takes)
	}
}

// Anything that makes more of a send or a receive than a short form does keeps it from that form, and leaves everything as it was.
func TestWhatKeepsFromShortForms(t *testing.T) {
	const plain = "model: flat, latency: 1us, bandwidth: 1GB/s"
	for _, c := range []struct {
		why    string
		fields string // of the network
		change func(m *Messages)
		sends  bool
		takes  bool
	}{
		{why: "nothing", sends: true, takes: true},
		{why: "a receive is posted", change: func(m *Messages) {
			q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: world.World, Size: matchRanks}}
			q.Incoming.Source, q.Incoming.Tag = 3, 5
			m.Receive(1, q)
		}, takes: true},
		{why: "a receive from any source is posted", change: func(m *Messages) {
			q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: world.World, Size: matchRanks}}
			q.Incoming.Source, q.Incoming.Tag = world.AnySource, 5
			m.Receive(1, q)
		}},
		{why: "the receiver waits", change: func(m *Messages) { m.Box(1).Wait.Kind = WaitOne }, takes: true},
		{why: "the mailbox has bins", change: func(m *Messages) { m.makeBins(m.Box(1)) }},
		{why: "a strict run", change: func(m *Messages) { m.Partition.Strict = true }, sends: true},
		{why: "jitter", fields: plain + ", jitter: {distribution: uniform, most: 3us}", takes: true},
		{why: "gaps", fields: plain + ", overhead: {send: 1us, receive: 1us}, gap: 2us", takes: true},
		{why: "progress in calls", fields: plain + ", progress: calls", takes: true},
		{why: "state at the receiver", fields: "model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns"},
		{why: "interfaces between the nodes of both", fields: plain + "}\nnode: {bandwidth: 1GB/s", takes: true},
		{why: "interfaces of the node of both", fields: plain + "}\nranks_per_node: 2\nnode: {bandwidth: 1GB/s", sends: true, takes: true},
		{why: "the memory of the node of both", fields: plain + "}\nranks_per_node: 2\nnode: {memory: 1GB/s", takes: true},
		{why: "the end of time", change: func(m *Messages) { m.Partition.Clock[0] = vtime.Forever - 1000 }, takes: true},
		{why: "ranks that have polled on", change: func(m *Messages) { m.sendsAtOnce = false }, takes: true},
		{why: "another tag", change: func(m *Messages) { m.messages.At(m.Box(1).unexpected.head).tag = 6 }, sends: true},
		{why: "another communicator", change: func(m *Messages) { m.messages.At(m.Box(1).unexpected.head).comm = world.World + 1 }, sends: true},
		{why: "no message", change: func(m *Messages) { m.removeUnexpected(m.Box(1), m.Box(1).unexpected.head) }, sends: true},
	} {
		if c.fields == "" {
			c.fields = plain
		}
		m := openedOn(t, matchRanks, c.fields)
		m.Box(0)
		index := m.messages.Take()
		*m.messages.At(index) = message{comm: world.World, source: 2, rank: 2, tag: 5, arrival: 100, bytes: 8}
		m.addUnexpected(m.Box(1), index)
		if c.change != nil {
			c.change(m)
		}
		clocks := slices.Clone(m.Partition.Clock)
		use := m.messages.InUse()
		if got := m.SendAtOnce(0, nil, 8, 1, 5); got != c.sends {
			t.Errorf("%s: a send is short: %v, want %v", c.why, got, c.sends)
		}
		if m.messages.InUse() != use+map[bool]int{true: 1}[c.sends] || !c.sends && !slices.Equal(clocks, m.Partition.Clock) {
			t.Errorf("%s: a send has left %d messages after %d, and the clocks %v after %v", c.why, m.messages.InUse(), use, m.Partition.Clock, clocks)
		}
		clocks, use = slices.Clone(m.Partition.Clock), m.messages.InUse()
		if got := m.TakeAtOnce(1, world.Recv, &world.Comm{Index: world.World}, &incoming{Source: 2, Tag: 5}); got != c.takes {
			t.Errorf("%s: a receive is short: %v, want %v", c.why, got, c.takes)
		}
		if m.messages.InUse() != use-map[bool]int{true: 1}[c.takes] || !c.takes && !slices.Equal(clocks, m.Partition.Clock) {
			t.Errorf("%s: a receive has left %d messages after %d, and the clocks %v after %v", c.why, m.messages.InUse(), use, m.Partition.Clock, clocks)
		}
	}
	m := opened(t, matchRanks)
	for lp := range int32(matchRanks) {
		m.Box(lp)
	}
	for _, to := range []int{-1, matchRanks, world.ProcNull} {
		if m.SendAtOnce(0, nil, 8, to, 0) {
			t.Errorf("a send to rank %d of %d is over", to, matchRanks)
		}
	}
	for _, tag := range []int{-1, world.TagUB + 1} {
		if m.SendAtOnce(0, nil, 8, 1, tag) {
			t.Errorf("a send with tag %d is over", tag)
		}
	}
	for _, bytes := range []int64{-1, m.Partition.EagerLimit + 1} {
		if m.SendAtOnce(0, nil, bytes, 1, 0) {
			t.Errorf("a send of %d bytes is over", bytes)
		}
	}
	if m.TakeAtOnce(1, world.Recv, &world.Comm{Index: world.World}, &incoming{Source: world.AnySource, Tag: 5}) {
		t.Error("a receive from any source is over")
	}
}
