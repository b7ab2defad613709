package engine

import (
	"encoding/binary"
	"errors"
	"slices"
	stdsync "sync"
	"testing"

	"gigarank/internal/random"
	"gigarank/sync"
	"gigarank/vtime"

	"pgregory.net/rapid"
)

// bouncer is a kernel in which LPs send each other timed events. Each event causes the
// next one, at a random LP and after a random delay of at least the lookahead, until an
// end time. It logs the events of each LP.
type bouncer struct {
	e         *Engine
	seed      uint64
	end       vtime.Time
	lookahead vtime.Duration
	logs      [][]Event // by local LP
	sequence  []uint64
}

func newBouncer(e *Engine, seed uint64, end vtime.Time, lookahead vtime.Duration) *bouncer {
	lo, hi := e.Range()
	b := &bouncer{e: e, seed: seed, end: end, lookahead: lookahead, logs: make([][]Event, hi-lo), sequence: make([]uint64, hi-lo)}
	for i := range hi - lo {
		b.send(lo+i, 0)
		e.Schedule(Event{Time: end, Source: int32(lo + i), LP: int32(lo + i), Data: 1})
	}
	return b
}

// send makes an LP cause an event after t, if it lies before the end.
func (b *bouncer) send(lp int, t vtime.Time) {
	lo, _ := b.e.Range()
	s := &b.sequence[lp-lo]
	*s++
	n := b.e.Partition().LPs
	dst := random.Intn(b.seed, uint64(lp), 2**s, n)
	at := t.Add(b.lookahead).Add(vtime.Duration(random.Intn(b.seed, uint64(lp), 2**s+1, 7)))
	if at >= b.end {
		return
	}
	ev := Event{Time: at, Source: int32(lp), Sequence: *s, LP: int32(dst)}
	owner := b.e.Partition().Owner(dst)
	if owner == b.e.Index() {
		b.e.Schedule(ev)
		return
	}
	r := b.e.Record(owner, 24)
	binary.LittleEndian.PutUint64(r, uint64(ev.Time))
	binary.LittleEndian.PutUint64(r[8:], ev.Sequence)
	binary.LittleEndian.PutUint32(r[16:], uint32(ev.Source))
	binary.LittleEndian.PutUint32(r[20:], uint32(ev.LP))
}

func (b *bouncer) Run(int32) {}
func (b *bouncer) Drained()  {}

func (b *bouncer) Deliver(src int, r []byte) {
	ev := Event{
		Time: vtime.Time(binary.LittleEndian.Uint64(r)), Sequence: binary.LittleEndian.Uint64(r[8:]),
		Source: int32(binary.LittleEndian.Uint32(r[16:])), LP: int32(binary.LittleEndian.Uint32(r[20:])),
	}
	b.e.CheckArrival(int(ev.Source), int(ev.LP), ev.Time.Add(-b.lookahead), ev.Time)
	b.e.Consumed(src, len(r))
	b.e.Schedule(ev)
}

func (b *bouncer) Handle(ev Event) {
	if ev.Data == 1 { // the end of an LP
		b.e.Finished(1)
		return
	}
	lo, _ := b.e.Range()
	b.logs[int(ev.LP)-lo] = append(b.logs[int(ev.LP)-lo], ev)
	b.send(int(ev.LP), ev.Time)
}

// bounce runs a bouncer on some engines and returns the logs of all LPs.
func bounce(t *rapid.T, lps, engines int, protocol sync.Protocol, claimed, real vtime.Duration) ([][]Event, error) {
	transports := sync.NewInProcess(engines)
	logs := make([][]Event, lps)
	errs := make([]error, engines)
	var group stdsync.WaitGroup
	for i := range engines {
		e := New(Config{
			Partition: Partition{LPs: lps, Engines: engines}, Transport: transports[i], Protocol: protocol,
			Lookahead: func(int) vtime.Duration { return claimed },
		})
		lo, hi := e.Range()
		b := newBouncer(e, 42, 400, real)
		group.Go(func() {
			errs[i] = e.Run(b)
			if errs[i] != nil {
				e.Abort([]byte(errs[i].Error()))
			}
			copy(logs[lo:hi], b.logs)
		})
	}
	group.Wait()
	for _, err := range errs {
		var stopped *Stopped
		if err != nil && !errors.As(err, &stopped) {
			return logs, err
		}
	}
	return logs, nil
}

// "Where order matters, it is (virtual time, source rank, per-source sequence
// number)": every LP handles its events in that order, and the same ones on any
// number of engines under any protocol.
func TestTimedEventsInTotalOrderOnAnyEngines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lps := rapid.IntRange(1, 12).Draw(t, "LPs")
		want, err := bounce(t, lps, 1, sync.Hybrid, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range want {
			if !slices.IsSortedFunc(log, compareTuples) {
				t.Fatalf("handled out of order: %v", log)
			}
		}
		engines := rapid.IntRange(2, 5).Draw(t, "engines")
		protocol := sync.Protocol(rapid.IntRange(0, 2).Draw(t, "protocol"))
		got, err := bounce(t, lps, engines, protocol, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		for lp := range want {
			if !slices.Equal(got[lp], want[lp]) {
				t.Fatalf("%d engines, %v: LP %d handled %d events, on one engine %d", engines, protocol, lp, len(got[lp]), len(want[lp]))
			}
		}
	})
}

