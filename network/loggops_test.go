package network

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// action is one step of a rank: it computes, sends or receives. It can start
// once the actions needed, of the same rank, are done.
type action struct {
	kind  kind
	peer  int
	bytes int64
	time  vtime.Duration // of computing
	needs []int
}

type kind int

const (
	compute kind = iota
	send
	receive
)

// schedule holds the actions of each rank.
type schedule [][]action

// oracle replays a schedule by the rules of LogGOPSim: an event list of actions
// and messages, which come back later as long as the CPU or the interface is
// busy, ordered by time and then by creation.
type oracle struct {
	p               *LogGOPS
	todo            schedule
	done, queued    [][]bool
	cpu, rx, tx     []vtime.Time
	posted, waiting [][]happening // receives without message, messages without receive
	events          happenings
	created         int
}

type happening struct {
	at      vtime.Time
	created int
	rank    int // where it happens
	action  int // that happens, or whose message it is
	from    int // sender of a message, or -1 for an action
	bytes   int64
}

type happenings []happening

func (h happenings) Len() int      { return len(h) }
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].created < h[j].created
}
func (h *happenings) Push(x any) { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// lastFinish returns the time at which the last CPU comes free.
func lastFinish(p *LogGOPS, todo schedule) vtime.Time {
	n := len(todo)
	o := &oracle{
		p: p, todo: todo, done: make([][]bool, n), queued: make([][]bool, n),
		cpu: make([]vtime.Time, n), rx: make([]vtime.Time, n), tx: make([]vtime.Time, n),
		posted: make([][]happening, n), waiting: make([][]happening, n),
	}
	for r := range todo {
		o.done[r], o.queued[r] = make([]bool, len(todo[r])), make([]bool, len(todo[r]))
		o.release(r)
	}
	for len(o.events) > 0 {
		e := heap.Pop(&o.events).(happening)
		switch {
		case e.from >= 0:
			o.arrive(e)
		case todo[e.rank][e.action].kind == compute:
			o.compute(e)
		case todo[e.rank][e.action].kind == send:
			o.send(e)
		default:
			o.receive(e)
		}
	}
	return slices.Max(o.cpu)
}

func (o *oracle) push(e happening) {
	e.created = o.created
	o.created++
	heap.Push(&o.events, e)
}

// release starts the actions of a rank that need nothing more.
func (o *oracle) release(rank int) {
	for i, a := range o.todo[rank] {
		ready := !o.queued[rank][i]
		for _, n := range a.needs {
			ready = ready && o.done[rank][n]
		}
		if !ready {
			continue
		}
		o.queued[rank][i] = true
		at := o.cpu[rank]
		if a.kind == send {
			at = max(at, o.tx[rank])
		}
		o.push(happening{at: at, rank: rank, action: i, from: -1, bytes: a.bytes})
	}
}

func (o *oracle) finish(rank, action int) {
	o.done[rank][action] = true
	o.release(rank)
}

func (o *oracle) again(e happening, at vtime.Time) {
	e.at = at
	heap.Push(&o.events, e)
}

func (o *oracle) compute(e happening) {
	if o.cpu[e.rank] > e.at {
		o.again(e, o.cpu[e.rank])
		return
	}
	o.cpu[e.rank] = e.at.Add(o.todo[e.rank][e.action].time)
	o.finish(e.rank, e.action)
}

func (o *oracle) send(e happening) {
	if ready := max(o.cpu[e.rank], o.tx[e.rank]); ready > e.at {
		o.again(e, ready)
		return
	}
	more := vtime.Duration(max(e.bytes-1, 0))
	o.cpu[e.rank] = e.at.Add(o.p.Overhead + more*o.p.OverheadPerByte)
	o.tx[e.rank] = e.at.Add(o.p.Gap + more*o.p.GapPerByte)
	o.push(happening{at: e.at.Add(o.p.Overhead + o.p.Latency), rank: o.todo[e.rank][e.action].peer, action: e.action, from: e.rank, bytes: e.bytes})
	if e.bytes <= o.p.Eager {
		o.finish(e.rank, e.action)
	}
}

func (o *oracle) receive(e happening) {
	peer := o.todo[e.rank][e.action].peer
	i := slices.IndexFunc(o.waiting[e.rank], func(m happening) bool { return m.from == peer })
	if i < 0 {
		o.posted[e.rank] = append(o.posted[e.rank], e)
		return
	}
	m := o.waiting[e.rank][i]
	o.waiting[e.rank] = slices.Delete(o.waiting[e.rank], i, i+1)
	o.match(m, e)
}

func (o *oracle) arrive(m happening) {
	r := m.rank
	if ready := max(o.cpu[r], o.rx[r]); ready > m.at {
		o.again(m, ready)
		return
	}
	more := vtime.Duration(max(m.bytes-1, 0))
	o.cpu[r] = m.at.Add(o.p.Overhead + max(more*o.p.OverheadPerByte, more*o.p.GapPerByte))
	o.rx[r] = m.at.Add(o.p.Gap + more*o.p.GapPerByte)
	i := slices.IndexFunc(o.posted[r], func(e happening) bool { return o.todo[r][e.action].peer == m.from })
	if i < 0 {
		o.waiting[r] = append(o.waiting[r], m)
		return
	}
	e := o.posted[r][i]
	o.posted[r] = slices.Delete(o.posted[r], i, i+1)
	e.at = m.at
	o.match(m, e)
}

// match frees the sender of a rendezvous at the time of the match.
func (o *oracle) match(m, e happening) {
	if m.bytes > o.p.Eager {
		o.cpu[m.from] = max(o.cpu[m.from], e.at)
		o.tx[m.from] = max(o.tx[m.from], e.at)
		o.finish(m.from, m.action)
	}
	o.finish(e.rank, e.action)
}

// execute runs a schedule through Target.Send and Target.Receive, as a program
// that does its actions in order, and returns the last finish. Receives that
// need nothing are posted at the start.
func execute(t rapid.TB, target *Target, todo schedule) vtime.Time {
	t.Helper()
	type message struct {
		arrival vtime.Time
		matched *vtime.Time // set by the receiver of a rendezvous
	}
	n := len(todo)
	ports, clock, next := make([]Port, n), make([]vtime.Time, n), make([]int, n)
	awaits := make([]*vtime.Time, n)
	flying := make(map[[2]int][]message)
	step := func(r int) bool {
		if w := awaits[r]; w != nil {
			if *w == vtime.Forever {
				return false
			}
			clock[r], awaits[r] = max(clock[r], *w), nil
			return true
		}
		if next[r] == len(todo[r]) {
			return false
		}
		a := todo[r][next[r]]
		switch a.kind {
		case compute:
			clock[r] = clock[r].Add(a.time)
		case send:
			m := message{}
			var leaves vtime.Time
			clock[r], leaves = target.Send(&ports[r], a.bytes, clock[r])
			m.arrival = leaves.Add(target.Delay(r, a.peer, a.bytes))
			if a.bytes > target.EagerLimit() {
				m.matched = new(vtime.Time)
				*m.matched = vtime.Forever
				awaits[r] = m.matched
			}
			flying[[2]int{r, a.peer}] = append(flying[[2]int{r, a.peer}], m)
		case receive:
			queue := flying[[2]int{a.peer, r}]
			if len(queue) == 0 {
				return false
			}
			posted := clock[r]
			if len(a.needs) == 0 {
				posted = 0
			}
			if m := queue[0]; m.matched != nil {
				*m.matched = max(posted, m.arrival).Add(target.Match(a.peer, r))
			}
			clock[r] = target.Receive(&ports[r], a.bytes, posted, clock[r], queue[0].arrival)
			flying[[2]int{a.peer, r}] = queue[1:]
		}
		next[r]++
		return true
	}
	for progress := true; progress; {
		progress = false
		for r := range n {
			for step(r) {
				progress = true
			}
		}
	}
	for r := range n {
		if next[r] < len(todo[r]) {
			t.Fatalf("rank %d is stuck in action %d: %+v", r, next[r], todo[r][next[r]])
		}
	}
	return slices.Max(clock)
}

// dissemination, as LogGOPSim's generator writes it: in each round a rank sends
// to the one 2^k ahead, having received from the one 2^(k-1) behind.
func dissemination(p int, bytes int64) schedule {
	todo := make(schedule, p)
	for r := range p {
		var needs []int
		for distance := 1; distance < p; distance *= 2 {
			todo[r] = append(todo[r],
				action{kind: send, peer: (r + distance) % p, bytes: bytes, needs: needs},
				action{kind: receive, peer: (r - distance + p) % p, bytes: bytes})
			needs = []int{len(todo[r]) - 1}
		}
	}
	return todo
}

// binomialReduce: rank r receives from r + 2^k for all 2^k above r, the farthest
// first as it finishes first, and then sends to r without its highest bit.
func binomialReduce(p int, bytes int64) schedule {
	todo := make(schedule, p)
	for r := range p {
		for k := bits.Len(uint(p)); k >= bits.Len(uint(r)); k-- {
			if peer := r + 1<<k; peer < p {
				todo[r] = append(todo[r], action{kind: receive, peer: peer, bytes: bytes})
			}
		}
		if r > 0 {
			needs := make([]int, len(todo[r]))
			for i := range needs {
				needs[i] = i
			}
			todo[r] = append(todo[r], action{kind: send, peer: r - 1<<(bits.Len(uint(r))-1), bytes: bytes, needs: needs})
		}
	}
	return todo
}

// binomialBroadcast: rank r receives from r without its highest bit, and sends
// to r + 2^k for all 2^k above r, the nearest first.
func binomialBroadcast(p int, bytes int64) schedule {
	todo := make(schedule, p)
	for r := range p {
		var needs []int
		if r > 0 {
			todo[r] = append(todo[r], action{kind: receive, peer: r - 1<<(bits.Len(uint(r))-1), bytes: bytes})
			needs = []int{0}
		}
		for k := bits.Len(uint(r)); r+1<<k < p; k++ {
			todo[r] = append(todo[r], action{kind: send, peer: r + 1<<k, bytes: bytes, needs: needs})
		}
	}
	return todo
}

// The times that LogGOPSim prints with its default parameters.
func TestLogGOPSimTimes(t *testing.T) {
	for _, c := range []struct {
		name string
		todo schedule
		want vtime.Duration
	}{
		{"dissemination of 1 byte, P = 8", dissemination(8, 1), 16500 * ns},
		{"dissemination of 1 byte, P = 64", dissemination(64, 1), 33000 * ns},
		{"dissemination of 8 bytes, P = 8", dissemination(8, 8), 16626 * ns},
		{"dissemination of 8 bytes, P = 64", dissemination(64, 8), 33252 * ns},
		{"dissemination without bytes, P = 8", dissemination(8, 0), 16500 * ns},
		{"binomial reduce of 1024 bytes, P = 8", binomialReduce(8, 1024), 34914 * ns},
		{"binomial bcast of 1 MiB by rendezvous, P = 8", binomialBroadcast(8, 1<<20), 18890850 * ns},
	} {
		target := mustPreset(t, "loggops-default", int64(len(c.todo)))
		if got := execute(t, target, c.todo); got != vtime.Time(c.want) {
			t.Errorf("%s: last finish %s, want %s", c.name, got, c.want)
		}
		if got := lastFinish(target.LogGOPS(), c.todo); got != vtime.Time(c.want) {
			t.Errorf("%s: the replay of LogGOPSim's rules finishes at %s, want %s", c.name, got, c.want)
		}
	}
}

// drawGather draws a schedule in which rank 0 computes and then receives from
// all others, each of which sends once, at a time and of a size of its own.
func drawGather(t *rapid.T) (*Target, schedule) {
	figure := func(name string, most int64) vtime.Duration {
		return vtime.Duration(rapid.Int64Range(0, most).Draw(t, name))
	}
	p := &LogGOPS{
		Latency: 1 + figure("L", 4000), Overhead: figure("o", 3000), Gap: figure("g", 3000),
		GapPerByte: figure("G", 9), OverheadPerByte: figure("O", 12), Eager: 1 << 40,
	}
	n := rapid.IntRange(2, 9).Draw(t, "ranks")
	target := &Target{ranks: n, loggops: p, inter: newPath(p.Latency + p.Overhead)}
	todo := make(schedule, n)
	todo[0] = []action{{kind: compute, time: figure("root computes", 20000)}}
	for _, peer := range rapid.Permutation([]int{1, 2, 3, 4, 5, 6, 7, 8}).Draw(t, "order") {
		if peer < n {
			bytes := int64(figure("bytes", 300))
			todo[peer] = []action{{kind: compute, time: figure("start", 40000)}, {kind: send, peer: 0, bytes: bytes}}
			todo[0] = append(todo[0], action{kind: receive, peer: peer, bytes: bytes})
		}
	}
	return target, todo
}

// A rank that receives in the order of arrival, waiting or busy, finishes
// exactly when it does in LogGOPSim.
func TestGatherInOrderOfArrival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target, todo := drawGather(t)
		slices.SortStableFunc(todo[0][1:], func(a, b action) int {
			return cmp.Or(cmp.Compare(todo[a.peer][0].time, todo[b.peer][0].time), a.peer-b.peer)
		})
		chain(todo)
		if got, want := execute(t, target, todo), lastFinish(target.LogGOPS(), todo); got != want {
			t.Fatalf("last finish %s, LogGOPSim's rules give %s", got, want)
		}
	})
}

