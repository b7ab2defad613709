package mpivirt_test

import (
	"container/heap"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// step is one call of a rank's program: compute, send, recv, isend, irecv or waitall.
type callStep struct {
	call     string
	peer     int
	tag      int
	bytes    int64
	length   vtime.Duration
	requests []int // of a waitall: the steps that it waits for
}

// callSteps are the programs of all ranks.
type callSteps [][]callStep

// run carries the program of a rank out as a goroutine rank.
func (s callSteps) run(r *mpivirt.Rank) error {
	w, requests := r.World(), map[int]mpivirt.Request{}
	for i, st := range s[r.Rank()] {
		var err error
		switch st.call {
		case "compute":
			r.Compute(st.length)
		case "send":
			err = w.SendSize(st.bytes, st.peer, st.tag)
		case "recv":
			_, err = w.RecvSize(st.bytes, st.peer, st.tag)
		case "isend":
			requests[i], err = w.IsendSize(st.bytes, st.peer, st.tag)
		case "irecv":
			requests[i], err = w.IrecvSize(st.bytes, st.peer, st.tag)
		case "waitall":
			var list []mpivirt.Request
			for _, q := range st.requests {
				list = append(list, requests[q])
			}
			_, err = mpivirt.Waitall(list)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// state is where an event rank is in its program.
type state struct {
	next     int
	over     bool
	requests map[int]steps.Request
}

// event carries out as much of a rank's program as one step of an event rank can.
func (s callSteps) event(r *steps.Rank, at *state) steps.Outcome {
	if at.requests == nil {
		at.requests = map[int]steps.Request{}
	}
	for i := at.next; i < len(s[r.Rank()]); i++ {
		at.next = i + 1
		switch st := s[r.Rank()][i]; st.call {
		case "compute":
			r.Compute(st.length)
		case "send":
			return r.SendSize(st.bytes, st.peer, st.tag)
		case "recv":
			return r.Recv(st.peer, st.tag)
		case "isend":
			at.requests[i] = r.IsendSize(st.bytes, st.peer, st.tag)
		case "irecv":
			at.requests[i] = r.Irecv(st.peer, st.tag)
		case "waitall":
			var list []steps.Request
			for _, q := range st.requests {
				list = append(list, at.requests[q])
			}
			return r.Waitall(list...)
		}
	}
	if !at.over {
		at.over = true
		return r.Continue() // then the clock shows what the last calls took
	}
	return r.Finish()
}

// finishes runs a program under gigarank and returns when each rank is done.
func (s callSteps) finishes(t rapid.TB, tgt *network.Target, engines int, protocol sync.Protocol, strict, event bool) []vtime.Time {
	t.Helper()
	ends := make([]vtime.Time, len(s))
	p := mpivirt.Program{Name: "steps", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		err := s.run(r)
		ends[r.Rank()] = r.Now()
		return err
	})}}
	if event {
		p = mpivirt.Program{Name: "steps", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, at *state) steps.Outcome {
				ends[r.Rank()] = r.Now()
				return s.event(r, at)
			})
		})}}
	}
	if _, err := simulate(t, mpivirt.Config{Target: tgt, Program: p, Protocol: protocol, Strict: strict}, engines); err != nil {
		t.Fatalf("%d engines, %v, strict %v, event ranks %v: %v", engines, protocol, strict, event, err)
	}
	return ends
}

// node is an operation of a LogGOPSim schedule.
type node struct {
	callStep
	needs, needsStart []int
	started, done     bool
	queued            bool
}

// schedule translates a program as Schedgen does. What follows a nonblocking call
// requires its start, what follows another one its end; a wait is a computation of no
// length that requires what it waits for.
func (s callSteps) schedule() [][]node {
	all := make([][]node, len(s))
	for rank, program := range s {
		for i, st := range program {
			n := node{callStep: st, needs: slices.Clone(st.requests)}
			if i > 0 {
				if before := program[i-1].call; before == "isend" || before == "irecv" {
					n.needsStart = append(n.needsStart, i-1)
				} else {
					n.needs = append(n.needs, i-1)
				}
			}
			all[rank] = append(all[rank], n)
		}
	}
	return all
}

// going is an entry of LogGOPSim's list of events.
type going struct {
	at, created vtime.Time
	source      int
	number      int
	rank        int // where it happens
	node        int // that begins, or whose message or match it is
	kind        string
}

