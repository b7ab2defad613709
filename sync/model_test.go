package sync_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gigarank/sync"
	"gigarank/vtime"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A program of the model is a set of chains. A chain visits engines at virtual times
// that its script fixes. Each visit causes the next, and may begin other chains. A
// timed visit depends on timing: an engine makes its timed visits in the order of their
// times. Any other happens as soon as the record has come, like a receive that names
// its source. A chain whose end is an LP's end finishes one LP of the engine of its
// last visit. A chain that is put off begins once nothing else can go on: together with all that are to begin less
// than together after the first of them.
type program struct {
	lookahead [][]vtime.Duration
	chains    []chain
	deadlock  bool // some LP's chain breaks off
}

type chain struct {
	visits   []visit
	begun    bool // by a visit of another
	finishes bool
	putOff   bool
	stage    int // how often virtual time has begun anew before it begins
}

// together is how far apart chains may begin that are taken up at once.
const together = 8

type visit struct {
	begins []int // chains
	engine int
	time   vtime.Time
	timed  bool
	bytes  int // of the record that brings the chain here
}

// setStages sets the stages of chains that are put off, and of those that they begin.
func (p *program) setStages() {
	for stage := 1; ; stage++ {
		from := vtime.Forever
		for _, c := range p.chains {
			if c.putOff && c.stage == 0 {
				from = min(from, c.visits[0].time)
			}
		}
		if from == vtime.Forever {
			break
		}
		for i := range p.chains {
			if c := &p.chains[i]; c.putOff && c.stage == 0 && c.visits[0].time < from+together {
				c.stage = stage
			}
		}
	}
	for i := range p.chains { // a chain begins later ones
		for _, v := range p.chains[i].visits {
			for _, begun := range v.begins {
				p.chains[begun].stage = p.chains[i].stage
			}
		}
	}
}

// event is a visit to be made: the step of a chain.
type event struct {
	Time        vtime.Time
	Chain, Step int
}

func compareEvents(a, b event) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Step, b.Step))
}

// expected returns the timed visits of each engine in order: the closed form of the
// run.
func (p *program) expected() [][]event {
	log := make([][]event, len(p.lookahead))
	for c, chain := range p.chains {
		for s, v := range chain.visits {
			if v.timed {
				log[v.engine] = append(log[v.engine], event{v.time, c, s})
			}
		}
	}
	for _, l := range log {
		slices.SortFunc(l, func(a, b event) int {
			return cmp.Or(cmp.Compare(p.chains[a.Chain].stage, p.chains[b.Chain].stage), compareEvents(a, b))
		})
	}
	return log
}

func (p *program) visits() (n int, last vtime.Time) {
	for _, c := range p.chains {
		n += len(c.visits)
		last = max(last, c.visits[len(c.visits)-1].time)
	}
	return n, last
}

func drawProgram(t *rapid.T, k int) *program {
	p := &program{lookahead: make([][]vtime.Duration, k)}
	for i := range p.lookahead {
		p.lookahead[i] = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) vtime.Duration {
			return vtime.Duration(rapid.IntRange(1, 6).Draw(t, "lookahead"))
		}), k, k).Draw(t, "row")
	}
	spread := rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "spread")
	timedness := rapid.IntRange(0, 3).Draw(t, "timed of 3")
	deferring := rapid.Bool().Draw(t, "deferring")
	for i := range rapid.IntRange(1, 3*k).Draw(t, "chains") {
		c := chain{finishes: rapid.IntRange(0, 3).Draw(t, "finishes") > 0}
		v := visit{engine: rapid.IntRange(0, k-1).Draw(t, "engine"), time: vtime.Time(rapid.IntRange(0, 20).Draw(t, "start"))}
		move := func() {
			from := v.engine
			v.engine = rapid.IntRange(0, k-1).Draw(t, "to")
			v.time = v.time.Add(p.lookahead[from][v.engine] + vtime.Duration(rapid.IntRange(0, spread).Draw(t, "more")))
			v.bytes = rapid.SampledFrom([]int{8, 9, 15, 60, 5000, 40000}).Draw(t, "bytes")
		}
		if i > 0 && rapid.Bool().Draw(t, "begun") {
			other := p.chains[rapid.IntRange(0, i-1).Draw(t, "by")].visits
			by := &other[rapid.IntRange(0, len(other)-1).Draw(t, "at")]
			by.begins = append(by.begins, i)
			c.begun = true
			v.engine, v.time = by.engine, by.time
			move()
		}
		if !c.begun && deferring && rapid.Bool().Draw(t, "put off") {
			c.putOff, c.finishes = true, true
		}
		for range rapid.IntRange(1, 12).Draw(t, "visits") {
			v.timed = rapid.IntRange(0, 2).Draw(t, "timed") < timedness
			c.visits = append(c.visits, v)
			move()
		}
		p.chains = append(p.chains, c)
	}
	p.setStages()
	p.deadlock = rapid.IntRange(0, 3).Draw(t, "deadlock") == 0
	return p
}