// In any other order it is never earlier than in LogGOPSim, and never later
// than if no message were paid for while the rank waits.
func TestGatherInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target, todo := drawGather(t)
		chain(todo)
		p := target.LogGOPS()
		p.Overhead += p.Gap // else it is the interface that may be busy while the CPU waits
		target.inter = newPath(p.Latency + p.Overhead)
		latest, nic := vtime.Time(todo[0][0].time), vtime.Time(0)
		for _, a := range todo[0][1:] {
			arrival := vtime.Time(todo[a.peer][0].time).Add(p.Overhead + p.Latency)
			more := vtime.Duration(max(a.bytes-1, 0))
			start := max(latest, arrival, nic)
			latest = start.Add(p.Overhead + max(more*p.GapPerByte, more*p.OverheadPerByte))
			nic = start.Add(p.Gap + more*p.GapPerByte)
		}
		// Senders may finish after the root.
		for _, actions := range todo[1:] {
			latest = max(latest, vtime.Time(actions[0].time).Add(p.Overhead+vtime.Duration(max(actions[1].bytes-1, 0))*p.OverheadPerByte))
		}
		got, want := execute(t, target, todo), lastFinish(p, todo)
		if got < want || got > latest {
			t.Fatalf("last finish %s, LogGOPSim's rules give %s, all paid on receipt %s", got, want, latest)
		}
	})
}