type goings []going

func (h goings) Len() int { return len(h) }

func (h goings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *goings) Push(x any) { *h = append(*h, x.(going)) }

func (h *goings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// Less is LogGOPSim's order: by time, then by creation. What is created at one instant it
// orders by its own course; here operations go first, then the message of the lower rank,
// and a match reaches its sender after all else.
func (h goings) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.created != b.created:
		return a.created < b.created
	case a.source != b.source:
		return a.source < b.source
	}
	return a.number < b.number
}

// replay is LogGOPSim's main loop, written from its source: one list of events over all
// ranks. Operations and messages come back later as long as the CPU or the interface is
// busy. A rendezvous frees its sender at the match.
type replay struct {
	p                  *network.LogGOPS
	todo               [][]node
	cpu, tx, rx        []vtime.Time
	posted, unexpected [][]going
	events             goings
	created            int
}

func replayed(p *network.LogGOPS, todo [][]node) []vtime.Time {
	n := len(todo)
	l := &replay{p: p, todo: todo, cpu: make([]vtime.Time, n), tx: make([]vtime.Time, n), rx: make([]vtime.Time, n),
		posted: make([][]going, n), unexpected: make([][]going, n)}
	for rank := range todo {
		l.release(rank, 0)
	}
	for len(l.events) > 0 {
		e := heap.Pop(&l.events).(going)
		switch e.kind {
		case "compute", "waitall":
			l.compute(e)
		case "send", "isend":
			l.send(e)
		case "recv", "irecv":
			l.receive(e)
		case "message":
			l.arrive(e)
		case "match":
			l.cpu[e.rank], l.tx[e.rank] = max(l.cpu[e.rank], e.at), max(l.tx[e.rank], e.at)
			l.finish(e.rank, e.node, e.at)
		}
	}
	return l.cpu
}

// push enters a new event; what comes back keeps its place among its equals.
func (l *replay) push(e going) {
	l.created++
	e.number = l.created
	heap.Push(&l.events, e)
}

func (l *replay) again(e going, at vtime.Time) {
	e.at = at
	heap.Push(&l.events, e)
}

// release enters the operations of a rank that need nothing more.
func (l *replay) release(rank int, now vtime.Time) {
	for i := range l.todo[rank] {
		n := &l.todo[rank][i]
		ready := !n.queued
		for _, j := range n.needs {
			ready = ready && l.todo[rank][j].done
		}
		for _, j := range n.needsStart {
			ready = ready && l.todo[rank][j].started
		}
		if !ready {
			continue
		}
		n.queued = true
		at := l.cpu[rank]
		if n.call == "send" || n.call == "isend" {
			at = max(at, l.tx[rank])
		}
		l.push(going{at: at, created: now, source: -1, rank: rank, node: i, kind: n.call})
	}
}

func (l *replay) start(e going) { l.todo[e.rank][e.node].started = true }

func (l *replay) finish(rank, node int, now vtime.Time) {
	l.todo[rank][node].done = true
	l.release(rank, now)
}

func (l *replay) perByte(e *node, d vtime.Duration) vtime.Duration {
	return vtime.Duration(max(e.bytes-1, 0)) * d
}

func (l *replay) compute(e going) {
	if l.cpu[e.rank] > e.at {
		l.again(e, l.cpu[e.rank])
		return
	}
	l.cpu[e.rank] = e.at.Add(l.todo[e.rank][e.node].length)
	l.start(e)
	l.finish(e.rank, e.node, e.at)
}

func (l *replay) send(e going) {
	if ready := max(l.cpu[e.rank], l.tx[e.rank]); ready > e.at {
		l.again(e, ready)
		return
	}
	n := &l.todo[e.rank][e.node]
	l.cpu[e.rank] = e.at.Add(l.p.Overhead + l.perByte(n, l.p.OverheadPerByte))
	l.tx[e.rank] = e.at.Add(l.p.Gap + l.perByte(n, l.p.GapPerByte))
	l.push(going{at: e.at.Add(l.p.Overhead + l.p.Latency), created: e.at, source: e.rank, rank: n.peer, node: e.node, kind: "message"})
	l.start(e)
	n.done = n.bytes <= l.p.Eager
	l.release(e.rank, e.at)
}