// "A message below the receiver's EIT aborts the run and names source,
// destination, both times, the bound and the likely cause."
func TestCausalityIsChecked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, err := bounce(t, 12, 4, sync.Null, 200, 1)
		var violation *CausalityError
		if !errors.As(err, &violation) {
			t.Fatalf("a lookahead of 200 where messages take 1: error %v", err)
		}
		if violation.Arrival >= violation.EIT || violation.Arrival <= violation.Sent {
			t.Fatalf("%+v", violation)
		}
	})
}

// sender is a kernel whose LPs send a number of messages each and are held back while
// the buffers are full. LP 0 receives them, at given times only.
type sender struct {
	e       *Engine
	left    []int
	clock   []vtime.Time
	resumed []int32
}

func (s *sender) Run(lp int32) {
	s.resumed = append(s.resumed, lp)
	for s.left[lp] > 0 {
		if s.e.Congested(0) && len(s.resumed) > 0 && s.resumed[len(s.resumed)-1] == lp && s.left[lp]%2 == 1 {
			s.left[lp]--
			s.e.Buffer(100)
			s.clock[lp]++
			s.e.Throttle(lp, s.clock[lp], 0)
			return
		}
		s.left[lp]--
		s.e.Buffer(100)
		s.clock[lp]++
	}
	s.e.Finished(1)
}
func (s *sender) Handle(Event)        {}
func (s *sender) Deliver(int, []byte) {}
func (s *sender) Drained()            {}

// "When what is buffered grows past a limit, ranks are resumed in order of virtual
// time": of the LPs held back, the one with the least clock goes on.
func TestThrottledInOrderOfVirtualTime(t *testing.T) {
	e := New(Config{Partition: Partition{LPs: 4, Engines: 1}, Transport: sync.NewInProcess(1)[0], BufferLimit: 1})
	s := &sender{e: e, left: []int{5, 5, 5, 5}, clock: []vtime.Time{30, 10, 20, 0}}
	e.Buffer(2)
	for lp := range int32(4) {
		e.Throttle(lp, s.clock[lp], 0)
	}
	if err := e.Run(s); err != nil {
		t.Fatal(err)
	}
	if first := s.resumed[:3]; !slices.Equal(first, []int32{3, 3, 3}) {
		t.Errorf("resumed %v first; LP 3 has the least clock until it has sent all", first)
	}
	if last := s.resumed[len(s.resumed)-1]; last != 0 {
		t.Errorf("resumed LP %d last; LP 0 has the greatest clock: %v", last, s.resumed)
	}
}

// An engine whose LPs wait for events that cannot come ends with ErrDeadlock.
func TestDeadlock(t *testing.T) {
	e := New(Config{Partition: Partition{LPs: 2, Engines: 1}, Transport: sync.NewInProcess(1)[0]})
	if err := e.Run(&sender{e: e, left: make([]int, 2), clock: make([]vtime.Time, 2)}); !errors.Is(err, ErrDeadlock) {
		t.Errorf("error %v; want a deadlock", err)
	}
}

// prefetching is a kernel that counts the items and events whose prefetch was not asked for.
type prefetching struct {
	e          *Engine
	prefetched map[int32]bool
	ahead      []int32
	handled    []vtime.Time
	ran        []int32
	missed     int
}

func (k *prefetching) Prefetch(item int32) { k.prefetched[item] = true }

func (k *prefetching) PrefetchAhead(lp int32) { k.ahead = append(k.ahead, lp) }

func (k *prefetching) Run(item int32) {
	if len(k.ran) >= ahead && !k.prefetched[item] {
		k.missed++
	}
	delete(k.prefetched, item)
	k.ran = append(k.ran, item)
	k.e.Schedule(Event{Time: vtime.Time(1 + random.Intn(1, uint64(item), 0, 1000)), LP: item})
}

func (k *prefetching) Handle(ev Event) {
	if !k.prefetched[ev.LP] {
		k.missed++
	}
	delete(k.prefetched, ev.LP)
	k.handled = append(k.handled, ev.Time)
	k.e.Finished(1)
}

func (k *prefetching) Drained()            {}
func (k *prefetching) Deliver(int, []byte) {}

// An LP is prefetched before each of its events, and so is an item of the ready queue but
// for the first few.
func TestItemsAndEventsArePrefetched(t *testing.T) {
	const lps = 1000
	e := New(Config{Partition: Partition{LPs: lps, Engines: 1}, Transport: sync.NewInProcess(1)[0]})
	k := &prefetching{e: e, prefetched: map[int32]bool{}}
	for i := range lps {
		e.Ready(int32(i))
	}
	if err := e.Run(k); err != nil {
		t.Fatal(err)
	}
	if len(k.ran) != lps || len(k.handled) != lps || !slices.IsSorted(k.handled) || k.missed > 0 {
		t.Errorf("%d items run, %d events handled, of which %d were not prefetched", len(k.ran), len(k.handled), k.missed)
	}
}