// chain makes every action need the one before.
func chain(todo schedule) {
	for _, actions := range todo {
		for i := 1; i < len(actions); i++ {
			actions[i].needs = []int{i - 1}
		}
	}
}

// Worked out by hand with o = 1500, g = 1000, G = 6, O = 0, in ns.
func TestReceiveByHand(t *testing.T) {
	target := mustPreset(t, "loggops-default", 2)
	type message struct {
		bytes                 int64
		posted, free, arrival vtime.Duration
		want                  vtime.Duration
	}
	for _, c := range []struct {
		name     string
		messages []message
	}{
		{"charged from its arrival", []message{{1, 0, 0, 4000 * ns, 5500 * ns}}},
		{"101 bytes add 600 ns, no bytes nothing", []message{{101, 0, 0, 4000 * ns, 6100 * ns}, {0, 0, 6100 * ns, 9000 * ns, 10500 * ns}}},
		{"charged once the CPU is free", []message{{1, 0, 9000 * ns, 4000 * ns, 10500 * ns}}},
		{"so too if posted later", []message{{1, 9000 * ns, 9000 * ns, 4000 * ns, 10500 * ns}}},
		{"so too if posted at its arrival", []message{{1, 4000 * ns, 4000 * ns, 4000 * ns, 5500 * ns}}},
		{"two at once, one after the other", []message{{1, 0, 0, 4000 * ns, 5500 * ns}, {1, 5500 * ns, 5500 * ns, 4000 * ns, 7000 * ns}}},
		{"one that came during the wait for another costs nothing more", []message{
			{1, 0, 0, 4000 * ns, 5500 * ns}, {1, 5500 * ns, 5500 * ns, 2000 * ns, 5500 * ns}}},
		{"unless it came too late in the wait: 500 ns of it are paid", []message{
			{1, 0, 0, 4000 * ns, 5500 * ns}, {1, 5500 * ns, 5500 * ns, 3500 * ns, 6500 * ns}}},
		{"or another has used up the wait", []message{
			{1, 0, 0, 4000 * ns, 5500 * ns}, {1, 5500 * ns, 5500 * ns, 2000 * ns, 5500 * ns},
			{1, 5500 * ns, 5500 * ns, 2000 * ns, 6500 * ns}}},
	} {
		var p Port
		for i, m := range c.messages {
			done := target.Receive(&p, m.bytes, vtime.Time(m.posted), vtime.Time(m.free), vtime.Time(m.arrival))
			if done != vtime.Time(m.want) {
				t.Errorf("%s: message %d is received at %s, want %s", c.name, i, done, m.want)
			}
		}
	}
}