func (l *replay) matches(receive, message going) bool {
	r, m := &l.todo[receive.rank][receive.node], &l.todo[message.source][message.node]
	return (r.peer == mpivirt.AnySource || r.peer == message.source) && (r.tag == mpivirt.AnyTag || r.tag == m.tag)
}

func (l *replay) receive(e going) {
	l.start(e)
	i := slices.IndexFunc(l.unexpected[e.rank], func(m going) bool { return l.matches(e, m) })
	if i < 0 {
		l.posted[e.rank] = append(l.posted[e.rank], e)
		l.release(e.rank, e.at)
		return
	}
	m := l.unexpected[e.rank][i]
	l.unexpected[e.rank] = slices.Delete(l.unexpected[e.rank], i, i+1)
	l.match(m, e, e.at)
}

func (l *replay) arrive(m going) {
	r := m.rank
	if ready := max(l.cpu[r], l.rx[r]); ready > m.at {
		l.again(m, ready)
		return
	}
	n := &l.todo[m.source][m.node]
	l.cpu[r] = m.at.Add(l.p.Overhead + max(l.perByte(n, l.p.OverheadPerByte), l.perByte(n, l.p.GapPerByte)))
	l.rx[r] = m.at.Add(l.p.Gap + l.perByte(n, l.p.GapPerByte))
	i := slices.IndexFunc(l.posted[r], func(e going) bool { return l.matches(e, m) })
	if i < 0 {
		l.unexpected[r] = append(l.unexpected[r], m)
		return
	}
	e := l.posted[r][i]
	l.posted[r] = slices.Delete(l.posted[r], i, i+1)
	l.match(m, e, m.at)
}

func (l *replay) match(m, e going, now vtime.Time) {
	if l.todo[m.source][m.node].bytes > l.p.Eager {
		l.push(going{at: now, created: vtime.Forever, rank: m.source, node: m.node, kind: "match"})
	}
	l.finish(e.rank, e.node, now)
}

// drawSteps draws a program of whole nanoseconds, LogGOPSim's unit. Messages have an order in which the calls for them stand in
// both their ranks, so that nothing can wait for ever; receives may stand before that.
func drawSteps(t *rapid.T, wild bool) callSteps {
	n := rapid.IntRange(2, 5).Draw(t, "ranks")
	s := make(callSteps, n)
	pending := make([][]int, n)
	wait := func(rank int) {
		s[rank] = append(s[rank], callStep{call: "waitall", requests: pending[rank]})
		pending[rank] = nil
	}
	call := func(rank int, blocking, nonblocking string, st callStep) {
		if st.call = nonblocking; rapid.IntRange(0, 3).Draw(t, "blocks") == 0 {
			st.call = blocking
		}
		if st.call == nonblocking {
			pending[rank] = append(pending[rank], len(s[rank]))
		}
		s[rank] = append(s[rank], st)
		if rapid.IntRange(0, 4).Draw(t, "computes") == 0 {
			s[rank] = append(s[rank], callStep{call: "compute", length: vtime.Nanosecond * vtime.Duration(rapid.Int64Range(0, 30000).Draw(t, "length"))})
		}
		if len(pending[rank]) > 0 && rapid.IntRange(0, 5).Draw(t, "waits") == 0 {
			wait(rank)
		}
	}
	for tag := range rapid.IntRange(1, 24).Draw(t, "messages") {
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		to := (from + rapid.IntRange(1, n-1).Draw(t, "to")) % n
		bytes := rapid.SampledFrom([]int64{0, 1, 2, 100, 1000, 5000}).Draw(t, "bytes")
		call(from, "send", "isend", callStep{peer: to, tag: tag, bytes: bytes})
		receive := callStep{peer: from, tag: tag, bytes: 5000}
		if wild {
			receive.peer, receive.tag = mpivirt.AnySource, mpivirt.AnyTag
		}
		call(to, "recv", "irecv", receive)
	}
	for rank := range s {
		if len(pending[rank]) > 0 {
			wait(rank)
		}
		s[rank] = append(s[rank], callStep{call: "compute"})
	}
	return s
}