// worker is an engine of the model.
type worker struct {
	*sync.Endpoint
	program    *program
	fabric     *fabric
	end        *fabricEnd
	queue      []event // timed, sorted
	held       []heldBack
	putOff     []event
	unfinished int
	log        []event
	visited    int
	outcome    sync.Outcome
	err        error
	source     map[event]int // of records not consumed
}

func newWorker(p *program, f *fabric, rank int, c sync.Config) *worker {
	c.Lookahead = func(dst int) vtime.Duration { return p.lookahead[rank][dst] }
	if c.LookaheadFrom != nil {
		c.LookaheadFrom = func(src int) vtime.Duration { return p.lookahead[src][rank] }
	}
	w := &worker{program: p, fabric: f, end: f.ends[rank], source: map[event]int{}}
	c.Deferrer = w
	w.Endpoint = f.endpoint(rank, c)
	for i, c := range p.chains {
		if c.finishes && c.visits[len(c.visits)-1].engine == rank {
			w.unfinished++
		}
		switch first := (event{c.visits[0].time, i, 0}); {
		case c.visits[0].engine != rank || c.begun:
		case c.putOff:
			w.putOff = append(w.putOff, first)
		default:
			w.come(first)
		}
	}
	if p.deadlock && rank == 0 {
		w.unfinished++
	}
	return w
}

// Defers implements sync.Deferrer.
func (w *worker) Defers() bool { return len(w.putOff) > 0 }

// Deferred implements sync.Deferrer.
func (w *worker) Deferred() sync.Deferred {
	d := sync.Deferred{From: vtime.Forever, Items: uint64(len(w.putOff))}
	for _, e := range w.putOff {
		d.From = min(d.From, e.Time)
	}
	return d
}

// takeUp begins chains that were put off.
func (w *worker) takeUp(all sync.Deferred) {
	w.putOff = slices.DeleteFunc(w.putOff, func(e event) bool {
		due := e.Time < all.From+together
		if due {
			w.come(e)
		}
		return due
	})
}

func (w *worker) visitOf(e event) visit { return w.program.chains[e.Chain].visits[e.Step] }

// come takes in a chain that has reached this engine.
func (w *worker) come(e event) {
	if !w.visitOf(e).timed {
		w.make(e)
		return
	}
	i, _ := slices.BinarySearchFunc(w.queue, e, compareEvents)
	w.queue = slices.Insert(w.queue, i, e)
}

// make makes a visit and causes the next.
func (w *worker) make(e event) {
	w.visited++
	c := w.program.chains[e.Chain]
	if src, ok := w.source[e]; ok {
		delete(w.source, e)
		w.Credit(src, w.visitOf(e).bytes)
	}
	for _, begun := range w.visitOf(e).begins {
		w.cause(event{w.program.chains[begun].visits[0].time, begun, 0}, e.Time)
	}
	if e.Step+1 < len(c.visits) {
		w.cause(event{c.visits[e.Step+1].time, e.Chain, e.Step + 1}, e.Time)
	} else if c.finishes {
		w.unfinished--
	}
}