// With g = 3000 and o = 1500 the interface is what messages wait for.
func TestReceiveWithLongGap(t *testing.T) {
	target := &Target{ranks: 2, loggops: &LogGOPS{Latency: 1, Overhead: 1500 * ns, Gap: 3000 * ns}, inter: newPath(1)}
	type message struct{ free, arrival, done, end vtime.Duration }
	for _, c := range []struct {
		name     string
		messages []message
	}{
		{"a wait has room for the gap of one", []message{
			{0, 4000 * ns, 5500 * ns, 7000 * ns}, {5500 * ns, 1000 * ns, 5500 * ns, 7000 * ns}, {5500 * ns, 1000 * ns, 8500 * ns, 10000 * ns}}},
		// LogGOPSim: the second from 3500, then the first from 6500 to 8000, the
		// interface until 9500.
		{"the gap is paid in part, like the rest", []message{
			{0, 4000 * ns, 5500 * ns, 7000 * ns}, {5500 * ns, 3500 * ns, 8000 * ns, 9500 * ns}}},
	} {
		var p Port
		for i, m := range c.messages {
			done := target.Receive(&p, 1, 0, vtime.Time(m.free), vtime.Time(m.arrival))
			if done != vtime.Time(m.done) || p.Receive != vtime.Time(m.end) {
				t.Errorf("%s: message %d is received at %s, interface free at %s; want %s and %s", c.name, i, done, p.Receive, m.done, m.end)
			}
		}
	}
}

