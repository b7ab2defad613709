package kernel

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// log writes down what an observer hears, one line for each end.
type log struct {
	mu    sync.Mutex // of several engines
	lines []string
	begun map[int]CallBegin // by rank: its call
	spent map[Activity]vtime.Duration
}

func (l *log) Begins(b *CallBegin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if open, is := l.begun[b.Rank]; is {
		l.lines = append(l.lines, fmt.Sprintf("%d begins %v within %v", b.Rank, b.Procedure, open.Procedure))
	}
	l.begun[b.Rank] = *b
}

func (l *log) Ends(e *CallEnd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, is := l.begun[e.Rank]
	delete(l.begun, e.Rank)
	if !is || b.Procedure != e.Procedure || b.Time != e.Began {
		l.lines = append(l.lines, fmt.Sprintf("%d ends %+v, and has begun %+v", e.Rank, e, b))
	}
	line := fmt.Sprintf("%d %v %v..%v", e.Rank, e.Procedure, e.Began, e.Ended)
	for _, side := range []struct {
		word string
		Envelope
	}{{"to", b.Sent}, {"from", b.Received}} {
		if side.Present {
			line += fmt.Sprintf(" %s %d tag %d bytes %d", side.word, side.Member, side.Tag, side.Bytes)
		}
	}
	if e.Ready > e.Began {
		line += fmt.Sprintf(" waits for %d until %v", e.For, e.Ready)
	}
	if e.Err != nil {
		line += " fails"
	}
	l.lines = append(l.lines, line)
}

func (l *log) Note(a Activity, d vtime.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent[a] += d
}

// observed runs a program with an observer, or without. It returns the result and the lines, rank by rank in the order
// of its calls.
func observed(t *testing.T, machine string, ranks, engines int, hear, activities bool, program listed) (*Result, *log) {
	t.Helper()
	l := &log{begun: map[int]CallBegin{}, spent: map[Activity]vtime.Duration{}}
	c := Config{Target: targetOf(t, machine, ranks), Program: Program{Name: "observed", Forms: []Form{program}}, Activities: activities}
	c.Transports = engine.NewInProcess(engines)
	if hear {
		c.Observer = func(int, int) Observer { return l }
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	if len(l.begun) > 0 {
		t.Errorf("calls have no end: %+v", l.begun)
	}
	slices.SortStableFunc(l.lines, func(a, b string) int {
		first, _, _ := strings.Cut(a, " ")
		second, _, _ := strings.Cut(b, " ")
		return strings.Compare(first, second)
	})
	return result, l
}

// pingPong has rank 0 compute and send to rank 1, which sends back, and both meet in a barrier.
func pingPong() listed {
	everybody := func(k *Kernel, lp int32, p world.Procedure) *Call {
		return k.Compose(p, k.Communicator(world.World), k.Global(lp))
	}
	send := func(k *Kernel, lp int32, to, tag int, bytes int64) bool {
		return k.Submit(lp, everybody(k, lp, world.Send).Sends(nil, bytes, to, tag))
	}
	receive := func(k *Kernel, lp int32, from, tag int, bytes int64) bool {
		return k.Submit(lp, everybody(k, lp, world.Recv).Receives(nil, bytes, true, from, tag))
	}
	return listed{
		func(k *Kernel, lp int32) bool {
			if k.Global(lp) != 0 {
				return receive(k, lp, 0, 3, 1000)
			}
			return k.Compute(lp, 5*vtime.Microsecond) == nil
		},
		func(k *Kernel, lp int32) bool {
			if k.Global(lp) != 0 {
				return send(k, lp, 0, 4, 2000)
			}
			return send(k, lp, 1, 3, 1000)
		},
		func(k *Kernel, lp int32) bool {
			return k.Global(lp) != 0 || receive(k, lp, world.AnySource, 4, 2000)
		},
		enterBarrier,
		func(k *Kernel, lp int32) bool { return !k.PostponeEnd(lp) },
	}
}

// On a machine with a microsecond of latency and a nanosecond a byte, calls begin and end at instants that are worked
// out by hand. Rank 1 hears of rank 0 in the barrier a microsecond after that has entered it.
func TestObserverHearsCalls(t *testing.T) {
	const machine = "name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	want := []string{
		"0 Compute 0s..5us",
		"0 Send 5us..5us to 1 tag 3 bytes 1000",
		"0 Recv 5us..10us from -2 tag 4 bytes 2000 waits for 1 until 10us",
		"0 Barrier 10us..10us",
		"1 Recv 0s..7us from 0 tag 3 bytes 1000 waits for 0 until 7us",
		"1 Send 7us..7us to 0 tag 4 bytes 2000",
		"1 Barrier 7us..11us waits for -1 until 11us",
	}
	for engines := 1; engines <= 2; engines++ {
		_, l := observed(t, machine, 2, engines, true, false, pingPong())
		if !slices.Equal(l.lines, want) {
			t.Errorf("%d engines:\n%s\nwant\n%s", engines, strings.Join(l.lines, "\n"), strings.Join(want, "\n"))
		}
	}
}

// An observer changes no result, and hears the same on any number of engines, also where ranks have processors; each
// activity that is counted is heard.
func TestObserverChangesNothing(t *testing.T) {
	for _, machine := range []string{
		"name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 1500, overhead: {send: 100ns, receive: 200ns}}\n",
		"name: m\nnetwork: {model: loggops, L: 2500ns, o: 1500ns, g: 1000ns, G: 6ns, O: 0ns, S: 1500}\n",
	} {
		for _, activities := range []bool{false, true} {
			plain, _ := observed(t, machine, 2, 1, false, activities, pingPong())
			var first *log
			for engines := 1; engines <= 2; engines++ {
				got, l := observed(t, machine, 2, engines, true, activities, pingPong())
				if got.Fingerprint != plain.Fingerprint || got.VirtualTime != plain.VirtualTime || !reflect.DeepEqual(got.Activities, plain.Activities) {
					t.Errorf("with an observer on %d engines the result is %+v, without %+v", engines, got, plain)
				}
				if first == nil {
					first = l
				} else if !slices.Equal(l.lines, first.lines) || !reflect.DeepEqual(l.spent, first.spent) {
					t.Errorf("%d engines:\n%s\n1 engine\n%s", engines, strings.Join(l.lines, "\n"), strings.Join(first.lines, "\n"))
				}
				total := vtime.Duration(0)
				for _, d := range l.spent {
					total += d
				}
				if len(l.lines) != 7 || activities != (total > 0) {
					t.Errorf("%d calls are heard, want 7, and %v of activities:\n%s", len(l.lines), total, strings.Join(l.lines, "\n"))
				}
			}
		}
	}
}

// An observer learns of a request only from a call that begins one: freeing a communicator after a nonblocking collective begins none.
func TestFreeBeginsNoRequest(t *testing.T) {
	k, c := &Kernel{}, &coll.Communicator{}
	if q := k.Compose(world.Barrier, c, 0).Nonblocking(); !q.beginsRequest() {
		t.Error("a nonblocking barrier begins no request")
	}
	if q := k.Compose(world.CommFree, c, 0); q.beginsRequest() || q.IsNonblocking() {
		t.Error("Comm.Free is nonblocking, as the call before")
	}
}