// cause sends a chain, by an action at a time, to the engine of a visit.
func (w *worker) cause(e event, at vtime.Time) {
	switch dst := w.visitOf(e).engine; {
	case dst == w.end.rank:
		w.come(e)
	case !w.Room(dst):
		w.held = append(w.held, heldBack{e, at})
	default:
		w.send(e)
	}
}

// heldBack is a visit caused at a time that waits for room at its engine.
type heldBack struct {
	event
	at vtime.Time
}

func (w *worker) send(e event) {
	v := w.visitOf(e)
	record, tail := w.reserve(v.engine, v.bytes, e.Step%3)
	for i := range record {
		record[i] = byte(i)
	}
	for i := range tail {
		tail[i] = byte(len(record) + i)
	}
	binary.LittleEndian.PutUint32(record, uint32(e.Chain))
	binary.LittleEndian.PutUint32(record[4:], uint32(e.Step))
}

// reserve reserves a record of n bytes, of which the last i%3 thirds of those past the eighth are a tail.
func (w *worker) reserve(engine, n, i int) (record, tail []byte) {
	if !w.SendsTails() || i == 0 {
		return w.Reserve(engine, n), nil
	}
	tail = make([]byte, (n-8)*i/3)
	record, _ = w.ReserveTail(engine, n-len(tail), tail, w)
	return record, tail
}

func (w *worker) deliver(src int, record []byte) {
	c, s := int(binary.LittleEndian.Uint32(record)), int(binary.LittleEndian.Uint32(record[4:]))
	v := w.program.chains[c].visits[s]
	for i := 8; i < len(record); i++ {
		if record[i] != byte(i) {
			w.err = errors.Join(w.err, fmt.Errorf("byte %d of a record is %d", i, record[i]))
			break
		}
	}
	if v.time < w.EIT() || len(record) != v.bytes || v.engine != w.end.rank {
		w.err = errors.Join(w.err, fmt.Errorf("engine %d at EIT %d gets %d bytes of %+v", w.end.rank, w.EIT(), len(record), v))
	}
	e := event{v.time, c, s}
	w.source[e] = src
	w.come(e)
}

// next returns the time of the first action that the worker may take by itself.
func (w *worker) next() vtime.Time {
	next := vtime.Forever
	if len(w.queue) > 0 {
		next = w.queue[0].Time
	}
	for _, h := range w.held {
		next = min(next, h.at)
	}
	return next
}

// run is the loop of an engine, with random pauses.
func (w *worker) run() {
	for w.err == nil {
		if _, err := w.Poll(w.deliver); err != nil {
			w.err = errors.Join(w.err, err)
			return
		}
		w.held = slices.DeleteFunc(w.held, func(h heldBack) bool {
			room := w.Room(w.visitOf(h.event).engine)
			if room {
				w.send(h.event)
			}
			return room
		})
		for {
			w.Advance(w.next())
			if len(w.queue) == 0 || w.queue[0].Time >= w.EIT() {
				break
			}
			e := w.queue[0]
			w.queue = w.queue[1:]
			w.log = append(w.log, e)
			w.make(e)
			if w.fabric.random.IntN(3) == 0 {
				w.end.pause(0)
				break
			}
		}
		if len(w.queue) > 0 && w.queue[0].Time < w.EIT() {
			continue
		}
		eit := w.EIT()
		outcome, err := w.Wait(w.next(), w.unfinished)
		if err == nil && outcome == sync.Resumed {
			w.takeUp(w.Due())
			continue
		}
		if w.EIT() < eit {
			w.err = fmt.Errorf("EIT falls from %v to %v", eit, w.EIT())
		}
		if err != nil || outcome != sync.Continue {
			w.outcome, w.err = outcome, errors.Join(w.err, err)
			return
		}
	}
}