func TestSendByHand(t *testing.T) {
	p := &LogGOPS{Latency: 2500 * ns, Overhead: 1500 * ns, Gap: 1000 * ns, GapPerByte: 6 * ns, OverheadPerByte: 2 * ns}
	target := &Target{ranks: 2, loggops: p, inter: newPath(4000 * ns)}
	var port Port
	for i, c := range []struct {
		bytes                  int64
		at, free, arrival, end vtime.Duration
	}{
		{101, 0, 1700 * ns, 4000 * ns, 1600 * ns},
		{1, 1700 * ns, 3200 * ns, 5700 * ns, 2700 * ns},
		{1001, 3200 * ns, 6700 * ns, 7200 * ns, 10200 * ns},
		{0, 6700 * ns, 11700 * ns, 14200 * ns, 11200 * ns}, // waits for the interface
	} {
		free, leaves := target.Send(&port, c.bytes, vtime.Time(c.at))
		arrival := leaves.Add(target.Delay(0, 1, c.bytes))
		if free != vtime.Time(c.free) || arrival != vtime.Time(c.arrival) || port.Send != vtime.Time(c.end) {
			t.Errorf("message %d: free %s, arrival %s, interface free %s; want %s, %s, %s", i, free, arrival, port.Send, c.free, c.arrival, c.end)
		}
	}
}