func drawLogGOPS(t *rapid.T, wild bool) string {
	figure := func(name string, least, most int64) int64 { return rapid.Int64Range(least, most).Draw(t, name) }
	eager := rapid.SampledFrom([]int64{0, 99, 1000, 1 << 20}).Draw(t, "S")
	if wild {
		eager = 1 << 20
	}
	return fmt.Sprintf("name: m\nnetwork: {model: loggops, L: %dns, o: %dns, g: %dns, G: %dns, O: %dns, S: %d}\n",
		figure("L", 1, 4000), figure("o", 0, 3000), figure("g", 0, 3000), figure("G", 0, 9), figure("O", 0, 12), eager)
}

// Random programs end when LogGOPSim's rules say, rank by rank, on any number of
// engines, under any protocol, for both kinds of ranks.
func TestLogGOPSAgainstReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wild := rapid.IntRange(0, 3).Draw(t, "wild") == 0
		s := drawSteps(t, wild)
		machine := drawLogGOPS(t, wild)
		tgt := target(t, machine, len(s))
		want := replayed(tgt.LogGOPS(), s.schedule())
		for _, c := range ways(len(s)) {
			if got := s.finishes(t, tgt, c.engines, c.protocol, c.strict, c.event); !slices.Equal(got, want) {
				t.Fatalf("%+v: finish times %v, LogGOPSim's rules give %v\n%s", c, got, want, machine)
			}
		}
	})
}

// way is how to run a program.
type way struct {
	engines       int
	protocol      sync.Protocol
	strict, event bool
}

func ways(ranks int) []way {
	var all []way
	for engines := 1; engines <= min(ranks, 4); engines++ {
		for _, protocol := range []sync.Protocol{sync.Null, sync.Conditional, sync.Hybrid} {
			for i := range 4 {
				all = append(all, way{engines, protocol, i&1 != 0, i&2 != 0})
			}
		}
	}
	return all
}

// halo is a 3×3×3 periodic halo: receives from six neighbours, sends to them, Waitall.
func halo(bytes int64) callSteps {
	s := make(callSteps, 27)
	for rank := range s {
		at := [3]int{rank / 9, rank / 3 % 3, rank % 3}
		var peers []int
		for dimension := range at {
			for _, by := range []int{2, 1} {
				there := at
				there[dimension] = (there[dimension] + by) % 3
				peers = append(peers, there[0]*9+there[1]*3+there[2])
			}
		}
		s[rank] = exchange(peers, peers, bytes)
	}
	return s
}

// Alltoall has each rank receive from all others, send to all others, and wait.
func alltoall(ranks int, bytes int64) callSteps {
	s := make(callSteps, ranks)
	for rank := range s {
		var from, to []int
		for i := 1; i < ranks; i++ {
			from, to = append(from, (rank+ranks-i)%ranks), append(to, (rank+i)%ranks)
		}
		s[rank] = exchange(from, to, bytes)
	}
	return s
}

func exchange(from, to []int, bytes int64) (s []callStep) {
	var all []int
	for _, peer := range from {
		s = append(s, callStep{call: "irecv", peer: peer, bytes: bytes})
	}
	for _, peer := range to {
		s = append(s, callStep{call: "isend", peer: peer, bytes: bytes})
	}
	for i := range s {
		all = append(all, i)
	}
	return append(s, callStep{call: "waitall", requests: all})
}

// pipeline is a program in which rank 0 sends pieces of a message to rank 1 by nonblocking sends, and each rank
// sends a piece on to the next as soon as it has it. Receives block, or are nonblocking with a wait.
func pipeline(ranks, pieces int, bytes int64, blocking bool) callSteps {
	s := make(callSteps, ranks)
	for rank := range s {
		for piece := range pieces {
			switch {
			case rank > 0 && blocking:
				s[rank] = append(s[rank], callStep{call: "recv", peer: rank - 1, tag: piece, bytes: bytes})
			case rank > 0:
				s[rank] = append(s[rank], callStep{call: "irecv", peer: rank - 1, tag: piece, bytes: bytes})
				s[rank] = append(s[rank], callStep{call: "waitall", requests: []int{len(s[rank]) - 1}})
			}
			if rank < ranks-1 {
				s[rank] = append(s[rank], callStep{call: "isend", peer: rank + 1, tag: piece, bytes: bytes})
			}
		}
	}
	return s
}