func drawConfig(t *rapid.T) sync.Config {
	c := sync.Config{
		Protocol: rapid.SampledFrom([]sync.Protocol{sync.Hybrid, sync.Null, sync.Conditional}).Draw(t, "protocol"),
		Window:   rapid.SampledFrom([]int64{0, 1, 100, 10000}).Draw(t, "window"),
	}
	if rapid.Bool().Draw(t, "least lookahead") {
		c.LeastLookahead = 1
	}
	if rapid.Bool().Draw(t, "lookahead from") {
		c.LookaheadFrom = func(int) vtime.Duration { return 1 }
	}
	return c
}

// messageBound is more transport messages than any run of a program needs. Rounds and
// waves cost O(k) messages, and each lets at least one visit go on. Null messages alone
// creep over the virtual time in steps of a lookahead and over all pairs.
func messageBound(p *program, protocol sync.Protocol) int {
	k := len(p.lookahead)
	visits, last := p.visits()
	bound := 16 * k * (visits + k + 4)
	if protocol == sync.Null {
		bound += 4 * k * k * int(last+1)
	}
	return bound
}

// An engine whose own LPs have finished, and that has put work off, tells how much in the next round that looks for the
// end. Rounds do not follow one another until it happens to do so.
func TestPutOffByEnginesThatHaveFinished(t *testing.T) {
	const k = 8
	p := &program{}
	for range k {
		row := make([]vtime.Duration, k)
		for i := range row {
			row[i] = 1
		}
		p.lookahead = append(p.lookahead, row)
	}
	for first := 1; first < k; first++ { // the LP that ends with the chain is of engine 0
		p.chains = append(p.chains, chain{putOff: true, finishes: true, visits: []visit{
			{engine: first, time: vtime.Time(first), bytes: 8}, {engine: 0, time: vtime.Time(first) + 5, bytes: 8},
		}})
	}
	p.setStages()
	for seed := range uint64(200) {
		f := newFabric(k, seed)
		workers := make([]*worker, k)
		for rank := range workers {
			workers[rank] = newWorker(p, f, rank, sync.Config{})
		}
		limit := messageBound(p, sync.Hybrid)
		if !f.run(limit, func(rank int) { workers[rank].run() }) {
			t.Fatalf("seed %d: %d messages were not enough", seed, limit)
		}
		for rank, w := range workers {
			if w.err != nil || w.outcome != sync.Finished {
				t.Fatalf("seed %d: engine %d ended with %v, %v", seed, rank, w.outcome, w.err)
			}
		}
	}
}

// In any order of arrival, no record comes below EIT, and every engine makes its timed
// visits in the order of virtual time. The end comes at all engines, once every chain
// is at its end and nothing is in flight. The number of messages is bounded.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 9).Draw(t, "engines")
		p, config := drawProgram(t, k), drawConfig(t)
		f := newFabric(k, rapid.Uint64().Draw(t, "seed"))
		workers := make([]*worker, k)
		for rank := range workers {
			workers[rank] = newWorker(p, f, rank, config)
		}
		limit := messageBound(p, config.Protocol)
		if !f.run(limit, func(rank int) { workers[rank].run() }) {
			t.Fatalf("%d messages were not enough", limit)
		}
		want := sync.Finished
		if p.deadlock {
			want = sync.Deadlock
		}
		expected, visited := p.expected(), 0
		for rank, w := range workers {
			if w.err != nil || w.outcome != want {
				t.Fatalf("engine %d ended with %v, %v; want %v", rank, w.outcome, w.err, want)
			}
			if diff := gocmp.Diff(expected[rank], w.log); diff != "" && len(expected[rank])+len(w.log) > 0 {
				t.Fatalf("timed visits of engine %d (-want +got):\n%s", rank, diff)
			}
			visited += w.visited
		}
		if visits, _ := p.visits(); visited != visits {
			t.Fatalf("%d of %d visits were made", visited, visits)
		}
	})
}