// alternating is a kernel of two LPs each of which makes the other ready.
type alternating struct {
	prefetching
	left int
}

func (k *alternating) Run(item int32) {
	if !k.prefetched[item] {
		k.missed++
	}
	delete(k.prefetched, item)
	if k.left--; k.left == 0 {
		k.e.Finished(2)
		return
	}
	k.e.Ready(1 - item)
}

// An item that is to run soon is prefetched when it becomes ready.
func TestItemsOfAShortQueueArePrefetched(t *testing.T) {
	e := New(Config{Partition: Partition{LPs: 2, Engines: 1}, Transport: sync.NewInProcess(1)[0]})
	k := &alternating{prefetching{e: e, prefetched: map[int32]bool{0: true}}, 100}
	e.Ready(0)
	if err := e.Run(k); err != nil {
		t.Fatal(err)
	}
	if k.missed > 0 {
		t.Errorf("%d of 99 items that other items made ready were not prefetched", k.missed)
	}
	e.PrefetchAhead(1)
	if !slices.Equal(k.ahead, []int32{1}) {
		t.Errorf("the kernel has prefetched ahead %v, want LP 1", k.ahead)
	}
}

// withdrawing is a kernel that withdraws some of its timed events, by their numbers.
type withdrawing struct {
	e              *Engine
	gone           map[uint64]bool
	handled, asked []uint64
}

func (k *withdrawing) Run(int32)           {}
func (k *withdrawing) Drained()            {}
func (k *withdrawing) Deliver(int, []byte) {}
func (k *withdrawing) Handle(ev Event) {
	k.handled = append(k.handled, ev.Sequence)
	if ev.Sequence == 3 { // withdraws one that lies behind, one that is next, and is not handled itself again
		for _, n := range []uint64{4, 6} {
			k.gone[n] = true
			k.e.Withdraw()
		}
	}
	if ev.Sequence == 7 {
		k.e.Finished(1)
	}
}

func (k *withdrawing) Withdrawn(ev *Event) bool {
	k.asked = append(k.asked, ev.Sequence)
	return k.gone[ev.Sequence]
}

// Events that are withdrawn are not handled, wherever they lie. The kernel is asked only of the least event,
// and only as long as there is one that is withdrawn.
func TestWithdrawnEventsAreNotHandled(t *testing.T) {
	e := New(Config{Partition: Partition{LPs: 1, Engines: 1}, Transport: NewInProcess(1)[0]})
	k := &withdrawing{e: e, gone: map[uint64]bool{0: true, 1: true}}
	for n := range uint64(8) {
		e.Schedule(Event{Time: vtime.Time(n), Sequence: n})
	}
	e.Withdraw()
	e.Withdraw()
	if err := e.Run(k); err != nil {
		t.Fatal(err)
	}
	if want := []uint64{2, 3, 5, 7}; !slices.Equal(k.handled, want) {
		t.Errorf("handled %v, want %v", k.handled, want)
	}
	if want := []uint64{0, 1, 4, 5, 6}; !slices.Equal(k.asked, want) {
		t.Errorf("asked of %v, want %v", k.asked, want)
	}
}

// copier is a kernel in which each LP of engine 0 sends a record to engine 1, copies bytes, and ends. The
// LPs of engine 1 end when it has come.
type copier struct {
	e     *Engine
	bytes int
}

func (k *copier) Run(int32) {
	if k.e.Index() == 0 {
		k.e.Record(1, 8)
		k.e.Copied(k.bytes)
		k.e.Finished(1)
	}
}

func (k *copier) Deliver(src int, r []byte) {
	k.e.Consumed(src, len(r))
	k.e.Finished(1)
}
func (k *copier) Handle(Event) {}
func (k *copier) Drained()     {}

// What LPs send leaves together if they copy nothing, and soon if they copy much.
func TestOthersDoNotWaitForCopies(t *testing.T) {
	t.Parallel()
	const each = 100
	packets := func(bytes int) uint64 {
		transports := sync.NewInProcess(2)
		var engines [2]*Engine
		var wait stdsync.WaitGroup
		for i, transport := range transports {
			e := New(Config{Transport: transport, Partition: Partition{LPs: 2 * each, Engines: 2}, Lookahead: func(int) vtime.Duration { return 10 }, LeastLookahead: 10, Protocol: sync.Hybrid})
			engines[i] = e
			e.ReadyRange(0, each)
			wait.Go(func() {
				if err := e.Run(&copier{e, bytes}); err != nil {
					t.Errorf("engine %d: %v", i, err)
				}
			})
		}
		wait.Wait()
		return engines[0].Count().TransportMessages
	}
	if n := packets(0); n >= each/2 {
		t.Errorf("%d records of LPs that copy nothing go in %d packets", each, n)
	}
	if n := packets(1 << 20); n < each {
		t.Errorf("%d records of LPs that copy a MiB each go in %d packets", each, n)
	}
}