// The finishes that LogGOPSim (github.com/spcl/LogGOPSim) prints with its default parameters, in ns, for recv then
// send, and for recv, calc 0, send, as Schedgen writes MPI_Irecv, MPI_Wait, MPI_Isend. At the end of a message both
// the send and the next message can begin, and the one created first does. The send after a recv is created at the
// match, before the next message is sent. The send after a calc is created when the processor is free again.
func TestLogGOPSimPipeline(t *testing.T) {
	for blocking, want := range map[bool][]int64{
		true:  {352522, 421168, 475814, 530460, 585106, 639752, 694398, 747544},
		false: {352522, 615752, 775690, 882982, 988274, 1093566, 1198858, 1252504},
	} {
		s := pipeline(8, 8, 8192, blocking)
		for rank := range s {
			s[rank] = append(s[rank], callStep{call: "compute"})
		}
		ends := make([]vtime.Time, len(want))
		for rank, ns := range want {
			ends[rank] = vtime.Time(ns) * vtime.Time(vtime.Nanosecond)
		}
		tgt := target(t, "loggops-default", len(s))
		if got := replayed(tgt.LogGOPS(), s.schedule()); !slices.Equal(got, ends) {
			t.Errorf("blocking %v: LogGOPSim's rules give %v, want %v", blocking, got, ends)
		}
		for _, h := range ways(len(s)) {
			if got := s.finishes(t, tgt, h.engines, h.protocol, h.strict, h.event); !slices.Equal(got, ends) {
				t.Errorf("blocking %v, %+v: finishes %v, want %v", blocking, h, got, ends)
			}
		}
	}
}

// The last finish that LogGOPSim prints with its default parameters (L=2500 o=1500
// g=1000 G=6 O=0 S=65535) for the schedules of these programs, in which each send
// irequires the one before and a calc of 0 requires all. At 65,536 bytes the messages
// use rendezvous.
func TestLogGOPSimExchanges(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps callSteps
		want  vtime.Duration
	}{
		{"halo of 1024 bytes", halo(1024), 69828 * vtime.Nanosecond},
		{"halo of 65536 bytes", halo(65536), 2392260 * vtime.Nanosecond},
		{"alltoall of 1024 bytes among 8", alltoall(8, 1024), 81466 * vtime.Nanosecond},
		{"alltoall of 65536 bytes among 8", alltoall(8, 65536), 2790970 * vtime.Nanosecond},
	} {
		tgt := target(t, "loggops-default", len(c.steps))
		if got := slices.Max(replayed(tgt.LogGOPS(), c.steps.schedule())); got != vtime.Time(c.want) {
			t.Errorf("%s: LogGOPSim's rules give %v, want %v", c.name, got, c.want)
		}
		for _, h := range ways(len(c.steps)) {
			if got := slices.Max(c.steps.finishes(t, tgt, h.engines, h.protocol, h.strict, h.event)); got != vtime.Time(c.want) {
				t.Errorf("%s, %+v: last finish %v, want %v", c.name, h, got, c.want)
			}
		}
	}
}

// TestMatchesAtOneInstant: nonblocking alltoalls by rendezvous side by side. Matches of
// several reach a processor at one instant from different engines, and what it does next
// depends on their order, which is that of the ranks and not that of the host.
func TestMatchesAtOneInstant(t *testing.T) {
	const machine = `
name: ties
ranks_per_node: 2
network: {model: loggops, L: 333ns, o: 1us, g: 3us, G: 1ns, O: 1ns, S: 0}`
	run := func(seed uint64, engines int) string {
		result, err := simulate(t, mpivirt.Config{Target: target(t, machine, 23), Program: mpivirt.Program{Name: "ties", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			var requests []mpivirt.Request
			for i := range 2 {
				r.Compute(vtime.Duration(random.Intn(seed, uint64(r.Rank()), uint64(i), 40)) * vtime.Microsecond)
				q, err := r.World().IcollectiveSize(collectives.Alltoall, 8, 0)
				if err != nil {
					return err
				}
				requests = append(requests, q)
			}
			_, err := mpivirt.Waitall(requests)
			return err
		})}}}, engines)
		if err != nil {
			t.Fatal(err)
		}
		return result.Fingerprint
	}
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		want := run(seed, 1)
		for _, engines := range []int{3, 5, 7} {
			for range 2 {
				if got := run(seed, engines); got != want {
					t.Fatalf("seed %d, %d engines: fingerprint %s, with one %s", seed, engines, got, want)
				}
			}
		}
	}
}
