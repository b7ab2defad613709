package p2p

import (
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// schedule is a kernel whose events are the steps of a test, and those that settle the mailbox of rank 0.
type schedule struct {
	k      *Messages
	known  func(t vtime.Time) // is told that all arrivals up to t are known
	steps  []func()
	settle int // events that settle the mailbox so far
}

// stepData is the data of a step, which the sequence number names.
const stepData = 1 << 20

func (s *schedule) Run(int32)           {}
func (s *schedule) Drained()            {}
func (s *schedule) Deliver(int, []byte) {}

func (s *schedule) Handle(ev engine.Event) {
	s.known(ev.Time)
	if ev.Data == world.DataSettle {
		s.settle++
		s.k.HandleSettle(0, ev.Time)
		return
	}
	s.steps[ev.Sequence]()
}

// at adds a step at an instant. It comes after the events that settle the mailbox then.
func (s *schedule) at(t vtime.Time, step func()) {
	s.k.Partition.Engine.Schedule(engine.Event{Time: t, Source: 1, LP: 1, Sequence: uint64(len(s.steps)), Data: stepData})
	s.steps = append(s.steps, step)
}

// run handles the events to the last.
func (s *schedule) run(t rapid.TB, end vtime.Time) {
	t.Helper()
	s.at(end, func() { s.k.Partition.Engine.Finished(s.k.Partition.Ranks) })
	if err := s.k.Partition.Engine.Run(s); err != nil {
		t.Fatal(err)
	}
}

// The events that the mailbox has entered by itself complete all receives that have messages, each by the rule,
// and the next of them comes no later than the first message that a receive waits for.
func TestEventsSettleAllReceives(t *testing.T) {
	binned := 0
	rapid.Check(t, func(t *rapid.T) {
		d := &matchmaker{T: t, k: opened(t, matchRanks), tags: rapid.SampledFrom([]int32{1, 2, 8}).Draw(t, "tags"), events: true}
		s := &schedule{k: d.k, known: func(t vtime.Time) { d.known = t }}
		steps := map[string]func(){"arrive": d.arrive, "post": d.post, "probe": d.probe, "cancel": d.cancel, "bin": d.bin}
		what := rapid.SliceOfN(rapid.SampledFrom([]string{"arrive", "arrive", "post", "post", "probe", "cancel", "bin"}), 2, 6).Draw(t, "what")
		now := vtime.Time(0)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			now += vtime.Time(rapid.IntRange(0, 3).Draw(t, "progress"))
			step := steps[rapid.SampledFrom(what).Draw(t, "step")]
			s.at(now, func() {
				step()
				box := d.k.Box(0)
				if box.binned() {
					binned++
				}
				if index := d.k.leastContested(box); index != 0 && d.k.messages.At(index).arrival < d.k.Partition.Engine.NextTimed() {
					d.Fatalf("a message that arrives at %v waits, and the next event is at %v", d.k.messages.At(index).arrival, d.k.Partition.Engine.NextTimed())
				}
			})
		}
		s.run(t, now+1000)
		d.check()
	})
	if binned == 0 {
		t.Error("no mailbox had bins")
	}
}

// Many messages that come while a receive from any source is posted enter few events.
func TestManyMessagesEnterFewEvents(t *testing.T) {
	const messages = 10_000
	k := opened(t, matchRanks)
	s := &schedule{k: k, known: func(vtime.Time) {}}
	s.at(0, func() {
		q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: world.World, Size: matchRanks}}
		q.Incoming.Source, q.Incoming.Tag = world.AnySource, 0
		k.Receive(0, q)
		for i := range messages {
			index := k.messages.Take()
			*k.messages.At(index) = message{comm: world.World, tag: int32(i % 2), arrival: vtime.Time(1 + i)}
			k.arrive(0, index)
		}
	})
	s.run(t, messages+1)
	if s.settle != 1 {
		t.Errorf("%d messages in the order of their arrival enter %d events, want one, for the first", messages, s.settle)
	}
}

// A receive gets its message also if the event for which it had none of its own is that of a receive cancelled since.
func TestACancelledReceiveLeavesTheOthersTheirEvents(t *testing.T) {
	k := opened(t, matchRanks)
	s := &schedule{k: k, known: func(vtime.Time) {}}
	var requests [2]int32
	s.at(0, func() {
		for tag := range requests {
			q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: world.World, Size: matchRanks}}
			q.Incoming.Source, q.Incoming.Tag = world.AnySource, tag
			requests[tag] = k.Receive(0, q)
			index := k.messages.Take()
			*k.messages.At(index) = message{comm: world.World, tag: int32(tag), arrival: vtime.Time(5 + 4*tag)}
			k.arrive(0, index)
		}
	})
	s.at(2, func() {
		k.Box(0).Wait.Subject = requests[0]
		k.finishCancel(0, k.Box(0), 2)
	})
	s.run(t, 20)
	if first, second := k.Requests.At(requests[0]), k.Requests.At(requests[1]); first.Kind != cancelledRequest || !second.Complete || second.Time != 9 {
		t.Errorf("the receives are %+v, which is cancelled, and %+v, want one that is complete at 9", *first, *second)
	}
}

// prefetching is a schedule that hears which LPs are prefetched ahead and prefetched.
type prefetching struct {
	schedule
	ahead, prefetched map[int32]bool
}

func (s *prefetching) PrefetchAhead(lp int32) { s.ahead[lp] = true }
func (s *prefetching) Prefetch(lp int32)      { s.prefetched[lp] = s.ahead[lp] }

// The senders of messages that receives from any source take, one after the other, are prefetched ahead and then prefetched.
// The first ones are not, nor the last ones, whose messages are few.
func TestSendersArePrefetched(t *testing.T) {
	const ranks, few = 1000, 100
	k := opened(t, ranks)
	s := &prefetching{schedule{k: k, known: func(vtime.Time) {}}, map[int32]bool{}, map[int32]bool{}}
	s.at(0, func() {
		for i := range int32(ranks - 1) {
			k.Box(1 + i)
			index := k.messages.Take()
			*k.messages.At(index) = message{comm: world.World, source: 1 + i, rank: 1 + i, arrival: vtime.Time(1 + i)}
			k.arrive(0, index)
		}
	})
	missed := 0
	for i := range ranks - 1 {
		s.at(vtime.Time(ranks+i), func() {
			q := &Operands{Procedure: world.Irecv, Comm: &world.Comm{Index: world.World, Size: ranks}}
			q.Incoming.Source, q.Incoming.Tag = world.AnySource, 0
			ri := k.Receive(0, q)
			if sender := int32(1 + i); sender > few && sender < ranks-few && !s.prefetched[sender] {
				missed++
			}
			s.at(vtime.Time(ranks+i), func() {
				if r := k.Requests.At(ri); !r.Complete || r.Peer != int32(1+i) {
					t.Errorf("receive %d is %+v", i, *r)
				}
			})
		})
	}
	s.at(3*ranks, func() { k.Partition.Engine.Finished(ranks) })
	if err := k.Partition.Engine.Run(s); err != nil {
		t.Fatal(err)
	}
	if missed > 0 {
		t.Errorf("%d senders of %d were not prefetched ahead and then prefetched", missed, ranks-2*few)
	}
}
